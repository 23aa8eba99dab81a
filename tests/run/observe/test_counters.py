"""Counters: what is read, what the ledger makes of it, and the live sampler on this machine."""

import mmap
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.run.observe.block_devices import device_names_under
from leadline.run.observe.counter_ledger import CounterLedger, gain
from leadline.run.observe.counter_readings import CoreTicks, Reading, read_counters
from leadline.run.observe.counters import CounterSampler
from leadline.run.observe.engine_clock import EngineClock
from leadline.run.observe.machine import Machine

SECOND_NS = 1_000_000_000
Recorded = Callable[[str], Path]


def counted(time_seconds: float, **counters: int) -> Reading:
    """A reading of counters of disk `x`."""
    named = {f"disk.x.{name}": value for name, value in counters.items()}
    return Reading(int(time_seconds * SECOND_NS), named, {}, {})


def ledger_of(*readings: Reading) -> CounterLedger:
    ledger = CounterLedger()
    for reading in readings:
        ledger.add(reading)
    return ledger


def values(ledger: CounterLedger, name: str) -> list[float]:
    return next((series.values for series in ledger.series() if series.name == name), [])


def test_columns_of_the_kernel_get_their_names_and_units(recorded: Recorded) -> None:
    reading = read_counters(Machine(recorded("bonded_numa_server")), ["nvme0n1"], ["bond0"], 0)
    expected = {
        "disk.nvme0n1.read_operations": 1000,
        "disk.nvme0n1.read_bytes": 80000 * 512,
        "disk.nvme0n1.write_operations": 2000,
        "disk.nvme0n1.write_bytes": 160000 * 512,
        "disk.nvme0n1.busy_milliseconds": 500,
        "disk.nvme0n1.queued_milliseconds": 700,
        "disk.nvme0n1.discard_operations": 3,
        "disk.nvme0n1.flush_operations": 40,
        "nic.bond0.receive_bytes": 243399409,
        "nic.bond0.receive_packets": 8457,
        "nic.bond0.receive_errors": 1,
        "nic.bond0.receive_drops": 2,
        "nic.bond0.transmit_bytes": 465011,
        "nic.bond0.transmit_packets": 5213,
        "nic.bond0.transmit_errors": 3,
        "nic.bond0.transmit_drops": 4,
        "tcp.sent_segments": 5150,
        "tcp.retransmitted_segments": 17,
        "kernel.context_switches": 479826,
        "pressure.cpu.some_microseconds": 3526676,
        "pressure.io.some_microseconds": 5195566,
    }
    assert reading.counters == expected
    assert reading.gauges == {
        "kernel.running_processes": 3.0,
        "kernel.blocked_processes": 1.0,
        "memory.available_bytes": 196608 * 1024.0,
        "memory.cached_bytes": 40000 * 1024.0,
        "memory.dirty_bytes": 128 * 1024.0,
        "memory.writeback_bytes": 0.0,
    }
    assert sorted(reading.cores) == ["cpu.0", "cpu.1", "cpu.2", "cpu.3", "cpu.all"]
    # Guest time (the last but one column) is inside user time and must not be counted twice.
    assert reading.cores["cpu.all"] == CoreTicks(user=4100, system=2200, idle=90000, iowait=500, steal=200)


def test_short_lines_of_old_kernels_give_fewer_names(recorded: Recorded) -> None:
    reading = read_counters(Machine(recorded("limited_container")), ["sdb"], ["eth0"], 0)
    assert reading.counters["disk.sdb.write_bytes"] == 160 * 512
    assert "disk.sdb.flush_operations" not in reading.counters
    assert "tcp.retransmitted_segments" not in reading.counters
    assert reading.cores["cpu.0"] == CoreTicks(2427, 560, 8125, 0, 0)


def test_an_interface_without_a_blank_after_its_colon_is_read(recorded: Recorded) -> None:
    reading = read_counters(Machine(recorded("limited_container")), [], ["eth0"], 0)
    assert reading.counters["nic.eth0.receive_bytes"] == 1000000001


def test_a_machine_without_counters_gives_an_empty_reading(tmp_path: Path) -> None:
    assert read_counters(Machine(tmp_path), ["sda"], ["eth0"], 7) == Reading(7, {}, {}, {})


