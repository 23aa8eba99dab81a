"""Porcupine (Go, MIT licence) as an outside opinion on histories: built from tools/porcupine, where there is a Go to build it.

Nothing of leadline needs it. What `crates/leadline-checker/examples/export_histories.rs` writes goes through a pipe into it, and
one line of JSON comes out: how many histories, where the two verdicts differ, and how long either side took.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "tools" / "porcupine"
KINDS = ("register", "attribute", "session_file", "append_log", "entry", "name_pair", "locked_counter")
LONGEST_SECONDS = 300


class NotHere(Exception):
    """It cannot be built on this machine; the sentence says why."""


@dataclass(frozen=True)
class Opinion:
    """What both said of the same histories."""

    histories: int
    operations: int
    violating: int
    disagreements: tuple[int, ...]
    leadline_seconds: float
    porcupine_seconds: float


def built(folder: Path) -> Path:
    """The executable, put into the folder; raises NotHere."""
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        raise NotHere("Go is not installed, and Porcupine is written in it")
    done = subprocess.run(
        [go, "build", "-o", str(folder / "porcupine"), "."],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NotHere(f"Porcupine cannot be built or fetched here: {done.stderr.strip()[-300:]}")
    return folder / "porcupine"


def opinion(porcupine: Path, histories: str | bytes) -> Opinion:
    """What it says of exported histories."""
    data = histories.encode() if isinstance(histories, str) else histories
    done = subprocess.run(
        [str(porcupine)], input=data, capture_output=True, timeout=LONGEST_SECONDS, check=False
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode(errors="replace"))
    found = json.loads(done.stdout)
    return Opinion(**{**found, "disagreements": tuple(found["disagreements"])})


def exported(exporter: Path, *words: object) -> bytes:
    """Histories as text, each with the verdict of leadline."""
    argv = [str(exporter), *map(str, words)]
    return subprocess.run(argv, capture_output=True, timeout=LONGEST_SECONDS, check=True).stdout
