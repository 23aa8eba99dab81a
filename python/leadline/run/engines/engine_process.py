"""Calling `leadline-engine run`: one JSON step in, one JSON result out (schemas/engine_step.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.run.executable import engine_executable
from leadline.run.seams import Completed, Invocation


def invocation_of(document: Mapping[str, Any], scratch: Path, timeout_seconds: float) -> Invocation:
    """Writes the step beside the results and names it on the command line."""
    path = scratch / "engine_step.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return Invocation((str(engine_executable()), "run", str(path)), scratch, scratch, timeout_seconds)


def result_of(completed: Completed) -> tuple[dict[str, Any] | None, str | None]:
    """The result, which is the last line of the output, or the reason why there is none."""
    if completed.exit_code != 0:
        said = completed.stderr.strip().splitlines()
        return (
            None,
            f"leadline-engine ended with exit code {completed.exit_code}: {said[-1] if said else 'no message'}",
        )
    try:
        return dict(json.loads(completed.stdout.strip().rpartition("\n")[2])), None
    except (ValueError, TypeError) as error:
        return None, f"leadline-engine gave no readable result ({error})"
