"""The calls that a client can be told to make, as `leadline-engine visibility-client` reads them (instruction.rs)."""

from __future__ import annotations

from typing import Any

Call = dict[str, Any]
Answer = dict[str, str]

BLOCK_BYTES = 4096
"""Contents are whole blocks of this size, as direct I/O asks for."""
ATTRIBUTE = "user.leadline"


def value(text: str) -> Answer:
    """The answer of calls that succeeded."""
    return {"value": text}


def failed(name: str) -> Answer:
    """The answer of calls that failed with this error."""
    return {"failed": name}


def in_words(answer: Answer) -> str:
    """For people and for results: the value, "" for none, or the name of the error."""
    return answer["value"] if "value" in answer else answer["failed"]


def stat(name: str, field: str = "kind") -> Call:
    """lstat(2); one attribute of it."""
    return {"call": "stat", "name": name, "field": field}


def opened(name: str, handle: str, *flags: str) -> Call:
    """open(2); the file is held under the handle."""
    return {"call": "open", "name": name, "handle": handle, "flags": list(flags)}


def on(handle: str, call: str, **more: Any) -> Call:
    """A call on a file that is held open."""
    return {"call": call, "handle": handle, **more}


def at(name: str, call: str, **more: Any) -> Call:
    """A call by name."""
    return {"call": call, "name": name, **more}


def write(handle: str, text: str, size_bytes: int = 0) -> Call:
    """write(2): the text, or the text at both ends of so many bytes."""
    return on(handle, "write", text=text, size_bytes=size_bytes)


def session(name: str, *flags: str, then: tuple[Call, ...], handle: str = "session") -> list[Call]:
    """open, calls on the handle `session`, close: what applications do."""
    return [opened(name, handle, *flags), *then, on(handle, "close")]


def whole(name: str, *flags: str) -> list[Call]:
    """open, read all, close."""
    return session(name, "read", *flags, then=(on("session", "read"),))
