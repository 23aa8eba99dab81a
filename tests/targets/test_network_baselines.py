"""Networks that are known because the lab made them: what is measured is what they were shaped to."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attempts import attempts
from leadline.analyse.analysis import analyse
from leadline.analyse.network import BOUND, FLAT, TRANSITION, profiles
from leadline.analyse.results import Results
from leadline.run.lab.conditions import lose_packets, shape_link
from leadline.run.lab.journal import Journal
from leadline.run.lab.network import Network, make_network
from leadline.run.lab.state import lab_state
from leadline.store.records import Status
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
GIGABIT = 1e9 / 8
DELAY_SECONDS = 0.01
"""Each way; many times what scheduling adds."""
PAYLOAD = 1448 / 1514
"""What TCP carries of an Ethernet frame of 1,500 bytes with timestamps, as tbf counts it (headers included, no preamble)."""


@pytest.fixture
def network(journal: Journal) -> Network:
    return make_network(journal, lab_state("net").prefix, 2)


def sounded(leadline: Leadline, network: Network, run: Path, *options: str) -> Results:
    first, second = (host.namespace for host in network.hosts)
    done = leadline("network", first, second, "--repeats", "1", *options, "--output", run)
    assert done.returncode == 0, done.stderr
    folder = RunFolder.open(run)
    records = folder.records()
    assert [each.reason for each in records if each.status is Status.FAILED] == []
    results = analyse(records, folder.manifest, folder.environment)
    folder.close()
    return results


def test_a_link_of_a_gigabit_is_measured_as_one_in_each_direction(
    leadline: Leadline, network: Network, journal: Journal, tmp_path: Path
) -> None:
    for host in network.hosts:
        shape_link(journal, host, 10**9)
    for number, attempt in enumerate(attempts()):
        results = sounded(
            leadline, network, tmp_path / f"run{number}", "--tool", "leadline", "--sizes", "64,64KiB,4MiB", "--both-ways", "--time", "0.7s"
        )  # fmt: skip
        (profile,) = profiles(results.cells)
        last = profile.rows[-1]
        ways = [cell.metrics["bandwidth"].value for cell in (last.one_way, last.there, last.back) if cell]
        assert len(ways) == 3 and last.latency is not None
        # A message much larger than the token bucket takes its time on the cable.
        carried = (4 << 20) / last.latency.metrics["mean"].value * 1e9
        assert carried < 1.2 * GIGABIT * PAYLOAD
        with attempt:
            # Above it as well: what comes while the receiver alone has no processor, it counts when it has one again.
            assert max(ways) < 1.08 * GIGABIT * PAYLOAD
            assert min(ways) > 0.92 * GIGABIT * PAYLOAD and carried > 0.8 * GIGABIT * PAYLOAD
            assert last.region == BOUND


def test_lost_packets_show_as_segments_sent_again(
    leadline: Leadline, network: Network, journal: Journal, tmp_path: Path
) -> None:
    for host in network.hosts:
        shape_link(journal, host, 10**9)
        lose_packets(journal, host, 1.0)
    for number, attempt in enumerate(attempts()):
        results = sounded(
            leadline, network, tmp_path / f"run{number}", "--tool", "leadline,iperf3", "--sizes", "64KiB", "--time", "0.7s"
        )  # fmt: skip
        again = [
            cell.resources["retransmitted_segments"]
            for cell in results.cells
            if cell.cell["test"] == "one way"
        ]
        with attempt:
            assert len(again) == 2 and min(again) > 10


def test_clients_of_a_target_are_measured_in_a_campaign_with_the_link_as_an_axis(
    leadline: Leadline, tmp_path: Path
) -> None:
    path = tmp_path / "net.toml"
    path.write_text(
        'name = "net"\nnoise_repeats = 0\n[target]\nname = "nfs"\n[conditions]\nlink = ["100Mb/s", "1Gb/s"]\n'
        '[[experiment]]\nname = "n"\nengine = "network"\ntest = "one way"\nmessage_size = "64KiB"\nruntime = "500ms"\nrepeats = 1\n'
    )
    for number, attempt in enumerate(attempts()):
        run = tmp_path / f"run{number}"
        done = leadline("run", path, "--output", run)
        assert done.returncode == 0, done.stderr
        folder = RunFolder.open(run)
        shares = [
            sum(part.size_bytes / part.runtime_ns * 1e9 for part in each.measurements) / each.cell["link"]
            for each in folder.records()
        ]
        links = {each.cell["link"] for each in folder.records()}
        folder.close()
        assert links == {12.5e6, 125e6}
        with attempt:  # above it as well: what came to a receiver that stood still is counted when it goes on
            assert min(shares) > PAYLOAD - 0.1 and max(shares) < PAYLOAD + 0.1


def test_a_target_on_no_network_says_so(leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text(
        f'name = "net"\nnoise_repeats = 0\n[target]\ndirectory = "{tmp_path / "work"}"\n'
        '[[experiment]]\nname = "n"\nengine = "network"\nmessage_size = "64KiB"\nrepeats = 1\n'
    )
    (tmp_path / "work").mkdir()
    done = leadline("run", path, "--output", tmp_path / "run")
    assert "2 are asked for" in done.stdout + done.stderr or "on none" in done.stdout + done.stderr


@pytest.fixture
def far_network(network: Network, journal: Journal) -> Iterator[Network]:
    """100 Mb/s, and 10 ms each way, by a process that holds every frame."""
    ports = [host.port for host in network.hosts]
    for host in network.hosts:
        shape_link(journal, host, 10**8)
        _run(*host.inside(("ethtool", "-K", "v0", "tx", "off", "tso", "off", "gso", "off")))
        _run("ip", "-n", network.switch, "link", "set", host.port, "nomaster", "promisc", "on")
    script = Path(__file__).with_name("delaying_cable.py")
    cable = subprocess.Popen(
        [
            "nsenter",
            f"--net=/run/netns/{network.switch}",
            "--",
            sys.executable,
            str(script),
            *ports,
            str(DELAY_SECONDS),
        ],
        stdout=subprocess.PIPE,
    )
    assert cable.stdout is not None and cable.stdout.readline() == b"ready\n"
    yield network
    cable.kill()
    cable.wait()


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


@pytest.mark.skipif(
    shutil.which("ethtool") is None, reason="ethtool is not installed: apt-get install ethtool"
)
def test_the_bandwidth_delay_product_of_a_long_cable_is_found(
    leadline: Leadline, far_network: Network, tmp_path: Path
) -> None:
    """At half of the product, which takes as long to send as to arrive, latency is twice the floor."""
    rate = 1e8 / 8 * PAYLOAD
    half = round(rate * DELAY_SECONDS)
    words = ("--tool", "leadline", "--sizes", f"64,{half},1MiB", "--time", "1s")
    for number, attempt in enumerate(attempts()):
        (profile,) = profiles(sounded(leadline, far_network, tmp_path / f"run{number}", *words).cells)
        with attempt:
            assert profile.floor and profile.bandwidth_delay_bytes and profile.filling
            assert profile.floor.value / 1e9 == pytest.approx(DELAY_SECONDS, rel=0.3)
            assert profile.filling.peak.value == pytest.approx(rate, rel=0.12)
            assert profile.bandwidth_delay_bytes == pytest.approx(2 * half, rel=0.35)
            middle = profile.rows[1].latency
            assert middle is not None
            assert middle.metrics["p50"].value / profile.floor.value == pytest.approx(2, rel=0.25)
            assert [row.region for row in profile.rows] == [FLAT, TRANSITION, BOUND]
