"""GlusterFS: a glusterd and a brick on each storage host, a replicated volume over them, FUSE clients on hosts of their own.

glusterd takes its folders from no option (sockets in /run/gluster, bricks' logs in /var/log/glusterfs), so each gets a mount
namespace in which those folders are its own. Its state starts empty, without the distribution's hook scripts: on volume start
those edit this machine's Samba configuration.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.disks import KIND, NEEDS, Disk, make_disks
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.listening import listens
from leadline.run.lab.network import LabHost
from leadline.run.lab.state import Ready, Seat
from leadline.run.seams import Access

FILESYSTEM = "fuse.glusterfs"
VOLUME = "leadline"
PORT = 24007
REPLICAS = 3
SERVES_WITHIN_SECONDS = 20.0
JOINED_WITHIN_SECONDS = 20.0
CONNECTED_WITHIN_SECONDS = 20.0
STOP_SECONDS = 2.0
COMMAND_SECONDS = 30.0

SET_BY_US = {"volfile-server", "volfile-id", "log-file"}
CONFIGURATION = """volume management
    type mgmt/glusterd
    option working-directory /var/lib/glusterd
    option transport-type socket
    option transport.socket.keepalive-time 10
    option transport.socket.keepalive-interval 2
    option ping-timeout 0
end-volume
"""
"""As the distribution's file; without the keepalive options no peer can be probed (glusterd-handler.c, MSGID 106498)."""
OWN_PLACE = """
echo "$3" > /proc/sys/kernel/hostname &&
mount --bind "$1" /var/lib/glusterd && mount --bind "$2" /var/log/glusterfs &&
mount -t tmpfs leadline /run && mkdir /run/gluster &&
exec glusterd --no-daemon --volfile=/var/lib/glusterd/glusterd.vol --log-file=- --pid-file=/run/glusterd.pid
"""
"""By exec all the way, so that the process of the journal becomes glusterd; /run last: it hides the lab's own folder.

The name of the host is its own, too: a client takes a brick of its own host's name for local and reads from it alone (afr-common.c,
`afr_local_pathinfo`), so on one kernel under one name all reads of all files would go to one of the three copies.
"""


@dataclass(frozen=True)
class Node:
    """A storage host with its running glusterd."""

    host: LabHost
    disk: Disk
    number: str
    """glusterd's entry in the journal."""

    @property
    def brick(self) -> Path:
        """Below the mount point: an unmounted disk has no brick, and glusterd refuses to serve it."""
        return self.disk.point / "brick"


@dataclass(frozen=True)
class Shape:
    """What the wishes come to."""

    nodes: int
    replicas: int
    volume: Mapping[str, str]
    """Options of the volume: their names have a dot."""
    mount: Mapping[str, str]
    """Options of the client: their names have none."""


@dataclass(frozen=True)
class GlusterFS:
    """A volume of GlusterFS, three replicas unless told otherwise."""

    summary: str = "GlusterFS: a replicated volume on 3 hosts (replica 3), FUSE clients"
    needs: Mapping[str, str] = field(
        default_factory=lambda: {
            **NEEDS,
            "glusterd": "glusterfs-server", "gluster": "glusterfs-cli", "glusterfs": "glusterfs-client",
        }
    )  # fmt: skip

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Disks, hosts, servers, the volume, then the clients."""
        shape = shape_of(wishes)
        _check_mount_options(lab, shape.mount)
        disks = make_disks(lab, lab.storage(), shape.nodes, wishes.size_bytes)
        hosts = lab.network(shape.nodes + wishes.clients).hosts
        nodes = [_start(lab, host, disk) for host, disk in zip(hosts, disks, strict=False)]
        for node in nodes:
            lab.wait(node.number, partial(_serves, lab, node), SERVES_WITHIN_SECONDS)
        _make_volume(lab, nodes, shape)
        logs = lab.folder("logs")
        clients = [_mount(lab, host, nodes, shape.mount, logs) for host in hosts[shape.nodes :]]
        (clients[0] / "work").mkdir()
        where = tuple(
            Seat(host.namespace, str(point / "work"))
            for host, point in zip(hosts[shape.nodes :], clients, strict=True)
        )
        facts = _facts(lab, nodes, shape, wishes)
        return Ready(where[0].directory, FILESYSTEM, facts, where, {"gfapi": _access(nodes[0])})


def shape_of(wishes: Wishes) -> Shape:
    """Raises UserError for what makes no volume."""
    if wishes.clients < 1:
        raise UserError(f"glusterfs needs at least 1 client, not {wishes.clients}")
    options = dict(wishes.options)
    replicas = _replicas(options.pop("replica", str(REPLICAS)))
    nodes = wishes.storage_nodes if wishes.storage_nodes is not None else replicas
    if nodes < 1 or nodes % replicas:
        raise UserError(
            f"glusterfs makes sets of {replicas} replicas, which {nodes} storage nodes are not a multiple of; "
            f'take {max(1, nodes // replicas) * replicas}, or set the option "replica"'
        )
    volume = {key: text for key, text in options.items() if "." in key}
    mount = {key: text for key, text in options.items() if "." not in key}
    return Shape(nodes, replicas, volume, mount)


def _check_mount_options(lab: Laboratory, options: Mapping[str, str]) -> None:
    """Before anything is made: the client itself would complain only when the volume is up."""
    known = set(re.findall(r"--([a-z0-9-]+)", lab.run("glusterfs", "--help"))) - SET_BY_US
    for key in options:
        if key not in known:
            raise UserError(
                f'the client of glusterfs has no option "{key}"{did_you_mean(key, known)} '
                "(glusterfs --help lists them; options of the volume have a dot in their names)"
            )


def _replicas(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]?", text):
        raise UserError(f'the option "replica" of glusterfs is a number from 1 to 99, not "{text}"')
    return int(text)


def _start(lab: Laboratory, host: LabHost, disk: Disk) -> Node:
    folder = lab.folder(f"glusterd{host.number}")
    state, logs = lab.inside(folder, "state"), lab.inside(folder, "logs")
    (state / "glusterd.vol").write_text(CONFIGURATION, encoding="utf-8")
    own = (str(state), str(logs), host.namespace)
    words = ("unshare", "--mount", "--uts", "sh", "-c", OWN_PLACE, "leadline", *own)
    return Node(host, disk, lab.start(f"glusterd{host.number}", words, host, stop_seconds=STOP_SECONDS))


def _serves(lab: Laboratory, node: Node) -> bool:
    """Whether it answers on the socket in its own /run. That it has one shows in its port, which only glusterd itself opens: before,
    one would see the machine's own /run, where another glusterd may answer.
    """
    if not listens(lab, node.host, PORT):
        return False
    if not Path(f"/proc/{_pid(lab, node)}/root/run/glusterd.socket").is_socket():
        return False
    try:
        _gluster(lab, node, "pool", "list")
    except UserError:
        return False
    return True


def _gluster(lab: Laboratory, node: Node, *words: str) -> str:
    """The administrator's command, in the namespaces of its glusterd: they meet at a socket under /run."""
    enter = ("nsenter", "--target", _pid(lab, node), "--mount", "--net", "--")
    return lab.run(*enter, "gluster", "--mode=script", *words, timeout_seconds=COMMAND_SECONDS)


