"""Experiments on conformance in campaigns: what they may say, and what is refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.design import design
from leadline.plan.steps import Step
from leadline.spec.campaign import Campaign
from leadline.spec.load import build_campaign
from leadline.store.records import StepKind

POSIX = {"name": "right", "engine": "posix"}
METADATA = {"name": "fast", "engine": "metadata", "items_per_directory": 10}


def built(*experiments: dict[str, Any], **top: Any) -> Campaign:
    return build_campaign(
        {"name": "c", "target": ["xfs", "btrfs"], "experiment": list(experiments), **top}, "c.toml"
    )


def planned(*experiments: dict[str, Any], **top: Any) -> tuple[Step, ...]:
    return design(built(*experiments, **top))[0].steps


def refusal(changes: dict[str, Any], **top: Any) -> str:
    with pytest.raises(UserError) as refused:
        built(POSIX | changes, **top)
    return str(refused.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rw": "read"}, ['"rw"', "means nothing to the posix engine"]),
        ({"suit": "c"}, ['"suit"', 'did you mean "suite"']),
        ({"suite": "perl"}, ["`suite`"]),
        ({"checkout": "/x"}, ['set suite = "c"']),
        ({"case_timeout": "soon"}, ["`case_timeout`"]),
        ({"depth": 2}, ['"depth"', "is of the metadata engine"]),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(changes: dict[str, Any], words: list[str]) -> None:
    sentence = refusal(changes)
    assert sentence.startswith("c.toml: ") and "\n" not in sentence and "right" in sentence
    for word in words:
        assert word in sentence


def test_hosts_elsewhere_are_refused_with_what_to_do() -> None:
    assert "run `leadline posix` on such a host" in refusal({}, hosts={"kind": "ssh", "names": ["a"]})


def test_every_site_is_tested_once_and_nothing_is_repeated_for_the_noise_floor() -> None:
    steps = planned(POSIX)
    assert sorted((step.kind, step.site.target) for step in steps) == [
        (StepKind.CELL, "btrfs"),
        (StepKind.CELL, "xfs"),
    ]
    assert all(step.engine == "posix" and step.site.size_bytes >= 2**26 for step in steps)


def test_beside_metadata_the_noise_floor_is_that_of_metadata() -> None:
    noise = [step for step in planned(POSIX, METADATA) if step.kind is StepKind.NOISE]
    assert noise and {step.engine for step in noise} == {"metadata"}


def test_a_step_is_read_back_from_the_manifest_as_it_was_planned() -> None:
    (step, _) = planned(POSIX | {"case_timeout": "3m"})
    assert step.options == {"case_timeout": "180.0"}
    assert Step.from_json(step.to_json()) == step
