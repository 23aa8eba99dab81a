"""What tests of NFS share: engines built once, one cell run as a client would, and the files as they lie on the servers' disks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from cluster_parts import skip_unless_installed

from leadline.errors import UserError
from leadline.plan.steps import Layout, Step
from leadline.run.engines.fio import FioEngine
from leadline.run.hosts.namespace import NamespaceHost
from leadline.run.lab import lifecycle
from leadline.run.lab.fio_engine_build import PATCH, built_engine
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.state import Ready, lab_state
from leadline.run.seams import Access, Outcome, Place
from leadline.store.records import Cell, StepKind

NAME = "nfs"
ENGINE = FioEngine()
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Workshop:
    """A lab that builds an engine and makes nothing else."""

    patch: Path = PATCH
    summary: str = "for tests"
    needs: Mapping[str, str] = field(default_factory=dict)

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        return Ready(str(built_engine(lab, self.patch)), "none")


def build(patch: Path = PATCH) -> Path:
    """The engine; raises UserError when it cannot be built."""
    ready, _ = lifecycle.bring_up("workshop", Workshop(patch), Wishes(0), lambda line: None)
    lifecycle.tear_down("workshop")
    return Path(ready.directory)


def build_or_skip(patch: Path = PATCH) -> Path:
    """A machine that cannot reach its package sources is no failure; a source that does not build is one."""
    if os.geteuid() != 0:
        pytest.skip("needs root to bring a lab up")
    skip_unless_installed(NAME)
    try:
        return build(patch)
    except UserError as error:
        if "cannot be had" in str(error) or "no apt-get" in str(error) or "package is" in str(error):
            pytest.skip(str(error))
        raise


def disks() -> list[Path]:
    """Where each server's files lie, as only the server's own host would see them."""
    resources = [each.resource for each in Journal(lab_state(NAME).journal).entries()]
    points = [Path(str(getattr(each, "point", ""))) for each in resources]
    return [point / "export" for point in points if point.name.startswith("disk")]


def stored() -> list[dict[str, int]]:
    """Size by name, of each server."""
    return [{path.name: path.stat().st_size for path in disk.iterdir()} for disk in disks()]


def cell(
    rw: str, jobs: int = 1, depth: int = 1, each_bytes: int = 8 * MEBIBYTE, **more: str | int | float | bool
) -> Cell:
    """In blocks of 1 MiB."""
    return {
        "rw": rw, "block_size": MEBIBYTE, "iodepth": depth, "numjobs": jobs, "ioengine": NAME, "direct": False,
        "size": each_bytes, "nrfiles": 1, **more,
    }  # fmt: skip


def perform(
    ready: Ready, scratch: Path, asked: Cell, key: str = "files", client: int = 1, engine: Path | None = None
) -> Outcome:
    """One cell from one client, bound by its bytes unless it has a runtime; `engine` in place of the lab's own."""
    scratch.mkdir(parents=True)
    jobs, each_bytes = int(asked["numjobs"]), int(asked["size"])
    step = Step(
        0, StepKind.CELL, "e", "fio", asked, files="reuse", layout=Layout(key, jobs, 1, each_bytes, ioengine=NAME),
        timeout_seconds=120.0, expected_bytes=None if "runtime" in asked else jobs * each_bytes,
    )  # fmt: skip
    access: Access = ready.accesses[NAME]
    if engine is not None:
        access = replace(access, ioengine=f"external:{engine}")
    place = Place(scratch, f"client{client}", {NAME: access})
    invocation = ENGINE.prepare(step, place, scratch)
    host = NamespaceHost(place.client, ready.clients[client - 1].namespace)
    completed = host.run(invocation, lambda pid: None, lambda line: None)
    return ENGINE.collect(step, invocation, completed)


def moved(outcome: Outcome) -> int:
    """Bytes that were counted."""
    return sum(measurement.size_bytes for measurement in outcome.measurements)
