"""The campaign's JSON schema, printed from the models; schemas/campaign.schema.json is this, committed."""

from __future__ import annotations

from typing import Any

from leadline.spec.campaign import Campaign, Experiment


def campaign_schema() -> dict[str, Any]:
    """[defaults] holds any key of an experiment, none of them required."""
    schema = Campaign.model_json_schema()
    experiment = Experiment.model_json_schema()
    schema["properties"]["defaults"] = {
        "type": "object",
        "description": "laid under every experiment",
        "properties": experiment["properties"],
        "additionalProperties": False,
    }
    schema["$defs"]["Experiment"]["required"] = ["name"]  # `rw` may come from [defaults]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "leadline campaign", **schema}
