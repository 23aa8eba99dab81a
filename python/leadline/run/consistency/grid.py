"""Which cells there are, and which of them are run unless more is asked for.

A cell makes sense when its probe must be told something else after the change than before it. The default set holds the two
published cases (`unlink / stat` of a file that the reader had made, `append / append` by turns), rename over an existing name, and locks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from leadline.errors import UserError, did_you_mean
from leadline.run.consistency.mutations import MUTATIONS
from leadline.run.consistency.probes import PRIORS, PROBES, READER_SYNCS
from leadline.store.visibility import Cell

DEFAULT = tuple(
    Cell(*words)
    for words in (
        ("unlink", "stat", "made it"),
        ("unlink", "stat", "looked"),
        ("unlink", "open", "read"),
        ("unlink", "access", "looked"),
        ("unlink", "readdir", "listed"),
        ("create", "stat", "looked"),
        ("create", "open", "looked"),
        ("create", "stat", "cold"),
        ("create", "readdir", "listed"),
        ("rename away", "stat", "looked"),
        ("rename away", "readdir", "listed"),
        ("rename over", "open", "read"),
        ("rename over", "size", "looked"),
        ("rename over", "readdir", "listed"),
        ("mkdir", "stat", "looked"),
        ("rmdir", "stat", "looked"),
        ("link", "links", "looked"),
        ("symlink swap", "readlink", "resolved"),
        ("chmod", "mode", "looked"),
        ("utimens", "modified", "looked"),
        ("setxattr", "getxattr", "looked"),
        ("truncate", "size", "looked"),
        ("truncate", "open", "read"),
        ("overwrite", "open", "read", "close"),
        ("overwrite", "open", "read", "fsync"),
        ("overwrite", "open", "read", "O_SYNC"),
        ("overwrite", "open", "read", "O_DIRECT"),
        ("overwrite", "open", "read", "none"),
        ("overwrite", "size", "looked", "close"),
        ("overwrite", "held", "held", "close"),
        ("overwrite", "held", "held", "none"),
        ("overwrite", "held", "held", "close", "drop pages"),
        ("overwrite", "held", "held", "O_DIRECT", "O_DIRECT"),
        ("overwrite", "held", "held", "unlock", "lock"),
        ("append", "open", "read", "close"),
        ("append", "size", "looked", "close"),
        ("append", "held fstat", "held", "close"),
        ("append", "held SEEK_END", "held", "close"),
        ("append", "append", "made it", "close"),
        ("append", "append", "read", "close"),
        ("lock (fcntl)", "lock (fcntl)", "looked"),
        ("unlock (fcntl)", "lock (fcntl)", "looked"),
        ("lock (flock)", "lock (flock)", "looked"),
        ("unlock (flock)", "lock (flock)", "looked"),
    )
)


def sensible(cell: Cell) -> bool:
    """Whether there is anything to see: no axis contradicts another, and the right answer changes."""
    mutation, probe, prior = MUTATIONS[cell.mutation], PROBES[cell.probe], PRIORS[cell.prior]
    before, after = probe.right(mutation.before), probe.right(mutation.after)
    if cell.writer_sync not in mutation.syncs or before is None or after is None or before == after:
        return False
    if probe.held != (prior is not None and prior.holds) or (probe.held and not mutation.in_place):
        return False
    if cell.reader_sync != "none" and not (probe.held and probe.what == "text"):
        return False
    if prior is not None and mutation.before.kind not in prior.kinds:
        return False
    if cell.prior == "made it" and mutation.before.locked_by:  # the writer's lock is the writer's to take
        return False
    # Only the append log has a third record, and a link is opened by nobody.
    is_log = cell.mutation == "append" or probe.act is None
    fits = (cell.probe == "readlink") == (mutation.before.kind == "link") or probe.what == "names"
    return is_log and (fits or probe.what != "text")


def full_factorial() -> tuple[Cell, ...]:
    """Every combination that makes sense."""
    axes = [(name, sync) for name, each in MUTATIONS.items() for sync in each.syncs]
    cells = (
        Cell(mutation, probe, prior, writer, reader)
        for (mutation, writer), probe, prior, reader in product(axes, PROBES, PRIORS, READER_SYNCS)
    )
    return tuple(filter(sensible, cells))


def chosen(which: str, mutations: Sequence[str] = (), probes: Sequence[str] = ()) -> tuple[Cell, ...]:
    """The cells of the set `default` or `all` with these mutations and probes (none named: any); raises UserError."""
    for word, known, axis in [
        *((word, MUTATIONS, "mutation") for word in mutations),
        *((word, PROBES, "probe") for word in probes),
    ]:
        if word not in known:
            raise UserError(
                f'there is no {axis} "{word}"{did_you_mean(word, known)} (there are: {", ".join(known)})'
            )
    cells = tuple(_with(DEFAULT if which == "default" else full_factorial(), mutations, probes))
    if not cells:
        raise UserError(
            "no cell of the set has these mutations and probes together; --cells all knows more combinations"
        )
    return cells


def named(words: Sequence[str]) -> tuple[Cell, ...]:
    """The cells of "default", "all", or of names as results have them: "unlink / stat", "append / append, read"; raises UserError.

    A name that says less stands for all cells of the default set that begin with it, or else of all.
    """
    found: dict[Cell, None] = {}
    for word in words:
        found |= dict.fromkeys(chosen(word) if word in ("default", "all") else _beginning_with(word))
    return tuple(found)


def _beginning_with(word: str) -> list[Cell]:
    mutation, _, probe = (part.strip() for part in word.partition(",")[0].partition("/"))
    chosen("all", [mutation], [probe] if probe else [])  # whose sentence says which word nobody knows
    for cells in (DEFAULT, full_factorial()):
        if fitting := [cell for cell in cells if _begins(cell, word)]:
            return fitting
    raise UserError(
        f'there is no cell "{word}"; name a change and a probe ("unlink / stat"), then what the reader had ("unlink / stat, looked")'
    )


def _begins(cell: Cell, word: str) -> bool:
    name = str(cell)
    return name == word or name.startswith((f"{word},", f"{word} /"))


def _with(cells: Sequence[Cell], mutations: Sequence[str], probes: Sequence[str]) -> Iterator[Cell]:
    for cell in cells:
        if (not mutations or cell.mutation in mutations) and (not probes or cell.probe in probes):
            yield cell
