"""What the fio of this machine can really do: its engines are started on a 4 KiB file, not believed.

Lists lie in both directions: documentation names engines that a package lacks, and a listed io_uring may be
switched off by sysctl or seccomp.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from leadline.run.observe.finding import Finding, State
from leadline.run.observe.machine import Machine
from leadline.run.observe.versions import fio_version

STARTED_ENGINES = ("io_uring", "libaio", "psync", "sync", "mmap", "posixaio")
SERVED_ENGINES = ("nfs", "gfapi", "rbd", "rados", "rdma")
"""Engines that need a server: only their presence can be seen here."""

PROBE_FILE = "probe.bin"
PROBE_BYTES = 4096
ENGINES_AT_ONCE = 2
INSTALL_FIO = "Install fio, on Debian or Ubuntu with: apt-get install fio"

QUIRKS = (
    # (last version known to have it, None for every one so far; what a user must know)
    (None, "rate= leaves schedule delay out of its latencies"),
    ((3, 38), "its client/server mode gives no percentiles for all clients together"),
    ((3, 33), "io_submit_mode=offload may hang"),
    ((3, 33), "it logs no issue times"),
)


@dataclass(frozen=True)
class Outcome:
    """How one short fio ended."""

    succeeded: bool
    output: str
    complaint: str


@dataclass(frozen=True)
class Bench:
    """What it takes to try something: where, with which fio, and until when on time.monotonic's clock."""

    machine: Machine
    directory: Path
    fio: str
    deadline: float


def probe_fio(machine: Machine, directory: Path | None, fio: str, deadline: float) -> list[Finding]:
    """Version and engines; engines are started only where a directory is given that takes a probe file."""
    version = fio_version(machine, fio)
    if version is None:
        why = next((entry["why"] for entry in machine.unreadable if entry["what"] == "fio version"), "")
        return [Finding("fio", State.MISSING, f"fio cannot be used: {why}", INSTALL_FIO)]
    listed = _listed_engines(_run([fio, "--enghelp"], Path("/"), deadline).output)
    if not listed:
        sentence = "fio --enghelp names no engines: what this fio can do is unknown."
        return [_describe_version(version), Finding("fio engines", State.LIMITED, sentence, INSTALL_FIO)]
    findings = [_describe_version(version), *(_describe_served(name, listed) for name in SERVED_ENGINES)]
    if directory is not None:
        findings += _start_engines(Bench(machine, directory, fio, deadline), listed)
    return findings


def _describe_version(version: str) -> Finding:
    numbers = re.search(r"(\d+)\.(\d+)", version)
    if numbers is None:
        return Finding(
            "fio", State.LIMITED, f'fio calls itself "{version}", a version leadline does not know.'
        )
    known = (int(numbers[1]), int(numbers[2]))
    quirks = [quirk for last_seen, quirk in QUIRKS if last_seen is None or known <= last_seen]
    return Finding("fio", State.OK, f"{version} is installed; " + "; ".join(quirks) + ".")


def _listed_engines(output: str) -> set[str]:
    """`fio --enghelp`: a heading, then one indented name a line."""
    return {line.split()[0] for line in output.splitlines() if line[:1].isspace() and line.strip()}


def _describe_served(name: str, listed: Iterable[str]) -> Finding:
    subject = f"fio engine {name}"
    if name in listed:
        return Finding(subject, State.OK, f"fio has {name}; it needs a server, so it was not started.")
    return Finding(
        subject, State.MISSING, f"This fio was built without {name}.", f"Build fio from source with {name}."
    )


def _start_engines(bench: Bench, listed: set[str]) -> list[Finding]:
    (bench.directory / PROBE_FILE).write_bytes(bytes(PROBE_BYTES))
    with ThreadPoolExecutor(ENGINES_AT_ONCE) as pool:
        return list(pool.map(lambda name: _start_engine(bench, name, listed), STARTED_ENGINES))


def _start_engine(bench: Bench, name: str, listed: set[str]) -> Finding:
    subject = f"fio engine {name}"
    if name not in listed:
        return Finding(subject, State.MISSING, f"This fio was built without {name}.")
    if time.monotonic() >= bench.deadline:
        return Finding(subject, State.LIMITED, f"{name} was not tried: the time for probing was used up.")
    # The file's name is relative: fio would split an absolute path at every colon.
    job = f"--name=probe --filename={PROBE_FILE} --rw=read --bs={PROBE_BYTES} --size={PROBE_BYTES}".split()
    command = [bench.fio, *job, f"--ioengine={name}", "--number_ios=1", "--output-format=json"]
    outcome = _run(command, bench.directory, bench.deadline)
    if outcome.succeeded and _reads_done(outcome.output) == 1:
        return Finding(subject, State.OK, f"{name} reads here.")
    why, remedy = _why_not(bench.machine, name, outcome)
    return Finding(subject, State.MISSING, f"{name} does not start: {why}.", remedy)


def _reads_done(output: str) -> int:
    """Total reads in fio's JSON, before which a warning may stand; an exit code alone proves nothing."""
    try:
        document = json.loads(output[output.index("{") :])
        return sum(int(job["read"]["total_ios"]) for job in document["jobs"])
    except (ValueError, KeyError, TypeError):
        return 0


def _why_not(machine: Machine, name: str, outcome: Outcome) -> tuple[str, str | None]:
    if name == "io_uring" and machine.integer("/proc/sys/kernel/io_uring_disabled"):
        return "the sysctl kernel.io_uring_disabled forbids it", "As root: sysctl kernel.io_uring_disabled=0"
    if name == "io_uring" and machine.fields("/proc/self/status").get("Seccomp") == "2":
        return "a seccomp filter, as containers have, seems to forbid it", "Run outside the container."
    return outcome.complaint, None


def _run(command: list[str], directory: Path, deadline: float) -> Outcome:
    """Run until the deadline, then kill the whole group: a hung fio survives SIGTERM."""
    try:
        process = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return Outcome(False, "", f"{command[0]} cannot be started ({error.strerror})")
    try:
        output, complaints = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Outcome(False, "", "it hung and was killed")
    said = next(filter(None, map(str.strip, (complaints + "\n" + output).splitlines())), "")
    return Outcome(process.returncode == 0, output, said.rstrip(".") or f"exit code {process.returncode}")
