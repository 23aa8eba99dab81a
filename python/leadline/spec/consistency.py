"""An experiment on consistency between clients: does one see what another did. docs/guide/consistency.md says what is done."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, model_validator

from leadline.spec.promises import check_promise
from leadline.spec.values import Axis, Count, Duration, Flag, Natural, Strict, checked

NO_GRID = "none"
Promise = Annotated[str, checked(lambda text: check_promise(str(text))), WithJsonSchema({"type": "string"})]


class ConsistencyExperiment(Strict):
    """The visibility grid, free-running histories, delayed probes, or several of these, by clients with mounts of their own."""

    name: str = Field(min_length=1)
    targets: tuple[str, ...] | None = Field(
        None, description="the targets it runs on, by label or name; left out: all"
    )
    engine: Literal["consistency"]
    clients: Axis[Count] = Field(
        (2,), description="mounts that write and read; one more is brought up as the witness"
    )
    cells: Axis[str] = Field(
        ("default",),
        description='of the visibility grid: "default", "all", "none", or a list of cells: "unlink / stat", "append / append, read"',
    )
    trials: Count = Field(3, description="of each cell of the grid")
    patience: Duration = Field(
        5.0, description="how long a change is waited for; longer than the longest cache time"
    )
    lanes: int = Field(8, ge=1, le=64, description="trials at a time")
    histories: Duration | None = Field(
        None, description="seconds of free-running load whose history is checked; left out: none"
    )
    delays: Natural = Field(
        0,
        description="delayed probes of each of four kinds of change, one look a change at a random delay; left out: none",
    )
    longest_delay: Duration | None = Field(None, description="of the delayed probes; left out: the patience")
    promise: Axis[Promise] | None = Field(
        None,
        description="what the targets promise: posix, close-to-open, commit, locks, eventual, bounded=1s; or a list of these",
    )
    witness: Flag = Field(
        default=True,
        description="one more client, which looks at nothing before the end: what it misses is lost; off: what all miss",
    )
    control: Flag = Field(
        default=False,
        description="both clients on one mount: the control on a filesystem of this machine, which must hold everything",
    )
    timeout: Duration | None = Field(
        None, description="hard limit on a cell's wall time; then it is killed and the cell failed"
    )
    repeats: Count = Field(1, description="rounds of every cell")

    @model_validator(mode="after")
    def _has_something_to_do(self) -> ConsistencyExperiment:
        if NO_GRID in self.cells and len(self.cells) > 1:
            raise ValueError('has "none" among other `cells`; name cells, or set cells = "none" alone')
        if self.cells == (NO_GRID,) and self.histories is None and not self.delays:
            raise ValueError('has cells = "none" and neither `histories` nor `delays`; ask for one of them')
        if self.longest_delay is not None and not self.delays:
            raise ValueError("has `longest_delay` without `delays`; say how many probes")
        return self

    @model_validator(mode="after")
    def _has_two_who_meet(self) -> ConsistencyExperiment:
        if not self.control and min(self.clients) < 2:
            raise ValueError(
                "has `clients` below 2, and one client alone has nobody to be late for; set 2, or control = true"
            )
        if self.control and "clients" in self.model_fields_set:
            raise ValueError(
                "has `clients` beside control = true, which is one mount seen twice; take one out"
            )
        return self


def grid_cells(wanted: Any) -> tuple[str, ...]:
    """What a step's cell says of the grid, as the experiment had it."""
    return tuple(part.strip() for part in str(wanted).split(";"))
