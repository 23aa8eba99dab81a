"""The published tables are whole, cited, and have units."""

import pytest

from leadline.errors import UserError
from leadline.published.tables import published_tables, table

ROWS = {
    "3fs_journal_drivers": 16,
    "3fs_journal_network": 5,
    "3fs_journal_predicted": 6,
    "3fs_journal_vendor_limits": 2,
    "3fs_metadata_mdtest_deep": 5,
    "3fs_metadata_mdtest_wide": 5,
    "3fs_metadata_pjdfstest": 17,
    "3fs_workloads": 9,
}


def test_all_tables_are_there_with_all_their_rows() -> None:
    assert {published.name: len(published.rows) for published in published_tables()} == ROWS


@pytest.mark.parametrize("name", ROWS)
def test_each_table_is_cited_and_its_figures_have_units(name: str) -> None:
    published = table(name)
    assert published.source.author and published.source.title and published.source.year == 2025
    assert published.title and published.note
    for place, column in enumerate(published.columns):
        values = [row[place] for row in published.rows]
        assert (column.unit is None) == all(isinstance(value, str) for value in values), column
    assert all(len(row) == len(published.columns) for row in published.rows)


def test_pjdfstest_adds_up_to_the_stated_185_of_237() -> None:
    rows = table("3fs_metadata_pjdfstest").rows
    assert (sum(int(str(row[1])) for row in rows), sum(int(str(row[2])) for row in rows)) == (185, 237)
    assert all(int(str(row[1])) <= int(str(row[2])) for row in rows)


@pytest.mark.parametrize("name", ["3fs_metadata_mdtest_wide", "3fs_metadata_mdtest_deep"])
def test_mdtest_runs_from_1_to_32_processes_with_ten_operations_each(name: str) -> None:
    published = table(name)
    assert [row[0] for row in published.rows] == [1, 4, 8, 16, 32]
    assert len(published.columns) == 11
    stats = [float(str(row[2])) for row in published.rows]
    assert stats == sorted(stats)  # directory stat rises with every doubling, in both tables


def test_the_driver_table_has_each_test_size_and_engine_once() -> None:
    keys = [row[:3] for row in table("3fs_journal_drivers").rows]
    assert len(set(keys)) == 16
    assert {row[1] for row in keys} == {4096, 1048576} and {row[2] for row in keys} == {"io_uring", "libaio"}


def test_printed_deviations_follow_from_the_printed_figures() -> None:
    for _, _, predicted, actual, printed in table("3fs_journal_predicted").rows:
        deviation = 100 * (float(str(actual)) / float(str(predicted)) - 1)
        assert deviation == pytest.approx(float(str(printed)), abs=1.0)


def test_rows_that_compare_means_are_marked() -> None:
    published = table("3fs_journal_predicted")
    marked = [row[0] for row in published.rows if "(a mean)" in str(row[0])]
    assert len(marked) == 2 and "means" in published.note


def test_an_unknown_table_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UserError, match='did you mean "3fs_journal_drivers"'):
        table("3fs_journal_driver")


def test_a_citation_reads_as_one_line() -> None:
    assert str(table("3fs_journal_drivers").source).startswith("Henry Zhu, ")
