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
    assert "`rw` in [simulation]" in refused(rw="trim")
    assert "`straggler_factor` in [simulation]" in refused(straggler_factor=0.5)
    assert "`iodepth` in [simulation]" in refused(iodepth=0)
    assert '"4 kb" is not a size' in refused(block_size="4 kb")
    assert "service_times" in refused(service="measured")
    assert "service_times" in refused(service_times=[{"time": "1ms"}])
    assert "`time` is missing in `service_times`" in refused(service="measured", service_times=[{"count": 1}])
    misspelt = refused(service="measured", service_times=[{"tme": "1ms"}])
    assert 'unknown key "tme" in `service_times` of [simulation]; did you mean "time"?' in misspelt
    odd = [{"time": "1ms", "cuont": 1}]
    assert 'did you mean "count"' in refused(service="measured", service_times=odd)


def test_a_share_of_reads_belongs_to_a_mix() -> None:
    mixed = build_simulation({"rw": ["randrw", "read"], "read_percentage": [0, 70]}, "c.toml")
    assert (mixed.rw, mixed.read_percentage) == (("randrw", "read"), (0, 70))
    assert "no mixed test" in refused(rw="randread", read_percentage=70)
    assert "`read_percentage` in [simulation]" in refused(rw="rw", read_percentage=101)
    assert "the share of reads is written `read_percentage`" in refused(rw="rw", rwmixread=70)
