"""Dropping caches: done, or one sentence why not."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.run.observe.caches import drop_caches, reason_caches_stay


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    (tmp_path / "proc/sys/vm").mkdir(parents=True)
    (tmp_path / "proc/sys/vm/drop_caches").write_text("")
    return tmp_path


def failing_open(number: int) -> Callable[..., int]:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    return refuse


def test_pages_and_objects_are_dropped(machine: Path) -> None:
    assert drop_caches(machine).dropped
    assert (machine / "proc/sys/vm/drop_caches").read_text() == "3\n"


def test_asking_whether_caches_can_be_dropped_drops_nothing(machine: Path) -> None:
    assert reason_caches_stay(machine) is None
    assert (machine / "proc/sys/vm/drop_caches").read_text() == ""


def test_without_the_file_the_reason_is_given(tmp_path: Path) -> None:
    drop = drop_caches(tmp_path)
    assert not drop.dropped
    assert drop.reason is not None and "does not exist" in drop.reason


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EACCES, "only root"), (errno.EROFS, "read-only"), (errno.EIO, "Input/output error")],
)
def test_a_refusal_is_one_sentence_with_its_cause(
    machine: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    monkeypatch.setattr(os, "open", failing_open(number))
    drop = drop_caches(machine)
    assert not drop.dropped
    assert drop.reason is not None and words in drop.reason and drop.reason.endswith(".")
