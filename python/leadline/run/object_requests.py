"""Asking the engine for its steps on object stores, on this machine: one question, one answer; Ctrl-C ends the question.

Keys go through the engine's environment: the step itself is a file.
"""

from __future__ import annotations

import json
import re
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from leadline.errors import UserError, did_you_mean
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed
from leadline.spec.object_store import ObjectStore

SECRETS_VARIABLE = "LEADLINE_OBJECT_STORE_SECRETS"
_UNKNOWN_OPTION = re.compile(r'has no option "(?P<given>[^"]*)": known are (?P<known>.*)')


class Interrupted(Exception):
    """Somebody pressed Ctrl-C, or ended leadline."""


@dataclass(frozen=True)
class Answered:
    """What came of a step, and what it took."""

    result: Mapping[str, Any]
    completed: Completed


def ask(store: ObjectStore, fields: Mapping[str, Any], timeout_seconds: float) -> Answered:
    """Performs a step of the engine on the store; raises UserError with the engine's sentence, and Interrupted."""
    document = {**fields, "store": described(store)}
    with tempfile.TemporaryDirectory(prefix="leadline-objects-") as scratch:
        invocation = invocation_of(document, Path(scratch), timeout_seconds)
        host = LocalHost()
        with _interrupting(host):
            completed = host.run(
                replace(invocation, environment=environment(store)), lambda process: None, lambda line: None
            )
    if completed.interrupted:
        raise Interrupted
    result, reason = result_of(completed)
    if result is None:
        raise UserError(
            f"{store.shown}: {_told(completed.reason or str(reason), completed, timeout_seconds)}"
        )
    return Answered(result, completed)


def described(store: ObjectStore) -> dict[str, Any]:
    """As the engine reads it; without the secrets."""
    step: dict[str, Any] = {"scheme": store.scheme, "options": dict(store.options)}
    return step | ({"secrets_variable": SECRETS_VARIABLE} if store.secrets else {})


def environment(store: ObjectStore) -> dict[str, str]:
    """Where the engine finds them."""
    return {SECRETS_VARIABLE: json.dumps(dict(store.secrets))} if store.secrets else {}


@contextmanager
def _interrupting(host: LocalHost) -> Iterator[None]:
    def interrupt(signum: int, frame: FrameType | None) -> None:
        host.interrupt()

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _told(reason: str, completed: Completed, timeout_seconds: float) -> str:
    """The engine's own sentence, with the nearest option for one that it does not know, and what to do about the usual ones."""
    if completed.timed_out:
        return f"it did not answer within {timeout_seconds:g} s"
    sentence = reason.rpartition("engine_step.json: ")[2]
    unknown = _UNKNOWN_OPTION.search(sentence)
    if unknown:
        nearest = did_you_mean(unknown["given"], unknown["known"].split(", "))
        return f'there is no option "{unknown["given"]}"{nearest or "; known are " + unknown["known"]}'
    advice = next((words for sign, words in _ADVICE.items() if sign in sentence), "")
    return f"{sentence}{advice}"


_ADVICE = {
    "NoSuchBucket": "; make the bucket first, or name another",
    "ECONNREFUSED": "; nothing listens at that endpoint, so check address and port",
    "InvalidAccessKeyId": "; check the keys",
    "SignatureDoesNotMatch": "; check the secret key",
    "ENOSPC": "; make room there, or ask for less with --big-object-size and --objects",
    "dns error": "; check the name of the endpoint",
    "ConfigInvalid": "; give what is missing by --option",
}
"""What to do, by what the sentence holds."""
