"""Which filesystem and which disks a directory lies on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.run.observe.block_devices import (
    describe_block_devices,
    device_names_under,
    disk_names_under,
)
from leadline.run.observe.filesystem import describe_filesystem
from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import find_mount

Recorded = Callable[[str], Path]


@pytest.fixture
def server(recorded: Recorded) -> Machine:
    return Machine(recorded("bonded_numa_server"))


@pytest.fixture
def board(recorded: Recorded) -> Machine:
    return Machine(recorded("small_arm_board"))


def test_the_longest_mount_point_above_a_directory_wins(server: Machine) -> None:
    assert describe_filesystem(server, Path("/data/a/b"))["type"] == "xfs"
    assert describe_filesystem(server, Path("/database"))["type"] == "ext4"


def test_a_later_mount_hides_an_earlier_one_at_the_same_point(board: Machine) -> None:
    mount = find_mount(board, Path("/pool"))
    assert mount is not None and (mount.type, mount.options[0]) == ("btrfs", "rw")


def test_blanks_in_mount_points_are_unescaped(board: Machine) -> None:
    assert describe_filesystem(board, Path("/images/my disk/x"))["mount_point"] == "/images/my disk"


@pytest.mark.parametrize(
    ("directory", "is_fuse", "is_network", "is_memory"),
    [
        ("/data", False, False, False),
        ("/jfs/x", True, True, False),
        ("/home/me", False, True, False),
        ("/scratch", False, False, True),
        ("/odd", True, None, False),
    ],
)
def test_fuse_network_and_memory_are_told_apart(
    server: Machine, directory: str, is_fuse: bool, is_network: bool | None, is_memory: bool
) -> None:
    facts = describe_filesystem(server, Path(directory))
    assert (facts["is_fuse"], facts["is_network"], facts["is_memory"]) == (is_fuse, is_network, is_memory)


def test_mount_options_and_those_of_the_filesystem_are_both_kept(server: Machine) -> None:
    facts = describe_filesystem(server, Path("/home"))
    assert facts["mount_options"] == ["rw", "relatime"]
    assert "nconnect=8" in facts["filesystem_options"]


def test_the_way_down_from_a_volume_ends_on_its_disks(server: Machine) -> None:
    assert device_names_under(server, Path("/data")) == ["dm-0", "md0", "nvme0n1", "nvme1n1p1", "nvme1n1"]
    assert disk_names_under(server, Path("/data")) == ["nvme0n1", "nvme1n1"]


def test_a_disk_reached_by_two_partitions_is_named_once(recorded: Recorded) -> None:
    root = recorded("bonded_numa_server")
    disk = "devices/pci0000:40/0000:40:01.2/0000:42:00.0/nvme/nvme1/nvme1n1"
    (root / "sys" / disk / "nvme1n1p2").mkdir()
    (root / "sys" / disk / "nvme1n1p2/partition").write_text("2")
    (root / "sys/class/block/nvme1n1p2").symlink_to(f"../../{disk}/nvme1n1p2")
    (root / "sys/devices/virtual/block/md0/slaves/nvme1n1p2").mkdir()
    assert disk_names_under(Machine(root), Path("/data")) == ["nvme0n1", "nvme1n1"]


def test_the_facts_of_each_device_are_its_own(server: Machine) -> None:
    volume, raid, disk, partition, remote = describe_block_devices(server, Path("/data"))
    assert (volume["kind"], volume["name_given"], volume["made_of"]) == ("dm", "vg0-data", ["md0"])
    assert (raid["kind"], raid["raid_level"], raid["size_bytes"]) == ("md", "raid0", 25000001024 * 512)
    assert (disk["model"], disk["transport"]) == ("KIOXIA KCD61LUL7T68", "nvme over pcie")
    assert (disk["link"], disk["numa_node"]) == ("16.0 GT/s PCIe x4", 1)
    assert (disk["scheduler"], disk["nr_requests"], disk["rotational"]) == ("none", 1023, False)
    assert (partition["kind"], partition["made_of"]) == ("partition", ["nvme1n1"])
    assert (remote["transport"], remote["link"]) == ("nvme over tcp", None)


def test_serial_numbers_stay_hidden(server: Machine) -> None:
    disk = describe_block_devices(server, Path("/data"))[2]
    assert disk["serial"] == "hidden"
    assert "X0A0A012T3Z8" not in str(disk)


def test_a_partition_of_a_sata_disk_leads_to_the_disk(server: Machine) -> None:
    partition, disk = describe_block_devices(server, Path("/"))
    assert (partition["name"], disk["name"], disk["transport"]) == ("sda1", "sda", "sata")
    assert (disk["model"], disk["rotational"]) == ("ST4000NM0035", True)


def test_every_member_of_a_btrfs_is_found_from_one(board: Machine) -> None:
    assert disk_names_under(board, Path("/pool")) == ["sda", "sdb"]


def test_a_loop_device_leads_to_the_disk_of_its_backing_file(board: Machine) -> None:
    assert device_names_under(board, Path("/images/my disk")) == ["loop3", "mmcblk0p2", "mmcblk0"]


def test_an_overlay_lies_where_its_upper_directory_lies(board: Machine) -> None:
    assert disk_names_under(board, Path("/over")) == ["sda", "sdb"]


@pytest.mark.parametrize(
    ("directory", "word"),
    [("/jfs", "JuiceFS:myjfs"), ("/home", "filer:/export/home"), ("/scratch", "memory")],
)
def test_without_a_disk_the_reason_is_given(server: Machine, directory: str, word: str) -> None:
    assert device_names_under(server, Path(directory)) == []
    assert [entry["what"] for entry in server.unreadable] == ["block devices"]
    assert word in server.unreadable[0]["why"]


def test_an_overlay_whose_upper_directory_is_out_of_sight_says_so(recorded: Recorded) -> None:
    machine = Machine(recorded("limited_container"))
    assert device_names_under(machine, Path("/app")) == []
    assert "not visible here" in machine.unreadable[0]["why"]
