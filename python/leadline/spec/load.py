"""A campaign file, read: TOML in, Campaign out, every mistake one sentence with the place and the nearest known word."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from leadline.errors import UserError, did_you_mean
from leadline.spec.campaign import (
    OWN_MODELS,
    Campaign,
    Experiment,
    Hosts,
    Limits,
)
from leadline.spec.load_cluster import cluster_sentence
from leadline.spec.mistakes import first_mistake
from leadline.spec.nominal import Nominal
from leadline.spec.target import Conditions, Target

_KEYS: Mapping[str, Iterable[str]] = {
    "data": Experiment.model_fields,
    **{engine: model.model_fields for engine, model in OWN_MODELS.items()},
}
"""What an experiment of each kind may hold."""
_ANY_KEYS = list(dict.fromkeys(key for keys in _KEYS.values() for key in keys))
_TABLES: Mapping[str, Iterable[str]] = {
    "": [*Campaign.model_fields, "defaults"],
    "experiment": Experiment.model_fields,
    "defaults": _ANY_KEYS,
    "target": Target.model_fields,
    "conditions": Conditions.model_fields,
    "hosts": Hosts.model_fields,
    "limits": Limits.model_fields,
    "nominal": Nominal.model_fields,
}


def ready_made() -> dict[str, Path]:
    """The campaigns that ship with leadline, by file name without ending."""
    folder = Path(str(resources.files("leadline") / "campaigns"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_campaign(name: str) -> Path:
    """A path as given, or the ready-made campaign of that name; raises UserError."""
    if Path(name).is_file():
        return Path(name)
    shipped = ready_made()
    if Path(name).stem in shipped and Path(name).parent == Path():
        return shipped[Path(name).stem]
    raise UserError(
        f'there is no campaign "{name}"{did_you_mean(Path(name).stem, shipped)} (ready-made: {", ".join(shipped)})'
    )


def load_campaign(path: Path) -> Campaign:
    """Reads and checks a campaign; raises UserError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as a campaign: {error}") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    return build_campaign(document, str(path))


def build_campaign(document: Mapping[str, Any], where: str) -> Campaign:
    """Checks a parsed document; `[defaults]` is laid under every experiment; raises UserError naming `where`."""
    raw = dict(document)
    defaults = raw.pop("defaults", {})
    experiments = raw.get("experiment")
    if not isinstance(defaults, dict):
        raise UserError(f"{where}: `defaults` must be a table, written [defaults]")
    for key in defaults:
        if key not in _ANY_KEYS:
            raise UserError(f'{where}: unknown key "{key}" in [defaults]{did_you_mean(key, _ANY_KEYS)}')
    if not isinstance(experiments, list) or not experiments or not all(map(_is_table, experiments)):
        raise UserError(f"{where}: there is no experiment; add at least one [[experiment]] table")
    raw["experiment"] = [_over_defaults(defaults, each) for each in experiments]
    try:
        return Campaign.model_validate(raw)
    except ValidationError as error:
        raise UserError(f"{where}: {_sentence(first_mistake(error), raw)}") from None


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _over_defaults(defaults: Mapping[str, Any], experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Of the defaults, an experiment takes those that its kind knows: one table serves all kinds."""
    kind = _kind_of({**defaults, **experiment})
    merged = {key: value for key, value in defaults.items() if key in _KEYS[kind]} | {**experiment}
    if kind != "data":
        return merged
    if "size" in experiment and "filesize" not in experiment:
        merged.pop("filesize", None)  # they exclude each other: the experiment's own word wins
    if "filesize" in experiment and "size" not in experiment:
        merged.pop("size", None)
    merged["fio"] = {**defaults.get("fio", {}), **experiment.get("fio", {})}
    return merged


def _kind_of(experiment: Mapping[str, Any]) -> str:
    engine = str(experiment.get("engine"))
    return engine if engine in OWN_MODELS else "data"


def _sentence(error: ErrorDetails, document: Mapping[str, Any]) -> str:
    if error["loc"][:1] == ("cluster",) and len(error["loc"]) > 1:
        return cluster_sentence(error)
    loc, kind = _without_kind(error["loc"])
    location = [part for part in loc if isinstance(part, str)]
    table, key = (location[0], location[1]) if len(location) > 1 else ("", location[-1] if location else "")
    place = _place(loc, document)
    if error["type"] == "extra_forbidden":
        return _unknown(table, key, kind, place)
    if error["type"] == "missing":
        return f"`{key}` is missing {place}"
    if key == "fio" and len(location) > 2:
        return f"`fio.{location[2]}` {place} must be a word, a number, true, false or a list of these"
    if key == "engine" and kind:
        return f"`engine` {place} must be {_engines()}"
    message = error["msg"].removeprefix("Value error, ")
    if len(location) <= 1 and table == "" and loc[:1] == ("experiment",):
        return f"{place.removeprefix('in ')} {message}"
    if not key:  # of the campaign as a whole
        return message
    return f"`{key}` {place}: {message[:1].lower()}{message[1:]}"


def _without_kind(location: tuple[int | str, ...]) -> tuple[tuple[int | str, ...], str]:
    """Where it is as the user wrote it, and the kind of experiment that it was read as."""
    if location[:1] == ("experiment",) and len(location) > 2:
        return (*location[:2], *location[3:]), str(location[2])
    return location, ""


def _unknown(table: str, key: str, kind: str, place: str) -> str:
    if kind in OWN_MODELS and key in Experiment.model_fields:
        return f'"{key}" {place} means nothing to the {kind} engine; take it out, or put it into an experiment of fio'
    if kind and (engine := _engine_of(key)):
        return f'"{key}" {place} is of the {engine} engine; set engine = "{engine}", or take it out'
    known = _KEYS[kind] if kind else _TABLES.get(table, ())
    return f'unknown key "{key}" {place}{did_you_mean(key, known)}'


def _engines() -> str:
    *others, last = ("fio", "paced", *OWN_MODELS)
    return f"{', '.join(others)} or {last}"


def _engine_of(key: str) -> str | None:
    """Whose experiments alone know a key."""
    return next((engine for engine in OWN_MODELS if key in _KEYS[engine]), None)


def _place(location: tuple[int | str, ...], document: Mapping[str, Any]) -> str:
    if location[:1] == ("experiment",) and len(location) > 1 and isinstance(location[1], int):
        name = document["experiment"][location[1]].get("name", f"number {location[1] + 1}")
        return f'in experiment "{name}"'
    return f"in [{location[0]}]" if len(location) > 1 else "at the top level"
