"""The campaign's JSON schema, printed from the models; schemas/campaign.schema.json is this, committed."""

from __future__ import annotations

from typing import Any

from leadline.spec.campaign import OWN_MODELS, Campaign, Experiment
from leadline.spec.values import Strict


def campaign_schema() -> dict[str, Any]:
    """[defaults] holds any key of an experiment of any kind, none of them required; what is said of one need not be repeated."""
    schema = Campaign.model_json_schema()
    models: list[type[Strict]] = [*OWN_MODELS.values(), Experiment]
    kinds = [model.model_json_schema() for model in models]
    properties = {name: field for kind in kinds for name, field in kind["properties"].items()}
    properties["engine"] = {"enum": ["fio", "paced", *OWN_MODELS]}
    schema["properties"]["defaults"] = {
        "type": "object",
        "description": "laid under every experiment",
        "properties": properties,
        "additionalProperties": False,
    }
    for kind in models:
        schema["$defs"][kind.__name__]["required"] = ["name"]  # `rw` and `engine` may come from [defaults]
    several = schema["properties"]["experiment"]["items"]
    several["anyOf"] = several.pop("oneOf")  # by its own keys alone, an experiment may be of several kinds
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "leadline campaign", **schema}
