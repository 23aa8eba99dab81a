"""What a reader of a prediction must know of it: what was assumed, and where the baselines themselves waver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from leadline.analyse.prediction.paths import Parts, round_trip_seconds
from leadline.analyse.prediction.predictions import Calibration, PredictedCell
from leadline.analyse.prediction.workload import work_of
from leadline.analyse.wording import percent
from leadline.spec.units import format_size

WAVERING = 0.25
"""Baselines that differ by more at equal load limit every prediction from them."""

COLLAPSED = 1 / 3
"""A target that gives less of what its parts promise breaks down at the probe's load."""
NOT_MET = 0.05
"""A model that is further from its own probes than this is not calibrated on them."""
TOO_LATE = "What this run holds as calibrated on two probes was not stored before its cells were measured, so it is none."


def notes_on_calibrations(calibrations: Mapping[tuple[str, int], Calibration]) -> Iterator[str]:
    """Where two probes are better not believed."""
    for (test, block), calibration in calibrations.items():
        yield from notes_on_probes(f"{test} {format_size(block)}", calibration.reached)


def notes_on_probes(test: str, reached: float, off: float = 0.0) -> Iterator[str]:
    """The same of one test; `off` is how far the calibrated model is from the further of its probes."""
    if reached < COLLAPSED:
        yield (
            f"The heavy probe of {test} is far below what any part allows: the target may collapse "
            "there, and what is calibrated on it is too low."
        )
    if off > NOT_MET:
        yield (
            f"Neither a delay nor a speed nor a further part gives both probes of {test}: the calibrated model is "
            f"{percent(off)} off at one of them, and can be no surer elsewhere."
        )


def notes_on(parts: Parts, cells: Sequence[PredictedCell]) -> Iterator[str]:
    """One sentence each."""
    baselines = parts.baselines
    if baselines.left_out:
        yield f"{baselines.left_out} cells of the disk baseline are left out: their verdicts say that they did not measure the disk."
    if not baselines.network.bandwidths:
        yield "No network baseline: the NICs are taken at what frames of 1,500 bytes leave of their stated bandwidth, 94 %."
    if round_trip_seconds(parts) is None:
        yield "No round trip is known, so none is counted; small requests will be slower than predicted."
    used = {(cell.load.test, work_of(cell.load, parts.cluster).disk_bytes) for cell in cells}
    for (test, block), curve in sorted(baselines.disks.items()):
        if curve.spread > WAVERING and (test, block) in used:
            yield (
                f"The disk baseline wavers: cells of {test} {format_size(block)} with as many requests in flight differ by "
                f"{percent(curve.spread)} in the median, so no prediction of that test can be surer."
            )
