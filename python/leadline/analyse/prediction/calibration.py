"""Two probe cells of the target -> what the baselines could not know: a delay and a speed, or a speed and a further part.

The light probe tells the delay, the heavy one the speed. Where the light one is too fast for parts as slow as the heavy
one makes them, the target is not slower: a part that no baseline shows is used up. The light one is not the very
lightest cell, which may hold the start of its run; the heavy one lies half-way (in logarithms) from the onset of
queueing to the heaviest load, for some targets collapse at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.predictions import Calibration
from leadline.analyse.prediction.queueing import rounds_with
from leadline.analyse.prediction.stations import Correction, Network
from leadline.analyse.prediction.workload import Load, circulating, in_flight, parts_at_once, work_of

SPEEDS = 0.02, 50.0
"""That are tried."""
BESIDE = 0.02, 2.0
"""The same beside a further part: where both probes meet nothing but that part, any greater speed would do as well."""
MET = 0.1
"""A light probe this near is met: a cell of one run is not known any better, and less is no reason to think of a further part."""
_HALVINGS = 24


def choose_probes(forecaster: Forecaster, loads: Sequence[Load]) -> tuple[Load, Load] | None:
    """Two cells of one test to be measured first; None where all cells keep as many in flight."""
    cluster = forecaster.parts.cluster
    counts = sorted({in_flight(load, cluster) for load in loads})
    if len(counts) < 2:
        return None
    light = counts[1] if counts[0] < 2 <= counts[1] and len(counts) > 2 else counts[0]
    network, at_once = forecaster.network(loads[0]), parts_at_once(loads[0], cluster)
    onset = max(float(light), network.most_rounds * network.alone_seconds / at_once)
    middle = math.sqrt(onset * max(counts[-1], onset))
    heavy = min((count for count in counts if count > light), key=lambda count: abs(math.log(count / middle)))
    return _most_even(loads, light, forecaster), _most_even(loads, heavy, forecaster)


def calibrate(forecaster: Forecaster, probes: tuple[Load, Load], iops: tuple[float, float]) -> Calibration:
    """What makes the model give both probes, or come nearest to them."""
    light, heavy = (measured(forecaster, load, rate) for load, rate in zip(probes, iops, strict=True))
    return Calibration(fit(light, heavy), reached(heavy), probes)


@dataclass(frozen=True)
class Measured:
    """A probe as the model meets it: so many customers, on that network, made so many rounds a second."""

    network: Network
    customers: int
    rounds: float

    def rounds_by(self, correction: Correction) -> float:
        """What the corrected model gives at this load."""
        return rounds_with(self.network.corrected(correction), self.customers)


def measured(forecaster: Forecaster, load: Load, iops: float) -> Measured:
    """What a probe did, in rounds of its parts."""
    cluster = forecaster.parts.cluster
    rounds = iops * work_of(load, cluster).parts
    return Measured(forecaster.network(load), circulating(load, cluster), rounds)


def reached(heavy: Measured) -> float:
    """Throughput of the heavy probe, over what the baselines promise at its load."""
    return heavy.rounds / rounds_with(heavy.network, heavy.customers)


def fit(light: Measured, heavy: Measured) -> Correction:
    """A delay and a speed that give both probes; else what comes nearer to the light one: these, or a speed and a further part."""
    speed = _bisect(SPEEDS, lambda tried: heavy.rounds_by(_later(light, tried)) < heavy.rounds)
    found = _later(light, speed)
    if light.rounds_by(found) > (1 - MET) * light.rounds:
        return found
    longest = 0.0, 1.0 / heavy.rounds
    busier = _busier(
        light, _bisect(longest, lambda tried: heavy.rounds_by(_busier(light, tried)) > heavy.rounds)
    )
    return min(found, busier, key=lambda each: abs(light.rounds_by(each) / light.rounds - 1))


def _later(light: Measured, speed: float) -> Correction:
    """The delay by which the light probe is later than the network at this speed; never less than none."""
    longest = light.customers / light.rounds
    delay = _bisect((0.0, longest), lambda tried: light.rounds_by(Correction(tried, speed)) > light.rounds)
    return Correction(delay if delay > longest * 2.0 ** (1 - _HALVINGS) else 0.0, speed)


def _busier(light: Measured, further_seconds: float) -> Correction:
    """The speed that gives the light probe beside a further part of this service."""
    speed = _bisect(
        BESIDE, lambda tried: light.rounds_by(Correction(0.0, tried, further_seconds)) < light.rounds
    )
    return Correction(0.0, speed, further_seconds)


def _bisect(span: tuple[float, float], is_too_low: Callable[[float], bool]) -> float:
    """Where what is asked turns; speeds, which are never 0, are halved by factor."""
    low, high = span
    by_factor = low > 0
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high) if by_factor else (low + high) / 2
        low, high = (middle, high) if is_too_low(middle) else (low, middle)
    return math.sqrt(low * high) if by_factor else (low + high) / 2


def _most_even(loads: Sequence[Load], count: int, forecaster: Forecaster) -> Load:
    """Of the cells with as many in flight, the one with jobs and depth most alike; rather more jobs, which all engines keep."""
    cluster = forecaster.parts.cluster
    alike = [load for load in loads if in_flight(load, cluster) == count]
    if cluster.iodepth == "inert":
        return min(alike, key=lambda load: load.iodepth)
    return min(
        alike,
        key=lambda load: (abs(math.log(load.numjobs / load.iodepth)), -load.numjobs, load.iodepth),
    )
