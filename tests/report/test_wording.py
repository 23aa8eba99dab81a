"""Units and environment in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_results import sample

from leadline.report import environment, wording


@pytest.mark.parametrize(
    ("scale", "value", "words"),
    [
        ("bandwidth", 3.5 * 2**30, "3.50 GiB/s"),
        ("bandwidth", 0, "0 B/s"),
        ("rate", 842_000, "842 k IOPS"),
        ("latency", 81_500, "81.5 us"),
        ("latency", 2.5e9, "2.50 s"),
        ("share", 0.43, "43.0 %"),
        ("count", 12.5, "12.5"),
    ],
)
def test_a_figure_is_written_with_the_unit_that_fits_it(scale: str, value: float, words: str) -> None:
    assert wording.measure(scale, value) == words


def test_one_axis_has_one_unit() -> None:
    assert wording.unit_for("bandwidth", [2**20, 2**31]).symbol == "GiB/s"
    assert wording.unit_for("latency", [4e6, 12e9]).symbol == "ms"
    assert wording.unit_for("latency", []).symbol == "ns"


@given(st.floats(1, 1e12))
def test_a_unit_never_makes_a_figure_smaller_than_one(value: float) -> None:
    for scale in ("bandwidth", "rate", "latency", "size"):
        assert value / wording.unit_for(scale, [value]).size >= 0.999


def test_settings_are_written_as_people_write_them() -> None:
    assert wording.setting_value("block_size", 4096) == "4 KiB"
    assert wording.setting_value("direct", 1) == "yes"
    assert wording.setting_value("runtime", 30) == "30 s"
    assert wording.setting_value("thinktime", 5) == "5"


def test_an_environment_of_any_shape_becomes_lines() -> None:
    record = {
        "memory": {"total_bytes": 2**34, "cgroup_limit_bytes": None},
        "kernel": {"settings": {"vm.dirty_ratio": 20}},
        "network": [{"name": "eno1", "speed_bits_per_second": 25e9}, "lo"],
        "virtual": True,
        "unreadable": [{"what": "governor", "why": "no such file"}, "a sentence"],
    }
    parts = {part.title: dict(part.lines) for part in environment.parts(record)}

    assert parts["memory"] == {"total": "16 GiB", "not known": "cgroup limit"}
    assert parts["kernel"] == {"settings, vm.dirty_ratio": "20"}
    assert parts["network"] == {"eno1, name": "eno1", "eno1, speed": "25.0 Gb/s", "2": "lo"}
    assert parts["other"] == {"virtual": "yes"}
    assert environment.unreadable(record) == ["governor: no such file", "a sentence"]


def test_cells_are_named_by_what_tells_them_apart() -> None:
    cells = sample(tests=("read",), depths=(1, 2), jobs=(1,), blocks=(4096,)).cells

    assert wording.naming_settings(cells) == ["block_size", "iodepth", "numjobs", "ioengine"]
    assert (
        wording.naming_settings([cell for cell in cells if cell.cell["ioengine"] == "libaio"])[-1]
        == "numjobs"
    )
    assert wording.cell_phrase(cells[0].cell, ["block_size", "iodepth"]) == "4 KiB, iodepth 1"
