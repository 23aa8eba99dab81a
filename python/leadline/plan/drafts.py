"""Cells before they have their place in the order, and the steps that come of them: on which files, how long, at most how long."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.plan import network, objects
from leadline.plan.assumptions import (
    ASSUMED_BYTES_PER_SECOND,
    ASSUMED_OPERATIONS_PER_SECOND,
    ASSUMED_SUITE_SECONDS,
    SLOWEST_BYTES_PER_SECOND,
    SLOWEST_OPERATIONS_PER_SECOND,
    SLOWEST_SUITE_SECONDS,
    STEP_OVERHEAD_SECONDS,
    TIMEOUT_MARGIN_SECONDS,
)
from leadline.plan.consistency import expected_seconds, longest_seconds, options_of
from leadline.plan.expand import job_bytes_of, layout_of
from leadline.plan.metadata import Shape
from leadline.plan.sites import THE_DIRECTORY, Site
from leadline.plan.steps import Layout, Step
from leadline.spec.campaign import AnyExperiment, Experiment
from leadline.spec.consistency import ConsistencyExperiment
from leadline.spec.network import NetworkExperiment
from leadline.spec.objects import ObjectExperiment
from leadline.spec.posix import PosixExperiment
from leadline.store.records import Cell, StepKind


@dataclass(frozen=True)
class Draft:
    """A cell before it has its place in the order."""

    experiment: AnyExperiment
    site: Site
    cell: Cell
    repeat: int

    @property
    def fresh(self) -> bool:
        """A sequential write that ends with its bytes creates its files; everything else needs them to be there."""
        return self.cell.get("rw") == "write" and "runtime" not in self.cell

    @property
    def layout(self) -> Layout | None:
        """None where the cell makes and removes what it works on."""
        return layout_of(self.cell) if isinstance(self.experiment, Experiment) else None

    @property
    def key(self) -> str:
        """Of the files that it shares with other cells."""
        return self.layout.key if self.layout else ""


def own_step(draft: Draft) -> Step:
    """A cell that makes and removes what it works on."""
    if isinstance(draft.experiment, ConsistencyExperiment):
        return consistency_step(draft, draft.experiment)
    if isinstance(draft.experiment, NetworkExperiment):
        return network_step(draft)
    if isinstance(draft.experiment, ObjectExperiment):
        return object_step(draft)
    return posix_step(draft) if isinstance(draft.experiment, PosixExperiment) else metadata_step(draft)


def network_step(draft: Draft) -> Step:
    """Messages between the first two clients."""
    return Step(
        ordinal=0, kind=StepKind.CELL, experiment=draft.experiment.name, engine="network", cell=draft.cell, repeat=draft.repeat,
        files="pair", site=draft.site, expected_seconds=network.expected_seconds(draft.cell),
        timeout_seconds=draft.experiment.timeout or network.longest_seconds(draft.cell),
    )  # fmt: skip


def object_step(draft: Draft) -> Step:
    """Requests to an object store, or the look at what it can do."""
    return Step(
        ordinal=0, kind=StepKind.CELL, experiment=draft.experiment.name, engine="object", cell=draft.cell, repeat=draft.repeat,
        files="checks" if objects.is_of_checks(draft.cell) else "objects", site=draft.site,
        expected_seconds=objects.expected_seconds(draft.cell),
        timeout_seconds=draft.experiment.timeout or objects.longest_seconds(draft.cell),
    )  # fmt: skip


def consistency_step(draft: Draft, experiment: ConsistencyExperiment) -> Step:
    """A sounding of what clients see of each other."""
    return Step(
        ordinal=0, kind=StepKind.CELL, experiment=experiment.name, engine="consistency", cell=draft.cell, repeat=draft.repeat,
        files="mounts", site=draft.site, options=options_of(experiment), expected_seconds=expected_seconds(experiment),
        timeout_seconds=experiment.timeout or longest_seconds(experiment),
    )  # fmt: skip


def posix_step(draft: Draft) -> Step:
    """A run of a conformance suite."""
    experiment = draft.experiment
    assert isinstance(experiment, PosixExperiment)
    wishes = {"checkout": experiment.checkout, "case_timeout": experiment.case_timeout}
    return Step(
        ordinal=0, kind=StepKind.CELL, experiment=experiment.name, engine="posix", cell=draft.cell, repeat=draft.repeat,
        files="judged", site=draft.site, options={name: str(value) for name, value in wishes.items() if value},
        expected_seconds=ASSUMED_SUITE_SECONDS, timeout_seconds=experiment.timeout or SLOWEST_SUITE_SECONDS,
    )  # fmt: skip


def metadata_step(draft: Draft) -> Step:
    """A cell that makes its own tree."""
    operations = Shape.of(draft.cell).operations
    rests = 2 * float(draft.cell.get("pause", 0)) + float(draft.cell.get("stonewall", 0))
    slowest = operations / SLOWEST_OPERATIONS_PER_SECOND
    return Step(
        ordinal=0, kind=StepKind.CELL, experiment=draft.experiment.name, engine="metadata", cell=draft.cell,
        repeat=draft.repeat, files="tree", site=draft.site,
        expected_seconds=operations / ASSUMED_OPERATIONS_PER_SECOND + rests + STEP_OVERHEAD_SECONDS,
        timeout_seconds=draft.experiment.timeout or TIMEOUT_MARGIN_SECONDS + rests + slowest,
    )  # fmt: skip


def cell_step(draft: Draft, layout: Layout) -> Step:
    """A cell that moves data, on the files of a layout that may be larger than its own."""
    cell, experiment = draft.cell, draft.experiment
    assert isinstance(experiment, Experiment)
    clients = max(int(cell.get("clients", 1)), 1)
    bound_bytes = None if "runtime" in cell else job_bytes_of(cell) * int(cell["numjobs"]) * clients
    seconds = (
        float(cell.get("runtime", 0))
        + float(cell.get("ramp", 0))
        + (bound_bytes or 0) / ASSUMED_BYTES_PER_SECOND
    )
    return Step(
        ordinal=0,
        kind=StepKind.CELL,
        experiment=experiment.name,
        engine=experiment.engine,
        cell=cell,
        repeat=draft.repeat,
        files="fresh" if draft.fresh else "reuse",
        layout=draft.layout if draft.fresh else layout,
        cache=experiment.cache,
        expected_seconds=seconds + STEP_OVERHEAD_SECONDS,
        timeout_seconds=experiment.timeout or _timeout(seconds, bound_bytes),
        expected_bytes=bound_bytes,
        site=draft.site,
    )


def _timeout(seconds: float, bound_bytes: int | None) -> float:
    return TIMEOUT_MARGIN_SECONDS + seconds + (bound_bytes or 0) / SLOWEST_BYTES_PER_SECOND


def layout_step(layout: Layout, experiment: str, site: Site = THE_DIRECTORY) -> Step:
    """Really written bytes, flushed: an unwritten extent would answer reads with zeros and no I/O."""
    block = min(layout.file_bytes, 1 << 20)
    cell: Cell = {
        "rw": "write", "block_size": block, "iodepth": 1, "numjobs": layout.jobs, "ioengine": layout.ioengine or "psync", "direct": False,
        "size": layout.file_bytes * layout.files_a_job, "filesize": layout.file_bytes, "nrfiles": layout.files_a_job,
        "openfiles": 1, "end_fsync": True,
        "file_service_type": "sequential", "fio.fallocate": "none",
    }  # fmt: skip
    if layout.filename:
        cell = {**cell, "fio.filename": layout.filename}
    if layout.clients:
        cell = {**cell, "clients": layout.clients}
    seconds = layout.total_bytes / ASSUMED_BYTES_PER_SECOND
    return Step(
        ordinal=0, kind=StepKind.LAYOUT, experiment=experiment, engine="fio", cell=cell, files="fresh", layout=layout,
        expected_seconds=seconds + STEP_OVERHEAD_SECONDS, timeout_seconds=_timeout(seconds, layout.total_bytes),
        expected_bytes=layout.total_bytes, site=site,
    )  # fmt: skip
