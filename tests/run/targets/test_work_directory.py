"""The directory that is measured: what leadline refuses to touch, and what it never removes."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.plan.steps import Layout
from leadline.run.directory_facts import accepts_direct
from leadline.run.layouts import data_folder, layout_present, remove_other_layouts
from leadline.run.targets.work_directory import MARKER, WorkDirectory, check_directory, check_space

NOBODY = 65534
LAYOUT = Layout("files-1x4k", 1, 1, 4096)


def prepared(path: Path, sections: frozenset[str] = frozenset()) -> WorkDirectory:
    target = WorkDirectory(path, sections=sections)
    assert target.prepare() == path.resolve()
    return target


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as refused:
        WorkDirectory(path).prepare()
    assert str(path) in str(refused.value)
    return str(refused.value)


def test_an_empty_directory_is_marked_and_left_empty(work_directory: Path) -> None:
    target = prepared(work_directory)
    assert json.loads((work_directory / MARKER).read_text())["made_by"] == "leadline"
    assert target.check() is None
    target.clean_up()
    assert list(work_directory.iterdir()) == []


def test_a_block_device_is_refused(tmp_path: Path) -> None:
    device = next((path for path in Path("/dev").iterdir() if path.is_block_device()), Path("/dev/null"))
    assert "is a device" in refusal(device)


def test_a_character_device_is_refused() -> None:
    assert "is a device" in refusal(Path("/dev/null"))


def test_the_root_of_a_mount_is_refused() -> None:
    assert "root of a mounted filesystem" in refusal(Path("/"))
    assert "root of a mounted filesystem" in refusal(Path("/proc"))


@pytest.mark.root
def test_the_root_of_an_empty_mount_is_refused_and_a_directory_in_it_is_taken(
    mounted: Callable[..., Path],
) -> None:
    inside = mounted("tmpfs")
    assert "root of a mounted filesystem" in refusal(inside.parent)
    prepared(inside).clean_up()


def test_what_is_missing_or_a_file_is_refused(tmp_path: Path) -> None:
    assert "mkdir -p" in refusal(tmp_path / "missing")
    (tmp_path / "file").write_text("x")
    assert "not a directory" in refusal(tmp_path / "file")
    assert "cannot be used" in refusal(tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "x"


def test_a_directory_with_anything_in_it_is_refused_and_untouched(work_directory: Path) -> None:
    (work_directory / "thesis.tex").write_text("x")
    assert "'thesis.tex' is in it" in refusal(work_directory)
    assert [entry.name for entry in work_directory.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("content", ["", "[core]\n", '{"made_by": "somebody"}', "[1]", "7", "\0"])
def test_somebody_elses_file_by_the_markers_name_marks_nothing(work_directory: Path, content: str) -> None:
    """An empty one does: a leadline killed between making and writing its marker leaves it so."""
    (work_directory / "thesis.tex").write_text("x")
    (work_directory / MARKER).write_text(content)
    if content:
        refusal(work_directory)
    else:
        prepared(work_directory)
    assert (work_directory / "thesis.tex").read_text() == "x"


def test_a_link_by_the_markers_name_is_never_followed(work_directory: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.json"
    precious.write_text('{"made_by": "leadline"}')
    (work_directory / MARKER).symlink_to(precious)
    refusal(work_directory)
    assert precious.read_text() == '{"made_by": "leadline"}'


def test_files_left_by_a_killed_leadline_are_cleared_and_foreign_ones_beside_them_survive(
    work_directory: Path,
) -> None:
    first = prepared(work_directory)
    data = data_folder(work_directory, LAYOUT)
    (data / "0.0").write_bytes(b"x" * 4096)
    (work_directory / "notes.txt").write_text("mine")
    (work_directory / "photos").mkdir()
    (work_directory / "leadline-report.pdf").write_text("also mine: a file, not a folder")
    os.close(first._marker.fileno())  # type: ignore[union-attr]  # the kernel closes it like this on kill -9
    first._marker = None
    second = prepared(work_directory)
    assert not data.exists()
    second.clean_up()
    assert sorted(entry.name for entry in work_directory.iterdir()) == [
        "leadline-report.pdf",
        "notes.txt",
        "photos",
    ]


def test_links_inside_are_neither_followed_nor_removed(work_directory: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    target = prepared(work_directory)
    (work_directory / "leadline-trap").symlink_to(outside)
    remove_other_layouts(work_directory, LAYOUT)
    target.clean_up()
    assert (outside / "precious").read_text() == "x"


def test_data_is_never_written_through_a_planted_link(work_directory: Path, tmp_path: Path) -> None:
    (work_directory / f"leadline-{LAYOUT.key}").symlink_to(tmp_path)
    with pytest.raises(UserError, match="is a link"):
        data_folder(work_directory, LAYOUT)
    assert list(tmp_path.iterdir()) == []


def test_two_leadlines_never_work_in_one_directory(work_directory: Path) -> None:
    first = prepared(work_directory)
    assert "another leadline is working" in refusal(work_directory)
    assert first.check() is None, "the refused one has not disturbed the first"
    first.clean_up()
    prepared(work_directory).clean_up()


def test_a_directory_that_disappears_or_loses_its_marker_is_noticed(work_directory: Path) -> None:
    target = prepared(work_directory)
    (work_directory / MARKER).unlink()
    assert "lost its marker" in str(target.check())
    work_directory.rmdir()
    assert "disappeared" in str(target.check())
    target.clean_up()
    assert not work_directory.exists(), "what somebody removed is not made again"


@pytest.mark.root
def test_a_mount_that_comes_or_goes_in_mid_run_is_noticed_and_what_lies_there_is_left_alone(
    mounted: Callable[..., Path],
) -> None:
    inside = mounted("tmpfs")
    target = prepared(inside, frozenset({"job"}))
    subprocess.run(["mount", "-t", "tmpfs", "none", inside], check=True)
    try:
        (inside / "job.0.0").write_text("foreign")
        (inside / "leadline-x").mkdir()
        assert "another filesystem" in str(target.check())
        target.clean_up()
        assert sorted(entry.name for entry in inside.iterdir()) == ["job.0.0", "leadline-x"]
    finally:
        subprocess.run(["umount", inside], check=True)


def test_only_files_that_fio_named_after_a_section_are_removed(work_directory: Path) -> None:
    target = prepared(work_directory, frozenset({"seq.read"}))
    for name in ("seq.read.0.0", "seq.read.12.7"):
        (work_directory / name).write_text("fio's")
    kept = ["other.0.0", "report.2024.01", "seq.read.a.0", "seq.read.0", "seq.read"]
    for name in kept:
        (work_directory / name).write_text("foreign")
    (work_directory / "seq.read.5.5").mkdir()
    target.clean_up()
    assert sorted(entry.name for entry in work_directory.iterdir()) == sorted([*kept, "seq.read.5.5"])


def test_a_file_that_a_job_file_names_is_removed_unless_it_was_there_before(work_directory: Path) -> None:
    (work_directory / MARKER).touch()
    (work_directory / "mine.bin").write_text("x")
    target = WorkDirectory(
        work_directory, file_names=frozenset({"data.bin", "mine.bin", "never.bin", "folder"})
    )
    target.prepare()
    (work_directory / "data.bin").write_text("fio's")
    (work_directory / "folder").mkdir()
    target.clean_up()
    assert sorted(entry.name for entry in work_directory.iterdir()) == ["folder", "mine.bin"]


def test_space_is_checked_with_a_twentieth_to_spare(work_directory: Path) -> None:
    free = os.statvfs(work_directory).f_bavail * os.statvfs(work_directory).f_frsize
    check_space(work_directory, int(free * 0.5))
    with pytest.raises(UserError, match=r"GiB free and the plan needs .* --scale"):
        check_space(work_directory, int(free * 0.99))


def test_leadline_does_not_lay_a_hand_on_a_directory_that_is_too_small(work_directory: Path) -> None:
    with pytest.raises(UserError, match="make room"):
        WorkDirectory(work_directory, space_bytes=1 << 60).prepare()


AS_NOBODY = f"""
import os, sys
from pathlib import Path
from leadline.errors import UserError
from leadline.run.targets.work_directory import check_directory
os.setgid({NOBODY}); os.setuid({NOBODY})  # after the imports: the checkout may be closed to others
try:
    check_directory(Path(sys.argv[1]))
