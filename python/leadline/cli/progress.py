"""Progress of a run: a live screen in a terminal, plain lines when the output goes elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.plan.planner import FixedPlan
from leadline.plan.steps import WITHOUT_RATE, Step
from leadline.run.conductor import Watcher
from leadline.run.seams import Now
from leadline.spec.settings import is_of_site
from leadline.spec.units import format_duration, format_size
from leadline.store.records import Cell, Direction, Scalar, Status, StepKind, StepRecord
from leadline.store.run_folder import RunFolder

SHOWN_STEPS = 8
PLAIN_INTERVAL_SECONDS = 10.0


@contextmanager
def watching(plan: FixedPlan, folder: RunFolder) -> Iterator[Watcher]:
    """The watcher that suits the output."""
    tally = _Tally(len(plan.steps), len(folder.finished_ordinals()))
    if sys.stdout.isatty():
        with LiveScreen(tally, str(folder.path)) as screen:
            yield screen
    else:
        yield PlainLines(tally, sys.stdout)


class _Tally:
    """Where the run stands."""

    def __init__(self, steps: int, finished: int) -> None:
        self.steps = steps
        self.finished = finished
        self.failed = 0
        self.warnings: Counter[str] = Counter()
        self.seconds_left = 0.0
        self.at = time.monotonic()

    def start(self, remaining: Sequence[Step]) -> None:
        self.seconds_left = sum(step.expected_seconds for step in remaining)
        self.at = time.monotonic()

    def finish(self, record: StepRecord) -> None:
        self.finished += 1
        self.failed += record.status is Status.FAILED
        self.warnings.update(record.warnings)

    @property
    def left(self) -> float:
        return max(0.0, self.seconds_left - (time.monotonic() - self.at))


class PlainLines:
    """A line when a step ends, and one now and then while a long one runs."""

    def __init__(self, tally: _Tally, stream: TextIO) -> None:
        self._tally = tally
        self._stream = stream
        self._said_at = time.monotonic()

    def step_started(self, step: Step, remaining: Sequence[Step]) -> None:
        self._tally.start(remaining)
        self._said_at = time.monotonic()

    def now(self, step: Step, now: Now) -> None:
        if time.monotonic() - self._said_at >= PLAIN_INTERVAL_SECONDS:
            self._said_at = time.monotonic()
            self._say(
                f"      {describe(step.kind, step.cell)}: {_now_words(step, now)} now, about {format_duration(self._tally.left)} left"
            )

    def step_finished(self, record: StepRecord) -> None:
        self._tally.finish(record)
        self._say(
            f"[{self._tally.finished}/{self._tally.steps}] {describe(record.kind, record.cell)}: {_result_words(record)}"
        )
        for warning in dict.fromkeys(record.warnings):
            self._say(f"      warning: {warning}")

    def said(self, line: str) -> None:
        self._say(line)

    def _say(self, line: str) -> None:
        click.echo(line, file=self._stream)


class LiveScreen:
    """One screen that is drawn anew: what runs, how fast now, what came before, what is left."""

    def __init__(self, tally: _Tally, folder: str, console: Console | None = None) -> None:
        self._tally = tally
        self._folder = folder
        self._step: Step | None = None
        self._now: Now | None = None
        self._recent: deque[StepRecord] = deque(maxlen=SHOWN_STEPS)
        self._live = Live(console=console or Console(), refresh_per_second=4, get_renderable=self.render)

    def __enter__(self) -> LiveScreen:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def step_started(self, step: Step, remaining: Sequence[Step]) -> None:
        self._tally.start(remaining)
        self._step, self._now = step, None

    def now(self, step: Step, now: Now) -> None:
        self._now = now

    def step_finished(self, record: StepRecord) -> None:
        self._tally.finish(record)
        self._recent.append(record)
        self._step = None

    def said(self, line: str) -> None:
        self._live.console.print(line, highlight=False, markup=False)

    def render(self) -> RenderableType:
        """The whole screen."""
        tally = self._tally
        where = f"step {min(tally.finished + 1, tally.steps)} of {tally.steps}, about {format_duration(tally.left)} left"
        failed = f", {tally.failed} failed" if tally.failed else ""
        head = Text.assemble(("leadline ", "bold"), where, (failed, "red"))
        parts: list[RenderableType] = [
            head,
            Padding(
                ProgressBar(total=tally.steps, completed=tally.finished, width=60)
            ),  # the bar ends no line itself
            self._current(),
            self._table(),
        ]
        parts += [
            Text(f"warning ({count}x): {text}", style="yellow", overflow="ellipsis", no_wrap=True)
            for text, count in tally.warnings.most_common(3)
        ]
        parts.append(Text(f"{self._folder}   Ctrl-C stops and keeps every finished step", style="dim"))
        return Group(*parts)

    def _current(self) -> Text:
        if self._step is None:
            return Text("")
        doing = describe(self._step.kind, self._step.cell)
        return Text.assemble(
            (doing, "bold cyan"), "  ", _now_words(self._step, self._now) if self._now else "running"
        )

    def _table(self) -> Table:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for record in self._recent:
            style = "red" if record.status is Status.FAILED else ""
            table.add_row(
                describe(record.kind, record.cell),
                Text(_result_words(record), style=style, overflow="ellipsis"),
            )
        return table


def describe(kind: StepKind, cell: Cell) -> str:
    """A step in a few words: "randread 4k, iodepth 16, 4 jobs, io_uring"."""
    if kind is StepKind.CEILING:
        return "generator ceiling (null engine)"
    if kind is StepKind.MEMORY:
        return "memory copy"
    if kind is StepKind.PREDICTION:
        return "prediction"
    if kind is StepKind.LAYOUT:
        each = f"{cell['numjobs']} x {cell['nrfiles']} x {format_size(int(cell['filesize']))}"
        return f"laying out files: {each}" + (f" on {cell['clients']} clients" if "clients" in cell else "")
    if "naming" in cell:
        return ("noise floor: " if kind is StepKind.NOISE else "") + ", ".join(
            [*_metadata_words(cell), *_site_words(cell)]
        )
    if "suite" in cell:
        return ", ".join(["POSIX conformance", *_site_words(cell)])
    if "cells" in cell:
        return ", ".join([*_consistency_words(cell), *_site_words(cell)])
    if "checks" in cell:
        return ", ".join(["functional checks of the object store", *_site_words(cell)])
    if "object_size" in cell:
        return ("noise floor: " if kind is StepKind.NOISE else "") + ", ".join(
            [*_object_words(cell), *_site_words(cell)]
        )
    if "message_size" in cell:
        return ("noise floor: " if kind is StepKind.NOISE else "") + ", ".join(
            [
                f"network {cell['test']}, {cell['tool']}",
                wording.size(int(cell["message_size"])),
                *_site_words(cell),
            ]
        )
    # A user's own job file may say what no setting holds, e.g. a range of block sizes.
    block = format_size(int(cell["block_size"])) if "block_size" in cell else str(cell.get("fio.bs", ""))
    words = [
        f"{cell['rw']} {block}",
        f"iodepth {cell.get('iodepth', cell.get('fio.iodepth'))}",
        _jobs(cell.get("numjobs", cell.get("fio.numjobs", 1))),
    ]
    words += [f"{cell['rate']:g}/s offered"] if "rate" in cell else []
    words.append(str(cell["ioengine"]))
    return ("noise floor: " if kind is StepKind.NOISE else "") + ", ".join([*words, *_site_words(cell)])


def _metadata_words(cell: Cell) -> list[str]:
    items = cell.get("items_per_directory", cell.get("items_per_rank"))
    each = "directory" if "items_per_directory" in cell else "rank"
    ranks = "1 rank" if cell["numjobs"] == 1 else f"{cell['numjobs']} ranks"
    depth = f" at iodepth {cell['iodepth']}" if cell["driver"] == "io_uring" else ""
    return [
        f"metadata, depth {cell['depth']} x {cell['branching_factor']}, {items:,} items a {each}",
        ranks,
        f"{cell['driver']}{depth}, {str(cell['naming']).replace('_', ' ')}",
    ]


def _object_words(cell: Cell) -> Iterator[str]:
    yield f"{cell['objects']:,} objects of {wording.size(int(cell['object_size']))}"
    if "part_size" in cell:
        yield f"in parts of {wording.size(int(cell['part_size']))}"
    yield f"{cell['concurrency']} in flight"
    if "instances" in cell:
        yield f"{cell['instances']} client instances"


def _consistency_words(cell: Cell) -> Iterator[str]:
    if "trials" in cell:
        times = "1 trial" if cell["trials"] == 1 else f"{cell['trials']} trials"
        yield f"visibility grid, cells {cell['cells']}, {times} each"
    if "histories" in cell:
        yield f"histories of {format_duration(float(cell['histories']))}"
    if "delays" in cell:
        yield f"{cell['delays']} delayed probes"
    if "control" in cell:
        yield "one mount seen twice"


def _site_words(cell: Cell) -> list[str]:
    return [
        wording.setting(name, value) for name, value in cell.items() if name == "clients" or is_of_site(name)
    ]


def _jobs(count: Scalar) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _now_words(step: Step, now: Now) -> str:
    """Latency now follows from the rate by Little's law: fio tells none while it runs."""
    if step.files in WITHOUT_RATE:
        return f"{now.share_done or 0:.0%} done"
    words = f"{wording.bandwidth(now.bandwidth_bytes_per_second)}, {wording.iops(now.iops)}"
    depth = int(step.cell.get("iodepth", 1)) * int(step.cell.get("numjobs", 1))
    return words + (
        f", about {wording.latency(depth / now.iops * 1e9)} (by Little's law)" if now.iops else ""
    )


