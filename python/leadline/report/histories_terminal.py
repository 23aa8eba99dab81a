"""Free-running histories in the terminal: guarantees by kind of object, one witness each, and how likely an answer is stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadline.analyse import wording
from leadline.analyse.ladder import GUARANTEES, Rung, Verdict
from leadline.analyse.promises import STALENESS, Kept
from leadline.analyse.staleness import Staleness, Timeout
from leadline.report.ladder import KINDS, WORDS
from leadline.report.visibility_words import promise_sentence
from leadline.store.histories import Histories

STYLES = {
    Verdict.HELD: "green",
    Verdict.VIOLATED: "bold red",
    Verdict.UNDECIDED: "yellow",
    Verdict.NOT_EXERCISED: "dim",
}
SHOWN_DELAYS_SECONDS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Where P(stale) is told, as far as anybody looked so late."""


def show_histories(
    result: Histories,
    ladder: Sequence[Rung],
    curves: Sequence[Staleness],
    judged: Sequence[Kept],
    console: Console,
) -> None:
    """All that came of free-running load and delayed probes."""
    console.print(Text.assemble((result.label, "bold"), f"  {_looked_at(result)}"))
    if ladder:
        console.print(_ladder(ladder))
        console.print(
            Text(
                "held: n checks, none violates; a time: stale for so long; k of n: violated; -: not exercised; ?: undecided",
                style="dim",
            )
        )
        for line in _witnesses(ladder):
            console.print(line)
    if curves:
        console.print(_delays(curves))
    for promise in judged:
        console.print(Text(f"Promise {promise_sentence(promise)}", style="bold"))
    for note in result.notes:
        console.print(Text(note, style="dim"))


def _looked_at(result: Histories) -> str:
    report = result.report
    parts = []
    if report["operations"]:
        seconds = result.settings["seconds"]
        parts.append(
            f"{report['operations']:,} operations on {report['objects']:,} objects in {seconds:g} s of free-running load"
        )
    if result.delays:
        parts.append(f"{len(result.delays):,} probes after a planned delay")
    return wording.listed(parts) or "nothing was recorded"


def _ladder(ladder: Sequence[Rung]) -> Table:
    """Guarantees down, kinds across; blank where a guarantee is not asked of a kind."""
    kinds = [kind for kind in KINDS if any(rung.kind == kind for rung in ladder)]
    by_place = {(rung.guarantee, rung.kind): rung for rung in ladder}
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("guarantee", no_wrap=True)
    for kind in kinds:
        table.add_column(KINDS[kind], justify="right")
    for number, guarantee in enumerate(GUARANTEES, 1):
        rungs = [by_place.get((guarantee, kind)) for kind in kinds]
        table.add_row(f"G{number} {WORDS[guarantee]}", *(_cell(rung) for rung in rungs))
    return table


def _cell(rung: Rung | None) -> Text:
    if rung is None:
        return Text("")
    late = rung.guarantee == STALENESS and rung.least_delay_ns
    match rung.verdict:
        case Verdict.HELD if late:
            return Text(f"{_late(rung)}, n {rung.checked:,}", style="yellow")
        case Verdict.HELD:
            said = f"held {rung.checked:,}"
        case Verdict.VIOLATED:
            said = f"{_late(rung) + ', ' if late else ''}{rung.violating:,} of {rung.checked:,}"
        case Verdict.UNDECIDED:
            said = "?"
        case Verdict.NOT_EXERCISED:
            said = "-"
    return Text(said, style=STYLES[rung.verdict])


def _late(rung: Rung) -> str:
    """How far looks have to look back for all of them to be explained; no violation where nothing was promised."""
    return f"{'' if rung.least_delay_exact else '>= '}{wording.latency(rung.least_delay_ns or 0)}"


def _witnesses(ladder: Sequence[Rung]) -> Iterator[Text]:
    """One sentence for each violated line; what is undecided says why."""
    for rung in ladder:
        name = f"{WORDS.get(rung.guarantee, rung.guarantee)} of {KINDS.get(rung.kind, rung.kind)}"
        if rung.verdict is Verdict.VIOLATED and rung.witness is not None:
            met = ", ".join(
                f"{anomaly.replace('_', ' ')} {count:,}" for anomaly, count in rung.anomalies.items()
            )
            yield Text(f"{name} ({met}): {rung.witness['sentence']}")
        elif rung.verdict is Verdict.UNDECIDED:
            yield Text(f"{name}: undecided, {rung.undecided_because}")


def _delays(curves: Sequence[Staleness]) -> Table:
    longest = max(each.longest_probed_seconds for each in curves)
    shown = [seconds for seconds in SHOWN_DELAYS_SECONDS if seconds <= longest]
    table = Table(
        title="P(stale) so long after the change",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    table.add_column("change -> look", no_wrap=True)
    for head in (
        "n",
        *(wording.latency(seconds * 1e9) for seconds in shown),
        "always until",
        "never after",
        "cache time",
    ):
        table.add_column(head, justify="right")
    for each in curves:
        told = [f"{each.at(seconds):.2f}" for seconds in shown]
        table.add_row(
            each.mechanism, f"{each.samples:,}", *told, _time(each.knee), _foot(each), _time(each.cache_time)
        )
    return table


def _foot(curve: Staleness) -> str:
    if curve.foot is None and not curve.stale:
        return "never stale"
    return _time(curve.foot)


def _time(timeout: Timeout | None) -> str:
    if timeout is None:
        return "-"
    low, high = (wording.latency(seconds * 1e9) for seconds in (timeout.low_seconds, timeout.high_seconds))
    return f"{wording.latency(timeout.seconds * 1e9)} ({low} to {high})"
