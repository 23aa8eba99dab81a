"""Experiments on consistency in campaigns: what they may say, what they come to, and what is refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.consistency import CELLS_OF_SET
from leadline.plan.design import design
from leadline.plan.steps import Step
from leadline.run.consistency.grid import named
from leadline.run.engines.registry import ENGINES
from leadline.spec.campaign import Campaign
from leadline.spec.load import build_campaign
from leadline.store.records import StepKind

SEEN = {"name": "seen", "engine": "consistency"}
METADATA = {"name": "fast", "engine": "metadata", "items_per_directory": 10}


def built(*experiments: dict[str, Any], **top: Any) -> Campaign:
    return build_campaign(
        {"name": "c", "target": ["juicefs"], "baselines": False, "experiment": list(experiments), **top},
        "c.toml",
    )


def planned(*experiments: dict[str, Any], **top: Any) -> tuple[Step, ...]:
    return design(built(*experiments, **top))[0].steps


def refusal(changes: dict[str, Any], **top: Any) -> str:
    with pytest.raises(UserError) as refused:
        built(SEEN | changes, **top)
    return str(refused.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"promise": "close-to-opn"}, ['there is no promise "close-to-opn"', 'did you mean "close-to-open"']),
        ({"promise": ["posix", "bounded=soon"]}, ["`promise`"]),
        ({"clients": 1}, ["`clients` below 2", "control = true"]),
        ({"clients": 3, "control": True}, ["`clients` beside control"]),
        ({"cells": "none"}, ['cells = "none"', "`histories`"]),
        ({"cells": ["none", "unlink / stat"]}, ['"none" among other `cells`']),
        ({"longest_delay": "2s"}, ["`longest_delay` without `delays`"]),
        ({"patience": "long"}, ["`patience`"]),
        ({"rw": "read"}, ['"rw"', "means nothing to the consistency engine"]),
        ({"trails": 3}, ['"trails"', 'did you mean "trials"']),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(changes: dict[str, Any], words: list[str]) -> None:
    sentence = refusal(changes)
    assert sentence.startswith("c.toml: ") and "\n" not in sentence and "seen" in sentence
    for word in words:
        assert word in sentence


def test_hosts_elsewhere_are_refused() -> None:
    assert "mounts of this machine" in refusal({}, hosts={"kind": "ssh", "names": ["a"]})


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("unlnk / stat", ['experiment "seen"', 'no mutation "unlnk"', 'did you mean "unlink"']),
        ("unlink / stats", ['no probe "stats"', 'did you mean "stat"']),
        ("unlink / stat, never", ['no cell "unlink / stat, never"']),
    ],
)
def test_a_cell_that_nobody_knows_is_told_before_the_first_step(cells: str, words: list[str]) -> None:
    with pytest.raises(UserError) as refused:
        ENGINES["consistency"].check(planned(SEEN | {"cells": [cells]}))
    for word in words:
        assert word in str(refused.value)


def test_a_site_has_a_client_more_than_work_there_which_is_the_witness() -> None:
    (step,) = planned(SEEN | {"clients": 3})
    assert (step.clients, step.site.clients, step.files) == (3, 4, "mounts")


def test_the_control_needs_no_clients_of_its_own() -> None:
    (step,) = planned(SEEN | {"control": True}, target=["ext4"])
    assert step.site.clients == 0 and "clients" not in step.cell


def test_options_of_the_target_are_axes_and_each_value_a_site() -> None:
    target = [{"name": "juicefs", "options": {"attr-cache": [0, 0.1, 1]}}]
    steps = planned(SEEN, target=target, order="as written")
    assert [step.cell["target.attr-cache"] for step in steps] == [0, 0.1, 1]
    assert len({step.site for step in steps}) == 3


def test_what_gives_no_rate_is_not_repeated_for_the_noise_floor() -> None:
    steps = planned(SEEN, METADATA)
    noise = [step for step in steps if step.kind is StepKind.NOISE]
    assert noise and {step.engine for step in noise} == {"metadata"}
    assert not [step for step in planned(SEEN) if step.kind is StepKind.NOISE]


def test_a_step_may_take_as_long_as_if_nothing_were_ever_seen() -> None:
    (step,) = planned(SEEN | {"patience": "30s", "cells": "all", "histories": "60s", "delays": 100})
    assert step.timeout_seconds > 410 * 3 / 8 * 30 + 2 * 30
    assert step.expected_seconds < step.timeout_seconds


def test_defaults_of_a_campaign_reach_experiments_of_this_kind_only() -> None:
    campaign = built(
        {"name": "seen", "engine": "consistency"}, METADATA, defaults={"patience": "2s", "depth": 2}
    )
    seen, fast = campaign.experiment
    assert seen.engine == "consistency" and seen.patience == 2.0
    assert fast.engine == "metadata" and fast.depth == (2,)


def test_the_forecast_knows_how_large_the_named_sets_are() -> None:
    assert {name: len(named([name])) for name in CELLS_OF_SET} == CELLS_OF_SET


@pytest.mark.parametrize(
    ("word", "cells"),
    [
        ("unlink / stat, looked", ["unlink / stat, looked"]),
        ("unlink / stat", ["unlink / stat, made it", "unlink / stat, looked"]),
        ("overwrite / held, held, writer O_SYNC", ["overwrite / held, held, writer O_SYNC"]),
    ],
)
def test_a_name_stands_for_the_cells_that_begin_so_of_the_default_set_or_else_of_all(
    word: str, cells: list[str]
) -> None:
    found = [str(cell) for cell in named([word])]
    assert found[: len(cells)] == cells and all(name.startswith(word) for name in found)
