"""What the installed fio can do, asked of fio itself: distributions leave engines out, so the documentation proves nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from leadline.errors import UserError, did_you_mean
from leadline.run.temporary import temporary_folder
from leadline.store.records import Cell

ASK_TIMEOUT_SECONDS = 20
TARGET_SERVED = frozenset({"nfs", "gfapi", "rbd", "rados"})
"""ioengines that a target brings with it, or says how to use: fio itself may lack them until then."""


@dataclass(frozen=True)
class Fio:
    """The fio on PATH."""

    path: str
    version: str
    ioengines: frozenset[str]


@cache
def installed_fio() -> Fio:
    """Raises UserError when there is none or it does not answer."""
    path = shutil.which("fio")
    if not path:
        raise UserError(
            "fio is not installed; install it from your distribution, e.g. apt-get install fio or dnf install fio"
        )
    version = _ask(path, "--version").strip()
    if not version.startswith("fio-"):
        raise UserError(
            f"{path} does not answer --version like fio ({version[:40]!r}); put the real fio first on PATH"
        )
    listed = _ask(path, "--enghelp").splitlines()
    return Fio(
        path, version, frozenset(line.strip() for line in listed if line.startswith("\t") and line.strip())
    )


def check_ioengine(name: str) -> None:
    """Raises UserError unless fio has the engine; external engines are checked by asking fio to load them."""
    fio = installed_fio()
    if name.startswith("external:"):
        shared_object = name.removeprefix("external:")
        _check_place(shared_object)
        if "not loadable" in (answer := _ask(fio.path, f"--enghelp={shared_object}")) or "dlopen" in answer:
            raise UserError(
                f"fio cannot load the external engine {shared_object}: {answer.strip().splitlines()[-1]}"
            )
        return
    if name not in fio.ioengines:
        raise UserError(
            f'{fio.version} has no ioengine "{name}"{did_you_mean(name, fio.ioengines)} (its engines: fio --enghelp)'
        )


def _check_place(shared_object: str) -> None:
    """fio runs in the data folder, where a path relative to ours leads nowhere; a bare name is the loader's to find (dlopen(3))."""
    if "/" not in shared_object:
        return
    if not shared_object.startswith("/"):
        raise UserError(
            f"the external engine {shared_object} is given by a relative path; give the whole one: {Path(shared_object).resolve()}"
        )
    if not Path(shared_object).is_file():
        raise UserError(f"there is no external engine {shared_object}; give the path of the built .so file")


def lacks_until_up(name: str) -> bool:
    """Whether only a target that is up can say if the engine and its options are there."""
    return name in TARGET_SERVED and name not in installed_fio().ioengines


def passed_options(cell: Cell) -> list[str]:
    """fio's own options, from the experiment's `fio` table."""
    return [name.removeprefix("fio.") for name in cell if name.startswith("fio.")]


def check_options(names: Iterable[str], ioengine: str) -> None:
    """Raises UserError for an option that neither fio nor the engine knows."""
    for name in names:
        if not _known_option(name, ioengine):
            near = did_you_mean(name, _all_options(ioengine))
            raise UserError(
                f'fio has no option "{name}"{near} (in the experiment\'s `fio` table; see fio --cmdhelp=all)'
            )


@cache
def _known_option(name: str, ioengine: str) -> bool:
    if not re.fullmatch(r"[a-z0-9_]+", name):
        return False
    fio = installed_fio()
    answer = _ask(fio.path, f"--cmdhelp={name}")
    if "No such command" not in answer and "closest match" not in answer:
        return True
    return name in _engine_options(ioengine)


@cache
def _engine_options(ioengine: str) -> frozenset[str]:
    return frozenset(
        _option_names(_ask(installed_fio().path, f"--enghelp={ioengine.removeprefix('external:')}"))
    )


def _all_options(ioengine: str) -> frozenset[str]:
    return frozenset(_option_names(_ask(installed_fio().path, "--cmdhelp=all"))) | _engine_options(ioengine)


def _option_names(text: str) -> Iterable[str]:
    return re.findall(r"^\s*([a-z0-9_]+)\s*:", text, re.MULTILINE)


@cache
def _ask(path: str, question: str) -> str:
    try:
        answer = subprocess.run(
            [path, question],
            capture_output=True,
            text=True,
            timeout=ASK_TIMEOUT_SECONDS,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{path} {question} gave no answer ({error}); check the fio installation") from None
    return answer.stdout + answer.stderr


@cache
def starts(ioengine: str) -> bool:
    """Whether the engine really starts here: io_uring may be listed and still be forbidden (sysctl, seccomp)."""
    fio = installed_fio()
    with temporary_folder("probe") as folder:
        argv = [
            fio.path,
            "--name=probe",
            f"--directory={folder}",
            "--size=4k",
            "--bs=4k",
            "--rw=write",
            f"--ioengine={ioengine}",
            "--output-format=json",
        ]
        try:
            return (
                subprocess.run(argv, capture_output=True, timeout=ASK_TIMEOUT_SECONDS, check=False).returncode
                == 0
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
