"""What one request of the application makes of itself on its way: parts, copies, transfers, round trips.

A request larger than a chunk becomes several parts at once. Copies are further parts where they travel side by side
(from the client or from the first node), and further visits where they travel in a chain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from leadline.errors import UserError
from leadline.spec.cluster import Cluster
from leadline.spec.units import format_size


@dataclass(frozen=True)
class Load:
    """A cell to be predicted."""

    test: str
    """"randread" and the like."""
    block_size: int
    iodepth: int = 1
    numjobs: int = 1
    clients: int = 1
    files: int = 1
    """Of each job."""

    @property
    def is_write(self) -> bool:
        """Whether bytes go to the disks."""
        return "write" in self.test


@dataclass(frozen=True)
class Work:
    """One request, by its parts."""

    parts: int
    """That travel side by side."""
    disk_bytes: int
    """Of a part, at a disk."""
    wire_bytes: float
    """Of a part, over a NIC."""
    disk_visits: int = 1
    """Of a part, one after the other."""
    copies_chunks: bool = False
    """Each visit first reads all that it then writes."""
    client_transfers: float = 1.0
    """Of a part, over the client's NIC."""
    storage_transfers: float = 1.0
    """Of a part, over NICs of storage nodes, the fuller way of the two."""
    hops: int = 1
    """Round trips, one after the other."""


def work_of(load: Load, cluster: Cluster) -> Work:
    """Raises UserError where the cluster's layout does not tell."""
    if cluster.erasure_code is not None:
        return _coded_write(load, cluster) if load.is_write else _coded_read(load, cluster)
    chunk = cluster.chunk_size or load.block_size
    parts, part_bytes = math.ceil(load.block_size / chunk), min(chunk, load.block_size)
    if not load.is_write:
        return Work(parts, part_bytes, part_bytes)
    copies_chunks = cluster.copy_on_write and part_bytes < chunk
    disk_bytes, copies = chunk if copies_chunks else part_bytes, cluster.replicas
    if cluster.writes == "chain":
        return Work(parts, disk_bytes, part_bytes, copies, copies_chunks, 1.0, copies, copies)
    if cluster.writes == "fan_out":
        return Work(parts * copies, disk_bytes, part_bytes, 1, copies_chunks)
    hops = 2 if copies > 1 else 1
    return Work(parts * copies, disk_bytes, part_bytes, 1, copies_chunks, 1 / copies, 1.0, hops)


def _coded_read(load: Load, cluster: Cluster) -> Work:
    part_bytes = min(_coded_part(load, cluster), load.block_size)
    return Work(math.ceil(load.block_size / part_bytes), part_bytes, part_bytes)


def _coded_write(load: Load, cluster: Cluster) -> Work:
    code, chunk = cluster.erasure_code, cluster.chunk_size or load.block_size
    assert code is not None
    if load.block_size % chunk:
        raise UserError(
            f"a write of {format_size(load.block_size)} is no whole number of chunks of {format_size(chunk)}, and what an "
            f"erasure code does with the rest differs from system to system; predict writes of {format_size(chunk)}"
        )
    part_bytes, every = _coded_part(load, cluster), code.data + code.parity
    parts = load.block_size // chunk * every
    if cluster.writes == "fan_out":
        return Work(parts, part_bytes, part_bytes)
    received = (code.data + every - 1) / every  # all data at the first node, then each part but its own
    return Work(parts, part_bytes, part_bytes, 1, False, code.data / every, received, 2)


def _coded_part(load: Load, cluster: Cluster) -> int:
    assert cluster.erasure_code is not None
    return math.ceil((cluster.chunk_size or load.block_size) / cluster.erasure_code.data)


def reached_disks(load: Load, cluster: Cluster) -> int:
    """Disks among which the parts of all requests are spread, at the best."""
    if cluster.chunk_size is not None and cluster.stripe is None:
        return cluster.disks
    code = cluster.erasure_code
    together = code.data + code.parity if code else cluster.replicas
    each = cluster.stripe or together
    return min(cluster.disks, load.clients * load.numjobs * load.files * each)


def in_flight(load: Load, cluster: Cluster) -> int:
    """Requests of all clients that are on their way at once."""
    each = load.numjobs * (load.iodepth if cluster.iodepth == "kept" else 1)
    return load.clients * min(each, cluster.in_flight or each)


def offered(load: Load, cluster: Cluster) -> int:
    """Requests whose latency runs: also those that wait for their turn at the client."""
    return load.clients * load.numjobs * (load.iodepth if cluster.iodepth == "kept" else 1)
