"""Directories on other hosts: looked at by the rules that hold here, claimed and cleaned up by a session that ends when leadline does.

The session holds the marker locked. Its input ends with leadline, however that ends, and then it removes what leadline had made.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.consistency.far import Far
from leadline.run.layouts import OWN_PREFIX
from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import Mount, find_mount
from leadline.run.targets.work_directory import MARKER
from leadline.run.temporary import temporary_folder

LOOK = r"""
[ -e "$1" ] || { echo state=absent; exit 0; }
[ -d "$1" ] || { echo state=other; exit 0; }
cd -P -- "$1" || { echo state=closed; exit 0; }
echo state=directory
echo "path=$(pwd -P)"
echo "device=$(stat -c %d .)"
echo "kernel=$(cat /proc/sys/kernel/random/boot_id)"
echo "above=$(stat -c %d ..)"
[ -r . ] && [ -w . ] && [ -x . ] && echo writable=yes
echo "foreign=$(ls -A | grep -vxF "$2" | head -n 1)"
[ ! -L "$2" ] && [ -f "$2" ] && echo "marker=$(head -c 1000 "$2")"
while read -r line; do echo "mount=$line"; done < /proc/self/mountinfo
"""
CLAIM = r"""
cd -P -- "$1" || exit 1
own=$2 marker=$3 prefix=$4
exec 9<> "$marker" || exit 1
if command -v flock > /dev/null; then flock -n 9 || { echo taken; exit 0; }; fi
printf '{"made_by": "leadline", "process": %s}\n' $$ > "$marker" || exit 1
left() { for each in "$prefix"*; do [ -d "$each" ] && [ ! -L "$each" ] && return 0; done; return 1; }
clear() {
  tries=0
  while left && [ $tries -lt 50 ]; do
    for each in "$prefix"*; do [ -d "$each" ] && [ ! -L "$each" ] && rm -rf -- "$each" 2> /dev/null; done
    tries=$((tries + 1)); left && sleep 0.1
  done
}
trap : HUP INT TERM PIPE
clear
mkdir -- "$own" || exit 1
echo claimed
read -r word
[ "$word" = leave ] || { clear; rm -f -- "$marker"; }
"""
ANSWERS_WITHIN_SECONDS = 30.0
CLEARED_WITHIN_SECONDS = 15.0


@dataclass(frozen=True)
class Sight:
    """What is at a directory of another host."""

    device: str
    kernel: str
    """Which one of all that were ever started (random(4), boot_id): device numbers mean something under one kernel only."""
    mount: Mount | None


def look_far(far: Far, directory: Path) -> Sight:
    """Raises UserError when leadline may not work there."""
    words = ("sh", "-c", LOOK, "leadline", str(directory), MARKER)
    lines = [
        line.partition("=")[::2] for line in far.connection.ask(words, ANSWERS_WITHIN_SECONDS).splitlines()
    ]
    told = {name: value for name, value in lines if name != "mount"}
    if unfit := _unfit(told, directory):
        raise UserError(f"{far.name}: {unfit}")
    mounts = [value for name, value in lines if name == "mount"]
    return Sight(told["device"], told["kernel"], _mount(mounts, told["path"]))


def _unfit(told: dict[str, str], directory: Path) -> str:
    """Why, in a sentence, by the rules of run/targets/work_directory.py."""
    match told.get("state"):
        case "absent":
            return f"there is no directory {directory}; make it first: mkdir -p {directory}"
        case "directory":
            pass
        case _:
            return f"{directory} is not a directory that can be entered; point leadline at an empty one"
    if told["device"] != told["above"] or told["path"] == "/":
        return f"{directory} is the root of a mounted filesystem; make a directory inside it: mkdir {directory / 'leadline'}"
    if "writable" not in told:
        return f"{directory} may not be written by this user; choose another directory or change its owner"
    if told["foreign"] and not _is_ours(told.get("marker")):
        return f"{directory} is not empty ({told['foreign']!r} is in it) and not marked as leadline's; give an empty directory"
    return ""


def _is_ours(marker: str | None) -> bool:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return marker == "" or (marker is not None and json.loads(marker)["made_by"] == "leadline")
    return False


def _mount(lines: list[str], path: str) -> Mount | None:
    """By that host's mount table."""
    with temporary_folder("mounts") as root:
        table = root / "proc/self/mountinfo"
        table.parent.mkdir(parents=True)
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return find_mount(Machine(root), Path(path))


class FarClaim:
    """The marker and the folder on a host, held by a session there."""

    def __init__(self, far: Far, directory: Path, folder: str) -> None:
        """Removes what a killed leadline had left; raises UserError."""
        argv = far.argv(("sh", "-c", CLAIM, "leadline", str(directory), folder, MARKER, OWN_PREFIX))
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        said = self._first_word()
        if said == "claimed":
            return
        self._end()
        if said == "taken":
            raise UserError(
                f"another leadline is working in {directory} on {far.name}; wait for it or give another directory"
            )
        raise UserError(
            f"{directory} on {far.name} cannot be claimed; look whether it answers and may be written"
        )

    def release(self, leave: bool) -> None:
        """Removes folder and marker, or leaves them to the next run where a mount hangs."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(b"leave\n" if leave else b"remove\n")
            self._process.stdin.flush()
        self._end()

    def _first_word(self) -> str:
        assert self._process.stdout is not None
        pipe, until, read = self._process.stdout.fileno(), time.monotonic() + ANSWERS_WITHIN_SECONDS, b""
        while not {"claimed", "taken"} & set(read.decode(errors="replace").split()):
            if not select.select([pipe], [], [], max(until - time.monotonic(), 0))[0]:
                return ""
            came = os.read(pipe, 1 << 12)
            if not came:
                return ""
            read += came
        return read.decode(errors="replace").split()[-1]

    def _end(self) -> None:
        try:
            self._process.communicate(timeout=CLEARED_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def facts_of(sight: Sight) -> dict[str, Any]:
    """JSON-ready, as of mounts here."""
    facts: dict[str, Any] = {"device": int(sight.device)}
    if sight.mount is not None:
        options = [*sight.mount.options, *sight.mount.super_options]
        facts |= {
            "filesystem": sight.mount.type,
            "source": sight.mount.source,
            "options": list(dict.fromkeys(options)),
        }
    return facts
