"""What clients saw comes back from its file as it was; a file that is something else is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.store.histories import NO_REPORT, DelaySample, Histories, read_histories, write_histories

SAMPLES = (DelaySample("unlink -> stat", 5, True, 1, 7), DelaySample("append -> length", 6, False, 2))
KEPT = Histories(
    "juicefs", ({"name": "A"},), "witness", {"seconds": 1.5}, NO_REPORT, SAMPLES, {"kernel": "6"}, ("é",)
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_histories(tmp_path / "kept.json", KEPT)
    assert read_histories(tmp_path / "kept.json") == KEPT


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "leadline visibility 1"}', '{"format": "leadline histories 1"}']
)
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(UserError, match="is no result of `leadline consistency --histories`"):
        read_histories(path)


def test_a_file_that_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_histories(tmp_path / "missing.json")
    with pytest.raises(UserError, match="cannot be written: No such file"):
        write_histories(tmp_path / "no folder" / "kept.json", KEPT)
