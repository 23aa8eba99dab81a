"""Documents of one result in a file of their own: written, read, and refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from leadline.errors import UserError

Result = TypeVar("Result")


def write_document(path: Path, text: str) -> None:
    """Raises UserError when the file cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def read_document(path: Path, parse: Callable[[str], Result], foreign: str) -> Result:
    """What `parse` makes of the file's text; raises UserError for a file that cannot be read, and where `parse` raises ValueError,
    KeyError, TypeError or AttributeError: then `foreign` says what the file is not."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path} {foreign}; give a file that it wrote") from None
