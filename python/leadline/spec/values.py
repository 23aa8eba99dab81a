"""What keys of a campaign may hold: sizes, times, counts and axes, with their place in the JSON schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema

from leadline.errors import UserError
from leadline.spec.units import parse_bandwidth, parse_duration, parse_size

Value = TypeVar("Value")
FioValue = str | int | float | bool


def checked(parse: Callable[[Any], Any]) -> BeforeValidator:
    """A units parser as a pydantic validator: its sentence becomes the validation message."""

    def check(value: Any) -> Any:
        try:
            return parse(value)
        except UserError as error:
            raise ValueError(str(error)) from error

    return BeforeValidator(check)


def as_tuple(value: Any) -> Any:
    """A single value stands for a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class OneOrSeveral:
    """Tells the JSON schema what `as_tuple` does: a single value stands for a list of one."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        several = handler(schema)
        return {"anyOf": [several["items"], several]}


def _free(value: Any) -> Any:
    return None if value == "none" else value


class _OrNone:
    """Tells the JSON schema that "none" is how one writes free."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        inner = handler(schema)
        return {"anyOf": [*inner.get("anyOf", [inner]), {"const": "none"}]}


_SIZE_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "examples": ["4k", "1GiB"]}, {"type": "integer", "minimum": 1}]
}
_TIME_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "examples": ["30s", "5m"]}, {"type": "number", "minimum": 0}]
}
_BANDWIDTH_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "examples": ["450MB/s", "25Gb/s"]}, {"type": "number"}]
}

Size = Annotated[int, checked(parse_size), WithJsonSchema(_SIZE_SCHEMA)]
Duration = Annotated[float, checked(parse_duration), WithJsonSchema(_TIME_SCHEMA)]
Bandwidth = Annotated[float, checked(parse_bandwidth), WithJsonSchema(_BANDWIDTH_SCHEMA)]
Count = Annotated[int, Field(ge=1, strict=True)]
Natural = Annotated[int, Field(ge=0, strict=True)]
Percent = Annotated[int, Field(ge=0, le=100, strict=True)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=100)]
Flag = Annotated[bool, Field(strict=True)]
Free = Annotated[Value | None, BeforeValidator(_free), _OrNone()]
Axis = Annotated[tuple[Value, ...], Field(min_length=1), BeforeValidator(as_tuple), OneOrSeveral()]
"""An axis: one value or a list of values; every combination of all axes is a cell."""


class Strict(BaseModel):
    """Unknown keys are mistakes, and what was checked stays as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)
