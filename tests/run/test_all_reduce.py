"""An all-reduce by the real mpirun, two ranks on this machine; its results are checked, wrong ones told."""

from __future__ import annotations

import importlib.util
import shutil

import numpy as np
import pytest

from leadline.errors import UserError
from leadline.run.all_reduce import all_reduce, records_of
from leadline.run.all_reduce_rank import expected, vector
from leadline.run.crews.mpi import Launcher
from leadline.store.records import Status

HERE = Launcher("mpirun", (), ("--oversubscribe", "--allow-run-as-root"))


def test_the_expected_sum_is_that_of_all_ranks() -> None:
    for ranks in (2, 3, 7):
        summed = np.sum([vector(100, rank) for rank in range(ranks)], axis=0)
        assert np.array_equal(summed, expected(100, ranks))


@pytest.mark.skipif(
    shutil.which("mpirun") is None or importlib.util.find_spec("mpi4py") is None,
    reason="mpirun or mpi4py is not installed",
)
def test_two_ranks_sum_and_every_size_and_repeat_has_its_record() -> None:
    records = all_reduce(HERE, 2, [8, 4096], 0.05, 2)
    assert [(each.cell["message_size"], each.repeat) for each in records] == [
        (8, 0),
        (4096, 0),
        (8, 1),
        (4096, 1),
    ]
    assert all(each.status is Status.FINISHED and each.facts["checked"] for each in records)
    part = records[1].measurements[0]
    assert part.size_bytes == part.operations * 4096 and part.latency.histogram is not None
    assert part.latency.histogram.total == part.operations


def test_a_wrong_element_fails_the_step() -> None:
    size = {"size_bytes": 8, "operations": 2, "runtime_ns": 100, "times_ns": [40, 60], "wrong": 1}
    (record,) = records_of({"ranks": 2, "hosts": [], "library": "x", "sizes": [size]}, ("mpirun",))
    assert record.status is Status.FAILED and "1 element of the result was wrong" in str(record.reason)


def test_a_launcher_that_is_missing_is_said_with_its_package() -> None:
    with pytest.raises(UserError, match="no-such-mpirun is not installed here"):
        all_reduce(Launcher("no-such-mpirun"), 2, [8], 0.1, 1)
