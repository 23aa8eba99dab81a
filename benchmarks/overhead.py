"""What the harness costs on top of fio: a whole `leadline run` against its fio processes, and bench-fio on the same cells.

Wall time of fio's processes comes from one instrument on both sides: `leadline-engine supervise` around each fio. For
leadline it is the record's wall_ns; bench-fio finds a `fio` on its PATH that starts the real one in the same way.
Time that fio itself spends before and after its run is shown apart: a harness cannot help it.
bench-fio (PyPI fio-plot) runs as it comes, which is not time-based: a cell ends when its file has been gone through,
however early. Such cells are counted, and then `leadline import` has to see them too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from leadline.cli.analysing import analysed
from leadline.run.executable import engine_executable
from leadline.store.records import StepKind, StepRecord
from leadline.store.run_folder import RunFolder
from measuring import LEADLINE, Claim, Spread, conclude, option_parser, percentile, scratch_folder, take_turns

SHARE_BOUND, STEP_BOUND_SECONDS = 1.02, 0.05
IODEPTHS, NUMJOBS, TESTS = (1, 4, 16, 64), (1, 2), ("randread", "randwrite")
EARLY_SHARE = 0.95
"""A cell that ran for less than this part of the time asked for has ended early."""
CellName = tuple[str, int, int]


@dataclass(frozen=True)
class Sounding:
    """One run of one harness over all cells."""

    wall_seconds: float
    process_seconds: tuple[float, ...]
    """Of each fio process, as its supervisor saw it."""
    runtime_seconds: Mapping[CellName, float]
    """How long each cell's jobs really ran, by fio's own word."""
    gaps: tuple[float, ...] = ()
    """Between the end of a fio and the start of the next step (leadline only)."""
    before: float = 0.0
    after: float = 0.0
    unmarked: tuple[CellName, ...] = ()
    """Cells that ended early and carry no verdict after `leadline import` (bench-fio only)."""
    verdicts: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        return len(self.process_seconds)

    @property
    def above_processes(self) -> float:
        """Seconds a step above fio's processes."""
        return (self.wall_seconds - sum(self.process_seconds)) / self.steps

    @property
    def above_runtimes(self) -> float:
        """Seconds a cell above the time in which fio's jobs ran."""
        return (self.wall_seconds - sum(self.runtime_seconds.values())) / len(self.runtime_seconds)

    @property
    def of_bound(self) -> float:
        """Wall time as a part of what the claim allows."""
        return self.wall_seconds / (SHARE_BOUND * sum(self.process_seconds) + STEP_BOUND_SECONDS * self.steps)

    def early(self, asked_seconds: float) -> list[CellName]:
        """The cells that did not run as long as asked."""
        return [cell for cell, ran in self.runtime_seconds.items() if ran < EARLY_SHARE * asked_seconds]


