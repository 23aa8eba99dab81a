"""Polluted text -> the last complete document of fio in it, and the lines that belong to none.

First half of reading fio's results (fio_json.py is the second): fio prints error lines and banners into its
own JSON, and under `--status-interval` one document after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from leadline.formats.fields import FormatError, shown

HEAD = re.compile(r'\{\s*"fio version"')
"""How every document of fio begins."""

SHOWN_FOREIGN_LINES = 100
"""Of more lines than these the rest is counted, not kept."""

ETA = re.compile(r"Jobs: \d+ \(f=\d+\)")
"""fio's progress, which stands in the same stream: known, so no warning."""

Document = dict[str, object]


def last_document(text: str) -> tuple[Document, list[str]]:
    """The last complete document and the lines that belong to none."""
    last: Document | None = None
    foreign: list[str] = []
    broken: tuple[int, Exception] | None = None
    place = 0
    for start, end, document in _documents(text):
        foreign += _lines(text[place:start])
        place = end
        if isinstance(document, Exception):
            broken = start, document
        else:
            last = document
    cut_off = _fault(text, *broken) if broken else None
    if last is None:
        raise FormatError(cut_off or f"there is no fio JSON document in it; it begins {shown(text[:60])}")
    foreign += _lines(text[place:])
    if len(foreign) > SHOWN_FOREIGN_LINES:
        foreign[SHOWN_FOREIGN_LINES:] = [f"... and {len(foreign) - SHOWN_FOREIGN_LINES} more foreign lines"]
    if cut_off:
        foreign.append(f"one document is left out: {cut_off}")
    return last, foreign


def _documents(text: str) -> Iterator[tuple[int, int, Document | Exception]]:
    """(start, end, document or why there is none), in the order of the text."""
    decoder = json.JSONDecoder()
    whole = _whole_document(text)
    if whole is not None:
        yield 0, len(text), whole
        return
    place = 0
    while head := HEAD.search(text, place):
        start = head.start()
        try:
            document, end = decoder.raw_decode(text, start)
            yield start, end, document
        except (ValueError, RecursionError) as error:
            following = HEAD.search(text, head.end())
            end = following.start() if following else len(text)
            yield start, end, error
        place = end


def _whole_document(text: str) -> Document | None:
    """The text as one document, its keys in any order (other programs write fio's results anew)."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    known = isinstance(document, dict) and "fio version" in document
    return document if known else None


def _fault(text: str, start: int, error: Exception) -> str:
    """What is wrong with the document that begins at `start`."""
    where = error.pos if isinstance(error, json.JSONDecodeError) else start
    line = text.count("\n", 0, where) + 1
    end = "it is cut off" if not text[where:].strip() or "Unterminated" in str(error) else "it is broken"
    return f"{end} at line {line}, character {where}, in the document that begins at character {start}"


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not ETA.match(line)]
