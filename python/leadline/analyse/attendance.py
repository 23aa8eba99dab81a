"""Which clients a step started, and which of them gave a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.store.records import StepRecord


def client_facts(record: StepRecord) -> dict[str, Mapping[str, Any]]:
    """By name, what the record says of each client that was started."""
    listed = record.facts.get("clients")
    entries = listed if isinstance(listed, list | tuple) else ()
    return {str(entry["name"]): entry for entry in entries if isinstance(entry, Mapping) and "name" in entry}


def client_names(record: StepRecord) -> dict[str, None]:
    """Clients that gave a figure, in whatever direction."""
    reported = [job.host for job in record.jobs] + [part.host for part in record.measurements]
    return dict.fromkeys(reported)


def everyone(record: StepRecord) -> dict[str, None]:
    """Those started and those that reported, by name; a lone one may bear its machine's name in its figures."""
    started, reported = dict.fromkeys(client_facts(record)), client_names(record)
    return started if len(started) == 1 and len(reported) == 1 else {**started, **reported}


def machine_count(record: StepRecord) -> int | None:
    """How many machines the clients lived on: those in namespaces share one. None where it was not recorded."""
    named = {str(entry["host"]) for entry in client_facts(record).values() if entry.get("host") is not None}
    return len(named) or None


def by_number(name: str) -> tuple[str, int]:
    """Sort key: client2 before client10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)
