"""A run's own predictions in sentences: what was foretold, what came, and what is no prediction at all."""

from __future__ import annotations

from collections.abc import Iterator

from leadline.analyse.prediction.beside import PROBED, Beside, Foretelling
from leadline.analyse.prediction.probing import LOAD_AXES, beside_load
from leadline.analyse.wording import bandwidth, count, digits, latency, listed, percent, settings
from leadline.store.prediction import ProbedTest

RIVALS = ("napkin", "bounds")


def predictions_in_words(predictions: tuple[Foretelling, ...]) -> Iterator[str]:
    """One sentence a cluster."""
    for each in predictions:
        yield _sentence(each) if each.is_before else _too_late(each)


def _sentence(made: Foretelling) -> str:
    best = [_best(made, test) for test in dict.fromkeys(str(each.foretold.cell["rw"]) for each in made.cells)]
    cells = "1 cell" if len(made.cells) == 1 else f"{count(len(made.cells))} cells"
    return (
        f"Predicted before it was measured ({made.cluster}, {cells}, from {listed(made.baselines)}): {listed(best)}"
        f"{_errors(made)}."
    )


def _best(made: Foretelling, test: str) -> str:
    """Of the cell that was foretold to do most."""
    own = [each for each in made.cells if each.foretold.cell["rw"] == test]
    most = max(own, key=lambda each: each.predicted_bytes_per_second)
    return f"{test} up to {bandwidth(most.predicted_bytes_per_second)}, bound by {most.foretold.binding}{_came(most)}"


def _came(each: Beside) -> str:
    if each.actual_iops is None or each.over_actual is None:
        return " (not measured)"
    actual = each.actual_iops * each.foretold.block_size
    return f" (measured {bandwidth(actual)}, {digits(1 / each.over_actual)} of it)"


def _errors(made: Foretelling) -> str:
    of_actual, of_predicted = made.median_error(), made.median_error("predicted")
    if of_actual is None or of_predicted is None:
        return ""
    return (
        f"; median error {percent(of_actual)} of actual, {percent(of_predicted)} of predicted"
        f"{_rivals(made)}{_with_probes(made)}"
    )


def _rivals(made: Foretelling) -> str:
    """The simpler forms on the same cells."""
    known = [(model, made.median_error(model=model)) for model in RIVALS]
    words = [f"{model} {percent(error)}" for model, error in known if error is not None]
    return f" ({', '.join(words)} of actual)" if words else ""


def _with_probes(made: Foretelling) -> str:
    """On the cells that it foretold, beside what was known of the same cells without probes."""
    of_actual, of_predicted = (made.median_error(of, PROBED) for of in ("actual", "predicted"))
    before = made.median_error(where=PROBED)
    if of_actual is None or of_predicted is None or before is None:
        return ""
    cells = "the 1 cell" if made.probed == 1 else f"the {count(made.probed)} cells"
    return (
        f"; with two probes {percent(of_actual)} of actual, {percent(of_predicted)} of predicted, on {cells} that are no "
        f"probes ({percent(before)} of actual without them)"
    )


def probes_in_words(made: Foretelling) -> list[str]:
    """What the probes of each test told, and what to know of it."""
    return [*made.probe_notes, *map(told_by_probes, made.tests)]


def told_by_probes(test: ProbedTest) -> str:
    """What was found for one test, and where it is from."""
    apart = [name for name in LOAD_AXES if test.light.get(name) != test.heavy.get(name)]
    light, heavy = (settings(cell, {"iodepth", "numjobs", *apart}) for cell in (test.light, test.heavy))
    delay = f"{latency(test.delay_seconds * 1e9)} further" if test.delay_seconds else "no further"
    return (
        f"Calibrated on two probes, {test.light['rw']}, {settings(beside_load(test.light))}, at {light} and at {heavy}: "
        f"{delay} delay, parts at {digits(test.speed)} of their baselines{further_part(test.further_seconds)}."
    )


def further_part(seconds: float) -> str:
    """Empty where there is none."""
    return f", and a further part that passes {count(1 / seconds)} requests a second" if seconds else ""


def _too_late(made: Foretelling) -> str:
    return (
        f"What this run holds as a prediction of {made.cluster} was not stored before its cells were measured, so it is none and is "
        "not held against them"
    ) + "."
