"""Where the files of a campaign lie, and what a target of the lab is held to."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from leadline.spec.object_target import check_store_options, check_url, url_title
from leadline.spec.values import (
    Axis,
    Bandwidth,
    Count,
    Duration,
    FioValue,
    Flag,
    Free,
    Rate,
    Share,
    Size,
    Strict,
)


class Conditions(Strict):
    """What a lab target is held to while it is measured. Each may be an axis; "none" in a list leaves that value free."""

    link: Axis[Free[Bandwidth]] | None = Field(None, description="bandwidth of every host's cable, each way")
    packet_loss: Axis[Free[Share]] | None = Field(
        None, description="percent of packets lost on every host's cable, each way"
    )
    disk_read_bandwidth: Axis[Free[Bandwidth]] | None = Field(None, description="of every storage disk")
    disk_write_bandwidth: Axis[Free[Bandwidth]] | None = Field(None, description="of every storage disk")
    disk_read_iops: Axis[Free[Rate]] | None = Field(None, description="of every storage disk")
    disk_write_iops: Axis[Free[Rate]] | None = Field(None, description="of every storage disk")
    disk_latency: Axis[Free[Duration]] | None = Field(
        None, description="time that each request holds a channel of a storage disk, whatever its size"
    )
    disk_channels: Axis[Count] | None = Field(
        None, description="requests that a storage disk with `disk_latency` serves at once; 1 when not given"
    )
    disk_channel_bandwidth: Axis[Free[Bandwidth]] | None = Field(
        None,
        description="what a channel of a storage disk with `disk_latency` moves, on top of the latency",
    )
    client_cores: Axis[Free[Rate]] | None = Field(
        None, description="processor cores of a client, its mount included"
    )
    client_memory: Axis[Free[Size]] | None = Field(
        None, description="memory of a client, its page cache included"
    )
    server_cores: Axis[Free[Rate]] | None = Field(None, description="processor cores of all servers together")

    @model_validator(mode="after")
    def _channels_take_time(self) -> Conditions:
        for key in ("disk_channels", "disk_channel_bandwidth"):
            if getattr(self, key) is not None and not all(self.disk_latency or (None,)):
                raise ValueError(
                    f'has `{key}` where `disk_latency` does not always say how long a request takes; give it ("4ms"), '
                    f"or take `{key}` out"
                )
        return self


class Target(Strict):
    """Where the files lie: a directory, a target of the lab, or an object store; `options` and `storage_nodes` may be axes."""

    directory: str | None = Field(None, description="a directory to measure: empty, or leadline's own")
    mounts: tuple[str, ...] = Field(
        (),
        description="the same directory on further mounts of this machine, one a client; the first client works in `directory`",
    )
    name: str | None = Field(
        None, description="a target of the lab, brought up before and taken down after (leadline lab list)"
    )
    url: str | None = Field(
        None,
        description="an object store: s3://BUCKET/PREFIX?endpoint=http://HOST:PORT, http://HOST:PORT/BUCKET, azblob://CONTAINER ...; "
        "its keys come from the environment",
    )
    label: str | None = Field(
        None,
        min_length=1,
        description="as results name it where a run has several; else `name` or `directory`",
    )
    filesystem: str | None = Field(
        None,
        min_length=1,
        description='what must be mounted there, as in the mount table ("nfs4", "fuse.juicefs", "lustre"); checked before each step',
    )
    options: dict[str, FioValue | list[FioValue]] = Field(
        default_factory=dict,
        description="mount and format options of a lab target, in its own words; a list is an axis, with a remount between its values; "
        "of an object store, options in opendal's words",
    )
    storage_nodes: Axis[Count] | None = Field(
        None, description="servers of a lab target that lets one choose"
    )
    ioengine: Axis[str] | None = Field(
        None, description="in place of the experiments' ioengine, on this target alone"
    )
    direct: Axis[Flag] | None = Field(
        None, description="in place of the experiments' direct, on this target alone"
    )
    conditions: Conditions | None = Field(
        None, description="what this target alone is held to, in place of [conditions]"
    )

    @model_validator(mode="after")
    def _one_place(self) -> Target:
        if self.url is not None:
            return self._one_store(self.url)
        if self.name is None and (self.options or self.storage_nodes):
            key = "options" if self.options else "storage_nodes"
            raise ValueError(
                f"has `{key}`, which only a target of the lab takes; mount the directory as you want it"
            )
        if self.name is None and self.conditions is not None:
            raise ValueError("has `conditions`, which only a target of the lab can be held to; take them out")
        if self.mounts and self.directory is None:
            raise ValueError("has `mounts` without `directory`; name the first mount's directory there")
        if self.name is not None and self.directory is not None:
            raise ValueError("has both `name` and `directory`; measure a target of the lab or a directory")
        if self.name is not None and self.filesystem is not None:
            raise ValueError(
                "has `filesystem` beside `name`; a target of the lab knows its own, so take it out"
            )
        return self

    def _one_store(self, url: str) -> Target:
        others = (
            "directory",
            "name",
            "filesystem",
            "storage_nodes",
            "conditions",
            "mounts",
            "ioengine",
            "direct",
        )
        beside = next((key for key in others if getattr(self, key)), None)
        if beside is not None:
            raise ValueError(
                f"has both `url` and `{beside}`; an object store has none of that, so take one of them out"
            )
        check_url(url)
        check_store_options(self.options)
        return self

    @property
    def title(self) -> str:
        """As results name it."""
        return (
            self.label
            or self.name
            or self.directory
            or (url_title(self.url) if self.url else "the directory")
        )


def _as_targets(value: Any) -> Any:
    """`target = "xfs"`, a table, or a list of either."""
    several = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(each, str | dict | Target) for each in several):
        raise ValueError("must be the name of a lab target, a table, or a list of these")
    return tuple({"name": each} if isinstance(each, str) else each for each in several)


class _TargetForms:
    """Tells the JSON schema what `_as_targets` does."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        several = handler(schema)
        either = {"anyOf": [several["items"], {"type": "string"}]}
        return {"anyOf": [*either["anyOf"], {**several, "items": either}]}


Targets = Annotated[tuple[Target, ...], Field(min_length=1), BeforeValidator(_as_targets), _TargetForms()]
