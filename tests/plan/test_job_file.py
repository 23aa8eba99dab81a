"""A user's own fio job file: every section a step, run as it is, and only inside the directory."""

from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.formats.fio_job_file import parse_job_file
from leadline.plan.job_file import check_confined, design_job_file, own_directory, read_job_file
from leadline.plan.steps import Step

DIRECTORY = Path("/data/work")
TWO_SECTIONS = """
; a comment
[global]
ioengine=libaio
direct=1
size=16m

[fast]  # another
rw=randread
bs=4k
runtime=10
ramp_time=2

[slow]
rw=write
bs=1m
"""


def steps_of(text: str, repeats: int = 1) -> tuple[Step, ...]:
    return design_job_file(parse_job_file(text, "j.fio"), repeats).steps


def test_each_section_is_a_step_with_the_global_options_under_its_own() -> None:
    fast, slow = steps_of(TWO_SECTIONS)
    assert (fast.section, slow.section) == ("fast", "slow")
    assert (fast.cell["rw"], fast.cell["block_size"], fast.cell["direct"], fast.cell["ioengine"]) == (
        "randread",
        4096,
        True,
        "libaio",
    )
    assert (slow.cell["rw"], slow.cell["block_size"], slow.cell["size"]) == ("write", 1 << 20, 16 << 20)
    assert (fast.engine, fast.files, fast.layout) == ("job file", "own", None)


def test_the_time_of_a_section_is_its_runtime_and_ramp() -> None:
    fast, slow = steps_of(TWO_SECTIONS)
    assert fast.expected_seconds == 12
    assert slow.expected_seconds == 60, "nothing is known of a section bound by size"


def test_repeats_are_rounds_over_all_sections() -> None:
    steps = steps_of(TWO_SECTIONS, repeats=2)
    assert [(step.ordinal, step.section, step.repeat) for step in steps] == [
        (0, "fast", 0), (1, "slow", 0), (2, "fast", 1), (3, "slow", 1)
    ]  # fmt: skip


def test_sections_of_one_name_are_one_step_because_fio_runs_them_together() -> None:
    (step,) = steps_of("[a]\nrw=read\nsize=1m\n[a]\nbs=8k\n")
    assert (step.cell["rw"], step.cell["block_size"]) == ("read", 8192)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no job section"), ("[global]\nrw=read\n", "no job section"), ("rw=read\n[a]\n", "line 1"), ("[a\nrw=read\n", "line 1"),
        ("[]\n", "line 1"), ("[a] rw=read\n", "line 1"), ("[a]\ninclude other.fio\n", "line 2"), ("[a]\n include\tother.fio\n", "line 2"),
        ("include=other.fio\n[a]\n", "line 1"),
    ],
)  # fmt: skip
def test_what_is_no_job_file_or_includes_another_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_job_file(text, "j.fio")


@pytest.mark.parametrize(
    "section",
    [
        "[a]\nfilename=/dev/sda", "[a]\nfilename=x:/dev/sda", "[a]\nfilename=../../etc/passwd", "[a]\nfilename = /etc/passwd",
        "[a]\nFILENAME=/etc/passwd", "[a]\nfilename=${HOME}/x", "[a]\ndirectory=/etc", "[a]\ndirectory=${HOME}",
        "[a]\nfilename_format=/etc/$jobnum", "[a]\nopendir=/etc", "[a]\nreplay_redirect=/dev/sda", "[a]\nread_iolog=/tmp/log",
        "[global]\nfilename=/dev/sda\n[a]", "[/dev/sda]", "[../../etc/cron.d/x]", "[..]",
    ],
)  # fmt: skip
def test_a_section_that_would_write_elsewhere_is_refused(section: str) -> None:
    sections = parse_job_file(section + "\nrw=write\nsize=1m\n", "j.fio")
    with pytest.raises(UserError, match=r"j\.fio, section \["):
        check_confined(sections, DIRECTORY, "j.fio")


@pytest.mark.parametrize(
    "section", ["[a]", "[a b]\nfilename=one.bin", "[a]\nfilename=one:two", f"[a]\ndirectory={DIRECTORY}"]
)
def test_a_section_that_stays_inside_is_taken(section: str) -> None:
    check_confined(parse_job_file(section + "\nrw=write\nsize=1m\n", "j.fio"), DIRECTORY, "j.fio")


def test_the_directory_may_come_from_the_file_but_only_one() -> None:
    assert own_directory(parse_job_file("[global]\ndirectory=/x\n[a]\n[b]\n", "j.fio"), "j.fio") == Path("/x")
    assert own_directory(parse_job_file("[a]\n", "j.fio"), "j.fio") is None
    with pytest.raises(UserError, match="several directories"):
        own_directory(parse_job_file("[a]\ndirectory=/x\n[b]\ndirectory=/y\n", "j.fio"), "j.fio")


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.fio", tmp_path):
        with pytest.raises(UserError, match="cannot be read"):
            read_job_file(path)
    (tmp_path / "binary.fio").write_bytes(b"\xff\xfe[\x00")
    with pytest.raises(UserError, match="cannot be read"):
        read_job_file(tmp_path / "binary.fio")
