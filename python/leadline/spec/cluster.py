"""A cluster as a validated, immutable value: what stands where, how fast its parts are said to be, how data is laid out.

Read by `leadline predict` and `leadline simulate` from a TOML file with a `[cluster]` table. Every figure is of one
part: of one disk, of one NIC, each way. docs/concepts/prediction.md tells what each key does to a prediction.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from leadline.spec.cluster_units import DiskBandwidth, LinkBandwidth
from leadline.spec.values import Count, Duration, Flag, Rate, Size, Strict

Writes = Literal["chain", "fan_out", "primary"]
Reads = Literal["any_copy", "one_copy"]
Depth = Literal["kept", "inert"]
WritesToAFile = Literal["side_by_side", "one_at_a_time"]


class Service(Strict):
    """One measured service time of a disk: so long for one request of that size, alone on the disk."""

    size: Size
    time: Duration = Field(gt=0)


class Disk(Strict):
    """One disk. Whatever is left out is taken from a local baseline, where the command is given one."""

    read: DiskBandwidth | None = Field(None, description="sequential, as the vendor states it")
    write: DiskBandwidth | None = None
    randread: DiskBandwidth | None = None
    randwrite: DiskBandwidth | None = None
    read_latency: Duration | None = Field(
        None, description="before the first byte of a read, alone on the disk"
    )
    write_latency: Duration | None = None
    parallelism: Count | None = Field(None, description="requests that the disk works on at once")
    read_service: tuple[Service, ...] = Field(
        (), description="measured service times of reads, by size; they win over bandwidth and latency"
    )
    write_service: tuple[Service, ...] = ()


class ErasureCode(Strict):
    """A chunk is cut into `data` parts, and `parity` parts are added."""

    data: Count
    parity: Count


class Cluster(Strict):
    """Clients, their NICs, the switch, storage nodes with NICs and disks, and where bytes lie on them."""

    name: str = Field("the cluster", min_length=1)
    storage_nodes: Count
    disks_per_node: Count = 1
    storage_nics: Count = Field(1, description="NICs of each storage node")
    storage_nic: LinkBandwidth = Field(description="one NIC of a storage node, each way")
    clients: Count = 1
    client_nics: Count = 1
    client_nic: LinkBandwidth = Field(description="one NIC of a client, each way")
    switch: LinkBandwidth | None = Field(
        None, description="what the network between them carries in all; left out: as much as comes"
    )
    round_trip: Duration | None = Field(
        None, description="of an empty message; left out: from the network baseline"
    )
    replicas: Count = 1
    writes: Writes = Field(
        "chain",
        description="how copies travel. chain: from node to node; primary: from the first node to the others; "
        "fan_out: from the client to each",
    )
    reads: Reads = Field(
        "any_copy",
        description="which copies of a file answer. any_copy: whichever; one_copy: always the same, chosen by chance for each file",
    )
    writes_to_a_file: WritesToAFile = Field(
        "side_by_side",
        description="of one client. one_at_a_time: a write waits for the one before, and so does each of its parts where it is "
        "larger than a chunk (FUSE without parallel direct writes)",
    )
    erasure_code: ErasureCode | None = Field(None, description="in place of replicas")
    chunk_size: Size | None = Field(
        None, description="a file is cut into chunks of this; left out: a request touches one disk"
    )
    stripe: Count | None = Field(
        None, description="disks over which a file's chunks are spread; left out: all of them"
    )
    copy_on_write: Flag = Field(
        default=False, description="a write smaller than a chunk reads the chunk and writes it anew"
    )
    client_delay: Duration = Field(0.0, description="software time of a request at the client, if known")
    server_delay: Duration = Field(
        0.0,
        description="software time of a request at a storage node, if known; a chain pays it at each node",
    )
    client_iops: Rate | None = Field(
        None, description="requests a second that one client's software passes on at most (FUSE)"
    )
    server_iops: Rate | None = Field(
        None, description="requests a second that one storage node's software serves at most"
    )
    in_flight: Count | None = Field(None, description="requests that one client keeps in flight at most")
    iodepth: Depth = Field(
        "kept",
        description="what becomes of iodepth at the client. kept: so many requests in flight; inert: one at a time, "
        "so that only numjobs counts",
    )
    disk: Disk = Field(default_factory=lambda: Disk.model_validate({}))

    @model_validator(mode="after")
    def _copies_have_a_place(self) -> Cluster:
        if self.replicas > self.storage_nodes:
            raise ValueError(
                f"has {self.replicas} replicas on {self.storage_nodes} storage nodes; each lies on a node of its own, "
                "so lower `replicas` or add nodes"
            )
        return self

    @model_validator(mode="after")
    def _code_has_a_place(self) -> Cluster:
        code = self.erasure_code
        if code is None:
            return self
        if self.replicas > 1:
            raise ValueError(
                "has both `replicas` and `erasure_code`; data is kept one way, so give one of them"
            )
        if code.data + code.parity > self.disks:
            raise ValueError(
                f"has an erasure code of {code.data} + {code.parity} parts on {self.disks} disks; "
                "each part lies on a disk of its own, so take a smaller code or add disks"
            )
        if self.writes == "chain":
            raise ValueError('has `erasure_code` with writes = "chain"; set writes = "primary" or "fan_out"')
        return self

    @model_validator(mode="after")
    def _stripes_fit(self) -> Cluster:
        if self.stripe is not None and self.stripe > self.disks:
            raise ValueError(
                f"has a `stripe` of {self.stripe} over {self.disks} disks; lower it or add disks"
            )
        if self.stripe is not None and self.chunk_size is None:
            raise ValueError("has a `stripe` without `chunk_size`; say into what files are cut")
        if self.copy_on_write and self.chunk_size is None:
            raise ValueError("has `copy_on_write` without `chunk_size`; say how much is copied")
        return self

    @property
    def disks(self) -> int:
        """Of all storage nodes."""
        return self.storage_nodes * self.disks_per_node

    @property
    def client_link(self) -> float:
        """Bytes per second, each way, of all NICs of one client."""
        return self.client_nics * self.client_nic

    @property
    def storage_link(self) -> float:
        """Bytes per second, each way, of all NICs of one storage node."""
        return self.storage_nics * self.storage_nic
