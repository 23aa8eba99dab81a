"""What steps stand on: a directory, or a target of the lab brought up in one way, under stated conditions.

Targets, their options and the conditions are axes like any other, but a change of one of them takes the target down and brings it
up anew; so steps of one site follow each other (plan/design.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Any

from leadline.errors import UserError
from leadline.spec.campaign import Campaign
from leadline.spec.settings import TARGET_OPTION
from leadline.spec.target import Conditions as StatedConditions
from leadline.spec.target import Target
from leadline.spec.values import FioValue
from leadline.store.records import Cell, Scalar


@dataclass(frozen=True)
class Conditions:
    """What a lab is held to; None leaves it free. The fields are the settings of the same names (spec/settings.py)."""

    link: float | None = None
    """Bytes per second of every host's cable, each way."""
    packet_loss: float | None = None
    """Percent of the packets on every host's cable, each way."""
    disk_read_bandwidth: float | None = None
    """Bytes per second a storage disk; so the next."""
    disk_write_bandwidth: float | None = None
    disk_read_iops: float | None = None
    disk_write_iops: float | None = None
    client_cores: float | None = None
    """Processor cores of a client, its mount included."""
    client_memory: int | None = None
    """Bytes of a client, its page cache included."""
    server_cores: float | None = None
    """Processor cores of all servers together."""
    disk_latency: float | None = None
    """Seconds that a request holds a channel of a storage disk, whatever its size."""
    disk_channels: int | None = None
    """Requests that a storage disk serves at once; None, with a latency: one."""
    disk_channel_bandwidth: float | None = None
    """Bytes per second that a channel moves, on top of the latency; None: its size does not matter."""

    def given(self) -> dict[str, float]:
        """Those that hold something."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}


@dataclass(frozen=True)
class Site:
    """One way to stand; steps of one site follow each other, and between two sites the first is taken down."""

    target: str = ""
    """A target of the lab; empty: the directory that the run was pointed at."""
    label: str = ""
    """As results name it, where a run has several."""
    directory: str = ""
    """Of a campaign's target that is a directory; empty: the run's."""
    url: str = ""
    """Of a campaign's target that is an object store; its keys are nowhere but in the environment."""
    mounts: tuple[str, ...] = ()
    """The same directory on further mounts, one a client."""
    filesystem: str = ""
    """What must be mounted there; empty: whatever it is."""
    options: tuple[tuple[str, str], ...] = ()
    """Mount and format options, in the target's own words."""
    storage_nodes: int | None = None
    clients: int = 0
    """The most that any of its steps uses; 0: there is no talk of several, the load comes from one."""
    size_bytes: int = 0
    """Space of its files."""
    objects: bool = False
    """Whether any of its steps works on objects."""
    conditions: Conditions = Conditions()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Site:
        """The inverse of `dataclasses.asdict`."""
        options = tuple((key, text) for key, text in document["options"])
        mounts = tuple(document.get("mounts", ()))
        conditions = Conditions(**document["conditions"])
        return cls(**{**document, "options": options, "mounts": mounts, "conditions": conditions})


THE_DIRECTORY = Site()
"""Of runs that know no other: quick, and users' job files."""


@dataclass(frozen=True)
class Stand:
    """A site with what it says in every cell that stands on it."""

    site: Site
    settings: Cell
    """Its part of the cell: the target's label where there are several, and whatever is held or an axis."""
    overrides: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Axes of the experiments that this target replaces."""


def lay_stands(campaign: Campaign) -> list[Stand]:
    """Every target under every combination of its options and of the conditions; raises UserError for targets of one name."""
    titles = Counter(target.title for target in campaign.target)
    title, times = titles.most_common(1)[0]
    if times > 1:
        raise UserError(f'{times} targets are named "{title}"; give each a `label` to tell them apart')
    several = len(campaign.target) > 1
    return [
        Stand(site, {**named, **settings, **condition_settings}, _overrides(target))
        for target in campaign.target
        for named in [{"target": target.title} if several else {}]
        for conditions, condition_settings in _conditions(target.conditions or campaign.conditions)
        for site, settings in _sites(target, conditions)
    ]


def _sites(target: Target, conditions: Conditions) -> Iterator[tuple[Site, dict[str, Scalar]]]:
    axes: dict[str, list[FioValue]] = {
        name: value if isinstance(value, list) else [value] for name, value in target.options.items()
    }
    nodes: tuple[int | None, ...] = target.storage_nodes or (None,)
    for storage_nodes, values in product(nodes, product(*axes.values())):
        chosen = dict(zip(axes, values, strict=True))
        settings: dict[str, Scalar] = {
            f"{TARGET_OPTION}{name}": value for name, value in chosen.items() if len(axes[name]) > 1
        }
        if storage_nodes is not None:
            settings["storage_nodes"] = storage_nodes
        yield (
            Site(
                target=target.name or "",
                label=target.title,
                directory=target.directory or "",
                url=target.url or "",
                mounts=target.mounts,
                filesystem=target.filesystem or "",
                options=tuple((name, _written(value)) for name, value in chosen.items()),
                storage_nodes=storage_nodes,
                conditions=conditions,
            ),
            settings,
        )


def _conditions(stated: StatedConditions) -> Iterator[tuple[Conditions, dict[str, Scalar]]]:
    axes: dict[str, tuple[Any, ...]] = {
        name: values for name in type(stated).model_fields if (values := getattr(stated, name)) is not None
    }
    for values in product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        held = {name: value for name, value in chosen.items() if value}
        yield Conditions(**held), {name: value for name, value in chosen.items() if value is not None}


def _overrides(target: Target) -> dict[str, tuple[Scalar, ...]]:
    stated = {"ioengine": target.ioengine, "direct": target.direct}
    return {name: values for name, values in stated.items() if values is not None}


def _written(value: FioValue) -> str:
    """An option as a mount command takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
