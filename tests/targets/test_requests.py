"""What JuiceFS and MooseFS count is what the metadata load asked of them: every creation and removal once, nothing lost, nothing twice."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import skip_unless_installed, up

from leadline.run.executable import engine_executable
from leadline.run.observe.machine import Machine
from leadline.run.observe.requests import RequestCounters, find_request_counters, requests_in

RANKS, ITEMS = 2, 60
OTHERS_AT_MOST = 8
"""Requests of one kind that may belong to no operation: attributes that expired, and the test directories themselves."""


def phases_on(directory: str, counters: RequestCounters, **fields: Any) -> dict[str, Mapping[str, int]]:
    """Requests of each phase, by operation."""
    step = {
        "workload": "metadata", "directory": directory, "ranks": RANKS, "items_per_directory": ITEMS, **counters.step_fields(), **fields,
    }  # fmt: skip
    done = subprocess.run(
        [engine_executable(), "run", "-"],
        input=json.dumps(step),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    phases = json.loads(done.stdout)["phases"]
    assert all(phase["failed"] == 0 and phase["requests"] is not None for phase in phases)
    return {f"{phase['kind']} {phase['action']}": requests_in(phase["requests"]) for phase in phases}


@pytest.mark.parametrize("name", ["juicefs", "moosefs"])
@pytest.mark.parametrize("way", [{}, {"driver": "io_uring", "iodepth": 8}], ids=["calls", "io_uring"])
def test_each_operation_is_counted_once_where_the_filesystem_counts_it(
    name: str, way: Mapping[str, Any]
) -> None:
    skip_unless_installed(name)
    ready = up(name)
    counters = find_request_counters(Machine(), Path(ready.directory))
    assert counters is not None
    phases, items = phases_on(ready.directory, counters, **way), RANKS * ITEMS
    for operation, request in (
        ("directory create", "FUSE mkdir"),
        ("directory rename", "FUSE rename"),
        ("directory remove", "FUSE rmdir"),
        ("file create", "FUSE create"),
        ("file remove", "FUSE unlink"),
    ):
        assert phases[operation][request] == items, (operation, phases[operation])
    # Told after close(2) has returned, and waited for.
    assert items <= phases["file create"]["FUSE release"] <= items + OTHERS_AT_MOST
    assert items <= phases["file read"]["FUSE open"] <= items + OTHERS_AT_MOST
    assert items <= phases["file read"]["FUSE release"] <= items + OTHERS_AT_MOST
    # The same requests in no other phase: what reading the counters itself causes was taken off.
    for request, only in (
        ("FUSE mkdir", {"tree create", "directory create"}),
        ("FUSE unlink", {"file remove"}),
    ):
        assert {operation for operation, counted in phases.items() if request in counted} <= only
    assert phases["directory create"].get("FUSE open", 0) <= OTHERS_AT_MOST


def test_a_walk_by_full_path_asks_more_of_a_mount_without_caches_than_names_in_an_open_directory() -> None:
    skip_unless_installed("juicefs")
    ready = up("juicefs", {"attr-cache": "0", "entry-cache": "0", "dir-entry-cache": "0"})
    counters = find_request_counters(Machine(), Path(ready.directory))
    assert counters is not None
    told = {
        naming: phases_on(ready.directory, counters, naming=naming)["file stat"]["FUSE lookup"]
        / (RANKS * ITEMS)
        for naming in ("full_path", "directory_relative")
    }
    assert told["directory_relative"] == pytest.approx(1, abs=0.2)
    assert told["full_path"] > 2
