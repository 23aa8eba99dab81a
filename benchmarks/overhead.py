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
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from measuring import (
    LEADLINE,
    Claim,
    Spread,
    conclude,
    option_parser,
    percentile,
    ratios,
    scratch_folder,
    take_turns,
)

from leadline.analyse.results import VerdictName
from leadline.cli.analysing import analysed
from leadline.run.executable import engine_executable
from leadline.store.records import StepKind, StepRecord
from leadline.store.run_folder import RunFolder

SHARE_BOUND, STEP_BOUND_SECONDS = 1.02, 0.05
IODEPTHS, NUMJOBS, TESTS = (1, 4, 16, 64), (1, 2), ("randread", "randwrite")
CELLS = len(IODEPTHS) * len(NUMJOBS) * len(TESTS)
EARLY_SHARE = 0.95
"""A cell that ran for less than this part of the time asked for has ended early."""
CellName = tuple[str, int, int]


@dataclass(frozen=True)
class Process:
    """One fio process, by its supervisor's clock."""

    start_ns: int
    wall_ns: int

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.wall_ns


@dataclass(frozen=True)
class Sounding:
    """One run of one harness over all cells. Times are of the Unix clock, which both sides record."""

    begin_ns: int
    end_ns: int
    processes: tuple[Process, ...]
    """In the order of time."""
    runtime_seconds: Mapping[CellName, float]
    """How long each cell's jobs really ran, by fio's own word."""
    evidence: Mapping[CellName, str] = field(default_factory=dict)
    """Why cells are "incomplete" after `leadline import` (bench-fio only)."""

    @property
    def wall_seconds(self) -> float:
        return (self.end_ns - self.begin_ns) / 1e9

    @property
    def process_seconds(self) -> float:
        """Of all fio processes together."""
        return sum(process.wall_ns for process in self.processes) / 1e9

    @property
    def above_processes(self) -> float:
        """Seconds a step above fio's processes, whatever the harness does once included."""
        return (self.wall_seconds - self.process_seconds) / len(self.processes)

    @property
    def above_runtimes(self) -> float:
        """Seconds a cell above the time in which fio's jobs ran."""
        return (self.wall_seconds - sum(self.runtime_seconds.values())) / len(self.runtime_seconds)

    @property
    def gaps(self) -> list[float]:
        """Seconds from the end of one fio to the start of the next: what each further step costs."""
        return [(later.start_ns - earlier.end_ns) / 1e9 for earlier, later in pairwise(self.processes)]

    @property
    def once(self) -> float:
        """Seconds before the first and after the last fio: start, environment, analysis, report."""
        return self.wall_seconds - self.process_seconds - sum(self.gaps)

    @property
    def of_bound(self) -> float:
        """Wall time as a part of what the claim allows."""
        allowed = SHARE_BOUND * self.process_seconds + STEP_BOUND_SECONDS * len(self.processes)
        return self.wall_seconds / allowed

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
    cells = [record for record in records if record.kind is StepKind.CELL]
    return Sounding(
        begin_ns,
        end_ns,
        in_order(Process(record.started_unix_ns, record.wall_ns) for record in records),
        {cell_name(record.cell): runtime_seconds_of(record) for record in cells},
    )


def in_order(processes: Iterable[Process]) -> tuple[Process, ...]:
    """As they ran."""
    return tuple(sorted(processes, key=lambda process: process.start_ns))


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
    begin_ns = time.time_ns()
    run(argv, place, {**os.environ, **search_paths(place, options.bench_fio)})
    end_ns = time.time_ns()
    supervised = [json.loads(path.read_text(encoding="utf-8")) for path in place.glob("supervised/*.json")]
    processes = in_order(Process(each["start_unix_ns"], each["wall_ns"]) for each in supervised)
    if len(processes) != CELLS:
        raise SystemExit(f"bench-fio ran {len(processes)} cells, not {CELLS}")
    runtimes = dict(read_cell(path) for path in output.rglob("*.json"))
    return Sounding(begin_ns, end_ns, processes, runtimes, judge(place, output))


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


def judge(place: Path, output: Path) -> dict[CellName, str]:
    """The cells that are "incomplete" to `leadline import`, with its evidence."""
    run([LEADLINE, "import", output, "--output", place / "imported"], place, os.environ)
    return {
        cell_name(cell.cell): verdict.evidence
        for cell in analysed(place / "imported").cells
        for verdict in cell.verdicts
        if verdict.name is VerdictName.INCOMPLETE
    }


