"""What `leadline objbench --json` writes: the store without its keys, checks, and every figure with n, interval and verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.analyse.objects import ObjectCell
from leadline.errors import UserError

FORMAT = "leadline objbench 1"


def write_objects(path: Path, document: Mapping[str, Any]) -> None:
    """Raises UserError where it cannot be written."""
    try:
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}; give another file to --json") from None


def objects_document(
    store: str, settings: Mapping[str, Any], checks: Sequence[Mapping[str, Any]], cells: Sequence[ObjectCell]
) -> dict[str, Any]:
    """JSON-ready."""
    return {
        "format": FORMAT,
        "store": store,
        "settings": dict(settings),
        "checks": [dict(check) for check in checks],
        "cells": [_cell(cell) for cell in cells],
    }


def _cell(cell: ObjectCell) -> dict[str, Any]:
    result = cell.result
    return {
        "request": result.direction.removeprefix("object "),
        "object_size_bytes": cell.object_size_bytes,
        "part_size_bytes": cell.part_size_bytes,
        "concurrency": result.concurrency,
        "clients": cell.instances,
        "repeats": result.repeats,
        "requests": result.operations,
        "failed": dict(result.failed),
        "retried": cell.retried,
        "objects_per_second": cell.objects_per_second,
        "cpu_seconds": cell.cpu_seconds,
        "metrics": {
            name: {"value": one.value, "low": one.low, "high": one.high, "n": one.n, "method": one.method, "valid": result.valid(name)}
            for name, one in result.metrics.items()
        },
        "verdicts": [
            {"name": verdict.name, "evidence": verdict.evidence, "metrics": list(verdict.metrics)} for verdict in result.verdicts
        ],
    }  # fmt: skip
