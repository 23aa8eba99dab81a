"""Where steps on metadata work: one folder for all clients, of this step alone, and only what leadline made is removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.plan.sites import THE_DIRECTORY
from leadline.plan.steps import Step
from leadline.run.crews.alone import Alone
from leadline.run.grounds import Ground
from leadline.run.hosts.fake import FakeHost
from leadline.run.layouts import tree_folder
from leadline.run.places import places_for
from leadline.run.seams import Access, Client
from leadline.run.targets.fake import FakeTarget


@pytest.fixture
def ground(work_directory: Path, tmp_path: Path) -> Ground:
    """Two clients, of which the second sees the directory under another path, as on a mount of its own."""
    (tmp_path / "second").symlink_to(work_directory)
    clients = (
        Client("client1", FakeHost(), work_directory),
        Client("client2", FakeHost(), tmp_path / "second"),
    )
    return Ground(THE_DIRECTORY, "x", work_directory, clients, Alone(clients[0]), FakeTarget(work_directory))


@pytest.fixture
def tree(step: Callable[..., Step]) -> Callable[[int], Step]:
    return lambda ordinal: step(ordinal, cell={"clients": 2}, engine="metadata", layout=None, files="tree")


def test_each_client_reaches_the_same_folder_by_its_own_path(
    tree: Callable[[int], Step], ground: Ground, work_directory: Path, tmp_path: Path
) -> None:
    first, second = places_for(tree(7), ground)
    assert (first.data, first.number) == (work_directory / "leadline-metadata-7", 0)
    assert (second.data, second.number) == (tmp_path / "second" / "leadline-metadata-7", 1)
    assert first.data.samefile(second.data)
    assert first.counting == {}, "nobody counts requests on a local disk"


def test_what_an_earlier_step_left_goes_and_nothing_else(
    tree: Callable[[int], Step], ground: Ground, work_directory: Path
) -> None:
    (work_directory / "leadline-metadata-3" / "test-dir.0-0").mkdir(parents=True)
    (work_directory / "leadline-metadata-7" / "test-dir.0-0").mkdir(parents=True)
    (work_directory / "leadline-files-1x1m").mkdir()
    (work_directory / "thesis").mkdir()
    places_for(tree(7), ground)
    assert sorted(path.name for path in work_directory.iterdir()) == [
        "leadline-files-1x1m", "leadline-metadata-7", "thesis"
    ]  # fmt: skip
    assert list((work_directory / "leadline-metadata-7").iterdir()) == []


def test_a_planted_link_is_not_followed(work_directory: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis").touch()
    (work_directory / "leadline-metadata-7").symlink_to(elsewhere)
    with pytest.raises(UserError, match="never writes through"):
        tree_folder(work_directory, 7)
    assert (elsewhere / "thesis").exists()


def test_what_no_mount_shows_has_no_names_to_measure(
    tree: Callable[[int], Step], ground: Ground, work_directory: Path
) -> None:
    unmounted = Ground(
        THE_DIRECTORY, "ceph", work_directory, ground.clients, ground.crew, ground.target, mounted=False,
        accesses={"rbd": Access("rbd")},
    )  # fmt: skip
    with pytest.raises(UserError, match="ceph is not mounted"):
        places_for(tree(1), unmounted)
