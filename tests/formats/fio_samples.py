"""Real output of fio 3.33, one file a way of running it (paths of the machine replaced)."""

import gzip
from pathlib import Path

FOLDER = Path(__file__).parent / "samples"
NAMES = sorted(path.name.removesuffix(".txt.gz") for path in FOLDER.glob("*.txt.gz"))


def sample(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.txt.gz").read_bytes()).decode()


def bandwidth_logs() -> list[str]:
    return [path.read_text() for path in sorted(FOLDER.glob("throughput_bw.*.log"))]
