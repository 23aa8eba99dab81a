"""A cluster file, read: TOML in, Cluster out, every mistake one sentence with the place and the nearest known word."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from leadline.errors import UserError, did_you_mean
from leadline.spec.campaign_cluster import CampaignCluster
from leadline.spec.cluster import Cluster, Disk, ErasureCode, Service
from leadline.spec.mistakes import first_mistake

_TABLES: Mapping[str, Mapping[str, Any]] = {
    "": Cluster.model_fields,
    "disk": Disk.model_fields,
    "erasure_code": ErasureCode.model_fields,
    "read_service": Service.model_fields,
    "write_service": Service.model_fields,
}
_TOP = ("cluster", "simulation")
_OF_CAMPAIGN = {**_TABLES, "": CampaignCluster.model_fields}


@dataclass(frozen=True)
class ClusterFile:
    """What a cluster file holds."""

    cluster: Cluster
    table: Mapping[str, Any]
    """The `[cluster]` table as it was written: vary it and build it again."""
    simulation: Mapping[str, Any]
    """The `[simulation]` table as it was written; empty where there is none. Only the simulator reads it."""


def load_cluster(path: Path) -> ClusterFile:
    """Reads and checks a cluster file; raises UserError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as a cluster: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    for key in document:
        if key not in _TOP:
            raise UserError(f'{path}: unknown table or key "{key}"{did_you_mean(key, _TOP)}')
    table, simulation = document.get("cluster"), document.get("simulation", {})
    if not isinstance(table, dict):
        raise UserError(f"{path}: there is no cluster; describe it in a [cluster] table")
    if not isinstance(simulation, dict):
        raise UserError(f"{path}: `simulation` must be a table, written [simulation]")
    return ClusterFile(build_cluster(table, str(path)), table, simulation)


def build_cluster(table: Mapping[str, Any], where: str) -> Cluster:
    """Checks a `[cluster]` table; raises UserError naming `where`."""
    try:
        return Cluster.model_validate(dict(table))
    except ValidationError as error:
        raise UserError(f"{where}: {_sentence(first_mistake(error), _TABLES)}") from None


def cluster_sentence(error: ErrorDetails) -> str:
    """What is wrong with a campaign's `[cluster]`."""
    within = {**error, "loc": error["loc"][1:]}
    return _sentence(within, _OF_CAMPAIGN)  # type: ignore[arg-type]


def _sentence(error: ErrorDetails, tables: Mapping[str, Mapping[str, Any]]) -> str:
    words = [part for part in error["loc"] if isinstance(part, str)]
    table, key = (words[-2] if len(words) > 1 else ""), (words[-1] if words else "")
    place = f"in [cluster{'.' + '.'.join(words[:-1]) if words[:-1] else ''}]"
    message = error["msg"].removeprefix("Value error, ")
    if not words:
        return f"[cluster] {message}"
    if error["type"] == "extra_forbidden":
        return f'unknown key "{key}" {place}{did_you_mean(key, tables.get(table, ()))}'
    if error["type"] == "missing":
        return f"`{key}` is missing {place}"
    return f"`{key}` {place}: {message[:1].lower()}{message[1:]}"
