"""A report on 10,000 cells is built within 5 s and 5 MB; one on 1,000 cells opens within 2 s in a headless browser.

The stored run is synthetic in its figures and real in its shape: jobs as fio's json+ gives them, with bins, throughput
over time and a sample of every counter a second; once with one job a cell, once with as many as the published grids.
Building means what `leadline report` does: read the run, analyse it, write the page; each is timed. Opening is counted
by the page's own clock, from the start of the navigation to the first figure drawn (scrolled to at once, as the page
draws what comes into view).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
from measuring import Claim, Spread, conclude, option_parser, scratch_folder

from leadline.store.histogram import Histogram
from leadline.store.manifest import Manifest
from leadline.store.records import Cell, Direction, JobUse, Latency, Measurement, Status, StepKind, StepRecord
from leadline.store.run_folder import RunFolder
from leadline.store.series import Series, SeriesTable

BUILD_BOUND_SECONDS, SIZE_BOUND_BYTES, OPEN_BOUND_SECONDS = 5.0, 5_000_000, 2.0
RUNTIME_NS = 10_000_000_000
BINS = 220
"""Of a latency histogram; a fio job of some seconds fills about as many."""
THROUGHPUT_POINTS, COUNTER_POINTS = 40, 10
BLOCK_SIZES = (4096, 16384, 65536, 262144, 1048576)
TESTS = ("randread", "read", "randwrite", "write")
IODEPTHS = tuple(2**power for power in range(10))
CORES = ("cpu.0", "cpu.1", "cpu.all")
COUNTERS = (
    *(f"{core}.{share}_share" for core in CORES for share in ("busy", "user", "system", "iowait", "steal")),
    *(f"disk.vda.{way}_{what}_per_second" for way in ("read", "write") for what in ("bytes", "operations")),
    *(f"disk.vda.{what}_operations_per_second" for what in ("discard", "flush")),
    *(f"nic.eth0.{way}_{what}_per_second" for way in ("receive", "transmit") for what in ("bytes", "packets", "errors", "drops")),
    *(f"memory.{what}_bytes" for what in ("available", "cached", "dirty", "writeback")),
    *(f"pressure.{what}.some_share" for what in ("cpu", "io", "memory")),
    "disk.vda.queue_length", "disk.vda.utilisation_share", "engine.busy_cores", "kernel.blocked_processes",
    "kernel.running_processes", "kernel.context_switches_per_second", "tcp.retransmitted_segments_per_second",
    "tcp.sent_segments_per_second",
)  # fmt: skip
"""What run/observe/counters.py gives on a machine with two cores, one disk and one network interface."""


def cells(axis: str) -> Iterator[tuple[str, Cell]]:
    """10,000 of them over the axis numjobs or nrfiles, ordered so that the first 1,000 are whole grids too."""
    grid = list(product(BLOCK_SIZES, TESTS, IODEPTHS, (1, 2, 4, 8, 16)))
    for number, (block_size, rw, iodepth, place) in product(range(10), grid):
        cell = {"rw": rw, "block_size": block_size, "iodepth": iodepth, "numjobs": 1, "direct": True}
        cell |= {"ioengine": "io_uring", "size": 1 << 30, "runtime": RUNTIME_NS / 1e9, axis: place}
        yield f"grid {number}", cell


def record_of(ordinal: int, experiment: str, cell: Cell, random: np.random.Generator) -> StepRecord:
    """A saturating device: throughput rises with concurrency to a plateau, latency follows by Little's law."""
    jobs = int(cell["numjobs"])
    concurrency = int(cell["iodepth"]) * jobs
    seconds = RUNTIME_NS / 1e9
    limit = min(400_000.0, 3e9 / int(cell["block_size"]))
    iops = limit * concurrency / (concurrency + 12) * random.normal(1, 0.01)
    operations = max(1, round(iops * seconds / jobs))
    direction = Direction.READ if "read" in str(cell["rw"]) else Direction.WRITE
    block_size, mean_ns = int(cell["block_size"]), concurrency / iops * 1e9
    measured = [measurement(job, direction, operations, block_size, mean_ns, random) for job in range(jobs)]
    rate = sum(each.size_bytes for each in measured) / seconds
    return StepRecord(
        ordinal=ordinal, kind=StepKind.CELL, experiment=experiment, cell=cell, repeat=0, status=Status.FINISHED,
        started_unix_ns=1_700_000_000_000_000_000 + ordinal * 11_000_000_000, wall_ns=RUNTIME_NS + 300_000_000,
        command=("fio", "--name=leadline", *(f"--{name}={value}" for name, value in cell.items())), exit_code=0,
        measurements=tuple(measured), jobs=tuple(JobUse("local", job, 0.1, 0.2, 50_000, RUNTIME_NS, 0) for job in range(jobs)),
        throughput=(series(direction, "B/s", THROUGHPUT_POINTS, rate, random),),
        counters=SeriesTable.group(series(name, unit_of(name), COUNTER_POINTS, level_of(name, rate), random) for name in COUNTERS),
        totals={f"disk.vda.{direction}_bytes": rate * seconds, "cpu.all.user_seconds": 3.0},
        facts={"caches": "kept", "direct": True, "dataset_bytes": jobs << 30, "engine_cpu_seconds": 0.3 * jobs},
    )  # fmt: skip


