"""Tools on two hosts: command lines, and both sides really run here, over the loopback."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from attempts import attempts
from leadline.formats.fields import FormatError
from leadline.plan.network import longest_seconds
from leadline.plan.steps import Step
from leadline.run.crews.together import Together
from leadline.run.engines import network_pair
from leadline.run.engines.network import NetworkEngine
from leadline.run.engines.network_pair import shell_command
from leadline.run.engines.network_perftest import Perftest
from leadline.run.engines.network_tool import PORT, Exchange
from leadline.run.engines.network_tools import FOREIGN
from leadline.run.gathering import gather
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Client, Completed, Invocation, Outcome, Place
from leadline.spec.network import TOOL_LARGEST_BYTES, TOOL_TESTS
from leadline.store.records import Direction, StepKind

LOOPBACK = "127.0.0.1"
LIVE = ("iperf3", "qperf", "fi_pingpong", "ucx_perftest")


def step(tool: str, test: str, size: int = 4096, runtime: float = 0.2) -> Step:
    cell = {"tool": tool, "test": test, "message_size": size, "ramp": 0.05, "runtime": runtime}
    return Step(
        ordinal=0, kind=StepKind.CELL, experiment="net", engine="network", cell=cell, files="pair",
        timeout_seconds=longest_seconds(cell),
    )  # fmt: skip


def sides(asked: Step, folder: Path) -> dict[str, Invocation]:
    engine, invocations = NetworkEngine(), {}
    for number, name in enumerate(("a", "b")):
        scratch = folder / name
        scratch.mkdir()
        place = Place(folder, name, number=number, addresses=(LOOPBACK, LOOPBACK))
        invocations[name] = engine.prepare(asked, place, scratch)
    return invocations


def perform(asked: Step, folder: Path) -> tuple[Outcome, dict[str, Completed]]:
    invocations = sides(asked, folder)
    crew = Together([Client(name, LocalHost(), folder) for name in invocations])
    completed = dict(crew.run(invocations, lambda process: None, lambda line: None))
    outcomes = {
        name: NetworkEngine().collect(asked, invocations[name], completed[name]) for name in invocations
    }
    return gather(outcomes, completed, {"a": "local", "b": "local"}), completed


CASES = [(tool, test) for tool in ("leadline", *LIVE) for test in TOOL_TESTS[tool]]


@pytest.mark.parametrize(("tool", "test"), CASES)
def test_two_hosts_measure_with_each_tool_what_it_is_asked_for(tool: str, test: str, tmp_path: Path) -> None:
    if tool in FOREIGN and shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed: apt-get install {FOREIGN[tool].package}")
    for number, attempt in enumerate(attempts()):
        (tmp_path / str(number)).mkdir()
        outcome, _ = perform(step(tool, test), tmp_path / str(number))
        assert outcome.reason is None
        ways = {part.direction: part for part in outcome.measurements}
        assert set(ways) == {Direction.SEND} | ({Direction.RECEIVE} if test == "both ways" else set())
        sent = ways[Direction.SEND]
        assert sent.operations > 0 and sent.runtime_ns > 0
        with attempt:
            if test == "latency":
                assert sent.size_bytes == 0 and sent.latency.count > 0 and 100 < sent.latency.mean_ns < 1e9
                kept = sent.operations * sent.latency.mean_ns / sent.runtime_ns
                assert kept == pytest.approx(1, abs=0.1)  # Little's law: one message in flight
            else:
                assert sent.size_bytes >= 4096 and sent.latency.count == 0
    assert outcome.facts["retransmitted_segments"] >= 0
    assert {job.host for job in outcome.jobs} == {"a", "b"}


def test_leadlines_own_latency_is_a_histogram(tmp_path: Path) -> None:
    outcome, _ = perform(step("leadline", "latency"), tmp_path)
    latency = outcome.measurements[0].latency
    assert latency.histogram is not None and latency.histogram.total == latency.count > 0


def test_the_longest_message_of_a_tool_is_carried_and_a_longer_one_fails_with_the_reason_and_not_with_the_usage(
    tmp_path: Path,
) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed: apt-get install iperf3")
    longest = TOOL_LARGEST_BYTES["iperf3"]
    for name, size in (("taken", longest), ("refused", longest + 1)):
        (tmp_path / name).mkdir()
        outcome, _ = perform(step("iperf3", "one way", size), tmp_path / name)
        assert (outcome.reason is None) == (name == "taken"), outcome.reason
    assert outcome.reason is not None and "block size too large" in outcome.reason


def test_a_port_that_is_taken_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed: apt-get install iperf3")
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(network_pair, "FIRST_PORT", port)
        monkeypatch.setattr(network_pair, "LAST_PORT", port + 20)
        outcome, _ = perform(step("iperf3", "one way"), tmp_path)
    assert outcome.reason is None and outcome.measurements


def test_where_all_ports_are_taken_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed: apt-get install iperf3")
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(network_pair, "FIRST_PORT", port)
        monkeypatch.setattr(network_pair, "LAST_PORT", port)
        outcome, _ = perform(step("iperf3", "one way"), tmp_path)
    assert outcome.reason is not None and f"ports {port} to {port} are all taken there" in outcome.reason


def test_a_tool_that_is_missing_on_one_side_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FOREIGN, "iperf3", replace(FOREIGN["iperf3"], name="iperf3"))  # type: ignore[type-var]
    invocations = sides(step("iperf3", "one way"), tmp_path)
    script = tmp_path / "b" / network_pair.SCRIPT
    script.write_text(script.read_text().replace("command -v iperf3", "command -v no-such-tool"))
    crew = Together([Client(name, LocalHost(), tmp_path) for name in invocations])
    completed = dict(crew.run(invocations, lambda process: None, lambda line: None))
    asked = step("iperf3", "one way")
    outcomes = {
        name: NetworkEngine().collect(asked, invocations[name], completed[name]) for name in invocations
    }
    reason = gather(outcomes, completed, {}).reason
    assert reason is not None and reason.startswith("b: iperf3 is not installed there")
    assert "apt-get install iperf3" in reason


def test_nothing_listens_any_more_when_a_pair_is_done(tmp_path: Path) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed: apt-get install iperf3")
    perform(step("iperf3", "one way"), tmp_path)
    served = (tmp_path / "b" / "tool.out").read_text()
    port = int(served.partition("listening on ")[2].split()[0])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, port), 1)


def test_every_word_of_a_command_is_quoted_but_the_port() -> None:
    assert shell_command(("x", "-p", PORT, "a b;c")) == "x -p \"$port\" 'a b;c'"


def perftest(test: str, verb: str = "ib_write") -> tuple[Sequence[str], Sequence[str]]:
    exchange = Exchange(test, 65_536, 0.1, 1.0, "10.0.0.2")
    tool = Perftest(verb)
    return tool.server(exchange), tool.client(exchange)


def test_perftest_is_told_the_same_on_both_sides_and_the_client_the_address() -> None:
    """By its manual; no RDMA device was there to run it."""
    server, client = perftest("latency")
    assert server == ("ib_write_lat", "-F", "-p", PORT, "-s", "65536", "-n", "5000")
    assert client == (*server, "10.0.0.2")
    assert perftest("one way")[0][0] == "ib_write_bw"
    assert perftest("both ways", "ib_send")[0][-1] == "-b"


def test_a_table_of_perftest_becomes_figures_and_its_complaint_a_sentence() -> None:
    exchange = Exchange("latency", 2, 0.1, 1.0, "10.0.0.2")
    heads = "t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] 99% percentile[usec] 99.9% percentile[usec]"
    table = (
        f"                    Send Latency Test\n #bytes #iterations    {heads}\n"
        " 2       1000          1.05           3.90         1.09         1.10        0.05      1.30      2.50\n"
    )
    read = Perftest("ib_send").read(exchange, table)
    assert (read.mean_ns, read.round_trips) == (pytest.approx(1100), 1000)
    assert read.percentiles_ns["0.99"] == pytest.approx(1300)
    with pytest.raises(FormatError, match="Unable to find the Infiniband/RoCE device"):
        Perftest("ib_send").read(
            exchange, "IB device mlx5_0 not found\n Unable to find the Infiniband/RoCE device\n"
        )
