"""A run of format version 1 opens and is analysed for ever, to the same figures as its raw output says."""

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from leadline.cli.analysing import analysed
from leadline.report import write_report
from leadline.store.records import Status, StepKind, StepRecord
from leadline.store.run_folder import RunFolder

GOLDEN = Path(__file__).parent / "run_v1"
OPERATIONS = {
    ("randread", 1): 85724,
    ("randread", 4): 134110,
    ("randwrite", 1): 51278,
    ("randwrite", 4): 91150,
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A copy: opening a database may touch its folder."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "run"))


def raw_jobs(run: Path, ordinals: tuple[int, ...]) -> list[dict[str, Any]]:
    """What fio printed, read without leadline."""
    documents = [
        json.loads(gzip.decompress((run / "raw" / f"{ordinal:05d}.fio.json.gz").read_bytes()))
        for ordinal in ordinals
    ]
    return [
        job["write" if job["write"]["total_ios"] else "read"]
        for document in documents
        for job in document["jobs"]
    ]


def records(run: Path) -> list[StepRecord]:
    folder = RunFolder.open(run)
    try:
        return folder.records()
    finally:
        folder.close()


def test_it_opens_with_all_its_steps_and_facts(run: Path) -> None:
    steps = records(run)
    assert Counter(step.kind for step in steps) == {
        StepKind.CEILING: 1, StepKind.MEMORY: 1, StepKind.LAYOUT: 1, StepKind.CELL: 8, StepKind.NOISE: 2
    }  # fmt: skip
    assert all(step.status is Status.FINISHED for step in steps)
    assert all(step.measurements and step.command for step in steps)
    folder = RunFolder.open(run)
    assert folder.manifest.format_version == 1
    assert folder.manifest.limits == {"read": 1e10}
    assert folder.environment["filesystem"]["type"] == "ext4"
    folder.close()


def test_its_cells_have_the_operations_and_bytes_that_fio_printed(run: Path) -> None:
    results = analysed(run)
    assert len(results.cells) == 4
    for cell in results.cells:
        jobs = raw_jobs(run, cell.ordinals)
        assert len(jobs) == 4, "2 jobs x 2 repeats"
        assert cell.operations == sum(job["total_ios"] for job in jobs)
        assert cell.size_bytes == sum(job["io_bytes"] for job in jobs)


def test_its_percentiles_are_those_of_all_samples_pooled(run: Path) -> None:
    for cell in analysed(run).cells:
        pooled: Counter[int] = Counter()
        for job in raw_jobs(run, cell.ordinals):
            pooled.update({int(latency): count for latency, count in job["lat_ns"]["bins"].items()})
        samples = sorted(pooled.elements())
        for name, fraction in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            truth = samples[max(0, -(-int(fraction * 1000) * len(samples) // 1000) - 1)]
            assert cell.metrics[name].value == pytest.approx(truth, rel=0.008)


def test_its_figures_stay_what_they_were(run: Path) -> None:
    """Against a change in both the store and the raw output's reader."""
    figures = {
        (str(cell.cell["rw"]), int(cell.cell["iodepth"])): cell.operations for cell in analysed(run).cells
    }
    assert figures == OPERATIONS


def test_a_report_can_be_written_of_it(run: Path, tmp_path: Path) -> None:
    page = write_report([analysed(run)], tmp_path / "report.html")
    assert "golden run of format 1" in Path(page).read_text()


def test_it_stays_small_and_names_no_path_of_the_machine_it_ran_on() -> None:
    files = [path for path in GOLDEN.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 300 * 1024
    for path in files:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert b"/tmp/" not in content
        assert b"/home/" not in content
