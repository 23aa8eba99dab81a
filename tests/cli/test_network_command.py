"""`leadline network`: sizes as people write them, tools as hosts have them, and mistakes in one sentence."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.cli.network_command import chosen_tools, message_sizes
from leadline.errors import UserError
from leadline.plan.network import expand_network
from leadline.spec.load import build_campaign
from leadline.spec.network import NetworkExperiment

Leadline = Callable[..., subprocess.CompletedProcess[str]]


def test_a_range_goes_in_steps_of_four_and_ends_where_it_says() -> None:
    assert message_sizes("2B..8MiB")[:3] == [2, 8, 32] and message_sizes("2B..8MiB")[-1] == 8 << 20
    assert message_sizes("64..1000") == [64, 256, 1000]
    assert message_sizes("64,4KiB,64") == [64, 4096]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("8MiB..2B", "from large to small"),
        ("abc", "is not a size"),
        ("2GiB", "1 B to 1 GiB"),
        ("0", "is not a size"),
        (",".join(map(str, range(1, 80))), "at most 64"),
    ],
)
def test_sizes_that_mean_nothing_are_refused(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        message_sizes(text)


BOTH = {"a": {"leadline", "iperf3", "qperf"}, "b": {"leadline", "iperf3"}}


def test_auto_takes_what_both_hosts_have_beside_leadlines_own() -> None:
    assert chosen_tools("auto", "one way", 64, BOTH) == ["leadline", "iperf3"]
    assert chosen_tools("auto", "latency", 64, BOTH) == ["leadline"]
    assert chosen_tools("all", "both ways", 64, BOTH) == ["leadline", "iperf3"]


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("qperf", "qperf is not installed on b; install it there .Debian: apt-get install qperf."),
        ("ipref3", 'did you mean "iperf3"'),
        ("ib_send", "ib_send needs an RDMA device and perftest, which a and b has not"),
        (" ", "--tool is empty"),
    ],
)
def test_a_tool_that_cannot_be_had_is_said_with_what_to_do(tools: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        chosen_tools(tools, "latency", 64, BOTH)


def test_messages_that_a_tool_does_not_take_are_left_out_and_the_tool_where_there_are_no_others() -> None:
    asked = campaign({"tool": ["leadline", "iperf3"], "test": "one way", "message_size": ["1MiB", "2MiB"]})
    (network,) = build_campaign(asked, "c.toml").experiment
    assert isinstance(network, NetworkExperiment)
    cells = [(cell["tool"], cell["message_size"]) for cell in expand_network(network)]
    assert cells == [("leadline", 1 << 20), ("leadline", 2 << 20), ("iperf3", 1 << 20)]
    assert chosen_tools("auto", "one way", 2 << 20, BOTH) == ["leadline"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("local", "no-such-host.invalid"), "no-such-host.invalid cannot be reached"),
        (("local", "netns:no-such-namespace"), "there is no network namespace no-such-namespace"),
        (("local", "local=abc"), '"abc" in "local=abc" is no IP address'),
        (("local", "local", "--tool", "iperf3", "--latency-only"), "none of the tools asked for measures"),
        (("local", "local", "--latency-only", "--both-ways"), "exclude each other"),
        (("local", "local", "--time", "0s", "--tool", "leadline"), "`runtime` 0"),
    ],
)
def test_mistakes_are_one_sentence(
    leadline: Leadline, arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = leadline("network", *arguments, "--output", tmp_path / "run")
    assert done.returncode == 2 and said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_pair_of_hosts_is_measured_and_told_by_message_size(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline(
        "network", "local", "local", "--tool", "leadline", "--sizes", "64,64KiB,1MiB", "--time", "0.2s", "--repeats", "1",
        "--output", tmp_path / "run",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "half a round trip" in done.stdout and "reach 90 % of the peak" in done.stdout
    assert 'id="network"' in (tmp_path / "run" / "report.html").read_text()
    assert "64 KiB" in leadline("show", tmp_path / "run").stdout


def campaign(experiment: dict[str, object], **more: object) -> dict[str, object]:
    return {"name": "c", "experiment": [{"name": "n", "engine": "network", **experiment}], **more}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (campaign({"tool": "iperf3", "test": "latency"}), "asks iperf3 for nothing that it measures"),
        (campaign({"tool": "iperf3", "test": "one way", "message_size": "2MiB"}), "messages above 1 MiB only"),
        (campaign({"message_size": "2GiB"}), "above 1 GiB"),
        (campaign({}, hosts={"kind": "pair", "names": ["a"]}), "needs two `names`"),
        (campaign({}, hosts={"kind": "mpi"}), "neither mpi nor fio's server carries"),
        (campaign({"iodepth": 4}), "means nothing to the network engine"),
        (
            {"name": "c", "hosts": {"kind": "pair", "names": ["a", "b"]}, "experiment": [{"name": "e", "rw": "read", "size": "1m"}]},
            'needs files, which .hosts. kind = "pair" has none of',
        ),
    ],
)  # fmt: skip
def test_campaigns_that_cannot_be_are_refused_before_anything_starts(
    document: dict[str, object], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        build_campaign(document, "c.toml")
