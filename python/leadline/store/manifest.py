"""What a run is: asked for by whom, of what, when. Written once at the start as manifest.json and readable by eye."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leadline.errors import UserError

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Manifest:
    """Head of a stored run."""

    name: str
    source: str
    """"quick", "campaign", "job file" or "import"."""
    directory: str
    """Where the data lay, absolute; for imports what was read."""
    created_utc: str
    """ISO 8601, seconds."""
    leadline_version: str
    seed: int = 0
    scale: str = "1"
    """Sizes were multiplied with this fraction."""
    scale_effects: tuple[str, ...] = ()
    """What scaling changed, in words."""
    argv: tuple[str, ...] = ()
    campaign: Mapping[str, Any] = field(default_factory=dict)
    """The campaign as validated, JSON-ready."""
    plan: tuple[Mapping[str, Any], ...] = ()
    """The steps, as plan/steps.py writes them; empty for imports."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Nominal limits in bytes per second, by "read", "write", "randread", "randwrite", "network"."""
    format_version: int = FORMAT_VERSION

    def write(self, path: Path) -> None:
        """Atomically: a reader sees the old file or the new one."""
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        draft.replace(path)

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Raises UserError when the file is missing, foreign, cut off or of a newer format."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise UserError(
                f"{path.parent} is not a leadline run: it has no {path.name}; give the folder that a run printed at its end"
            ) from None
        except (OSError, ValueError) as error:
            raise UserError(
                f"{path} cannot be read as a manifest ({error}); restore it from a copy or leave this run out"
            ) from None
        if not isinstance(document, dict) or "format_version" not in document:
            raise UserError(
                f"{path} is not a leadline manifest; give the folder that a run printed at its end"
            )
        if document["format_version"] != FORMAT_VERSION:
            raise UserError(
                f"{path} has format {document['format_version']}, this leadline reads format {FORMAT_VERSION}; "
                "use the leadline that wrote it"
            )
        known: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
        }
        try:
            return cls(**known)
        except TypeError as error:
            raise UserError(f"{path} is not a manifest of format {FORMAT_VERSION} ({error})") from None
