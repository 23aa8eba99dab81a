"""The conformance engine: a step becomes a command of its own, and its document the outcome."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.plan.sites import Site
from leadline.plan.steps import Step
from leadline.run.engines.posix import DOCUMENT, RESULT, PosixEngine, label_of
from leadline.run.posix.worker import wishes_of
from leadline.run.seams import Completed, Place
from leadline.store.conformance import Case, Conformance, Outcome, conformance_of, write_conformance
from leadline.store.records import StepKind

JUICEFS = Site(target="juicefs", label="juicefs", options=(("metadata", "redis"), ("attr-cache", "0")))
STEP = Step(
    ordinal=0, kind=StepKind.CELL, experiment="right", engine="posix", cell={"suite": "rust"}, files="judged", site=JUICEFS
)  # fmt: skip
SAID = Completed(0, "", "", 1)


def test_the_command_is_told_what_the_step_says(tmp_path: Path) -> None:
    place = Place(tmp_path / "work" / "leadline-scratch")
    invocation = PosixEngine().prepare(replace(STEP, options={"case_timeout": "180.0"}), place, tmp_path)
    wishes = wishes_of(json.loads(Path(invocation.argv[-1]).read_text()))
    assert (wishes.path, wishes.suite, wishes.case_seconds) == (place.data, "rust", 180.0)
    assert wishes.remount, "a target of the lab is leadline's own"
    assert wishes.label == "juicefs (metadata=redis, attr-cache=0)"
    assert invocation.by_hand == (
        "leadline", "posix", "--target", "juicefs", "--option", "metadata=redis", "--option", "attr-cache=0",
    )  # fmt: skip


def test_a_directory_is_never_mounted_read_only_and_named_after_its_filesystem(tmp_path: Path) -> None:
    step = replace(STEP, site=Site(label="/mnt/x"))
    invocation = PosixEngine().prepare(step, Place(tmp_path / "leadline-scratch"), tmp_path)
    wishes = wishes_of(json.loads(Path(invocation.argv[-1]).read_text()))
    assert not wishes.remount and wishes.label is None
    assert invocation.by_hand == ("leadline", "posix", str(tmp_path))
    assert label_of(replace(step, cell={"suite": "rust", "target": "old"})) == "old", "one of several targets"


def test_failed_cases_are_a_result_and_not_a_failed_step(tmp_path: Path) -> None:
    found = Conformance("rust", "pjdfstest", "x", {}, (Case("rename::a", Outcome.FAILED, "no"),))
    write_conformance(found, tmp_path / RESULT)
    invocation = PosixEngine().prepare(STEP, Place(tmp_path), tmp_path)
    outcome = PosixEngine().collect(STEP, invocation, SAID)
    assert outcome.reason is None
    assert conformance_of(outcome.documents[DOCUMENT], "it") == found


@pytest.mark.parametrize(
    ("completed", "reason"),
    [
        (Completed(2, "", "building\n/x is full; make room\n", 1), "/x is full; make room"),
        (Completed(None, "", "", 1), "the suite ended without a result"),
        (SAID, "the suite ended without a result"),
    ],
)
def test_a_suite_that_could_not_run_is_a_reason(tmp_path: Path, completed: Completed, reason: str) -> None:
    invocation = PosixEngine().prepare(STEP, Place(tmp_path), tmp_path)
    assert PosixEngine().collect(STEP, invocation, completed).reason == reason


def test_how_far_it_is_is_told_by_the_case() -> None:
    now = PosixEngine().now("case 100 400\n")
    assert now is not None and now.share_done == 0.25
    assert PosixEngine().now("case of emergency\n") is None
