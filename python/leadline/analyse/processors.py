"""Whose processors a cell used, and how far disks that are held back were used: entries of CellResult.resources.

In a lab, clients and servers share this machine; what each group of processes used is counted apart (run/observe/group_clock.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from leadline.analyse.merge import Trial, Trials
from leadline.store.records import StepRecord

GROUP, SPENT = "group.", ".cpu_seconds"
THROTTLED = ".throttled_microseconds"
SERVERS = "servers"
DISK = "disk."
LAB_DISK = "loop"
"""Every disk of a lab is a loop device; what they lie on is not held back."""
HELD = {
    "disk_read_bandwidth": "read_bytes",
    "disk_write_bandwidth": "write_bytes",
    "disk_read_iops": "read_operations",
    "disk_write_iops": "write_operations",
}
"""Condition -> counter of a disk."""


def summarise_processors(trials: Trials, threads: float | None) -> dict[str, float]:
    """Cores used by clients and servers, and their shares of what they have; means over the repeats."""
    repeats = [_of_trial(trial, threads) for trial in trials.trials]
    names = {name for repeat in repeats for name in repeat}
    return {name: _mean(repeat[name] for repeat in repeats if name in repeat) for name in sorted(names)}


def _of_trial(trial: Trial, threads: float | None) -> dict[str, float]:
    seconds = _load_seconds(trial)
    if seconds <= 0:
        return {}
    return {**_cores(trial.record, seconds, threads), **_disks(trial.record, seconds)}


def _cores(record: StepRecord, seconds: float, threads: float | None) -> dict[str, float]:
    """The engine works for the clients; groups of both kinds must have been counted, or nothing is said of either."""
    groups = {
        name.removeprefix(GROUP).removesuffix(SPENT): spent / seconds
        for name, spent in record.totals.items()
        if name.startswith(GROUP) and name.endswith(SPENT)
    }
    engine = record.facts.get("engine_cpu_seconds")
    if not groups or not isinstance(engine, int | float):
        return {}
    clients = [cores for name, cores in groups.items() if name != SERVERS]
    # The engine's own time is that of its whole life, which is longer than its load: under a limit much longer.
    whole_life = max(seconds, record.wall_ns / 1e9)
    used = {
        "client": (sum(clients) * seconds + engine) / whole_life,
        "server": groups.get(SERVERS, 0.0),
    }
    held = _held(record)
    found = {f"{side}_cpu_cores": cores for side, cores in used.items()}
    number = record.cell.get("clients", 1)
    limits = {"client": _times(held.get("client_cores"), number), "server": held.get("server_cores")}
    whole = sum(used.values()) / threads if threads else None
    for side, limit in limits.items():
        if limit:
            found[f"{side}_cpu_share"] = max(used[side] / limit, min(1.0, _throttled(record, side) / seconds))
        elif whole is not None and not any(limits.values()):
            found[f"{side}_cpu_share"] = whole * used[side] / max(used.values())  # they share one machine
    return found


def _throttled(record: StepRecord, side: str) -> float:
    """Seconds in whole periods in which a quota ran out; of several clients those of the one held back most."""
    held_back = {
        name.removeprefix(GROUP).removesuffix(THROTTLED): gained / 1e6
        for name, gained in record.totals.items()
        if name.startswith(GROUP) and name.endswith(THROTTLED)
    }
    of_side = [seconds for group, seconds in held_back.items() if (group == SERVERS) is (side == "server")]
    return max(of_side, default=0.0)


def _disks(record: StepRecord, seconds: float) -> dict[str, float]:
    """The fullest share of what a disk of the lab is held to: of a limit, or of all the time that its channels have."""
    shares = [
        *_channel_shares(record, seconds),
        *(
            record.totals[name] / seconds / limit
            for condition, quantity in HELD.items()
            if (limit := _held(record).get(condition))
            for name in record.totals
            if name.startswith(f"{DISK}{LAB_DISK}") and name.endswith(f".{quantity}")
        ),
    ]
    return {"disk_held_share": max(shares)} if shares else {}


def _channel_shares(record: StepRecord, seconds: float) -> list[float]:
    """By the utilisation law: what requests took of its channels' time. The kernel's own utilisation is full with one request in flight."""
    held = _held(record)
    latency = held.get("disk_latency")
    if not latency:
        return []
    a_byte = 1 / rate if (rate := held.get("disk_channel_bandwidth")) else 0.0
    costs = {
        "read_operations": latency,
        "write_operations": latency,
        "read_bytes": a_byte,
        "write_bytes": a_byte,
    }
    taken: dict[str, float] = {}
    for name, total in record.totals.items():
        disk, _, quantity = name.rpartition(".")
        if disk.startswith(f"{DISK}{LAB_DISK}") and quantity in costs:
            taken[disk] = taken.get(disk, 0.0) + total * costs[quantity]
    return [spent / seconds / held.get("disk_channels", 1) for spent in taken.values()]


def _load_seconds(trial: Trial) -> float:
    ramp = trial.record.cell.get("ramp", 0.0)
    return trial.load_ns / 1e9 + (float(ramp) if isinstance(ramp, int | float) else 0.0)


def _held(record: StepRecord) -> Mapping[str, float]:
    held = record.facts.get("site_conditions")
    return held if isinstance(held, Mapping) else {}


def _times(cores: float | None, number: object) -> float | None:
    return cores * number if cores is not None and isinstance(number, int) else cores


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)
