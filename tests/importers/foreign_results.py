"""Small foreign results for the tests: real ones of fio, and made-up ones in the shape of the published data."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

FIO_SAMPLES = Path(__file__).parents[1] / "formats" / "samples"
BESIDE = Path(__file__).parents[3] / "shared/data/3fs-journal"
JOURNAL = Path(os.environ.get("LEADLINE_JOURNAL_DATA", BESIDE))
needs_journal = pytest.mark.skipif(
    not (JOURNAL / "README.md").exists(),
    reason=f"the published raw results are not at {JOURNAL} (set LEADLINE_JOURNAL_DATA)",
)


def fio_text(name: str) -> str:
    return gzip.decompress((FIO_SAMPLES / f"{name}.txt.gz").read_bytes()).decode()


def fio_document(options: dict[str, str] | None = None, **job: Any) -> dict[str, Any]:
    """One job of fio 3 that read 1 GiB in 10 s."""
    latency = {"min": 100, "max": 900, "mean": 500.0, "stddev": 50.0, "N": 262144}
    read = {"io_bytes": 2**30, "io_kbytes": 2**20, "runtime": 10_000, "total_ios": 262144, "lat_ns": latency}
    stated = {"rw": "randread", "bs": "4k", "iodepth": "8", "ioengine": "libaio", "direct": "1"} | (
        options or {}
    )
    entry = {"jobname": "job", "groupid": 0, "error": 0, "job options": stated, "read": read} | job
    return {"fio version": "fio-3.33", "timestamp_ms": 1_700_000_010_000, "jobs": [entry]}


def grid(cells: dict[tuple[str, int, int], tuple[float, float, float]]) -> dict[str, Any]:
    """{(rw, iodepth, numjobs): (GiB/s, IOPS, us)} in the published shape."""
    tree: dict[str, Any] = {}
    for (rw, iodepth, numjobs), (gibibytes, iops, mean_us) in cells.items():
        tree.setdefault(rw, {}).setdefault(str(iodepth), {})[str(numjobs)] = {
            "bandwidth_gb": gibibytes,
            "iops": iops,
            "latency_us": mean_us,
            "percentiles": {"p50": mean_us * 0.9, "p90": mean_us * 2, "p99": mean_us * 4, "mean": mean_us},
        }
    return tree


def write_json(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1))
    return path
