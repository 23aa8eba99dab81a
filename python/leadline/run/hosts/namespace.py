"""A network namespace of this machine: a host of the lab, or one that a user made with ip-netns(8).

Only the network is another. Mounts, files and clocks are this machine's, so nothing is copied and times compare to the nanosecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leadline.errors import UserError
from leadline.run.hosts.supervised import SupervisedHost
from leadline.run.lab.tools import in_groups

FOLDER = Path("/run/netns")


class NamespaceHost(SupervisedHost):
    """Runs commands inside the namespace and, where a client is limited, inside its control groups."""

    def __init__(self, name: str, namespace: str, groups: Sequence[str] = ()) -> None:
        """Raises UserError when there is no such namespace."""
        if not (FOLDER / namespace).exists():
            raise UserError(
                f"there is no network namespace {namespace}; `ip netns list` shows those there are"
            )
        self.namespace = namespace
        self.groups = tuple(groups)
        super().__init__(name, self._inside)

    def _inside(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Both become the command, so the process id stays: the supervisor joins groups and namespace before the gate."""
        return in_groups(self.groups, ("nsenter", f"--net={FOLDER / self.namespace}", "--", *argv))
