"""Operations that failed are kept by errno, also in runs that were begun before there was a table for them."""

import sqlite3
from dataclasses import replace
from pathlib import Path

from leadline.store.database import Database
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, Latency, Measurement, Status, StepKind, StepRecord

NOTHING = Latency(0, 0.0, histogram=Histogram.from_bins({}))
CREATED = Measurement(
    "client1", 0, Direction.FILE_CREATE, 97, 0, 10**9, NOTHING, failed={"ENOSPC": 2, "EIO": 1}
)
SEEN = Measurement("client1", 0, Direction.FILE_STAT, 100, 0, 10**9, NOTHING)
STEP = StepRecord(0, StepKind.CELL, "tree", {"numjobs": 1}, 0, Status.FINISHED, measurements=(CREATED, SEEN))


def older(path: Path) -> Database:
    """A database as it was before failures had a table."""
    Database.create(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE failure")
    return Database.open(path)


def test_failures_belong_to_their_operation(tmp_path: Path) -> None:
    database = Database.create(tmp_path / "results.sqlite")
    database.save(STEP)
    (read,) = database.records()
    assert [dict(part.failed) for part in read.measurements] == [{"ENOSPC": 2, "EIO": 1}, {}]
    database.close()


def test_a_run_without_the_table_opens_and_has_no_failures(tmp_path: Path) -> None:
    database = older(tmp_path / "results.sqlite")
    database.save(replace(STEP, measurements=(SEEN,)))
    assert [dict(part.failed) for part in database.records()[0].measurements] == [{}]
    database.close()


def test_an_older_run_that_is_resumed_keeps_failures_too(tmp_path: Path) -> None:
    database = older(tmp_path / "results.sqlite")
    database.save(replace(STEP, ordinal=3))
    database.close()
    again = Database.open(tmp_path / "results.sqlite")
    assert again.records()[0].measurements[0].failed == {"ENOSPC": 2, "EIO": 1}
    again.close()


def test_a_step_that_is_run_again_leaves_no_failures_of_the_first_try(tmp_path: Path) -> None:
    database = Database.create(tmp_path / "results.sqlite")
    database.save(STEP)
    database.save(replace(STEP, measurements=(replace(CREATED, failed={}), SEEN)))
    assert all(not part.failed for part in database.records()[0].measurements)
    database.close()
