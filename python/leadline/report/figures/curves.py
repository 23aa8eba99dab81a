"""Throughput against latency: one line a block size, engine, run ..., points by load, knee and limits marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from leadline.analyse.results import Curve, Results
from leadline.analyse.sites import shared_links
from leadline.analyse.wording import digits
from leadline.report import wording
from leadline.report.figures.figure import Axis, Chart, Knee, Limit, Line, metric_axis
from leadline.spec.settings import LOAD_AXES
from leadline.store.records import Scalar

DIMENSION_ORDER = ("run", "target", "block_size", "ioengine", "experiment")
"""What lines are preferably told apart by; other settings follow, a load axis comes last."""

TARGET = "target"
WORLDS_APART = 30.0
"""Beyond this ratio of the highest to the lowest peak, throughput is drawn on a logarithmic axis."""

USUAL_LATENCIES = ("p99", "mean", "p50", "p90", "p99.9")
"""What a chart opens with: the first of these that its cells have."""


def throughput_charts(results: Sequence[Results]) -> list[Chart]:
    """Every way to lay curves of one test over each other: lines by one dimension, all others held."""
    curves = [curve for one in results for curve in one.curves]
    metrics = {curve.test: curve.throughput_metric for curve in curves}
    limits = {
        test: test_limits(results, test) if metric == "bandwidth" else () for test, metric in metrics.items()
    }
    families: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        families.setdefault((curve.test, curve.axis), []).append(curve)
    return [
        chart(test, axis, by, held, members, limits[test])
        for (test, axis), family in families.items()
        for by, held, members in slices(family)
    ]


def slices(family: Sequence[Curve]) -> Iterator[tuple[str, str, list[Curve]]]:
    """(dimension that tells lines apart, what is held in words, the curves), for each dimension that varies."""
    varying = varying_dimensions(family)
    for by in varying or ["run"]:
        others = [name for name in varying if name != by]
        groups: dict[str, list[Curve]] = {}
        for curve in family:
            groups.setdefault(phrase(curve, others), []).append(curve)
        for held, members in groups.items():
            yield by, held, members


def varying_dimensions(family: Sequence[Curve]) -> list[str]:
    """The dimensions that tell these curves apart; the experiment only where nothing else does."""
    names = dict.fromkeys(["run", *(name for curve in family for name in curve.fixed)])
    varying = [name for name in names if len({dimension(curve, name) for curve in family}) > 1]
    varying = [name for name in varying if not is_part_of_target(family, name)]
    if len({tuple(dimension(curve, name) for name in varying) for curve in family}) < len(family):
        varying.append("experiment")
    return sorted(varying, key=preference)


def is_part_of_target(family: Sequence[Curve], name: str) -> bool:
    """Whether the target decides it (the engine that reaches it): lines of all targets then still share one chart."""
    if name in ("run", TARGET):
        return False
    found: dict[Scalar | None, set[Scalar | None]] = {}
    for curve in family:
        found.setdefault(dimension(curve, TARGET), set()).add(dimension(curve, name))
    return len(found) > 1 and all(len(values) == 1 for values in found.values())


def preference(name: str) -> tuple[int, int]:
    """Sort key by DIMENSION_ORDER; stable for the rest."""
    place = DIMENSION_ORDER.index(name) if name in DIMENSION_ORDER else len(DIMENSION_ORDER)
    return (int(name in LOAD_AXES), place)


def dimension(curve: Curve, name: str) -> Scalar | None:
    """A curve's value in a dimension."""
    if name == "run":
        return curve.run
    return curve.experiment if name == "experiment" else curve.fixed.get(name)


def phrase(curve: Curve, names: Iterable[str]) -> str:
    """These dimensions of a curve in words, e.g. "io_uring, 4 jobs"."""
    return ", ".join(word(name, dimension(curve, name)) for name in names)


