"""MooseFS: a master, a chunkserver with its own disk on each storage host, FUSE clients on hosts of their own."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.disks import KIND, NEEDS, Disk, make_disks
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.network import LabHost
from leadline.run.lab.state import Ready, Seat

SUBTYPE = "moosefs"
"""Given by us: otherwise the mount table says no more than "fuse"."""
FILESYSTEM = f"fuse.{SUBTYPE}"
GOAL = 3
SERVES_WITHIN_SECONDS = 20.0
SPACE_WITHIN_SECONDS = 30.0
COPIES_WITHIN_SECONDS = 30.0
STOP_SECONDS = 0.3
"""An orderly end takes each server seconds, and what it would write goes away next."""
CLIENT_PORT = 9421
CHUNK_PORT = 9422

EMPTY_METADATA = b"MFSM NEW"
"""The package's metadata.mfs.empty: without it the master takes an empty folder for a lost one."""
EXPORTS = "* / rw,alldirs,admin,maproot=0:0\n"
SYNC_DISKS = "sync-disks"
"""Our own option: a chunkserver answers from its page cache (it has no setting for O_SYNC), so a slow disk would hold back no write."""
CHUNKSERVER_SETTINGS = frozenset(
    {
        "HDD_FSYNC_BEFORE_CLOSE", "HDD_LEAVE_SPACE_DEFAULT", "HDD_RR_CHUNK_COUNT", "HDD_SPARSIFY_ON_WRITE", "HDD_TEST_SPEED",
        "LIMIT_GLIBC_MALLOC_ARENAS", "LOCK_MEMORY", "NICE_LEVEL", "WORKERS_MAX", "WORKERS_MAX_IDLE",
    }
)  # fmt: skip
"""Of mfschunkserver.cfg(5), those that change speed or durability. The server itself passes over a name that it does not know."""


@dataclass(frozen=True)
class Shape:
    """What the wishes come to."""

    nodes: int
    goal: int
    chunkserver: Mapping[str, str]
    """In capitals, as in mfschunkserver.cfg."""
    mount: tuple[str, ...]
    """As after `mfsmount -o`."""
    sync_disks: bool = False
    """Chunkservers' disks mounted with `sync`: what is written is on the disk before it is answered (mount(8))."""


