"""The system's own tools (ip, mount, losetup, mkfs), run to their end; what they complain about becomes one sentence."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.errors import UserError

ENTER_GROUPS = (
    'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"'
)
"""Joins every control group named before `--`, then becomes the command named after it: the process id stays."""


class ToolFailed(UserError):
    """A tool ended with an error; `said` is its complaint."""

    def __init__(self, sentence: str, said: str) -> None:
        super().__init__(sentence)
        self.said = said


@dataclass(frozen=True)
class Toolbox:
    """Runs tools; each holds `descriptors` open until it ends.

    The lab's lock is one of them: whoever wants to clean up after a killed leadline gets the lock only when the last
    tool that leadline had started is done, so nothing can still appear behind the cleaner's back.
    """

    descriptors: tuple[int, ...] = ()

    def holding(self, descriptor: int) -> Toolbox:
        """The same tools, which hold one descriptor more."""
        return Toolbox((*self.descriptors, descriptor))

    def run(self, *argv: object, text: str | None = None, timeout_seconds: float = 60.0) -> str:
        """What the tool printed; raises ToolFailed, or UserError when it is missing or hangs."""
        words = [str(word) for word in argv]
        try:
            done = subprocess.run(
                words, input=text, stdin=None if text is not None else subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=timeout_seconds, check=False, pass_fds=self.descriptors, cwd="/",
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,  # Ctrl-C reaches leadline only, which then undoes what was made
            )  # fmt: skip
        except FileNotFoundError:
            raise UserError(f"{words[0]} is not installed here; install the package that holds it") from None
        except subprocess.TimeoutExpired:
            raise UserError(
                f"`{' '.join(words)}` did not end within {timeout_seconds:g} s and was killed"
            ) from None
        if done.returncode:
            raise _failure(words, done.returncode, done.stderr or done.stdout)
        return done.stdout

    def leave(self, *argv: str, timeout_seconds: float = 60.0) -> None:
        """A tool that leaves a daemon behind: it inherits neither the lock nor a pipe, which would stay open as long as it lives."""
        with tempfile.TemporaryFile() as output:
            try:
                done = subprocess.run(
                    argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=timeout_seconds, check=False,
                    pass_fds=(), cwd="/", env={**os.environ, "LC_ALL": "C"}, start_new_session=True,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise UserError(
                    f"`{' '.join(argv)}` did not return within {timeout_seconds:g} s and was killed"
                ) from None
            output.seek(0)
            if done.returncode:
                raise _failure(argv, done.returncode, output.read().decode(errors="replace"))


def in_groups(groups: Sequence[str], argv: Sequence[str]) -> tuple[str, ...]:
    """The command line that runs `argv` inside control groups, whoever starts it."""
    return ("sh", "-c", ENTER_GROUPS, "leadline", *groups, "--", *argv) if groups else tuple(argv)


def _failure(words: Sequence[str], code: int, output: str) -> ToolFailed:
    said = " ".join(output.split()) or f"nothing, exit code {code}"
    return ToolFailed(f"`{' '.join(words)}` failed and said: {said[:500]}", said)
