"""The object store of a lab's target as each of its clients reaches it: the lab's own S3, or where the lab's JuiceFS keeps its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leadline.run.lab.s3_gateway import ACCESS_KEY, SECRET_KEY
from leadline.run.lab.state import Ready
from leadline.spec.object_store import ObjectStore, parse_store

KEYS = (f"access_key_id={ACCESS_KEY}", f"secret_access_key={SECRET_KEY}")


def stores_of_lab(name: str, ready: Ready, clients: Sequence[str]) -> dict[str, ObjectStore]:
    """By client; where servers are several, clients take them in turns as their mounts do. Empty for targets without a store."""
    places = list(_places(name, ready))
    if not places:
        return {}
    return {client: _store(places[number % len(places)]) for number, client in enumerate(clients)}


def _places(name: str, ready: Ready) -> Iterator[str]:
    if name == "s3":
        yield from (seat.directory for seat in ready.clients)
    elif name == "juicefs":
        yield from map(str, ready.facts.get("buckets", ()))


def _store(place: str) -> ObjectStore:
    return parse_store(place, KEYS if "://" in place else (), environment={})


def without_keys(facts: Mapping[str, Any]) -> dict[str, Any]:
    """As the environment record keeps them: the keys of a lab are known to everybody, and still no record holds keys."""
    return {name: value for name, value in facts.items() if name not in ("access_key", "secret_key")}
