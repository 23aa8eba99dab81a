"""Results as one JSON document for programs (`--json`).

Top level: `format` (1; rises when a key changes its meaning or goes), `leadline` (version), `runs` (list). A run:

| key | meaning |
|---|---|
| `label`, `directory`, `created_utc`, `source`, `seed`, `scale` | what was sounded, when, how |
| `answers` | list of `question`, `sentence`, `measured` |
| `doubts` | list of `name`, `sentence`, `cells` (how many it touches) |
| `reference` | limits and baselines, null = not measured: `ceiling_iops` (1/s), `memory_copy_bytes_per_second`, |
| | `noise_floor` (share), `limits_bytes_per_second` by test |
| `cells` | list of cells, below |
| `failed` | list of `experiment`, `cell`, `repeat`, `reason`, `command` |
| `curves` | list of `experiment`, `test`, `axis`, `fixed`, `loads`, `cells` (places in `cells`), `saturation` (null or |
| | `peak_bytes_per_second`, `peak_load`, `onset_load`, `knee_load`, `censored`, `collapse_load`, `doubtful`) |
| `rankings` | targets side by side, list of `test`, `label`, `standings` (best valid ones first: `target`, `cell`: place in |
| | `cells`, `ratio_to_best`: null or `value`, `low`, `high`), `absent` (targets without a figure: `target`, `reason`) |
| `conformance` | list of runs of a conformance suite: `label`, `suite`, `version`, `passed`, `tested`, `skipped`, `not_applicable`, |
| | `failed` (list of `case`, `reason`), `notes`, `facts` |
| `consistency` | list of sites: `label`, `settings`, `promises`, `grid` (a list of cells: `ending`, `worst_ns`: null = never), |
| | `guarantees` (`kind`, `guarantee`, `verdict`, `promised`, `checked`, `violating` ...), `delays` |
| `object_checks` | list of stores: `label`, `checks` (a list of `name`, `result`: "passed", "failed" or "not_supported", `reason`) |
| `prices` | list of targets under several options: `points` with `stale_ns`, `appends_lost` of `appends`, `rates_per_second` |
| `sites` | list of `target`, `filesystem`, `access` (ioengine past the mount, or null), `conditions` by setting |
| `predictions` | what was foretold beforehand, list of `cluster`, `baselines`, `made_unix_ns`, `is_before`, `notes`, `medians` |
| | (errors: `model`, `metric`, `direction`, `block_size` (null: all), `cells`, `over_actual`, `over_predicted`, `worst_tenth`), `cells` |
| | (`experiment`, `settings`, `predicted` by model ("calibrated": from two probes): `iops`, `mean_ns`, `binding`, `shares`, |
| | `network_share`, `disk_share`, `is_probe`, `actual` (null or `iops`, `mean_ns`), `named_by_counters`, `disagreement`) |
| `disks` | local disks beside their sheets, list of `host`, `disks`, `test`, `metric`, `nominal`, `measured`, `of_nominal`, `off` ... |
| `planned_cells`, `missing_cells`, `warnings` | what is not there, what engines printed |

A cell: `experiment`, `test`, `direction`, `settings` (sizes in bytes, durations in seconds), `repeats`, `concurrency`,
`effective_concurrency`, `operations`, `size_bytes`, `verdicts` (list of `name`, `evidence`, `metrics`), `resources` (the
unit is in the key), `command`, and `metrics`: by name `value`, `low`, `high` (95 % interval, null where there is none),
`n`, `method`, `valid`, `unit`, where unit is "bytes/s" for bandwidth, "1/s" for iops and "ns" for latencies. Cells of several
clients also hold `clients` (list of `name`, `metrics` without `valid`, `operations`, `size_bytes`, `begin_ns`, `end_ns`) and `together`
(first-done, last-done and common-window rates, `overlap_share` ...),
cells with hosts `hosts` (what their NICs carried; CPU and disks of machines of their own).
`failed` counts failed operations by errno. Cells of metadata hold `phase` (`way`, `planned`, `first_done_per_second`,
`last_done_per_second`, `requests`, `requests_per_operation`); a metric with `ends` has a trend: first and last repeat, no mean.
Curves of metadata have `peak_per_second` in place of `peak_bytes_per_second`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from leadline import __version__
from leadline.analyse.bottleneck import disagreement, named_by_counters
from leadline.analyse.conformance import tally
from leadline.analyse.disks import DiskLine, in_words
from leadline.analyse.participants import ClientResult
from leadline.analyse.prediction.beside import Beside, Foretelling
from leadline.analyse.prediction.words import probes_in_words
from leadline.analyse.price import prices
from leadline.analyse.results import (
    CellResult,
    Curve,
    Estimate,
    FailedCell,
    Ranking,
    Reference,
    Results,
    Site,
)
from leadline.report import wording
from leadline.report.cell_numbers import CellNumbers
from leadline.report.consistency_document import price_entry, sounded_entry
from leadline.store.conformance import Conformance, Outcome

FORMAT = 1
PEAKS = {"bandwidth": "peak_bytes_per_second", "iops": "peak_per_second"}
UNITS = {"bandwidth": "bytes/s", "rate": "1/s", "latency": "ns"}


def document(results: Sequence[Results]) -> dict[str, Any]:
    """The whole document, JSON-ready."""
    return {"format": FORMAT, "leadline": __version__, "runs": [run_entry(one) for one in results]}


def run_entry(one: Results) -> dict[str, Any]:
    """One run."""
    numbers = CellNumbers(one.cells)
    return {
        "label": one.label,
        "directory": one.manifest.directory,
        "created_utc": one.manifest.created_utc,
        "source": one.manifest.source,
        "seed": one.manifest.seed,
        "scale": one.manifest.scale,
        "answers": [
            {"question": answer.question, "sentence": answer.sentence, "measured": answer.measured}
            for answer in one.answers
        ],
        "doubts": [asdict(doubt) for doubt in one.doubts],
        "reference": reference_entry(one.reference),
        "cells": [cell_entry(cell) for cell in one.cells],
        "failed": [failed_entry(cell) for cell in one.failed],
        "curves": [curve_entry(curve, numbers) for curve in one.curves],
        "rankings": [ranking_entry(ranking, numbers) for ranking in one.rankings],
        "sites": [site_entry(site) for site in one.sites],
        "conformance": [conformance_entry(found) for found in one.conformance],
        "consistency": [sounded_entry(each) for each in one.consistency],
        "object_checks": [asdict(checks) for checks in one.object_checks],
        "prices": [price_entry(each) for each in prices(one)],
        "predictions": [prediction_entry(made, one) for made in one.predictions],
        "disks": [disk_entry(line) for line in one.disks],
        "planned_cells": one.planned_cells,
        "missing_cells": one.missing_cells,
        "warnings": list(one.warnings),
    }


def disk_entry(line: DiskLine) -> dict[str, Any]:
    """One disk in one test, beside its sheet."""
    figure = line.figure
    return {
        "host": line.host,
        "disks": list(line.disks),
        "test": line.test,
        "metric": line.metric,
        "nominal": line.nominal,
        "source": line.source,
        "measured": figure and figure.value,
        "low": figure and figure.low,
        "high": figure and figure.high,
        "n": figure and figure.n,
        "of_nominal": line.ratio,
        "valid": line.cell is not None and line.cell.valid(line.metric),
        "off": in_words(line),
    }


def prediction_entry(made: Foretelling, one: Results) -> dict[str, Any]:
    """One prediction with what came of each cell."""
    return {
        "cluster": made.cluster,
        "baselines": list(made.baselines),
        "made_unix_ns": made.made_unix_ns,
        "is_before": made.is_before,
        "notes": [*made.notes, *probes_in_words(made)],
        "medians": [asdict(score) for score in made.scores],
        "cells": [foretold_entry(each, one) for each in made.cells],
    }


def foretold_entry(each: Beside, one: Results) -> dict[str, Any]:
    """One cell of a prediction."""
    foretold, named = each.foretold, named_by_counters(each.actual, one) if each.actual else None
    return {
        "experiment": foretold.experiment,
        "settings": dict(foretold.cell),
        "predicted": {
            name: {"iops": iops, "mean_ns": foretold.mean_ns[name]} for name, iops in foretold.iops.items()
        },
        "binding": foretold.binding,
        "shares": dict(foretold.shares),
        "network_share": foretold.network_share,
        "disk_share": foretold.disk_share,
        "is_probe": each.is_probe,
        "actual": {"iops": each.actual_iops, "mean_ns": each.actual_mean_ns} if each.actual_iops else None,
        "named_by_counters": str(named.bound) if named else None,
        "disagreement": disagreement(each.actual, one) if each.actual else None,
    }


def reference_entry(reference: Reference) -> dict[str, Any]:
    """Limits and baselines."""
    return {
        "ceiling_iops": reference.ceiling_iops,
        "memory_copy_bytes_per_second": reference.memory_copy_bytes_per_second,
        "noise_floor": reference.noise_floor,
        "limits_bytes_per_second": dict(reference.limits),
    }


def cell_entry(cell: CellResult) -> dict[str, Any]:
    """One cell with all its figures."""
    return {
        "experiment": cell.experiment,
        "test": cell.test,
        "direction": str(cell.direction),
        "settings": dict(cell.cell),
        "repeats": cell.repeats,
        "concurrency": cell.concurrency,
        "effective_concurrency": cell.effective_concurrency,
        "operations": cell.operations,
        "size_bytes": cell.size_bytes,
        "metrics": metric_entries(cell),
        "verdicts": [
            {"name": str(verdict.name), "evidence": verdict.evidence, "metrics": list(verdict.metrics)}
            for verdict in cell.verdicts
        ],
        "resources": dict(cell.resources),
        "command": cell.command,
        "clients": [client_entry(client) for client in cell.clients],
        "together": cell.together and asdict(cell.together),
        "hosts": [asdict(use) for use in cell.hosts],
        "failed": dict(cell.failed),
        "phase": cell.phase and asdict(cell.phase),
    }


def client_entry(client: ClientResult) -> dict[str, Any]:
    """One client's own figures."""
    metrics = {name: client_metric(name, one) for name, one in client.metrics.items()}
    return {
        "name": client.name,
        "metrics": metrics,
        "operations": client.operations,
        "size_bytes": client.size_bytes,
        "begin_ns": client.begin_ns,
        "end_ns": client.end_ns,
    }