def _result_words(record: StepRecord) -> str:
    if record.status is Status.FAILED:
        return f"FAILED: {record.reason}"
    if record.facts.get("reused"):
        return "already there"
    seconds = max((each.runtime_ns for each in record.measurements), default=0) / 1e9
    if not seconds and record.documents:
        return f"done in {record.wall_ns / 1e9:.1f} s"
    if not seconds:
        return "done"
    if "naming" in record.cell:
        return _rate_words(record, (Direction.FILE_CREATE, Direction.FILE_STAT, Direction.FILE_REMOVE))
    if "object_size" in record.cell:
        return _rate_words(
            record, (Direction.OBJECT_PUT, Direction.OBJECT_MULTIPART_PUT, Direction.OBJECT_GET)
        )
    moved = sum(each.size_bytes for each in record.measurements) / seconds
    operations = sum(each.operations for each in record.measurements)
    mean_ns = sum(each.latency.mean_ns * each.operations for each in record.measurements) / max(operations, 1)
    if "message_size" in record.cell:
        return wording.bandwidth(moved) if moved else f"{wording.latency(mean_ns)} mean"
    return (
        f"{wording.bandwidth(moved)}, {wording.iops(operations / seconds)}, {wording.latency(mean_ns)} mean"
    )


def _rate_words(record: StepRecord, first: Sequence[Direction]) -> str:
    """Of the phases that people look at first, as mdtest counts: until the last rank was done."""
    rates = []
    for operation in first:
        parts = [each for each in record.measurements if each.direction is operation]
        seconds = max((each.runtime_ns for each in parts), default=0) / 1e9
        if seconds:
            rates.append(f"{operation} {sum(each.operations for each in parts) / seconds:,.0f}/s")
    return ", ".join(rates) or "done"
