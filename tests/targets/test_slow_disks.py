"""Disks of the lab that take their time: as long as was said, for as many at once as was said, and gone with the lab."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from held_parts import Held
from lab_parts import eventually

from leadline.plan.sites import Conditions
from leadline.run.lab import lifecycle
from leadline.run.lab.control_groups import members
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.mounts import Mount
from leadline.run.lab.parts import SERVERS, processor_groups
from leadline.run.lab.registry import lab_target
from leadline.run.lab.slow_disks import SUFFIX
from leadline.run.lab.state import Ready, lab_state

MIB = 1 << 20
LATENCY, CHANNELS = 0.004, 2
ATTEMPTS = 4
"""Others use these processors too: what they hold up once is measured again. Too fast it may never be."""
Killed = Callable[[int, Callable[[], object]], int]
Look = Callable[[], Any]


def bring_up(**conditions: Any) -> Ready:
    """The smallest lab with a server, a client and a disk."""
    wishes = Wishes(1, conditions=Conditions(**conditions))
    return lifecycle.bring_up("held", Held(), wishes, lambda line: None)[0]


def random_reads(directory: str, iodepth: int) -> Mapping[str, Any]:
    """Of 64 KiB, past all caches but the disk's own, which has none."""
    words = ("timeout", "-k", "3", "30", "fio", "--name=x", f"--directory={directory}", "--rw=randread", "--bs=64k", "--size=16m",
             f"--iodepth={iodepth}", "--ioengine=libaio", "--direct=1", "--time_based", "--runtime=1", "--output-format=json",
             "--percentile_list=10")  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    figures: Mapping[str, Any] = json.loads(done.stdout)["jobs"][0]["read"]
    return figures


def slow_mounts(name: str) -> list[Mount]:
    resources = [entry.resource for entry in Journal(lab_state(name).journal).entries()]
    return [each for each in resources if isinstance(each, Mount) and each.point.endswith(SUFFIX)]


def served_by(name: str) -> set[int]:
    """The processes behind the slow disks of a lab."""
    return {pid for mount in slow_mounts(name) for pid in members(Path(mount.groups[0]))}


def test_a_slow_disk_takes_its_latency_alone_and_serves_as_many_at_once_as_it_has_channels() -> None:
    wishes = Wishes(16 * MIB, conditions=Conditions(disk_latency=LATENCY, disk_channels=CHANNELS))
    ready, _ = lifecycle.bring_up("xfs", lab_target("xfs"), wishes, lambda line: None)
    for _ in range(ATTEMPTS):
        alone, many = random_reads(ready.directory, 1), random_reads(ready.directory, 8)
        assert alone["lat_ns"]["min"] >= LATENCY * 1e9
        assert many["iops"] <= 1.05 * CHANNELS / LATENCY
        on_time = alone["clat_ns"]["percentile"]["10.000000"] <= 1.1 * LATENCY * 1e9
        if on_time and many["iops"] >= 0.9 * CHANNELS / LATENCY:
            return
    pytest.fail(f"alone: {alone['clat_ns']}, eight: {many['iops']} a second")


def test_the_bytes_of_a_request_hold_its_channel_and_a_flush_takes_the_latency() -> None:
    ready = bring_up(disk_latency=0.01, disk_channel_bandwidth=4 * MIB)
    point = Path(ready.directory)
    assert seconds_of(lambda: sync_of_two_mebibytes(point)) >= 0.5
    assert seconds_of(lambda: sync_of_one_byte(point)) >= 0.02  # the byte, and the flush after it


def seconds_of(act: Callable[[], None]) -> float:
    begun = os.times().elapsed
    act()
    return os.times().elapsed - begun


def sync(point: Path) -> None:
    descriptor = os.open(point / "data", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_of_two_mebibytes(point: Path) -> None:
    """The kernel may begin to write while this process stands still before its sync, so that is part of the time."""
    (point / "data").write_bytes(bytes(2 * MIB))
    sync(point)


def sync_of_one_byte(point: Path) -> None:
    with (point / "data").open("r+b") as file:
        file.write(b"x")
    sync(point)


def test_what_serves_a_slow_disk_is_no_server_and_no_client() -> None:
    ready = bring_up(disk_latency=LATENCY, server_cores=0.5, client_cores=0.5)
    serving = served_by("held")
    counted = processor_groups(lab_state("held"), ready)
    held_back = {each for seat in ready.clients for each in seat.groups}
    servers = [each for each in limited_groups() if "servers" in each]
    theirs = {*held_back, *servers, *(each for groups in counted.values() for each in groups)}
    assert serving and servers and SERVERS in counted
    assert not serving & {pid for each in theirs for pid in members(Path(each))}


def limited_groups() -> list[str]:
    entries = Journal(lab_state("held").journal).entries()
    return [path for each in entries if (path := getattr(each.resource, "path", "")).endswith("-limits")]


def test_slow_disks_go_with_the_lab(traces: Look) -> None:
    before = traces()
    ready = bring_up(
        disk_latency=LATENCY, disk_channels=3, disk_channel_bandwidth=50 * MIB, disk_read_iops=100
    )
    assert ready.facts["conditions"] == {
        "disk_latency": LATENCY, "disk_channels": 3, "disk_channel_bandwidth": 50 * MIB, "disk_read_iops": 100,
    }  # fmt: skip
    assert any("slow-disk" in each for each in traces().processes)
    lifecycle.tear_down("held")
    assert eventually(lambda: traces() == before)


@pytest.mark.parametrize("last", range(3, 13))
def test_killed_while_a_slow_disk_is_made_it_is_cleaned_by_another_process(
    last: int, killed_after_line: Killed, traces: Look
) -> None:
    before = traces()
    status = killed_after_line(last, lambda: bring_up(disk_latency=LATENCY))
    assert os.WIFSIGNALED(status)
    lifecycle.tear_down("held")
    assert eventually(lambda: traces() == before)


def test_a_lab_whose_slow_disk_was_killed_goes_down_all_the_same(traces: Look) -> None:
    before = traces()
    ready = bring_up(disk_latency=LATENCY)
    (Path(ready.directory) / "data").write_bytes(bytes(MIB))
    for pid in served_by("held"):
        os.kill(pid, signal.SIGKILL)
    lifecycle.tear_down("held")
    assert eventually(lambda: traces() == before)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("xfs", "--disk-channels", "3"), "disk_channels is given without disk_latency"),
        (
            ("xfs", "--disk-channel-bandwidth", "50MiB/s"),
            "disk_channel_bandwidth is given without disk_latency",
        ),
        (("xfs", "--disk-latency", "0"), "disk_latency is 0; give a value above 0"),
        (("tmpfs", "--disk-latency", "4ms"), "tmpfs cannot be held to disk_latency: it lies in memory"),
        (("xfs", "--disk-latency", "soon"), "is not a duration"),
    ],
)
def test_what_no_disk_can_be_is_refused_in_one_sentence(
    wrong: tuple[str, ...], said: str, leadline: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    refused = leadline("lab", "up", *wrong)
    assert refused.returncode == 2 and said in refused.stderr and len(refused.stderr.splitlines()) == 1
