"""A Ceph cluster as it is laid out: which host does what, the bare disks of the OSDs, and ceph.conf.

No authentication: the network is the lab's own. OSDs lie on loop devices without a filesystem, which BlueStore takes at once; so
each disk has counters and can be slowed down.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.run.lab.cephfs_options import Shape
from leadline.run.lab.disks import check_free
from leadline.run.lab.laboratory import Laboratory
from leadline.run.lab.network import SUBNET, LabHost

ROOM = 1.25
"""Bytes of a disk a byte of data."""
ROOM_FLOOR_BYTES = 3 << 30
"""BlueStore's log and database, and the 5 % at which Ceph takes a disk for full."""
OBJECT_BYTES_AT_MOST = (1 << 32) - 1
"""BlueStore's own limit. Ceph's default of 128 MiB is lower, and fio's rados engine does not see that what lies behind it is refused:
it reports 160 MiB written where 128 arrived."""
OSD_MEMORY_BYTES = 896 << 20
"""The least that Ceph takes: an OSD caches data in it."""

# Hurried is only what makes the cluster's maps (paxos, beacons, reports), which rest while something is measured, and how soon a
# thread that waits for an idle disk sees that it shall end (bdev_aio_poll_ms; each start of an OSD opens and closes its disk six times).
CONFIGURATION = """[global]
fsid = {cluster}
mon_host = {monitor}
public_network = {subnet}.0/24
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
keyring = {folder}/keyring
run_dir = {folder}
admin_socket =
log_file =
log_to_file = false
log_to_stderr = true
mon_cluster_log_to_file = false
mon_cluster_log_file =
debug_rocksdb = 1/5
client_mount_timeout = 20
osd_pool_default_size = {replicas}
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
auth_allow_insecure_global_id_reclaim = false
[mon]
mon_data = {storage}/mon
mon_data_avail_crit = 1
mon_data_avail_warn = 1
paxos_propose_interval = 0.05
[mgr]
mgr_data = {folder}/mgr
mgr_initial_modules = iostat
mgr_stats_period = 1
mgr_tick_period = 1
[osd]
osd_data = {folder}/osd$id
osd_crush_initial_weight = 1
osd_memory_target = {osd_memory}
osd_max_object_size = {object_bytes}
bluestore_fsck_on_mkfs = false
bdev_aio_poll_ms = 25
[mds]
mds_data = {folder}/mds
mds_beacon_interval = 0.5
mds_cache_memory_limit = 1073741824
[client]
log_to_stderr = false
"""


@dataclass(frozen=True)
class Node:
    """A storage host with the disk of its OSD."""

    host: LabHost
    device: Path
    identity: str

    @property
    def number(self) -> int:
        """OSDs are counted from 0."""
        return self.host.number - 1

    @property
    def name(self) -> str:
        """As the lab's journal and Ceph's own documentation call it."""
        return f"osd{self.number}"


@dataclass(frozen=True)
class Cluster:
    """A cluster's hosts and files."""

    nodes: tuple[Node, ...]
    monitor: LabHost
    metadata: LabHost
    folder: Path
    storage: Path

    @property
    def configuration(self) -> Path:
        """ceph.conf."""
        return self.folder / "ceph.conf"

    def command(self, program: str, *words: str) -> tuple[str, ...]:
        """Of a tool or a server of this cluster."""
        return (program, "--conf", str(self.configuration), *words)


def make_devices(lab: Laboratory, storage: Path, nodes: int, data_bytes: int) -> tuple[Path, ...]:
    """A bare disk for each node, each big enough for all of the data: placement is only even on average."""
    size_bytes = round(data_bytes * ROOM) + ROOM_FLOOR_BYTES
    check_free(nodes, data_bytes, size_bytes)
    images = (lab.image(storage, size_bytes, f"disk{number}.img") for number in range(1, nodes + 1))
    return tuple(lab.loop(image) for image in images)


def describe(
    lab: Laboratory, hosts: Sequence[LabHost], devices: Sequence[Path], shape: Shape, storage: Path
) -> Cluster:
    """Writes what the servers read: ceph.conf, and a folder for each OSD with a link to its disk."""
    folder = lab.folder("ceph")
    nodes = tuple(Node(host, device, str(uuid.uuid4())) for host, device in zip(hosts, devices, strict=False))
    cluster = Cluster(nodes, hosts[len(nodes)], hosts[len(nodes) + 1], folder, storage)
    text = CONFIGURATION.format(
        cluster=uuid.uuid4(), monitor=cluster.monitor.address, subnet=SUBNET, folder=folder, storage=storage,
        replicas=shape.replicas, osd_memory=OSD_MEMORY_BYTES, object_bytes=OBJECT_BYTES_AT_MOST,
    )  # fmt: skip
    cluster.configuration.write_text("".join([text, *_places(nodes), *_wished(shape)]), encoding="utf-8")
    for node in nodes:
        (folder / node.name).mkdir()
        (folder / node.name / "block").symlink_to(node.device)
    return cluster


def _places(nodes: Iterable[Node]) -> list[str]:
    """Without it all OSDs would count as one host, this machine, and replicas need as many hosts."""
    return [
        f"[osd.{node.number}]\ncrush_location = root=default host=server{node.host.number}\n"
        for node in nodes
    ]


def _wished(shape: Shape) -> list[str]:
    """Last, so that they win."""
    return [
        f"[{section}]\n" + "".join(f"{key} = {text}\n" for key, text in settings.items())
        for section, settings in shape.settings.items()
    ]
