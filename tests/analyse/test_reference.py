"""The limits and baselines that cells are judged by, and the machine behind them."""

from __future__ import annotations

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.machine import read_machine
from leadline.analyse.results import Reference
from leadline.store.records import StepKind, StepRecord
from leadline.store.series import Series

from .samples import CLEAN, ENVIRONMENT, GIB, histogram, manifest, measurement, record


def reference(*records: StepRecord) -> Reference:
    return analyse(records, manifest(limits={"read": 1e9, "write": 0}), ENVIRONMENT).reference


def test_the_ceiling_is_the_best_rate_of_one_job() -> None:
    cell = {**CLEAN, "numjobs": 2}
    jobs = [measurement(iops=500_000, job=job) for job in (0, 1)]
    two, one = (
        record(*jobs, kind=StepKind.CEILING, cell=cell),
        record(measurement(iops=450_000), kind=StepKind.CEILING),
    )
    assert reference(two, one).ceiling_iops == pytest.approx(500_000)


def test_the_noise_floor_is_the_largest_difference_from_the_median() -> None:
    steps = [
        record(measurement(iops=iops), kind=StepKind.NOISE, repeat=n, ordinal=n)
        for n, iops in enumerate((95, 100, 110))
    ]
    found = reference(*steps)
    assert found.noise_floor == pytest.approx(0.10)
    assert found.noise_repeats == 3


def test_one_noise_step_gives_no_noise_floor() -> None:
    assert reference(record(measurement(), kind=StepKind.NOISE)).noise_floor is None


def test_reference_steps_are_not_cells() -> None:
    steps = [
        record(measurement(), kind=kind)
        for kind in (StepKind.NOISE, StepKind.MEMORY, StepKind.CEILING, StepKind.LAYOUT)
    ]
    assert analyse(steps, manifest(), ENVIRONMENT).cells == ()


def test_the_device_floor_comes_from_confirmed_direct_reads_only() -> None:
    confirmed = record(measurement(shape=histogram(1e6)))
    unseen = record(
        measurement(shape=histogram(1e4)), ordinal=1, experiment="other", totals={"disk.a.read_bytes": 0.0}
    )
    assert reference(confirmed, unseen).device_read_floors_ns == {"": pytest.approx(0.7e6, rel=0.01)}
    assert reference(unseen).device_read_floors_ns == {}


def test_stated_limits_of_nothing_are_dropped() -> None:
    assert reference().limits == {"read": 1e9}


def test_the_machine_is_read_within_its_control_group() -> None:
    machine = read_machine(
        {
            "processor": {"threads": 64, "cgroup_limit_cores": 2.5},
            "memory": {"total_bytes": 64 * GIB, "cgroup_limit_bytes": None},
            "filesystem": {"type": "tmpfs"},
        }
    )
    assert (machine.threads, machine.memory_bytes, machine.is_memory) == (2.5, 64 * GIB, True)


def test_an_empty_or_broken_environment_leaves_everything_unknown() -> None:
    assert read_machine({}) == read_machine({"processor": None, "memory": "?", "filesystem": []})
    assert read_machine({}).threads is None


def test_counters_are_summed_up_beside_the_cell() -> None:
    counters = [
        Series("cpu.all.busy_share", "share", [0, 1], [0.2, 0.4]),
        Series("cpu.0.busy_share", "share", [0, 1], [1.0, 1.0]),
        Series("disk.vda.read_bytes_per_second", "bytes/s", [0, 1], [100, 300]),
        Series("disk.vdb.read_bytes_per_second", "bytes/s", [0, 1], [50, 50]),
        Series("disk.vda.utilisation_share", "share", [0, 1], [0.9, 1.0]),
        Series("disk.vdb.utilisation_share", "share", [0, 1], [0.1, 0.1]),
        Series("memory.dirty_bytes", "bytes", [0, 1], [5, 9]),
        Series("memory.available_bytes", "bytes", [0, 1], [70, 60]),
        Series("something.else", "", [0], [1]),
        Series("nic.eth0.receive_bytes_per_second", "bytes/s", [], []),
    ]
    found = analyse([record(measurement(), counters=counters)], manifest(), ENVIRONMENT).cells[0].resources
    assert found == pytest.approx(
        {
            "cpu_busy_share": 0.3,
            "disk_read_bytes_per_second": 250,
            "disk_utilisation": 0.95,
            "dirty_bytes_max": 9,
            "memory_available_bytes_min": 60,
            "engine_cpu_cores": 0.2,
        }
    )
