"""A short question to a host: a command that ends at once and prints its answer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from leadline.errors import UserError


def answer(host: str, argv: Sequence[str], timeout_seconds: float, question: bytes = b"") -> str:
    """What the command prints; raises UserError that names the host when it fails, is missing or does not end.

    A command that hangs in the kernel, on a dead mount, is left to its own: waiting for its death would hang us too.
    """
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"{host}: {error.filename or argv[0]} cannot be run: {error.strerror}") from None
    try:
        output, errors = process.communicate(question, timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise UserError(f"{host} did not answer within {timeout_seconds:g} s") from None
    if process.returncode:
        said = " ".join(errors.decode(errors="replace").split()) or f"exit code {process.returncode}"
        raise UserError(f"{host}: {said[:300]}")
    return output.decode(errors="replace")
