"""What a host reached by ssh is, and leadline's engine on it: looked at before anything runs there.

The engine is copied once, under the hash of its bytes, so that hosts need nothing installed but fio.
"""

from __future__ import annotations

import hashlib
import subprocess
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.deadline import killed_after
from leadline.run.executable import engine_executable
from leadline.run.hosts.ssh_connection import Connection

LOOK = r"""
engine="$HOME/.cache/leadline/engine-$1"
echo "engine=$engine"
echo "engine_hash=$(sha256sum 2>/dev/null < "$engine" | cut -d ' ' -f 1)"
echo "kernel=$(uname -sr)"
echo "architecture=$(uname -m)"
echo "cores=$(getconf _NPROCESSORS_ONLN)"
echo "memory_kib=$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)"
echo "fio_version=$(fio --version 2>/dev/null)"
echo "scratch=${TMPDIR:-/tmp}"
for tool in cat cut head mkdir mv rm sha256sum tar; do
  command -v $tool > /dev/null || echo "missing=$tool"
done
"""
INSTALL = r"""
mkdir -p "${1%/*}" && cat > "$1.$$" && chmod 755 "$1.$$" && mv -f "$1.$$" "$1"
"""
CLOCK = "while read -r _; do date +%s%N; done"
CLOCK_READINGS = 7
COPIED_WITHIN_SECONDS = 120.0


@dataclass(frozen=True)
class RemoteMachine:
    """One host, for the environment record and for what runs there."""

    kernel: str
    architecture: str
    cores: int
    memory_bytes: int
    fio_version: str
    """As `fio --version` says; empty where there is none."""
    engine: str
    """Where leadline's engine lies there."""
    scratch: str
    """The folder for temporary files."""
    round_trip_ns: int
    """The shortest seen of a line there and one back, a process started there included."""
    clock_ahead_ns: int
    """How far its clock is ahead of ours, known to within half the round trip."""

    def facts(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "clock_known_to_within_ns": self.round_trip_ns // 2}


def look_at(connection: Connection) -> RemoteMachine:
    """Looks, and brings the engine there where it is missing; raises UserError when leadline cannot work there."""
    engine_hash, content = _engine()
    seen = _told(connection.ask(("sh", "-c", LOOK, "leadline", engine_hash[:16])))
    if missing := seen.get("missing"):
        raise UserError(f"{connection.destination} has no {missing}, which leadline needs there; install it")
    if seen["engine_hash"] != engine_hash:
        connection.ask(("sh", "-c", INSTALL, "leadline", seen["engine"]), COPIED_WITHIN_SECONDS, content)
    _check_engine(connection, seen["engine"], seen["architecture"])
    round_trip_ns, clock_ahead_ns = _clock(connection)
    return RemoteMachine(
        kernel=seen["kernel"],
        architecture=seen["architecture"],
        cores=int(seen["cores"] or 0),
        memory_bytes=int(seen["memory_kib"] or 0) * 1024,
        fio_version=seen["fio_version"],
        engine=seen["engine"],
        scratch=seen["scratch"],
        round_trip_ns=round_trip_ns,
        clock_ahead_ns=clock_ahead_ns,
    )


@cache
def _engine() -> tuple[str, bytes]:
    content = Path(engine_executable()).resolve().read_bytes()
    return hashlib.sha256(content).hexdigest(), content


def _told(text: str) -> dict[str, str]:
    """A login shell may say other things too."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value.strip() for name, sign, value in pairs if sign}


def _check_engine(connection: Connection, engine: str, architecture: str) -> None:
    try:
        version = connection.ask((engine, "--version"))
    except UserError as error:
        raise UserError(
            f"leadline's engine does not run on {connection.destination} ({architecture}): {error}; build leadline on a "
            "machine like that one, or as old"
        ) from None
    if not version.startswith("leadline-engine"):
        raise UserError(f"{engine} on {connection.destination} is not leadline's engine; remove it")


def _clock(connection: Connection) -> tuple[int, int]:
    """Round trip and how far the clock there is ahead: the reading with the shortest round trip bounds it best."""
    process = subprocess.Popen(
        connection.argv(("sh", "-c", CLOCK)),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    readings = []
    with process, killed_after(process, 10):
        for _ in range(CLOCK_READINGS):
            before = time.time_ns()
            process.stdin.write(b"\n")
            said = process.stdout.readline().strip()
            after = time.time_ns()
            if not said.isdigit():
                raise UserError(
                    f"{connection.destination} does not tell its time: {said.decode(errors='replace')}"
                )
            readings.append((after - before, int(said) - (before + after) // 2))
        process.stdin.close()
    return min(readings)