def campaign_text(options: Namespace) -> str:
    """The 16 cells as a campaign."""
    lines = [
        'name = "overhead"', "baselines = false", "noise_repeats = 0", "[[experiment]]", 'name = "grid"',
        f"rw = {json.dumps(TESTS)}", 'block_size = "4k"', f"iodepth = {json.dumps(IODEPTHS)}",
        f"numjobs = {json.dumps(NUMJOBS)}", 'ioengine = "libaio"', "direct = true", f'size = "{options.size}"',
        f'runtime = "{options.runtime}s"',
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def run_leadline(scratch: Path, options: Namespace) -> Sounding:
    """The whole command as a user types it: start, environment, 17 steps, analysis, report."""
    place = fresh(scratch / "leadline")
    campaign, work, output = place / "campaign.toml", place / "work", place / "run"
    work.mkdir()
    campaign.write_text(campaign_text(options), encoding="utf-8")
    begin_ns = time.time_ns()
    run([LEADLINE, "run", campaign, "--directory", work, "--output", output], place, os.environ)
    end_ns = time.time_ns()
    records = [record for record in RunFolder.open(output).records() if record.wall_ns]
    failed = [record.reason for record in records if record.reason]
    if failed:
        raise SystemExit(f"leadline: {len(failed)} steps failed: {failed[0]}")
    return sounding_of(records, begin_ns, end_ns)


def sounding_of(records: Sequence[StepRecord], begin_ns: int, end_ns: int) -> Sounding:
    """Where the time went, from the records' own clocks."""
    ordered = sorted(records, key=lambda record: record.started_unix_ns)
    ends = [record.started_unix_ns + record.wall_ns for record in ordered]
    gaps = [later.started_unix_ns - end for end, (_, later) in zip(ends, pairwise(ordered), strict=False)]
    cells = [record for record in ordered if record.kind is StepKind.CELL]
    return Sounding(
        wall_seconds=(end_ns - begin_ns) / 1e9,
        process_seconds=tuple(record.wall_ns / 1e9 for record in ordered),
        runtime_seconds={cell_name(record.cell): runtime_seconds_of(record) for record in cells},
        gaps=tuple(gap / 1e9 for gap in gaps),
        before=(ordered[0].started_unix_ns - begin_ns) / 1e9,
        after=(end_ns - ends[-1]) / 1e9,
    )


def runtime_seconds_of(record: StepRecord) -> float:
    """Of its longest job."""
    return max(measurement.runtime_ns for measurement in record.measurements) / 1e9


def cell_name(cell: Mapping[str, Any]) -> CellName:
    """What tells the 16 cells apart."""
    return str(cell["rw"]), int(cell["iodepth"]), int(cell["numjobs"])


def run_bench_fio(scratch: Path, options: Namespace) -> Sounding:
    """The same cells by bench-fio, and its results read by `leadline import`."""
    place = fresh(scratch / "bench_fio")
    data, output = place / f"data-{os.getpid()}", place / "output"
    data.mkdir()
    argv = [
        *bench_fio_command(options.bench_fio), "--target", data, "--type", "directory", "--size", options.size.replace("iB", ""),
        "--output", output, "--iodepth", *IODEPTHS, "--numjobs", *NUMJOBS, "--mode", *TESTS, "--engine", "libaio",
        "--runtime", options.runtime, "--destructive", "--quiet",
    ]  # fmt: skip
    begin_ns = time.perf_counter_ns()
    run(argv, place, {**os.environ, **search_paths(place, options.bench_fio)})
    wall_seconds = (time.perf_counter_ns() - begin_ns) / 1e9
    sounding = Sounding(
        wall_seconds,
        tuple(json.loads(path.read_text())["wall_ns"] / 1e9 for path in place.glob("supervised/*.json")),
        dict(read_cell(path) for path in output.rglob("*.json")),
    )
    if sounding.steps != len(IODEPTHS) * len(NUMJOBS) * len(TESTS):
        raise SystemExit(f"bench-fio ran {sounding.steps} cells, not 16")
    return judged(sounding, place, options.runtime)


def bench_fio_command(folder: Path | None) -> list[str | Path]:
    """From a folder of `pip install --target`, else the one that is installed."""
    if folder is not None:
        return [sys.executable, folder / "bin" / "bench-fio"]
    beside = Path(sys.executable).with_name("bench-fio")
    return [beside if beside.exists() else str(shutil.which("bench-fio"))]


def search_paths(place: Path, folder: Path | None) -> dict[str, str]:
    """A PATH whose `fio` runs the real one under the supervisor that leadline uses; questions like --version pass by."""
    real = shutil.which("fio")
    (place / "bin").mkdir()
    (place / "supervised").mkdir()
    script = place / "bin" / "fio"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--output=*) exec {engine_executable()} supervise --timeout-ms 120000 --grace-ms 3000'
        f' --report {place}/supervised/$$.json -- {real} "$@" ;; *) exec {real} "$@" ;; esac\n'
    )
    script.chmod(0o755)
    paths = {"PATH": f"{script.parent}:{os.environ['PATH']}", "PYTHONIOENCODING": "utf-8"}
    return paths if folder is None else {**paths, "PYTHONPATH": str(folder)}


def read_cell(path: Path) -> tuple[CellName, float]:
    """Name and run time in s of one result of bench-fio."""
    jobs = json.loads(path.read_text(encoding="utf-8"))["jobs"]
    test, iodepth, numjobs = path.stem.split("-")
    return (test, int(iodepth), int(numjobs)), max(job["job_runtime"] for job in jobs) / 1e3


def judged(sounding: Sounding, place: Path, asked_seconds: float) -> Sounding:
    """What `leadline import` makes of the cells that ended early."""
    run([LEADLINE, "import", place / "output", "--output", place / "imported"], place, os.environ)
    early = set(sounding.early(asked_seconds))
    cells = [cell for cell in analysed(place / "imported").cells if cell_name(cell.cell) in early]
    marked = {
        cell_name(cell.cell): verdict.evidence
        for cell in cells
        for verdict in cell.verdicts
        if verdict.name == "incomplete"
    }
    return replace(sounding, unmarked=tuple(early - marked.keys()), verdicts=tuple(marked.values()))


