"""The [simulation] table: defaults, axes, and mistakes in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.errors import UserError
from leadline.spec.simulation import build_simulation


def refused(**keys: Any) -> str:
    with pytest.raises(UserError) as caught:
        build_simulation(keys, "c.toml")
    return str(caught.value)


def test_a_file_without_the_table_can_be_simulated() -> None:
    simulation = build_simulation({}, "c.toml")
    assert (simulation.rw, simulation.block_size, simulation.iodepth) == (("randread",), (1 << 20,), (1,))


def test_one_value_is_an_axis_of_one() -> None:
    simulation = build_simulation({"rw": "write", "block_size": ["4k", "1MiB"]}, "c.toml")
    assert (simulation.rw, simulation.block_size) == (("write",), (4096, 1 << 20))


def test_mistakes_are_named_with_their_place() -> None:
    assert refused(iodepht=4) == 'c.toml: unknown key "iodepht" in [simulation]; did you mean "iodepth"?'
    assert "`rw` in [simulation]" in refused(rw="randrw")
    assert "`straggler_factor` in [simulation]" in refused(straggler_factor=0.5)
    assert "`iodepth` in [simulation]" in refused(iodepth=0)
    assert '"4 kb" is not a size' in refused(block_size="4 kb")
    assert "service_times" in refused(service="measured")
    assert "service_times" in refused(service_times=[{"time": "1ms"}])
    assert "`time` is missing in `service_times`" in refused(
        service="measured", service_times=[{"tme": "1ms"}]
    )
    odd = [{"time": "1ms", "cuont": 1}]
    assert 'did you mean "count"' in refused(service="measured", service_times=odd)
