"""leadline's figures for 10 cells against the same fio commands run by hand, in turns: leadline, hand, leadline, hand ...

The hand runs exactly the command that the step's record keeps, right after the step, on the same files, and reads
fio's JSON in a few lines of its own. Two questions: do the two differ by more than repeats of the same side do (does
leadline disturb what it measures), and does leadline say what fio wrote (a plain reading of the very output that the
step kept, where there is no noise to hide behind).
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring import Claim, Spread, conclude, option_parser, scratch_folder

from leadline.analyse.analysis import analyse
from leadline.cli.sounding import check_engines
from leadline.plan.design import design
from leadline.plan.steps import Step
from leadline.run.conductor import Conductor, Stop
from leadline.run.engines.registry import ENGINES
from leadline.run.seams import Now
from leadline.run.standing import Standing
from leadline.spec.load import build_campaign
from leadline.store.manifest import Manifest
from leadline.store.records import StepKind, StepRecord
from leadline.store.run_folder import RunFolder

METRICS = ("bandwidth", "mean", "p99")
READING_BOUND = 0.001
"""leadline counts bytes over fio's run time in ms; fio rounds its own rate: they agree this well or something is wrong."""
Figures = Mapping[str, float]


def campaign(runtime_seconds: float, repeats: int) -> dict[str, Any]:
    """10 cells: both directions, three block sizes, depths, jobs and engines."""
    shared = {"size": "64MiB", "direct": True, "runtime": f"{runtime_seconds}s", "repeats": repeats}
    return {
        "name": "fidelity",
        "baselines": False,
        "noise_repeats": 0,
        "experiment": [
            {**shared, "name": "small", "rw": ["randread", "randwrite"], "iodepth": [1, 8], "ioengine": "libaio"},
            {**shared, "name": "jobs", "rw": "randread", "numjobs": [2, 4], "iodepth": 4, "ioengine": "libaio"},
            {**shared, "name": "large", "rw": ["read", "write"], "block_size": "1m", "iodepth": 4, "ioengine": "libaio"},
            {**shared, "name": "synchronous", "rw": ["randread", "randwrite"], "block_size": "16k"},
        ],
    }  # fmt: skip


def read_plainly(text: str) -> Figures:
    """What fio says, without any of leadline's code: json+ has the rates, the means and the bins of each job."""
    jobs = json.loads(text[text.index("{") :])["jobs"]
    parts = [job[way] for job in jobs for way in ("read", "write") if job[way]["total_ios"]]
    total = sum(part["lat_ns"]["N"] for part in parts)
    bins: dict[int, int] = defaultdict(int)
    for part in parts:
        for value, count in part["lat_ns"]["bins"].items():
            bins[int(value)] += count
    return {
        "bandwidth": sum(part["io_bytes"] for part in parts) / max(part["runtime"] for part in parts) * 1e3,
        "mean": sum(part["lat_ns"]["mean"] * part["lat_ns"]["N"] for part in parts) / total,
        "p99": float(_value_at(sorted(bins.items()), 0.99 * sum(bins.values()))),
    }


def _value_at(ascending: Sequence[tuple[int, int]], rank: float) -> int:
    seen = 0
    for value, count in ascending:
        seen += count
        if seen >= rank:
            return value
    raise SystemExit("fio wrote no latencies")


@dataclass
class ByHand:
    """Watches the conductor and repeats each finished cell by hand before the next one starts."""

    measured: dict[int, Figures] = field(default_factory=dict)
    _step: Step | None = None

    def step_started(self, step: Step, remaining: Sequence[Step]) -> None:
        self._step = step

    def now(self, step: Step, now: Now) -> None:
        """Nothing to show."""

    def said(self, line: str) -> None:
        """Nothing to show."""

    def step_finished(self, record: StepRecord) -> None:
        if record.kind is not StepKind.CELL or self._step is None:
            return
        if record.reason:
            raise SystemExit(f"step {record.ordinal} failed: {record.reason}")
        self.measured[record.ordinal] = run_by_hand(record.command, fresh=self._step.files == "fresh")
        print(f"  {describe(record)}, round {record.repeat + 1}", file=sys.stderr)


def run_by_hand(command: Sequence[str], fresh: bool) -> Figures:
    """The command as it stands; its output folder, gone with the step, is made again for as long as it runs."""
    output = Path(_option(command, "--output"))
    data = Path(_option(command, "--directory"))
    if fresh:
        shutil.rmtree(data)
        data.mkdir()
    output.parent.mkdir()
    try:
        argv = ["timeout", "-k", "3", "300", *command]
        subprocess.run(argv, cwd=data, check=True, capture_output=True)
        return read_plainly(output.read_text(encoding="utf-8"))
    finally:
        shutil.rmtree(output.parent)


def _option(command: Sequence[str], name: str) -> str:
    return next(part.partition("=")[2] for part in command if part.startswith(f"{name}="))


def describe(record: StepRecord) -> str:
    """Short name of a cell."""
    cell = record.cell
    block = f"{int(cell['block_size']) // 1024}k"
    return f"{cell['rw']} {block} iodepth {cell['iodepth']} x {cell['numjobs']} {cell['ioengine']}"


