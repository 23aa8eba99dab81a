"""Metadata with many operations in flight: io_uring against one call at a time on FUSE targets, and a curve over the depth where
the server is far away.

Targets come up in a lab of the benchmark's own (needs root), with the kernel's caches of names and attributes off: with them a
stat right after a create is answered by this machine. Far away means JuiceFS whose Redis sits behind a relay that keeps every
byte for a fixed time (crates/leadline-workloads/examples/delaying_relay.rs): this kernel has no netem, and a narrow link alone
makes requests wait only once it is full. Both namings are measured and never compared with each other.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from lab_folder import a_lab
from measuring import Claim, conclude, describe_machine, take_turns
from metadata_rates import (
    ACTIONS,
    ONE_CALL,
    RELATIVE,
    Rates,
    Way,
    at_depth,
    cargo_builds,
    claim_on,
    engine_rates,
    folder_in,
    median_of,
    print_table,
    ratio_of,
)

from leadline.analyse.saturation import find_saturation
from leadline.run.executable import engine_executable
from leadline.run.lab.go_programs import built
from leadline.run.lab.juicefs import ALONE, FILESYSTEM, JUICEFS, MOUNTED, REDIS_PORT, JuiceFS
from leadline.run.lab.laboratory import Laboratory, LabTarget, Wishes
from leadline.run.lab.listening import listens
from leadline.run.lab.network import network_of
from leadline.run.lab.registry import lab_target
from leadline.run.lab.state import Ready

DEPTH, DEEP_FACTOR = 32, 3.0
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
CLAIMED = ("stat", "read")
"""Creation and removal in one directory take turns in the kernel, and are shown as they are."""
RELAY_PORT = 7000
RELATIVE_NAMING = "directory_relative"
BUSY = "busy cores"
UNCACHED: Mapping[str, Mapping[str, str]] = {
    "moosefs": {"mfsattrcacheto": "0", "mfsentrycacheto": "0", "mfsdirentrycacheto": "0"},
    "juicefs": {"metadata": "redis", "attr-cache": "0", "entry-cache": "0", "dir-entry-cache": "0"},
    "glusterfs": {"attribute-timeout": "0", "entry-timeout": "0"},
}


@dataclass(frozen=True)
class FarJuiceFS(JuiceFS):
    """The volume of JuiceFS, mounted once more through the relay."""

    relay: Path = Path()
    delay_microseconds: int = 0
    uncached: tuple[str, ...] = field(default_factory=lambda: tuple(
        f"--{name}={value}" for name, value in UNCACHED["juicefs"].items() if name != "metadata"
    ))  # fmt: skip

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        """As always; then the relay on Redis's host, and a second mount on the client's."""
        near = super().up(lab, wishes)
        server, client = network_of(lab.state.prefix, 2).hosts
        ends = (f"{server.address}:{RELAY_PORT}", f"{server.address}:{REDIS_PORT}")
        number = lab.start("relay", (str(self.relay), *ends, str(self.delay_microseconds)), server)
        lab.wait(number, lambda: listens(lab, server, RELAY_PORT), 10)
        point, log = lab.folder("far"), lab.state.folder / "far.log"
        words = (
            "env", ALONE, str(built(lab, JUICEFS)), "--no-agent", "mount", "--no-usage-report", "--no-color", "--no-syslog",
            f"--cache-dir={lab.folder('far-cache')}", *self.uncached, f"redis://{ends[0]}/1", str(point),
        )  # fmt: skip
        lab.mount_by(
            client.inside(("sh", "-c", MOUNTED, "leadline", str(log), str(point), *words)),
            point,
            FILESYSTEM,
            "far",
        )
        return replace(near, directory=str(point / "work"))


def depth_against_one_call(name: str, folder: Path, files: int, options: Namespace) -> list[Claim]:
    """io_uring and single calls, both namings, in turns."""
    claims = []
    for words, one, deep in (
        ("full path", ONE_CALL, at_depth(DEPTH)),
        ("directory-relative", RELATIVE, at_depth(DEPTH, RELATIVE_NAMING)),
    ):
        taken = taken_of((one, deep), folder, [files, files], options)
        print_table(f"{name}, {words}", taken, one.name)
        print_busy_cores(taken)
        claims.append(claim_on_depth(name, words, taken, one, deep))
    return claims


def claim_on_depth(name: str, words: str, taken: Mapping[str, Sequence[Rates]], one: Way, deep: Way) -> Claim:
    """That many in flight do so much more than one call at a time."""
    found = {action: ratio_of(taken, deep.name, one.name, action) for action in CLAIMED}
    sentence = f"{name}, {words}: stat and open-close at io_uring depth {DEPTH} are at least {DEEP_FACTOR:g} x one call at a time"
    return claim_on(sentence, found, DEEP_FACTOR)


def taken_of(
    ways: Sequence[Way], folder: Path, files: Sequence[int], options: Namespace
) -> dict[str, list[Rates]]:
    """Each way on so many files, in turns."""
    measure = {
        way.name: partial(rates_and_busy_cores, options.engine, folder, count, way)
        for way, count in zip(ways, files, strict=True)
    }
    return take_turns(measure, options.repeats)


def rates_and_busy_cores(engine: Path, folder: Path, files: int, way: Way) -> Rates:
    """The engine's rates, and how many of this machine's cores were busy meanwhile: client, daemon and server live on them together,
    and where one call at a time fills half of them already, no depth can more than double it."""
    begin, begin_seconds = time.monotonic(), busy_seconds()
    rates = engine_rates(engine, folder, files, 1, way)
    return {**rates, BUSY: (busy_seconds() - begin_seconds) / (time.monotonic() - begin)}


def busy_seconds() -> float:
    """Processor time of everything on this machine since it started (proc(5), /proc/stat without idle and iowait)."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def print_busy_cores(taken: Mapping[str, Sequence[Rates]]) -> None:
    """What is left for more in flight."""
    shown = "; ".join(f"{name} {median_of(rates, BUSY):.2f}" for name, rates in taken.items())
    print(f"  busy of {os.cpu_count()} cores, medians over all four: {shown}")


