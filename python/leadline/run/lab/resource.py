"""What the lab can make: a small protocol, so that one journal undoes mounts, namespaces, processes and faults alike.

A kind of resource is a frozen dataclass whose fields are strings, numbers and tuples of strings: they are written to the
journal as JSON, and another process makes the same value of them to undo it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from leadline.errors import UserError
from leadline.run.lab.tools import Toolbox

Record = Callable[[str], None]
"""Writes down how the made thing is told from another of the same name (inode, process id with start time, device)."""


class Busy(UserError):
    """Somebody uses what is to be removed; the sentence names them."""


class Ledger(Protocol):
    """The part of the journal that resources need."""

    @property
    def tools(self) -> Toolbox: ...

    def recorder(self, number: str) -> Record:
        """Writes an identity for the entry of that number: a restarted process keeps its entry."""
        ...

    def identity(self, number: str) -> str | None:
        """What was recorded last for that entry; None when nothing was, or when it is undone."""
        ...

    def keep(self, child: Any) -> None:
        """A child process that will have to be reaped."""
        ...


class Resource(Protocol):
    """One thing that is made and undone."""

    only_while_up: ClassVar[bool]
    """Whether undoing it is pointless when everything is torn down (a killed server need not be started again)."""
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def described(self) -> str:
        """In words, for sentences."""
        ...

    def found(self, identity: str | None) -> bool:
        """Whether it is there. With an identity: whether it is still the one that was made."""
        ...

    def make(self, ledger: Ledger, record: Record) -> None:
        """Makes it and records its identity; FileExistsError when somebody else was faster."""
        ...

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Undoes it; called only when found. Raises Busy."""
        ...