def measurement(
    job: int,
    direction: Direction,
    operations: int,
    block_size: int,
    mean_ns: float,
    random: np.random.Generator,
) -> Measurement:
    """Log-normal total latency in bins; submission and completion as fio gives them beside it, without bins."""
    values = np.unique((mean_ns * np.geomspace(0.3, 8, BINS)).astype(np.int64))
    density = np.exp(-((np.log(values / mean_ns) + 0.06) ** 2) / (2 * 0.35**2))
    counts = np.maximum(1, random.poisson(density / density.sum() * operations)).astype(np.int64)
    histogram = Histogram(values, counts)
    total = Latency(histogram.total, mean_ns, float(values[0]), float(values[-1]), mean_ns * 0.36, histogram)
    submission, completion = (
        Latency(histogram.total, mean_ns * share, 1.0, mean_ns, mean_ns * 0.1) for share in (0.02, 0.98)
    )
    size_bytes = histogram.total * block_size
    return Measurement(
        "local", job, direction, histogram.total, size_bytes, RUNTIME_NS, total, submission, completion
    )


def series(name: str, unit: str, points: int, level: float, random: np.random.Generator) -> Series:
    """A steady quantity with 2 % of noise."""
    times_ns = np.linspace(RUNTIME_NS / points, RUNTIME_NS, points).astype(np.int64)
    return Series(name, unit, times_ns.tolist(), (level * random.normal(1, 0.02, points)).tolist())


def unit_of(name: str) -> str:
    """As the counter's name says."""
    return "share" if name.endswith("_share") else "B" if name.startswith("memory.") else "1/s"


def level_of(name: str, rate: float) -> float:
    """Something plausible."""
    return 0.3 if name.endswith("_share") else rate if "disk.vda" in name and "bytes" in name else 1e4


def store_run(path: Path, count: int, axis: str) -> None:
    """`count` records in a run folder of the present format."""
    random = np.random.default_rng(7)
    manifest = Manifest(f"{count} cells", "campaign", "/data", "2026-01-01T00:00:00+00:00", "0", 7)
    folder = RunFolder.create(path, manifest)
    for ordinal, (experiment, cell) in enumerate(islice(cells(axis), count)):
        folder.save(record_of(ordinal, experiment, cell, random))
    folder.close()


BUILDER = """
import sys, time
from pathlib import Path
begin = time.perf_counter()
from leadline.analyse.analysis import analyse
from leadline.report import write_report
from leadline.report.page import page
from leadline.store.run_folder import RunFolder
loaded = time.perf_counter()
folder = RunFolder.open(Path(sys.argv[1]))
records = folder.records()
read = time.perf_counter()
results = analyse(records, folder.manifest, folder.environment)
analysed = time.perf_counter()
write_report([results], Path(sys.argv[2]))
written = time.perf_counter()
print(loaded - begin, read - loaded, analysed - read, written - analysed)
"""
"""Runs in a process of its own, as `leadline report` does: no warm caches from the repeat before."""
STAGES = ("load the modules", "read the run", "analyse", "write the report")


