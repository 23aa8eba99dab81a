"""What carries a directory on another host: the few files of /proc and /sys that tell it, brought here and read as if it was this machine.

A recording is text, made there by nothing but a shell: blocks that begin with a mark, `file NAME` and its content, or `link NAME REAL`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from leadline.run.observe.block_devices import describe_block_devices, disk_names_under
from leadline.run.observe.fuse_queues import FuseQueue, find_fuse_queue
from leadline.run.observe.machine import Machine, Name

MARK = "\x1e"
FOLLOWED_AT_MOST = 40
"""Links in a row, as in the kernel (path_resolution(7)): beyond them they run in a circle."""
RECORD = r"""
say() { [ -f "$1" ] && [ -r "$1" ] && { printf '\036file %s\n' "$1"; cat "$1" 2> /dev/null; }; }
link() { [ -L "$1" ] && printf '\036link %s %s\n' "$1" "$(readlink -f "$1")"; }
until cd "$1" 2> /dev/null; do [ "$1" = / ] && exit 3; set -- "$(dirname "$1")"; done
printf '\036here %s\n' "$(pwd -P)"
say /proc/self/mountinfo
for block in /sys/class/block/*; do
  real=$(readlink -f "$block")
  link "$block"; link "/sys/dev/block/$(cat "$block/dev" 2> /dev/null)"
  [ -e "$real/device" ] && printf '\036file %s\n' "$real/device/there"
  for each in size partition device/model loop/backing_file dm/name md/level; do say "$real/$each"; done
  for each in rotational scheduler nr_requests read_ahead_kb write_cache logical_block_size physical_block_size max_sectors_kb io_poll; do
    say "$real/queue/$each"
  done
  for each in "$real"/slaves/*; do link "$each"; done
done
for each in waiting max_background congestion_threshold; do
  for queue in /sys/fs/fuse/connections/*; do say "$queue/$each"; done
done
exit 0
"""


@dataclass(frozen=True)
class Below:
    """What carries the work directory of a host, as far as its counters matter."""

    disks: tuple[str, ...] = ()
    """Names as in its /proc/diskstats."""
    queue: FuseQueue | None = None
    devices: tuple[dict[str, Any], ...] = ()
    """Facts of its block devices, the mounted one first."""


class Recording(Machine):
    """A machine that lies in memory."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.here: Path | None = None
        """The directory that was asked for under its real name, or the nearest above it that is there already."""
        self._files: dict[str, str] = {}
        self._links: dict[str, str] = {}
        for block in text.split(MARK)[1:]:
            self._take(*block.partition("\n")[::2])

    @property
    def is_live(self) -> bool:
        return False

    def resolve(self, name: Name) -> PurePosixPath:
        found = PurePosixPath(name)
        for _ in range(FOLLOWED_AT_MOST):
            linked = next((each for each in (found, *found.parents) if str(each) in self._links), None)
            if linked is None:
                break
            found = PurePosixPath(self._links[str(linked)]) / found.relative_to(linked)
        return found

    def exists(self, name: Name) -> bool:
        real = str(self.resolve(name))
        return real in self._files or any(each.startswith(f"{real}/") for each in self._known())

    def names(self, directory: Name) -> list[str]:
        inside = f"{self.resolve(directory)}/"
        return sorted(
            {each.removeprefix(inside).partition("/")[0] for each in self._known() if each.startswith(inside)}
        )

    def text(self, name: Name, what: str | None = None) -> str | None:
        content = self._files.get(str(self.resolve(name)))
        if content is None and what is not None:
            self.note(what, f"{name} was not recorded.")
        return None if content is None else content.strip("\x00\n\t ")

    def _known(self) -> set[str]:
        return {*self._files, *self._links}

    def _take(self, head: str, content: str) -> None:
        kind, _, name = head.partition(" ")
        if kind == "here":
            self.here = Path(name)
        elif kind == "file":
            self._files[name] = content
        elif kind == "link":
            link, _, real = name.partition(" ")
            self._links[link] = real


def record_command(directory: Path) -> tuple[str, ...]:
    """What prints a recording on a host."""
    return ("sh", "-c", RECORD, "leadline", str(directory))


def below_directory(text: str) -> Below:
    """What a recording says of its directory; nothing where it is none."""
    machine = Recording(text)
    return Below() if machine.here is None else look_below(machine, machine.here)


def look_below(machine: Machine, directory: Path) -> Below:
    """What carries a directory."""
    return Below(
        disks=tuple(disk_names_under(machine, directory)),
        queue=find_fuse_queue(machine, directory),
        devices=tuple(describe_block_devices(machine, directory)),
    )
