"""What the benchmarks of the metadata load share: the engine called in one of its ways, rates by action, tables and claims on them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import Claim, Spread, ratios

from leadline.run.observe.machine import Machine
from leadline.run.observe.requests import find_request_counters, requests_in

ROOT = Path(__file__).parents[1]
ACTIONS = ("create", "stat", "read", "remove")
Rates = Mapping[str, float]
"""Operations a second, by action; with BY_PROCESSOR behind it, for each second of the processor time of the processes; with
REQUESTS behind it, the FUSE requests of an operation, where the filesystem counts them."""
BY_PROCESSOR = " by processor"
REQUESTS = " requests"


@dataclass(frozen=True)
class Way:
    """One way of making the engine do it."""

    name: str
    fields: Mapping[str, str | int]


ONE_CALL = Way("one call at a time", {})
RELATIVE = Way("one call at a time, directory-relative", {"naming": "directory_relative"})


def at_depth(depth: int, naming: str = "full_path") -> Way:
    """By io_uring, so many operations in flight."""
    return Way(f"io_uring depth {depth}", {"driver": "io_uring", "iodepth": depth, "naming": naming})


def cargo_builds(kind: str, name: str) -> Path:
    """Builds an example or a benchmark of the workloads and returns the executable."""
    argv = ["cargo", "build", "--release", "--locked", "-p", "leadline-workloads", f"--{kind}", name]
    done = subprocess.run(
        [*argv, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    built = [json.loads(line) for line in done.stdout.splitlines()]
    found = [each["executable"] for each in built if each.get("target", {}).get("name") == name]
    return Path(found[-1])


def engine_rates(engine: Path, folder: Path, files: int, ranks: int, way: Way) -> Rates:
    """The engine's, by the time at which the last rank was done; a failed operation is our failure."""
    counters = find_request_counters(Machine(), folder)
    step = {
        "workload": "metadata", "directory": str(folder), "ranks": ranks, "items_per_directory": files,
        "directories": False, "unique_trees": True, **way.fields, **(counters.step_fields() if counters else {}),
    }  # fmt: skip
    done = subprocess.run(
        [str(engine), "run", "-"],
        input=json.dumps(step),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    phases = [phase for phase in json.loads(done.stdout)["phases"] if phase["kind"] == "file"]
    if any(phase["failed"] for phase in phases):
        raise SystemExit(f"operations failed on {folder}: {[phase['errors'] for phase in phases]}")
    rates = {phase["action"]: phase["last_done"]["rate_per_second"] for phase in phases}
    if counters:
        told = {phase["action"]: requests_in(phase["requests"] or {}) for phase in phases}
        rates |= {
            action + REQUESTS: fuse_requests(requests) / files / ranks for action, requests in told.items()
        }
    return rates | {phase["action"] + BY_PROCESSOR: rate_by_processor(phase) for phase in phases}


def fuse_requests(requests: Mapping[str, int]) -> int:
    """All kinds together."""
    return sum(count for name, count in requests.items() if name.startswith("FUSE "))


def rate_by_processor(phase: Mapping[str, Any]) -> float:
    """Operations over the processor time of all ranks: what else runs on the machine disturbs it less than a clock."""
    rates: list[float] = [
        rank["operations"] * 1e9 / max(rank["user_ns"] + rank["system_ns"], 1) for rank in phase["ranks"]
    ]
    return sum(rates)


def print_table(title: str, taken: Mapping[str, Sequence[Rates]], against: str) -> None:
    """Medians of each side, and its ratio to one of them; where requests are counted, how many an operation is worth."""
    print(f"\n{title}, operations a second and ratio to {against!r}, n = {len(taken[against])}")
    print(f"  {'':<38}" + "".join(f"{action:>22}" for action in ACTIONS))
    for name, rates in taken.items():
        cells = [
            f"{median_of(rates, action):>12,.0f} {ratio_of(taken, name, against, action).median:>7.3f} x"
            for action in ACTIONS
        ]
        print(f"  {name:<38}" + "".join(cells))
        if ACTIONS[0] + REQUESTS in rates[0]:
            counted = [f"{median_of(rates, action + REQUESTS):>12.2f}{'':>10}" for action in ACTIONS]
            print(f"  {'    FUSE requests an operation':<38}" + "".join(counted))
    sys.stdout.flush()


def median_of(rates: Sequence[Rates], action: str) -> float:
    """Over the rounds."""
    return Spread(tuple(each[action] for each in rates)).median


def ratio_of(taken: Mapping[str, Sequence[Rates]], name: str, against: str, action: str) -> Spread:
    """Round by round."""
    return ratios([each[action] for each in taken[name]], [each[action] for each in taken[against]])


def claim_on(sentence: str, found: Mapping[str, Spread], bound: float) -> Claim:
    """That every action's median ratio reaches the bound."""
    shown = "; ".join(f"{action} {spread.shown(' x')}" for action, spread in found.items())
    return Claim(sentence, shown, all(spread.median >= bound for spread in found.values()))


@contextmanager
def folder_in(directory: Path) -> Iterator[Path]:
    """An empty one, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="leadline-benchmark-", dir=directory) as name:
        yield Path(name).resolve()