except UserError as error:
    print(error)
"""


@pytest.mark.root
def test_a_directory_of_another_user_is_refused() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as roots:
        Path(roots).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, roots], capture_output=True, text=True, check=True
        )
        assert "may not be written by this user" in done.stdout
        Path(roots).chmod(0o700)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, roots], capture_output=True, text=True, check=True
        )
        assert "may not be written by this user" in done.stdout


@pytest.mark.root
def test_a_read_only_filesystem_is_refused_even_to_root(mounted: Callable[..., Path]) -> None:
    inside = mounted("tmpfs")
    subprocess.run(["mount", "-o", "remount,ro", inside.parent], check=True)
    assert "may not be written" in refusal(inside)


def test_a_path_through_a_link_is_resolved_once(work_directory: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(work_directory)
    assert check_directory(tmp_path / "link") == work_directory.resolve()


def test_sparse_files_and_short_files_are_no_layout(work_directory: Path) -> None:
    """Holes are read as zeros without any I/O."""
    layout = Layout("files-1x1m", 1, 1, 1 << 20)
    file = data_folder(work_directory, layout) / "0.0"
    assert not layout_present(layout, work_directory)
    with file.open("wb") as sparse:
        sparse.write(b"x" * 4096)
        sparse.truncate(1 << 20)
        os.fsync(sparse.fileno())
    assert not layout_present(layout, work_directory)
    file.write_bytes(b"x" * ((1 << 20) - 1))
    assert not layout_present(layout, work_directory)
    with file.open("wb") as whole:
        whole.write(b"x" * (1 << 20))
        os.fsync(whole.fileno())
    assert layout_present(layout, work_directory)


@pytest.mark.root
def test_a_filesystem_that_refuses_direct_io_is_told_from_one_that_takes_it(
    mounted: Callable[..., Path], work_directory: Path
) -> None:
    assert accepts_direct(mounted("ramfs", "rw")) is False
    assert accepts_direct(work_directory) is True
    assert list(work_directory.iterdir()) == [], "the probe is gone"
