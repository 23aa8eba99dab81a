"""Two probe cells of the target -> what the baselines could not know: a further delay, and the speed of its parts.

The light probe tells the delay, the heavy one the speed. The light one is not the very lightest cell, which may hold
the start of its run; the heavy one lies half-way (in logarithms) from the onset of queueing to the heaviest load, for
some targets collapse at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.predictions import Calibration
from leadline.analyse.prediction.queueing import rounds_per_second, rounds_with
from leadline.analyse.prediction.stations import Network
from leadline.analyse.prediction.workload import Load, in_flight, work_of

SLOWEST, FASTEST = 0.02, 50.0
"""Speeds that are tried."""
_HALVINGS = 24


def choose_probes(forecaster: Forecaster, loads: Sequence[Load]) -> tuple[Load, Load] | None:
    """Two cells of one test to be measured first; None where all cells keep as many in flight."""
    cluster = forecaster.parts.cluster
    counts = sorted({in_flight(load, cluster) for load in loads})
    if len(counts) < 2:
        return None
    light = counts[1] if counts[0] < 2 <= counts[1] and len(counts) > 2 else counts[0]
    network, parts = forecaster.network(loads[0]), work_of(loads[0], cluster).parts
    onset = max(float(light), network.most_rounds * network.alone_seconds / parts)
    middle = math.sqrt(onset * max(counts[-1], onset))
    heavy = min((count for count in counts if count > light), key=lambda count: abs(math.log(count / middle)))
    return _most_even(loads, light, forecaster), _most_even(loads, heavy, forecaster)


def calibrate(forecaster: Forecaster, probes: tuple[Load, Load], iops: tuple[float, float]) -> Calibration:
    """The delay and speed at which the model gives both probes, or comes nearest to them."""
    cluster, (light, heavy) = forecaster.parts.cluster, probes
    parts = work_of(light, cluster).parts, work_of(heavy, cluster).parts
    customers = in_flight(light, cluster) * parts[0], in_flight(heavy, cluster) * parts[1]
    wanted = iops[0] * parts[0], iops[1] * parts[1]
    low, high = math.log(SLOWEST), math.log(FASTEST)
    delay = 0.0
    for _ in range(_HALVINGS):
        speed = math.exp((low + high) / 2)
        delay = _delay(forecaster.network(light), customers[0], wanted[0], speed)
        found = rounds_with(forecaster.network(heavy).slowed(delay, speed), customers[1])
        low, high = ((low + high) / 2, high) if found < wanted[1] else (low, (low + high) / 2)
    return Calibration(delay, math.exp((low + high) / 2), probes)


def _delay(network: Network, customers: int, wanted: float, speed: float) -> float:
    """Seconds by which the light probe is later than the network at this speed; never less than none."""
    low, high = 0.0, customers / wanted
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = rounds_per_second(network.slowed(middle, speed), customers)[-1]
        low, high = (middle, high) if found > wanted else (low, middle)
    return (low + high) / 2 if high > customers / wanted * 2.0**-_HALVINGS else 0.0


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
