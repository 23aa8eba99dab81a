"""How fast the cluster simulator is: requests a second against the same model in SimPy, and ten million on 1,000 nodes.

The model of both sides: clients with so many requests in flight each; a request goes to a disk at random, waits and is
served there, passes the NIC of its node and then that of its client, whole; service times are exponential, half a round
trip passes on either side. Such a network has one answer, so both must give the same throughput, or they are not
compared. SimPy is no dependency of leadline: `pip install simpy` (pure Python), or the claim is "not measured".
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Claim, Spread, conclude, ratios, take_turns

from leadline.run.executable import engine_executable

FASTER, MOST_SECONDS, ALIKE = 50.0, 60.0, 0.03
MEBIBYTE = 1 << 20
NODES, DISKS_PER_NODE, CLIENTS, IN_FLIGHT = 20, 4, 5, 32
DISK_SECONDS, STORAGE_NIC_SECONDS, CLIENT_NIC_SECONDS, ROUND_TRIP_SECONDS = 1e-3, 1.5e-4, 5e-5, 2e-5
MILLION = 1_000_000


@dataclass(frozen=True)
class Simulated:
    """One simulation."""

    requests: int
    wall_seconds: float
    throughput: float
    """Requests a second of simulated time."""
    processor_seconds: float
    events: int | None = None
    memory_bytes: int | None = None

    @property
    def speed(self) -> float:
        """Requests a second of real time."""
        return self.requests / self.wall_seconds

    @property
    def speed_of_a_processor(self) -> float:
        """Requests a second of processor time: what else runs on the machine disturbs it less."""
        return self.requests / self.processor_seconds


def _processor_seconds(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def by_engine(engine: Path, step: Mapping[str, Any]) -> Simulated:
    """The whole process, start and end included."""
    begin, spent = time.perf_counter(), _processor_seconds(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(engine), "run", "-"], input=json.dumps(step), capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(done.stderr)
    found, load = json.loads(done.stdout), step["load"]
    return Simulated(
        load["operations"] + load["warm_up_operations"],
        seconds,
        found["operations_per_second"],
        _processor_seconds(resource.RUSAGE_CHILDREN) - spent,
        found["events"],
        found["peak_memory_bytes"],
    )


def same_model(requests: int) -> dict[str, Any]:
    """For the engine; a request is a MiB so that NICs have a bandwidth."""
    return {
        "workload": "simulate",
        "clients": {
            "count": CLIENTS,
            "requests_in_flight": IN_FLIGHT,
            "nics": 1,
            "nic_bytes_per_second": MEBIBYTE / CLIENT_NIC_SECONDS,
        },
        "network": {"round_trip_ns": ROUND_TRIP_SECONDS * 1e9, "transfer": "store_and_forward"},
        "storage": {
            "nodes": NODES,
            "disks_per_node": DISKS_PER_NODE,
            "nics": 1,
            "nic_bytes_per_second": MEBIBYTE / STORAGE_NIC_SECONDS,
            "disk_rates": [[1, 1 / DISK_SECONDS]],
            "service": "exponential",
        },
        "layout": {"chunk_bytes": MEBIBYTE, "protection": {"replicas": 1}, "writes": "fan_out"},
        "load": {
            "direction": "read",
            "random": True,
            "request_bytes": MEBIBYTE,
            "operations": requests,
            "warm_up_operations": 0,
            "seed": 1,
        },
    }


def by_simpy(requests: int) -> Simulated:
    """As SimPy's documentation writes such models: a process for each request in flight, resources with queues."""
    import simpy

    begin, spent = time.perf_counter(), _processor_seconds(resource.RUSAGE_SELF)
    environment, chance, answered = simpy.Environment(), random.Random(1), 0
    enough = environment.event()
    disks = [simpy.Resource(environment) for _ in range(NODES * DISKS_PER_NODE)]
    storage_nics = [simpy.Resource(environment) for _ in range(NODES)]
    client_nics = [simpy.Resource(environment) for _ in range(CLIENTS)]

    def serve(resource: Any, mean_seconds: float) -> Iterator[Any]:
        with resource.request() as turn:
            yield turn
            yield environment.timeout(chance.expovariate(1 / mean_seconds))

    def ask(client: int) -> Iterator[Any]:
        nonlocal answered
        while True:
            yield environment.timeout(ROUND_TRIP_SECONDS / 2)
            disk = chance.randrange(len(disks))
            yield from serve(disks[disk], DISK_SECONDS)
            yield from serve(storage_nics[disk // DISKS_PER_NODE], STORAGE_NIC_SECONDS)
            yield environment.timeout(ROUND_TRIP_SECONDS / 2)
            yield from serve(client_nics[client], CLIENT_NIC_SECONDS)
            answered += 1
            if answered == requests:
                enough.succeed()

    for client in range(CLIENTS):
        for _ in range(IN_FLIGHT):
            environment.process(ask(client))
    environment.run(until=enough)
    seconds, used = time.perf_counter() - begin, _processor_seconds(resource.RUSAGE_SELF) - spent
    return Simulated(requests, seconds, requests / environment.now, used)


def against_simpy(options: Namespace) -> Claim:
    """In turns; the ratio round by round."""
    sentence = (
        f"the engine simulates at least {FASTER:.0f} x as many requests a second as SimPy does, of one model"
    )
    try:
        import simpy
    except ImportError:
        return Claim(sentence, "SimPy is not installed here: pip install simpy", None)
    sides = {
        "engine": partial(by_engine, options.engine, same_model(options.requests)),
        f"SimPy {simpy.__version__}": partial(by_simpy, options.simpy_requests),
    }
    taken = take_turns(sides, options.repeats)
    for name, runs in taken.items():
        shown = Spread(tuple(run.speed for run in runs)).shown(" requests/s")
        answer = Spread(tuple(run.throughput for run in runs)).shown()
        print(f"  {name:<14} {shown}; says {answer} requests a second, {runs[0].requests:,} requests")
    ours, theirs = taken.values()
    apart = max(abs(one.throughput / other.throughput - 1) for one, other in zip(ours, theirs, strict=True))
    found = ratios([run.speed for run in ours], [run.speed for run in theirs])
    busy = ratios([run.speed_of_a_processor for run in ours], [run.speed_of_a_processor for run in theirs])
    shown = f"{found.shown(' x')}; by processor time {busy.shown(' x')}; their answers differ by {apart:.2%} at most"
    return Claim(sentence, shown, found.median >= FASTER and apart <= ALIKE)


def large_step(nodes: int, direction: str, requests: int) -> dict[str, Any]:
    """A cluster like the published 3FS's: 16 disks and 2 NICs of 200 Gb/s a node, 3 copies, half as many clients."""
    step = same_model(requests)
    step["clients"].update(count=max(1, nodes // 2), nic_bytes_per_second=25e9)
    step["network"] = {"round_trip_ns": 10_000}
    step["storage"].update(nodes=nodes, disks_per_node=16, nics=2, nic_bytes_per_second=25e9)
    step["storage"].update(disk_rates=[[1, 3000], [8, 6000]], service="constant")
    step["layout"].update(protection={"replicas": 3}, writes="chain")
    step["load"].update(direction=direction, operations=requests - requests // 5)
    step["load"].update(warm_up_operations=requests // 5)
    return step


def large_claims(options: Namespace) -> list[Claim]:
    """Reads and chained writes, a process each."""
    claims = []
    for nodes, direction, requests in (
        (1000, "read", 10 * MILLION),
        (1000, "write", 10 * MILLION),
        (10_000, "read", MILLION),
    ):
        scaled = max(1000, int(requests * options.scale))
        run = by_engine(options.engine, large_step(nodes, direction, scaled))
        events, memory = run.events or 0, (run.memory_bytes or 0) / MEBIBYTE
        shown = (
            f"{run.wall_seconds:.1f} s, {run.processor_seconds:.1f} s of one core, "
            f"{events / run.processor_seconds / 1e6:.2f} M events in each of these, {memory:.0f} MiB"
        )
        print(f"  {nodes:,} nodes, {scaled:,} {direction}s: {shown}", flush=True)
        sentence = f"{nodes:,} nodes, {scaled:,} {direction}s in at most {MOST_SECONDS:.0f} s"
        claims.append(Claim(sentence, shown, run.wall_seconds <= MOST_SECONDS))
    return claims


def parsed_options() -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--engine", type=Path, default=engine_executable(), help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--requests", type=int, default=MILLION, help="of the engine (default: %(default)s)")
    parser.add_argument("--simpy-requests", type=int, default=40_000, help="default: %(default)s")
    parser.add_argument("--scale", type=float, default=1.0, help="of the large runs, to try them")
    return parser.parse_args()


def main() -> int:
    options = parsed_options()
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores at the start")
    claims = [against_simpy(options), *large_claims(options)]
    print(f"load {os.getloadavg()[0]:.2f} at the end")
    return conclude("Simulator", claims)


if __name__ == "__main__":
    sys.exit(main())
