"""An object store: versitygw or MinIO on hosts of its own, and hosts for clients that reach it. There is nothing to mount."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.disks import KIND, NEEDS, Disk, make_disks
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.minio import NODES_AT_MOST, Minio, minio, start_minio
from leadline.run.lab.network import LabHost
from leadline.run.lab.s3_gateway import (
    ACCESS_KEY,
    BUCKET,
    SECRET_KEY,
    VERSITYGW,
    Gateway,
    start_gateways,
)
from leadline.run.lab.state import Ready, Seat

FILESYSTEM = "s3"
SERVERS = ("versitygw", "minio")
VERSITYGW_OPTIONS = ("concurrency", "disableotmp", "enable-odirect", "io-buffer-size", "nometa")
"""Of `versitygw posix`, those that change speed or durability."""
OPTIONS = ("server", *VERSITYGW_OPTIONS)


@dataclass(frozen=True)
class Shape:
    """What was wished, checked."""

    nodes: int
    server: str = SERVERS[0]
    words: tuple[str, ...] = ()
    """For the server's command line."""


@dataclass(frozen=True)
class ObjectStore:
    """Where it is and how to sign is in the facts; `Ready.directory` is the bucket's URL, as the clients' hosts reach it."""

    summary: str = "an S3 object store (versitygw, or your minio), for object loads: nothing to mount"
    needs: Mapping[str, str] = field(default_factory=lambda: dict(NEEDS))

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Disks, hosts, servers."""
        shape = shape_of(wishes)
        own = minio() if shape.server == "minio" else None  # missing: said before anything is made
        disks = make_disks(lab, lab.storage(), shape.nodes if own else 1, wishes.size_bytes)
        hosts = lab.network(shape.nodes + wishes.clients).hosts
        gateways = _serve(lab, own, hosts[: shape.nodes], disks, shape)
        where = tuple(
            Seat(host.namespace, gateways[place % shape.nodes].url)
            for place, host in enumerate(hosts[shape.nodes :])
        )
        facts = {
            "filesystem": FILESYSTEM, "server": f"minio {own.version}" if own else f"versitygw {VERSITYGW.version}",
            "bucket": BUCKET, "endpoints": [gateway.url.rpartition("/")[0] for gateway in gateways],
            "access_key": ACCESS_KEY, "secret_key": SECRET_KEY, "options": dict(wishes.options), "storage_nodes": shape.nodes,
            "clients": wishes.clients, "disks": [str(disk.device) for disk in disks], "disk_filesystem": KIND,
        }  # fmt: skip
        return Ready(where[0].directory, FILESYSTEM, facts, where)


def _serve(
    lab: Laboratory, own: Minio | None, hosts: tuple[LabHost, ...], disks: tuple[Disk, ...], shape: Shape
) -> tuple[Gateway, ...]:
    folders = [disk.point / "buckets" for disk in disks]
    for folder in folders:
        folder.mkdir()
    if own is not None:
        return start_minio(lab, own, hosts, folders)
    return start_gateways(lab, hosts, folders[0], shape.words)


def shape_of(wishes: Wishes) -> Shape:
    """Raises UserError for what cannot be had."""
    nodes = 1 if wishes.storage_nodes is None else wishes.storage_nodes
    if wishes.clients < 1 or nodes < 1:
        raise UserError("s3 needs at least 1 client and 1 storage node (a server)")
    for key in wishes.options:
        if key not in OPTIONS:
            raise UserError(
                f's3 has no option "{key}"{did_you_mean(key, OPTIONS)} (it has {", ".join(OPTIONS)})'
            )
    server = wishes.options.get("server", SERVERS[0])
    if server not in SERVERS:
        raise UserError(
            f's3 has no server "{server}"{did_you_mean(server, SERVERS)} (it has {" and ".join(SERVERS)})'
        )
    rest = {key: text for key, text in wishes.options.items() if key != "server"}
    if server == "minio":
        _check_minio(nodes, rest)
        return Shape(nodes, server)
    return Shape(nodes, server, tuple(f"--{key}={text or 'true'}" for key, text in rest.items()))


def _check_minio(nodes: int, rest: Mapping[str, str]) -> None:
    if rest:
        raise UserError(
            f's3\'s option "{next(iter(rest))}" is versitygw\'s; take it out, or server = "minio"'
        )
    if nodes > NODES_AT_MOST:
        raise UserError(f"s3 on minio has at most {NODES_AT_MOST} storage nodes, not {nodes}")
