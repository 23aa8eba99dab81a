"""Steady or not, by the SNIA criterion, worked out for many series at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.analyse.windows import Window, measure_windows


def window(values: list[float]) -> Window:
    (found,) = measure_windows([values])
    assert found is not None
    return found


def test_a_level_series_is_steady() -> None:
    assert window([100.0] * 20).is_steady is True


def test_a_slope_of_12_percent_over_the_rounds_is_unsteady_and_one_of_8_is_not() -> None:
    def line(rise: float) -> list[float]:
        return np.repeat(np.linspace(1 - rise / 2, 1 + rise / 2, 5), 4).tolist()

    assert window(line(0.12)).is_steady is False
    assert window(line(0.08)).is_steady is True
    assert window(line(0.12)).excursion_share == pytest.approx(0.12)


def test_a_dip_of_one_round_is_unsteady_by_its_range_alone() -> None:
    def dip(depth: float) -> list[float]:
        return np.repeat([1, 1, 1 - depth, 1, 1], 4).tolist()

    assert window(dip(0.25)).is_steady is False
    assert window(dip(0.25)).excursion_share == pytest.approx(0)
    assert window(dip(0.15)).is_steady is True


def test_nine_samples_are_too_few_to_say() -> None:
    assert window([1.0, 9.0] * 4 + [1.0]).is_steady is None


def test_an_empty_series_and_one_that_moved_nothing_have_no_window() -> None:
    assert measure_windows([[], [0.0] * 20]) == [None, None]


@given(st.lists(st.lists(st.floats(1, 1e9), max_size=25), max_size=8))
def test_working_on_many_series_at_once_gives_what_each_gives_alone(series: list[list[float]]) -> None:
    together = measure_windows(series)
    alone = [measure_windows([values])[0] for values in series]
    for one, other in zip(together, alone, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.is_steady == other.is_steady
            assert one.range_share == pytest.approx(other.range_share)
