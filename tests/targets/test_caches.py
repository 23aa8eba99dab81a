"""Cold cells of a target with caches of its own: they are cleared, never what waits there for its upload, and that is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_parts import eventually
from program_parts import skip_unless_built

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.juicefs import JUICEFS
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.registry import lab_target
from leadline.run.lab.target_caches import clear_target_caches

BLOCK_BYTES = 4 << 20


def cache(folder: Path, name: str, kind: str, size_bytes: int) -> str:
    """A cache directory as a JuiceFS client keeps it, with one block."""
    blocks = folder / name / "uuid" / kind / "chunks"
    blocks.mkdir(parents=True)
    (blocks / "1_0_4").write_bytes(bytes(size_bytes))
    return str(folder / name)


@pytest.mark.anybody
def test_a_target_without_caches_of_its_own_has_none_to_clear() -> None:
    assert clear_target_caches({"filesystem": "ext4"}) == {"target_caches": "none"}


@pytest.mark.anybody
def test_every_clients_cache_is_cleared_and_the_bytes_are_said(tmp_path: Path) -> None:
    both = [cache(tmp_path, "one", "raw", 100), cache(tmp_path, "two", "raw", 23)]
    facts = {"cache_directories": both}
    assert clear_target_caches(facts) == {"target_caches": "cleared", "target_cache_cleared_bytes": 123}
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert clear_target_caches(facts)["target_cache_cleared_bytes"] == 0


@pytest.mark.anybody
def test_data_that_exists_nowhere_else_stays_and_the_step_hears_why(tmp_path: Path) -> None:
    staged = cache(tmp_path, "one", "rawstaging", 100)
    with pytest.raises(UserError, match="1 blocks that are not uploaded yet and exist nowhere else"):
        clear_target_caches({"cache_directories": [staged]}, wait_seconds=0.1)
    assert (Path(staged) / "uuid/rawstaging/chunks/1_0_4").stat().st_size == 100


def test_both_clients_of_juicefs_read_the_same_data_from_cold_caches(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    skip_unless_built(tmp_path_factory.mktemp("build"), JUICEFS)
    wishes = Wishes(64 << 20, 2, None, {"writeback": "true"})
    ready, _ = lifecycle.bring_up("juicefs", lab_target("juicefs"), wishes, lambda line: None)
    first, second = (Path(seat.directory) / "data" for seat in ready.clients)
    first.write_bytes(b"y" * BLOCK_BYTES)
    assert eventually(lambda: second.exists() and len(second.read_bytes()) == BLOCK_BYTES)
    facts = clear_target_caches(ready.facts)
    assert facts["target_caches"] == "cleared" and facts["target_cache_cleared_bytes"] >= BLOCK_BYTES
    Path("/proc/sys/vm/drop_caches").write_text("3")
    assert first.read_bytes() == second.read_bytes() == b"y" * BLOCK_BYTES
