"""Programs that have to be built for a target: once for all tests, in the user's own cache, or the test is skipped with the reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from leadline.run.lab import lifecycle
from leadline.run.lab.go_programs import GoProgram, built
from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.state import Ready


@dataclass(frozen=True)
class Workshop:
    """A lab that builds programs and makes nothing else."""

    programs: tuple[GoProgram, ...]
    summary: str = "for tests"
    needs: Mapping[str, str] = field(default_factory=dict)

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        paths = [built(lab, program) for program in self.programs]
        return Ready(str(paths[0]), "none")


def skip_unless_built(folder: Path, *programs: GoProgram) -> None:
    """Builds what is missing, each for ten minutes at most; a build that fails is a failure, a missing compiler a skip."""
    if os.geteuid() != 0:
        pytest.skip("needs root to bring a lab up")
    if all(program.path.exists() for program in programs):
        return
    for tool in ("go", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{' and '.join(each.name for each in programs)} cannot be built: {tool} is missing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADLINE_LAB_STATE", str(folder / "labs"))
        lifecycle.bring_up("workshop", Workshop(programs), Wishes(0), print)
        lifecycle.tear_down("workshop")
