"""What a writer can do to a file or a name: how it is before, the calls, how it is after. A mutation is one entry of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from leadline.run.consistency.calls import (
    ATTRIBUTE,
    BLOCK_BYTES,
    Call,
    at,
    on,
    opened,
    session,
    write,
)
from leadline.run.consistency.subjects import (
    EMPTY,
    FOLDER,
    NEW,
    NEW_MODIFIED,
    NOTHING,
    OLD,
    OLD_MODIFIED,
    OTHER,
    POINTER,
    SUBJECT,
    Subject,
)

HELD = "w"
"""The writer's handle, where it keeps the file open."""
Calls = Callable[[str], list[Call]]
"""The folder of a trial -> calls."""


@dataclass(frozen=True)
class Mutation:
    """A change."""

    before: Subject
    set_up: Calls
    """Makes what is there before, in a folder that is new and empty."""
    after: Subject
    change: Callable[[str, str], list[Call]]
    """Folder, writer sync -> the calls that make the change."""
    syncs: tuple[str, ...] = ("none",)
    in_place: bool = False
    """Whether a file that a reader holds open changes: the name and the inode stay what they were."""


def _data(text: str, size_bytes: int, *flags: str) -> Callable[[str, str], list[Call]]:
    """Writes in the ways in which an application can say that it is done."""

    def change(folder: str, sync: str) -> list[Call]:
        further = {"O_SYNC": ("synchronous",), "O_DIRECT": ("direct",)}.get(sync, ())
        start = opened(f"{folder}/{SUBJECT}", HELD, "write", *flags, *further)
        writing = write(HELD, text, size_bytes)
        lock, unlock = on(HELD, "lock", by="fcntl"), on(HELD, "unlock", by="fcntl")
        endings = {"close": [on(HELD, "close")], "fsync": [on(HELD, "synchronise")], "unlock": [unlock]}
        return [start, *([lock] if sync == "unlock" else []), writing, *endings.get(sync, [])]

    return change


def _by_name(call: str, **more: object) -> Callable[[str, str], list[Call]]:
    return lambda folder, sync: [at(f"{folder}/{SUBJECT}", call, **more)]


def _to_other(call: str) -> Callable[[str, str], list[Call]]:
    return lambda folder, sync: [at(f"{folder}/{SUBJECT}", call, to=f"{folder}/{OTHER}")]


def _over(folder: str, sync: str) -> list[Call]:
    return [at(f"{folder}/{OTHER}", "rename", to=f"{folder}/{SUBJECT}")]


def _locks(by: str) -> Callable[[str, str], list[Call]]:
    return lambda folder, sync: [
        opened(f"{folder}/{SUBJECT}", HELD, "read", "write"),
        on(HELD, "lock", by=by),
    ]


def _locking(by: str) -> Mutation:
    return Mutation(OLD, OLD_FILE, replace(OLD, locked_by=by), _locks(by))


def _unlocking(by: str) -> Mutation:
    return Mutation(
        replace(OLD, locked_by=by),
        lambda folder: [*OLD_FILE(folder), *_locks(by)(folder, "none")],
        OLD,
        lambda folder, sync: [on(HELD, "unlock", by=by)],
    )


def _nothing(folder: str) -> list[Call]:
    return []


def _file(name: str, text: str, size_bytes: int) -> Calls:
    return lambda folder: session(
        f"{folder}/{name}",
        "write",
        "append",
        "create",
        "exclusive",
        then=(write("session", text, size_bytes),),
    )


def _also(first: Calls, *calls: Callable[[str], Call]) -> Calls:
    return lambda folder: [*first(folder), *(call(folder) for call in calls)]


def _touch(folder: str, sync: str = "none") -> list[Call]:
    return session(f"{folder}/{SUBJECT}", "write", "create", "exclusive", then=())


