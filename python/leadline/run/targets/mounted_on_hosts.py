"""A directory that several hosts must see as one: each reads the marker that was written here, on a filesystem of the same type.

A host on which the mount is missing would otherwise measure its own disk under the cluster's name. One short question a host
before each step, all hosts at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.run.seams import Target
from leadline.run.targets.work_directory import MARKER

LOOK = """
echo "device=$(stat -c %d -- "$1" 2> /dev/null)"
echo "type=$(findmnt -n -o FSTYPE -T "$1" 2> /dev/null | tail -n 1)"
echo "marker=$(cat -- "$1/$2" 2> /dev/null)"
"""
ANSWERS_WITHIN_SECONDS = 10.0
SEEN_WITHIN_SECONDS = 5.0
"""What is written on one host may be seen on another only after the filesystem's attribute and entry times."""

Ask = Callable[[Sequence[str], float], str]
"""What a command prints on a host within that many seconds; raises UserError that names the host."""


@dataclass(frozen=True)
class Onlooker:
    """A client that must see the directory."""

    name: str
    ask: Ask
    directory: Path
    """As the client sees it."""


@dataclass(frozen=True)
class Sight:
    """What a client sees; empty where there is nothing."""

    device: str
    type: str
    marker: str


class MountedOnHosts:
    """Wraps the target that works in the directory from this machine."""

    def __init__(self, inner: Target, onlookers: Sequence[Onlooker], filesystem: str = "") -> None:
        """`filesystem`: the type that a campaign states; empty: the same on all, whatever it is."""
        self._inner = inner
        self._onlookers = tuple(onlookers)
        self._filesystem = filesystem
        self._marker = ""
        self._first: Mapping[str, Sight] = {}

    def prepare(self) -> Path:
        """Raises UserError naming the first host that does not see the directory as it should."""
        directory = self._inner.prepare()
        try:
            self._marker = (directory / MARKER).read_text(encoding="utf-8").strip()
            self._first = self._seen_by_all()
        except BaseException:
            self._inner.clean_up()
            raise
        return directory

    def check(self) -> str | None:
        """The same marker, type and device number as at the start, on every host."""
        gone = self._inner.check()
        if gone is not None:
            return gone
        try:
            return self._fault(self._look())
        except UserError as error:
            return str(error)

    def clean_up(self) -> None:
        """As the wrapped target does."""
        self._inner.clean_up()

    def _seen_by_all(self) -> Mapping[str, Sight]:
        until = time.monotonic() + SEEN_WITHIN_SECONDS
        while (fault := self._fault(sights := self._look())) is not None:
            if time.monotonic() > until:
                raise UserError(fault)
            time.sleep(0.2)
        return sights

    def _look(self) -> Mapping[str, Sight]:
        with ThreadPoolExecutor(max_workers=len(self._onlookers) or 1) as pool:
            return dict(
                zip([each.name for each in self._onlookers], pool.map(_sight, self._onlookers), strict=True)
            )

    def _fault(self, sights: Mapping[str, Sight]) -> str | None:
        """The first thing that is not as it should be."""
        expected = self._filesystem or next((each.type for each in sights.values()), "")
        faults = (self._fault_of(each, sights[each.name], expected) for each in self._onlookers)
        return next((fault for fault in faults if fault), None)

    def _fault_of(self, onlooker: Onlooker, sight: Sight, expected: str) -> str | None:
        where, first = f"{onlooker.directory} on {onlooker.name}", self._first.get(onlooker.name)
        if not sight.device:
            return f"{where} is not there; mount the filesystem there as it is mounted here"
        if sight.type != expected:
            stated = (
                f'the campaign states filesystem = "{expected}"'
                if self._filesystem
                else f"others have {expected}"
            )
            return f"{where} lies on {sight.type or 'a filesystem that cannot be told'} where {stated}; is it mounted there?"
        if sight.marker != self._marker:
            return f"{where} does not show the marker {MARKER} that was written here: it is another directory, or the mount is gone"
        if first is not None and sight.device != first.device:
            return f"{where} now lies on another filesystem: something was mounted or unmounted there"
        return None


def _sight(onlooker: Onlooker) -> Sight:
    argv = ("sh", "-c", LOOK, "leadline", str(onlooker.directory), MARKER)
    told = dict(line.partition("=")[::2] for line in onlooker.ask(argv, ANSWERS_WITHIN_SECONDS).splitlines())
    return Sight(told.get("device", ""), told.get("type", ""), told.get("marker", "").strip())
