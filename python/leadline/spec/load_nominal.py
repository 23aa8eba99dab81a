"""A file of nominal figures: a [nominal] table alone, or a campaign that has one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from leadline.errors import UserError, did_you_mean
from leadline.spec.mistakes import first_mistake
from leadline.spec.nominal import Nominal, NominalDisk


def load_nominal(path: Path) -> Nominal:
    """Raises UserError naming the file and the key."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    table = document.get("nominal")
    if not isinstance(table, dict):
        raise UserError(f"{path} has no table [nominal]; docs/guide/network.md shows one")
    return build_nominal(table, str(path))


def build_nominal(table: dict[str, Any], where: str) -> Nominal:
    """Raises UserError."""
    try:
        return Nominal.model_validate(table)
    except ValidationError as error:
        first = first_mistake(error)
        place = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = NominalDisk.model_fields if first["loc"][0] == "disks" else Nominal.model_fields
            key = str(first["loc"][-1])
            raise UserError(
                f'{where}: unknown key "{place}" in [nominal]{did_you_mean(key, known)}'
            ) from None
        message = first["msg"].removeprefix("Value error, ")
        raise UserError(f"{where}: `nominal.{place}`: {message}") from None
