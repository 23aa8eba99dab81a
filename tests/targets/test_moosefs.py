"""MooseFS really up: copies on every chunkserver, clients on hosts of their own, nothing left by any end."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import (
    cleaned_after_a_killed_campaign,
    journal_has,
    killed_when,
    measured_by_a_campaign,
    seen_by,
    shadow,
    skip_unless_installed,
    up,
)
from lab_parts import eventually

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.moosefs import Shape, shape_of
from leadline.run.lab.state import Seat, known_labs, lab_state

NAME = "moosefs"
SYSTEM_FOLDERS = ("/var/lib/mfs", "/etc/mfs")
Fork = Callable[[Callable[[], None]], int]
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]


@pytest.fixture
def installed() -> None:
    skip_unless_installed(NAME)


def system_files() -> list[str]:
    return sorted(str(path) for top in SYSTEM_FOLDERS for path in Path(top).glob("**/*"))


def asked_by(client: Seat, *words: str) -> str:
    """A tool of MooseFS on a client's host: it must reach the master."""
    enter = ["nsenter", f"--net=/run/netns/{client.namespace}", *words]
    return subprocess.run(enter, capture_output=True, text=True, check=True, timeout=120).stdout


def copies(client: Seat, file: Path, storage: Path) -> list[int]:
    """How many files each disk holds of a file's only chunk, by the name that the master gives it."""
    found = re.search(r"chunk 0: (\w{16}_\w{8}) ", asked_by(client, "mfsfileinfo", str(file)))
    assert found is not None
    disks = sorted(storage.glob("*/disk?"))
    return [len(list(disk.glob(f"chunks/*/chunk_{found[1]}*"))) for disk in disks]


@pytest.mark.usefixtures("installed")
def test_two_cycles_two_clients_three_copies_and_nothing_is_left(traces: Look, storage: Path) -> None:
    before, system = traces(), system_files()
    ready = up(NAME, {"mfscachemode": "DIRECT", "HDD_FSYNC_BEFORE_CLOSE": "1"}, clients=2)
    first, second = ready.clients
    assert first.namespace != second.namespace and first.directory == ready.directory
    note = Path(ready.directory) / "note"
    note.write_text("three times")
    assert seen_by(second, "note") == "three times"
    assert eventually(lambda: asked_by(first, "mfsfileinfo", str(note)).count("status:VALID") == 3)
    assert copies(first, note, storage) == [1, 1, 1]
    parameters = (Path(ready.directory).parent / ".params").read_text()  # what the client itself goes by
    assert "mfscachemode: DIRECT\n" in parameters
    settings = (lab_state(NAME).folder / "chunkserver1" / "mfschunkserver.cfg").read_text()
    assert "HDD_FSYNC_BEFORE_CLOSE = 1\n" in settings
    assert ready.facts["goal"] == 3 and ready.facts["version"].startswith("MooseFS ")
    lifecycle.tear_down(NAME)
    up(NAME)
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)
    assert system_files() == system


@pytest.mark.usefixtures("installed")
def test_four_chunkservers_with_two_copies_on_synchronous_disks_and_no_trash(storage: Path) -> None:
    ready = up(NAME, {"goal": "2", "sync-disks": "true"}, nodes=4)
    (client,) = ready.clients
    note = Path(ready.directory) / "note"
    note.write_text("twice")
    assert eventually(lambda: sorted(copies(client, note, storage)) == [0, 0, 1, 1])
    assert asked_by(client, "mfsgettrashtime", str(note)).split(": ")[1].strip() == "0"
    mounted = [line.split()[1:4] for line in Path("/proc/mounts").read_text().splitlines()]
    options = [each.split(",") for point, _, each in mounted if Path(point) in set(storage.glob("*/disk?"))]
    assert len(options) == 4 and all("sync" in each for each in options)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "moment",
    [
        lambda: journal_has(NAME, '"name": "mfsmaster"'),
        lambda: journal_has(NAME, '"name": "chunkserver2"'),
        lambda: journal_has(NAME, '"filesystem": "fuse.moosefs"'),
    ],
    ids=["the master starts", "a chunkserver starts", "a client mounts"],
)
def test_killed_while_it_comes_up_another_process_cleans_up(
    moment: Callable[[], bool], forked: Fork, traces: Look
) -> None:
    before = traces()
    killed_when(moment, forked, lambda: up(NAME))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_a_campaign_measures_it_and_takes_it_down(leadline: Leadline, tmp_path: Path, traces: Look) -> None:
    target = measured_by_a_campaign(NAME, leadline, tmp_path, traces)
    assert target["goal"] == 3


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_lab_down_cleans_after_a_killed_campaign(
    argv: Callable[..., list[str]], leadline: Leadline, tmp_path: Path, traces: Look
) -> None:
    cleaned_after_a_killed_campaign(NAME, argv, leadline, tmp_path, traces)


@pytest.mark.usefixtures("installed")
def test_a_master_that_cannot_start_is_told_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow("mfsmaster", tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match="mfsmaster ended before it served; it said: the port is taken"):
        up(NAME)
    assert known_labs() == []


@pytest.mark.usefixtures("installed")
def test_a_chunkserver_that_cannot_start_is_told_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow("mfschunkserver", tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match=r"chunkserver1 ended before it served; it said: the port is taken"):
        up(NAME)
    assert known_labs() == []


@pytest.mark.usefixtures("installed")
def test_a_mount_option_that_nobody_knows_is_one_sentence_and_leaves_nothing(traces: Look) -> None:
    before = traces()
    with pytest.raises(UserError, match="mfscachmode"):
        up(NAME, {"mfscachmode": "DIRECT"})
    assert known_labs() == [] and eventually(lambda: traces() == before)


@pytest.mark.anybody
def test_options_in_capitals_are_the_chunkservers_and_the_others_the_clients() -> None:
    options = {"goal": "2", "WORKERS_MAX": "9", "mfscachemode": "NEVER", "mfsnoxattrs": ""}
    shape = shape_of(Wishes(1, storage_nodes=5, options=options))
    assert shape == Shape(5, 2, {"WORKERS_MAX": "9"}, ("mfscachemode=NEVER", "mfsnoxattrs"))
    assert shape_of(Wishes(1)) == Shape(3, 3, {}, ())
    assert shape_of(Wishes(1, options={"sync-disks": "True"})) == Shape(3, 3, {}, (), sync_disks=True)


@pytest.mark.anybody
@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(1, storage_nodes=2), "keeps goal 3 copies on as many hosts and has 2"),
        (Wishes(1, options={"goal": "ten"}), 'a number from 1 to 9, not "ten"'),
        (Wishes(1, options={"WORKER_MAX": "9"}), 'did you mean "WORKERS_MAX"'),
        (Wishes(1, options={"sync-disks": "yes"}), '"sync-disks" of moosefs is true or false, not "yes"'),
        (Wishes(1, clients=0), "at least 1 client"),
    ],
)
def test_what_cannot_be_kept_is_refused(wishes: Wishes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        shape_of(wishes)