def test_rates_are_per_second_and_totals_are_differences() -> None:
    ledger = ledger_of(
        counted(10, read_bytes=5000), counted(10.5, read_bytes=6000), counted(12.5, read_bytes=10000)
    )
    (series,) = ledger.series()
    assert (series.name, series.unit) == ("disk.x.read_bytes_per_second", "bytes/s")
    assert series.times_ns == [SECOND_NS // 2, 2 * SECOND_NS + SECOND_NS // 2]
    assert series.values == [2000.0, 2000.0]
    assert ledger.totals() == {"disk.x.read_bytes": 5000.0}


def test_busy_time_becomes_utilisation_and_queued_time_the_queue_length() -> None:
    ledger = ledger_of(
        counted(0, busy_milliseconds=0, queued_milliseconds=0),
        counted(2, busy_milliseconds=500, queued_milliseconds=16000),
    )
    assert values(ledger, "disk.x.utilisation_share") == [0.25]
    assert values(ledger, "disk.x.queue_length") == [8.0]


def test_gauges_are_kept_as_they_are() -> None:
    ledger = ledger_of(
        Reading(5, {}, {"memory.dirty_bytes": 7.0}, {}), Reading(6, {}, {"memory.dirty_bytes": 3.0}, {})
    )
    (series,) = ledger.series()
    assert (series.unit, series.times_ns, series.values) == ("bytes", [0, 1], [7.0, 3.0])


def test_core_shares_are_of_the_ticks_counted_and_steal_is_not_busy() -> None:
    ledger = ledger_of(
        Reading(0, {}, {}, {"cpu.0": CoreTicks(0, 0, 0, 0, 0)}),
        Reading(SECOND_NS, {}, {}, {"cpu.0": CoreTicks(user=20, system=10, idle=40, iowait=5, steal=5)}),
    )
    assert values(ledger, "cpu.0.busy_share") == [0.375]
    assert values(ledger, "cpu.0.user_share") == [0.25]
    assert values(ledger, "cpu.0.steal_share") == [0.0625]
    assert ledger.totals()["cpu.0.user_seconds"] == 0.2


def test_idle_time_that_runs_backwards_counts_as_nothing() -> None:
    ledger = ledger_of(
        Reading(0, {}, {}, {"cpu.0": CoreTicks(0, 0, 100, 50, 0)}),
        Reading(SECOND_NS, {}, {}, {"cpu.0": CoreTicks(30, 0, 110, 40, 0)}),
    )
    assert values(ledger, "cpu.0.busy_share") == [0.75]
    assert ledger.totals()["cpu.0.iowait_seconds"] == 0.0


def test_millisecond_counters_wrap_at_32_bits_and_lose_nothing() -> None:
    assert gain("disk.x.busy_milliseconds", (1 << 32) - 10, 5) == (15, False)


def test_a_counter_that_starts_again_counts_from_zero_and_is_noted() -> None:
    ledger = ledger_of(
        counted(0, write_bytes=900),
        counted(1, write_bytes=1000),
        counted(2, write_bytes=40),
        counted(3, write_bytes=50),
    )
    assert ledger.totals() == {"disk.x.write_bytes": 150.0}
    assert values(ledger, "disk.x.write_bytes_per_second") == [100.0, 40.0, 10.0]
    assert ledger.notes() == [
        "Counter disk.x.write_bytes started again from zero; what it had counted since the last look is lost."
    ]


def test_a_device_that_vanishes_and_returns_keeps_its_total_and_spreads_the_gap() -> None:
    ledger = ledger_of(
        counted(0, read_bytes=0),
        counted(1, read_bytes=100),
        counted(2),
        counted(3),
        counted(4, read_bytes=400),
    )
    assert ledger.totals() == {"disk.x.read_bytes": 400.0}
    assert values(ledger, "disk.x.read_bytes_per_second") == [100.0, 100.0]
    assert ledger.notes() == ["The counters of disk.x vanished during the run."]


def test_a_sliver_at_the_end_counts_in_the_total_but_makes_no_rate() -> None:
    ledger = ledger_of(counted(0, read_bytes=0), counted(1, read_bytes=100))
    ledger.add(counted(1.001, read_bytes=150), totals_only=True)
    assert ledger.totals() == {"disk.x.read_bytes": 150.0}
    assert values(ledger, "disk.x.read_bytes_per_second") == [100.0]


@given(st.lists(st.tuples(st.integers(1, 10**10), st.integers(0, 10**12)), min_size=1, max_size=30))
def test_rates_times_their_intervals_add_up_to_the_total(steps: list[tuple[int, int]]) -> None:
    time_ns, value, readings = 0, 0, [Reading(0, {"disk.x.read_bytes": 0}, {}, {})]
    for elapsed_ns, gained in steps:
        time_ns, value = time_ns + elapsed_ns, value + gained
        readings.append(Reading(time_ns, {"disk.x.read_bytes": value}, {}, {}))
    ledger = ledger_of(*readings)
    rates = values(ledger, "disk.x.read_bytes_per_second")
    moved = sum(rate * elapsed_ns / SECOND_NS for rate, (elapsed_ns, _) in zip(rates, steps, strict=True))
    assert ledger.totals()["disk.x.read_bytes"] == value
    assert moved == pytest.approx(value, rel=1e-9)


def test_an_engine_is_counted_with_the_jobs_it_forked_and_those_it_waited_for(recorded: Recorded) -> None:
    root = recorded("bonded_numa_server")
    engine = EngineClock(Machine(root))
    engine.watch(4000)
    assert engine.ticks() == 0
    # Job 4001 (120 ticks) ends having used 5 more; its parent has waited for it and now carries them.
    (root / "proc/4001/stat").unlink()
    (root / "proc/4000/task/4000/children").write_text("4002 \n")
    (root / "proc/4000/stat").write_text(
        "4000 (fio (x) y) S 1 4000 4000 0 -1 0 0 0 0 0 7 3 140 75 20 0 1 0 0 0\n"
    )
    assert engine.ticks() == 5
    (root / "proc/4000/stat").unlink()
    assert engine.ticks() == 5


def test_the_sampler_survives_a_disk_that_is_pulled(recorded: Recorded) -> None:
    root = recorded("bonded_numa_server")
    diskstats = root / "proc/diskstats"
    with CounterSampler(["nvme0n1", "nvme1n1p1"], ["bond0"], interval_seconds=0.01, root=root) as sampler:
        wait_for_samples(sampler, 2)
        lines = diskstats.read_text().splitlines()
        replacement = root / "proc/diskstats.new"
        replacement.write_text("\n".join(line for line in lines if "nvme0n1" not in line) + "\n")
        replacement.rename(diskstats)
        wait_for_samples(sampler, sampler.samples + 2)
    assert "disk.nvme0n1.read_bytes" in sampler.totals()
    assert sampler.notes() == ["The counters of disk.nvme0n1 vanished during the run."]


def test_a_short_window_still_has_a_rate_from_start_to_stop(recorded: Recorded) -> None:
    with CounterSampler(["nvme0n1"], [], interval_seconds=60, root=recorded("bonded_numa_server")) as sampler:
        pass
    assert sampler.samples == 2
    (series,) = [s for s in sampler.series() if s.name == "disk.nvme0n1.read_bytes_per_second"]
    assert series.values == [0.0]


def test_an_error_inside_the_with_block_is_not_replaced(recorded: Recorded) -> None:
    with pytest.raises(KeyError, match="mine"), CounterSampler([], [], root=recorded("bonded_numa_server")):
        raise KeyError("mine")


def test_real_io_on_this_machine_is_seen_at_its_disk(tmp_path: Path) -> None:
    devices = device_names_under(Machine(), tmp_path)
    if not devices:
        pytest.skip(f"{tmp_path} lies on no disk of this machine")
    size_bytes = 8 << 20
    with CounterSampler(devices, ["lo"], interval_seconds=0.05) as sampler:
        write_directly(tmp_path / "probe.bin", size_bytes)
        wait_for_samples(sampler, 3)
    assert sampler.totals()[f"disk.{devices[0]}.write_bytes"] >= size_bytes
    assert all(len(series.times_ns) == len(series.values) >= 1 for series in sampler.series())
    assert all(series.times_ns == sorted(series.times_ns) for series in sampler.series())


def test_the_processor_time_of_a_real_engine_is_seen() -> None:
    with CounterSampler([], [], interval_seconds=0.05) as sampler:
        engine = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        try:
            sampler.watch_engine(engine.pid)
            deadline = time.monotonic() + 60
            while sampler.totals().get("engine.cpu_seconds", 0.0) < 0.1 and time.monotonic() < deadline:
                wait_for_samples(sampler, sampler.samples + 1)
        finally:
            engine.kill()
            engine.wait()
    assert sampler.totals()["engine.cpu_seconds"] >= 0.1
    assert any(series.name == "engine.busy_cores" for series in sampler.series())


def test_a_look_at_this_machine_costs_little() -> None:
    sampler = CounterSampler(device_names_under(Machine(), Path("/")), ["lo"])
    spent = []
    for _ in range(20):
        begun = time.thread_time()
        sampler._sample()
        spent.append(time.thread_time() - begun)
    # About 0.3 ms on two cores; one that cost 20 ms would be 2 % of a core beside every measurement.
    assert median(spent) < 0.02


def write_directly(path: Path, size_bytes: int) -> None:
    """Past the page cache where the filesystem allows it, and flushed in any case."""
    flags = os.O_WRONLY | os.O_CREAT
    try:
        descriptor = os.open(path, flags | os.O_DIRECT)
    except OSError:
        descriptor = os.open(path, flags)
    with mmap.mmap(-1, size_bytes) as block:
        block.write(os.urandom(size_bytes))
        os.write(descriptor, block)
    os.fsync(descriptor)
    os.close(descriptor)


def wait_for_samples(sampler: CounterSampler, count: int) -> None:
    deadline = time.monotonic() + 60
    while sampler.samples < count:
        assert time.monotonic() < deadline, "the sampler stands still"
        time.sleep(0.005)
