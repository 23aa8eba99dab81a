"""How long the consistency checker takes on long histories, with one stale read planted that it must find; and Porcupine beside it.

The histories are made in memory by crates/leadline-checker/examples/checker_speed.rs, which times the whole check: grouping,
every guarantee, the witness. Reading files is not timed. Porcupine judges linearizability alone, on the same histories as text;
its time grows with the square of a history's length, so that the long ones are cut (LONG) and what was cut is printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import porcupine
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


LONG = (("register", 1_000, 16), ("register", 10_000, 16), ("entry", 1_000, 8), ("entry", 10_000, 8))
"""Kind, operations on one object, clients: as far as Porcupine comes within a minute."""


def built(example: str) -> Path:
    """The example, built for release."""
    argv = ["cargo", "build", "--release", "--locked", "-p", "leadline-checker", "--example", example]
    done = subprocess.run(
        [*argv, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    found = [each["executable"] for each in messages if each.get("target", {}).get("name") == example]
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


def agreement(judge: Path, exporter: Path, histories: int) -> Claim:
    """Random histories of 2 to 8 operations, half of them spoilt, through both."""
    found = [
        (kind, porcupine.opinion(judge, porcupine.exported(exporter, "small", kind, histories, 1)))
        for kind in porcupine.KINDS
    ]
    for kind, told in found:
        wrong = len(told.disagreements)
        print(f"{kind}: {told.histories:,} histories, {told.violating:,} violating, {wrong} disagreements")
    total, wrong = (
        sum(told.histories for _, told in found),
        sum(len(told.disagreements) for _, told in found),
    )
    sentence = "leadline and Porcupine say the same of random small histories of every kind that has an order"
    return Claim(sentence, f"{wrong} disagreements in {total:,} histories", wrong == 0)


def beside_porcupine(judge: Path, exporter: Path) -> Iterator[str]:
    """The same long histories, judged by both; leadline judges every guarantee meanwhile."""
    for kind, operations, clients in LONG:
        told = porcupine.opinion(judge, porcupine.exported(exporter, "long", kind, operations, clients))
        if told.disagreements:
            raise SystemExit(f"leadline and Porcupine disagree on a long {kind}")
        ours, theirs = told.leadline_seconds, told.porcupine_seconds
        yield f"one {kind}, {operations:>6,} operations, {clients} clients: leadline {ours:.4f} s, Porcupine {theirs:.3f} s"
    yield f"cut: longer histories than {max(operations for _, operations, _ in LONG):,} operations go to leadline alone"


def against_porcupine(histories: int) -> Claim:
    with tempfile.TemporaryDirectory(prefix="leadline-porcupine-") as folder:
        try:
            judge = porcupine.built(Path(folder))
        except porcupine.NotHere as reason:
            return Claim("leadline and Porcupine say the same", str(reason), None)
        exporter = built("export_histories")
        for line in beside_porcupine(judge, exporter):
            print(line)
        return agreement(judge, exporter, histories)


def main() -> int:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repeats", type=int, default=5, help="of each (default: %(default)s)")
    parser.add_argument(
        "--histories", type=int, default=20_000, help="of each kind, for Porcupine (default: %(default)s)"
    )
    options = parser.parse_args()
    executable = built("checker_speed")
    print(describe_machine(ROOT))
    for operations in GROWTH:
        case = Case("growth", "register", operations, 1, 16, 0.0)
        print(f"one register, {operations:>9,} operations: {seconds_of(executable, case):.3f} s")
    claims = [claim_on(executable, case, options.repeats) for case in CASES]
    return conclude("The consistency checker", [*claims, against_porcupine(options.histories)])


if __name__ == "__main__":
    sys.exit(main())
