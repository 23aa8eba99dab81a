"""Asking the engine for its steps on object stores: one question, one answer; Ctrl-C ends the question."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from leadline.errors import UserError
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.hosts.local import LocalHost
from leadline.run.hosts.supervised import SupervisedHost
from leadline.run.object_steps import described, environment, in_words
from leadline.run.seams import Completed
from leadline.run.temporary import temporary_folder
from leadline.spec.object_store import ObjectStore


class Interrupted(Exception):
    """Somebody pressed Ctrl-C, or ended leadline."""


@dataclass(frozen=True)
class Answered:
    """What came of a step, and what it took."""

    result: Mapping[str, Any]
    completed: Completed


def ask(
    store: ObjectStore, fields: Mapping[str, Any], timeout_seconds: float, host: SupervisedHost | None = None
) -> Answered:
    """Performs a step of the engine on the store; raises UserError with the engine's sentence, and Interrupted.

    Without a host it is this machine, and Ctrl-C ends the question; with one, whoever works there hears the signals.
    """
    document = {**fields, "store": described(store)}
    with temporary_folder("objects") as scratch:
        invocation = replace(
            invocation_of(document, scratch, timeout_seconds), environment=environment(store)
        )
        if host is not None:
            completed = host.again().run(invocation, lambda process: None, lambda line: None)
        else:
            host = LocalHost()
            with _interrupting(host):
                completed = host.run(invocation, lambda process: None, lambda line: None)
    if completed.interrupted:
        raise Interrupted
    result, reason = result_of(completed)
    if result is None:
        raise UserError(
            f"{store.shown}: {_told(completed.reason or str(reason), completed, timeout_seconds)}"
        )
    return Answered(result, completed)


@contextmanager
def _interrupting(host: SupervisedHost) -> Iterator[None]:
    def interrupt(signum: int, frame: FrameType | None) -> None:
        host.interrupt()

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _told(reason: str, completed: Completed, timeout_seconds: float) -> str:
    """The engine's own sentence."""
    if completed.timed_out:
        return f"it did not answer within {timeout_seconds:g} s"
    return in_words(reason)