def fresh(folder: Path) -> Path:
    """An empty folder of that name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def run(argv: Iterable[object], folder: Path, environment: Mapping[str, str]) -> None:
    """Raises SystemExit with the last words of a command that failed."""
    words = ["timeout", "-k", "3", "600", *(str(word) for word in argv)]
    done = subprocess.run(words, cwd=folder, env=dict(environment), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words[4:])} failed: {(done.stderr or done.stdout)[-1500:]}")


def show(name: str, soundings: Sequence[Sounding], asked_seconds: float) -> None:
    """Medians over the rounds."""
    wall = Spread(tuple(each.wall_seconds for each in soundings))
    processes = Spread(tuple(sum(each.process_seconds) for each in soundings))
    above = Spread(tuple(each.above_processes for each in soundings))
    runtimes = Spread(tuple(each.above_runtimes for each in soundings))
    early = [len(each.early(asked_seconds)) for each in soundings]
    print(f"\n{name}: {soundings[0].steps} fio processes")
    print(f"  whole command              {wall.shown(' s')}")
    print(f"  its fio processes          {processes.shown(' s')}")
    print(f"  a step above fio processes {above.shown(' ms', 1e3)}")
    print(f"  a cell above fio run times {runtimes.shown(' ms', 1e3)} (fio's own start and end included)")
    print(f"  cells that ended early     {', '.join(str(count) for count in early)} of 16")


def show_parts(soundings: Sequence[Sounding]) -> None:
    """Where leadline's own time goes."""
    gaps = [gap for each in soundings for gap in each.gaps]
    before, after = (Spread(tuple(getattr(each, part) for each in soundings)) for part in ("before", "after"))
    print(f"  between two fio processes  {percentile(gaps, 0.5) * 1e3:.1f} ms median, {percentile(gaps, 0.9) * 1e3:.1f} ms p90")
    print(f"  before the first, after the last {before.shown(' s')}; {after.shown(' s')} (analysis and report)")


def claims_of(ours: Sequence[Sounding], theirs: Sequence[Sounding] | None, asked_seconds: float) -> list[Claim]:
    """The bounds of leadline, then what the neighbour shows."""
    part = Spread(tuple(each.of_bound for each in ours))
    early = sum(len(each.early(asked_seconds)) for each in ours)
    overhead = Claim(
        f"wall time <= {SHARE_BOUND} x fio's processes + {STEP_BOUND_SECONDS * 1e3:.0f} ms a step",
        f"{part.shown(' of the bound')}",
        part.median <= 1,
    )
    full = Claim("no cell of leadline ends early", f"{early} of {16 * len(ours)} did", early == 0)
    return [overhead, full, *(beside(ours, theirs, asked_seconds) if theirs else [absent()])]


def beside(ours: Sequence[Sounding], theirs: Sequence[Sounding], asked_seconds: float) -> list[Claim]:
    """Against bench-fio."""
    our, their = (Spread(tuple(each.above_processes for each in side)) for side in (ours, theirs))
    early = sum(len(each.early(asked_seconds)) for each in theirs)
    unmarked = sum(len(each.unmarked) for each in theirs)
    evidence = next((words for each in theirs for words in each.verdicts), "")
    return [
        Claim(
            "leadline adds no more to a step than bench-fio does",
            f"{our.median * 1e3:.0f} ms against {their.median * 1e3:.0f} ms a step above fio's processes, ratio {our.median / their.median:.2f}",
            our.median <= their.median,
        ),
        Claim(
            'cells of bench-fio that ended early are "incomplete" after `leadline import`',
            f"{early - unmarked} of {early} are; e.g. {evidence or 'no evidence'}",
            unmarked == 0 if early else None,
        ),
    ]


def absent() -> Claim:
    """Said, not skipped in silence."""
    return Claim("bench-fio beside", "it is not installed: pip install 'leadline[bench]', or --bench-fio FOLDER", None)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="of all cells by each harness, in turns")
    parser.add_argument("--runtime", type=int, default=2, help="whole seconds a cell")
    parser.add_argument("--size", default="64MiB", help="of each job's file")
    parser.add_argument("--bench-fio", type=Path, help="folder of `pip install --target FOLDER fio-plot`")


def main() -> int:
    parser = option_parser(__doc__)
    add_options(parser)
    options = parser.parse_args()
    found = options.bench_fio is not None or bench_fio_command(None) != ["None"]
    with scratch_folder(options) as scratch:
        sides = {"leadline": lambda: run_leadline(scratch, options)}
        if found:
            sides["bench-fio"] = lambda: run_bench_fio(scratch, options)
        taken = take_turns(sides, options.rounds)
    for name, soundings in taken.items():
        show(name, soundings, options.runtime)
        if name == "leadline":
            show_parts(soundings)
    return conclude("Overhead", claims_of(taken["leadline"], taken.get("bench-fio"), options.runtime))


if __name__ == "__main__":
    sys.exit(main())
