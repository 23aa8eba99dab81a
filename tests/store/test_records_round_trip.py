"""What is saved is what is read: for any step that an engine could leave behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.store.database import Database
from leadline.store.histogram import Histogram
from leadline.store.records import Direction, JobUse, Latency, Measurement, Status, StepKind, StepRecord
from leadline.store.series import Series, SeriesTable

counts = st.integers(0, 2**62)
amounts = st.floats(0, 1e18, allow_nan=False)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
scalars = st.one_of(
    words, st.integers(-(2**53), 2**53), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
)
histograms = st.dictionaries(st.integers(0, 2**62), st.integers(1, 2**40), max_size=8).map(
    Histogram.from_bins
)
latencies = st.builds(
    Latency, counts, amounts, st.none() | amounts, st.none() | amounts, st.none() | amounts, st.none() | histograms,
    st.dictionaries(st.sampled_from(["0.5", "0.99", "0.999"]), amounts),
)  # fmt: skip
measurements = st.builds(
    Measurement, words, st.integers(0, 999), st.sampled_from(Direction), counts, counts, counts, latencies,
    st.none() | latencies, st.none() | latencies, st.none() | latencies, st.none() | latencies,
    st.dictionaries(words, counts, max_size=3),
)  # fmt: skip
series = st.lists(st.tuples(counts, amounts), max_size=5).flatmap(
    lambda points: st.builds(
        Series, words, words, st.just([time for time, _ in points]), st.just([value for _, value in points])
    )
)
job_uses = st.builds(
    JobUse, words, st.integers(0, 999), amounts, amounts, counts, counts, st.integers(0, 200)
)
records = st.builds(
    StepRecord, st.integers(0, 2**31), st.sampled_from(StepKind), words, st.dictionaries(words, scalars, max_size=5), st.integers(0, 99),
    st.sampled_from(Status), st.none() | words, words, counts, counts,
    st.lists(words, max_size=3).map(tuple), st.none() | st.integers(-1, 255),
    st.lists(measurements, max_size=3, unique_by=lambda each: (each.host, each.job, each.direction)).map(tuple),
    st.lists(job_uses, max_size=3).map(tuple), st.lists(series, max_size=2).map(tuple), st.lists(series, max_size=4).map(SeriesTable.group),
    st.dictionaries(words, amounts, max_size=3), st.lists(words, max_size=3).map(tuple), st.dictionaries(words, scalars, max_size=3),
    st.dictionaries(words, words, max_size=2),
)  # fmt: skip


@contextmanager
def database() -> Iterator[Database]:
    with TemporaryDirectory() as folder:
        opened = Database.create(Path(folder) / "results.sqlite")
        yield opened
        opened.close()


def comparable(value: Any) -> Any:
    """Histograms hold arrays, which == compares one by one."""
    if isinstance(value, Histogram):
        return (value.values_ns.tolist(), value.counts.tolist())
    if isinstance(value, Latency | Measurement | StepRecord | Series | JobUse):
        return {name: comparable(part) for name, part in vars(value).items()}
    return [comparable(each) for each in value] if isinstance(value, tuple | list | SeriesTable) else value


@given(records)
@settings(deadline=None, max_examples=60)
def test_a_step_is_read_back_as_it_was_saved(record: StepRecord) -> None:
    with database() as store:
        store.save(record)
        (read,) = store.records()
        assert comparable(read) == comparable(record)


@given(st.lists(records, min_size=2, max_size=4, unique_by=lambda each: each.ordinal))
@settings(deadline=None, max_examples=15)
def test_steps_are_read_in_the_order_of_the_plan_whatever_the_order_of_saving(
    several: list[StepRecord],
) -> None:
    with database() as store:
        for record in several:
            store.save(record)
        assert comparable(store.records()) == comparable(sorted(several, key=lambda each: each.ordinal))


@given(records, records)
@settings(deadline=None, max_examples=30)
def test_a_step_saved_again_takes_the_place_of_the_first_try(first: StepRecord, second: StepRecord) -> None:
    second = replace(second, ordinal=first.ordinal)
    with database() as store:
        store.save(first)
        store.save(second)
        assert comparable(store.records()) == comparable([second])


@given(histograms)
def test_a_histogram_survives_being_stored(histogram: Histogram) -> None:
    read = Histogram.from_bytes(histogram.to_bytes())
    assert np.array_equal(read.values_ns, histogram.values_ns)
    assert np.array_equal(read.counts, histogram.counts)
