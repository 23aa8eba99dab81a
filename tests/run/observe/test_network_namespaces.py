"""Counters of other network namespaces: the right host's, read from outside, for little."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from leadline.errors import UserError
from leadline.run.observe.counters import CounterSampler
from leadline.run.observe.network_namespaces import NamespaceReader

NAMES = ("one", "two", "three")
SENT_BYTES = 200_000
SEND = """
import socket
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(200): peer.sendto(bytes(1000), ("10.78.9.2", 9))
"""
TALK_TO_ITSELF = """
import socket
server = socket.create_server(("127.0.0.1", 0)); peer = socket.create_connection(server.getsockname())
peer.sendall(bytes(50000))
"""
pytestmark = pytest.mark.root


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def namespaces() -> Iterator[dict[str, str]]:
    """Three; the first two are wired to each other."""
    full = {name: f"leadline-test-{os.getpid()}-{name}" for name in NAMES}
    made: list[str] = []
    try:
        for name in full.values():
            ip("netns", "add", name)
            made.append(name)
            ip("-n", name, "link", "set", "lo", "up")
        one, two, _ = full.values()
        ip("link", "add", "v0", "netns", one, "type", "veth", "peer", "name", "v0", "netns", two)
        for number, name in enumerate((one, two), 1):
            ip("-n", name, "addr", "add", f"10.78.9.{number}/24", "dev", "v0")
            ip("-n", name, "link", "set", "v0", "up")
        yield {name: f"/run/netns/{path}" for name, path in full.items()}
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def inside(namespace: str, program: str) -> None:
    subprocess.run(["nsenter", f"--net={namespace}", sys.executable, "-c", program], check=True, timeout=120)


def test_bytes_through_a_cable_are_counted_at_both_of_its_hosts_and_nowhere_else(
    namespaces: dict[str, str],
) -> None:
    with NamespaceReader(namespaces) as reader, CounterSampler([], [], namespaces=reader) as sampler:
        inside(namespaces["one"], SEND)
    totals = sampler.totals()
    assert SENT_BYTES < totals["host.one.nic.v0.transmit_bytes"] < 1.2 * SENT_BYTES
    assert SENT_BYTES < totals["host.two.nic.v0.receive_bytes"] < 1.2 * SENT_BYTES
    assert totals["host.two.nic.v0.transmit_bytes"] < SENT_BYTES / 10
    assert not [name for name in totals if name.startswith("host.three.nic.")]


def test_they_stand_in_the_series_too(namespaces: dict[str, str]) -> None:
    reader = NamespaceReader(namespaces)
    with reader, CounterSampler([], [], interval_seconds=0.05, namespaces=reader) as sampler:
        before = sampler.samples
        inside(namespaces["one"], SEND)
        until = time.monotonic() + 60
        while sampler.samples < before + 4:
            assert time.monotonic() < until, "the sampler stands still"
            time.sleep(0.01)
    series = {each.name: each for each in sampler.series()}
    rate = series["host.two.nic.v0.receive_bytes_per_second"]
    assert rate.unit == "bytes/s" and max(rate.values) > 0 and len(rate.values) >= 2
    assert "host.three.tcp.retransmitted_segments_per_second" in series


def test_segments_of_tcp_are_counted_and_loopback_is_no_interface(namespaces: dict[str, str]) -> None:
    with NamespaceReader(namespaces) as reader:
        before = reader.counters()
        inside(namespaces["three"], TALK_TO_ITSELF)
        after = reader.counters()
    assert after["host.three.tcp.sent_segments"] > before["host.three.tcp.sent_segments"]
    assert after["host.two.tcp.sent_segments"] == before["host.two.tcp.sent_segments"]
    assert after["host.three.tcp.retransmitted_segments"] == 0
    assert not [name for name in after if ".nic.lo." in name]


def test_the_thread_that_asks_stays_in_its_own_namespace(namespaces: dict[str, str]) -> None:
    before = Path("/proc/thread-self/ns/net").readlink()
    with NamespaceReader(namespaces) as reader:
        reader.counters()
    assert Path("/proc/thread-self/ns/net").readlink() == before


def test_a_closed_reader_lets_the_namespaces_go(namespaces: dict[str, str]) -> None:
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    reader = NamespaceReader(namespaces)
    reader.close()
    reader.close()
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert reader.counters() == {}


def test_a_namespace_that_is_not_there_is_one_sentence(namespaces: dict[str, str]) -> None:
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with pytest.raises(
        UserError, match=r"counters of client9 cannot be read: /run/netns/nowhere: No such file"
    ):
        NamespaceReader({**namespaces, "client9": "/run/netns/nowhere"})
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_a_look_costs_little(namespaces: dict[str, str]) -> None:
    with NamespaceReader(namespaces) as reader:
        spent_seconds = []
        for _ in range(100):
            begun = time.thread_time()
            reader.counters()
            spent_seconds.append(time.thread_time() - begun)
    assert median(spent_seconds) < 0.003
