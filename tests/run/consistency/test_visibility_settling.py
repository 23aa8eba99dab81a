"""Stale or lost: decided by what real clients find at the end. The mounts are folders that agree or do not, as the test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from leadline.run.consistency.clients import Client, Station
from leadline.run.consistency.lanes import Assignment
from leadline.run.consistency.settling import judge_for_good, settle_seconds
from leadline.store.visibility import Cell, Ending, Seen, Trial

TURNS = Cell("append", "append", "read", "close")
Judge = Callable[..., Trial]


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[Judge]:
    """What becomes of a trial when the clients find these words in the file."""
    with ExitStack() as stack:

        def judge(cell: Cell, ending: Ending, witness: str | None = None, **found: str) -> Trial:
            clients = {}
            for name, text in {**found, **({"witness": witness} if witness else {})}.items():
                folder = tmp_path / name / "0-0"
                folder.mkdir(parents=True)
                (folder / "f").write_text(text)
                clients[name] = Client(Station(name, tmp_path / name))
                stack.callback(clients[name].close)
            fresh = clients.pop("witness", None)
            each = Assignment(cell, "0-0", "A", "B")
            seen = (Seen("1 3", 0, 1, 2), Seen("1 2 3", 900_000_000, 900_000_000, 1))
            trial = Trial(cell, "A", "B", ending, "1 3", "1 2 3", seen)
            return judge_for_good({each: trial}, list(clients.values()), fresh, 5.0)[each]

        yield judge


def test_what_is_wrong_on_every_mount_after_the_caches_expired_is_lost(judged: Judge) -> None:
    trial = judged(TURNS, Ending.NEVER, A="1 3", B="1 3")
    assert trial.ending is Ending.LOST and trial.at_the_end == {"A": "1 3", "B": "1 3"}
    assert (
        trial.reason == "'1 3' in place of '1 2 3' 5 s after the last change, on every mount, and opened anew"
    )


def test_what_is_wrong_on_one_mount_only_is_still_stale(judged: Judge) -> None:
    trial = judged(TURNS, Ending.LATER, A="1 3", B="1 2 3")
    assert trial.ending is Ending.NEVER and trial.reason == "A still wrong 5 s after the last change"


def test_a_witness_that_finds_it_right_saves_it_from_being_called_lost(judged: Judge) -> None:
    assert judged(TURNS, Ending.NEVER, A="1 3", B="1 3", witness="1 2 3").ending is Ending.NEVER


def test_a_witness_that_misses_it_makes_it_lost_even_where_caches_still_hold_it(judged: Judge) -> None:
    trial = judged(TURNS, Ending.AT_ONCE, A="1 2 3", B="1 2 3", witness="1 3")
    assert trial.ending is Ending.LOST and "on witness, which had never looked before" in trial.reason


def test_what_everybody_finds_right_keeps_its_ending(judged: Judge) -> None:
    assert judged(TURNS, Ending.LATER, A="1 2 3", B="1 2 3").ending is Ending.LATER


def test_a_file_that_was_held_is_looked_at_by_opening_it(judged: Judge) -> None:
    held = Cell("append", "held fstat", "held", "close")
    trial = judged(held, Ending.NEVER, A="1 2 ", B="1 2 ")
    assert trial.ending is Ending.NEVER and trial.at_the_end == {"A": "4", "B": "4"}


@pytest.mark.parametrize(
    ("told", "ending"), [("granted", Ending.LOST), ("EACCES", Ending.NEVER)], ids=["granted", "refused"]
)
def test_a_lock_that_two_clients_held_excluded_nobody(told: str, ending: Ending) -> None:
    cell = Cell("lock (flock)", "lock (flock)", "looked")
    trial = Trial(cell, "A", "B", Ending.NEVER, "granted", "EAGAIN", (Seen(told, 0, 1, 2),))
    (judged,) = judge_for_good({Assignment(cell, "0-0", "A", "B"): trial}, [], None, 5.0).values()
    assert judged.ending is ending
    assert ("both clients held" in judged.reason) == (ending is Ending.LOST)


def test_the_last_look_waits_twice_the_longest_window_and_not_less_than_the_patience() -> None:
    def trial(window_ns: int) -> Trial:
        return Trial(TURNS, "A", "B", Ending.LATER, seen=(Seen("x", window_ns, window_ns, 1),))

    assert settle_seconds([trial(900_000_000), trial(3_000_000_000)], 5.0) == 6.0
    assert settle_seconds([trial(900_000_000)], 5.0) == 5.0
    assert settle_seconds([], 5.0) == 5.0
