"""A cluster, its baselines and a load -> the network of queues that a part of a request goes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from leadline.analyse.prediction.baselines import Baselines
from leadline.analyse.prediction.service_curves import ServiceCurve
from leadline.analyse.prediction.stations import Floats, Network, Rates, Resource, Stations, steady
from leadline.analyse.prediction.workload import (
    Load,
    Work,
    parts_at_once,
    pinned_files,
    reached_disks,
    work_of,
)
from leadline.errors import UserError
from leadline.spec.cluster import Cluster
from leadline.spec.units import format_size

PAYLOAD = 1448 / 1538
"""Data over bytes on the wire, full frames of TCP at MTU 1500: 38 bytes are around each (IEEE 802.3), 52 within (RFC 9293, 7323)."""
FASTER = 1.05
"""A network baseline this many times above a NIC is of another NIC."""
FAR_FASTER = 6
"""The same of a disk: vendors state one size and state of a drive, but no drive is eight times what they say."""


@dataclass(frozen=True)
class Parts:
    """What is known of a cluster before it is measured."""

    cluster: Cluster
    baselines: Baselines

    def check(self) -> None:
        """Raises UserError where baselines and cluster cannot be of the same parts."""
        if not self.baselines.disks:
            raise UserError(
                "the baselines hold no cell of a disk; give a run or grid of fio on one storage disk with --baseline"
            )
        peak, link = self.baselines.network.peak, min(self.cluster.client_nic, self.cluster.storage_nic)
        if peak is not None and peak > FASTER * link:
            raise UserError(
                f"the network baseline reaches {peak * 8 / 1e9:.3g} Gb/s, but a NIC of the cluster has {link * 8 / 1e9:.3g} Gb/s; "
                "it is of another network, or bits and bytes are mixed up: correct the cluster file or leave the baseline out"
            )
        for (test, block), curve in self.baselines.disks.items():
            self._check_disk(test, block, curve)

    def _check_disk(self, test: str, block: int, curve: ServiceCurve) -> None:
        nominal = getattr(self.cluster.disk, test)
        reached = curve.peak * block
        if nominal is not None and reached > FAR_FASTER * nominal:
            raise UserError(
                f"the disk baseline reaches {reached / 1e6:.4g} MB/s in {test}, but [cluster.disk] says {nominal / 1e6:.4g} MB/s; "
                "it is of another disk, of several, or of a cache: correct the one or the other"
            )

    def curve(self, test: str, part_bytes: int) -> ServiceCurve:
        """What one disk does with requests of this size; raises UserError where it was not measured."""
        found = self.baselines.disks.get((test, part_bytes))
        if found is not None:
            return found
        sizes = sorted({size for known, size in self.baselines.disks if known == test})
        if not sizes:
            known = ", ".join(sorted({known for known, _ in self.baselines.disks}))
            raise UserError(
                f'the disk baseline has no test "{test}" (it has {known}); measure it on one storage disk, at '
                f"{format_size(part_bytes)}"
            )
        raise UserError(
            f'the disk baseline has "{test}" at {", ".join(map(format_size, sizes))}, but requests reach the disks as '
            f"{format_size(part_bytes)}; measure one storage disk at that block size"
        )


def network_of(parts: Parts, load: Load) -> Network:
    """Raises UserError where a baseline is missing."""
    work = work_of(load, parts.cluster)
    stations = tuple(_stations(parts, load, work))
    return Network(stations, _delay_seconds(parts, work), pinned_files(load, parts.cluster))


def round_trip_seconds(parts: Parts) -> float | None:
    """As the cluster file says, else as measured, else unknown."""
    stated = parts.cluster.round_trip
    return stated if stated is not None else parts.baselines.network.round_trip_seconds


def _delay_seconds(parts: Parts, work: Work) -> float:
    cluster = parts.cluster
    each = (round_trip_seconds(parts) or 0.0) + cluster.server_delay
    return cluster.client_delay + work.hops * each


def _stations(parts: Parts, load: Load, work: Work) -> Iterator[Stations]:
    cluster, disks = parts.cluster, reached_disks(load, parts.cluster)
    nodes = min(cluster.storage_nodes, disks)
    at_once = min(work.together, nodes)  # nodes that a part keeps busy act as one, and so do its disks
    visits = work.together / at_once
    if cluster.client_iops is not None:
        of_a_part = 1 / parts_at_once(load, cluster)
        yield _even(Resource.CLIENT_SOFTWARE, load.clients, of_a_part, cluster.client_iops)
    yield from _wires(parts, load, work, nodes / at_once, visits)
    if cluster.server_iops is not None:
        yield _even(Resource.SERVER_SOFTWARE, nodes / at_once, work.disk_visits * visits, cluster.server_iops)
    yield _disks(parts, load, work, disks / work.together)


def _wires(parts: Parts, load: Load, work: Work, nodes: float, visits: float) -> list[Stations]:
    """NICs and switch. Packets pass one while later ones are still in another, so a message takes the time of the slowest.

    Not so where a node first takes all in and then sends it on: that is a transfer of its own.
    """
    cluster = parts.cluster
    rate = cluster.client_nics * _nic(parts, work, cluster.client_nic) / work.wire_bytes
    found = [_even(Resource.CLIENT_NIC, load.clients, work.client_transfers, rate)]
    if cluster.switch is not None:
        crossings = max(work.client_transfers, work.storage_transfers * work.together)
        found.append(_even(Resource.SWITCH, 1, crossings, cluster.switch / work.wire_bytes))
    rate = cluster.storage_nics * _nic(parts, work, cluster.storage_nic) / work.wire_bytes
    found.append(_even(Resource.STORAGE_NIC, nodes, work.storage_transfers * visits, rate))
    if work.hops > work.disk_visits:
        return found
    slowest = max(found, key=lambda kind: kind.service_seconds)
    return [kind if kind is slowest else replace(kind, is_passed_through=True) for kind in found]


def _nic(parts: Parts, work: Work, link: float) -> float:
    """Bytes per second of one NIC: as measured for messages of that size, at most as stated; else what frames leave."""
    network = parts.baselines.network
    return min(link, network.bandwidth(work.wire_bytes)) if network.bandwidths else PAYLOAD * link


def _even(resource: Resource, count: float, visits: float, rate: float) -> Stations:
    """Transfers of one size and steps of software take as long each time."""
    return Stations(resource, count, visits, steady(1 / rate), rate, variability=0.0)


def _disks(parts: Parts, load: Load, work: Work, count: float) -> Stations:
    curve = parts.curve(load.test, work.disk_bytes)
    rates: Rates = curve.rates
    peak = curve.peak
    if work.copies_chunks:
        rates, peak = _one_after_the_other(_reading_curve(parts, work.disk_bytes), curve)
    return Stations(Resource.DISK, count, float(work.disk_visits), rates, peak, curve.variability)


def _reading_curve(parts: Parts, part_bytes: int) -> ServiceCurve:
    """Chunks to be copied are read from wherever they lie."""
    known = ("randread", part_bytes) in parts.baselines.disks
    return parts.curve("randread" if known else "read", part_bytes)


def _one_after_the_other(first: ServiceCurve, second: ServiceCurve) -> tuple[Rates, float]:
    def rates(waiting: Floats) -> Floats:
        return 1 / (1 / first.rates(waiting) + 1 / second.rates(waiting))

    return rates, 1 / (1 / first.peak + 1 / second.peak)
