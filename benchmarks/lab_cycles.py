"""How long each target of the lab takes to come up and to go down, and that nothing of it stays: not after 20 cycles, and not after
a `kill -9` in the middle of coming up that only `leadline lab down` follows.

Needs root. What is left is looked for on the whole machine: mounts, loop devices, network namespaces, control groups, files, and
processes that carry the lab's environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from measuring import LEADLINE, Claim, Spread, conclude, option_parser

from leadline.run.lab.registry import TARGETS

SETTLED_WITHIN_SECONDS = 5.0
KILLED_AT = (0.2, 0.9)
"""Shares of the usual time to come up between which the kill falls."""


class Machine:
    """The lab's folders of this benchmark, and what there is of them."""

    def __init__(self, folder: Path) -> None:
        self.state, self.storage = folder / "state", folder / "storage"
        self.storage.mkdir()
        self.environment = {
            **os.environ,
            "LEADLINE_LAB_STATE": str(self.state),
            "LEADLINE_LAB_STORAGE": str(self.storage),
        }

    def lab(self, *words: str) -> float:
        """Seconds of one command, the start of Python included."""
        started = time.monotonic()
        done = subprocess.run(
            [LEADLINE, "lab", *words], env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"leadline lab {' '.join(words)}: {done.stderr.strip()}")
        return time.monotonic() - started

    def killed(self, name: str, after_seconds: float) -> None:
        """`lab up` ended by SIGKILL in the middle."""
        quiet = subprocess.DEVNULL
        with subprocess.Popen(
            [LEADLINE, "lab", "up", name, "--size", SIZE], env=self.environment, stdout=quiet, stderr=quiet
        ) as process:
            time.sleep(after_seconds)
            process.kill()

    def left(self) -> list[str]:
        """One line for everything that is there."""
        mine = (str(self.state), str(self.storage))
        mounts = [
            line for line in Path("/proc/mounts").read_text().splitlines() if any(m in line for m in mine)
        ]
        loops = [line for line in _lines("losetup", "-a") if mine[1] in line]
        namespaces = _lines("ip", "netns", "list")
        files = [str(path) for top in (self.state, self.storage) for path in top.glob("**/*")]
        return [*mounts, *loops, *namespaces, *files, *self._groups(), *self._processes()]

    def settled(self, before: list[str]) -> list[str]:
        """What is there beyond `before`; processes that have been killed may take a moment to go."""
        until = time.monotonic() + SETTLED_WITHIN_SECONDS
        while (new := sorted(set(self.left()) - set(before))) and time.monotonic() < until:
            time.sleep(0.1)
        return new

    def _groups(self) -> list[str]:
        found = subprocess.run(
            ["find", "/sys/fs/cgroup", "-type", "d", "-name", "leadline-*"],
            capture_output=True,
            text=True,
            check=False,
        )
        return found.stdout.splitlines()

    def _processes(self) -> list[str]:
        mark = f"LEADLINE_LAB_STATE={self.state}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                    found.append(f"process {process.name}")
            except OSError:
                continue
        return found


SIZE = "256MiB"


def _lines(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def cycles(machine: Machine, name: str, count: int, random: Random) -> tuple[Spread, Spread, list[str]]:
    """Times of up and down, and what is left in the end."""
    machine.lab("up", name, "--size", SIZE)  # installs and builds what is missing
    machine.lab("down", name)
    before = machine.left()
    ups, downs = [], []
    for _ in range(count):
        ups.append(machine.lab("up", name, "--size", SIZE))
        downs.append(machine.lab("down", name))
    left = machine.settled(before)
    machine.killed(name, random.uniform(*KILLED_AT) * Spread(tuple(ups)).median)
    if machine.state.exists() and any(machine.state.iterdir()):
        machine.lab("down")
    return Spread(tuple(ups)), Spread(tuple(downs)), left + machine.settled(before)


def main() -> int:
    parser = option_parser(__doc__)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("not measured: needs root")
        return 0
    random, remains = Random(options.seed), {}
    with tempfile.TemporaryDirectory(prefix="leadline-cycles-", dir="/var/tmp") as folder:
        machine = Machine(Path(folder))
        for name in options.targets.split(","):
            up, down, left = cycles(machine, name, options.cycles, random)
            print(f"{name:<10} up {up.shown(' s')}   down {down.shown(' s')}   left: {len(left)}", flush=True)
            for line in left:
                print(f"  {line}")
            remains[name] = left
    kept = {name: left for name, left in remains.items() if left}
    return conclude(
        "Lab",
        [
            Claim(
                f"nothing is left of {len(remains)} targets after {options.cycles} cycles and one kill -9 each",
                f"left of {', '.join(kept)}"
                if kept
                else "mounts, loops, namespaces, groups, files, processes: none",
                not kept,
            )
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
