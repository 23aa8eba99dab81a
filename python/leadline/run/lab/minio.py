"""MinIO as the object store's server: stricter than versitygw, and the one that many sites have. AGPL: leadline neither ships nor
fetches it; the user's own binary is run.

One server keeps objects on one disk. Several make one erasure-coded store, each with a disk of its own.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.go_programs import cache_root
from leadline.run.lab.laboratory import Laboratory
from leadline.run.lab.network import LabHost
from leadline.run.lab.packages import require
from leadline.run.lab.s3_gateway import ACCESS_KEY, BUCKET, PORT, SECRET_KEY, Gateway

NEEDS = {"curl": "curl"}
"""Asks for its health, and makes the bucket by a signed request: unlike versitygw's, its folders are its own affair."""
NODES_AT_MOST = 16
"""Drives of one erasure set; with more, MinIO would choose sets of its own."""
SERVES_WITHIN_SECONDS = 60.0
QUIET = ("MINIO_UPDATE=off", "MINIO_BROWSER=off")
"""It neither asks the network for newer versions nor serves its console."""
WORD = "minio version "


@dataclass(frozen=True)
class Minio:
    """The user's MinIO."""

    program: Path
    version: str


def minio() -> Minio:
    """From the PATH, else from leadline's cache; raises UserError when it is in neither, or is something else."""
    kept = cache_root() / "minio" / "minio"
    found = shutil.which("minio") or shutil.which(kept)
    if found is None:
        raise UserError(
            f'server = "minio" needs the minio server, which leadline does not ship (AGPL); put it on the PATH or at {kept}'
        )
    try:
        asked = subprocess.run((found, "--version"), capture_output=True, text=True, timeout=20, check=False)
        said = asked.stdout.strip().splitlines()[0] if asked.stdout.strip() else asked.stderr.strip()[:80]
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    if not said.startswith(WORD):
        raise UserError(
            f"{found} does not answer --version like the minio server ({said!r}); put the server first on the PATH"
        )
    return Minio(Path(found), said.removeprefix(WORD).split()[0])


def start_minio(
    lab: Laboratory, server: Minio, hosts: Sequence[LabHost], folders: Sequence[Path]
) -> tuple[Gateway, ...]:
    """One server on each host over its own folder, together one store, with an empty bucket."""
    require(NEEDS, lab.journal.tools, lab.tell)
    settings = lab.folder("minio")
    several = len(hosts) > 1
    drives = [
        f"http://{host.address}:{PORT}{folder}" if several else str(folder)
        for host, folder in zip(hosts, folders, strict=True)
    ]
    started = [_start(lab, server, host, drives, settings) for host in hosts]
    for number, host in zip(started, hosts, strict=True):
        lab.wait(number, lambda host=host: _serves(lab, host), SERVES_WITHIN_SECONDS)  # type: ignore[misc]
    gateways = tuple(map(Gateway, hosts))
    _make_bucket(lab, gateways[0])
    return gateways


def _start(lab: Laboratory, server: Minio, host: LabHost, drives: Sequence[str], settings: Path) -> str:
    keys = (f"MINIO_ROOT_USER={ACCESS_KEY}", f"MINIO_ROOT_PASSWORD={SECRET_KEY}")
    address = ("--address", f"{host.address}:{PORT}", "--certs-dir", str(settings))
    serve = (str(server.program), "server", "--quiet", "--anonymous", *address, *drives)
    return lab.start(f"minio{host.number}", ("env", *keys, *QUIET, f"HOME={settings}", *serve), host)


def _serves(lab: Laboratory, host: LabHost) -> bool:
    """Whether enough of its disks answer for writing; a port opens long before."""
    url = f"http://{host.address}:{PORT}/minio/health/cluster"
    try:
        lab.run(*host.inside(("curl", "--silent", "--fail", "--max-time", "5", "--output", "/dev/null", url)))
    except UserError:
        return False
    return True


def _make_bucket(lab: Laboratory, gateway: Gateway) -> None:
    signed = ("--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{ACCESS_KEY}:{SECRET_KEY}")
    ask = (
        "curl",
        "--silent",
        "--show-error",
        "--fail-with-body",
        "--max-time",
        "20",
        "--request",
        "PUT",
        *signed,
    )
    try:
        lab.run(*gateway.host.inside((*ask, gateway.url)))
    except UserError as error:
        raise UserError(f"minio refused to make the bucket {BUCKET}: {error}") from None
