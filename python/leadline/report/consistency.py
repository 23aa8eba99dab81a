"""The section "Consistency" of the page: sites side by side, what consistency costs, and each site with all that was seen there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from leadline.analyse import wording
from leadline.analyse.consistency import Sounded
from leadline.analyse.consistency_words import price_sentence, site_sentence, stale_words
from leadline.analyse.ladder import Verdict
from leadline.analyse.price import Point, Price, prices
from leadline.analyse.results import CellResult, Results
from leadline.report import ladder
from leadline.report.figures.delay_figure import DelayFigure, delay_figure
from leadline.report.figures.price_figure import PriceFigure, price_figure
from leadline.report.page import templates
from leadline.report.visibility_page import COLUMNS, LEGEND, column_of, matrix
from leadline.report.visibility_words import promise_sentence
from leadline.store.records import Direction
from leadline.store.visibility import Ending

COUNTED = (Ending.LOST, Ending.NEVER, Ending.LATER)
NONE = "\u2013"


@dataclass(frozen=True)
class SiteView:
    """One site as the template wants it."""

    anchor: str
    label: str
    control: bool
    counts: tuple[str, ...]
    """lost, never, late, worst, at once, undecided, n."""
    guarantees: str
    promises: tuple[tuple[str, bool], ...]
    """Name and verdict in short, and whether it was broken."""
    verdicts: tuple[tuple[str, bool], ...]
    sentence: str
    kinds: tuple[str, ...]
    rungs: tuple[ladder.Row, ...]
    load: str
    undecided: tuple[str, ...]
    stories: tuple[ladder.Story, ...]
    delays: tuple[DelayFigure, ...]
    fresh: str
    """Kinds of change of which no delayed look was stale, with their n."""
    columns: tuple[str, ...]
    rows: tuple[Any, ...]
    opened: bool
    """Whether its matrix is unfolded: the first one in which something is wrong."""


@dataclass(frozen=True)
class RateView:
    """A rate of the price's table."""

    text: str
    doubts: str


@dataclass(frozen=True)
class PriceRow:
    """A point of the price's table."""

    label: str
    stale: str
    change: str
    lost: str
    loses: bool
    rates: tuple[RateView, ...]


@dataclass(frozen=True)
class PriceView:
    """A price as the template wants it."""

    target: str
    sentence: str
    options: str
    operations: tuple[str, ...]
    figure: PriceFigure
    rows: tuple[PriceRow, ...]


def consistency_section(results: Sequence[Results]) -> Markup | None:
    """None where no run sounded consistency."""
    several = [each for one in results for each in one.consistency]
    if not several:
        return None
    named, labels = len(results) > 1, Counter((each.run, each.label) for each in several)
    worth_opening = next(filter(_shows_something, several), None)
    text = (
        templates()
        .get_template("consistency.html.j2")
        .render(
            sites=[
                site_view(number, each, named, labels[each.run, each.label] > 1, each is worth_opening)
                for number, each in enumerate(several)
            ],
            prices=[price_view(price) for one in results for price in prices(one)],
            legend=LEGEND,
        )
    )
    return Markup(text)


def _shows_something(sounded: Sounded) -> bool:
    """A grid that is all blue needs no looking at."""
    return any(each.ending in COUNTED for each in sounded.windows)


def site_view(
    number: int, sounded: Sounded, named: bool = False, shared: bool = False, opened: bool = False
) -> SiteView:
    """One cell on one site; `named` with its run, `shared` with its experiment, where others have the same label."""
    patience_seconds = float(sounded.visibility.settings["patience_seconds"]) if sounded.visibility else 0.0
    label = f"{sounded.label}, {sounded.experiment}" if shared else sounded.label
    return SiteView(
        anchor=f"site-{number}",
        label=f"{sounded.run}: {label}" if named else label,
        control=bool(sounded.cell.get("control")),
        counts=tuple(_counts(sounded)),
        guarantees=_guarantees(sounded),
        promises=tuple(
            (f"{each.promise.name}: {each.verdict}", each in sounded.broken) for each in sounded.kept
        ),
        verdicts=tuple((promise_sentence(each), each in sounded.broken) for each in sounded.kept),
        sentence=site_sentence(sounded),
        kinds=tuple(ladder.KINDS.get(kind, kind) for kind in ladder.kinds_of(sounded)),
        rungs=tuple(ladder.rows(sounded)),
        load=f"{sounded.operations:,} operations of {wording.listed(ladder.letters(sounded))}.",
        undecided=tuple(ladder.undecided_words(sounded.ladder)),
        stories=tuple(ladder.stories(sounded)),
        delays=tuple(delay_figure(curve, sounded.delays) for curve in sounded.staleness if curve.stale),
        fresh=wording.listed(
            f"{curve.mechanism} (n {curve.samples})" for curve in sounded.staleness if not curve.stale
        ),
        columns=tuple(name for name in COLUMNS if any(column_of(each) == name for each in sounded.windows)),
        rows=tuple(matrix(sounded.windows, patience_seconds)),
        opened=opened,
    )


def _counts(sounded: Sounded) -> list[str]:
    if not sounded.windows:
        return [NONE] * 7
    endings = [each.ending for each in sounded.windows]
    late = [each.worst_ns for each in sounded.windows if each.ending is Ending.LATER and each.worst_ns]
    silent = endings.count(Ending.UNDECIDED) + endings.count(Ending.UNSUPPORTED)
    return [
        *(str(endings.count(ending)) for ending in COUNTED),
        wording.latency(max(late)) if late else NONE,
        str(endings.count(Ending.AT_ONCE)),
        str(silent),
        f"{sum(each.decided for each in sounded.windows):,}",
    ]


def _guarantees(sounded: Sounded) -> str:
    """ "7 of 41", of those that were exercised."""
    asked = [rung for rung in sounded.ladder if rung.verdict is not Verdict.NOT_EXERCISED]
    violated = sum(rung.verdict is Verdict.VIOLATED for rung in asked)
    return f"{violated} of {len(asked)}" if asked else NONE


def price_view(price: Price) -> PriceView:
    """A target's price."""
    return PriceView(
        target=price.target,
        sentence=price_sentence(price),
        options=wording.listed(price.options),
        operations=tuple(map(str, price.operations)),
        figure=price_figure(price),
        rows=tuple(_price_row(point, price.operations) for point in price.points),
    )


def _price_row(point: Point, operations: Sequence[Direction]) -> PriceRow:
    return PriceRow(
        label=point.label,
        stale=stale_words(point),
        change=point.stale_cell or NONE,
        lost=f"{point.lost} of {point.appends}" if point.appends else NONE,
        loses=point.loses,
        rates=tuple(_rate(point.rates[way]) for way in operations),
    )


def _rate(cell: CellResult) -> RateView:
    found, spoiled = cell.metrics["iops"], cell.spoiled("iops")
    doubts = wording.listed(dict.fromkeys(str(verdict.name) for verdict in spoiled))
    return RateView(f"{'○ ' if spoiled else ''}{wording.count(found.value)}", doubts)
