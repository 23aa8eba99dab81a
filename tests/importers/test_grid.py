"""Published grids: stated rates, and no more than that."""

import json
from pathlib import Path

import pytest
from foreign_results import JOURNAL, grid, needs_journal, write_json

from leadline.errors import UserError
from leadline.importers import import_paths
from leadline.store.records import Direction


def test_totals_give_the_stated_rates_and_say_that_they_are_stated(tmp_path: Path) -> None:
    cells = {("randread", 8, 2): (1.5, 393216.2, 40.7), ("randread", 1, 2): (0.5, 131072.0, 15.3)}
    _, (first, second) = import_paths(
        [write_json(tmp_path / "4k_hf3fs_xfs_usrbio_xl170_5.json", grid(cells))]
    )
    assert first.cell == {
        "rw": "randread",
        "block_size": 4096,
        "iodepth": 1,
        "numjobs": 2,
        "ioengine": "usrbio",
        "target": "hf3fs_xfs on 5 x xl170",
    }
    assert second.cell["iodepth"] == 8
    (measurement,) = second.measurements
    seconds = measurement.runtime_ns / 1e9
    assert measurement.operations / seconds == pytest.approx(393216.2, rel=1e-9)
    assert measurement.size_bytes / seconds == pytest.approx(1.5 * 2**30, rel=1e-9)
    assert measurement.direction == Direction.READ
    assert measurement.latency.mean_ns == pytest.approx(40_700)
    assert measurement.latency.stated_percentiles_ns == pytest.approx(
        {"0.5": 36630, "0.9": 81400, "0.99": 162800}
    )
    assert measurement.latency.histogram is None
    assert {"imported": True, "stated_rates_only": True, "nodes": 5}.items() <= second.facts.items()
    assert second.experiment == "hf3fs_xfs on 5 x xl170"


def test_engines_and_block_sizes_of_one_system_are_cells_of_one_experiment(tmp_path: Path) -> None:
    for name in ("4k_ssd_xfs_iouring_xl170_1", "1m_ssd_xfs_libaio_xl170_1"):
        write_json(tmp_path / f"{name}.json", grid({("write", 1, 1): (0.1, 100.0, 9.0)}))
    _, records = import_paths([tmp_path])
    assert {record.experiment for record in records} == {"ssd_xfs on 1 x xl170"}
    assert [(record.cell["block_size"], record.cell["ioengine"]) for record in records] == [
        (2**20, "libaio"),
        (4096, "io_uring"),
    ]


def test_a_grid_whose_name_tells_nothing_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = write_json(tmp_path / "grid.json", grid({("write", 1, 1): (0.1, 100.0, 9.0)}))
    with pytest.raises(UserError, match="call it BLOCKSIZE_FILESYSTEM_ENGINE_MACHINE_NODES"):
        import_paths([path])


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda text: text[: len(text) // 2], "its JSON is cut off or broken at line"),
        (lambda text: text.replace("100.0", '"many"'), 'write.1.1.iops is "many"'),
        (lambda text: text.replace("100.0", "NaN"), "write.1.1.iops is NaN"),
        (lambda text: text.replace('"iops"', '"ops"'), "write.1.1.iops is missing"),
        (lambda text: text.replace('"write"', '"sideways"'), "is not a test of a grid"),
        (lambda text: text.replace('"1"', '"one"'), "keys are an iodepth or numjobs"),
        (lambda text: text.replace("0.1", "1e18"), "beyond any device"),
    ],
)
def test_a_broken_grid_is_refused_in_one_sentence(tmp_path: Path, spoil: object, sentence: str) -> None:
    path = tmp_path / "4k_ssd_xfs_libaio_xl170_1.json"
    assert callable(spoil)
    path.write_text(spoil(json.dumps(grid({("write", 1, 1): (0.1, 100.0, 9.0)}), indent=1)))
    with pytest.raises(UserError) as error:
        import_paths([path])
    assert sentence in str(error.value) and "\n" not in str(error.value)


@needs_journal
def test_the_published_grids_are_read_whole() -> None:
    _, records = import_paths(sorted(JOURNAL.glob("*_*_*_*_*.json")))
    assert {record.cell["ioengine"] for record in records} == {"io_uring", "libaio", "usrbio"}
    for record in records:
        (measurement,) = record.measurements
        block_bytes = measurement.size_bytes / measurement.operations
        # Operations are whole: at 26 IOPS the rounding alone is 2 percent.
        assert block_bytes == pytest.approx(
            int(record.cell["block_size"]), rel=0.015 + 0.6 / measurement.operations
        )


@needs_journal
def test_the_published_folder_gives_grids_and_network_figures_and_names_its_readme() -> None:
    manifest, records = import_paths([JOURNAL])
    assert set(manifest.campaign["imported"]) == {"published grid JSON", "perftest output (text or JSON)"}
    assert [sentence.split(": ")[0] for sentence in manifest.campaign["left_out"]] == [
        str(JOURNAL / "README.md")
    ]
    assert [record.ordinal for record in records] == list(range(len(records)))
    network = [record for record in records if record.engine == "perftest"]
    assert len(network) == 6 * 23
    rates = [
        m.size_bytes / m.runtime_ns
        for record in network
        for m in record.measurements
        if "bw" in str(record.cell["test"])
    ]
    assert 11.0 < max(rates) < 12.5  # GB/s: at most what 100 Gb/s carry