def fresh(folder: Path) -> Path:
    """An empty folder of that name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def run(argv: Iterable[object], folder: Path, environment: Mapping[str, str]) -> None:
    """Raises SystemExit with the last words of a command that failed."""
    words = ["timeout", "-k", "3", "600", *(str(word) for word in argv)]
    done = subprocess.run(
        words, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words[4:])} failed: {(done.stderr or done.stdout)[-1500:]}")


def show(name: str, soundings: Sequence[Sounding], asked_seconds: float) -> None:
    """Medians over the rounds; of the gaps, over all steps of all rounds."""
    gaps = [gap for each in soundings for gap in each.gaps]
    early = ", ".join(str(len(each.early(asked_seconds))) for each in soundings)
    print(f"\n{name}: {len(soundings[0].processes)} fio processes")
    print(f"  whole command                 {spread(soundings, 'wall_seconds').shown(' s')}")
    print(f"  its fio processes             {spread(soundings, 'process_seconds').shown(' s')}")
    print(f"  once: start, end              {spread(soundings, 'once').shown(' s')}")
    print(f"  between two fio processes     {milliseconds(gaps, 0.5)} median, {milliseconds(gaps, 0.9)} p90")
    print(f"  all of it, a step             {spread(soundings, 'above_processes').shown(' ms', 1e3)}")
    print(
        f"  a cell above fio's run time   {spread(soundings, 'above_runtimes').shown(' ms', 1e3)}, mostly fio itself"
    )
    print(f"  cells that ended early        {early} of {CELLS}")


def spread(soundings: Sequence[Sounding], name: str) -> Spread:
    """One figure over the rounds."""
    return Spread(tuple(getattr(each, name) for each in soundings))


def milliseconds(seconds: Sequence[float], fraction: float) -> str:
    """A percentile of some times."""
    return f"{percentile(seconds, fraction) * 1e3:.1f} ms"


def compare(ours: Sequence[Sounding], theirs: Sequence[Sounding]) -> None:
    """Both sides on one line each; bench-fio writes no report and records no environment."""
    print("\nleadline / bench-fio")
    figures = {
        "once": "once",
        "above_processes": "a step, all of it",
        "above_runtimes": "a cell above fio's run time",
    }
    for name, words in figures.items():
        sides = ([getattr(each, name) for each in side] for side in (ours, theirs))
        print(f"  {words:<29} {ratios(*sides).shown(' x')}")
    our, their = ([gap for each in side for gap in each.gaps] for side in (ours, theirs))
    print(
        f"  {'between two fio processes':<29} {percentile(our, 0.5) / percentile(their, 0.5):.3g} x (medians)"
    )


def claims_of(ours: Sequence[Sounding], theirs: Sequence[Sounding], asked_seconds: float) -> list[Claim]:
    """The bounds."""
    part = spread(ours, "of_bound")
    early = sum(len(each.early(asked_seconds)) for each in ours)
    return [
        Claim(
            f"wall time <= {SHARE_BOUND} x fio's processes + {STEP_BOUND_SECONDS * 1e3:.0f} ms a step",
            f"{part.shown(' of the bound')}",
            part.median <= 1,
        ),
        Claim("no cell of leadline ends early", f"{early} of {CELLS * len(ours)} did", early == 0),
        early_cells_are_seen(theirs, asked_seconds) if theirs else absent(),
    ]


def early_cells_are_seen(theirs: Sequence[Sounding], asked_seconds: float) -> Claim:
    """Every one of them, by the verdict that fits."""
    early = [(each, cell) for each in theirs for cell in each.early(asked_seconds)]
    seen = [each.evidence[cell] for each, cell in early if cell in each.evidence]
    return Claim(
        'each cell of bench-fio that ended early is "incomplete" after `leadline import`',
        f"{len(seen)} of {len(early)} are; e.g. {seen[0] if seen else 'none'}",
        len(seen) == len(early) if early else None,
    )


def absent() -> Claim:
    """Said, not skipped in silence."""
    return Claim(
        "bench-fio beside", "it is not installed: pip install 'leadline[bench]', or --bench-fio FOLDER", None
    )


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
    ours, theirs = taken["leadline"], taken.get("bench-fio", [])
    for name, soundings in taken.items():
        show(name, soundings, options.runtime)
    if theirs:
        compare(ours, theirs)
    return conclude("Overhead", claims_of(ours, theirs, options.runtime))


if __name__ == "__main__":
    sys.exit(main())
