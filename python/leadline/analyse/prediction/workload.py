"""What one request of the application makes of itself on its way: parts, copies, transfers, round trips.

A request larger than a chunk becomes several parts at once, or one after the other where a client writes to a file one at a
time. Copies, and what an erasure code makes of a chunk, occupy disks side by side that are never the same (from the client or
from the first node), or one after the other in a chain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from leadline.analyse.prediction.stations import Pinned
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
    """That travel side by side, or one after the other: `parts_at_once` knows."""
    disk_bytes: int
    """Of a part, at a disk."""
    wire_bytes: float
    """Of a part, over a NIC, to or from one disk."""
    disk_visits: int = 1
    """Of a part, one after the other."""
    copies_chunks: bool = False
    """Each visit first reads all that it then writes."""
    client_transfers: float = 1.0
    """Of a part, over the client's NIC."""
    storage_transfers: float = 1.0
    """Of a part and of one of the disks that it occupies, over NICs of storage nodes, the fuller way of the two."""
    hops: int = 1
    """Round trips, one after the other."""
    together: int = 1
    """Disks that a part occupies at once, each another one."""


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
        return Work(parts, disk_bytes, part_bytes, 1, copies_chunks, copies, 1.0, 1, copies)
    hops = 2 if copies > 1 else 1
    return Work(parts, disk_bytes, part_bytes, 1, copies_chunks, 1.0, 1.0, hops, copies)


def _coded_read(load: Load, cluster: Cluster) -> Work:
    assert cluster.erasure_code is not None
    part_bytes = min(_coded_part(load, cluster), load.block_size)
    asked = math.ceil(load.block_size / part_bytes)
    together = min(asked, cluster.erasure_code.data)
    return Work(math.ceil(asked / together), part_bytes, part_bytes, 1, False, together, 1.0, 1, together)


def _coded_write(load: Load, cluster: Cluster) -> Work:
    code, chunk = cluster.erasure_code, cluster.chunk_size or load.block_size
    assert code is not None
    if load.block_size % chunk:
        raise UserError(
            f"a write of {format_size(load.block_size)} is no whole number of chunks of {format_size(chunk)}, and what an "
            f"erasure code does with the rest differs from system to system; predict writes of {format_size(chunk)}"
        )
    part_bytes, every = _coded_part(load, cluster), code.data + code.parity
    parts = load.block_size // chunk
    if cluster.writes == "fan_out":
        return Work(parts, part_bytes, part_bytes, 1, False, every, 1.0, 1, every)
    received = (code.data + every - 1) / every  # all data at the first node, then each part but its own
    return Work(parts, part_bytes, part_bytes, 1, False, code.data, received, 2, every)


def _coded_part(load: Load, cluster: Cluster) -> int:
    assert cluster.erasure_code is not None
    return math.ceil((cluster.chunk_size or load.block_size) / cluster.erasure_code.data)


def reached_disks(load: Load, cluster: Cluster) -> float:
    """Disks among which the parts of all requests are spread: of files placed by chance, as many as they reach in the mean."""
    if cluster.chunk_size is not None and cluster.stripe is None:
        return cluster.disks
    missed = (1 - _disks_of_a_file(load, cluster) / cluster.disks) ** _files(load)
    return cluster.disks * (1 - missed)


def pinned_files(load: Load, cluster: Cluster) -> Pinned | None:
    """Files all of whose requests go to the same disks; None where they go to several by turns, or where there is one place only."""
    if cluster.chunk_size is not None and cluster.stripe is None:
        return None
    work = work_of(load, cluster)
    places = cluster.disks // work.together
    if work.disk_visits > 1 or _disks_of_a_file(load, cluster) > work.together or places < 2:
        return None
    return Pinned(_files(load), places)


def _files(load: Load) -> int:
    return load.clients * load.numjobs * load.files


def _disks_of_a_file(load: Load, cluster: Cluster) -> int:
    return min(cluster.disks, (cluster.stripe or 1) * _together(load, cluster))


def _together(load: Load, cluster: Cluster) -> int:
    """Disks that the requests for one chunk go to."""
    code = cluster.erasure_code
    if code is not None:
        return code.data + code.parity
    return 1 if cluster.reads == "one_copy" and not load.is_write else cluster.replicas


def in_flight(load: Load, cluster: Cluster) -> int:
    """Requests of all clients that are on their way at once."""
    depth = load.iodepth if cluster.iodepth == "kept" else 1
    if _takes_turns(load, cluster):
        depth = min(depth, load.files)
    each = load.numjobs * depth
    return load.clients * min(each, cluster.in_flight or each)


def circulating(load: Load, cluster: Cluster) -> int:
    """Parts of all requests that are on their way at once."""
    return in_flight(load, cluster) * parts_at_once(load, cluster)


def parts_at_once(load: Load, cluster: Cluster) -> int:
    """Of one request."""
    return 1 if _takes_turns(load, cluster) else work_of(load, cluster).parts


def _takes_turns(load: Load, cluster: Cluster) -> bool:
    return load.is_write and cluster.writes_to_a_file == "one_at_a_time"


def offered(load: Load, cluster: Cluster) -> int:
    """Requests whose latency runs: also those that wait for their turn at the client."""
    return load.clients * load.numjobs * (load.iodepth if cluster.iodepth == "kept" else 1)
