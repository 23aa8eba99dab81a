"""The published JSON schema is the one that the models print, and accepts what the loader accepts."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from leadline.spec.load import ready_made
from leadline.spec.schema import campaign_schema

SCHEMA = Path(__file__).parents[2] / "schemas" / "campaign.schema.json"
VALIDATOR = Draft202012Validator(campaign_schema())


def test_the_schema_in_the_tree_is_the_one_the_models_print() -> None:
    assert json.loads(SCHEMA.read_text()) == campaign_schema(), "write it anew with: make schemas"


def test_the_schema_is_itself_valid() -> None:
    Draft202012Validator.check_schema(campaign_schema())


@pytest.mark.parametrize("name", sorted(ready_made()))
def test_every_ready_made_campaign_is_valid_by_the_schema(name: str) -> None:
    document = tomllib.loads(ready_made()[name].read_text())
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


def campaign(**experiment: Any) -> dict[str, Any]:
    return {"name": "c", "experiment": [{"name": "one", "rw": "read", "size": "1m", **experiment}]}


@pytest.mark.parametrize(
    "document",
    [campaign(), campaign(iodepth=[1, 2]), campaign(fio={"buffered": [0, 1]}), campaign(runtime=1.5, ramp="2s"),
     campaign() | {"scale": "1/16", "limits": {"read": "1GB/s"}, "defaults": {"rw": "read", "iodepth": [1, 4]}}],
)  # fmt: skip
def test_editors_accept_what_the_loader_accepts(document: dict[str, Any]) -> None:
    assert VALIDATOR.is_valid(document)


@pytest.mark.parametrize(
    "document",
    [campaign(iodpeth=1), campaign(rw="raed"), campaign(numjobs=0), campaign(direct="yes"), campaign(engine="dd"), {"name": "c"},
     campaign() | {"sede": 1}, campaign() | {"defaults": {"iodpeth": 1}}],
)  # fmt: skip
def test_editors_mark_what_the_loader_refuses(document: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(document)
