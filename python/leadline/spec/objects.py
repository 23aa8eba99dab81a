"""An experiment on an object store: the same requests at rising concurrency, and what the store can do at all.

Where it is, the target says: `url`, a directory, or the store of the lab's s3 and juicefs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, model_validator

from leadline.errors import UserError, did_you_mean
from leadline.spec.values import Axis, Count, Duration, Flag, Free, Natural, Size, Strict, checked

OPERATIONS = ("put", "get", "head", "list", "delete")
"""In the order in which they are made: a store's objects as a life."""
ALWAYS_MADE = ("put", "delete")
"""Objects have to be there before they are got, and have to go again."""
IN_PARTS = ("put", "get", "delete")
"""Nothing else depends on how an object came."""
LARGEST_OBJECT_BYTES = 1 << 30
"""They are put from memory and got into it, one for each request in flight."""
MOST_CONCURRENCY, MOST_INSTANCES = 4096, 256


def _operation(name: Any) -> str:
    if name not in OPERATIONS:
        raise UserError(
            f'there is no request "{name}" to object stores{did_you_mean(str(name), OPERATIONS)} (there are {", ".join(OPERATIONS)})'
        )
    return str(name)


Operation = Annotated[str, checked(_operation), WithJsonSchema({"enum": list(OPERATIONS)})]


class ObjectExperiment(Strict):
    """Every kind of request in a phase of its own; lists are axes and multiply, but for `operations`."""

    name: str = Field(min_length=1)
    targets: tuple[str, ...] | None = Field(
        None, description="the targets it runs on, by label or name; left out: all"
    )
    engine: Literal["object"]
    operations: Axis[Operation] = Field(
        OPERATIONS, description="kinds of requests, one after the other; put and delete are always made"
    )
    object_size: Axis[Size] = (4 << 20,)
    objects: Count = Field(
        100, description="how many different objects, of each client; no fewer than requests in flight"
    )
    part_size: Axis[Free[Size]] | None = Field(
        None, description='puts in parts of this size; "none" in a list: in a piece'
    )
    concurrency: Axis[Count] = Field((1,), description="requests in flight, of each client")
    instances: Axis[Count] | None = Field(
        None,
        description="client instances, each with connections of its own, among which the requests in flight are divided evenly; "
        "left out: one a core at most",
    )
    clients: Axis[Count] | None = Field(
        None, description="how many of a lab target's clients work at once, each on objects of its own"
    )
    runtime: Duration | None = Field(
        None, description="seconds of each kind of request; left out: once an object"
    )
    retries: Natural = Field(0, description="of a request that failed for the moment; they are counted")
    checks: Flag = Field(default=True, description="try out what the store can do, once on each target")
    timeout: Duration | None = Field(None, description="hard limit on a cell's wall time")
    repeats: Count = 3

    @model_validator(mode="after")
    def _can_be_made(self) -> ObjectExperiment:
        if max(self.object_size) > LARGEST_OBJECT_BYTES:
            raise ValueError("has an `object_size` above 1 GiB; give sizes from 1 B to 1 GiB")
        if max(self.concurrency) > MOST_CONCURRENCY:
            raise ValueError(f"has a `concurrency` above {MOST_CONCURRENCY:,}; lower it, or add `clients`")
        if self.instances and max(self.instances) > MOST_INSTANCES:
            raise ValueError(f"has `instances` above {MOST_INSTANCES}; lower it, or add `clients`")
        if self.runtime is not None and self.runtime <= 0:
            raise ValueError('has `runtime` 0; give a time to measure for, such as "5s", or take it out')
        if self.objects < max(self.concurrency):
            raise ValueError(
                f"has fewer `objects` ({self.objects}) than requests in flight ({max(self.concurrency)}); raise `objects`"
            )
        return self