def client_metric(name: str, one: Estimate) -> dict[str, Any]:
    """A figure of one client."""
    known = {field: value for field, value in asdict(one).items() if field != "ends"}
    return {**known, "unit": UNITS[wording.scale_of(name)]}


def ranking_entry(ranking: Ranking, numbers: CellNumbers) -> dict[str, Any]:
    """All targets in one test."""
    return {
        "test": ranking.test,
        "label": ranking.label,
        "standings": [
            {
                "target": standing.target,
                "cell": numbers[standing.cell],
                "ratio_to_best": standing.ratio
                and {"value": standing.ratio.value, "low": standing.ratio.low, "high": standing.ratio.high},
            }
            for standing in ranking.standings
        ],
        "absent": [{"target": target, "reason": reason} for target, reason in ranking.absent],
    }


def site_entry(site: Site) -> dict[str, Any]:
    """What cells stood on."""
    return {
        "target": site.target,
        "filesystem": site.machine.filesystem,
        "access": site.machine.access,
        "conditions": dict(site.conditions),
    }


def conformance_entry(found: Conformance) -> dict[str, Any]:
    """A run of a suite: counts, and what failed."""
    total = tally("total", found.cases)
    failed = [case for case in found.cases if case.outcome is Outcome.FAILED]
    return {
        "label": found.label,
        "suite": found.suite,
        "version": found.version,
        "passed": total.passed,
        "tested": total.tested,
        "skipped": total.skipped,
        "not_applicable": total.not_applicable,
        "failed": [{"case": case.name, "reason": case.reason} for case in failed],
        "notes": list(found.notes),
        "facts": dict(found.facts),
    }


