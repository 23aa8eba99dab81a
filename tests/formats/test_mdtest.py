"""mdtest's table: read as mdtest 4 prints it, written so that it reads the same."""

import pytest

from leadline.formats.fields import FormatError
from leadline.formats.mdtest import OPERATIONS, Row, read_summary, write_summary

# In the words of mdtest 4 (IOR 4.1.0+dev), one directory and two tasks; the figures are made up.
PRINTED = """\
-- started at 11/21/2026 10:00:00 --

mdtest-4.1.0+dev was launched with 2 total task(s) on 1 node(s)
Command line used: mdtest '-n' '1000' '-F' '-d' '/dev/shm/x'
Nodemap: 11
Path                : /dev/shm/x
FS                  : 11.7 GiB   Used FS: 0.0%   Inodes: 2.9 Mi   Used Inodes: 0.0%
2 tasks, 2000 files

SUMMARY rate (in ops/sec): (of 3 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   File creation           476000.125     470000.000     473000.000       3000.000
   File stat              1267000.000    1200000.000    1233000.500      33500.000
   File read                    0.000          0.000          0.000          0.000
   File removal            578000.000     570000.000     574000.000       4000.000
   Tree creation             2000.000       1000.000       1500.000        500.000
   Tree removal              2500.000       1500.000       2000.000        500.000
-- finished at 11/21/2026 10:00:01 --
"""


def test_the_table_is_read_with_what_it_stands_on() -> None:
    summary = read_summary(PRINTED)
    assert (summary.iterations, summary.ranks, summary.version) == (3, 2, "4.1.0+dev")
    assert summary.rows["file create"] == Row(476000.125, 470000.0, 473000.0, 3000.0)
    assert summary.rows["tree remove"].mean == 2000.0


def test_phases_that_did_not_run_are_no_rates_of_zero() -> None:
    assert "file read" not in read_summary(PRINTED).rows


def test_the_last_of_several_summaries_counts() -> None:
    other = PRINTED.replace("476000.125", "999.000")
    assert read_summary(other + PRINTED).rows["file create"].maximum == 476000.125


@pytest.mark.parametrize("text", ["", "fio-3.33", "SUMMARY time"])
def test_what_is_not_of_mdtest_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="no output of mdtest"):
        read_summary(text)


def test_what_is_written_is_read_as_it_was() -> None:
    rates = {name: [1000.0 * place, 3000.0 * place] for place, name in enumerate(OPERATIONS, start=1)}
    summary = read_summary(write_summary(rates, 2))
    assert summary.iterations == 2
    for place, name in enumerate(OPERATIONS, start=1):
        row = summary.rows[name]
        assert (row.maximum, row.minimum, row.mean) == (3000.0 * place, 1000.0 * place, 2000.0 * place)
        assert row.standard_deviation == pytest.approx(
            2**0.5 * 1000.0 * place, abs=0.001
        )  # of a sample: n - 1


def test_one_iteration_has_no_deviation_and_no_row_for_what_failed() -> None:
    summary = read_summary(write_summary({"file create": [5.0], "file stat": []}, 1))
    assert summary.rows == {"file create": Row(5.0, 5.0, 5.0, 0.0)}


def test_titles_stand_in_the_order_of_mdtest() -> None:
    printed = write_summary({name: [1.0] for name in reversed(OPERATIONS)}, 1)
    places = [printed.index(title) for title in OPERATIONS.values()]
    assert places == sorted(places)
