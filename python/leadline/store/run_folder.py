"""One run, one folder: manifest.json, environment.json, results.sqlite, raw/ (what the engines printed, compressed).

Order of writing is the guarantee: a step's raw output is in place before its row is committed, so a row never points
at nothing, and whatever `kill -9` leaves behind without a row is overwritten by the resumed step.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.store.database import Database
from leadline.store.manifest import Manifest
from leadline.store.records import StepRecord


class RunFolder:
    """A stored run, opened for reading or for adding steps."""

    def __init__(self, path: Path, manifest: Manifest, database: Database) -> None:
        self.path = path
        self.manifest = manifest
        self._database = database

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> RunFolder:
        """A new run; raises UserError when the folder holds anything already or cannot be written."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise UserError(f"{path} is not empty; give a new folder for the results with --output")
            (path / "raw").mkdir()
            database = Database.create(path / "results.sqlite")
            manifest.write(path / "manifest.json")
        except OSError as error:
            raise UserError(
                f"the results cannot be kept in {path}: {error.strerror}; give another folder with --output"
            ) from None
        return cls(path, manifest, database)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """An existing run; raises UserError when it is none, broken or of another format."""
        if not path.is_dir():
            raise UserError(f"{path} is not a run: no such folder")
        return cls(path, Manifest.read(path / "manifest.json"), Database.open(path / "results.sqlite"))

    @property
    def environment(self) -> dict[str, Any]:
        """The environment record; empty when none was kept (imports)."""
        path = self.path / "environment.json"
        try:
            return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"{path} is damaged ({error}); restore it or remove it to go on without"
            ) from None

    def save_environment(self, environment: Mapping[str, Any]) -> None:
        """Once per run."""
        _write_atomically(self.path / "environment.json", json.dumps(environment, indent=1).encode())

    def save(self, record: StepRecord, raw: Mapping[str, bytes] | None = None) -> None:
        """Raw output first, then the step in one transaction. Raises UserError when the disk will not take it."""
        try:
            for name, content in (raw or {}).items():
                _write_atomically(self.raw_path(record.ordinal, name), gzip.compress(content, 6, mtime=0))
        except OSError as error:
            raise UserError(
                f"the output of step {record.ordinal} could not be kept in {self.path}: {error.strerror}; "
                "make room and resume: finished steps are safe"
            ) from None
        self._database.save(record)

    def raw_path(self, ordinal: int, name: str) -> Path:
        """Where the raw output `name` of a step lies, compressed."""
        return self.path / "raw" / f"{ordinal:05d}.{name}.gz"

    def records(self) -> list[StepRecord]:
        """All steps, in the order of the plan."""
        return self._database.records()

    def finished_ordinals(self) -> set[int]:
        """Steps that have a result (also a failed one)."""
        return self._database.finished_ordinals()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Held while steps are added; raises UserError when another leadline holds it. The kernel frees it on `kill -9`."""
        with (self.path / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(
                    f"{self.path} is being written by another leadline; wait for it or give another --output"
                ) from None
            yield

    def close(self) -> None:
        """Closes the database."""
        self._database.close()


def _write_atomically(path: Path, content: bytes) -> None:
    draft = path.with_name(path.name + ".draft")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
