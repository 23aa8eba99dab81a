"""Columns instead of one object a cell: how 10,000 cells fit into a page of 5 MB and are still plain JSON.

A column is written in the shortest of three forms, which templates/data.js reads back:
`{"same": v}` where all rows agree, `{"values": [...], "at": [...]}` where few values recur, `[...]` otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Column = list[Any] | dict[str, Any]

LARGEST_DICTIONARY_SHARE = 0.25
WORD_ENDS = re.compile(r"(?<=[ /=-])")
"""Words keep the mark that ends them; paths and options are split too, since mostly their last part varies."""


def rounded(value: float | None) -> float | int | None:
    """Four significant digits, as an integer where it is one: shorter, and finer than any interval."""
    if value is None:
        return None
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() else short


def column(values: Sequence[Any]) -> Column:
    """The shortest form of a column of JSON scalars."""
    short = dictionary(values)
    distinct = short["values"]
    if len(distinct) == 1:
        return {"same": distinct[0]}
    few = values and len(distinct) <= len(values) * LARGEST_DICTIONARY_SHARE
    return short if few else list(values)


def dictionary(values: Sequence[Any]) -> dict[str, Any]:
    """The dictionary form whatever its length, for columns whose distinct values fill a menu."""
    places: dict[tuple[type, Any], int] = {}  # by type too: True and 1 are equal keys but different JSON
    at = [places.setdefault((type(value), value), len(places)) for value in values]
    return {"values": [value for _, value in places], "at": at}


def texts(lines: Sequence[str]) -> dict[str, Any]:
    """Sentences that differ in a few words (commands, evidence), taken apart into one column a word.

    Lines of equally many words form a shape; `shape` says for each line which one. Words that a shape always has are
    stored once, so a command line costs its few varying options only. Joined without anything between, words give the line.
    """
    split = [WORD_ENDS.split(line) for line in lines]
    lengths = [len(words) for words in split]
    shapes = [
        {
            "words": [
                column(words) for words in zip(*(one for one in split if len(one) == length), strict=True)
            ]
        }
        for length in dict.fromkeys(lengths)
    ]
    return {"shape": dictionary(lengths)["at"], "shapes": shapes}
