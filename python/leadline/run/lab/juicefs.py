"""JuiceFS: metadata in SQLite or Redis, data in a directory or on S3, clients on hosts of their own.

All of it lies in the storage folder and not on a small disk of its own: an overwritten block stays until its chunk is compacted, so
data of 64 MiB has been seen to fill 640 MiB within seconds, and a client whose disk is full tries again without end.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.go_programs import GoProgram, built
from leadline.run.lab.juicefs_options import Choices, choices_of
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.listening import listens
from leadline.run.lab.network import LabHost
from leadline.run.lab.packages import require
from leadline.run.lab.s3_gateway import ACCESS_KEY, SECRET_KEY, VERSITYGW, start_gateways
from leadline.run.lab.state import Ready, Seat, storage_root

FILESYSTEM = "fuse.juicefs"
VOLUME = "leadline"
REDIS = {"redis-server": "redis-server"}
REDIS_PORT = 6379
SERVES_WITHIN_SECONDS = 20.0
ROOM = 2
"""Bytes of disk a byte of data: once where it lies, once in the cache."""
ROOM_FLOOR_BYTES = 4 << 30
"""For overwritten blocks; how many there are depends on how fast and how long is written."""

# Upstream's "lite" set without nosqlite.
JUICEFS = GoProgram(
    "juicefs", "github.com/juicedata/juicefs", "v1.4.1", ".",
    (
        "nogateway", "nowebdav", "nocos", "nobos", "nohdfs", "noibmcos", "noobs", "nooss", "noqingstor", "nosftp", "noswift",
        "noazure", "nogs", "noufile", "nob2", "nonfs", "nodragonfly", "nomysql", "nopg", "notikv", "nobadger", "noetcd",
        "nocifs", "nostorj", "noqiniu", "notos", "noks3",
    ),
    needs_c=True,
)  # fmt: skip

MOUNTED = """
log=$1 point=$2; shift 2
"$@" >>"$log" 2>&1 </dev/null &
client=$!
until mountpoint -q "$point"; do
    kill -0 $client 2>/dev/null || { tail -c 400 "$log" >&2; exit 1; }
    sleep 0.02
done
"""
"""Returns when the client has mounted, or with the end of its log when it ended instead."""
ALONE = "JFS_SUPERVISOR=1"
"""Tells the client that it has a supervisor already (cmd/mount.go): it starts none, which would leave a socket in /tmp when killed."""


@dataclass(frozen=True)
class Place:
    """Where a volume's metadata and data lie, in the words of `juicefs format`."""

    metadata: str
    storage: tuple[str, ...]
    buckets: tuple[str, ...]
    """What the clients take in turns."""


@dataclass(frozen=True)
class JuiceFS:
    """A volume of JuiceFS community edition."""

    summary: str = "JuiceFS: SQLite metadata and a directory; by options Redis and S3; FUSE clients"
    needs: Mapping[str, str] = field(
        default_factory=lambda: {"fusermount3": "fuse3", "mountpoint": "util-linux"}
    )

    @property
    def cannot(self) -> Mapping[str, str]:
        """Conditions that it cannot be held to, and why."""
        return {"disk": "its data lies in a directory of this machine's own disk"}

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """Program, disk, hosts, servers, the volume, then the clients."""
        choices = choices_of(wishes)
        _check_free(wishes)
        program = built(lab, JUICEFS)
        storage = lab.storage()
        hosts = lab.network(choices.servers + wishes.clients).hosts
        servers, clients = hosts[: choices.servers], hosts[choices.servers :]
        place = _place(lab, choices, servers, storage)
        _format(lab, program, clients[0], place, choices)
        mounts = [
            _mount(lab, program, host, place, choices, storage, number) for number, host in enumerate(clients)
        ]
        (mounts[0] / "work").mkdir()
        where = tuple(
            Seat(host.namespace, str(point / "work")) for host, point in zip(clients, mounts, strict=True)
        )
        facts = _facts(lab, program, choices, wishes, place)
        caches = [str(_cache(storage, number)) for number in range(wishes.clients)]
        return Ready(where[0].directory, FILESYSTEM, {**facts, "cache_directories": caches}, where)


