"""What a suite needs around its directory, on a machine where several run at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leadline.run.posix.surroundings import PREFIX, _folder_in


def test_a_folder_that_another_run_removes_while_we_look_is_no_concern_of_ours(tmp_path: Path) -> None:
    class Busy(type(tmp_path)):  # type: ignore[misc]
        def glob(self, pattern: str) -> Any:
            return [*super().glob(pattern), self / f"{PREFIX}gone"]

    with _folder_in(Busy(tmp_path)) as made:
        assert made.is_dir()
