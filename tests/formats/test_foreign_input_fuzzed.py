"""Whatever stands in a foreign file, a parser returns or refuses it with a UserError: never another exception."""

import json
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest
from fio_samples import bandwidth_logs, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from test_perftest import READ_LAT, WRITE_BW

from leadline.errors import UserError
from leadline.formats import fio_eta, fio_json, fio_log, perftest
from leadline.formats.fields import Fields
from leadline.formats.fio_options import cell_of

NAMES = ("json_plus_randrw", "polluted_by_error", "status_interval", "two_clients", "null_engine")
TEXTS = {name: sample(name) for name in NAMES}
ODD = st.sampled_from(
    [
        None,
        True,
        "",
        "x",
        "-1",
        -1,
        -0.5,
        0,
        10**19,
        10**400,
        2**63,
        1e308,
        float("nan"),
        float("inf"),
        [],
        [[]],
        {},
        {"a": []},
    ]
)
ETA_LINE = "Jobs: 16 (f=16): [m(16)][50.0%][r=1.2MiB/s,w=3KiB/s][r=10k,w=5 IOPS][eta 01d:02h:00m:01s]"


def parsed_or_refused(parse: Callable[[Any], object], source: Any) -> None:
    try:
        parse(source)
    except UserError as error:
        assert "\n" not in str(error) and len(str(error)) < 1000


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path in a JSON document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places_of(item, (*path, key)))]


DOCUMENT = json.loads(TEXTS["json_plus_randrw"])
PLACES = [place for place in places_of(DOCUMENT) if place and place[-1] not in ("latency_us", "latency_ms")]


def changed(edits: list[tuple[tuple[Any, ...], Any, bool]]) -> Any:
    """A copy of DOCUMENT with values replaced or keys dropped; places that an earlier edit removed are passed over."""
    document = json.loads(json.dumps(DOCUMENT))
    for place, value, drop in edits:
        parent = document
        try:
            for key in place[:-1]:
                parent = parent[key]
            if drop:
                del parent[place[-1]]
            else:
                parent[place[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue
    return document


@settings(max_examples=150, deadline=60_000)
@given(st.sampled_from(NAMES), st.floats(0, 1), st.floats(0, 1))
def test_results_cut_anywhere(name: str, begin: float, end: float) -> None:
    text = TEXTS[name]
    parsed_or_refused(fio_json.parse, text[int(begin * 0.2 * len(text)) : int(end * len(text))])


@settings(max_examples=150, deadline=60_000)
@given(
    st.sampled_from(NAMES), st.lists(st.tuples(st.floats(0, 0.9999), st.characters()), min_size=1, max_size=8)
)
def test_results_with_characters_flipped(name: str, flips: list[tuple[float, str]]) -> None:
    characters = list(TEXTS[name])
    for place, character in flips:
        characters[int(place * len(characters))] = character
    parsed_or_refused(fio_json.parse, "".join(characters))


@settings(max_examples=400, deadline=60_000)
@given(st.lists(st.tuples(st.sampled_from(PLACES), ODD, st.booleans()), min_size=1, max_size=4))
def test_results_with_keys_dropped_and_values_replaced(
    edits: list[tuple[tuple[Any, ...], Any, bool]],
) -> None:
    parsed_or_refused(fio_json.parse, json.dumps(changed(edits)))


@pytest.mark.parametrize("text", ["\n", " ", "{", "#bytes ", "Jobs: 1 (f=1)[", "9, ", "[r=", "{ "])
@pytest.mark.parametrize(
    "parse",
    [
        fio_json.parse,
        fio_eta.parse,
        perftest.parse_text,
        perftest.HEADER.search,
        lambda text: fio_log.parse([text]),
    ],
)
def test_a_megabyte_of_the_same_takes_no_more_than_a_moment(
    parse: Callable[[str], object], text: str
) -> None:
    begin_seconds = process_time()
    parsed_or_refused(parse, text * (1_000_000 // len(text)))
    assert process_time() - begin_seconds < 2  # linear: some 10 ms; quadratic: minutes


def test_brackets_without_end_are_refused_quickly() -> None:
    for text in (
        '{"fio version": ' * 20_000,
        '{"fio version": ' + "[" * 100_000,
        "{" * 100_000 + '"fio version"',
    ):
        parsed_or_refused(fio_json.parse, text)


@settings(max_examples=200, deadline=60_000)
@given(st.text(max_size=200), st.integers(0, 500), st.sampled_from(bandwidth_logs()))
def test_logs_with_anything_in_them(noise: str, place: int, log: str) -> None:
    parsed_or_refused(fio_log.parse, [log[:place] + noise + log[place:], noise, log])


FIELD = st.one_of(
    st.integers(-10, 10**20).map(str), st.floats().map(str), st.text("0123456789.,ex- ", max_size=6)
)


@settings(max_examples=200, deadline=60_000)
@given(st.lists(st.lists(FIELD, min_size=1, max_size=7).map(", ".join), max_size=12).map("\n".join))
def test_logs_of_odd_numbers(text: str) -> None:
    parsed_or_refused(fio_log.parse, [text])


@given(st.text(max_size=100), st.integers(0, len(ETA_LINE)), st.integers(0, len(ETA_LINE)))
def test_progress_with_anything_in_it(noise: str, begin: int, end: int) -> None:
    fio_eta.parse(ETA_LINE[:begin] + noise + ETA_LINE[end:])


@given(st.text("Jobs: 1(f=)[rw]%.kMGiB/s,IOPSeta0m", max_size=200))
def test_progress_made_of_its_own_letters(text: str) -> None:
    fio_eta.parse("Jobs: 1 (f=1): [r(1)][" + text)


@settings(max_examples=200, deadline=60_000)
@given(
    st.sampled_from([WRITE_BW, READ_LAT]),
    st.text("0123456789. #[]%\n-tBW", max_size=40),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_perftest_tables_with_anything_in_them(text: str, noise: str, begin: float, end: float) -> None:
    parsed_or_refused(
        perftest.parse_text, text[: int(begin * len(text))] + noise + text[int(end * len(text)) :]
    )


ROW = st.dictionaries(
    st.sampled_from(sorted({*perftest.COLUMN_KEYS.values()})), st.one_of(ODD, st.floats(), st.integers())
)


@given(st.one_of(ODD, st.text()), st.one_of(ODD, st.lists(st.one_of(ODD, ROW))))
def test_perftest_json_of_odd_values(kind: Any, rows: Any) -> None:
    for test_type in (kind, "ib_read_bw"):
        document = {"results": {"a": {"test_type": test_type, "results": rows}}}
        parsed_or_refused(lambda values: perftest.parse_json(Fields(values)), document)


@given(
    st.dictionaries(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from(["bs", "rw", "size", "runtime", "iodepth", "rwmixread", "kb_base", "direct"]),
        ),
        st.one_of(st.text(max_size=12), st.text("0123456789kmgi.b-,x", max_size=25)),
    )
)
def test_any_options_make_a_cell(options: dict[str, str]) -> None:
    assert {"rw", "ioengine", "direct"} <= set(cell_of(options))