@dataclass(frozen=True)
class Built:
    """A report, built some times over: seconds a stage, seconds of the whole process, and what came out."""

    name: str
    stages: tuple[Spread, ...]
    whole: Spread
    size_bytes: int


def build(name: str, scratch: Path, axis: str, count: int, repeats: int) -> tuple[Built, Path]:
    """Stores a run, builds its report, and shows where the time went; the page is kept."""
    run, page = scratch / f"run-{axis}-{count}", scratch / f"report-{axis}-{count}.html"
    store_run(run, count, axis)
    timings = [time_building(run, page) for _ in range(repeats)]
    stages = tuple(Spread(column) for column in zip(*(each for each, _ in timings), strict=True))
    built = Built(name, stages, Spread(tuple(whole for _, whole in timings)), page.stat().st_size)
    show(built)
    shutil.rmtree(run)
    return built, page


def time_building(run: Path, page: Path) -> tuple[tuple[float, ...], float]:
    """Seconds of each stage, and of the whole process with the start of Python."""
    argv = [sys.executable, "-c", BUILDER, str(run), str(page)]
    begin = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    whole = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"the report could not be built: {done.stderr[-1500:]}")
    return tuple(float(word) for word in done.stdout.split()), whole


def show(built: Built) -> None:
    """Stage by stage."""
    print(f"\n{built.name}, {built.size_bytes / 1e6:.2f} MB of HTML")
    for stage, spread in zip(STAGES, built.stages, strict=True):
        print(f"  {stage:<18} {spread.shown(' s')}")
    print(f"  {'whole process':<18} {built.whole.shown(' s')}", flush=True)


WAIT_FOR_FIGURE = """
() => new Promise((drawn) => {
  const look = () => {
    const figure = document.querySelector("[data-drawn]");
    if (figure) drawn(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})
"""


def opening_seconds(page_file: Path, browser_path: str, repeats: int) -> list[float]:
    """Navigation start to the first figure drawn, each time in a new browser."""
    from playwright.sync_api import sync_playwright

    seconds = []
    with sync_playwright() as playwright:
        for _ in range(repeats):
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(page_file.as_uri(), wait_until="domcontentloaded")
            page.evaluate("() => document.querySelector('.plot')?.scrollIntoView()")
            seconds.append(float(page.evaluate(WAIT_FOR_FIGURE)) / 1e3)
            browser.close()
    return seconds


def claims_of(built: Built) -> list[Claim]:
    """Time and size."""
    return [
        Claim(
            f"a report on {built.name} is built within {BUILD_BOUND_SECONDS:.0f} s",
            f"{built.whole.shown(' s')}, the whole process",
            built.whole.median <= BUILD_BOUND_SECONDS,
        ),
        Claim(
            f"it has at most {SIZE_BOUND_BYTES / 1e6:.0f} MB",
            f"{built.size_bytes / 1e6:.2f} MB",
            built.size_bytes <= SIZE_BOUND_BYTES,
        ),
    ]


def opening_claim(small: Built, seconds: Sequence[float]) -> Claim:
    """What a reader waits for."""
    found = Spread(tuple(seconds)) if seconds else None
    return Claim(
        f"a report on {small.name} shows its first figure within {OPEN_BOUND_SECONDS:.0f} s",
        found.shown(" s") if found else "there is no browser",
        found.median < OPEN_BOUND_SECONDS if found else None,
    )


def main() -> int:
    parser = option_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--browser", default="/usr/bin/chromium", help="a Chromium; where there is none, opening is left out"
    )
    options = parser.parse_args()
    with scratch_folder(options) as scratch:
        single, _ = build("10,000 cells of one job", scratch, "nrfiles", 10_000, options.repeats)
        many, _ = build("10,000 cells of 1 to 16 jobs (62,000)", scratch, "numjobs", 10_000, options.repeats)
        small, page = build("1,000 cells of 1 to 16 jobs", scratch, "numjobs", 1_000, options.repeats)
        usable = Path(options.browser).is_file()
        seconds = opening_seconds(page, options.browser, options.repeats) if usable else []
    return conclude("Report", [*claims_of(single), *claims_of(many), opening_claim(small, seconds)])


if __name__ == "__main__":
    sys.exit(main())