def metric_entries(cell: CellResult) -> Mapping[str, dict[str, Any]]:
    """Every metric with its interval and whether it may be believed."""
    return {
        name: {
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "n": one.n,
            "method": one.method,
            "valid": cell.valid(name),
            "unit": UNITS[wording.scale_of(name)],
            **({"ends": list(one.ends)} if one.ends else {}),
        }
        for name, one in cell.metrics.items()
    }


def failed_entry(cell: FailedCell) -> dict[str, Any]:
    """A step without a figure."""
    return {
        "experiment": cell.experiment,
        "cell": dict(cell.cell),
        "repeat": cell.repeat,
        "reason": cell.reason,
        "command": cell.command,
    }


def curve_entry(curve: Curve, numbers: CellNumbers) -> dict[str, Any]:
    """A curve whose cells are given by their places in the run."""
    found = curve.saturation
    return {
        "experiment": curve.experiment,
        "test": curve.test,
        "axis": curve.axis,
        "fixed": dict(curve.fixed),
        "loads": list(curve.loads),
        "cells": [numbers[cell] for cell in curve.cells],
        "saturation": found
        and {
            PEAKS[curve.throughput_metric]: found.peak,
            "peak_load": found.peak_load,
            "onset_load": found.onset_load,
            "knee_load": found.knee_load,
            "censored": found.censored,
            "collapse_load": found.collapse_load,
            "doubtful": found.doubtful,
        },
    }
