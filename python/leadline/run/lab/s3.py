"""An object store: versitygw on hosts of its own over one disk, and hosts for clients that reach it. There is nothing to mount."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.disks import KIND, NEEDS, make_disks
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.s3_gateway import ACCESS_KEY, BUCKET, SECRET_KEY, VERSITYGW, start_gateways
from leadline.run.lab.state import Ready

FILESYSTEM = "s3"
OPTIONS = ("concurrency", "disableotmp", "enable-odirect", "io-buffer-size", "nometa")
"""Of `versitygw posix`, those that change speed or durability."""


@dataclass(frozen=True)
class ObjectStore:
    """Where it is and how to sign is in the facts; `Ready.directory` is the bucket's URL, as the clients' hosts reach it."""

    summary: str = "an S3 object store (versitygw), for object loads: nothing to mount"
    needs: Mapping[str, str] = field(default_factory=lambda: dict(NEEDS))

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Disk, hosts, gateways."""
        options = words_of(wishes)
        nodes = 1 if wishes.storage_nodes is None else wishes.storage_nodes
        (disk,) = make_disks(lab, lab.storage(), 1, wishes.size_bytes)
        folder = disk.point / "buckets"
        folder.mkdir()
        hosts = lab.network(nodes + wishes.clients).hosts
        gateways = start_gateways(lab, hosts[:nodes], folder, options)
        where = tuple(
            (host.namespace, gateways[place % nodes].url) for place, host in enumerate(hosts[nodes:])
        )
        facts = {
            "filesystem": FILESYSTEM, "server": f"versitygw {VERSITYGW.version}", "bucket": BUCKET,
            "endpoints": [gateway.url.rpartition("/")[0] for gateway in gateways], "access_key": ACCESS_KEY,
            "secret_key": SECRET_KEY, "options": dict(wishes.options), "storage_nodes": nodes, "clients": wishes.clients,
            "disks": [str(disk.device)], "disk_filesystem": KIND,
        }  # fmt: skip
        return Ready(where[0][1], FILESYSTEM, facts, where)


def words_of(wishes: Wishes) -> tuple[str, ...]:
    """As words of the command line; raises UserError for what cannot be had."""
    if wishes.clients < 1 or (wishes.storage_nodes is not None and wishes.storage_nodes < 1):
        raise UserError("s3 needs at least 1 client and 1 storage node (a gateway)")
    for key in wishes.options:
        if key not in OPTIONS:
            raise UserError(
                f's3 has no option "{key}"{did_you_mean(key, OPTIONS)} (it has {", ".join(OPTIONS)})'
            )
    return tuple(f"--{key}={text or 'true'}" for key, text in wishes.options.items())
