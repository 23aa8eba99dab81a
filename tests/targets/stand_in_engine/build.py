"""Builds the stand-in engine against the headers of exactly the installed fio: they come from the distribution's source package,
fetched as for the NFS engine, and stay in leadline's cache by fio's version."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from leadline.run.engines.fio_capabilities import installed_fio
from leadline.run.lab.fio_engine_build import FETCH
from leadline.run.lab.go_programs import cache_root

SOURCE = Path(__file__).with_name("stand_in.c")
TOOLS = ("apt-get", "dpkg-query", "dpkg-source", "gcc", "make")
COMPILE = ("gcc", "-std=gnu99", "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-D_GNU_SOURCE", "-DBITS_PER_LONG=64")  # fmt: skip


class CannotBuild(Exception):
    """Why not, in a sentence."""


def stand_in_engine(folder: Path) -> Path:
    """The shared object, compiled anew into `folder`; raises CannotBuild when there is no compiler or no source."""
    engine = folder / "stand_in.so"
    words = ("-include", "config-host.h", "-I.", "-o", engine, SOURCE)
    compiled = subprocess.run(
        [*COMPILE, *words], cwd=_headers(), capture_output=True, text=True, timeout=60, check=False
    )
    assert compiled.returncode == 0, compiled.stderr
    return engine


def _headers() -> Path:
    """The source of the installed fio, configured."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise CannotBuild(f"{' and '.join(missing)} missing")
    version = installed_fio().version.removeprefix("fio-")
    kept = cache_root() / f"fio-headers-{version}"
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fio-headers-", dir=kept.parent) as draft:
        package = _run(
            "asking for fio's package", "dpkg-query", "--show", "--showformat=${source:Version}", "fio"
        )
        if not package.startswith(version):
            raise CannotBuild(f"the fio on PATH is {version} and the installed package is {package}")
        _run("fetching fio's source", "sh", "-c", FETCH, "leadline", draft, package)
        source = Path(draft) / "source"
        _run("configuring fio's source", "sh", "configure", "--disable-native", folder=source)
        try:
            source.rename(kept)
        except OSError:  # another run of the tests was faster
            assert kept.exists()
    return kept


def _run(doing: str, *words: str, folder: Path | None = None) -> str:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    except subprocess.TimeoutExpired as hung:
        raise CannotBuild(f"{doing} did not end within {hung.timeout:g} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["nothing"]
        raise CannotBuild(f"{doing} failed and said: {said[-1]}")
    return done.stdout.strip()
