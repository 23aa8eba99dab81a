"""The seam: what is missing is a sentence, what is linked stays inside the root."""

from pathlib import Path, PurePosixPath

from leadline.run.observe.machine import Machine, chosen, cpu_count


def test_a_missing_file_is_none_and_noted_once_only_when_its_fact_is_named(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.text("/proc/nothing") is None
    assert machine.unreadable == []
    assert machine.text("/proc/nothing", "the fact") is None
    assert machine.text("/proc/nothing", "the fact") is None
    assert machine.unreadable == [{"what": "the fact", "why": "/proc/nothing does not exist."}]


def test_text_where_a_number_was_expected_is_noted_with_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "limit").write_text("max\n")
    machine = Machine(tmp_path)
    assert machine.integer("/limit", "the limit") is None
    assert machine.unreadable == [{"what": "the limit", "why": '/limit holds "max", which is not a number.'}]


def test_a_directory_in_place_of_a_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "thing").mkdir()
    machine = Machine(tmp_path)
    assert machine.text("/thing", "thing") is None
    assert machine.unreadable[0]["why"] == "/thing cannot be read: Is a directory."


def test_relative_and_absolute_links_both_stay_on_the_recorded_machine(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "relative").symlink_to("dm-0")
    (tmp_path / "dev" / "absolute").symlink_to("/dev/no-such-device")
    machine = Machine(tmp_path)
    assert machine.resolve("/dev/relative") == PurePosixPath("/dev/dm-0")
    assert machine.resolve("/dev/absolute") == PurePosixPath("/dev/no-such-device")


def test_the_bracketed_word_is_the_chosen_one() -> None:
    assert chosen("none [mq-deadline] kyber") == "mq-deadline"
    assert chosen("none") == "none"
    assert chosen("always madvise") == "always madvise"
    assert chosen(None) is None


def test_cpus_in_kernel_lists_are_counted() -> None:
    assert cpu_count("0-3,8-11") == 8
    assert cpu_count("0,2") == 2
    assert cpu_count("") == 0
