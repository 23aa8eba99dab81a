"""What this machine can and cannot measure, and why: the facts behind `leadline doctor`.

Tried, not believed: direct I/O and fio's engines run on a small file in the directory itself, which is
removed again. Bounded: everything that starts a program shares one deadline.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from leadline.run.observe.finding import Finding, State
from leadline.run.observe.fio_probes import probe_fio
from leadline.run.observe.machine import Machine, sentence_for
from leadline.run.observe.machine_probes import judge_machine
from leadline.run.observe.storage_probes import judge_cache_drop, judge_filesystem, probe_direct_io

BUDGET_SECONDS = 4.5


def examine(directory: Path, root: Path = Path("/"), fio: str = "fio") -> list[Finding]:
    """Every finding about the machine and the directory, the directory's first."""
    deadline = time.monotonic() + BUDGET_SECONDS
    machine = Machine(root)
    if machine.is_live:
        directory = directory.absolute()
        findings = _examine_directory(machine, directory, fio, deadline)
    else:
        findings = judge_filesystem(machine, directory)
    return [*findings, judge_cache_drop(machine), *judge_machine(machine)]


def _examine_directory(machine: Machine, directory: Path, fio: str, deadline: float) -> list[Finding]:
    """Real I/O where it is allowed; without it fio is still looked at."""
    if not directory.is_dir():
        sentence = f"{directory} is not a directory that exists."
        refusal = Finding("directory", State.MISSING, sentence, "Create it, or name another.")
        return [refusal, *probe_fio(machine, None, fio, deadline)]
    return [*judge_filesystem(machine, directory), *_try_directory(machine, directory, fio, deadline)]


def _try_directory(machine: Machine, directory: Path, fio: str, deadline: float) -> list[Finding]:
    try:
        with _scratch(directory) as scratch:
            return [probe_direct_io(scratch), *probe_fio(machine, scratch, fio, deadline)]
    except OSError as error:
        sentence = f"Nothing could be tried: {sentence_for(error, directory, 'written')}"
        refusal = Finding("directory", State.MISSING, sentence, "Name a directory that you may write to.")
        return [refusal, *probe_fio(machine, None, fio, deadline)]


@contextmanager
def _scratch(directory: Path) -> Iterator[Path]:
    with TemporaryDirectory(prefix=".leadline-probe-", dir=directory) as name:
        yield Path(name)
