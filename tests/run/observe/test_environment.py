"""The environment record of recorded machines, and of this one."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leadline.run.observe.environment import record_environment

Recorded = Callable[[str], Path]


def reason(record: dict[str, Any], what: str) -> str | None:
    return next((entry["why"] for entry in record["unreadable"] if entry["what"] == what), None)


def test_sockets_cores_threads_and_numa_nodes_are_told_apart(recorded: Recorded) -> None:
    processor = record_environment(Path("/data"), recorded("bonded_numa_server"))["processor"]
    assert (processor["sockets"], processor["cores"], processor["threads"]) == (2, 2, 4)
    assert processor["model"] == "AMD EPYC 7543 32-Core Processor"
    assert [(node["node"], node["threads"], node["memory_bytes"]) for node in processor["numa_nodes"]] == [
        (0, 2, 131072 * 1024),
        (1, 2, 131072 * 1024),
    ]
    assert not processor["is_virtual"]
    assert processor["smt"] == "on"


def test_one_core_with_another_governor_shows(recorded: Recorded) -> None:
    processor = record_environment(Path("/data"), recorded("bonded_numa_server"))["processor"]
    assert processor["governors"] == ["performance", "powersave"]
    assert (processor["clock_now_lowest_mhz"], processor["clock_maximum_mhz"]) == (1500.0, 3737.89)


def test_the_tightest_group_limit_above_us_counts(recorded: Recorded) -> None:
    record = record_environment(Path("/data"), recorded("bonded_numa_server"))
    assert record["cgroup_versions"] == [2]
    assert record["processor"]["cgroup_limit_cores"] == 1.5
    assert record["memory"]["cgroup_limit_bytes"] == 134217728


def test_limits_of_version_1_are_found_where_a_container_sees_them(recorded: Recorded) -> None:
    record = record_environment(Path("/"), recorded("limited_container"))
    assert record["cgroup_versions"] == [1]
    assert record["processor"]["cgroup_limit_cores"] == 0.5
    assert record["memory"]["cgroup_limit_bytes"] == 536870912


def test_memory_is_in_bytes_and_huge_pages_are_a_count(recorded: Recorded) -> None:
    memory = record_environment(Path("/data"), recorded("bonded_numa_server"))["memory"]
    assert memory["total_bytes"] == 262144 * 1024
    assert (memory["hugepages_total"], memory["hugepage_size_bytes"]) == (16, 2048 * 1024)


def test_the_kernel_record_holds_settings_but_not_the_whole_command_line(recorded: Recorded) -> None:
    record = record_environment(Path("/data"), recorded("bonded_numa_server"))
    kernel = record["kernel"]
    assert kernel["mitigations"] == {
        "asked_for": ["mitigations=off", "nospectre_v2"],
        "active": ["spectre_v1"],
        "vulnerable": ["spec_rstack_overflow"],
    }
    assert kernel["settings"]["vm.dirty_bytes"] == 1073741824
    assert kernel["io_uring_disabled"] == 2
    assert kernel["transparent_hugepages"] == "madvise"
    assert kernel["limits"] == {"processes": 1029000, "open_files": 1024, "locked_memory_bytes": None}
    assert "secret" not in json.dumps(record)


def test_a_setting_that_is_not_a_number_is_said_to_be_unreadable(recorded: Recorded) -> None:
    record = record_environment(Path("/"), recorded("limited_container"))
    assert record["kernel"]["settings"]["fs.aio-max-nr"] is None
    assert reason(record, "fs.aio-max-nr") == '/proc/sys/fs/aio-max-nr holds "many", which is not a number.'
    assert reason(record, "vm.swappiness") == "/proc/sys/vm/swappiness does not exist."


def test_an_arm_board_has_cores_although_cpuinfo_names_none(recorded: Recorded) -> None:
    record = record_environment(Path("/"), recorded("small_arm_board"))
    processor = record["processor"]
    assert (processor["sockets"], processor["cores"], processor["threads"]) == (1, 2, 2)
    assert processor["model"] is None
    assert "ARM" in (reason(record, "processor model") or "")


def test_a_machine_that_shows_nothing_is_recorded_without_an_error(tmp_path: Path) -> None:
    record = record_environment(Path("/data"), tmp_path)
    assert record["processor"]["threads"] is None
    assert record["memory"]["total_bytes"] is None
    assert record["block_devices"] == []
    missing = {entry["what"] for entry in record["unreadable"]}
    assert {"memory size", "mount table", "filesystem type", "kernel release", "load average"} <= missing
    assert all(entry["why"].endswith(".") for entry in record["unreadable"])
    json.dumps(record, allow_nan=False)


def test_nothing_but_text_is_needed_to_keep_every_recorded_machine(recorded: Recorded) -> None:
    for name in ("bonded_numa_server", "limited_container", "small_arm_board"):
        record = record_environment(Path("/"), recorded(name))
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert record["time"]["recorded_utc"].endswith("+00:00")


def test_this_machine_agrees_with_its_own_system_calls(tmp_path: Path) -> None:
    record = record_environment(tmp_path)
    assert record["processor"]["threads"] == os.cpu_count()
    assert record["memory"]["total_bytes"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert record["kernel"]["release"] == os.uname().release
    assert record["filesystem"]["st_dev"] == tmp_path.stat().st_dev
    assert record["filesystem"]["type"] is not None
    json.dumps(record, allow_nan=False)
