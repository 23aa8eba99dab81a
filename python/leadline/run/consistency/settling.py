"""Stale, or lost for good: what everybody sees after all caches have had time to expire.

What is wrong then on a client that had never looked before (the witness), or, without one, on every client that opens it anew, is not
stale any more. It is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from leadline.run.consistency.baton import final_answer, final_look
from leadline.run.consistency.calls import Answer, in_words
from leadline.run.consistency.clients import DOUBTS, Client
from leadline.run.consistency.lanes import Assignment
from leadline.run.consistency.probes import path_in
from leadline.store.visibility import DECIDED, Ending, Trial


def settle_seconds(trials: Sequence[Trial], patience_seconds: float) -> float:
    """How long to wait after the last change: twice the longest window that was seen, and not less than the patience."""
    longest_ns = max((trial.window_ns or 0 for trial in trials), default=0)
    return max(2 * longest_ns / 1e9, patience_seconds)


def judge_for_good(
    done: Mapping[Assignment, Trial], clients: Sequence[Client], witness: Client | None, waited_seconds: float
) -> dict[Assignment, Trial]:
    """Every trial with what was seen at the end, and the endings that this changes."""
    return {
        each: _judged(each, trial, clients, witness, waited_seconds) if trial.ending in DECIDED else trial
        for each, trial in done.items()
    }


def _judged(
    each: Assignment, trial: Trial, clients: Sequence[Client], witness: Client | None, waited_seconds: float
) -> Trial:
    probe = final_look(each.cell)
    if probe is None:
        return _judged_lock(trial)
    lookers = [*clients, *([witness] if witness else [])]
    right = final_answer(each.cell)
    said = {client.name: client.do(probe.look(path_in(each.folder))).last for client in lookers}
    ended = replace(trial, at_the_end={name: in_words(answer) for name, answer in said.items()})
    return _ended(ended, said, right, witness.name if witness else "", waited_seconds)


def _ended(
    trial: Trial, said: Mapping[str, Answer], right: Answer, witness: str, waited_seconds: float
) -> Trial:
    wrong = [name for name, answer in said.items() if answer != right]
    if not wrong:
        return trial
    if any(said[name].get("failed") in DOUBTS for name in wrong):
        return replace(trial, ending=Ending.UNDECIDED, reason="the last look failed")
    after = f"{waited_seconds:.3g} s after the last change"
    if witness in wrong if witness else len(wrong) == len(said):
        where = (
            f"on {witness}, which had never looked before" if witness else "on every mount, and opened anew"
        )
        words = f"{in_words(said[wrong[-1]]) or 'nothing'!r} in place of {in_words(right)!r} {after}, {where}"
        return replace(trial, ending=Ending.LOST, reason=words)
    return replace(trial, ending=Ending.NEVER, reason=f"{' and '.join(wrong)} still wrong {after}")


def _judged_lock(trial: Trial) -> Trial:
    """A lock leaves nothing behind: it excluded somebody, or it did not."""
    both = trial.ending is Ending.NEVER and trial.seen[-1].answer == "granted"
    if trial.cell.mutation.startswith("lock") and both:
        return replace(
            trial, ending=Ending.LOST, reason="both clients held the exclusive lock at the same time"
        )
    return trial
