"""The columns of the page, read back in the way that templates/data.js does."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leadline.report.columns import column, rounded, texts

scalars = st.one_of(st.none(), st.booleans(), st.integers(-1000, 1000), st.text(max_size=3))


def read(stored: Any, row: int) -> Any:
    if isinstance(stored, list):
        return stored[row]
    return stored["same"] if "same" in stored else stored["values"][stored["at"][row]]


def read_text(packed: dict[str, Any], row: int) -> str:
    shape = packed["shape"][row]
    rank = packed["shape"][:row].count(shape)
    return "".join(read(word, rank) for word in packed["shapes"][shape]["words"])


@given(st.lists(scalars, max_size=40))
def test_a_column_reads_back_as_it_was(values: list[Any]) -> None:
    stored = json.loads(json.dumps(column(values)))

    assert [read(stored, row) for row in range(len(values))] == values


@given(st.lists(st.text(alphabet="ab /=-\n<é", max_size=30), max_size=20))
def test_packed_sentences_read_back_as_they_were(lines: list[str]) -> None:
    packed = json.loads(json.dumps(texts(lines)))

    assert [read_text(packed, row) for row in range(len(lines))] == lines


def test_true_and_one_stay_apart_in_a_column() -> None:
    stored = json.loads(json.dumps(column([True, 1, True, 1, 1, True, 1, 1])))

    assert [str(read(stored, row)) for row in range(4)] == ["True", "1", "True", "1"]


def test_commands_that_differ_in_one_option_cost_little() -> None:
    commands = [
        f"fio --name=cell --ioengine=io_uring --direct=1 --runtime=30 --iodepth={depth}"
        for depth in range(1000)
    ]

    assert len(json.dumps(texts(commands))) < 0.2 * len(json.dumps(commands))


def test_figures_keep_four_significant_digits() -> None:
    assert [rounded(value) for value in (1234567.0, 0.0123456, 5.0, None)] == [1235000, 0.01235, 5, None]
