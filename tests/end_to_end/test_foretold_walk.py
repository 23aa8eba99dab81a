"""A campaign with a cluster walked along its whole plan, with fakes at every seam: the target is the model, later and slower."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.prediction.baselines import read_baselines
from leadline.analyse.prediction.beside import Foretelling
from leadline.analyse.prediction.forecasts import Forecaster
from leadline.analyse.prediction.held import load_in, parts_under
from leadline.analyse.prediction.service_curves import ServiceCurve
from leadline.analyse.prediction.stations import Correction
from leadline.cli.foretelling import foreteller, with_checked_baselines
from leadline.cli.probing import probes_of
from leadline.plan.design import design
from leadline.plan.planner import FixedPlan
from leadline.plan.steps import Step
from leadline.run.conductor import Conductor, Interrupted, Stop
from leadline.run.engines.fake import FakeEngine, known_outcome
from leadline.run.fake_grounds import FakeGrounds
from leadline.run.hosts.fake import FakeHost
from leadline.run.seams import Now, Outcome
from leadline.run.targets.fake import FakeTarget
from leadline.spec.campaign import Campaign
from leadline.spec.load import build_campaign
from leadline.store.manifest import Manifest
from leadline.store.prediction import CALIBRATED
from leadline.store.records import StepKind, StepRecord
from leadline.store.run_folder import RunFolder

DISK = ServiceCurve((1.0, 4.0, 16.0, 64.0), (2000.0, 5000.0, 8000.0, 8000.0), 0.0, 0.0, 8000.0)
DELAY_SECONDS, SPEED = 0.001, 0.6
LONG_NS = 100 * 10**9
"""Of every step, so that counts round to little."""


class Silent:
    """A watcher that keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def step_started(self, step: Step, remaining: Sequence[Step]) -> None: ...

    def now(self, step: Step, now: Now) -> None: ...

    def step_finished(self, record: StepRecord) -> None: ...

    def said(self, line: str) -> None:
        self.lines.append(line)


def campaign(folder: Path, repeats: int) -> Campaign:
    """One disk alone, then the same kind of disk behind a network: two tests of nine cells, A/A steps between."""
    cluster = {
        "name": "the farm", "baselines": ["one disk"], "targets": ["farm"], "storage_nodes": 1, "storage_nic": "100Gb/s",
        "client_nic": "100Gb/s",
    }  # fmt: skip
    for name in ("disk", "farm"):
        (folder / name).mkdir(exist_ok=True)
    document = {
        "name": "foretold",
        "baselines": False,
        "noise_repeats": 2,
        "target": [{"directory": str(folder / name), "label": name} for name in ("disk", "farm")],
        "cluster": cluster,
        "defaults": {
            "rw": ["randread", "randwrite"], "block_size": "64k", "ioengine": "libaio", "direct": True, "size": "64k",
            "runtime": "1s",
        },
        "experiment": [
            {"name": "one disk", "targets": ["disk"], "iodepth": [1, 4, 16, 64]},
            {"name": "served", "targets": ["farm"], "iodepth": [1, 4, 16], "numjobs": [1, 2, 4], "repeats": repeats},
        ],
    }  # fmt: skip
    return with_checked_baselines(build_campaign(document, "c.toml"))


def did(step: Step, made: Campaign, inert: bool) -> Outcome:
    """What the disk and the target do, as operations of one long step."""
    load = load_in(step.cell)
    if load is None or step.kind is StepKind.LAYOUT:
        return known_outcome(step)
    curves = {(test, load.block_size): DISK for test in ("randread", "randwrite")}
    cluster = made.cluster[0].model_copy(update={"iodepth": "inert"} if inert else {})
    parts = parts_under(cluster, replace(read_baselines([]), disks=curves), step.cell, load)
    depth = load.iodepth * load.numjobs
    found = Forecaster(parts).queueing(load, Correction(DELAY_SECONDS, SPEED))
    iops, mean_ns = (found.iops, found.mean_ns) if step.experiment == "served" else _alone(depth)
    outcome = known_outcome(step)
    each = round(iops * LONG_NS / 1e9 / load.numjobs)
    parts_of = [
        replace(
            part, operations=each, size_bytes=each * load.block_size, runtime_ns=LONG_NS,
            latency=part.latency and replace(part.latency, count=each, mean_ns=mean_ns),
        )
        for part in outcome.measurements
    ]  # fmt: skip
    return replace(outcome, measurements=tuple(parts_of))


def _alone(depth: int) -> tuple[float, float]:
    rate = dict(zip(DISK.loads, DISK.iops, strict=True))[float(depth)]
    return rate, depth / rate * 1e9


