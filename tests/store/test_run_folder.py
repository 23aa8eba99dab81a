"""A run folder survives whatever happens to it, or says in one sentence that it did not."""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.store.database import Database
from leadline.store.histogram import Histogram
from leadline.store.manifest import FORMAT_VERSION, Manifest
from leadline.store.records import Direction, Latency, Measurement, Status, StepKind, StepRecord
from leadline.store.run_folder import RunFolder
from leadline.store.series import Series, SeriesTable

MANIFEST = Manifest("a run", "campaign", "/data", "2026-01-01T00:00:00+00:00", "0.1", seed=3, scale_effects=("x became y",),
                    argv=("leadline", "run"), plan=({"ordinal": 0},), limits={"read": 1e9})  # fmt: skip


def record(ordinal: int = 0) -> StepRecord:
    latency = Latency(10, 5.0, histogram=Histogram.from_bins({5: 10}))
    return StepRecord(
        ordinal, StepKind.CELL, "e", {"rw": "read", "block_size": 4096}, 0, Status.FINISHED,
        measurements=(Measurement("local", 0, Direction.READ, 10, 40960, 10**9, latency),),
        counters=SeriesTable.group([Series("cpu.0.busy_share", "1", [1, 2], [0.5, 0.6])]),
    )  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A stored run of two steps."""
    folder = RunFolder.create(tmp_path / "run", MANIFEST)
    for ordinal in (0, 1):
        folder.save(record(ordinal), {"fio.json": b"{}"})
    folder.save_environment({"kernel": "6"})
    folder.close()
    return tmp_path / "run"


def read_all(path: Path) -> list[StepRecord]:
    """Everything that a report reads."""
    folder = RunFolder.open(path)
    try:
        assert isinstance(folder.environment, dict)
        assert isinstance(folder.finished_ordinals(), set)
        return folder.records()
    finally:
        folder.close()


def test_a_run_is_read_back_as_it_was_written(run: Path) -> None:
    folder = RunFolder.open(run)
    assert folder.manifest == MANIFEST
    assert folder.environment == {"kernel": "6"}
    assert folder.finished_ordinals() == {0, 1}
    assert gzip.decompress(folder.raw_path(1, "fio.json").read_bytes()) == b"{}"


def test_raw_output_is_the_same_bytes_whenever_it_is_written(tmp_path: Path) -> None:
    """No time stamp inside: a rerun of the analysis does not look like a change."""
    for name in ("one", "two"):
        RunFolder.create(tmp_path / name, MANIFEST).save(record(), {"fio.json": b"same"})
    one, two = ((tmp_path / name / "raw" / "00000.fio.json.gz").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_folder_that_holds_anything_is_not_taken_for_results(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="not empty"):
        RunFolder.create(tmp_path, MANIFEST)
    assert (tmp_path / "thesis.tex").read_text() == "x"


def test_results_cannot_be_kept_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="--output"):
        RunFolder.create(tmp_path / "file" / "run", MANIFEST)


def test_a_step_that_fails_to_be_saved_leaves_nothing_of_itself(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last table refuses its row, as a disk that fills up in the middle would."""
    with sqlite3.connect(run / "results.sqlite") as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON series BEGIN SELECT RAISE(FAIL, 'disk full'); END"
        )
    folder = RunFolder.open(run)
    with pytest.raises(UserError, match=r"step 2 could not be saved.*disk full.*resume"):
        folder.save(record(2))
    with pytest.raises(UserError):
        folder.save(record(0))
    assert [each.ordinal for each in folder.records()] == [0, 1]
    assert folder.records()[0].measurements, "the earlier try at a step is still whole"


