"""The servers of a Ceph cluster: made, started, introduced to each other, and waited for.

Every command runs inside the lab's network, since Ceph looks for its addresses there, and under a timeout: without a monitor they wait
for minutes. The OSDs' disks are made while the manager loads its modules and the monitor hears of OSDs and pools.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from leadline.errors import UserError
from leadline.run.lab.cephfs_cluster import Cluster, Node
from leadline.run.lab.cephfs_options import Shape
from leadline.run.lab.laboratory import Laboratory
from leadline.run.lab.listening import listens
from leadline.run.lab.network import LabHost
from leadline.run.lab.processes import alive

FILESYSTEM_NAME = "leadline"
METADATA_POOL, DATA_POOL, IMAGE_POOL, OBJECT_POOL = POOLS = ("metadata", "data", "rbd", "rados")
METADATA_PLACEMENT_GROUPS = 16
MONITOR_PORT = 3300
SERVES_WITHIN_SECONDS = 30.0
CLEAN_WITHIN_SECONDS = 60.0
COMMAND_SECONDS = 40.0
CONNECT_SECONDS = 20
ASK_EVERY_SECONDS = 0.15
"""The command takes as long itself, on a core that the servers need to come up."""
STOP_SECONDS = 0.3
"""What an orderly end would write goes away next."""


def start(lab: Laboratory, cluster: Cluster, shape: Shape) -> dict[str, str]:
    """Every server, and the pools, of which nothing is waited for yet; the servers' entries in the journal by name."""
    _make_monitor(lab, cluster)
    monitor = _start(lab, cluster, "mon", cluster.monitor, "a")
    lab.wait(monitor, partial(listens, lab, cluster.monitor, MONITOR_PORT), SERVES_WITHIN_SECONDS)
    with ThreadPoolExecutor(len(cluster.nodes)) as parallel:
        making = [parallel.submit(_make_osd, lab, cluster, node) for node in cluster.nodes]
        manager = _start(lab, cluster, "mgr", cluster.monitor, "x")
        _tell_monitor(lab, cluster, [*_introductions(cluster), *_pools(shape)])
        for made in making:
            made.result()
    osds = {node.name: _start(lab, cluster, node.name, node.host, str(node.number)) for node in cluster.nodes}
    servers = {**osds, "mon": monitor, "mgr": manager}
    _wait(lab, cluster, servers, SERVES_WITHIN_SECONDS, _osds_are_up)
    # Only now: with objects in them, placement groups that began on two OSDs would have to recover first.
    return {**servers, "mds": _start(lab, cluster, "mds", cluster.metadata, "m")}


def wait_until_clean(lab: Laboratory, cluster: Cluster, servers: Mapping[str, str]) -> None:
    """Until every placement group has all of its replicas and the metadata server is active."""
    _wait(lab, cluster, servers, CLEAN_WITHIN_SECONDS, _is_clean)


def ask(lab: Laboratory, cluster: Cluster, *words: str) -> Any:
    """What the administrator's command answers, from its JSON."""
    asking = cluster.command("ceph", "--connect-timeout", str(CONNECT_SECONDS), "--format", "json", *words)
    return json.loads(lab.run(*cluster.monitor.inside(asking), timeout_seconds=COMMAND_SECONDS))


def _make_monitor(lab: Laboratory, cluster: Cluster) -> None:
    making = cluster.command("ceph-mon", "--mkfs", "--id", "a")
    (cluster.storage / "mon").mkdir()
    lab.run(*cluster.monitor.inside(making), timeout_seconds=COMMAND_SECONDS)


def _make_osd(lab: Laboratory, cluster: Cluster, node: Node) -> None:
    making = cluster.command("ceph-osd", "--mkfs", "--id", str(node.number), "--osd-uuid", node.identity)
    lab.run(*node.host.inside(making), timeout_seconds=COMMAND_SECONDS)


def _start(lab: Laboratory, cluster: Cluster, name: str, host: LabHost, identity: str) -> str:
    program = f"ceph-{name[:3]}"
    words = cluster.command(program, "--foreground", "--id", identity)
    return lab.start(name, words, host, stop_seconds=STOP_SECONDS)


def _introductions(cluster: Cluster) -> list[str]:
    """The monitor lets in only OSDs that it has heard of."""
    # The module would make a pool of its own, for the health of disks that are none.
    return [
        "config set mgr mgr/devicehealth/enable_monitoring false --force",
        *(f"osd new {node.identity} {node.number}" for node in cluster.nodes),
    ]


def _pools(shape: Shape) -> list[str]:
    groups = {METADATA_POOL: METADATA_PLACEMENT_GROUPS} | dict.fromkeys(
        (DATA_POOL, IMAGE_POOL, OBJECT_POOL), shape.placement_groups
    )
    return [
        *(f"osd pool create {pool} {count}" for pool, count in groups.items()),
        f"osd pool application enable {IMAGE_POOL} rbd",
        f"osd pool application enable {OBJECT_POOL} rados",
        f"fs new {FILESYSTEM_NAME} {METADATA_POOL} {DATA_POOL}",
    ]


def _tell_monitor(lab: Laboratory, cluster: Cluster, orders: Sequence[str]) -> None:
    """All by one command, which takes longer to start than to carry them out. It ends with 0 whatever they came to."""
    asking = cluster.command("ceph", "--connect-timeout", str(CONNECT_SECONDS))
    words = ("sh", "-c", 'exec "$@" 2>&1', "leadline", *cluster.monitor.inside(asking))
    said = lab.journal.tools.run(*words, text="\n".join(orders) + "\n", timeout_seconds=COMMAND_SECONDS)
    complaints = [line for line in said.splitlines() if line.startswith("Error")]
    if complaints:
        raise UserError(f"the monitor of cephfs said: {' '.join(complaints[0].split())}")


def _wait(
    lab: Laboratory,
    cluster: Cluster,
    servers: Mapping[str, str],
    at_most_seconds: float,
    reached: Callable[[Any], bool],
) -> None:
    """Until the cluster's status is as wished; raises UserError when it takes too long or a server has ended."""
    until = time.monotonic() + at_most_seconds
    while not reached(status := ask(lab, cluster, "status")):
        for number in servers.values():
            lab.wait(number, partial(_lives, lab, number), 0)
        if time.monotonic() > until:
            raise UserError(
                f"cephfs was not ready within {at_most_seconds:g} s; `ceph status` says: {_summary(status)}"
            )
        time.sleep(ASK_EVERY_SECONDS)


def _lives(lab: Laboratory, number: str) -> bool:
    return alive(lab.journal.identity(number) or "0:")


def _osds_are_up(status: Any) -> bool:
    osds = status["osdmap"]
    return bool(osds["num_up_osds"] == osds["num_osds"] > 0)


def _is_clean(status: Any) -> bool:
    """The manager knows of new groups a moment later: as long as it counts fewer pools, they are not all in its report."""
    groups = {each["state_name"] for each in status["pgmap"]["pgs_by_state"]}
    ranks = [each["status"] for each in status["fsmap"]["by_rank"]]
    pools = status["pgmap"]["num_pools"]
    return groups == {"active+clean"} and ranks == ["up:active"] and pools == len(POOLS)


def _summary(status: Any) -> str:
    groups = {each["state_name"]: each["count"] for each in status["pgmap"]["pgs_by_state"]}
    osds, ranks = status["osdmap"], [each["status"] for each in status["fsmap"]["by_rank"]]
    return f"{osds['num_up_osds']} of {osds['num_osds']} OSDs up, placement groups {groups}, metadata server {ranks}"
