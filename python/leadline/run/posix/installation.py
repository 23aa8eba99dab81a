"""The Rust pjdfstest at the one version that leadline reads: built once from crates.io, kept outside the source tree."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from leadline.errors import UserError
from leadline.expectations.known import suite_version
from leadline.run.lab.go_programs import cache_root

BUILT_WITHIN_SECONDS = 1200.0


def program_path() -> Path:
    """Where it is kept; whoever has it from elsewhere may put it there."""
    return cache_root() / f"pjdfstest-{suite_version()}" / "bin" / "pjdfstest"


def check_installable() -> None:
    """Raises UserError where the program is neither there nor can be built."""
    if not program_path().exists() and _cargo() is None:
        raise _no_cargo(program_path())


def installed(tell: Callable[[str], None]) -> Path:
    """The program, built when it is not there yet; raises UserError when it cannot be."""
    path = program_path()
    if path.exists():
        return path
    cargo = _cargo()
    if cargo is None:
        raise _no_cargo(path)
    tell(
        f"building pjdfstest {suite_version()} from crates.io (a minute, only once) into {path.parent.parent}"
    )
    _build(cargo, path)
    return path


def _build(cargo: str, path: Path) -> None:
    draft = path.parent.parent.with_name(f"{path.parent.parent.name}.draft{os.getpid()}")
    draft.mkdir(parents=True, exist_ok=True)
    words = (cargo, "install", "pjdfstest", "--version", suite_version(), "--locked", "--root", str(draft))
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
            timeout=BUILT_WITHIN_SECONDS,
            cwd="/",  # a rust-toolchain.toml of the folder we stand in is not meant for it
        )  # fmt: skip
        if done.returncode:
            raise UserError(
                f"pjdfstest {suite_version()} could not be built: {_complaint(done.stderr)}; crates.io has to be within reach, "
                f"or put the finished program at {path}"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        (draft / "bin" / "pjdfstest").replace(path)  # by rename, so that two builders do no harm
    except subprocess.TimeoutExpired:
        raise UserError(
            f"pjdfstest {suite_version()} was not built within {BUILT_WITHIN_SECONDS:g} s; run it again"
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _cargo() -> str | None:
    """sudo often drops the user's own path."""
    usual = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo") / "bin" / "cargo"
    return shutil.which("cargo") or (str(usual) if usual.exists() else None)


def _no_cargo(path: Path) -> UserError:
    return UserError(
        f"pjdfstest {suite_version()} has to be built and cargo cannot be found; put Rust 1.85 or newer on the PATH "
        f"(https://rustup.rs), or the finished program at {path}"
    )


def _complaint(said: str) -> str:
    errors = [line.strip() for line in said.splitlines() if line.lower().startswith("error")]
    return (errors or said.strip().splitlines() or ["cargo said nothing"])[0]
