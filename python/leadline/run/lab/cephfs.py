"""CephFS: a small cluster on hosts of its own, FUSE clients (ceph-fuse) on others, RBD images and RADOS objects beside the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.cephfs_cluster import OBJECT_BYTES_AT_MOST, Cluster, describe, make_devices
from leadline.run.lab.cephfs_options import Shape, shape_of
from leadline.run.lab.cephfs_servers import IMAGE_POOL, OBJECT_POOL, start, wait_until_clean
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.network import LabHost
from leadline.run.lab.state import Ready, Seat
from leadline.run.lab.tools import ToolFailed
from leadline.run.seams import Access

FILESYSTEM = "fuse.ceph-fuse"
USER = "admin"
IMAGES_AT_ONCE = 8
"""Making one is mostly waiting."""
SERVERS_BESIDE_OSDS = 2
"""Hosts: of the monitor and the manager, and of the metadata server."""
CACHES = (
    "ceph-fuse keeps data in its own memory (client_oc) and in the kernel's page cache; direct=1 passes by both. "
    "OSDs keep data in theirs (osd_memory_target)"
)


@dataclass(frozen=True)
class CephFS:
    """A CephFS that keeps three replicas unless told otherwise."""

    summary: str = (
        "CephFS: monitor, manager, metadata server and 3 OSDs (size 3), FUSE clients; RBD and RADOS"
    )
    needs: Mapping[str, str] = field(
        default_factory=lambda: {
            "ceph-mon": "ceph-mon", "ceph-mgr": "ceph-mgr", "ceph-osd": "ceph-osd", "ceph-mds": "ceph-mds",
            "ceph-fuse": "ceph-fuse", "ceph": "ceph-common", "rbd": "ceph-common", "ss": "iproute2",
        }
    )  # fmt: skip

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Disks, hosts, servers; then images, and the clients with a directory to work in."""
        shape = shape_of(wishes)
        _check_values(lab, shape)
        storage = lab.storage()
        devices = make_devices(lab, storage, shape.nodes, wishes.size_bytes)
        hosts = lab.network(shape.nodes + SERVERS_BESIDE_OSDS + wishes.clients).hosts
        cluster = describe(lab, hosts, devices, shape, storage)
        wait_until_clean(lab, cluster, start(lab, cluster, shape))
        images = _make_images(lab, cluster, shape.images, wishes.size_bytes)
        clients = hosts[shape.nodes + SERVERS_BESIDE_OSDS :]
        points = [_mount(lab, cluster, host, number) for number, host in enumerate(clients, 1)]
        _make_work_directory(points[0], shape)
        seats = tuple(
            Seat(host.namespace, str(point / "work")) for host, point in zip(clients, points, strict=True)
        )
        facts = _facts(lab, cluster, shape, wishes)
        return Ready(seats[0].directory, FILESYSTEM, facts, seats, _accesses(cluster, images, wishes))


def _check_values(lab: Laboratory, shape: Shape) -> None:
    """Before anything is made: what its servers cannot read they pass over."""
    for settings in shape.settings.values():
        for key, text in settings.items():
            try:
                lab.run("ceph-conf", "--conf", os.devnull, f"--{key}={text}", "--show-config-value", key)
            except ToolFailed as error:
                complaint = error.said.partition(" unable to parse")[0]
                raise UserError(f'the option "{key}" of cephfs cannot be "{text}": {complaint}') from None


def _make_images(lab: Laboratory, cluster: Cluster, count: int, size_bytes: int) -> tuple[str, ...]:
    """Each big enough for all of the data, and empty: space is taken when it is written."""
    names = tuple(f"image{number}" for number in range(count))
    mebibytes = max(1, -(-size_bytes >> 20))

    def make(name: str) -> None:
        making = cluster.command("rbd", "create", "--pool", IMAGE_POOL, "--size", f"{mebibytes}M", name)
        lab.run(*cluster.monitor.inside(making))

    with ThreadPoolExecutor(IMAGES_AT_ONCE) as parallel:
        list(parallel.map(make, names))
    return names


def _mount(lab: Laboratory, cluster: Cluster, host: LabHost, number: int) -> Path:
    """ceph-fuse returns when it is mounted, and stays behind."""
    name = f"client{number}"
    point = lab.folder(name)
    log = lab.state.folder / f"{name}.log"
    words = cluster.command("ceph-fuse", "--id", USER, f"--log-file={log}", "--log-to-file=true", str(point))
    lab.mount_by(host.inside(words), point, FILESYSTEM, name)
    return point


def _make_work_directory(point: Path, shape: Shape) -> None:
    """What is made in it is laid out as wished."""
    work = point / "work"
    work.mkdir()
    wished = " ".join(f"{key}={number}" for key, number in shape.layout.items())
    if not wished:
        return
    try:
        os.setxattr(work, "ceph.dir.layout", wished.encode())
    except OSError:
        raise UserError(
            f"cephfs cannot lay files out as {wished}: stripe_unit is a multiple of 65536 and object_size one of stripe_unit"
        ) from None


def _accesses(cluster: Cluster, images: Sequence[str], wishes: Wishes) -> dict[str, Access]:
    """Past the files: librbd on images of their own, librados on objects of their own."""
    configuration = str(cluster.configuration)
    accesses = {}
    if images:
        accesses["rbd"] = Access(
            "rbd",
            options={"clientname": USER, "pool": IMAGE_POOL},
            spread=tuple({"rbdname": name} for name in images),
            environment={"CEPH_CONF": configuration},
            named=False,
        )
    if offers_objects(wishes):
        accesses["rados"] = _rados(configuration)
    return accesses


def offers_objects(wishes: Wishes) -> bool:
    """To fio a file is one object: only where none can grow beyond what an object holds, since fio would not see it refused."""
    return wishes.size_bytes <= OBJECT_BYTES_AT_MOST


def _rados(configuration: str) -> Access:
    # fio's engine ends without a result when it shall flush, and there is nothing to flush: what is acknowledged is on all disks.
    unflushed = {"end_fsync": "0", "fsync_on_close": "0"}
    return Access(
        "rados", options={"clientname": USER, "pool": OBJECT_POOL, "conf": configuration, **unflushed}
    )


def _facts(lab: Laboratory, cluster: Cluster, shape: Shape, wishes: Wishes) -> dict[str, object]:
    servers = [*(node.host for node in cluster.nodes), cluster.monitor, cluster.metadata]
    return {
        "filesystem": FILESYSTEM, "version": lab.run("ceph-osd", "--version").strip(),
        "replicas": shape.replicas, "storage_nodes": shape.nodes, "clients": wishes.clients,
        "placement_groups": shape.placement_groups, "images": shape.images, "layout": dict(shape.layout),
        "options": _flat(shape.settings.values()), "caches": CACHES,
        "servers": [host.address for host in servers], "server_namespaces": [host.namespace for host in servers],
        "disks": [str(node.device) for node in cluster.nodes], "disk_filesystem": "none (BlueStore)",
    }  # fmt: skip


def _flat(sections: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {key: text for settings in sections for key, text in settings.items()}
