"""The machine against its sheets: CPU clock and governor, NICs, disks; what is off, in words."""

from __future__ import annotations

import time
from collections.abc import Iterator

from leadline.run.observe.finding import Finding, State
from leadline.run.observe.machine import Machine
from leadline.run.observe.network_interfaces import describe_network
from leadline.run.observe.processor import CPU
from leadline.spec.nominal import Nominal, NominalDisk

LEAST_CLOCK_SHARE = 0.95
SIZE_TOLERANCE = 0.03
"""Sheets count in powers of ten and round."""
SECTOR_BYTES = 512
"""Of /sys/class/block/*/size, whatever the device's own sectors."""
BUSY_SECONDS = 0.1
"""A core that rests may be clocked down; the clock is read after it was busy for this long."""


def compare_inventory(nominal: Nominal, machine: Machine) -> list[Finding]:
    """One finding for each thing that the sheets state."""
    return [*_processor(nominal, machine), *_nics(nominal, machine), *_disks(nominal, machine)]


def _processor(nominal: Nominal, machine: Machine) -> Iterator[Finding]:
    if nominal.threads is not None:
        there = len(_of_each_thread(machine, "processor"))
        yield _told(
            "CPU threads", there == nominal.threads, f"{there} threads, {nominal.threads} on the sheet"
        )
    if nominal.cpu_clock is not None:
        yield _clock(nominal.cpu_clock, machine)
    if nominal.cpu_governor is not None:
        yield _governor(nominal.cpu_governor, machine)


def _clock(nominal_hz: float, machine: Machine) -> Finding:
    if machine.is_live:
        _be_busy()
    clocks = [float(text) for text in _of_each_thread(machine, "cpu MHz")]
    if not clocks:
        return Finding(
            "CPU clock", State.LIMITED, "The kernel does not tell the clock, so it was not compared."
        )
    highest_hz = max(clocks) * 1e6
    words = (
        f"{highest_hz / 1e9:.2f} GHz of {nominal_hz / 1e9:.2f} GHz ({100 * highest_hz / nominal_hz:.0f} %)"
    )
    remedy = "Look at the governor, power limits and temperature."
    return _told("CPU clock", highest_hz >= LEAST_CLOCK_SHARE * nominal_hz, words, remedy)


def _of_each_thread(machine: Machine, key: str) -> list[str]:
    """Values of a line that /proc/cpuinfo has once a thread."""
    lines = (machine.text("/proc/cpuinfo") or "").splitlines()
    return [
        value.strip() for name, mark, value in (line.partition(":") for line in lines) if name.strip() == key
    ]


def _be_busy() -> None:
    until = time.monotonic() + BUSY_SECONDS
    while time.monotonic() < until:
        pass


def _governor(wanted: str, machine: Machine) -> Finding:
    found = sorted(
        {
            governor
            for name in machine.names(CPU)
            if (governor := machine.text(f"{CPU}/{name}/cpufreq/scaling_governor")) is not None
        }
    )
    if not found:
        sentence = "No governor can be seen (usual in a virtual machine), so it was not compared."
        return Finding("CPU governor", State.LIMITED, sentence)
    remedy = f"Set it on all cores: cpupower frequency-set -g {wanted}."
    return _told("CPU governor", found == [wanted], f"{', '.join(found)}, {wanted} wanted", remedy)


def _nics(nominal: Nominal, machine: Machine) -> Iterator[Finding]:
    there = {each["name"]: each for each in describe_network(machine)["interfaces"]}
    for name, wanted in nominal.nics.items():
        subject = f"NIC {name}"
        if name not in there:
            known = ", ".join(sorted(there)) or "none"
            yield Finding(subject, State.MISSING, f"There is no such interface (there are: {known}).")
            continue
        speed = there[name]["speed_bits_per_second"]
        if speed is None:
            reason = there[name]["speed_unknown_because"] or "the driver does not tell it"
            yield Finding(subject, State.LIMITED, f"Its speed was not compared: {reason}")
            continue
        words = f"{speed / 1e9:g} Gb/s of {wanted * 8 / 1e9:g} Gb/s"
        yield _told(
            subject, speed >= wanted * 8, words, "Look at the cable, the port and what the switch negotiates."
        )


def _disks(nominal: Nominal, machine: Machine) -> Iterator[Finding]:
    for name, wanted in nominal.disks.items():
        sectors = machine.integer(f"/sys/class/block/{name}/size")
        if sectors is None:
            yield Finding(f"disk {name}", State.MISSING, "There is no such block device.")
        else:
            yield from _disk(name, wanted, sectors * SECTOR_BYTES, machine)


def _disk(name: str, wanted: NominalDisk, size_bytes: int, machine: Machine) -> Iterator[Finding]:
    if wanted.size is not None:
        share = size_bytes / wanted.size
        words = f"{size_bytes / 1e9:,.0f} GB of {wanted.size / 1e9:,.0f} GB ({100 * share:.0f} %)"
        yield _told(f"disk {name}, size", abs(share - 1) <= SIZE_TOLERANCE, words)
    if wanted.kind is not None:
        rotates = machine.text(f"/sys/class/block/{name}/queue/rotational") == "1"
        found = "disk" if rotates else "ssd"
        words = f"the kernel takes it for a {'rotating disk' if rotates else 'solid-state drive'}"
        yield _told(
            f"disk {name}, kind",
            found == wanted.kind,
            words,
            "Virtual disks and RAID controllers often hide what lies below.",
        )


def _told(subject: str, fits: bool, words: str, remedy: str | None = None) -> Finding:
    sentence = f"{'As' if fits else 'Not as'} on its sheet: {words}."
    return Finding(subject, State.OK if fits else State.LIMITED, sentence, None if fits else remedy)
