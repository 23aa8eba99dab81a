"""Real output of fio 3.33, one file a way of running it, as it came out but for the paths.

Each is a run of a few milliseconds to 3 s: --output-format=json or json+, mostly with --lat_percentiles=1
--clat_percentiles=0; polluted_by_error wrote to /dev/full, status_interval had --status-interval=1, two_clients was
`fio --client` against two `fio --server`, failed_job has a section without size, with_bandwidth_log had
--write_bw_log and --log_avg_msec=200 (the two logs lie beside it). after_a_ramp is of a campaign: 1 MiB at iodepth 32 on a disk
held to 24 MiB/s, 1 s of ramp and 1.25 s of window.
"""

import gzip
from pathlib import Path

FOLDER = Path(__file__).parent / "samples"
NAMES = sorted(path.name.removesuffix(".txt.gz") for path in FOLDER.glob("*.txt.gz"))


def sample(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.txt.gz").read_bytes()).decode()


def bandwidth_logs() -> list[str]:
    return [path.read_text() for path in sorted(FOLDER.glob("throughput_bw.*.log"))]
