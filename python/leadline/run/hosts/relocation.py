"""An invocation that was prepared here, made ready for another host: its scratch folder has another name there, and so has the engine;
and the files that travel with it.
"""

from __future__ import annotations

import io
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import IO

from leadline.run.executable import engine_executable
from leadline.run.seams import Invocation


def relocated(invocation: Invocation, scratch: Path, engine: str) -> Invocation:
    """The same with `scratch` and `engine` of the other host wherever those of this one are named."""
    here, engine_here = (
        re.compile(re.escape(str(invocation.scratch)) + r"(?![\w.-])"),
        str(engine_executable()),
    )

    def there(word: str) -> str:
        return here.sub(lambda found: str(scratch), engine if word == engine_here else word)

    return replace(
        invocation,
        argv=tuple(there(word) for word in invocation.argv),
        scratch=scratch,
        working_directory=Path(there(str(invocation.working_directory))),
        environment={name: there(value) for name, value in invocation.environment.items()},
    )


def packed(folder: Path) -> bytes:
    """What lies in a scratch folder, as tar; nothing for an empty one."""
    entries = sorted(folder.iterdir())
    if not entries:
        return b""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for entry in entries:
            archive.add(entry, entry.name)
    return buffer.getvalue()


def unpack(archive: IO[bytes], folder: Path) -> bool:
    """Whether it came whole. Plain files only, and only below the folder: another machine is trusted with load, not with ours."""
    try:
        with tarfile.open(fileobj=archive, mode="r|") as members:
            for member in members:
                path = Path(member.name)
                content = members.extractfile(member) if member.isfile() else None
                if content is None or path.is_absolute() or ".." in path.parts:
                    continue
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content.read())
    except tarfile.TarError:
        return False
    return True
