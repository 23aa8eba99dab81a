"""How long the consistency checker takes on long histories, with one stale read planted that it must find.

The histories are made in memory by crates/leadline-checker/examples/checker_speed.rs, which times the whole check: grouping,
every guarantee, the witness. Reading files is not timed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path

from measuring import Claim, Spread, conclude, describe_machine

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Case:
    """One sort of history, and how long it may take."""

    name: str
    kind: str
    operations: int
    objects: int
    clients: int
    bound_seconds: float


CASES = (
    Case("4,000,000 operations on one register", "register", 4_000_000, 1, 16, 2.0),
    Case("1,000 entries x 1,000 operations, 8 overlapping", "entry", 1_000_000, 1_000, 8, 1.0),
)
GROWTH = (10_000, 100_000, 1_000_000, 4_000_000)
"""Operations on one register, to see that the time grows in proportion."""


def built() -> Path:
    """The example, built for release."""
    argv = ["cargo", "build", "--release", "--locked", "-p", "leadline-checker", "--example", "checker_speed"]
    done = subprocess.run(
        [*argv, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    found = [each["executable"] for each in messages if each.get("target", {}).get("name") == "checker_speed"]
    return Path(found[-1])


def seconds_of(executable: Path, case: Case) -> float:
    """One check in a process of its own; a planted read that is not found, or anything undecided, ends the benchmark."""
    counts = [str(case.operations), str(case.objects), str(case.clients)]
    told = subprocess.run(
        [str(executable), case.kind, *counts], capture_output=True, text=True, check=True, timeout=300
    )
    outcome = json.loads(told.stdout)
    if outcome["violating"] != 1 or outcome["undecided"] != 0:
        raise SystemExit(f"{case.name}: exactly one object must be violating and none undecided: {outcome}")
    return float(outcome["seconds"])


def claim_on(executable: Path, case: Case, repeats: int) -> Claim:
    seconds = Spread(tuple(seconds_of(executable, case) for _ in range(repeats)))
    sentence = f"{case.name}: at most {case.bound_seconds:.0f} s"
    return Claim(sentence, seconds.shown(" s"), seconds.median <= case.bound_seconds)


def main() -> int:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repeats", type=int, default=5, help="of each (default: %(default)s)")
    options = parser.parse_args()
    executable = built()
    print(describe_machine(ROOT))
    for operations in GROWTH:
        case = Case("growth", "register", operations, 1, 16, 0.0)
        print(f"one register, {operations:>9,} operations: {seconds_of(executable, case):.3f} s")
    claims = [claim_on(executable, case, options.repeats) for case in CASES]
    return conclude("The consistency checker", claims)


if __name__ == "__main__":
    sys.exit(main())
