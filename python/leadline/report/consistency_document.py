"""Consistency as JSON: each site with its counts, promises, guarantees and delays; and the price."""

from __future__ import annotations

import math
from typing import Any

from leadline.analyse.consistency import Sounded
from leadline.analyse.ladder import Rung
from leadline.analyse.price import Point, Price
from leadline.analyse.promises import Kept
from leadline.analyse.staleness import Staleness, Timeout
from leadline.analyse.visibility import CellWindow


def sounded_entry(sounded: Sounded) -> dict[str, Any]:
    """One cell on one site."""
    return {
        "label": sounded.label,
        "experiment": sounded.experiment,
        "settings": dict(sounded.cell),
        "target": sounded.target,
        "options": dict(sounded.options),
        "repeats": sounded.repeats,
        "promises": [_promise(each) for each in sounded.kept],
        "grid": [_window(each) for each in sounded.windows],
        "operations": sounded.operations,
        "guarantees": [_rung(each, sounded) for each in sounded.ladder],
        "delays": [_delay(each) for each in sounded.staleness],
    }


def _promise(kept: Kept) -> dict[str, Any]:
    return {
        "promise": kept.promise.name,
        "verdict": str(kept.verdict),
        "trials": kept.decided,
        "checks": kept.checked,
        "broken_cells": [str(each.cell) for each in kept.broken],
        "broken_guarantees": [f"{each.guarantee} of {each.kind}" for each in kept.broken_rungs],
    }


def _window(found: CellWindow) -> dict[str, Any]:
    return {
        "cell": str(found.cell),
        "ending": str(found.ending),
        "trials": {str(ending): times for ending, times in found.endings.items()},
        "median_ns": _finite(found.median_ns),
        "worst_ns": _finite(found.worst_ns),
        "never_true": dict(found.never_true),
    }


def _rung(rung: Rung, sounded: Sounded) -> dict[str, Any]:
    return {
        "kind": rung.kind,
        "guarantee": rung.guarantee,
        "verdict": str(rung.verdict),
        "promised": sounded.is_promised(rung),
        "checked": rung.checked,
        "violating": rung.violating,
        "unit": rung.unit,
        "upper_bound": rung.upper_bound,
        "objects": rung.objects,
        "objects_violating": rung.objects_violating,
        "objects_undecided": rung.objects_undecided,
        "anomalies": dict(rung.anomalies),
        "least_delay_ns": rung.least_delay_ns,
        "witness": rung.witness["sentence"] if rung.witness else None,
    }


def _delay(curve: Staleness) -> dict[str, Any]:
    return {
        "mechanism": curve.mechanism,
        "samples": curve.samples,
        "stale": curve.stale,
        "knee": _timeout(curve.knee),
        "foot": _timeout(curve.foot),
        "cache_time": _timeout(curve.cache_time),
    }


def _timeout(found: Timeout | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {"seconds": found.seconds, "low_seconds": found.low_seconds, "high_seconds": found.high_seconds}


def price_entry(price: Price) -> dict[str, Any]:
    """A target under several sets of options."""
    return {
        "target": price.target,
        "options": list(price.options),
        "points": [_point(each, price) for each in price.points],
    }


def _point(point: Point, price: Price) -> dict[str, Any]:
    return {
        "label": point.label,
        "cache_seconds": point.cache_seconds,
        "stale_ns": _finite(point.stale_ns),
        "stale_cell": point.stale_cell,
        "appends_lost": point.lost,
        "appends": point.appends,
        "rates_per_second": {str(way): point.rate(way) for way in price.operations},
        "valid": {str(way): point.rates[way].valid("iops") for way in price.operations},
    }


def _finite(value: float | None) -> float | None:
    """Endless, as what is never seen, has no number in JSON."""
    return None if value is None or math.isinf(value) else value