def word(name: str, value: Scalar | None) -> str:
    """One dimension in words."""
    if value is None:
        return f"{wording.setting_label(name)} not set"
    return str(value) if name in ("run", "experiment") else wording.setting_phrase(name, value)


def chart(test: str, axis: str, by: str, held: str, curves: list[Curve], limits: tuple[Limit, ...]) -> Chart:
    """One chart; lines in the order of the dimension's values, so that colours keep their meaning."""
    ordered = curves if by == "run" else sorted(curves, key=lambda curve: sort_key(dimension(curve, by)))
    cells = [cell for curve in curves for cell in curve.cells]
    return Chart(
        kind="throughput against latency",
        keys={"test": test, "points": wording.setting_label(axis), "lines": lines_by(by), "at": held},
        x=metric_axis(usual_latency(curves), logarithmic=True),
        y=metric_axis(curves[0].throughput_metric, are_worlds_apart(curves), cells),
        lines=tuple(
            line(curve, word(by, dimension(curve, by)), style) for style, curve in enumerate(ordered)
        ),
        limits=limits,
    )


def are_worlds_apart(curves: Sequence[Curve]) -> bool:
    """Whether on an axis from zero the lowest line would be one with the axis: memory beside a network."""
    peaks = [
        max((cell.rate.value for cell in curve.cells if cell.rate is not None), default=0) for curve in curves
    ]
    lowest = min((peak for peak in peaks if peak > 0), default=0)
    return lowest > 0 and max(peaks) > WORLDS_APART * lowest


def usual_latency(curves: Sequence[Curve]) -> str:
    """The latency that a chart of these curves opens with."""
    present = {metric for curve in curves for cell in curve.cells for metric in cell.metrics}
    return next((metric for metric in USUAL_LATENCIES if metric in present), USUAL_LATENCIES[0])


def lines_by(name: str) -> str:
    """A menu entry for what tells lines apart."""
    return f"by {name}" if name in ("run", "experiment") else f"by {wording.setting_label(name)}"


def sort_key(value: Scalar | None) -> tuple[bool, float, str]:
    """Numbers by size, words by alphabet, nothing first."""
    number = float(value) if isinstance(value, (int, float)) else 0.0
    return (isinstance(value, str), number, str(value))


def line(curve: Curve, label: str, style: int) -> Line:
    """A curve as a line of a chart."""
    return Line(label, style, curve.cells, curve.loads, knee(curve))


def knee(curve: Curve) -> Knee | None:
    """The star of a curve, or None where the analysis found no knee."""
    found = curve.saturation
    if not found or found.knee_load is None:
        return None
    beyond = [place for place, load in enumerate(curve.loads) if load >= found.knee_load]
    onset = f"queueing begins at {digits(found.onset_load)}, " if found.onset_load else ""
    words = f"{onset}90 % of the peak is reached at {curve.axis} {digits(found.knee_load)}"
    if found.censored:
        words += "; the peak may lie beyond what was measured"
    if found.collapse_load is not None:
        words += f"; it collapses at {digits(found.collapse_load)}"
    if found.doubtful:
        words += "; doubtful: it rests on points that are not valid"
    return Knee(beyond[0], words, found.doubtful) if beyond else None


def test_limits(results: Sequence[Results], test: str) -> tuple[Limit, ...]:
    """Limits that throughput of this test cannot pass, each once."""
    found: dict[tuple[str, float], None] = {}
    for one in results:
        links = shared_links(one.sites, one.cells)
        if links is not None:
            found[links] = None
        for name in (test, "network"):
            if name in one.reference.limits:
                found[(f"nominal limit, {name}", one.reference.limits[name])] = None
        if one.reference.memory_copy_bytes_per_second:
            found[("memory copy", one.reference.memory_copy_bytes_per_second)] = None
    return tuple(Limit(label, value) for label, value in found)


def load_axis(curve: Curve) -> Axis:
    """The axis along which a curve runs: concurrency doubles, so it is logarithmic."""
    return Axis("load", wording.setting_label(curve.axis), None, logarithmic=True)
