"""Which of several mistakes a user is told first."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def first_mistake(error: ValidationError) -> ErrorDetails:
    """The first; but where a key is missing, an unknown one beside it: most likely that is the same one, misspelt."""
    found = error.errors()
    first = found[0]
    if first["type"] != "missing":
        return first
    beside = (
        each for each in found if each["type"] == "extra_forbidden" and each["loc"][:-1] == first["loc"][:-1]
    )
    return next(beside, first)
