"""The metadata engine against a plain loop of the same system calls, and io_uring with a depth against one call at a time.

The bare loop (crates/leadline-workloads/examples/bare_metadata_loop.rs) makes the same calls on paths of the same depth, and
looks at the clock twice a phase: what the engine loses against it is what timing every operation costs. All sides work on
files in one directory and take turns. Each kind of filesystem is a folder that is named on the command line; one that is not
named is not measured. `leadline lab up ext4` brings a journalled ext4 up, `leadline lab up juicefs` a FUSE mount.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Claim, Spread, conclude, ratios, take_turns

from leadline.run.executable import engine_executable

ROOT = Path(__file__).parents[1]
ACTIONS = ("create", "stat", "read", "remove")
LOOP_SHARE, DEEP_FACTOR, RECORDING_NANOSECONDS = 0.97, 3.0, 30.0
DEPTH = 32
Rates = Mapping[str, float]
"""Operations a second, by action; with BY_PROCESSOR behind it, for each second of the processor time of the processes."""
BY_PROCESSOR = " by processor"


@dataclass(frozen=True)
class Way:
    """One way of making the engine do it."""

    name: str
    fields: Mapping[str, str | int]


ONE_CALL = Way("one call at a time", {})
RELATIVE = Way("... directory-relative", {"naming": "directory_relative"})
DEEP = Way(f"io_uring, depth {DEPTH}", {"driver": "io_uring", "iodepth": DEPTH})
DEEP_RELATIVE = Way("... directory-relative", {**DEEP.fields, "naming": "directory_relative"})


def cargo_builds(kind: str, name: str) -> Path:
    """Builds an example or a benchmark of the workloads and returns the executable."""
    argv = ["cargo", "build", "--release", "--locked", "-p", "leadline-workloads", f"--{kind}", name]
    done = subprocess.run(
        [*argv, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    built = [json.loads(line) for line in done.stdout.splitlines()]
    found = [each["executable"] for each in built if each.get("target", {}).get("name") == name]
    return Path(found[-1])


def bare_rates(loop: Path, folder: Path, files: int, ranks: int) -> Rates:
    """Of so many bare loops at once: the sum of what each says."""
    argv = [str(loop), str(folder), str(files)]
    running = [
        subprocess.Popen([*argv, str(rank)], stdout=subprocess.PIPE, text=True) for rank in range(ranks)
    ]
    told = [json.loads(process.communicate(timeout=300)[0]) for process in running]
    return {name: sum(each[name] for each in told) for name in told[0]}


def engine_rates(engine: Path, folder: Path, files: int, ranks: int, way: Way) -> Rates:
    """The engine's, by the time at which the last rank was done; a failed operation is our failure."""
    step = {
        "workload": "metadata", "directory": str(folder), "ranks": ranks, "items_per_directory": files,
        "directories": False, "unique_trees": True, **way.fields,
    }  # fmt: skip
    done = subprocess.run(
        [str(engine), "run", "-"],
        input=json.dumps(step),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    phases = [phase for phase in json.loads(done.stdout)["phases"] if phase["kind"] == "file"]
    if any(phase["failed"] for phase in phases):
        raise SystemExit(f"operations failed on {folder}: {[phase['errors'] for phase in phases]}")
    rates = {phase["action"]: phase["last_done"]["rate_per_second"] for phase in phases}
    return rates | {phase["action"] + BY_PROCESSOR: rate_by_processor(phase) for phase in phases}


def rate_by_processor(phase: Mapping[str, Any]) -> float:
    """Operations over the processor time of all ranks: what else runs on the machine disturbs it less than a clock."""
    rates: list[float] = [
        rank["operations"] * 1e9 / max(rank["user_ns"] + rank["system_ns"], 1) for rank in phase["ranks"]
    ]
    return sum(rates)


def print_table(title: str, taken: Mapping[str, Sequence[Rates]], against: str) -> None:
    """Medians of each side, and its ratio to one of them."""
    print(f"\n{title}, operations a second and ratio to {against!r}, n = {len(taken[against])}")
    print(f"  {'':<34}" + "".join(f"{action:>22}" for action in ACTIONS))
    for name, rates in taken.items():
        cells = [
            f"{Spread(tuple(each[action] for each in rates)).median:>12,.0f}"
            f" {ratio_of(taken, name, against, action).median:>7.3f} x"
            for action in ACTIONS
        ]
        print(f"  {name:<34}" + "".join(cells))
    sys.stdout.flush()


def ratio_of(taken: Mapping[str, Sequence[Rates]], name: str, against: str, action: str) -> Spread:
    """Round by round."""
    return ratios([each[action] for each in taken[name]], [each[action] for each in taken[against]])


def claim_on(sentence: str, found: Mapping[str, Spread], bound: float, factor: str = "x") -> Claim:
    """That every action's median ratio reaches the bound."""
    shown = "; ".join(f"{action} {spread.shown(f' {factor}')}" for action, spread in found.items())
    return Claim(sentence, shown, all(spread.median >= bound for spread in found.values()))


def against_bare_loop(name: str, folder: Path, loop: Path, options: Namespace) -> list[Claim]:
    """One process and two, engine and loop in turns."""
    measure: dict[str, Callable[[], Rates]] = {}
    for ranks in (1, 2):
        measure[f"bare loop x {ranks}"] = partial(bare_rates, loop, folder, options.files, ranks)
        measure[f"engine, {ranks} rank{'s' * (ranks > 1)}"] = partial(
            engine_rates, options.engine, folder, options.files, ranks, ONE_CALL
        )
    measure[f"engine, 1 rank, {RELATIVE.name[4:]}"] = partial(
        engine_rates, options.engine, folder, options.files, 1, RELATIVE
    )
    taken = take_turns(measure, options.repeats)
    print_table(name, taken, "bare loop x 1")
    one = {action: ratio_of(taken, "engine, 1 rank", "bare loop x 1", action) for action in ACTIONS}
    by_processor = {
        action: ratio_of(taken, "engine, 1 rank", "bare loop x 1", action + BY_PROCESSOR)
        for action in ACTIONS
    }
    scaling = {
        action: ratios(
            ratio_of(taken, "engine, 2 ranks", "engine, 1 rank", action).values,
            ratio_of(taken, "bare loop x 2", "bare loop x 1", action).values,
        )
        for action in ACTIONS
    }
    return [
        claim_on(f"{name}: one call at a time reaches {LOOP_SHARE} of a bare loop", one, LOOP_SHARE),
        claim_on(f"{name}: the same by processor time", by_processor, LOOP_SHARE),
        claim_on(f"{name}: two ranks scale as two bare loops do, to {LOOP_SHARE}", scaling, LOOP_SHARE),
    ]


def best_of(rates: Sequence[Rates], action: str) -> float:
    """The round that was disturbed least."""
    return max(each[action] for each in rates)


def depth_against_one_call(name: str, folder: Path, options: Namespace) -> list[Claim]:
    """io_uring and single calls, both namings, in turns."""
    ways = {
        "full path, one call at a time": ONE_CALL,
        f"full path, io_uring depth {DEPTH}": DEEP,
        "relative, one call at a time": RELATIVE,
        f"relative, io_uring depth {DEPTH}": DEEP_RELATIVE,
    }
    measure = {
        title: partial(engine_rates, options.engine, folder, options.fuse_files, 1, way)
        for title, way in ways.items()
    }
    taken = take_turns(measure, options.repeats)
    one_call, deep, one_relative, deep_relative = ways
    print_table(name, taken, one_call)
    claims = []
    for naming, upper, lower in (("full path", deep, one_call), ("relative", deep_relative, one_relative)):
        found = {action: ratio_of(taken, upper, lower, action) for action in ("stat", "read")}
        sentence = f"{name}: {naming}: io_uring depth {DEPTH} is at least {DEEP_FACTOR} x one call at a time"
        claims.append(claim_on(sentence, found, DEEP_FACTOR))
    return claims


def recording_claim() -> Claim:
    """Its own benchmark, in Rust."""
    executable = cargo_builds("bench", "metadata_recording")
    told = subprocess.run(
        [str(executable)], capture_output=True, text=True, check=True, timeout=300
    ).stdout.strip()
    nanoseconds = float(told.split()[0])
    sentence = f"recording one operation takes less than {RECORDING_NANOSECONDS:.0f} ns, 3 % of a microsecond"
    return Claim(sentence, told, nanoseconds < RECORDING_NANOSECONDS)


@contextmanager
def folder_in(directory: Path) -> Iterator[Path]:
    """An empty one, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="leadline-benchmark-", dir=directory) as name:
        yield Path(name).resolve()


def parsed_options() -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--engine", type=Path, default=engine_executable(), help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--files", type=int, default=20_000, help="for each rank (default: %(default)s)")
    parser.add_argument("--fuse-files", type=int, default=1000, help="on FUSE (default: %(default)s)")
    parser.add_argument(
        "--memory", type=Path, default=Path("/dev/shm"), help="on tmpfs (default: %(default)s)"
    )
    parser.add_argument("--journalled", type=Path, help="on an ext4 with a journal")
    parser.add_argument("--fuse", type=Path, help="on a FUSE mount")
    parser.add_argument("--delayed", type=Path, help="on a mount whose answers take long")
    return parser.parse_args()


def main() -> int:
    options = parsed_options()
    loop = cargo_builds("example", "bare_metadata_loop")
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores at the start")
    claims = [recording_claim()]
    for name, directory in (("tmpfs", options.memory), ("ext4 with a journal", options.journalled)):
        if directory is None:
            claims.append(Claim(f"{name}: engine against a bare loop", "no folder was named", None))
            continue
        with folder_in(directory) as folder:
            claims += against_bare_loop(name, folder, loop, options)
    for name, directory in (("FUSE", options.fuse), ("delayed answers", options.delayed)):
        if directory is None:
            claims.append(Claim(f"{name}: io_uring against one call", "no folder was named", None))
            continue
        with folder_in(directory) as folder:
            claims += depth_against_one_call(name, folder, options)
    print(f"load {os.getloadavg()[0]:.2f} at the end")
    return conclude("Metadata", claims)


if __name__ == "__main__":
    sys.exit(main())
