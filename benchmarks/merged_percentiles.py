"""p99 of 16 unlike jobs from merged bins, against the truth: every single latency that fio wrote down, pooled.

fio's bins are mid-points of a grid whose error is at most 1/128 (stat.h), the same for every job, so adding counts
loses nothing. Averaging the jobs' own p99s, as most scripts do, has no such bound: it stands beside.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measuring import Claim, Spread, conclude, option_parser, scratch_folder

from leadline.formats import fio_json
from leadline.store.histogram import Histogram

BOUND = 0.008
FRACTIONS = (0.5, 0.9, 0.99, 0.999)
BLOCK_SIZES = ("4k", "8k", "64k", "256k")
DEPTHS = (1, 4, 16, 32)
PACES = (2000, 2000, 100, 100)
"""Operations a second, times 1 to 4. Slow jobs are few per cent of all operations: enough to make the pooled p99."""


@dataclass(frozen=True)
class Comparison:
    """One percentile of one run of 16 jobs, in ns."""

    fraction: float
    truth: float
    merged: float
    averaged: float
    weighted: float

    def errors(self) -> tuple[float, float, float]:
        """Of merged bins, of the plain average and of the average weighted by operations, relative to the truth."""
        found = (self.merged, self.averaged, self.weighted)
        return found[0] / self.truth - 1, found[1] / self.truth - 1, found[2] / self.truth - 1


def job_file(data: Path, runtime_seconds: float) -> str:
    """16 jobs, each unlike the others in block size, depth, direction or pace."""
    lines = [
        "[global]", f"directory={data}", "ioengine=libaio", "direct=1", "size=32m", "time_based=1",
        f"runtime={round(runtime_seconds * 1e6)}us", "lat_percentiles=1", "clat_percentiles=0",
    ]  # fmt: skip
    for number in range(16):
        rw = "randwrite" if number % 4 == 3 else "randread"
        block_size, depth = BLOCK_SIZES[number // 4], DEPTHS[number % 4]
        lines += [
            f"[job{number}]",
            f"rw={rw}",
            f"bs={block_size}",
            f"iodepth={depth}",
            f"write_lat_log=job{number}",
        ]
        lines.append(f"rate_iops={PACES[number // 4] * (1 + number % 4)}")
    return "\n".join(lines) + "\n"


def run_jobs(folder: Path, runtime_seconds: float) -> str:
    """fio's json+; the logs of every single operation lie in `folder`."""
    data = folder / "data"
    data.mkdir(parents=True)
    (folder / "jobs.fio").write_text(job_file(data, runtime_seconds), encoding="utf-8")
    argv = ["timeout", "-k", "3", "300", "fio", "--output-format=json+", "--output=fio.json", "jobs.fio"]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    return (folder / "fio.json").read_text(encoding="utf-8")


def pooled_latencies(folder: Path) -> np.ndarray:
    """Every latency in ns of every job, sorted: the second column of fio's unaveraged logs (HOWTO, "Log File Formats")."""
    logs = sorted(folder.glob("job*_lat.*.log"))
    columns = [np.loadtxt(log, delimiter=",", usecols=1, dtype=np.int64, ndmin=1) for log in logs]
    return np.sort(np.concatenate(columns))


def compare(text: str, pooled: np.ndarray) -> list[Comparison]:
    """leadline's merged bins and the averages, each percentile against the pooled truth."""
    latencies = [part.latency for job in fio_json.parse(text).jobs for part in job.measurements]
    histograms = [each.histogram for each in latencies if each.histogram is not None]
    merged = Histogram.merge(histograms)
    if merged.total != len(pooled):
        raise SystemExit(
            f"fio counted {merged.total} operations and logged {len(pooled)}: no truth to compare with"
        )
    counts = [histogram.total for histogram in histograms]
    found = []
    for fraction in FRACTIONS:
        own = [histogram.percentile(fraction) for histogram in histograms]
        truth = float(pooled[int(np.ceil(fraction * len(pooled))) - 1])
        averaged, weighted = float(np.mean(own)), float(np.average(own, weights=counts))
        found.append(Comparison(fraction, truth, merged.percentile(fraction), averaged, weighted))
    return found


def measure(scratch: Path, runtime_seconds: float) -> list[Comparison]:
    """One run of the 16 jobs."""
    folder = scratch / "run"
    try:
        text = run_jobs(folder, runtime_seconds)
        pooled = pooled_latencies(folder)
        print(f"  {len(pooled):,} operations of 16 jobs")
        return compare(text, pooled)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show(comparisons: list[Comparison]) -> tuple[float, float, float]:
    """One line of the table; gives the worst errors of all runs."""
    errors = np.abs([each.errors() for each in comparisons]).max(axis=0)
    truth = Spread(tuple(each.truth for each in comparisons)).median
    print(
        f"  p{100 * comparisons[0].fraction:<5g} {truth / 1e3:>10.1f} us {errors[0]:>13.3%} {errors[1]:>16.1%} {errors[2]:>16.1%}"
    )
    return float(errors[0]), float(errors[1]), float(errors[2])


def main() -> int:
    parser = option_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runtime", type=float, default=3.0, help="seconds")
    options = parser.parse_args()
    with scratch_folder(options) as scratch:
        runs = [measure(scratch, options.runtime) for _ in range(options.repeats)]
    print("\n  worst of all runs    truth   merged bins   mean of 16   weighted mean of 16")
    worst = {each[0].fraction: show(list(each)) for each in zip(*runs, strict=True)}
    merged, averaged, weighted = worst[0.99]
    return conclude(
        "Merged percentiles",
        [
            Claim(
                f"p99 of 16 jobs from merged bins is within {BOUND:.1%} of the pooled truth",
                f"worst of {options.repeats} runs: off by {merged:.3%}; "
                f"averaged p99s are off by {averaged:.0%}, weighted ones by {weighted:.0%}",
                merged <= BOUND,
            )
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
