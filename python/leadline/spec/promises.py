"""The words in which a filesystem's promise between clients is stated; what each of them asks for stands in analyse/promises.py.

Names after Wang, Mohror and Snir, TPDS 2024 (arXiv 2402.14105): POSIX, commit and session (close-to-open) consistency.
"""

from __future__ import annotations

from leadline.errors import UserError, did_you_mean
from leadline.spec.units import parse_duration

PROMISES = {
    "posix": "every change is seen by the next call of anybody",
    "close-to-open": "what was written and closed is seen by whoever opens the file then",
    "commit": "what was written and synchronised is seen by the next read",
    "locks": "locks exclude, and what was written under a lock is seen under the next",
    "eventual": "nothing is lost once caches have expired",
}
"""Name -> what it says."""
BOUNDED = "bounded"
"""`bounded=1s`: every change is seen within that time."""


def check_promise(text: str) -> str:
    """The promise as it was written; raises UserError when nobody knows it."""
    bound_seconds(text)
    return text


def bound_seconds(text: str) -> float | None:
    """Of `bounded=1s` the time, else None; raises UserError for a promise that nobody knows."""
    name, _, duration = text.partition("=")
    if name == BOUNDED and duration:
        return parse_duration(duration)
    if text in PROMISES:
        return None
    known = [*PROMISES, f"{BOUNDED}=1s"]
    raise UserError(
        f'there is no promise "{text}"{did_you_mean(text, known)} (there are: {", ".join(known)})'
    )
