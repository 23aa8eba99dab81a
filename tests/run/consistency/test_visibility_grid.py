"""Which cells there are: the published cases among the default ones, and none that could see nothing."""

from __future__ import annotations

import pytest

from leadline.errors import UserError
from leadline.run.consistency.grid import DEFAULT, chosen, full_factorial, sensible
from leadline.run.consistency.mutations import MUTATIONS
from leadline.run.consistency.probes import PRIORS, PROBES, READER_SYNCS
from leadline.store.visibility import Cell


def test_the_default_set_holds_the_published_cases_rename_over_and_the_locks() -> None:
    wanted = {
        Cell("unlink", "stat", "made it"),
        Cell("append", "append", "made it", "close"),
        Cell("rename over", "open", "read"),
        Cell("lock (fcntl)", "lock (fcntl)", "looked"),
        Cell("lock (flock)", "lock (flock)", "looked"),
        Cell("overwrite", "held", "held", "unlock", "lock"),
    }
    assert wanted <= set(DEFAULT)
    assert len(set(DEFAULT)) == len(DEFAULT)


def test_every_default_cell_is_one_of_all_that_make_sense() -> None:
    assert set(DEFAULT) <= set(full_factorial())


def test_every_value_of_every_axis_occurs_in_some_cell() -> None:
    cells = full_factorial()
    assert {cell.mutation for cell in cells} == set(MUTATIONS)
    assert {cell.probe for cell in cells} == set(PROBES)
    assert {cell.prior for cell in cells} == set(PRIORS)
    assert {cell.reader_sync for cell in cells} == set(READER_SYNCS)
    assert {cell.writer_sync for cell in cells} == {
        sync for each in MUTATIONS.values() for sync in each.syncs
    }


@pytest.mark.parametrize(
    "cell",
    [
        Cell("chmod", "size", "looked"),  # the size does not change
        Cell("unlink", "held", "held"),  # a file that is held open keeps what is in it
        Cell("overwrite", "held", "read", "close"),  # nothing is held
        Cell("create", "stat", "made it"),  # what is not there yet was made by nobody
        Cell("overwrite", "open", "read", "close", "lock"),  # nothing is held that could be locked
        Cell("unlink", "stat", "looked", "fsync"),  # a name is not synchronised by the file
    ],
)
def test_a_cell_that_could_show_nothing_makes_no_sense(cell: Cell) -> None:
    assert not sensible(cell)


def test_cells_are_chosen_by_what_is_changed_and_how_it_is_probed() -> None:
    assert {cell.mutation for cell in chosen("default", ["append"])} == {"append"}
    assert chosen("default", ["append"], ["append"]) == tuple(
        cell for cell in DEFAULT if cell.mutation == cell.probe == "append"
    )


def test_a_word_that_nobody_knows_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match='no mutation "renameover"; did you mean "rename over"'):
        chosen("default", ["renameover"])
    with pytest.raises(UserError, match='no probe "stats"; did you mean "stat"'):
        chosen("default", [], ["stats"])
    with pytest.raises(UserError, match="no cell of the set"):
        chosen("default", ["chmod"], ["readdir"])
