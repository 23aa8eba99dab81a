"""The `[simulation]` table of a cluster file: what clients ask of the cluster, and what is wrong with it.

Read by `leadline simulate` only. Keys that campaigns have too mean the same here. A list is an axis: every combination of
all lists is simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from leadline.errors import UserError, did_you_mean
from leadline.spec.campaign import Rw
from leadline.spec.mistakes import first_mistake
from leadline.spec.values import Axis, Count, Duration, Natural, Percent, Rate, Size, Strict

MIXED = ("rw", "randrw")
"""Tests in which each request reads or writes by chance."""
HALF = 50
Factor = Annotated[float, Field(ge=1, allow_inf_nan=False)]
MEBIBYTE = 1 << 20


class ServiceTime(Strict):
    """So many requests took so long, alone on a disk."""

    time: Duration = Field(gt=0)
    count: Count = 1


class Simulation(Strict):
    """Everything has a default, so that a cluster file without this table can be simulated."""

    rw: Axis[Rw] = ("randread",)
    read_percentage: Axis[Percent] | None = Field(
        None, description="share of reads in rw and randrw; left out: half"
    )
    block_size: Axis[Size] = (MEBIBYTE,)
    iodepth: Axis[Count] = (1,)
    numjobs: Axis[Count] = Field((1,), description="jobs of each client, each on a file of its own")
    storage_nodes: Axis[Count] | None = Field(None, description="in place of the one in [cluster]")
    clients: Axis[Count] | None = Field(None, description="in place of the one in [cluster]")
    failed_nodes: Axis[Natural] = Field((0,), description="storage nodes that do not answer")
    stragglers: Axis[Natural] = Field((0,), description="storage nodes that are slower than the others")
    straggler_factor: Factor = Field(10.0, description="so many times as long does all take there")
    arrivals_per_second: Axis[Rate] | None = Field(
        None, description="requests of all clients together, by chance, in place of iodepth and numjobs"
    )
    operations: Count | None = Field(
        None, description="requests that count; left out: 50,000, or 20 for each in flight"
    )
    warm_up: Natural | None = Field(
        None, description="requests before them; left out: a fifth, and 5 for each in flight"
    )
    seed: Natural = 1
    service: Literal["constant", "exponential", "measured"] = Field(
        "constant", description="how service times of equal requests spread"
    )
    service_times: tuple[ServiceTime, ...] = Field((), description='with service = "measured": their spread')
    transfer: Literal["cut_through", "store_and_forward"] = Field(
        "cut_through", description="whether packets of one message are on several links at once"
    )

    @model_validator(mode="after")
    def _shares_are_of_a_mix(self) -> Simulation:
        if self.read_percentage is not None and not set(MIXED) & set(self.rw):
            raise ValueError('has `read_percentage` but no mixed test; add "randrw" to `rw` or take it out')
        return self

    @model_validator(mode="after")
    def _spread_is_measured(self) -> Simulation:
        if (self.service == "measured") != bool(self.service_times):
            raise ValueError('needs both service = "measured" and `service_times`, or neither')
        return self


def build_simulation(table: Mapping[str, Any], where: str) -> Simulation:
    """Checks a `[simulation]` table; raises UserError naming `where`."""
    try:
        return Simulation.model_validate(dict(table))
    except ValidationError as error:
        raise UserError(f"{where}: {_sentence(first_mistake(error))}") from None


def _sentence(error: ErrorDetails) -> str:
    words = [part for part in error["loc"] if isinstance(part, str) and part != "function-before"]
    message = error["msg"].removeprefix("Value error, ")
    if not words:
        return f"[simulation] {message}"
    if error["type"] == "missing":
        return f"`{words[-1]}` is missing in `{words[0]}` of [simulation]"
    if error["type"] == "extra_forbidden":
        known = Simulation.model_fields if len(words) == 1 else ServiceTime.model_fields
        if words[-1] == "rwmixread":
            return 'unknown key "rwmixread" in [simulation]; the share of reads is written `read_percentage`'
        table = "[simulation]" if len(words) == 1 else f"`{words[0]}` of [simulation]"
        return f'unknown key "{words[-1]}" in {table}{did_you_mean(words[-1], known)}'
    return f"`{words[0]}` in [simulation]: {message[:1].lower()}{message[1:]}"
