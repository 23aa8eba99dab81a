"""Readings in, series and exact totals out: the arithmetic of counters over time, free of clocks and files.

Points are kept in flat arrays as they come, so that an hour on a machine of 200 cores costs a few megabytes.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from leadline.run.observe.counter_readings import CoreTicks, Reading
from leadline.store.series import Series

NANOSECONDS = 1_000_000_000
TICKS_PER_SECOND = 100
"""USER_HZ, in which /proc counts processor time: 100 everywhere but on Alpha (kernel asm-generic/param.h)."""
UNITS_A_SECOND = {"ticks": TICKS_PER_SECOND, "nanoseconds": NANOSECONDS}
"""Of processor time, which totals give in seconds."""

TIME_COUNTERS = {
    # A counter of time spent is shown over the time that passed: name -> (shown as, unit, units a second).
    "busy_milliseconds": ("utilisation_share", "share", 1e3),
    "queued_milliseconds": ("queue_length", "operations", 1e3),
    "some_microseconds": ("some_share", "share", 1e6),
    "throttled_microseconds": ("throttled_share", "share", 1e6),
    "cpu_ticks": ("busy_cores", "cores", float(TICKS_PER_SECOND)),
    "cpu_nanoseconds": ("busy_cores", "cores", float(NANOSECONDS)),
}


@dataclass
class _Track:
    unit: str
    times_ns: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))


class CounterLedger:
    """What has been read so far."""

    def __init__(self) -> None:
        self._start_ns: int | None = None
        self._counters: dict[str, tuple[int, int]] = {}  # name -> (when last seen, value)
        self._cores: dict[str, CoreTicks] = {}
        self._present: set[str] = set()
        self._totals: dict[str, int] = {}
        self._tracks: dict[str, _Track] = {}
        self._notes: list[str] = []

    def add(self, reading: Reading, *, totals_only: bool = False) -> None:
        """Count a reading. `totals_only` is for a sliver of time too short for a rate that means anything."""
        if self._start_ns is None:
            self._start_ns = reading.time_ns
        self._note_vanished(reading)
        for name, value in reading.counters.items():
            self._count(name, value, reading.time_ns, totals_only)
        for name, ticks in reading.cores.items():
            self._count_core(name, ticks, reading.time_ns, totals_only)
        for name, level in reading.gauges.items():
            self._plot(name, name.rpartition("_")[2], reading.time_ns, level)

    def begin(self, name: str, value: int, time_ns: int) -> None:
        """Take a counter's value as its starting point, if it has none: what it gains from here on counts."""
        self._counters.setdefault(name, (time_ns, value))
        self._totals.setdefault(name, 0)

    def series(self) -> list[Series]:
        """Everything over time, relative to the first reading, sorted by name."""
        return [
            Series(name, track.unit, track.times_ns.tolist(), track.values.tolist())
            for name, track in sorted(self._tracks.items())
        ]

    def totals(self) -> dict[str, float]:
        """How much each counter gained between the first and the last reading; processor time as seconds."""
        totals: dict[str, float] = {}
        for name, gained in sorted(self._totals.items()):
            owner, _, unit = name.rpartition("_")
            if unit in UNITS_A_SECOND:
                totals[f"{owner}_seconds"] = gained / UNITS_A_SECOND[unit]
            else:
                totals[name] = float(gained)
        return totals

    def notes(self) -> list[str]:
        """What went wrong with the counters themselves, in sentences."""
        return list(self._notes)

    def _count(self, name: str, value: int, time_ns: int, totals_only: bool) -> None:
        before = self._counters.get(name)
        self._counters[name] = (time_ns, value)
        if before is None:
            self._totals.setdefault(name, 0)
            return
        gained, restarted = gain(name, before[1], value)
        if restarted:
            self._note(
                f"Counter {name} started again from zero; what it had counted since the last look is lost."
            )
        self._totals[name] += gained
        elapsed_ns = time_ns - before[0]
        if elapsed_ns > 0 and not totals_only:
            self._plot_rate(name, gained, elapsed_ns, time_ns)

    def _plot_rate(self, name: str, gained: int, elapsed_ns: int, time_ns: int) -> None:
        owner, _, quantity = name.rpartition(".")
        per_second = gained * NANOSECONDS / elapsed_ns
        if quantity in TIME_COUNTERS:
            shown_as, unit, units_in_a_second = TIME_COUNTERS[quantity]
            self._plot(f"{owner}.{shown_as}", unit, time_ns, per_second / units_in_a_second)
        else:
            unit = quantity.rpartition("_")[2]
            self._plot(f"{name}_per_second", f"{unit}/s", time_ns, per_second)

    def _count_core(self, name: str, ticks: CoreTicks, time_ns: int, totals_only: bool) -> None:
        before = self._cores.get(name)
        self._cores[name] = ticks
        # idle and iowait may run backwards a little when a core goes on or off line (proc_stat(5)).
        gained = CoreTicks(*(max(0, n - b) for n, b in zip(ticks, before or ticks, strict=True)))
        for part, count in gained._asdict().items():
            self._totals[f"{name}.{part}_ticks"] = self._totals.get(f"{name}.{part}_ticks", 0) + count
        # Shares of the ticks counted, not of the clock: the ticks of a short window never quite fill it.
        whole = gained.whole
        if whole and not totals_only:
            for part in ("user", "system", "iowait", "steal"):
                self._plot(f"{name}.{part}_share", "share", time_ns, getattr(gained, part) / whole)
            self._plot(f"{name}.busy_share", "share", time_ns, (gained.user + gained.system) / whole)

    def _plot(self, name: str, unit: str, time_ns: int, value: float) -> None:
        assert self._start_ns is not None
        track = self._tracks.setdefault(name, _Track(unit))
        track.times_ns.append(time_ns - self._start_ns)
        track.values.append(value)

    def _note_vanished(self, reading: Reading) -> None:
        """Say once for each device or interface that its counters are gone."""
        owners = {name.rpartition(".")[0] for name in (*reading.counters, *reading.cores)}
        for owner in sorted(self._present - owners):
            self._note(f"The counters of {owner} vanished during the run.")
        self._present = owners

    def _note(self, sentence: str) -> None:
        if sentence not in self._notes:
            self._notes.append(sentence)


def gain(name: str, before: int, now: int) -> tuple[int, bool]:
    """What a counter gained, and whether it started again from zero in between (a device that came back).

    The times in /proc/diskstats are printed as 32-bit numbers and wrap after 49 days; a restart there near
    the brim would be taken for a wrap. All other counters are 64 bits wide and never reach their end.
    """
    if now >= before:
        return now - before, False
    if name.endswith("_milliseconds") and before >= 1 << 31:
        return now + (1 << 32) - before, False
    return now, True
