"""What steps need of hosts: found from the plan, so that nobody is asked for more."""

from __future__ import annotations

import pytest

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.needs import Needs, check_cache_drops, check_suites, needs_of
from leadline.store.records import Scalar, StepKind


def step(engine: str, **cell: Scalar) -> Step:
    return Step(ordinal=0, kind=StepKind.CELL, experiment="names", engine=engine, cell=cell)


def test_fio_is_needed_by_what_runs_fio_only() -> None:
    assert not needs_of([step("metadata"), step("posix"), step("paced")]).fio
    assert needs_of([step("metadata"), step("fio")]).fio
    assert needs_of([step("job file")]).fio


def test_the_experiment_that_drops_caches_is_remembered_by_name() -> None:
    assert needs_of([step("metadata"), step("metadata", drop_caches=True)]).cache_drops_of == "names"
    assert needs_of([step("metadata", drop_caches=False)]).cache_drops_of == ""


def test_caches_that_cannot_be_dropped_are_one_sentence_with_what_to_do() -> None:
    needs = Needs(cache_drops_of="names")
    with pytest.raises(
        UserError, match=r'"names" has drop_caches.*on node1; run it as root.*rank_shift'
    ) as said:
        check_cache_drops(needs, "node1", lambda: False)
    assert "\n" not in str(said.value)
    check_cache_drops(needs, "node1", lambda: True)
    check_cache_drops(Needs(), "node1", lambda: False)


def test_a_suite_that_is_not_there_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADLINE_PJDFSTEST", raising=False)
    with pytest.raises(UserError, match="the C suite does not come with leadline"):
        check_suites([step("posix", suite="c")])
    check_suites([step("metadata")])
