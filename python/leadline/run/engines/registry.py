"""The engines by name: adding one is one new file and one line here."""

from __future__ import annotations

from leadline.run.engines.consistency import ConsistencyEngine
from leadline.run.engines.fio import FioEngine
from leadline.run.engines.job_file import JobFileEngine
from leadline.run.engines.memory_copy import MemoryCopyEngine
from leadline.run.engines.metadata import MetadataEngine
from leadline.run.engines.network import NetworkEngine
from leadline.run.engines.object_engine import ObjectEngine
from leadline.run.engines.paced import PacedEngine
from leadline.run.engines.posix import PosixEngine
from leadline.run.seams import Engine

ENGINES: dict[str, Engine] = {
    "consistency": ConsistencyEngine(),
    "fio": FioEngine(),
    "job file": JobFileEngine(),
    "memory_copy": MemoryCopyEngine(),
    "metadata": MetadataEngine(),
    "network": NetworkEngine(),
    "object": ObjectEngine(),
    "paced": PacedEngine(),
    "posix": PosixEngine(),
}
