"""What carries a directory on another host, from a recording that its shell has made."""

from __future__ import annotations

import subprocess
from pathlib import Path

from leadline.run.observe.block_devices import disk_names_under
from leadline.run.observe.machine import Machine
from leadline.run.observe.recording import Recording, below_directory, record_command


def recording_of(directory: Path) -> str:
    return subprocess.run(record_command(directory), capture_output=True, text=True, check=True).stdout


def test_a_recording_of_this_machine_names_the_disks_that_this_machine_names(disk: Path) -> None:
    below = below_directory(recording_of(disk))
    assert list(below.disks) == disk_names_under(Machine(), disk) and below.disks
    assert below.queue is None


def test_a_directory_that_is_not_there_yet_is_looked_for_above(disk: Path) -> None:
    assert below_directory(recording_of(disk / "not" / "yet")) == below_directory(recording_of(disk))


def test_partitions_links_and_fuse_connections_are_followed() -> None:
    text = (
        "\x1ehere /data\n"
        "\x1efile /proc/self/mountinfo\n30 1 259:2 / /data rw - ext4 /dev/nvme0n1p2 rw\n"
        "31 1 0:52 / /mnt/j rw - fuse.juicefs JuiceFS:x rw\n"
        "\x1elink /sys/class/block/nvme0n1p2 /sys/devices/pci0/nvme/nvme0n1/nvme0n1p2\n"
        "\x1elink /sys/dev/block/259:2 /sys/devices/pci0/nvme/nvme0n1/nvme0n1p2\n"
        "\x1efile /sys/devices/pci0/nvme/nvme0n1/nvme0n1p2/partition\n2\n"
        "\x1efile /sys/devices/pci0/nvme/nvme0n1/size\n3125627568\n"
        "\x1efile /sys/fs/fuse/connections/52/waiting\n3\n"
        "\x1efile /sys/fs/fuse/connections/52/max_background\n12\n"
        "\x1efile /sys/fs/fuse/connections/52/congestion_threshold\n9\n"
    )
    assert below_directory(text).disks == ("nvme0n1",)
    queue = below_directory(text.replace("here /data", "here /mnt/j/work")).queue
    assert queue is not None and queue.waiting == "/sys/fs/fuse/connections/52/waiting"
    assert queue.facts() == {"max_background": 12, "congestion_threshold": 9}


def test_links_in_a_circle_come_to_an_end() -> None:
    machine = Recording("\x1elink /a /b\n\x1elink /b /a\n")
    assert str(machine.resolve("/a")) in ("/a", "/b")


def test_what_is_no_recording_says_nothing() -> None:
    assert below_directory("Last login: today\n").disks == ()
