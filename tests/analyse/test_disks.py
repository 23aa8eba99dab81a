"""Local disks against their sheets: which disk, which test, what share, and what must not be counted as a disk at all."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.disks import DiskLine, in_words
from leadline.errors import UserError
from leadline.spec.load_nominal import build_nominal
from leadline.store.records import Direction, StepRecord
from leadline.store.series import Series

from .samples import ENVIRONMENT, measurement, record
from .samples import manifest as manifest_of

MIB = 1 << 20


def cell(rw: str, iops: float, block_size: int, ordinal: int = 0, **more: Any) -> StepRecord:
    direction = Direction.READ if "read" in rw else Direction.WRITE
    part = measurement(iops, block_size, 16, direction=direction)
    totals = more.pop("totals", {f"disk.nvme0n1.{direction}_bytes": float(part.size_bytes)})
    settings = {"rw": rw, "block_size": block_size, "iodepth": 16 + ordinal, "numjobs": 1, "direct": True}
    known = {"disk.nvme0n1.read_bytes": 0.0} if "disk.nvme0n1.write_bytes" in totals else {}
    return record(
        part, cell=settings, ordinal=ordinal, totals={**known, **totals},
        facts={"dataset_bytes": 1 << 36, "caches": "dropped", **more.pop("facts", {})}, **more,
    )  # fmt: skip


def lines(
    *records: StepRecord, disks: dict[str, Any] | None = None, limits: dict[str, float] | None = None
) -> dict[str, DiskLine]:
    manifest = manifest_of(campaign={"nominal": {"disks": disks or {}}}, limits=limits or {})
    found = analyse(records, manifest, ENVIRONMENT).disks
    return {f"{line.host}{':' if line.host else ''}{line.test}": line for line in found}


SHEET = {"nvme0n1": {"read": 7e9, "write": 5e9, "randread_iops": 1e6, "randwrite_iops": None}}


def test_the_best_cell_of_each_test_is_laid_beside_the_sheet() -> None:
    found = lines(
        cell("read", 3000, MIB), cell("read", 6000, MIB, 1), cell("randread", 400_000, 4096, 2), disks=SHEET
    )
    assert found["read"].ratio == pytest.approx(6000 * MIB / 7e9)
    assert found["read"].figure is not None and found["read"].disks == ("nvme0n1",)
    assert found["randread"].metric == "iops" and found["randread"].ratio == pytest.approx(0.4)
    assert found["randread"].is_off and in_words(found["randread"]) == "well below its sheet"
    assert not found["read"].is_off and in_words(found["read"]) == ""


def test_what_a_sheet_states_and_nobody_measured_is_said() -> None:
    found = lines(cell("randread", 100_000, 65536), disks=SHEET)
    assert found["write"].figure is None and in_words(found["write"]) == "no write was measured"
    assert in_words(found["randread"]) == "no randread was measured at 4 KiB"
    assert "randwrite" not in found, "its sheet says nothing of it"


def test_a_number_that_stands_in_limits_need_not_be_written_again() -> None:
    found = lines(cell("read", 3000, MIB), limits={"read": 7e9})
    assert found["read"].source == "[limits]" and found["read"].ratio == pytest.approx(3000 * MIB / 7e9)


def test_a_number_of_the_sheet_is_a_limit_too_so_that_faster_than_it_is_impossible() -> None:
    manifest = manifest_of(campaign={"nominal": {"disks": SHEET}})
    results = analyse([cell("read", 20_000, MIB)], manifest, ENVIRONMENT)
    assert results.reference.limits == {"read": 7e9, "write": 5e9}
    assert "impossible" in {str(verdict.name) for verdict in results.cells[0].verdicts}
    assert "not valid: impossible" in in_words(results.disks[0])


def test_disks_that_carry_a_directory_together_are_added_up_and_only_if_all_have_sheets() -> None:
    both = {"disk.nvme0n1.read_bytes": 1e9, "disk.nvme1n1.read_bytes": 1e9}
    assert lines(cell("read", 3000, MIB, totals=both), disks=SHEET) == {}
    two = {**SHEET, "nvme1n1": {"read": 7e9}}
    found = lines(cell("read", 3000, MIB, totals=both), disks=two)
    assert found["read"].nominal == 14e9 and found["read"].disks == ("nvme0n1", "nvme1n1")


@pytest.mark.parametrize(
    "facts",
    [
        {"filesystem": {"type": "nfs4", "is_network": True}},
        {"filesystem": {"type": "fuse.juicefs", "is_fuse": True}},
        {"filesystem": {"type": "tmpfs", "is_memory": True}},
        {"site_conditions": {"disk_read_iops": 60.0}},
    ],
)
def test_a_network_a_daemon_memory_and_a_throttle_say_nothing_of_a_disk(facts: dict[str, Any]) -> None:
    assert lines(cell("read", 3000, MIB, facts=facts), disks=SHEET) == {}


def test_a_loop_device_of_the_lab_is_no_disk_of_its_own() -> None:
    totals = {"disk.loop3.read_bytes": 1e9, "disk.nvme0n1.read_bytes": 1e9}
    assert lines(cell("read", 3000, MIB, totals=totals), disks=SHEET)["read"].disks == ("nvme0n1",)


def test_a_disk_of_another_host_has_a_line_of_its_own() -> None:
    totals = {"disk.vda.read_bytes": 5.0, "host.node1.disk.nvme0n1.read_bytes": 1e9}
    counters = [Series("host.node1.cpu.all.busy_share", "share", [1], [0.1])]
    assert list(lines(cell("read", 3000, MIB, totals=totals, counters=counters), disks=SHEET)) == [
        "node1:read",
        "node1:write",
        "node1:randread",
    ]


def test_rates_are_written_as_sheets_print_them() -> None:
    table = {"disks": {"nvme0n1": {"read": "7GB/s", "write": "5000MB/s", "randread_iops": "1000k",
                                   "randwrite_iops": "85,000 IOPS"}}}  # fmt: skip
    disk = build_nominal(table, "n.toml").disks["nvme0n1"]
    assert (disk.read, disk.write) == (7e9, 5e9)
    assert (disk.randread_iops, disk.randwrite_iops) == (1e6, 85_000)


@pytest.mark.parametrize(
    ("disk", "sentence"),
    [
        ({"read": "6Gb/s"}, r"nominal.disks.nvme0n1.read.*is in bits, 750 MB/s; disks are stated in bytes"),
        ({"read": 7}, "has no unit"),
        ({"read": "7000GB/s"}, "is the bandwidth of no disk; check its unit"),
        ({"randread_iops": "4GB/s"}, "is no number of operations a second"),
        ({"randread_iops": 0}, "is no number of operations a second"),
        ({"randread": "4GB/s"}, 'unknown key "disks.nvme0n1.randread".*did you mean "randread_iops"'),
    ],
)
def test_units_that_are_mixed_up_are_one_sentence(disk: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        build_nominal({"disks": {"nvme0n1": disk}}, "n.toml")


def test_a_nic_in_bytes_is_refused() -> None:
    with pytest.raises(UserError, match="NICs are sold in bits"):
        build_nominal({"nics": {"eth0": "25GB/s"}}, "n.toml")
