"""Hosts in namespaces, and the conditions on their links, disks and processors: each measured, each undone."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab_parts import WISHES

from attempts import attempts
from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.conditions import (
    DiskLimits,
    client_setting,
    disk_settings,
    limit,
    lose_packets,
    shape_link,
)
from leadline.run.lab.journal import Journal
from leadline.run.lab.network import LabHost, Network, make_network
from leadline.run.lab.registry import lab_target
from leadline.run.lab.state import lab_state
from leadline.run.lab.tools import Toolbox

RECEIVE = """
import socket, sys
server = socket.create_server(("", 7000)); print("ready", flush=True)
peer, _ = server.accept()
while peer.recv(1 << 20): pass
"""
SEND = """
import socket, sys, time
peer = socket.create_connection((sys.argv[1], 7000)); started = time.monotonic()
peer.sendall(bytes(int(sys.argv[2]))); peer.shutdown(socket.SHUT_WR); peer.recv(1)
print(time.monotonic() - started)
"""
COUNT = """
import socket
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); peer.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
peer.bind(("", 7000)); print("ready", flush=True); peer.settimeout(60); count = 0
while peer.recv(2000) != b"end": count += 1
print(count)
"""
SCATTER = """
import socket, sys, time
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); peer.connect((sys.argv[1], 7000))
peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 15)  # few under way: the kernel drops what a busy machine does not pass on
for number in range(4000):
    peer.send(bytes(100))
    if number % 50 == 0: time.sleep(0.001)
for _ in range(60): peer.send(b"end")
"""
DATAGRAMS = 4000


@pytest.fixture
def network(journal: Journal) -> Network:
    return make_network(journal, lab_state("net").prefix, 2)


def python(host: LabHost, program: str, *arguments: object) -> tuple[str, ...]:
    return host.inside((sys.executable, "-c", program, *map(str, arguments)))


def heard(network: Network, listen: str, speak: str, *arguments: object) -> tuple[str, str]:
    """What the listener on host 2 and the speaker on host 1 print."""
    first, second = network.hosts
    listener = subprocess.Popen(
        python(second, listen), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert listener.stdout is not None and listener.stdout.readline() == "ready\n"
    spoken = subprocess.run(
        python(first, speak, second.address, *arguments),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    try:
        return listener.communicate(timeout=120)[0], spoken.stdout
    finally:
        listener.kill()


def seconds_to_send(network: Network, size_bytes: int) -> float:
    return float(heard(network, RECEIVE, SEND, size_bytes)[1])


def test_twenty_cycles_of_three_hosts_leave_nothing(labs: Path, traces: Callable[[], Any]) -> None:
    labs.mkdir()
    before = traces()
    for _ in range(20):
        journal = Journal(labs / "journal.jsonl")
        make_network(journal, lab_state("net").prefix, 3)
        assert len(traces().namespaces) == 4
        journal.undo()
        journal.path.unlink()
    assert traces() == before


def test_six_hosts_are_up_in_a_tenth_of_a_second(journal: Journal) -> None:
    """0.03 s on an idle machine. Of a processor, which others may keep busy: then it takes longer and costs the same."""
    for attempt in attempts():
        before = processor_seconds()
        make_network(journal, lab_state("net").prefix, 6)
        spent = processor_seconds() - before
        journal.undo()
        with attempt:
            assert spent < 0.3


def processor_seconds() -> float:
    """Of this process and of the tools that it ran."""
    told = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in told)


def test_hosts_reach_each_other_and_nothing_else(network: Network) -> None:
    for attempt in attempts():
        with attempt:
            assert seconds_to_send(network, 1 << 20) < 2
    route = subprocess.run(
        network.hosts[0].inside(("ip", "route")), capture_output=True, text=True, check=True
    )
    assert route.stdout.split()[0] == "10.77.1.0/24" and len(route.stdout.splitlines()) == 1


def test_a_shaped_link_carries_what_was_said_in_both_directions(journal: Journal, network: Network) -> None:
    shape_link(journal, network.hosts[0], 40_000_000)
    expected = (2 << 20) * 8 / 40_000_000
    for way in (network, Network(network.switch, network.hosts[::-1])):
        for attempt in attempts():
            taken = seconds_to_send(way, 2 << 20)
            assert taken > expected * 0.9
            with attempt:
                assert taken < expected * 1.5


def test_a_lone_message_takes_a_thin_cable_the_time_of_its_bytes(journal: Journal, network: Network) -> None:
    """Though the one packet of 64 KiB that veth hands over is more than the bucket holds: it is cut, and nothing is lost."""
    shape_link(journal, network.hosts[0], 20_000_000)
    of_its_bytes = (64 << 10) * 8 / 20_000_000
    assert seconds_to_send(network, 64 << 10) > 0.8 * of_its_bytes


def test_lost_packets_are_the_share_that_was_said(journal: Journal, network: Network) -> None:
    """The kernel's own queues are short, and it drops what a machine that stands still does not take out of them."""
    for attempt in attempts():
        with attempt:
            assert int(heard(network, COUNT, SCATTER)[0]) == DATAGRAMS
    lose_packets(journal, network.hosts[0], 20)
    for attempt in attempts():
        got = int(heard(network, COUNT, SCATTER)[0])
        assert got < 0.85 * DATAGRAMS  # 2.5 % is eight standard deviations
        with attempt:
            assert got > 0.75 * DATAGRAMS


