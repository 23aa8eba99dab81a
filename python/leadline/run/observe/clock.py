"""Time on this machine: when the record was made, how loaded it already was, and what keeps its clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from leadline.run.observe.machine import Machine

CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0"


def describe_time(machine: Machine) -> dict[str, Any]:
    """JSON-ready facts; a fact that cannot be read is None."""
    load = (machine.text("/proc/loadavg", "load average") or "").split()
    uptime = (machine.text("/proc/uptime", "uptime") or "").split()
    return {
        "recorded_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "uptime_seconds": float(uptime[0]) if uptime else None,
        "load_average": [float(value) for value in load[:3]] or None,
        "clock_source": machine.text(f"{CLOCK_SOURCE}/current_clocksource", "clock source"),
        "clock_sources_available": (machine.text(f"{CLOCK_SOURCE}/available_clocksource") or "").split(),
    }
