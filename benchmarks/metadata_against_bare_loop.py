"""The metadata engine, one call at a time, against a plain loop of the same system calls; and what recording costs by itself.

The bare loop (crates/leadline-workloads/examples/bare_metadata_loop.rs) makes the same calls on paths of the same depth, and
looks at the clock twice a phase: what the engine loses against it is what timing every operation costs. All sides work on
files in one directory and take turns. With root, a journalled ext4 is brought up in a lab of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lab_folder import a_lab
from measuring import Claim, conclude, describe_machine, ratios, take_turns
from metadata_rates import (
    ACTIONS,
    BY_PROCESSOR,
    ONE_CALL,
    RELATIVE,
    Rates,
    cargo_builds,
    claim_on,
    engine_rates,
    folder_in,
    print_table,
    ratio_of,
)

from leadline.run.executable import engine_executable
from leadline.run.lab.registry import lab_target

LOOP_SHARE, RECORDING_NANOSECONDS = 0.97, 30.0
MDTEST_SCALING = {
    "tmpfs": {"create": 476 / 240, "stat": 1267 / 473, "read": 986 / 367, "remove": 578 / 279},
    "ext4 with a journal": {"create": 222 / 133, "stat": 1303 / 647, "read": 928 / 471, "remove": 264 / 185},
}
"""Two ranks over one, of thousands of operations a second: mdtest (IOR 4.1, -z 2 -b 3 -I 1000 -u) on another machine with 2 cores."""


def bare_rates(loop: Path, folder: Path, files: int, ranks: int) -> Rates:
    """Of so many bare loops at once: the sum of what each says."""
    argv = [str(loop), str(folder), str(files)]
    running = [
        subprocess.Popen([*argv, str(rank)], stdout=subprocess.PIPE, text=True) for rank in range(ranks)
    ]
    told = [json.loads(process.communicate(timeout=300)[0]) for process in running]
    return {name: sum(each[name] for each in told) for name in told[0]}


def against_bare_loop(name: str, folder: Path, loop: Path, options: Namespace) -> list[Claim]:
    """One process and two, engine and loop in turns."""
    measure: dict[str, Callable[[], Rates]] = {}
    for ranks in (1, 2):
        measure[f"bare loop x {ranks}"] = partial(bare_rates, loop, folder, options.files, ranks)
        measure[f"engine, {ranks} rank{'s' * (ranks > 1)}"] = partial(
            engine_rates, options.engine, folder, options.files, ranks, ONE_CALL
        )
    measure["engine, 1 rank, directory-relative"] = partial(
        engine_rates, options.engine, folder, options.files, 1, RELATIVE
    )
    taken = take_turns(measure, options.repeats)
    print_table(name, taken, "bare loop x 1")
    one = {action: ratio_of(taken, "engine, 1 rank", "bare loop x 1", action) for action in ACTIONS}
    by_processor = {
        action: ratio_of(taken, "engine, 1 rank", "bare loop x 1", action + BY_PROCESSOR)
        for action in ACTIONS
    }
    scaling = {action: ratio_of(taken, "engine, 2 ranks", "engine, 1 rank", action) for action in ACTIONS}
    loops = {action: ratio_of(taken, "bare loop x 2", "bare loop x 1", action) for action in ACTIONS}
    beside = {action: ratios(scaling[action].values, loops[action].values) for action in ACTIONS}
    mdtest = MDTEST_SCALING[name]
    return [
        claim_on(f"{name}: one call at a time reaches {LOOP_SHARE} of a bare loop", one, LOOP_SHARE),
        claim_on(f"{name}: the same by processor time", by_processor, LOOP_SHARE),
        claim_on(f"{name}: two ranks scale as two bare loops do, to {LOOP_SHARE}", beside, LOOP_SHARE),
        Claim(
            f"{name}: two ranks scale at least as mdtest's did on another machine with 2 cores",
            "; ".join(
                f"{action} {scaling[action].shown(' x')}, mdtest {mdtest[action]:.2f} x" for action in ACTIONS
            ),
            all(scaling[action].median >= mdtest[action] for action in ACTIONS),
        ),
    ]


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
def journalled(options: Namespace) -> Iterator[Path | None]:
    """The directory that was named, else one of the lab's; None where there is no root to make it."""
    if options.journalled or os.geteuid():
        yield options.journalled
        return
    with a_lab("ext4", lab_target("ext4"), {}) as ready:
        yield Path(ready.directory)


def parsed_options() -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--engine", type=Path, default=engine_executable(), help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--files", type=int, default=20_000, help="for each rank (default: %(default)s)")
    parser.add_argument(
        "--memory", type=Path, default=Path("/dev/shm"), help="on tmpfs (default: %(default)s)"
    )
    parser.add_argument("--journalled", type=Path, help="on an ext4 with a journal (default: one of the lab)")
    return parser.parse_args()


def main() -> int:
    options = parsed_options()
    loop = cargo_builds("example", "bare_metadata_loop")
    print(describe_machine(Path.cwd()))
    claims = [recording_claim()]
    with journalled(options) as on_disk:
        for name, directory in (("tmpfs", options.memory), ("ext4 with a journal", on_disk)):
            if directory is None:
                claims.append(
                    Claim(f"{name}: engine against a bare loop", "needs root or --journalled", None)
                )
                continue
            with folder_in(directory) as folder:
                claims += against_bare_loop(name, folder, loop, options)
    print(f"load {os.getloadavg()[0]:.2f} at the end")
    return conclude("Metadata, one call at a time", claims)


if __name__ == "__main__":
    sys.exit(main())
