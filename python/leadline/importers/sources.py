"""Files as the importers see them: found in a stable order, read once, gzip undone, faults in a sentence."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from leadline.errors import UserError
from leadline.formats.fields import Fields, FormatError

LARGEST_BYTES = 512 * 1024 * 1024
"""A larger file (also unpacked) is no result of a benchmark; it would only fill the memory."""

GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Source:
    """One file that may hold results."""

    path: Path
    root: Path
    """What the user named: the file itself, or the tree in which it was found."""

    @cached_property
    def text(self) -> str:
        """All of it; bytes that are no UTF-8 are replaced. Raises UserError when it cannot be read."""
        try:
            with self.path.open("rb") as file:
                packed = file.read(2) == GZIP_MAGIC
            with gzip.open(self.path, "rb") if packed else self.path.open("rb") as stream:
                content = stream.read(LARGEST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise UserError(f"it cannot be read ({error})") from None
        if len(content) > LARGEST_BYTES:
            raise UserError(
                f"it is larger than {LARGEST_BYTES // 1024**2} MiB, which no result of a benchmark is"
            )
        return content.decode("utf-8", errors="replace")

    @cached_property
    def fields(self) -> Fields:
        """Its JSON object; raises FormatError."""
        try:
            document = json.loads(self.text)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, character {error.pos}"
            raise FormatError(f"its JSON is cut off or broken at {place}; fetch the whole file") from None
        except (ValueError, RecursionError) as error:
            raise FormatError(f"its JSON cannot be read ({error})") from None
        if not isinstance(document, dict):
            raise FormatError("its JSON is no object")
        return Fields(document)


def find_sources(paths: Iterable[Path]) -> Iterator[Source]:
    """The files named and those under the folders named, sorted, hidden ones left out; raises UserError."""
    for path in paths:
        if path.is_file():
            yield Source(path, path)
        elif path.is_dir():
            below = (found.relative_to(path) for found in path.rglob("*"))
            names = sorted(name for name in below if not any(part.startswith(".") for part in name.parts))
            yield from (Source(path / name, path) for name in names if (path / name).is_file())
        else:
            raise UserError(f"{path} does not exist; name files or folders with results")
