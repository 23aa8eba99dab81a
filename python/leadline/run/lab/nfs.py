"""NFS: NFS-Ganesha on storage hosts of its own, each with its own disk, reached by fio's libnfs engine in user space.

There is nothing to mount: clients are hosts from which the servers are reached. Each server has its own rpcbind, by which
NFSv3 clients find it; the two meet at a socket under /run, so they share a mount namespace in which /run is their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.disks import KIND, NEEDS, Disk, make_disks
from leadline.run.lab.fio_engine_build import NEEDS as ENGINE_NEEDS
from leadline.run.lab.fio_engine_build import built_engine
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.listening import listens
from leadline.run.lab.network import LabHost
from leadline.run.lab.nfs_options import PROTOCOL, Shape, configuration, shape_of
from leadline.run.lab.state import Ready, Seat
from leadline.run.lab.tools import ToolFailed
from leadline.run.seams import Access

FILESYSTEM = "nfs"
IOENGINE = "nfs"
EXPORT = "/export"
PROGRAMS = ("100003", "100005")
"""NFS and its mount protocol (rpc(5)): both must answer."""
SERVES_WITHIN_SECONDS = 20.0
COMPLAINT = re.compile(r":CONFIG :CRIT :Config File \((.+):(\d+)\): (.+)")
STOP_SECONDS = 0.5
"""An orderly end takes Ganesha a second, and what it would write goes away next."""
RPCBIND = "mount -t tmpfs leadline /run && exec rpcbind -f"
RPCBIND_PORT = 111


@dataclass(frozen=True)
class Server:
    """A storage host with its running Ganesha."""

    host: LabHost
    disk: Disk
    number: str
    """Ganesha's entry in the journal."""

    def url(self, shape: Shape) -> str:
        """As libnfs takes it."""
        return f"nfs://{self.host.address}{EXPORT}{shape.query}"


@dataclass(frozen=True)
class Nfs:
    """NFSv3 servers side by side; the jobs of a client are dealt out over them."""

    summary: str = (
        'NFSv3: NFS-Ganesha servers, fio\'s libnfs engine as client (ioengine = "nfs"): nothing to mount'
    )
    needs: Mapping[str, str] = field(
        default_factory=lambda: {
            **NEEDS, **ENGINE_NEEDS,
            "ganesha.nfsd": "nfs-ganesha-vfs", "rpcbind": "rpcbind", "rpcinfo": "rpcbind", "unshare": "util-linux",
        }
    )  # fmt: skip

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """The engine, disks, hosts, servers."""
        shape = shape_of(wishes)
        engine = built_engine(lab)
        storage = lab.storage()
        disks = make_disks(lab, storage, shape.nodes, wishes.size_bytes)
        hosts = lab.network(shape.nodes + wishes.clients).hosts
        servers = [_start(lab, host, disk, storage, shape) for host, disk in zip(hosts, disks, strict=False)]
        for server in servers:
            lab.wait(server.number, partial(_serves, lab, server), SERVES_WITHIN_SECONDS)
        urls = tuple(server.url(shape) for server in servers)
        clients = hosts[shape.nodes :]
        return Ready(
            urls[0], FILESYSTEM, _facts(lab, servers, engine, shape, wishes),
            clients=tuple(Seat(host.namespace, urls[0]) for host in clients),
            accesses={IOENGINE: Access(f"external:{engine}", spread=tuple({"nfs_url": url} for url in urls))},
        )  # fmt: skip


def _start(lab: Laboratory, host: LabHost, disk: Disk, storage: Path, shape: Shape) -> Server:
    """rpcbind first: without it Ganesha ends with "Cannot register NFS V3"."""
    name, export = f"ganesha{host.number}", disk.point / "export"
    export.mkdir()
    # On the disk and not in the lab's folder, which lies under /run.
    path = storage / f"{name}.conf"
    path.write_text(configuration(export, EXPORT, shape), encoding="utf-8")
    lab.parts[name] = host.number  # before rpcbind: a host is counted under the name of its first part
    rpcbind = lab.start(f"rpcbind{host.number}", ("unshare", "--mount", "sh", "-c", RPCBIND), host)
    # By its port and not by its socket: as long as it has no /run of its own, one would see that of this machine's rpcbind.
    lab.wait(rpcbind, partial(listens, lab, host, RPCBIND_PORT), SERVES_WITHIN_SECONDS)
    enter = ("nsenter", "--target", _pid(lab, rpcbind), "--mount", "--")
    serve = (
        "ganesha.nfsd",
        "-F",
        "-f",
        str(path),
        "-L",
        "STDERR",
        "-p",
        "/run/ganesha.pid",
        "-N",
        "NIV_EVENT",
    )
    number = lab.start(name, (*enter, *serve), host, stop_seconds=STOP_SECONDS)
    return Server(host, disk, number)


def _pid(lab: Laboratory, number: str) -> str:
    return (lab.journal.identity(number) or "").partition(":")[0]


def _serves(lab: Laboratory, server: Server) -> bool:
    """Whether both programs answer. Raises UserError for a configuration that Ganesha complains about: it would not serve the export."""
    answers = _answers(lab, server)
    _check_configuration(lab, server)  # only now: it complains before it answers
    return answers


def _answers(lab: Laboratory, server: Server) -> bool:
    """A call that does nothing, found by way of rpcbind as clients find them."""
    try:
        for program in PROGRAMS:
            asked = ("rpcinfo", "-T", "tcp", server.host.address, program, str(PROTOCOL))
            lab.run(*server.host.inside(asked), timeout_seconds=SERVES_WITHIN_SECONDS)
    except ToolFailed:
        return False
    return True


def _check_configuration(lab: Laboratory, server: Server) -> None:
    log = lab.state.folder / f"ganesha{server.host.number}.log"
    found = COMPLAINT.search(log.read_text(errors="replace"))
    if found:
        path, line, said = found.groups()
        wrong = Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip(" ;")
        raise UserError(f'NFS-Ganesha does not take the option "{wrong}": {said}')


def _facts(
    lab: Laboratory, servers: Sequence[Server], engine: Path, shape: Shape, wishes: Wishes
) -> dict[str, object]:
    version = lab.run("ganesha.nfsd", "-v").split("=")[-1].split("\n")[0].strip()
    return {
        "filesystem": FILESYSTEM, "version": f"NFS-Ganesha {version}", "protocol": f"NFSv{PROTOCOL}",
        "libnfs": lab.run("pkg-config", "--modversion", "libnfs").strip(), "engine": str(engine),
        "storage_nodes": shape.nodes, "clients": wishes.clients, "options": dict(shape.options),
        "servers": [server.host.address for server in servers],
        "server_namespaces": [server.host.namespace for server in servers],
        "disks": [str(server.disk.device) for server in servers], "disk_filesystem": KIND,
    }  # fmt: skip
