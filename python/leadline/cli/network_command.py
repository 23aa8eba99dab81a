"""`leadline network HOST_A HOST_B`: throughput and latency by message size between any two hosts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from leadline.cli.sounding import Sounding

MOST_SIZES = 64
STEP = 4


@click.command("network")
@click.argument("asking", metavar="HOST_A")
@click.argument("serving", metavar="HOST_B")
@click.option(
    "--tool",
    "tools",
    default="auto",
    show_default=True,
    help="auto, all, or names: leadline,iperf3,qperf ...",
)
@click.option(
    "--sizes",
    default="2B..8MiB",
    show_default=True,
    help="FROM..TO, each four times the one before; or a list: 64,4KiB.",
)
@click.option("--latency-only", is_flag=True, help="No streams.")
@click.option("--both-ways", is_flag=True, help="Streams in both directions at once as well.")
@click.option("--time", "runtime", default="1s", show_default=True, help="Measured, of each size and test.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Rounds of everything."
)
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the results (default: runs/...).")
def command(
    asking: str,
    serving: str,
    tools: str,
    sizes: str,
    latency_only: bool,
    both_ways: bool,
    runtime: str,
    repeats: int,
    output: Path | None,
) -> None:  # fmt: skip
    """How fast the network between two hosts is: latency with percentiles and throughput, by message size.

    A host is local, a network namespace, or what ssh knows; NAME=ADDRESS says at which address it is reached.
    """
    from leadline.cli.sounding import begin, finish
    from leadline.run.pairs import reached, tools_on

    if latency_only and both_ways:
        raise UserError("--latency-only and --both-ways exclude each other; leave one of them out")
    messages = message_sizes(sizes)
    with reached((asking, serving)) as ends:
        present = {name: tools_on(end) for name, end in ends.items()}
    tests = ["latency", *([] if latency_only else ["one way"]), *(["both ways"] if both_ways else [])]
    experiments = [
        {
            "name": f"network, {test}", "engine": "network", "tool": list(chosen), "test": test,
            "message_size": messages, "runtime": runtime, "repeats": repeats,
        }
        for test in tests
        if (chosen := chosen_tools(tools, test, min(messages), present))
    ]  # fmt: skip
    document = {
        "name": "network",
        "hosts": {"kind": "pair", "names": [asking, serving]},
        "experiment": experiments,
    }
    finish(begin(_sounding(document), output))


def message_sizes(text: str) -> list[int]:
    """Of "2B..8MiB" or "64,4KiB"; raises UserError."""
    from leadline.spec.network import LARGEST_MESSAGE_BYTES
    from leadline.spec.units import format_size, parse_size

    first, dots, last = text.partition("..")
    sizes = [parse_size(word.strip()) for word in (text.split(",") if not dots else (first, last))]
    if dots:
        if sizes[0] > sizes[1]:
            raise UserError(f'--sizes "{text}" goes from large to small; write {last}..{first}')
        end, sizes = sizes[1], [sizes[0]]
        while sizes[-1] < end:
            sizes.append(min(sizes[-1] * STEP, end))
    if max(sizes) > LARGEST_MESSAGE_BYTES:
        raise UserError(f'--sizes "{text}" has {format_size(max(sizes))}; messages may have 1 B to 1 GiB')
    if len(sizes) > MOST_SIZES:
        raise UserError(f"--sizes has {len(sizes)} sizes; give at most {MOST_SIZES}")
    return list(dict.fromkeys(sizes))


def chosen_tools(wanted: str, test: str, smallest_bytes: int, present: dict[str, set[str]]) -> list[str]:
    """For one test: the tools asked for that measure it, by messages of at least this size; raises UserError where one is not known or
    missing on a host.

    auto: leadline's own, beside it for comparison the one that the field trusts most for this test, and perftest where there is RDMA.
    """
    from leadline.spec.network import TOOL_TESTS, measures

    on_both = set.intersection(*present.values())
    if wanted in ("auto", "all"):
        beside = {"latency": "qperf"}.get(test, "iperf3")
        tools = ("leadline", beside, "ib_send") if wanted == "auto" else tuple(TOOL_TESTS)
        return [tool for tool in tools if tool in on_both and measures(tool, test, smallest_bytes)]
    names = [word.strip() for word in wanted.split(",") if word.strip()]
    _check_tools(names, present)
    return [tool for tool in names if test in TOOL_TESTS[tool]]


def _check_tools(names: Sequence[str], present: dict[str, set[str]]) -> None:
    from leadline.run.engines.network_tools import FOREIGN
    from leadline.spec.network import TOOL_TESTS

    if not names:
        raise UserError("--tool is empty; leave it out, or name tools such as leadline,iperf3")
    for name in names:
        if name not in TOOL_TESTS:
            raise UserError(
                f'--tool "{name}" is not known{did_you_mean(name, TOOL_TESTS)} (known: auto, all, {", ".join(TOOL_TESTS)})'
            )
        without = [host for host, tools in present.items() if name not in tools]
        if without:
            raise UserError(_missing(name, FOREIGN[name].package, without))


def _missing(tool: str, package: str, hosts: Iterable[str]) -> str:
    where = " and ".join(hosts)
    if tool.startswith("ib_"):
        return f"{tool} needs an RDMA device and perftest, which {where} has not; take a tool over TCP"
    return f"{tool} is not installed on {where}; install it there (Debian: apt-get install {package}), or choose another --tool"


def _sounding(document: dict[str, Any]) -> Sounding:
    from leadline.cli.sounding import Sounding
    from leadline.plan.design import design
    from leadline.spec.load import build_campaign

    if not document["experiment"]:
        raise UserError("none of the tools asked for measures any of the tests asked for; leave --tool out")
    campaign = build_campaign(document, "leadline network")
    plan, _ = design(campaign)
    return Sounding(
        name="network", source="campaign", plan=plan, directory=Path.cwd(), campaign=campaign.model_dump(mode="json"),
        seed=campaign.seed,
    )  # fmt: skip