def test_conditions_are_undone_one_by_one(journal: Journal, network: Network) -> None:
    host = network.hosts[0]
    shown = ("tc", "-n", host.namespace, "qdisc", "show", "dev", "v0")
    usual = Toolbox().run(*shown)
    already = {entry.number for entry in journal.entries()}
    shape_link(journal, host, 10_000_000)
    lose_packets(journal, host, 5)
    for entry in reversed(journal.entries()):
        if entry.number not in already:
            assert entry.resource.found(entry.identity)
            journal.remove(entry.number)
            assert not entry.resource.found(entry.identity)
    assert Toolbox().run(*shown) == usual


def test_a_condition_is_not_laid_over_another(journal: Journal, network: Network) -> None:
    shape_link(journal, network.hosts[0], 10_000_000)
    with pytest.raises(UserError, match=r"a shaper on v0 in .* exists already"):
        shape_link(journal, network.hosts[0], 20_000_000)


@pytest.mark.fio
def test_a_slow_disk_is_as_slow_as_was_said(journal: Journal) -> None:
    ready, _ = lifecycle.bring_up("ext4", lab_target("ext4"), WISHES, lambda line: None)
    limits = DiskLimits(write_bytes_per_second=4 << 20, read_iops=200)
    group = limit(journal, lab_state("ext4").prefix, disks={Path(ready.facts["device"]): limits})
    # Never more; how much less is the affair of whatever else this machine does, which spoils the one or the other.
    for rw, block_size, figure, said in (
        ("write", "64k", "bw_bytes", 4 << 20),
        ("randread", "4k", "iops", 200),
    ):
        for attempt in attempts():
            share = fio(ready.directory, rw, block_size, group.inside)[figure] / said
            assert share < 1.15
            with attempt:
                assert share > 0.6
    for attempt in attempts():
        free = fio(ready.directory, "randread", "4k", tuple)["iops"] / 200
        with attempt:
            assert free > 1.5, "not held outside of the group"


def fio(directory: str, rw: str, block_size: str, inside: Callable[[Any], Any]) -> dict[str, float]:
    words = ("fio", "--name=x", f"--directory={directory}", f"--rw={rw}", f"--bs={block_size}", "--size=4m", "--direct=1",
             "--runtime=1", "--time_based", "--output-format=json")  # fmt: skip
    done = subprocess.run(
        inside(("timeout", "-k", "3", "120", *words)), capture_output=True, text=True, check=True
    )
    job: dict[str, Any] = json.loads(done.stdout)["jobs"][0]
    figures: dict[str, float] = job["write" if rw == "write" else "read"]
    return figures


def test_a_client_of_half_a_core_gets_half_a_core(journal: Journal) -> None:
    group = limit(journal, lab_state("client").prefix, cores=0.5)
    busy = "import time; begun = time.monotonic()\nwhile time.process_time() < 0.6: pass\nprint(time.monotonic() - begun)"
    done = subprocess.run(
        group.inside((sys.executable, "-c", busy)), capture_output=True, text=True, check=True
    )
    assert float(done.stdout) > 0.8, (
        "0.6 s of a processor take 1.2 s then, but for what was spent on the way there"
    )


def test_a_client_of_little_memory_cannot_have_more(journal: Journal) -> None:
    group = limit(journal, lab_state("client").prefix, memory_bytes=48 << 20)
    takes = "bytearray(b'x') * (256 << 20); print('got it')"
    done = subprocess.run(
        group.inside((sys.executable, "-c", takes)), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "got it" not in done.stdout


@pytest.mark.anybody
def test_limits_are_written_as_each_version_of_control_groups_wants_them() -> None:
    limits = DiskLimits(read_bytes_per_second=1000, write_iops=5)
    assert disk_settings(1, "7:3", limits) == (
        "blkio.throttle.read_bps_device=7:3 1000",
        "blkio.throttle.write_iops_device=7:3 5",
    )
    assert disk_settings(2, "7:3", limits) == ("io.max=7:3 rbps=1000 wiops=5",)
    assert client_setting(1, "cpu", 1.5) == "cpu.cfs_quota_us=150000"
    assert client_setting(2, "cpu", 1.5) == "cpu.max=150000 100000"
    assert client_setting(1, "memory", 1 << 20) == "memory.limit_in_bytes=1048576"
    assert client_setting(2, "memory", 1 << 20) == "memory.max=1048576"


@pytest.mark.anybody
@pytest.mark.parametrize(
    "ask",
    [
        lambda journal, host: shape_link(journal, host, 0),
        lambda journal, host: lose_packets(journal, host, 100),
        lambda journal, host: make_network(journal, "leadline-x", 0),
        lambda journal, host: limit(journal, "leadline-x", memory_bytes=-1),
        lambda journal, host: disk_settings(1, "7:0", DiskLimits()),
    ],
)
def test_impossible_conditions_are_refused_before_anything_is_made(
    ask: Callable[..., object], journal: Journal
) -> None:
    with pytest.raises(UserError):
        ask(journal, LabHost(1, "leadline-nowhere", "10.77.1.1", "leadline-nowhere", "p1"))
    assert journal.entries() == []
