"""A run's own predictions in sentences: what was foretold, what came, and what is no prediction at all."""

from __future__ import annotations

from collections.abc import Iterator

from leadline.analyse.prediction.beside import Beside, Foretelling
from leadline.analyse.wording import bandwidth, count, digits, listed, percent


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
    return f"; median error {percent(of_actual)} of actual, {percent(of_predicted)} of predicted"


def _too_late(made: Foretelling) -> str:
    return (
        f"What this run holds as a prediction of {made.cluster} was not stored before its cells were measured, so it is none and is "
        "not held against them"
    ) + "."
