"""One supervised command on a host reached by ssh, in one session: files go in front of the orders, and come home behind the output.

    in:   tar of the scratch folder, then orders (`go`, `interrupt`); the end of the input kills everything there
    out:  the command's output, a mark, tar of the scratch folder

So a connection that is lost, for whatever reason, ends the command, and the shell that waits for it removes the folder.
"""

from __future__ import annotations

import codecs
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from leadline.run.hosts.relocation import unpack
from leadline.run.hosts.supervised import OUTPUT_LIMIT_CHARACTERS, REPORT, limits
from leadline.run.seams import Invocation

NO_SCRATCH, NO_FILES, NO_DIRECTORY = 120, 121, 122
"""Exit codes of the script, before the command is ready."""
SCRIPT = r"""
scratch=$1 size=$2 mark=$3 directory=$4 engine=$5 timeout=$6 grace=$7 answers=$8 program=$9; shift 9
trap : HUP INT TERM PIPE
mkdir -m 700 "$scratch" || exit 120
trap 'cd /; rm -rf "$scratch"' EXIT
[ "$size" = 0 ] || head -c "$size" | tar -xf - -C "$scratch" || exit 121
cd "$directory" || exit 122
command -v "$program" > /dev/null 2>&1 || program=${program##*/}
"$engine" supervise --timeout-ms "$timeout" --grace-ms "$grace" --orders $answers --report "$scratch/REPORT" -- "$program" "$@"
printf '\000%s\n' "$mark"
tar -cf - -C "$scratch" .
""".replace("REPORT", REPORT)
BLOCK_BYTES = 65536


def remote_command(invocation: Invocation, engine: str, mark: str, sent_bytes: int) -> tuple[str, ...]:
    """The command for ssh, of an invocation that is relocated already."""
    exports = {**invocation.environment, "LC_ALL": "C"}
    lines = [f"export {name}={shlex.quote(value)}" for name, value in exports.items()]
    return (
        "sh", "-c", "\n".join(lines) + SCRIPT, "leadline",
        str(invocation.scratch), str(sent_bytes), mark, str(invocation.working_directory), engine,
        *limits(invocation)[1::2], "--answers" if invocation.takes_answers else "", *invocation.argv,
    )  # fmt: skip


class Homecoming:
    """Reads a session's output: lines as they come, then the files."""

    def __init__(self, mark: str, on_line: Callable[[str], None]) -> None:
        self._mark = b"\0" + mark.encode() + b"\n"
        self._on_line = on_line
        self._decoder = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder("utf-8")(errors="replace"), translate=True
        )
        self._unfinished = ""
        self._kept: list[str] = []
        self._size = 0

    @property
    def stdout(self) -> str:
        """The beginning of the output."""
        return "".join(self._kept)

    def receive(self, pipe: IO[bytes], scratch: Path) -> bool:
        """To the end of the pipe; whether the files came home whole."""
        waiting = b""
        while block := pipe.read(BLOCK_BYTES):
            waiting += block
            output, mark, files = waiting.partition(self._mark)
            if mark:
                self._hear(output, last=True)
                return unpack(cast(IO[bytes], _Joined(files, pipe)), scratch)
            held = waiting.find(b"\0", max(0, len(waiting) - len(self._mark)))
            cut = len(waiting) if held < 0 else held
            self._hear(waiting[:cut])
            waiting = waiting[cut:]
        self._hear(waiting, last=True)
        return False

    def _hear(self, output: bytes, last: bool = False) -> None:
        text = self._unfinished + self._decoder.decode(output, final=last)
        *lines, self._unfinished = re.split(r"(?<=\n)", text)
        if last and self._unfinished:
            lines, self._unfinished = [*lines, self._unfinished], ""
        for line in lines:
            self._on_line(line)
            if self._size < OUTPUT_LIMIT_CHARACTERS:
                self._kept.append(line)
                self._size += len(line)


class _Joined(io.RawIOBase):
    """What was read already, then the rest of the pipe."""

    def __init__(self, first: bytes, pipe: IO[bytes]) -> None:
        self._first, self._pipe = first, pipe

    def read(self, size: int = -1) -> bytes:
        if self._first:
            part, self._first = (self._first, b"") if size < 0 else (self._first[:size], self._first[size:])
            return part
        return self._pipe.read(size)


def refusal(host: str, exit_code: int, invocation: Invocation, said: str) -> str:
    """Why a command did not even get ready there."""
    last = (said.strip().splitlines() or ["it said nothing"])[-1].removeprefix("leadline-engine: ")
    if exit_code == NO_DIRECTORY:
        return f"{host} has no directory {invocation.working_directory}; mount the same filesystem at the same path there"
    if exit_code in (NO_SCRATCH, NO_FILES):
        return f"{host} has no place for temporary files: {last}"
    if exit_code == 127:
        return f"{host}: {last}"
    return f"{host} did not get the command ready: {last}"