@pytest.fixture
def walk(tmp_path: Path) -> Callable[..., tuple[RunFolder, Silent, list[Step]]]:
    """Walks the plan, or what is left of it, until a step at which the user asks to stop."""

    def go(
        inert: bool = False, failing: Sequence[int] = (), stop_at: int | None = None, repeats: int = 1
    ) -> tuple[RunFolder, Silent, list[Step]]:
        made = campaign(tmp_path, repeats)
        folder = _folder(tmp_path / "run", made)
        steps = [Step.from_json(each) for each in folder.manifest.plan]
        outcomes = {step.ordinal: did(step, made, inert) for step in steps}
        outcomes |= {place: replace(outcomes[place], reason="the disk is gone") for place in failing}
        stop, silent = Stop(), Silent()
        engine = Stopping(outcomes, stop=stop, at=stop_at)
        grounds = FakeGrounds(FakeHost(), FakeTarget(tmp_path / "farm"))
        conductor = Conductor(
            FixedPlan(tuple(steps)), folder, {"fio": engine}, grounds, silent, stop, foretell=foreteller(folder, silent.said)
        )  # fmt: skip
        try:
            conductor.conduct()
        except Interrupted:
            assert stop_at is not None
        return folder, silent, steps

    return go


class Stopping(FakeEngine):
    """A fake that is asked to stop at a step."""

    def __init__(self, outcomes: dict[int, Outcome], stop: Stop, at: int | None) -> None:
        super().__init__(outcomes)
        self._stop, self._at = stop, at

    def collect(self, step: Step, *rest: Any) -> Outcome:
        if step.ordinal == self._at:
            self._stop.request()
        return super().collect(step, *rest)


def _folder(path: Path, made: Campaign) -> RunFolder:
    if path.exists():
        return RunFolder.open(path)
    steps = design(made, probes_of(made))[0].steps
    manifest = Manifest(
        made.name, "campaign", "/data", "2026-01-01T00:00:00+00:00", "0.1", campaign=made.model_dump(mode="json"),
        plan=tuple(step.to_json() for step in steps),
    )  # fmt: skip
    return RunFolder.create(path, manifest)


def foretold(folder: RunFolder) -> Foretelling:
    (made,) = analyse(folder.records(), folder.manifest, {}).predictions
    return made


def probe_steps(steps: Sequence[Step]) -> list[int]:
    """Cells of the target that stand before what is calibrated on them."""
    (again,) = [step for step in steps if CALIBRATED in step.cell]
    return [
        step.ordinal for step in steps[: again.ordinal]
        if step.kind is StepKind.CELL and step.experiment == "served"
    ]  # fmt: skip


def medians(made: Foretelling, metric: str = "throughput") -> dict[tuple[str, str], float]:
    return {(each.direction, each.model): each.over_actual for each in made.scores if each.metric == metric}


def test_two_probes_of_each_test_foretell_all_other_cells_before_they_are_measured(
    walk: Callable[..., tuple[RunFolder, Silent, list[Step]]],
) -> None:
    folder, silent, steps = walk(repeats=2)
    assert len(probe_steps(steps)) == 4
    made = foretold(folder)
    assert made.is_before and len(made.cells) == 18 and made.probed == 14
    for metric in ("throughput", "latency"):
        errors = medians(made, metric)
        assert all(errors[way, "calibrated"] < 0.03 for way in ("read", "write"))
        assert all(errors[way, "queueing"] > 0.2 for way in ("read", "write"))
    assert all(test.speed == pytest.approx(SPEED, rel=0.05) for test in made.tests)
    assert any(line.startswith("Predicted once more from two probes of each test") for line in silent.lines)


def test_a_walk_that_is_stopped_between_the_probes_goes_on_and_keeps_the_promise(
    walk: Callable[..., tuple[RunFolder, Silent, list[Step]]],
) -> None:
    _, _, steps = walk(stop_at=0)
    first, second = probe_steps(steps)[1], len(steps) - 3
    stopped, _, _ = walk(stop_at=first)
    assert not any(CALIBRATED in record.documents for record in stopped.records())
    stopped, _, _ = walk(stop_at=second)
    before = foretold(stopped)
    folder, _, _ = walk()
    made = foretold(folder)
    assert made.made_unix_ns == before.made_unix_ns and made.tests == before.tests
    assert made.probed == 14 and medians(made)["read", "calibrated"] < 0.03


def test_a_probe_that_fails_costs_its_test_the_calibrated_prediction_and_nothing_else(
    walk: Callable[..., tuple[RunFolder, Silent, list[Step]]],
) -> None:
    _, _, steps = walk(stop_at=0)
    failing = probe_steps(steps)[0]
    folder, _, _ = walk(failing=[failing])
    made = foretold(folder)
    lost, way = (
        str(steps[failing].cell["rw"]),
        "write" if "write" in str(steps[failing].cell["rw"]) else "read",
    )
    notes = [note for note in made.probe_notes if "nothing is calibrated" in note]
    assert len(notes) == 1 and notes[0].startswith(lost)
    assert (way, "calibrated") not in medians(made) and (way, "queueing") in medians(made)
    assert made.probed == 7


def test_an_engine_that_keeps_no_depth_is_found_out_on_the_heavy_probe(
    walk: Callable[..., tuple[RunFolder, Silent, list[Step]]],
) -> None:
    folder, _, _ = walk(inert=True)
    made = foretold(folder)
    assert sum("iodepth is inert, only jobs count" in note for note in made.probe_notes) == 2
    errors = medians(made)
    assert errors["read", "calibrated"] < 0.05 < errors["read", "queueing"]
