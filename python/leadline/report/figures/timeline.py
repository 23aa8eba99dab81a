"""A witness as bars: what each client did and saw, one operation a row, on one axis of time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.analyse import wording

SHORTEST_SHARE = 0.004
"""Of the width: a bar that nobody could see is drawn this wide."""
CLIENT_BITS, WORKER_BITS = 48, 32
"""Where a unique value holds the client and its worker (crates/leadline-workloads, histories)."""
NOTHING = 0
SAID = {
    "write": "wrote {value_in}",
    "append": "appended {value_in}",
    "create": "created the name, {value_in}",
    "replace": "renamed {value_in} over the name",
    "remove": "removed {value_in}",
    "move": "renamed it to the other name",
    "increment": "counted from {value_out} to {value_in}",
    "read": "read {value_out}",
    "exists": "asked for the name: {there}",
    "length": "found {count} records",
    "list": "listed {values}",
}
SAID_OF = {
    ("name_pair", "move"): "renamed it to name {value_in}",
    ("name_pair", "read"): "looked for it under name {value_in}: {there}",
}
NUMBERED = ("attribute", "locked_counter", "name_pair")
"""Kinds of objects whose values are small numbers, and not tokens that say who wrote them."""
ANSWERS = {"fail": "refused, errno {errno}", "doubt": "no answer, so nobody knows"}


@dataclass(frozen=True)
class Bar:
    """One operation."""

    client: str
    words: str
    begin: float
    """Percent of the width."""
    width: float
    when: str
    wrong: bool
    """The last of the witness: what should not have been answered so."""


def timeline(witness: Mapping[str, Any], names: Sequence[str] = (), kind: str = "") -> list[Bar]:
    """In the order of their starts; an operation without an answer reaches to the end. `kind`: of object, as the checker names it."""
    operations: Sequence[Mapping[str, Any]] = witness["operations"]
    if not operations:
        return []
    first = min(each["start_ns"] for each in operations)
    ends = [each["end_ns"] for each in operations if each["end_ns"] is not None]
    last = max([each["start_ns"] for each in operations] + ends)
    span = max(last - first, 1)
    return [_bar(each, first, last, span, names, kind, each is operations[-1]) for each in operations]


def _bar(
    operation: Mapping[str, Any],
    first: int,
    last: int,
    span: int,
    names: Sequence[str],
    kind: str,
    wrong: bool,
) -> Bar:
    start = operation["start_ns"]
    end = last if operation["end_ns"] is None else operation["end_ns"]
    begin = 100 * min((start - first) / span, 1 - SHORTEST_SHARE)
    width = max(100 * (end - start) / span, 100 * SHORTEST_SHARE)
    took = "no answer" if operation["end_ns"] is None else f"took {wording.latency(end - start)}"
    client = operation["client"]
    return Bar(
        client=named(client, names),
        words=said(operation, names, kind),
        begin=round(begin, 2),
        width=round(min(width, 100 - begin), 2),
        when=f"{wording.latency(start - first) if start > first else '0'}, {took}",
        wrong=wrong,
    )


def said(operation: Mapping[str, Any], names: Sequence[str] = (), kind: str = "") -> str:
    """ "read B's 92", "removed the name: refused, errno 2"."""

    def told(token: int) -> str:
        return f"{token}" if kind in NUMBERED else value(token, names)

    listed: Sequence[int] = operation.get("list") or ()
    seen = operation["value_out"]
    whole = f"{len(listed)} records" if listed else None
    nothing = seen == NOTHING and kind not in NUMBERED
    words = SAID_OF.get(
        (kind, operation["action"]), SAID.get(operation["action"], operation["action"])
    ).format(
        value_in=told(operation["value_in"]),
        value_out=whole or ("nothing" if nothing else told(seen)),
        there="there" if seen != NOTHING else "not there",
        count=seen,
        values=f"{len(listed)} names",
    )
    answer = ANSWERS.get(operation["outcome"], "").format(errno=operation["errno"])
    return f"{words}: {answer}" if answer else words


def value(token: int, names: Sequence[str] = ()) -> str:
    """A unique value names who wrote it, and as which of the values of one of its workers: "B's 92", "A's 319 of worker 1"."""
    if token == NOTHING:
        return "the name"
    client, worker, number = (
        token >> CLIENT_BITS,
        token >> WORKER_BITS & 0xFFFF,
        token & ((1 << WORKER_BITS) - 1),
    )
    return f"{named(client, names)}'s {number:,}{f' of worker {worker}' if worker else ''}"


def named(client: int, names: Sequence[str]) -> str:
    """The client's letter where it is known."""
    return names[client] if client < len(names) else f"client {client}"


def in_letters(sentence: str, names: Sequence[str]) -> str:
    """The checker's sentence with clients by their letters, and values by who wrote them."""
    lettered = re.sub(r"\bclient (\d{1,3})\b", lambda found: named(int(found[1]), names), sentence)
    return re.sub(r"\b\d{10,20}\b", lambda found: value(int(found[0]), names), lettered)
