"""Requests to one object store for each second of the client's processor: leadline's engine beside JuiceFS's objbench.

Both make the same requests (small and big objects put, got, looked at, listed and deleted) at the same concurrency on the same
versitygw of a lab, in turns, without functional checks. Processor time is that of the whole client process, user and system, its start
included. JuiceFS is the one that the lab builds (docs/guide/targets/juicefs.md).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab_folder import a_lab
from measuring import Claim, Spread, conclude, describe_machine, ratios, take_turns

from leadline.run.engines import object_store as engine
from leadline.run.executable import engine_executable
from leadline.run.lab.juicefs import JUICEFS
from leadline.run.lab.registry import lab_target
from leadline.run.lab.state import Ready
from leadline.run.object_folder import PREFIX
from leadline.run.object_steps import described, environment
from leadline.spec.object_store import ObjectStore, parse_store

TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Spent:
    """One run of one tool."""

    requests: int
    cpu_seconds: float
    wall_seconds: float

    @property
    def requests_per_cpu_second(self) -> float:
        return self.requests / self.cpu_seconds


def spent_by(argv: Sequence[str], variables: Mapping[str, str], requests: Callable[[str], int]) -> Spent:
    """The process with all that it waited for; its failure is ours. `requests` counts them, from what it printed."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(argv, stdout=output, stderr=errors, env={**os.environ, **variables})
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise SystemExit(f"{argv[-1]} failed: {errors.read()[-2000:]}")
        return Spent(requests(output.read()), usage.ru_utime + usage.ru_stime, wall_seconds)


def inside(namespace: str, argv: Sequence[str]) -> list[str]:
    """Where the server can be reached; `timeout` ends what hangs."""
    return ["nsenter", f"--net=/run/netns/{namespace}", "timeout", str(TIMEOUT_SECONDS), *argv]


def shapes(options: Namespace) -> list[dict[str, int]]:
    """Small and big objects."""
    small = {"object_size": 128 << 10, "objects": options.small_objects}
    return [small, {"object_size": 4 << 20, "objects": options.big_mebibytes // 4}]


def by_leadline(ready: Ready, store: ObjectStore, folder: Path, options: Namespace) -> Spent:
    """One engine for each size."""
    spent = []
    for shape in shapes(options):
        cell = {**shape, "concurrency": options.threads}
        step = {
            **engine.step_of(cell, f"{PREFIX}benchmark/", options.clients),
            "listings": options.threads,
            "store": described(store),
        }
        path = folder / "step.json"
        path.write_text(json.dumps(step), encoding="utf-8")
        argv = inside(ready.clients[0].namespace or "", [str(engine_executable()), "run", str(path)])
        spent.append(spent_by(argv, environment(store), _answered))
    return Spent(
        *(sum(getattr(each, name) for each in spent) for name in ("requests", "cpu_seconds", "wall_seconds"))
    )


def _answered(output: str) -> int:
    """Every one must have succeeded."""
    shares = [share for phase in json.loads(output)["phases"] for share in phase["clients"]]
    if failed := [share["errors"] for share in shares if share["failed"]]:
        raise SystemExit(f"requests failed: {failed}")
    return sum(int(share["operations"]) for share in shares)


def by_juicefs(ready: Ready, options: Namespace) -> Spent:
    """It puts, gets, heads and deletes every object, and lists as many times as there are threads."""
    small, big = (shape["objects"] for shape in shapes(options))
    argv = [
        str(JUICEFS.path), "objbench", "--storage", "s3", "--access-key", ready.facts["access_key"], "--secret-key",
        ready.facts["secret_key"], "--skip-functional-tests", "-p", str(options.threads), "--small-objects", str(small),
        "--big-object-size", f"{options.big_mebibytes}M", f"{ready.clients[0].directory}",
    ]  # fmt: skip
    requests = 4 * (small + big) + options.threads
    return spent_by(inside(ready.clients[0].namespace or "", argv), {}, lambda output: requests)


def parsed_options() -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=4, help="requests in flight (default: %(default)s)")
    parser.add_argument(
        "--clients",
        type=int,
        default=1,
        help="leadline's client instances; JuiceFS has one (default: %(default)s)",
    )
    parser.add_argument("--small-objects", type=int, default=2000, help="default: %(default)s")
    parser.add_argument(
        "--big-mebibytes", type=int, default=512, help="in objects of 4 MiB (default: %(default)s)"
    )
    return parser.parse_args()


def main() -> int:
    options = parsed_options()
    title = "Requests to an object store"
    if os.geteuid() or not Path(JUICEFS.path).is_file():
        why = (
            "needs root for a lab" if os.geteuid() else f"{JUICEFS.path} is missing: leadline lab up juicefs"
        )
        return conclude(title, [Claim("requests a client CPU second at least JuiceFS's", why, None)])
    print(describe_machine(Path.cwd()))
    with a_lab("s3", lab_target("s3"), {}) as ready, tempfile.TemporaryDirectory() as folder:
        keys = {
            "AWS_ACCESS_KEY_ID": ready.facts["access_key"],
            "AWS_SECRET_ACCESS_KEY": ready.facts["secret_key"],
        }
        store = parse_store(ready.clients[0].directory, (), keys)
        sides = {
            "leadline": partial(by_leadline, ready, store, Path(folder), options),
            "juicefs": partial(by_juicefs, ready, options),
        }
        taken = take_turns(sides, options.repeats)
    for name, runs in taken.items():
        print(
            f"{name}: {runs[0].requests:,} requests, {Spread(tuple(run.requests_per_cpu_second for run in runs)).shown()} a CPU second, "
            f"{Spread(tuple(run.cpu_seconds for run in runs)).shown(' s')} CPU, "
            f"{Spread(tuple(run.wall_seconds for run in runs)).shown(' s')} wall"
        )
    rates = {name: [run.requests_per_cpu_second for run in runs] for name, runs in taken.items()}
    ratio = ratios(rates["leadline"], rates["juicefs"])
    claim = Claim("requests a client CPU second at least JuiceFS's", ratio.shown(" x"), ratio.median >= 1)
    print(f"load {os.getloadavg()[0]:.2f} at the end")
    return conclude(title, [claim])


if __name__ == "__main__":
    sys.exit(main())
