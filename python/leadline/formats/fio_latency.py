"""slat, clat and lat of one direction of a fio job -> Latency, whatever the version and whatever is left out.

Part of reading fio's results (fio_json.py). fio 3 writes ns, fio 2 us; which of the three carry percentiles
and bins depends on slat_percentiles, clat_percentiles (the default) and lat_percentiles.
"""

from __future__ import annotations

from leadline.formats.fields import LARGEST_INTEGER, Fields, FormatError, shown
from leadline.formats.percentiles import fraction_name
from leadline.store.histogram import Histogram
from leadline.store.records import Latency


def latency(part: Fields, kind: str, operations: int, warnings: list[str]) -> Latency | None:
    """slat, clat or lat; None when fio did not measure it. `lat_ns` is ns, `lat` (fio 2) is us."""
    unit_ns = 1 if part.has(f"{kind}_ns") else 1000
    fields = part.section(f"{kind}_ns" if unit_ns == 1 else kind)
    mean_ns = fields.number("mean", 0) * unit_ns
    count = fields.integer("N") if fields.has("N") else operations * (mean_ns > 0)
    if not count:
        return None  # then min is 0 or 2^64 - 1, depending on the version: it means nothing
    return Latency(
        count=count,
        mean_ns=mean_ns,
        min_ns=fields.number("min") * unit_ns if fields.has("min") else None,
        max_ns=fields.number("max") * unit_ns if fields.has("max") else None,
        standard_deviation_ns=fields.number("stddev") * unit_ns if fields.has("stddev") else None,
        histogram=_histogram(fields, unit_ns, warnings),
        stated_percentiles_ns=_percentiles(fields.section("percentile"), unit_ns),
    )


def _histogram(fields: Fields, unit_ns: int, warnings: list[str]) -> Histogram | None:
    """The bins of json+: {ns: count}. Those of fio 2 are keyed by index, beside the constants of its grid."""
    bins = fields.section("bins")
    if not bins.values:
        return None
    if unit_ns != 1:
        warnings.append(f"{bins.path} is written in the manner of fio 2 (by index): not read")
        return None
    counts = {_whole_number(key, bins): bins.integer(key) for key in bins.values}
    if sum(counts.values()) > LARGEST_INTEGER:
        raise FormatError(f"{bins.path} holds more samples than can be stored")
    return Histogram.from_bins(counts) if any(counts.values()) else None


def _whole_number(key: str, bins: Fields) -> int:
    if not (key.isascii() and key.isdigit() and len(key) < 19):
        raise FormatError(f"{bins.path} has a bin {shown(key)}, but bins are whole nanoseconds")
    return int(key)


def _percentiles(stated: Fields, unit_ns: int) -> dict[str, float]:
    """{"99.000000": ns} -> {"0.99": ns}; fio 2 fills unused places with "0.00"."""
    percentiles: dict[str, float] = {}
    for key in stated.values:
        try:
            percent = float(key)
        except ValueError:
            raise FormatError(f"{stated.path} has {shown(key)}, but percentiles are numbers") from None
        if 0 < percent <= 100:
            percentiles[fraction_name(percent)] = stated.number(key) * unit_ns
    return percentiles


def total_latency(
    part: Fields, operations: int, submission: Latency | None, completion: Latency | None, warnings: list[str]
) -> Latency:
    """lat, as the application waits for it; where fio left out it or its bins, what may honestly stand in.

    Without submission time the completion latency is the total but for some tens of ns; with it, the
    distribution of a sum does not follow from its parts, only the mean does.
    """
    total = latency(part, "lat", operations, warnings)
    if total is not None and total.histogram is not None:
        return total
    if completion is None:
        return total or Latency(count=0, mean_ns=0.0)
    if submission is None or submission.mean_ns == 0:
        return _completion_as_total(part, total, completion, warnings)
    if total is not None:
        if completion.stated_percentiles_ns and not total.stated_percentiles_ns:
            warnings.append(
                f"{part.path}: only clat has percentiles (lat_percentiles=1 was not set); they leave out slat"
            )
        return total
    warnings.append(f"{part.path} has no total latency: its mean is the sum of slat and clat")
    return Latency(completion.count, submission.mean_ns + completion.mean_ns)


def _completion_as_total(
    part: Fields, total: Latency | None, completion: Latency, warnings: list[str]
) -> Latency:
    """clat's distribution under lat's own count, mean and extremes."""
    if completion.histogram is not None:
        warnings.append(f"{part.path}: the bins of clat stand for those of lat, which has none")
    if total is None:
        return completion
    return Latency(
        total.count,
        total.mean_ns,
        total.min_ns,
        total.max_ns,
        total.standard_deviation_ns,
        completion.histogram,
        total.stated_percentiles_ns or completion.stated_percentiles_ns,
    )
