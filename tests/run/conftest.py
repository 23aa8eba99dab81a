"""Steps made by hand, and a fio that does what a test says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leadline.plan.steps import Layout, Step
from leadline.run.engines import fio_capabilities
from leadline.store.records import StepKind

LAYOUT = Layout("files-1x64k", 1, 1, 65536)
CACHED = ("installed_fio", "_known_option", "_engine_options", "_ask", "starts")

FAKE_FIO = """#!/bin/sh
for argument; do
    case "$argument" in
        --version) echo fio-3.33; exit 0;;
        --enghelp) printf 'Available IO engines:\\n\\tpsync\\n\\tlibaio\\n\\tnull\\n'; exit 0;;
        --enghelp=*|--cmdhelp=*) echo "No such command"; exit 1;;
        --output=*) output="${argument#--output=}";;
    esac
done
"""


@pytest.fixture
def step() -> Callable[..., Step]:
    """A step with the usual cell, and what the test says in place of it."""

    def make(ordinal: int = 0, cell: dict[str, Any] | None = None, **settings: Any) -> Step:
        usual: dict[str, Any] = {
            "rw": "randread", "block_size": 4096, "iodepth": 1, "numjobs": 1, "ioengine": "psync", "direct": False,
            "size": 65536, "nrfiles": 1,
        }  # fmt: skip
        kind = settings.pop("kind", StepKind.CELL)
        defaults: dict[str, Any] = {"experiment": "e", "engine": "fio", "files": "reuse", "layout": LAYOUT}
        return Step(ordinal, kind, cell=usual | (cell or {}), **(defaults | settings))

    return make


@pytest.fixture
def fake_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Puts a fio first on PATH that answers like one and then runs the lines given; `$output` is its result file."""

    def install(lines: str) -> Path:
        path = tmp_path / "bin" / "fio"
        path.parent.mkdir()
        path.write_text(FAKE_FIO + lines + "\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
        forget()
        return path

    yield install
    forget()


def forget() -> None:
    """What the last fio answered is not what this one would."""
    for name in CACHED:
        getattr(fio_capabilities, name).cache_clear()