def curve_over_depth(name: str, folder: Path, options: Namespace) -> list[Claim]:
    """Rates from one call to depth 64, and where they bend. More files where more are in flight, so that all of it is in flight."""
    ways = [RELATIVE, *(at_depth(depth, RELATIVE_NAMING) for depth in DEPTHS)]
    files = [options.far_files, *(max(options.far_files, 4 * depth) for depth in DEPTHS)]
    taken = taken_of(ways, folder, files, options)
    print_table(f"{name}, directory-relative", taken, RELATIVE.name)
    print_busy_cores(taken)
    for action in ACTIONS:
        found = find_saturation(DEPTHS, [median_of(taken[way.name], action) for way in ways[1:]])
        if found is None:
            continue
        end = "still rising at the last" if found.censored else f"peak {found.peak:,.0f} a second"
        print(f"  {action:<8} knee (0.9 of the peak) at depth {found.knee_load:.1f}; {end}")
    sys.stdout.flush()
    return [claim_on_depth(name, "directory-relative", taken, RELATIVE, at_depth(DEPTH, RELATIVE_NAMING))]


def parsed_options() -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--engine", type=Path, default=engine_executable(), help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--files", type=int, default=1000, help="near (default: %(default)s)")
    parser.add_argument("--far-files", type=int, default=60, help="far, at least (default: %(default)s)")
    parser.add_argument("--delay-microseconds", type=int, default=500, help="each way (default: %(default)s)")
    parser.add_argument("--targets", default=",".join([*UNCACHED, "far"]), help="default: %(default)s")
    return parser.parse_args()


def main() -> int:
    options = parsed_options()
    if os.geteuid() != 0:
        print("not measured: needs root")
        return 0
    print(describe_machine(Path("/var/tmp")))
    claims: list[Claim] = []
    for name in options.targets.split(","):
        far = name == "far"
        target: LabTarget = (
            FarJuiceFS(
                relay=cargo_builds("example", "delaying_relay"), delay_microseconds=options.delay_microseconds
            )
            if far
            else lab_target(name)
        )
        with (
            a_lab("juicefs" if far else name, target, UNCACHED["juicefs" if far else name]) as ready,
            folder_in(Path(ready.directory)) as folder,
        ):
            if far:
                title = f"juicefs, Redis {2 * options.delay_microseconds / 1000:g} ms away and back"
                claims += curve_over_depth(title, folder, options)
            else:
                claims += depth_against_one_call(name, folder, options.files, options)
    print(f"load {os.getloadavg()[0]:.2f} at the end")
    return conclude("Metadata, many in flight", claims)


if __name__ == "__main__":
    sys.exit(main())
