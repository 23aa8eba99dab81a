"""The targets of the lab, by name. A new one is one file beside this one and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.laboratory import LabTarget
from leadline.run.lab.loop_filesystems import LOCAL

TARGETS: Mapping[str, LabTarget] = {
    **LOCAL,
}


def lab_target(name: str) -> LabTarget:
    """Raises UserError for a name that nobody knows."""
    if name not in TARGETS:
        raise UserError(
            f'the lab has no target "{name}"{did_you_mean(name, TARGETS)} (leadline lab list shows them)'
        )
    return TARGETS[name]