def test_a_step_killed_between_its_raw_output_and_its_row_has_not_happened(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder.open(run)
    monkeypatch.setattr(Database, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        folder.save(record(2), {"fio.json": b"half"})
    monkeypatch.undo()
    assert folder.finished_ordinals() == {0, 1}
    folder.save(record(2), {"fio.json": b"whole"})
    assert gzip.decompress(folder.raw_path(2, "fio.json").read_bytes()) == b"whole"


def test_only_one_leadline_writes_a_run_at_a_time(run: Path) -> None:
    one, two = RunFolder.open(run), RunFolder.open(run)
    with one.locked(), pytest.raises(UserError, match="another leadline"), two.locked():
        pass
    with two.locked():
        pass


def damage(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def change_manifest(run: Path, **changes: Any) -> None:
    document = json.loads((run / "manifest.json").read_text()) | changes
    (run / "manifest.json").write_text(
        json.dumps({key: value for key, value in document.items() if value is not ...}, default=str)
    )


def sql(run: Path, statement: str) -> None:
    with sqlite3.connect(run / "results.sqlite") as connection:
        connection.executescript(statement)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "no such folder"),
    "no manifest": (lambda run: (run / "manifest.json").unlink(), "not a leadline run"),
    "manifest cut off": (lambda run: damage(run / "manifest.json", (run / "manifest.json").read_bytes()[:100]), "manifest"),
    "manifest empty": (lambda run: damage(run / "manifest.json", b""), "manifest"),
    "manifest is a list": (lambda run: damage(run / "manifest.json", b"[]"), "not a leadline manifest"),
    "manifest of something else": (lambda run: damage(run / "manifest.json", b'{"name": "app"}'), "not a leadline manifest"),
    "manifest not text": (lambda run: damage(run / "manifest.json", b"\xff\xfe\x00"), "manifest"),
    "manifest of a newer format": (lambda run: change_manifest(run, format_version=FORMAT_VERSION + 1), "use the leadline that wrote it"),
    "manifest with a foreign key": (lambda run: change_manifest(run, surprise=1), "not a manifest of format"),
    "manifest without its name": (lambda run: damage(run / "manifest.json", b'{"format_version": 1}'), "not a manifest of format"),
    "manifest is a folder": (lambda run: [(run / "manifest.json").unlink(), (run / "manifest.json").mkdir()], "manifest"),
    "no database": (lambda run: (run / "results.sqlite").unlink(), "no results"),
    "database cut off": (lambda run: damage(run / "results.sqlite", (run / "results.sqlite").read_bytes()[:5000]), "results.sqlite"),
    "database empty": (lambda run: damage(run / "results.sqlite", b""), "not one of leadline's"),
    "database is text": (lambda run: damage(run / "results.sqlite", b"hello " * 999), "not a readable database"),
    "database of something else": (lambda run: sql(run, "PRAGMA application_id = 7"), "not one of leadline's"),
    "database of a newer format": (lambda run: sql(run, "PRAGMA user_version = 2"), "use the leadline that wrote it"),
    "a table is missing": (lambda run: sql(run, "DROP TABLE series"), "damaged"),
    "no table is left": (lambda run: sql(run, "DROP TABLE step"), "damaged"),
    "a histogram is cut off": (lambda run: sql(run, "UPDATE latency SET histogram = x'789c'"), "damaged"),
    "a histogram is text": (lambda run: sql(run, "UPDATE latency SET histogram = 'abc'"), "damaged"),
    "a latency is missing": (lambda run: sql(run, "DELETE FROM latency WHERE ordinal = 1"), "damaged"),
    "a cell is no JSON": (lambda run: sql(run, "UPDATE step SET cell = '{'"), "damaged"),
    "a status is unknown": (lambda run: sql(run, "UPDATE step SET status = 'fine'"), "damaged"),
    "a direction is unknown": (lambda run: sql(run, "UPDATE measurement SET direction = 'up'"), "damaged"),
    "a series is odd": (lambda run: sql(run, "UPDATE series SET times_ns = x'00'"), "damaged"),
    "a series is a number": (lambda run: sql(run, "UPDATE series SET times_ns = 5"), "damaged"),
    "environment cut off": (lambda run: damage(run / "environment.json", b'{"kernel"'), "damaged"),
    "environment is a number": (lambda run: damage(run / "environment.json", b"7"), "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_or_foreign_run_is_refused_in_one_sentence_with_its_path(what: str, run: Path) -> None:
    breaking, words = BROKEN[what]
    breaking(run)
    with pytest.raises(UserError, match=words) as refused:
        read_all(run)
    assert str(run) in str(refused.value)


def test_bits_flipped_anywhere_in_the_database_never_end_in_a_traceback(run: Path, tmp_path: Path) -> None:
    whole = (run / "results.sqlite").read_bytes()
    random = Random(20260101)
    refused = 0
    for _ in range(400):
        changed = bytearray(whole)
        for _ in range(random.choice([1, 8, 64])):
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        damage(run / "results.sqlite", bytes(changed))
        try:
            read_all(run)
        except UserError:
            refused += 1
    assert refused > 100, "the flips are large enough to be noticed"


def test_a_database_cut_off_anywhere_is_refused_or_still_holds_all_it_held(run: Path) -> None:
    """The last pages may be those of an index, without which every row is still there."""
    whole, steps = (run / "results.sqlite").read_bytes(), repr(read_all(run))
    refused = 0
    for length in range(1, len(whole), 1024):
        damage(run / "results.sqlite", whole[:length])
        try:
            assert repr(read_all(run)) == steps
        except UserError:
            refused += 1
    assert refused > len(whole) / 1024 / 2


def test_a_manifest_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    MANIFEST.write(path)
    assert Manifest.read(path) == MANIFEST
    assert [entry.name for entry in tmp_path.iterdir()] == ["manifest.json"], "the draft is gone"