def _pointer(name: str, text: str) -> Callable[[str], Call]:
    return lambda folder: at(f"{folder}/{name}", "symbolic_link", text=text)


OLD_FILE = _file(SUBJECT, "old", BLOCK_BYTES)
DATA_SYNCS = ("close", "none", "fsync", "O_SYNC", "O_DIRECT", "unlock")
BOTH = (SUBJECT, OTHER)
FIRST_RECORD = Subject(text="1", size_bytes=2)

MUTATIONS: Mapping[str, Mutation] = {
    "create": Mutation(NOTHING, _nothing, EMPTY, _touch),
    "unlink": Mutation(OLD, OLD_FILE, NOTHING, _by_name("unlink")),
    "rename away": Mutation(OLD, OLD_FILE, replace(NOTHING, names=(OTHER,)), _to_other("rename")),
    "rename over": Mutation(
        replace(OLD, names=BOTH),
        lambda folder: [*OLD_FILE(folder), *_file(OTHER, "new", 2 * BLOCK_BYTES)(folder)],
        NEW,
        _over,
    ),
    "mkdir": Mutation(NOTHING, _nothing, FOLDER, _by_name("make_directory")),
    "rmdir": Mutation(
        FOLDER,
        lambda folder: [at(f"{folder}/{SUBJECT}", "make_directory")],
        NOTHING,
        _by_name("remove_directory"),
    ),
    "link": Mutation(OLD, OLD_FILE, replace(OLD, links=2, names=BOTH), _to_other("link"), in_place=True),
    "symlink swap": Mutation(
        replace(POINTER, names=BOTH),
        _also(_nothing, _pointer(SUBJECT, "old"), _pointer(OTHER, "new")),
        replace(POINTER, text="new"),
        _over,
    ),
    "truncate": Mutation(
        NEW,
        _file(SUBJECT, "new", 2 * BLOCK_BYTES),
        replace(NEW, text="new", size_bytes=BLOCK_BYTES),
        _by_name("truncate", size_bytes=BLOCK_BYTES),
        in_place=True,
    ),
    "overwrite": Mutation(OLD, OLD_FILE, NEW, _data("new", 2 * BLOCK_BYTES), syncs=DATA_SYNCS, in_place=True),
    "append": Mutation(
        FIRST_RECORD,
        _file(SUBJECT, "1 ", 0),
        replace(FIRST_RECORD, text="1 2", size_bytes=4),
        _data("2 ", 0, "append"),
        syncs=tuple(sync for sync in DATA_SYNCS if sync != "O_DIRECT"),  # a record is no block
        in_place=True,
    ),
    "chmod": Mutation(
        replace(OLD, mode=0o644),
        _also(OLD_FILE, lambda folder: at(f"{folder}/{SUBJECT}", "change_mode", mode=0o644)),
        replace(OLD, mode=0o600),
        _by_name("change_mode", mode=0o600),
        in_place=True,
    ),
    "utimens": Mutation(
        replace(OLD, modified_unix_seconds=OLD_MODIFIED),
        _also(OLD_FILE, lambda folder: at(f"{folder}/{SUBJECT}", "set_modified", unix_seconds=OLD_MODIFIED)),
        replace(OLD, modified_unix_seconds=NEW_MODIFIED),
        _by_name("set_modified", unix_seconds=NEW_MODIFIED),
        in_place=True,
    ),
    "setxattr": Mutation(
        replace(OLD, attribute="old"),
        _also(OLD_FILE, lambda folder: at(f"{folder}/{SUBJECT}", "set_attribute", key=ATTRIBUTE, text="old")),
        replace(OLD, attribute="new"),
        _by_name("set_attribute", key=ATTRIBUTE, text="new"),
        in_place=True,
    ),
    **{f"lock ({by})": _locking(by) for by in ("fcntl", "flock")},
    **{f"unlock ({by})": _unlocking(by) for by in ("fcntl", "flock")},
}
"""Name -> what it does."""
