"""How far were predictions off on filesystems that the model was not made on? A run of campaigns/prediction_accuracy.toml, all models.

    leadline run prediction_accuracy --output RUN           (root; about 10 minutes; leave the machine alone meanwhile)
    .venv/bin/python benchmarks/prediction_accuracy.py RUN          prints Markdown; --record writes docs/results/

Nothing is measured here, and only what was stored before its cells were measured is counted.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median

from measuring import Claim, conclude

from leadline.analyse.analysis import analyse
from leadline.analyse.bottleneck import Bound, named_by_counters, named_by_model
from leadline.analyse.prediction.beside import MODEL, PROBED, Beside
from leadline.analyse.results import CellResult, Results
from leadline.analyse.wording import percent
from leadline.spec.units import format_size
from leadline.store.records import StepRecord
from leadline.store.run_folder import RunFolder

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "prediction_accuracy.md"
MODELS = {"napkin": "napkin", "bounds": "bounds", MODEL: "queueing", PROBED: "two probes"}
READS_AT_MOST, HALF = 0.25, 0.5
PROBED_AT_MOST = {"reads": 0.10, "writes": 0.15}
DISK = "disk.loop"
"""Every disk of the lab is a loop device."""


@dataclass(frozen=True)
class Told:
    """One cell that was predicted and measured."""

    system: str
    beside: Beside
    cell: CellResult
    disk_share: float | None
    """Bytes that reached the disks over those of the application; None where no disk was counted."""
    by_model: Bound
    by_counters: Bound | None
    """None where nothing was counted."""

    @property
    def way(self) -> str:
        return "writes" if "write" in self.cell.test else "reads"

    def ratio(self, model: str, metric: str) -> float | None:
        """Predicted over actual; None where the model foretold nothing, as of probes."""
        if metric == "throughput":
            return self.beside.over_actual_by(model)
        mean, actual = self.beside.foretold.mean_ns.get(model), self.beside.actual_mean_ns
        return mean / actual if mean is not None and actual else None


def main() -> int:
    arguments = _parser().parse_args()
    folder = RunFolder.open(arguments.run)
    try:
        records = folder.records()
        results = analyse(records, folder.manifest, folder.environment, "")
    finally:
        folder.close()
    told = list(_told(results, {record.ordinal: record for record in records}))
    claims = list(_claims(told))
    parts = (_by_system(told), _by_test(told), _named(told), _disks(told), _failures(results))
    page = [*_head(results, told, arguments.note), *_aims(claims), *chain.from_iterable(parts)]
    text = "\n".join(page) + "\n"
    print(text)
    if arguments.record:
        RESULTS.write_text(text, encoding="utf-8")
    return conclude("prediction accuracy", claims)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="a run of campaigns/prediction_accuracy.toml")
    parser.add_argument("--note", default="", help="what has to be known of the run")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name}")
    return parser


def _told(results: Results, records: Mapping[int, StepRecord]) -> Iterator[Told]:
    for made in results.predictions:
        for each in made.cells if made.is_before else ():
            if each.actual is not None and each.actual_iops:
                named = named_by_counters(each.actual, results)
                by_model = named_by_model(each.foretold.binding)
                share = _disk_share(each.actual, records)
                yield Told(made.cluster, each, each.actual, share, by_model, named.bound if named else None)


def _disk_share(cell: CellResult, records: Mapping[int, StepRecord]) -> float | None:
    """Over the whole step, ramp included, as the counters of the disks are."""
    record = records[cell.ordinals[0]]
    way = "write" if "write" in cell.test else "read"
    moved = sum(
        value
        for name, value in record.totals.items()
        if name.startswith(DISK) and name.endswith(f".{way}_bytes")
    )
    seconds = float(record.cell.get("ramp", 0.0)) + float(record.cell["runtime"])
    bandwidth = cell.metrics.get("bandwidth")
    return moved / (bandwidth.value * seconds) if bandwidth and bandwidth.value else None


def _error(told: Sequence[Told], model: str, metric: str = "throughput", of: str = "actual") -> float | None:
    """Median of |predicted / actual - 1|, or of |actual / predicted - 1|."""
    ratios = [ratio for each in told if (ratio := each.ratio(model, metric)) is not None]
    errors = [abs(ratio - 1) if of == "actual" else abs(1 / ratio - 1) for ratio in ratios]
    return median(errors) if errors else None


def _claims(told: Sequence[Told]) -> Iterator[Claim]:
    for way in ("reads", "writes"):
        own = [each for each in told if each.way == way]
        plain, bounds, probed = (_error(own, model) for model in (MODEL, "bounds", PROBED))
        if way == "reads":
            yield _claim(
                f"reads, no constant: median error <= {percent(READS_AT_MOST)}", plain, READS_AT_MOST
            )
        yield _claim(
            f"{way}, two probes: median error <= {percent(PROBED_AT_MOST[way])}", probed, PROBED_AT_MOST[way]
        )
        half = None if bounds is None else HALF * bounds
        yield _claim(f"{way}, no constant: at most half the error of the bounds", plain, half)
        for system in _systems(own):
            yield from _half_the_bounds(system, way, [each for each in own if each.system == system])
    yield from _share_agreed(told)


def _half_the_bounds(system: str, way: str, own: Sequence[Told]) -> Iterator[Claim]:
    bounds = _error(own, "bounds")
    half = None if bounds is None else HALF * bounds
    yield _claim(
        f"{way} of {system}, no constant: at most half the error of the bounds", _error(own, MODEL), half
    )


def _claim(sentence: str, found: float | None, bound: float | None) -> Claim:
    if found is None or bound is None:
        return Claim(sentence, "nothing to judge by", None)
    return Claim(sentence, f"{_shown(found)}, bound {_shown(bound)}", found <= bound)


def _share_agreed(told: Sequence[Told]) -> Iterator[Claim]:
    judged = [each.by_model is each.by_counters for each in told if each.by_counters is not None]
    if judged:
        share = sum(judged) / len(judged)
        yield Claim(
            "model, beforehand, and counters name the same part in >= 90 % of the cells",
            f"{percent(share)} of {len(judged)}",
            share >= 0.9,
        )


def _head(results: Results, told: Sequence[Told], note: str) -> Iterator[str]:
    probes = sum(each.beside.is_probe for each in told)
    yield "# How far off the model was on filesystems of the lab"
    yield ""
    yield "<!-- Written by `benchmarks/prediction_accuracy.py RUN --record`. -->"
    yield ""
    yield f"`leadline run prediction_accuracy`, {results.manifest.created_utc}: {len(told)} cells of {', '.join(_systems(told))},"
    yield "predicted from one slow disk and their [cluster] tables, and stored before they were measured; with two probes when these had"
    yield f"been measured, before the rest ({probes} probes in all). One run a cell. The tables were written from documents before the"
    yield "first run, but for GlusterFS's `writes_to_a_file`. Everything is on one machine of two cores (docs/guide/lab.md): a request"
    yield "holds one of three channels of its disk for 4 ms and its bytes at 10 MiB/s, cables carry 1 Gb/s or 100 Mb/s, so that the"
    yield "cores do not bind. A baseline does what the storage server does to its disk: it forces each write where the server does, and"
    yield "reads through the page cache where the server does."
    if note:
        yield f"\n{note}"


def _aims(claims: Sequence[Claim]) -> Iterator[str]:
    yield "\n## Against the aims\n"
    yield "| aim | found | |"
    yield "|---|---|---|"
    for claim in claims:
        word = {True: "met", False: "**missed**", None: "not judged"}[claim.holds]
        yield f"| {claim.sentence} | {claim.found} | {word} |"


def _by_system(told: Sequence[Told]) -> Iterator[str]:
    yield "\n## All models\n"
    yield "Median of |predicted / actual - 1|, in brackets of |actual / predicted - 1|, in percent: throughput, then latency after the"
    yield "stroke. Two probes: without the probes.\n"
    yield "| filesystem | | cells | " + " | ".join(MODELS.values()) + " |"
    yield "|---" * (len(MODELS) + 3) + "|"
    for system in [*_systems(told), "all"]:
        for way in ("reads", "writes"):
            own = [each for each in told if each.way == way and system in (each.system, "all")]
            if own:
                yield (
                    f"| {system} | {way} | {len(own)} | "
                    + " | ".join(_both(own, model) for model in MODELS)
                    + " |"
                )


def _both(told: Sequence[Told], model: str) -> str:
    return " / ".join(
        f"{_shown(_error(told, model, metric))} ({_shown(_error(told, model, metric, 'predicted'))})"
        for metric in ("throughput", "latency")
    )


def _by_test(told: Sequence[Told]) -> Iterator[str]:
    yield "\n## Test by test\n"
    yield "Predicted / actual throughput, cell by cell (jobs x iodepth); in italics the two probes, which the last column leaves out."
    yield "Then the medians of |predicted / actual - 1| of bounds, queueing and two probes, in percent.\n"
    yield "| target | test | predicted / actual, queueing | bounds | queueing | two probes |"
    yield "|---|---|---|---|---|---|"
    for target, test, block in dict.fromkeys(_place(each) for each in told):
        own = [each for each in told if _place(each) == (target, test, block)]
        cells = " ".join(_one(each) for each in own)
        errors = " | ".join(_shown(_error(own, model)) for model in ("bounds", MODEL, PROBED))
        yield f"| {target} | {test} {format_size(block)} | {cells} | {errors} |"


def _one(each: Told) -> str:
    cell, ratio = each.cell.cell, each.ratio(MODEL, "throughput")
    text = f"{cell.get('numjobs', 1)}x{cell.get('iodepth', 1)}: {ratio:.2f}"
    return f"*{text}*" if each.beside.is_probe else text


def _named(told: Sequence[Told]) -> Iterator[str]:
    yield "\n## What binds\n"
    yield "| by the model, beforehand | by the counters | cells |"
    yield "|---|---|---|"
    pairs = Counter((each.by_model, each.by_counters) for each in told)
    for (model, counters), number in pairs.most_common():
        yield f"| {model} | {counters or 'nothing named'} | {number} |"


def _disks(told: Sequence[Told]) -> Iterator[str]:
    yield "\n## What reached the disks\n"
    yield "Bytes at all storage disks over bytes of the application, by their counters; three copies make 3. Less: a cache answered.\n"
    yield "| target | test | least | median | most |"
    yield "|---|---|---|---|---|"
    for target, test, block in dict.fromkeys(_place(each) for each in told):
        shares = [
            each.disk_share
            for each in told
            if _place(each) == (target, test, block) and each.disk_share is not None
        ]
        if shares:
            yield f"| {target} | {test} {format_size(block)} | {min(shares):.2f} | {median(shares):.2f} | {max(shares):.2f} |"


def _failures(results: Results) -> Iterator[str]:
    late = [made.cluster for made in results.predictions if not made.is_before]
    if results.failed or late:
        yield f"\n{len(results.failed)} cells failed; stored too late and not counted: {', '.join(late) or 'none'}."


def _systems(told: Sequence[Told]) -> list[str]:
    return list(dict.fromkeys(each.system for each in told))


def _place(each: Told) -> tuple[str, str, int]:
    return str(each.cell.cell.get("target")), each.cell.test, int(each.cell.cell["block_size"])


def _shown(error: float | None) -> str:
    return "–" if error is None else f"{error * 100:.0f}"


if __name__ == "__main__":
    sys.exit(main())