def _pid(lab: Laboratory, node: Node) -> str:
    return (lab.journal.identity(node.number) or "").partition(":")[0]


def _make_volume(lab: Laboratory, nodes: Sequence[Node], shape: Shape) -> None:
    first = nodes[0]
    for node in nodes[1:]:
        _gluster(lab, first, "peer", "probe", node.host.address)
    # Each of them: a brick is staged where it will lie, and refused while that host does not see the others yet.
    lab.wait(
        first.number, lambda: all(_joined(lab, node) == len(nodes) for node in nodes), JOINED_WITHIN_SECONDS
    )
    for node in nodes:
        node.brick.mkdir()
    sets = ("replica", str(shape.replicas)) if shape.replicas > 1 else ()
    # force: without it a replica of 2 is refused, and so is a brick whose disk glusterd takes for the root filesystem
    bricks = [f"{node.host.address}:{node.brick}" for node in nodes]
    _gluster(lab, first, "volume", "create", VOLUME, *sets, *bricks, "force")
    for key, text in shape.volume.items():
        _gluster(lab, first, "volume", "set", VOLUME, key, text)
    _gluster(lab, first, "volume", "start", VOLUME)


def _joined(lab: Laboratory, node: Node) -> int:
    return _gluster(lab, node, "pool", "list").count("Connected")


def _mount(
    lab: Laboratory, host: LabHost, nodes: Sequence[Node], options: Mapping[str, str], logs: Path
) -> Path:
    name = f"client{host.number - len(nodes)}"
    point = lab.folder(name)
    servers = [f"--volfile-server={node.host.address}" for node in nodes]
    words = [f"--{key}={text}" if text else f"--{key}" for key, text in options.items()]
    log = logs / f"{name}.log"
    command = ("glusterfs", *servers, f"--volfile-id={VOLUME}", f"--log-file={log}", *words, str(point))
    lab.mount_by(host.inside(command), point, FILESYSTEM, name)
    _wait_for_bricks(point, [node.brick for node in nodes], log)
    return point


def _wait_for_bricks(point: Path, bricks: Sequence[Path], log: Path) -> None:
    """A client that has not reached every replica yet writes to fewer and looks faster than it is."""
    until = time.monotonic() + CONNECTED_WITHIN_SECONDS
    while not _reaches(point, bricks):
        if time.monotonic() > until:
            said = " ".join(log.read_text(errors="replace").split())[-400:]
            raise UserError(
                f"the glusterfs client at {point} did not reach every brick within {CONNECTED_WITHIN_SECONDS:g} s; it said: {said}"
            )
        time.sleep(0.05)


def _reaches(point: Path, bricks: Sequence[Path]) -> bool:
    """Whether a directory made through the client is at once on all of them, and goes again."""
    probe = point / "probe"
    try:
        probe.mkdir()
        reached = all((brick / probe.name).is_dir() for brick in bricks)
        probe.rmdir()
    except OSError:
        with suppress(OSError):  # of a look that failed half-way: then the next one fails on it as well
            probe.rmdir()
        return False
    return reached


def _access(node: Node) -> Access:
    """The library instead of the mount, on the same files. The host is asked for the volume's layout, data goes to all bricks."""
    # Jobs as threads: the library's own threads would not survive a fork.
    return Access("gfapi", {"volume": VOLUME, "brick": node.host.address, "thread": "1"}, root="/work")


def _facts(lab: Laboratory, nodes: Sequence[Node], shape: Shape, wishes: Wishes) -> dict[str, object]:
    return {
        "filesystem": FILESYSTEM, "version": lab.run("glusterfs", "--version").split("\n")[0],
        "replicas": shape.replicas, "storage_nodes": shape.nodes, "clients": wishes.clients,
        "volume": VOLUME, "volume_options": dict(shape.volume), "mount_options": dict(shape.mount),
        "servers": [node.host.address for node in nodes], "server_namespaces": [node.host.namespace for node in nodes],
        "disks": [str(node.disk.device) for node in nodes], "disk_filesystem": KIND,
    }  # fmt: skip