@dataclass(frozen=True)
class MooseFS:
    """A MooseFS that keeps three copies unless told otherwise."""

    summary: str = "MooseFS: a master and 3 chunkservers (goal 3), FUSE clients"
    needs: Mapping[str, str] = field(
        default_factory=lambda: {
            **NEEDS,
            "mfsmaster": "moosefs-master", "mfschunkserver": "moosefs-chunkserver", "mfsmount": "moosefs-client",
            "ss": "iproute2",
        }
    )  # fmt: skip

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Disks, hosts, servers, clients; then the goal, when all the space is there."""
        shape = shape_of(wishes)
        storage = lab.storage()
        disks = make_disks(lab, storage, shape.nodes, wishes.size_bytes)
        for disk in disks if shape.sync_disks else ():
            lab.run("mount", "-o", "remount,sync", disk.point)
        hosts = lab.network(shape.nodes + 1 + wishes.clients).hosts
        master, clients = hosts[shape.nodes], hosts[shape.nodes + 1 :]
        serving = _start_master(lab, master, storage)
        lab.wait(serving, partial(_listens, lab, master, CLIENT_PORT), SERVES_WITHIN_SECONDS)
        for host, disk in zip(hosts, disks, strict=False):
            number = _start_chunkserver(lab, host, master, disk, shape.chunkserver)
            lab.wait(number, partial(_listens, lab, host, CHUNK_PORT), SERVES_WITHIN_SECONDS)
        points = [_mount(lab, host, master, shape, number) for number, host in enumerate(clients, 1)]
        _wait_for_space(points[0], disks)
        _make_work_directory(lab, clients[0], points[0], shape.goal)
        where = tuple(
            Seat(host.namespace, str(point / "work")) for host, point in zip(clients, points, strict=True)
        )
        return Ready(where[0].directory, FILESYSTEM, _facts(lab, hosts, disks, shape, wishes), where)


def shape_of(wishes: Wishes) -> Shape:
    """Raises UserError for what cannot keep that many copies, and for settings that nobody knows."""
    if wishes.clients < 1:
        raise UserError(f"moosefs needs at least 1 client, not {wishes.clients}")
    options = dict(wishes.options)
    goal = _goal(options.pop("goal", str(GOAL)))
    nodes = wishes.storage_nodes if wishes.storage_nodes is not None else max(goal, GOAL)
    if nodes < goal:
        raise UserError(
            f'moosefs keeps goal {goal} copies on as many hosts and has {nodes}; ask for more, or set the option "goal"'
        )
    sync_disks = _flag(SYNC_DISKS, options.pop(SYNC_DISKS, "false"))
    chunkserver = {key: text for key, text in options.items() if key.isupper()}
    for key in chunkserver:
        if key not in CHUNKSERVER_SETTINGS:
            raise UserError(
                f'moosefs has no chunkserver setting "{key}"{did_you_mean(key, CHUNKSERVER_SETTINGS)} '
                "(docs/guide/targets/moosefs.md lists them)"
            )
    mount = [f"{key}={text}" if text else key for key, text in options.items() if not key.isupper()]
    return Shape(nodes, goal, chunkserver, tuple(mount), sync_disks)


def _flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise UserError(f'the option "{name}" of moosefs is true or false, not "{text}"')
    return text.lower() == "true"


def _goal(text: str) -> int:
    if not re.fullmatch("[1-9]", text):
        raise UserError(f'the option "goal" of moosefs is a number from 1 to 9, not "{text}"')
    return int(text)


def _start_master(lab: Laboratory, host: LabHost, storage: Path) -> str:
    """Its metadata and change logs lie on a real disk as well."""
    folder = lab.folder("master")
    data = lab.inside(storage, "metadata")
    (data / "metadata.mfs").write_bytes(EMPTY_METADATA)
    (folder / "exports").write_text(EXPORTS, encoding="utf-8")
    listen = {f"{name}_LISTEN_HOST": host.address for name in ("MATOML", "MATOCS", "MATOCL")}
    settings = {**_own(data), **listen, "EXPORTS_FILENAME": str(folder / "exports")}
    return _start(lab, "mfsmaster", "mfsmaster", host, folder, settings)


def _start_chunkserver(
    lab: Laboratory, host: LabHost, master: LabHost, disk: Disk, wished: Mapping[str, str]
) -> str:
    name = f"chunkserver{host.number}"
    folder = lab.folder(name)
    chunks = disk.point / "chunks"
    chunks.mkdir()
    # No size limit beside the path: on a partition that holds more already it would come out as no space at all.
    (folder / "hdd").write_text(f"{chunks}\n", encoding="utf-8")
    settings = {
        **_own(folder), "HDD_CONF_FILENAME": str(folder / "hdd"), "MASTER_HOST": master.address, "BIND_HOST": host.address,
        "CSSERV_LISTEN_HOST": host.address, "MASTER_RECONNECTION_DELAY": "1", **wished,
    }  # fmt: skip
    return _start(lab, "mfschunkserver", name, host, folder, settings)


def _own(data: Path) -> dict[str, str]:
    return {"WORKING_USER": "root", "WORKING_GROUP": "root", "DATA_PATH": str(data)}


def _start(
    lab: Laboratory, command: str, name: str, host: LabHost, folder: Path, settings: Mapping[str, str]
) -> str:
    path = folder / f"{command}.cfg"
    path.write_text("".join(f"{key} = {text}\n" for key, text in settings.items()), encoding="utf-8")
    recover = ("-a",) if command == "mfsmaster" else ()  # from its change logs, after a kill
    return lab.start(
        name, (command, *recover, "-f", "-c", str(path), "start"), host, stop_seconds=STOP_SECONDS
    )


def _listens(lab: Laboratory, host: LabHost, port: int) -> bool:
    sockets = ("ss", "--no-header", "--listening", "--tcp", f"sport = {port}")
    return bool(lab.run(*host.inside(sockets)).strip())


def _mount(lab: Laboratory, host: LabHost, master: LabHost, shape: Shape, number: int) -> Path:
    point = lab.folder(f"client{number}")
    options = ",".join((f"subtype={SUBTYPE}", *shape.mount))
    command = ("mfsmount", str(point), "-H", master.address, "-o", options)
    lab.mount_by(host.inside(command), point, FILESYSTEM, f"client{number}")
    return point


def _wait_for_space(point: Path, disks: Sequence[Disk]) -> None:
    """A chunkserver counts when the master knows its space: before, new chunks get fewer copies."""
    wanted_bytes = 0.8 * sum(_size_bytes(disk.point) for disk in disks)
    _wait_until(
        lambda: _size_bytes(point) >= wanted_bytes, SPACE_WITHIN_SECONDS,
        f"the master of moosefs did not see the space of all {len(disks)} chunkservers", point.parent,
    )  # fmt: skip


def _size_bytes(point: Path) -> int:
    status = os.statvfs(point)
    return status.f_blocks * status.f_frsize


def _make_work_directory(lab: Laboratory, host: LabHost, point: Path, goal: int) -> None:
    """What is made in it has the goal, and no trash: deleted files would fill the disks for a day."""
    work = point / "work"
    work.mkdir()
    lab.run(*host.inside(("mfssetgoal", "-r", str(goal), str(work))))
    lab.run(*host.inside(("mfssettrashtime", "-r", "0", str(work))))
    probe = work / "probe"
    _wait_until(
        lambda: _copies(lab, host, probe) == goal, COPIES_WITHIN_SECONDS,
        f"moosefs did not keep {goal} copies of a file", point.parent,
    )  # fmt: skip


def _copies(lab: Laboratory, host: LabHost, probe: Path) -> int:
    """Of a new file's only chunk; the file is removed again."""
    try:
        probe.write_bytes(b"probe")
        said = lab.run(*host.inside(("mfsfileinfo", str(probe))))
        probe.unlink()
    except OSError:
        return 0
    return len(re.findall(r"copy \d+: ", said))


def _wait_until(true: Callable[[], bool], at_most_seconds: float, otherwise: str, folder: Path) -> None:
    until = time.monotonic() + at_most_seconds
    while not true():
        if time.monotonic() > until:
            said = " ".join((folder / "mfsmaster.log").read_text(errors="replace").split())[-400:]
            raise UserError(f"{otherwise} within {at_most_seconds:g} s; the master said: {said}")
        time.sleep(0.05)


def _facts(
    lab: Laboratory, hosts: Sequence[LabHost], disks: Sequence[Disk], shape: Shape, wishes: Wishes
) -> dict[str, object]:
    return {
        "filesystem": FILESYSTEM, "version": f"MooseFS {lab.run('mfsmaster', '-v').removeprefix('version: ').strip()}",
        "goal": shape.goal, "storage_nodes": shape.nodes, "clients": wishes.clients,
        "chunkserver_settings": dict(shape.chunkserver), "sync_disks": shape.sync_disks, "mount_options": list(shape.mount),
        "master": hosts[shape.nodes].address, "servers": [host.address for host in hosts[: shape.nodes]],
        "server_namespaces": [host.namespace for host in hosts[: shape.nodes + 1]],
        "disks": [str(disk.device) for disk in disks], "disk_filesystem": KIND,
    }  # fmt: skip
