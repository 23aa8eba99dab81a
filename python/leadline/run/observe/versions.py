"""Which software measured: versions that a reader needs to repeat the run."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from leadline.run.observe.machine import Machine

VERSION_TIMEOUT_SECONDS = 2.0


def describe_versions(machine: Machine, fio: str = "fio") -> dict[str, Any]:
    """JSON-ready facts; programs are asked only on the live machine."""
    return {
        "leadline": _leadline_version(),
        "python": platform.python_version(),
        "fio": fio_version(machine, fio),
        "c_library": " ".join(platform.libc_ver()) if machine.is_live else None,
        "distribution": _distribution(machine),
    }


def fio_version(machine: Machine, fio: str = "fio") -> str | None:
    """`fio-3.33`, or None with the reason noted."""
    if not machine.is_live:
        machine.note("fio version", "this is a recording of a machine, on which nothing can be started.")
        return None
    try:
        done = subprocess.run(
            [fio, "--version"], capture_output=True, text=True, timeout=VERSION_TIMEOUT_SECONDS, check=True
        )
    except FileNotFoundError:
        machine.note("fio version", f"{fio} is not installed or not in PATH.")
    except (OSError, subprocess.SubprocessError) as error:
        machine.note("fio version", f"{fio} --version failed: {error}.")
    else:
        return done.stdout.strip() or None
    return None


def _leadline_version() -> str | None:
    try:
        return version("leadline")
    except PackageNotFoundError:
        return None  # run from a source tree that is not installed


def _distribution(machine: Machine) -> str | None:
    names = machine.fields("/etc/os-release", "distribution", separator="=")
    return names.get("PRETTY_NAME", "").strip('"') or None
