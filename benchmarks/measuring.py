"""How every benchmark here measures: both sides in one run, taken in turns, medians of repeats, ratios with their range.

A shared machine drifts from minute to minute. Sides that take turns drift together, so their ratio says more than two
figures taken apart. Nothing here knows what is measured; overhead.py, fidelity.py and the others do.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

Result = TypeVar("Result")
LEADLINE = Path(sys.executable).with_name("leadline")


@dataclass(frozen=True)
class Spread:
    """Repeats of one figure: the median stands for them, the range is their noise."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def range(self) -> float:
        """Largest minus smallest."""
        return max(self.values) - min(self.values)

    def shown(self, unit: str = "", factor: float = 1.0) -> str:
        """Median [smallest, largest] and how many."""
        low, high = min(self.values) * factor, max(self.values) * factor
        return f"{self.median * factor:.4g}{unit} [{low:.4g}, {high:.4g}], n = {len(self.values)}"


@dataclass(frozen=True)
class Claim:
    """A sentence with a bound, what was found, and whether the bound holds; None: it could not be measured."""

    sentence: str
    found: str
    holds: bool | None


def take_turns(sides: Mapping[str, Callable[[], Result]], repeats: int) -> dict[str, list[Result]]:
    """Each side once a round, in turns; every other round backwards, so that no side always goes first."""
    taken: dict[str, list[Result]] = {name: [] for name in sides}
    for round_number in range(repeats):
        names = list(sides)[:: 1 if round_number % 2 == 0 else -1]
        for name in names:
            taken[name].append(sides[name]())
    return taken


def ratios(left: Sequence[float], right: Sequence[float]) -> Spread:
    """left / right, round by round."""
    return Spread(tuple(one / other for one, other in zip(left, right, strict=True)))


def percentile(values: Sequence[float], fraction: float) -> float:
    """The smallest value that at least `fraction` of them do not exceed (nearest rank)."""
    rank = max(1, -(-len(values) * round(fraction * 10_000) // 10_000))
    return sorted(values)[rank - 1]


def seconds_of_process(argv: Sequence[str | Path], timeout_seconds: float = 600.0) -> float:
    """Wall time of one whole process; its failure is ours."""
    begin_ns = time.perf_counter_ns()
    done = subprocess.run(
        [str(part) for part in argv], capture_output=True, timeout=timeout_seconds, check=False
    )
    seconds = (time.perf_counter_ns() - begin_ns) / 1e9
    if done.returncode:
        raise SystemExit(f"{argv[0]} failed: {(done.stderr or done.stdout).decode(errors='replace')[-2000:]}")
    return seconds


def option_parser(description: str | None) -> ArgumentParser:
    """What all benchmarks have in common on their command line."""
    parser = ArgumentParser(description=(description or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="where a scratch folder is made and removed; it decides which disk is measured (default: %(default)s)",
    )
    return parser


@contextmanager
def scratch_folder(options: Namespace) -> Iterator[Path]:
    """An empty folder on the disk to measure, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="leadline-benchmark-", dir=options.directory) as name:
        yield Path(name).resolve()


def describe_machine(directory: Path) -> str:
    """What the figures depend on, on one line: processor, cores, memory, kernel, filesystem, load at the start."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    models = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    fields = ["--noheadings", "--output", "FSTYPE", "--target", str(directory)]
    found = subprocess.run(["findmnt", *fields], capture_output=True, text=True, check=False).stdout.strip()
    return (
        f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"Linux {platform.release().split('-')[0]}, {found or 'unknown filesystem'}, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.2f}"
    )


def conclude(title: str, claims: Sequence[Claim]) -> int:
    """Prints the claims and gives the exit code: 1 when one does not hold."""
    print(f"\n{title}")
    for claim in claims:
        mark = {True: "holds", False: "FAILS", None: "not measured"}[claim.holds]
        print(f"  {mark}: {claim.sentence}\n      {claim.found}")
    sys.stdout.flush()
    return int(any(claim.holds is False for claim in claims))
