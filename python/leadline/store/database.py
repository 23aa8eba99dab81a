"""Step records in SQLite: a step is written in one transaction, so `kill -9` leaves it whole or absent."""

from __future__ import annotations

import gc
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.store.manifest import FORMAT_VERSION
from leadline.store.records import StepRecord
from leadline.store.rows import READERS, Row, measurements_of, record_of, rows_of

APPLICATION_ID = 0x6C656164
LATER_TABLES = {
    "failure": (
        "CREATE TABLE IF NOT EXISTS failure (ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, host TEXT NOT NULL, "
        "job INTEGER NOT NULL, direction TEXT NOT NULL, error TEXT NOT NULL, count INTEGER NOT NULL)"
    ),
    "document": (
        "CREATE TABLE IF NOT EXISTS document (ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, kind TEXT NOT NULL, "
        "body BLOB NOT NULL)"
    ),
}
"""Tables that runs of format 1 had not from the beginning: an old run that is resumed gets them when they are needed."""


class Database:
    """The results.sqlite of one run."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def create(cls, path: Path) -> Database:
        """A new, empty database; raises UserError when it cannot be written."""
        try:
            connection = sqlite3.connect(path)
            connection.executescript(resources.files("leadline.store").joinpath("schema.sql").read_text())
        except sqlite3.Error as error:
            raise UserError(f"{path} cannot be created: {error}") from None
        return cls(connection, path)

    @classmethod
    def open(cls, path: Path) -> Database:
        """An existing database; raises UserError when it is missing, broken, foreign or of another version."""
        if not path.is_file():
            raise UserError(f"{path} is missing: this run has no results; give the folder that a run printed")
        try:
            connection = sqlite3.connect(path)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            # SQLite fills a last page that was cut off with zeros, and rows in it would vanish without an error.
            whole = path.stat().st_size % connection.execute("PRAGMA page_size").fetchone()[0] == 0
        except (sqlite3.Error, ValueError) as error:  # ValueError: names that are no UTF-8
            raise UserError(f"{path} is not a readable database ({error}); restore it from a copy") from None
        if application != APPLICATION_ID:
            raise UserError(
                f"{path} is a database, but not one of leadline's; give the folder that a run printed"
            )
        if not whole:
            raise UserError(f"{path} is cut off in the middle of a page; restore it from a copy")
        if version != FORMAT_VERSION:
            raise UserError(
                f"{path} has format {version}, this leadline reads format {FORMAT_VERSION}; use the leadline that wrote it"
            )
        return cls(connection, path)

    def close(self) -> None:
        """Nothing is pending: every save was committed."""
        self._connection.close()

    def save(self, record: StepRecord) -> None:
        """Writes a step, in place of an earlier try at the same ordinal. Raises UserError when the disk will not take it."""
        try:
            with self._connection:
                self._connection.execute("PRAGMA foreign_keys = ON")
                self._connection.execute("DELETE FROM step WHERE ordinal = ?", (record.ordinal,))
                for table, row in rows_of(record):
                    if table in LATER_TABLES:
                        self._connection.execute(LATER_TABLES[table])
                    marks = ", ".join("?" * len(row))
                    self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        except sqlite3.Error as error:
            raise UserError(
                f"step {record.ordinal} could not be saved in {self.path} ({error}); make room and resume: finished steps are safe"
            ) from None

    def records(self) -> list[StepRecord]:
        """All steps in the order of the plan."""
        try:
            with _few_collections():
                parts = {table: self._grouped(table, reader) for table, reader in READERS.items()}
                return [
                    self._assembled(row, parts)
                    for row in self._connection.execute("SELECT * FROM step ORDER BY ordinal")
                ]
        except (sqlite3.Error, ValueError, TypeError, KeyError, zlib.error) as error:
            raise self._damaged(error) from None

    def _assembled(self, row: Row, parts: Mapping[str, Mapping[int, list[Any]]]) -> StepRecord:
        own = {table: groups.get(row[0], []) for table, groups in parts.items()}
        measurements = measurements_of(own["measurement"], own["latency"], own["failure"])
        return record_of(row, measurements, own["job_use"], own["series"], own["document"])

    def finished_ordinals(self) -> set[int]:
        """The steps that need not be run again: finished ones and failed ones, which are results too."""
        try:
            return {row[0] for row in self._connection.execute("SELECT ordinal FROM step")}
        except (sqlite3.Error, ValueError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> UserError:
        return UserError(f"{self.path} is damaged ({error}); restore it from a copy")

    def _grouped(self, table: str, build: Callable[[tuple[Any, ...]], Any]) -> defaultdict[int, list[Any]]:
        groups: defaultdict[int, list[Any]] = defaultdict(list)
        if table in LATER_TABLES and not self._has(table):
            return groups
        for row in self._connection.execute(f"SELECT * FROM {table} ORDER BY ordinal, rowid"):
            groups[row[0]].append(build(row))
        return groups

    def _has(self, table: str) -> bool:
        found = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,))
        return found.fetchone() is not None


@contextmanager
def _few_collections() -> Iterator[None]:
    """No cycle collections while hundreds of thousands of records are made, none of which are in a cycle, nor over them later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
