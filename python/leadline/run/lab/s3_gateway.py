"""versitygw: an S3 server over a directory. Objects are plain files below it, a bucket is a directory.

Several gateways may serve the same directory, which is how it scales; the disk behind them stays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.run.lab.go_programs import GoProgram, built
from leadline.run.lab.laboratory import Laboratory
from leadline.run.lab.listening import listens
from leadline.run.lab.network import LabHost

VERSITYGW = GoProgram("versitygw", "github.com/versity/versitygw", "v1.8.0", "./cmd/versitygw")
PORT = 7070
BUCKET = "leadline"
ACCESS_KEY = "leadline"
SECRET_KEY = "leadline-secret"
"""Known to everybody: the server is reached from the lab's own hosts only."""
SERVES_WITHIN_SECONDS = 20.0


@dataclass(frozen=True)
class Gateway:
    """A gateway that serves."""

    host: LabHost

    @property
    def url(self) -> str:
        """Of the bucket, as the lab's hosts reach it."""
        return f"http://{self.host.address}:{PORT}/{BUCKET}"


def start_gateways(
    lab: Laboratory, hosts: Sequence[LabHost], folder: Path, options: Sequence[str] = ()
) -> tuple[Gateway, ...]:
    """One on each host over `folder`, which must be on a filesystem with extended attributes; with an empty bucket."""
    program = built(lab, VERSITYGW)
    (folder / BUCKET).mkdir()
    started = [_start(lab, program, host, folder, options) for host in hosts]
    for number, host in zip(started, hosts, strict=True):
        lab.wait(number, lambda host=host: listens(lab, host, PORT), SERVES_WITHIN_SECONDS)  # type: ignore[misc]
    return tuple(map(Gateway, hosts))


def _start(lab: Laboratory, program: Path, host: LabHost, folder: Path, options: Sequence[str]) -> str:
    keys = (f"ROOT_ACCESS_KEY={ACCESS_KEY}", f"ROOT_SECRET_KEY={SECRET_KEY}")
    serve = (str(program), "--port", f"{host.address}:{PORT}", "--quiet", "posix", *options, str(folder))
    return lab.start(f"versitygw{host.number}", ("env", *keys, *serve), host)
