"""What clients saw of each other in sentences: the answer to "Is it right?", and what consistency costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from leadline.analyse import wording
from leadline.analyse.conformance_words import RIGHT
from leadline.analyse.consistency import Sounded
from leadline.analyse.ladder import Rung, Verdict
from leadline.analyse.price import Point, Price, prices
from leadline.analyse.promises import Kept
from leadline.analyse.results import Answer, Results
from leadline.store.visibility import Ending

DIFFERENCE = "Where does the difference go?"
FINE, LATE, LOST, SILENT = "everything seen at once", "seen late or never", "lost for good", "nothing decided"
SEVERITY = (FINE, SILENT, LATE, LOST)


def consistency_in_words(results: Results) -> tuple[Answer, ...]:
    """All sites in one sentence, then each, those that break a promise first; at last what consistency costs."""
    several = results.consistency
    if not several:
        return ()
    ordered = sorted(several, key=lambda each: (not each.broken, -SEVERITY.index(_worst(each))))
    overview = [Answer(RIGHT, overview_sentence(several))] if len(several) > 1 else []
    return (
        *overview,
        *(Answer(RIGHT, site_sentence(each)) for each in ordered),
        *(Answer(DIFFERENCE, price_sentence(each)) for each in prices(results)),
    )


def overview_sentence(several: Sequence[Sounded]) -> str:
    """ "Between clients: all seen at once on ext4; late on moosefs (worst 1.01 s); lost for good on juicefs (2 of 44 changes); ..."."""
    said = []
    for kind in SEVERITY:
        members = [each for each in several if _worst(each) == kind]
        if members:
            said.append(f"{kind} on {wording.listed(f'{each.label}{_beside(each)}' for each in members)}")
    broken = [
        f"{each.label} breaks {wording.listed(one.promise.name for one in each.broken)}"
        for each in several
        if each.broken
    ]
    return f"Between clients: {'; '.join([*said, *broken])}."


def _worst(sounded: Sounded) -> str:
    endings = {each.ending for each in sounded.windows}
    violated = any(rung.verdict is Verdict.VIOLATED for rung in sounded.ladder)
    if Ending.LOST in endings or any(map(_loses, sounded.ladder)):
        return LOST
    if {Ending.NEVER, Ending.LATER} & endings or violated:
        return LATE
    return FINE if sounded.ladder or {Ending.AT_ONCE} & endings else SILENT


def _loses(rung: Rung) -> bool:
    return rung.guarantee == "no_lost_write" and rung.verdict is Verdict.VIOLATED


def _beside(sounded: Sounded) -> str:
    """What a reader asks next: how late, how many, of how many."""
    lost = sum(each.ending is Ending.LOST for each in sounded.windows)
    late = [each.worst_ns for each in sounded.windows if each.ending is Ending.LATER and each.worst_ns]
    words = [f"{lost} of {len(sounded.windows)} kinds of change"] if lost else []
    gone = sum(rung.violating for rung in sounded.ladder if _loses(rung))
    words += [f"{gone} times in histories"] if gone else []
    words += [f"worst {wording.latency(max(late))}"] if late else []
    return f" ({', '.join(words)})" if words else ""


def site_sentence(sounded: Sounded) -> str:
    """ "juicefs: of 44 kinds of change 2 lost for good ... (n 132); 7 of 41 guarantees ... were violated; it breaks close-to-open."."""
    parts = [*_grid_words(sounded), *_ladder_words(sounded), *_promise_words(sounded.kept)]
    return f"{sounded.label}: {'; '.join(parts) or 'nothing was decided'}."


def _grid_words(sounded: Sounded) -> Iterable[str]:
    if not sounded.windows:
        return
    count = {ending: sum(each.ending is ending for each in sounded.windows) for ending in Ending}
    late = [each.worst_ns for each in sounded.windows if each.ending is Ending.LATER and each.worst_ns]
    said = [
        (count[Ending.LOST], "lost for good"),
        (count[Ending.NEVER], "never seen"),
        (count[Ending.LATER], f"seen late (worst {wording.latency(max(late))})" if late else ""),
        (count[Ending.AT_ONCE], "seen at once"),
        (count[Ending.UNDECIDED], "undecided"),
        (count[Ending.UNSUPPORTED], "not offered"),
    ]
    n = sum(each.decided for each in sounded.windows)
    words = wording.listed(f"{times} {how}" for times, how in said if times)
    yield f"of {len(sounded.windows)} kinds of change {words} (n {n:,})"


def _ladder_words(sounded: Sounded) -> Iterable[str]:
    if not sounded.ladder:
        return
    violated = [rung for rung in sounded.ladder if rung.verdict is Verdict.VIOLATED]
    asked = [rung for rung in sounded.ladder if rung.verdict is not Verdict.NOT_EXERCISED]
    of = f"{len(asked)} guarantees that {sounded.operations:,} free-running operations could break"
    undecided = sum(rung.verdict is Verdict.UNDECIDED for rung in asked)
    open_ones = f", {undecided} undecided" if undecided else ""
    yield (
        f"{len(violated)} of {of} were violated{open_ones}"
        if violated
        else f"none of {of} was violated{open_ones}"
    )


def _promise_words(several: Sequence[Kept]) -> Iterable[str]:
    for verdict, words in (
        (Verdict.VIOLATED, "it breaks its promise"),
        (Verdict.HELD, "it kept its promise"),
        (Verdict.UNDECIDED, "undecided is its promise"),
        (Verdict.NOT_EXERCISED, "not exercised was its promise"),
    ):
        names = [each.promise.name for each in several if each.verdict is verdict]
        if names:
            yield f"{words} {wording.listed(names)}"


def price_sentence(price: Price) -> str:
    """ "juicefs: attr-cache of 1 s buy 3.2 times the rate of file stat ... and cost 1.01 s of staleness and 6 of 6 appends by turns."."""
    least, enough, operation = price.points[0], price.enough, price.dearest
    if enough is least:
        return (
            f"{price.target}: no operation gains more than a tenth from {wording.listed(price.options)}; "
            f"the least stale point ({least.label}, {stale_words(least)}) costs nothing."
        )
    here, before = enough.rate(operation) or 0.0, least.rate(operation) or 1.0
    doubt = "" if _valid(price, enough) and _valid(price, least) else ", from rates that are not both valid"
    return (
        f"{price.target}: {wording.listed(price.options)} of {enough.label} buy {wording.digits(here / before)} times the rate of "
        f"{operation} at {least.label} ({wording.operations(here)} against {wording.operations(before)}{doubt}) and cost "
        f"{stale_words(enough)} of staleness{_lost_words(enough)}; at {least.label} it is {stale_words(least)}{_lost_words(least)}."
    )


def stale_words(point: Point) -> str:
    """ "1.01 s"; "more than 5 s" where the patience ended before; "0" where everything was seen at once."""
    if math.isinf(point.stale_ns):
        return f"more than {point.patience_seconds:g} s"
    return wording.latency(point.stale_ns) if point.stale_ns else "none"


def _lost_words(point: Point) -> str:
    return f" and {point.lost} of {point.appends} appends by turns" if point.lost else ""


def _valid(price: Price, point: Point) -> bool:
    return point.rates[price.dearest].valid("iops")
