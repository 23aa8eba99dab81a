"""How far is the simulator off on filesystems of the lab? A run with [[cluster]] tables: simulated, queueing model, actual.

    leadline run prediction_accuracy --output RUN           (root; about 13 minutes; leave the machine alone meanwhile)
    .venv/bin/python benchmarks/simulator_against_lab.py RUN          prints Markdown; --record writes docs/results/simulator.md

Nothing is measured here. The simulator gets what the model had before it was measured: the [cluster] table, one disk of the
same run, and the conditions of each cell; nothing is fitted. The model's figures are those that the run stored.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from measuring import Claim, conclude

from leadline.analyse.prediction.baselines import Baselines, read_baselines
from leadline.analyse.prediction.beside import MODEL, Beside
from leadline.analyse.prediction.held import load_in, parts_under
from leadline.analyse.prediction.paths import Parts
from leadline.analyse.prediction.predictions import Forecast
from leadline.analyse.prediction.workload import Load, offered
from leadline.analyse.results import Results
from leadline.analyse.simulation.loads import MeasuredLoad, measured_load
from leadline.analyse.simulation.steps import step_of
from leadline.analyse.wording import percent
from leadline.cli.analysing import analysed
from leadline.run.simulator import simulate_all
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.spec.simulation import Simulation
from leadline.spec.units import format_size

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "simulator.md"
SIMULATED, QUEUEING, BOUNDS = "simulated", "queueing", "bounds"
SAYERS = (SIMULATED, QUEUEING, BOUNDS)
FAR = 0.25
"""From this error on a test stands among what fails."""


@dataclass(frozen=True)
class Cell:
    """One cell that was foretold, measured and simulated."""

    system: str
    target: str
    load: Load
    said: dict[str, Forecast]
    actual: Forecast

    @property
    def way(self) -> str:
        return "writes" if self.load.is_write else "reads"

    def ratio(self, who: str, metric: str = "throughput") -> float:
        """Said over actual."""
        said = self.said[who]
        return said.iops / self.actual.iops if metric == "throughput" else said.mean_ns / self.actual.mean_ns


def main() -> int:
    arguments = _parser().parse_args()
    results = analysed(arguments.run)
    cells = simulated(results)
    claims = list(_claims(cells))
    page = [*_head(results, cells, arguments.note), *_systems(cells), *_tests(cells), *_failing(cells)]
    text = "\n".join(page) + "\n"
    print(text)
    if arguments.record:
        RESULTS.write_text(text, encoding="utf-8")
    return conclude("simulator against the lab", claims)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="a run of a campaign with [[cluster]] tables")
    parser.add_argument("--note", default="", help="what has to be known of the run")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name}")
    return parser


def simulated(results: Results) -> list[Cell]:
    """Every foretold cell that was measured."""
    found: list[tuple[Beside, str, MeasuredLoad, Parts]] = []
    for document in results.manifest.campaign.get("cluster", ()):
        cluster = CampaignCluster.of_stored(document)
        known = read_baselines([cell for cell in results.cells if cell.experiment in cluster.baselines])
        for made in results.predictions:
            if made.cluster == cluster.name:
                found += [
                    (each, cluster.name, *_described(cluster, known, each))
                    for each in made.cells
                    if each.actual_iops and each.actual_mean_ns
                ]
    steps = [step_of(scenario, parts) for _, _, load, parts in found for scenario in load.scenarios]
    outcomes = iter(simulate_all(steps, lambda done: None))
    return [_cell(*each, lambda: next(outcomes)["operations_per_second"]) for each in found]


def _described(cluster: CampaignCluster, known: Baselines, each: Beside) -> tuple[MeasuredLoad, Parts]:
    load = load_in(each.foretold.cell)
    assert load is not None, "only loads are foretold"
    parts = parts_under(cluster, known, each.foretold.cell, load)
    return measured_load(load, parts.cluster, Simulation.model_validate({})), parts


def _cell(each: Beside, system: str, measured: MeasuredLoad, parts: Parts, rate: Callable[[], float]) -> Cell:
    iops = fmean([rate() for _ in measured.scenarios])
    said = {SIMULATED: Forecast.of(iops, offered(measured.load, parts.cluster))}
    for name, who in ((MODEL, QUEUEING), ("bounds", BOUNDS)):
        said[who] = Forecast(each.foretold.iops[name], each.foretold.mean_ns[name])
    actual = Forecast(each.actual_iops or 0.0, each.actual_mean_ns or 0.0)
    return Cell(system, str(each.foretold.cell.get("target", "")), measured.load, said, actual)


def _error(cells: Sequence[Cell], who: str, metric: str = "throughput", of: str = "actual") -> float:
    ratios = [cell.ratio(who, metric) for cell in cells]
    return median(abs(ratio - 1) if of == "actual" else abs(1 / ratio - 1) for ratio in ratios)


def _claims(cells: Sequence[Cell]) -> Iterator[Claim]:
    for way in ("reads", "writes"):
        own = [cell for cell in cells if cell.way == way]
        if own:
            error = _error(own, SIMULATED)
            yield Claim(
                f"{way}: median error of the throughput <= {percent(FAR)}", percent(error), error <= FAR
            )


def _head(results: Results, cells: Sequence[Cell], note: str) -> Iterator[str]:
    yield "# The simulator against filesystems of the lab"
    yield ""
    yield "<!-- Written by `benchmarks/simulator_against_lab.py RUN --record`. -->"
    yield ""
    name = results.manifest.campaign.get("name", "?")
    yield f'Campaign "{name}", {results.manifest.created_utc}: {len(cells)} cells, one run a cell.'
    yield "Simulated afterwards from what the queueing model had before: the [cluster] tables, one slow disk of the same run and the"
    yield "conditions of each cell. Nothing is fitted. The model's figures are those that the run stored before its cells were measured."
    yield "Where files lie by chance, 16 courses of chance are simulated and averaged. What the lab's disks are like:"
    yield "[prediction accuracy](prediction_accuracy.md)."
    if note:
        yield f"\n{note}"


def _systems(cells: Sequence[Cell]) -> Iterator[str]:
    yield "\n## All cells\n"
    yield "Median of |said / actual - 1|, in brackets of |actual / said - 1|, in percent: throughput, then latency after the stroke.\n"
    yield "| filesystem | | cells | " + " | ".join(SAYERS) + " |"
    yield "|---" * (len(SAYERS) + 3) + "|"
    for system in [*dict.fromkeys(cell.system for cell in cells), "all"]:
        for way in ("reads", "writes"):
            own = [cell for cell in cells if cell.way == way and system in (cell.system, "all")]
            if own:
                yield (
                    f"| {system} | {way} | {len(own)} | "
                    + " | ".join(_both(own, who) for who in SAYERS)
                    + " |"
                )


def _both(cells: Sequence[Cell], who: str) -> str:
    return " / ".join(
        f"{_error(cells, who, metric) * 100:.0f} ({_error(cells, who, metric, 'said') * 100:.0f})"
        for metric in ("throughput", "latency")
    )


def _tests(cells: Sequence[Cell]) -> Iterator[str]:
    yield "\n## Test by test\n"
    yield "Throughput, simulated / actual, cell by cell (jobs x iodepth); then medians of |said / actual - 1| in percent.\n"
    yield "| target | test | simulated / actual | " + " | ".join(SAYERS) + " |"
    yield "|---" * (len(SAYERS) + 3) + "|"
    for (target, test, block), own in _by_test(cells).items():
        ratios = " ".join(
            f"{cell.load.numjobs}x{cell.load.iodepth}: {cell.ratio(SIMULATED):.2f}" for cell in own
        )
        errors = " | ".join(f"{_error(own, who) * 100:.0f}" for who in SAYERS)
        yield f"| {target} | {test} {format_size(block)} | {ratios} | {errors} |"


def _by_test(cells: Sequence[Cell]) -> dict[tuple[str, str, int], list[Cell]]:
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.target, cell.load.test, cell.load.block_size), []).append(cell)
    return found


def _failing(cells: Sequence[Cell]) -> Iterator[str]:
    yield f"\n## What fails: tests that are off by more than {percent(FAR)} in the median\n"
    far = {place: own for place, own in _by_test(cells).items() if _error(own, SIMULATED) > FAR}
    for (target, test, block), own in far.items():
        tilt = median(cell.ratio(SIMULATED) for cell in own)
        word = "too high" if tilt > 1 else "too low"
        model = f"the model is off by {_error(own, QUEUEING) * 100:.0f} %"
        yield f"- {target}, {test} {format_size(block)}: {word}, {tilt:.2f} of what came in the median; {model}."
    if not far:
        yield "None."


if __name__ == "__main__":
    sys.exit(main())
