"""One trial: made, looked at, changed, looked for. Each client is told to go on only after the other one's reply was read.

So whatever the reader does after the change lies behind it by cause and effect, and no clock is compared with another: the window is
measured on the reader's clock alone, from the moment it was told. The way of the message itself is not in it.
"""

from __future__ import annotations

from dataclasses import replace

from leadline.run.consistency.calls import Answer, Call, at, in_words, stat
from leadline.run.consistency.clients import DOUBTS, Client, Reply
from leadline.run.consistency.mutations import MUTATIONS
from leadline.run.consistency.probes import (
    PRIORS,
    PROBES,
    READER_SYNCS,
    Probe,
    holding_flags,
    path_in,
)
from leadline.store.visibility import Cell, Ending, Trial

RELEASE: list[Call] = [{"call": "release"}]
NOT_OFFERED = frozenset({"EOPNOTSUPP", "ENOSYS", "ENOLCK", "EPERM", "EINVAL", "ENOTTY"})
"""What a filesystem answers that does not have a feature at all."""
MADE_BY_READER = "made it"


class Stopped(Exception):
    """The trial cannot be carried on; its ending says why."""

    def __init__(self, ending: Ending, reason: str) -> None:
        super().__init__(reason)
        self.ending = ending


def attempt(cell: Cell, folder: str, writer: Client, reader: Client, patience_seconds: float) -> Trial:
    """Carries out one trial of a cell in a folder of its own; raises ClientLost when a client or its mount is gone."""
    mutation, probe = MUTATIONS[cell.mutation], PROBES[cell.probe]
    before, expected = certain(probe.right(mutation.before)), certain(probe.right(mutation.after))
    blank = Trial(
        cell, writer.name, reader.name, Ending.UNDECIDED, before=in_words(before), expected=in_words(expected)
    )
    try:
        _prepare(cell, folder, writer, reader, patience_seconds)
        reply = _change_and_look(cell, folder, writer, reader, expected, patience_seconds)
        trial = replace(blank, ending=_ending(reply), seen=reply.seen, reason=_doubt(reply))
    except Stopped as stopped:
        trial = replace(blank, ending=stopped.ending, reason=str(stopped))
    # A mount that went away meanwhile would have answered as if files were missing.
    for client in (writer, reader):
        client.do(RELEASE)
        client.check()
    return trial


def _prepare(cell: Cell, folder: str, writer: Client, reader: Client, patience_seconds: float) -> None:
    """Makes what is there before, and lets the reader look until it sees that rightly: only then its caches are what is said."""
    mutation = MUTATIONS[cell.mutation]
    maker = reader if cell.prior == MADE_BY_READER else writer
    _must(maker.do([at(folder, "make_directory"), *mutation.set_up(folder)]), "the files could not be made")
    there = stat(folder)
    for client in (writer, reader):
        seen = client.await_answer([there], {"value": "directory"}, patience_seconds)
        _must_have_come(seen, client, "the folder of the trial")
    if maker is reader:
        right = certain(mutation.before.told("kind"))
        seen = writer.await_answer([stat(path_in(folder))], right, patience_seconds)
        _must_have_come(seen, writer, "what the reader had made")
    prior = PRIORS[cell.prior]
    if prior is not None:
        calls = prior.calls(path_in(folder), holding_flags(cell.reader_sync))
        right = certain(mutation.before.told(prior.what))
        _must_have_come(reader.await_answer(calls, right, patience_seconds), reader, "how it was before")


def _change_and_look(
    cell: Cell, folder: str, writer: Client, reader: Client, expected: Answer, patience_seconds: float
) -> Reply:
    mutation, probe = MUTATIONS[cell.mutation], PROBES[cell.probe]
    _must(writer.do(mutation.change(folder, cell.writer_sync)), f"the writer's {cell.mutation} failed")
    if probe.act is not None:
        _must(reader.do(probe.act(path_in(folder))), f"the reader's {cell.probe} failed")
    look = READER_SYNCS[cell.reader_sync](probe.look(path_in(folder)))
    return reader.await_answer(look, expected, patience_seconds)


def _ending(reply: Reply) -> Ending:
    if reply.came:
        return Ending.AT_ONCE if len(reply.seen) == 1 else Ending.LATER
    if reply.last.get("failed") in NOT_OFFERED:
        return Ending.UNSUPPORTED
    return Ending.UNDECIDED if reply.doubtful else Ending.NEVER


def _doubt(reply: Reply) -> str:
    if reply.came or not (reply.doubtful or reply.last.get("failed") in NOT_OFFERED):
        return ""
    return f"the reader was told {reply.last['failed']}"


def _must(reply: Reply, otherwise: str) -> None:
    """Calls that the trial cannot do without. An error after which nobody knows whether they were carried out is a doubt, no failure."""
    error = reply.last.get("failed")
    if error is not None:
        ending = Ending.UNSUPPORTED if error in NOT_OFFERED else Ending.UNDECIDED
        doubt = "; whether it was carried out is unknown" if error in DOUBTS else ""
        raise Stopped(ending, f"{otherwise}: {error}{doubt}")


def _must_have_come(reply: Reply, client: Client, what: str) -> None:
    if not reply.came:
        ending = Ending.UNSUPPORTED if reply.last.get("failed") in NOT_OFFERED else Ending.UNDECIDED
        raise Stopped(ending, f"{client.name} did not see {what}: {in_words(reply.last) or 'nothing'}")


def final_look(cell: Cell) -> Probe | None:
    """How the outcome of a trial is seen long after it; None where nothing is left of it, as of a lock."""
    probe = PROBES[cell.probe]
    if probe.what in ("fcntl", "flock"):
        return None
    return PROBES[probe.at_the_end] if probe.at_the_end else probe


def final_answer(cell: Cell) -> Answer:
    """What everybody must be told then."""
    mutation, probe = MUTATIONS[cell.mutation], PROBES[cell.probe]
    last = final_look(cell) or probe
    return certain((probe if probe.adds else last).right(mutation.after))


def certain(answer: Answer | None) -> Answer:
    """The only right answer; cells of which there is none make no sense (grid.sensible)."""
    assert answer is not None
    return answer