def _check_free(wishes: Wishes) -> None:
    needed_bytes = wishes.size_bytes * ROOM + ROOM_FLOOR_BYTES
    status = os.statvfs(storage_root())
    free_bytes = status.f_bavail * status.f_frsize
    if needed_bytes > free_bytes:
        raise UserError(
            f"{storage_root()} has {free_bytes / 2**30:.1f} GiB free and juicefs needs {needed_bytes / 2**30:.1f} GiB; "
            "make room, scale the campaign down, or let LEADLINE_LAB_STORAGE name another disk"
        )


def _place(lab: Laboratory, choices: Choices, servers: Sequence[LabHost], storage: Path) -> Place:
    folder = lab.inside(storage, "data")
    metadata = _redis(lab, servers[0]) if choices.metadata == "redis" else f"sqlite3://{storage}/metadata.db"
    if choices.data == "file":
        return Place(metadata, ("--storage=file",), (f"{folder}/",))
    gateways = start_gateways(lab, servers, folder)
    keys = ("--storage=s3", f"--access-key={ACCESS_KEY}", f"--secret-key={SECRET_KEY}")
    return Place(metadata, keys, tuple(gateway.url for gateway in gateways))


def _redis(lab: Laboratory, host: LabHost) -> str:
    """In memory alone, as in JuiceFS's own benchmarks; reached from the lab's hosts only."""
    require(REDIS, lab.journal.tools, lab.tell)
    words = (
        "redis-server", "--bind", host.address, "--port", str(REDIS_PORT), "--protected-mode", "no", "--save", "",
        "--appendonly", "no", "--daemonize", "no", "--dir", str(lab.folder("redis")),
    )  # fmt: skip
    number = lab.start("redis", words, host)
    lab.wait(number, lambda: listens(lab, host, REDIS_PORT), SERVES_WITHIN_SECONDS)
    return f"redis://{host.address}:{REDIS_PORT}/1"


def _format(lab: Laboratory, program: Path, host: LabHost, place: Place, choices: Choices) -> None:
    """No trash unless asked for: deleted files would fill the disk for a day."""
    trash = () if any(word.startswith("--trash-days=") for word in choices.format) else ("--trash-days=0",)
    bucket = f"--bucket={place.buckets[0]}"
    words = (
        "format",
        "--no-agent",
        "--no-color",
        *place.storage,
        bucket,
        *trash,
        *choices.format,
        place.metadata,
        VOLUME,
    )
    lab.run(*host.inside((str(program), *words)), timeout_seconds=30)


def _mount(
    lab: Laboratory, program: Path, host: LabHost, place: Place, choices: Choices, storage: Path, number: int
) -> Path:
    """No usage report, which goes to the internet, and no agent, which opens a port."""
    name = f"client{number + 1}"
    point, cache = lab.folder(name), lab.inside(storage, _cache(storage, number).name)
    log = lab.state.folder / f"{name}.log"
    words = (
        "env", ALONE, str(program), "--no-agent", "mount", "--no-usage-report", "--no-color", "--no-syslog",
        f"--cache-dir={cache}", f"--bucket={place.buckets[number % len(place.buckets)]}", *choices.mount, place.metadata, str(point),
    )  # fmt: skip
    command = ("sh", "-c", MOUNTED, "leadline", str(log), str(point), *words)
    lab.mount_by(host.inside(command), point, FILESYSTEM, name)
    return point


def _cache(storage: Path, number: int) -> Path:
    return storage / f"cache{number + 1}"


def _facts(
    lab: Laboratory, program: Path, choices: Choices, wishes: Wishes, place: Place
) -> dict[str, object]:
    facts: dict[str, object] = {
        "filesystem": FILESYSTEM,
        "version": lab.run(program, "version").strip(),
        "metadata": choices.metadata,
        "data": choices.data,
        "data_over_network": choices.data != "file",
        "metadata_url": place.metadata,
        "buckets": list(place.buckets),
        "clients": wishes.clients,
        "format_options": list(choices.format),
        "mount_options": list(choices.mount),
    }
    if choices.metadata == "redis":
        facts["redis"] = lab.run("redis-server", "--version").strip()
    if choices.data == "s3":
        facts |= {"gateway": f"versitygw {VERSITYGW.version}", "storage_nodes": choices.servers}
    return facts
