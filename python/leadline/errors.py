"""What a user did wrong, said in one sentence; everything else that raises is a bug of ours and a traceback."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake of the user or of the machine: what is wrong, where, and what to do, in one sentence (exit code 2)."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "iodepth"?` for the nearest known word, or the empty string when none is near."""
    nearest = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f'; did you mean "{nearest[0]}"?' if nearest else ""