def conduct(scratch: Path, runtime_seconds: float, repeats: int) -> tuple[RunFolder, ByHand]:
    """Walks the plan with leadline's own conductor, hand runs in between."""
    plan, _ = design(build_campaign(campaign(runtime_seconds, repeats), "fidelity"))
    check_engines(plan.steps)
    work = scratch / "work"
    work.mkdir()
    manifest = Manifest(
        "fidelity", "campaign", str(work), "", "", plan=tuple(step.to_json() for step in plan.steps)
    )
    folder = RunFolder.create(scratch / "run", manifest)
    by_hand = ByHand()
    grounds = Standing(work, str(folder.path.resolve()), by_hand.said)
    Conductor(plan, folder, ENGINES, grounds, by_hand, Stop()).conduct()
    return folder, by_hand


def figures_of(record: StepRecord, manifest: Manifest) -> Figures:
    """What leadline would show for this one step."""
    metrics = analyse([record], manifest, {}).cells[0].metrics
    return {name: metrics[name].value for name in METRICS}


@dataclass(frozen=True)
class Pair:
    """One metric of one cell, both sides."""

    cell: str
    metric: str
    ours: Spread
    hand: Spread
    reading: float
    """Largest relative difference between leadline's figure and a plain reading of the same output."""

    @property
    def difference(self) -> float:
        return self.ours.median / self.hand.median - 1

    @property
    def noise(self) -> float:
        return max(self.ours.range, self.hand.range) / self.hand.median

    @property
    def within(self) -> bool:
        return abs(self.difference) <= self.noise


def pair_up(folder: RunFolder, by_hand: ByHand) -> list[Pair]:
    """All cells and metrics."""
    cells: dict[str, list[StepRecord]] = defaultdict(list)
    for record in folder.records():
        if record.kind is StepKind.CELL:
            cells[describe(record)].append(record)
    pairs = []
    for name, records in cells.items():
        ours = [figures_of(record, folder.manifest) for record in records]
        hand = [by_hand.measured[record.ordinal] for record in records]
        plain = [read_plainly(_kept_output(folder, record)) for record in records]
        pairs += [_pair(name, metric, ours, hand, plain) for metric in METRICS]
    return pairs


def _kept_output(folder: RunFolder, record: StepRecord) -> str:
    return gzip.decompress(folder.raw_path(record.ordinal, "fio.json").read_bytes()).decode()


def _pair(
    cell: str, metric: str, ours: Sequence[Figures], hand: Sequence[Figures], plain: Sequence[Figures]
) -> Pair:
    reading = max(abs(one[metric] / other[metric] - 1) for one, other in zip(ours, plain, strict=True))
    our_side, hand_side = (Spread(tuple(each[metric] for each in side)) for side in (ours, hand))
    return Pair(cell, metric, our_side, hand_side, reading)


def show(pairs: Sequence[Pair]) -> None:
    """A line a cell and metric."""
    print(
        f"\n  {'cell':<40} {'metric':<10} {'leadline':>12} {'by hand':>12} {'differs':>8} {'noise':>7}  reading off"
    )
    for pair in pairs:
        unit = (1 / 2**20, "MiB/s") if pair.metric == "bandwidth" else (1e-3, "us")
        ours, hand = (f"{side.median * unit[0]:.4g} {unit[1]}" for side in (pair.ours, pair.hand))
        mark = "" if pair.within else "  <- more than the noise"
        print(
            f"  {pair.cell:<40} {pair.metric:<10} {ours:>12} {hand:>12} {pair.difference:>+8.1%} {pair.noise:>7.1%}"
            f"  {pair.reading:.4%}{mark}"
        )


def main() -> int:
    parser = option_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--runtime", type=float, default=2.0, help="seconds a cell")
    options = parser.parse_args()
    with scratch_folder(options) as scratch:
        pairs = pair_up(*conduct(scratch, options.runtime, options.repeats))
    show(pairs)
    return conclude("Fidelity", claims_of(pairs, options.repeats))


def claims_of(pairs: Sequence[Pair], repeats: int) -> list[Claim]:
    """Cells as a whole: a cell is within the noise when all its metrics are."""
    cells = {pair.cell for pair in pairs}
    outside = {pair.cell for pair in pairs if not pair.within}
    offset = Spread(tuple(pair.difference for pair in pairs if pair.metric == "bandwidth"))
    reading = max(pair.reading for pair in pairs)
    return [
        Claim(
            f"in each of {len(cells)} cells leadline and the hand differ by no more than repeats of one side do",
            f"{len(cells) - len(outside)} of {len(cells)} cells, medians of {repeats}; "
            f"the bandwidth of the median cell differs by {offset.median:+.2%}",
            not outside,
        ),
        Claim(
            f"leadline says what fio wrote, to {READING_BOUND:.1%}",
            f"largest difference from a plain reading of the same output: {reading:.4%}",
            reading <= READING_BOUND,
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
