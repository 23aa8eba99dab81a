"""fio's NFS engine, which distributions leave out of their fio: built from the distribution's own source of exactly that fio.

An external engine shares structures with the fio that loads it, so no other version will do. Nothing of fio (GPL-2) is kept
in leadline: its source comes from the package's own place, fio_nfs.patch is applied to it, and the result stays in the
user's cache. Both steps are processes of the lab's journal, in a folder that goes with the lab.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.run.lab.go_programs import cache_root
from leadline.run.lab.laboratory import Laboratory
from leadline.run.lab.packages import INSTALL_SECONDS
from leadline.run.lab.tools import ToolFailed

PATCH = Path(__file__).with_name("fio_nfs.patch")
NEEDS = {"fio": "fio", "gcc": "gcc", "patch": "patch", "pkg-config": "pkg-config", "dpkg-source": "dpkg-dev"}
HEADERS = "libnfs-dev"
FETCHED_WITHIN_SECONDS = 240.0
BUILT_WITHIN_SECONDS = 120.0

FETCH = """
set -e
mkdir -p "$1" && cd "$1"
mkdir -p sources lists/partial cache/archives/partial
for each in /etc/apt/sources.list.d/*.sources; do
    if [ -f "$each" ]; then sed 's/^Types:.*$/Types: deb-src/' "$each" >"sources/${each##*/}"; fi
done
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -n 's/^deb\\(-src\\)\\{0,1\\} /deb-src /p' | sort -u >sources/lines.list
own="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$1/sources -o Dir::State::Lists=$1/lists"
own="$own -o Dir::Cache=$1/cache -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=3"
apt-get $own --quiet update || true # another repository's failure is not ours: the source comes or it does not
apt-get $own --quiet --download-only source "fio=$2"
dpkg-source --extract fio_*.dsc source
touch fetched
"""
"""Folder, version of the source package. The system's own lists of packages stay as they are; signatures are checked as always."""
BUILD = """
set -e
cd "$1/source"
if [ -s "$2" ]; then patch --strip=1 --fuzz=0 <"$2"; fi
./configure --disable-native
gcc -std=gnu99 -O2 -fPIC -shared -D_GNU_SOURCE -include config-host.h -I. -DBITS_PER_LONG=64 \\
    $(pkg-config --cflags libnfs) -o "$3.draft$$" engines/nfs.c $(pkg-config --libs libnfs)
mv "$3.draft$$" "$3"
rm -rf "$1"
"""
"""Folder, patch, where the engine goes: by rename, so that two builders do no harm."""


@dataclass(frozen=True)
class NfsEngine:
    """The engine for one fio, with one patch."""

    fio_version: str
    """As `fio --version` says: "3.33"."""
    patch: Path = PATCH

    @property
    def path(self) -> Path:
        """Where it is kept; whoever has it from elsewhere may put it there."""
        recipe = hashlib.sha256(self.patch.read_bytes() + BUILD.encode()).hexdigest()[:8]
        return cache_root() / f"fio-nfs-{self.fio_version}-{recipe}" / "fio-nfs.so"


def built_engine(lab: Laboratory, patch: Path = PATCH) -> Path:
    """The engine for the fio on PATH, built when it is not there yet; raises UserError when it cannot be."""
    engine = NfsEngine(lab.run("fio", "--version").strip().removeprefix("fio-"), patch)
    if not engine.path.exists():
        source = _source_version(lab, engine)
        _require_headers(lab)
        lab.tell(f"building the NFS engine of fio {engine.fio_version} (only once) into {engine.path.parent}")
        folder = lab.storage() / "fio"
        _fetch(lab, folder, source)
        _build(lab, folder, engine)
    return engine.path


def _source_version(lab: Laboratory, engine: NfsEngine) -> str:
    """Of the installed package, which must be the fio on PATH."""
    if shutil.which("apt-get") is None:
        raise UserError(
            "the NFS engine is built from Debian's or Ubuntu's source package of fio, and there is no apt-get here; "
            f"put an engine that fits fio {engine.fio_version} at {engine.path}"
        )
    try:
        version = lab.run("dpkg-query", "--show", "--showformat=${source:Version}", "fio").strip()
    except ToolFailed:
        version = ""
    if re.split("[-+~]", version.rpartition(":")[2])[0] != engine.fio_version:
        raise UserError(
            f"the fio on PATH is {engine.fio_version} and the installed package is {version or 'none'}, but the NFS engine is built "
            "from the package's source; put /usr/bin/fio first on PATH, or apt-get install fio"
        )
    return version


def _require_headers(lab: Laboratory) -> None:
    """No command comes with them, so they are not among what the target needs."""
    if _has_headers(lab):
        return
    lab.tell(f"installing {HEADERS}")
    words = (
        "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", "--quiet", "--no-install-recommends", "install", HEADERS,
    )  # fmt: skip
    try:
        lab.run(*words, timeout_seconds=INSTALL_SECONDS)
    except UserError:
        raise UserError(
            "the NFS engine of fio needs the headers of libnfs and apt-get could not install them; "
            f"try: apt-get update && apt-get install {HEADERS}"
        ) from None


def _has_headers(lab: Laboratory) -> bool:
    try:
        lab.run("pkg-config", "--exists", "libnfs")
    except ToolFailed:
        return False
    return True


def _fetch(lab: Laboratory, folder: Path, version: str) -> None:
    number = lab.start("fetch-fio", ("sh", "-c", FETCH, "leadline", str(folder), version))
    otherwise = f"the source of fio {version} cannot be had from this system's package sources (/etc/apt)"
    _until(lab, number, folder / "fetched", FETCHED_WITHIN_SECONDS, otherwise)


def _build(lab: Laboratory, folder: Path, engine: NfsEngine) -> None:
    engine.path.parent.mkdir(parents=True, exist_ok=True)
    words = (str(folder), str(engine.patch), str(engine.path))
    number = lab.start("build-fio-nfs", ("sh", "-c", BUILD, "leadline", *words))
    otherwise = f"the NFS engine of fio {engine.fio_version} could not be built"
    _until(lab, number, engine.path, BUILT_WITHIN_SECONDS, otherwise)


def _until(lab: Laboratory, number: str, made: Path, at_most_seconds: float, otherwise: str) -> None:
    try:
        lab.wait(number, made.exists, at_most_seconds)
    except UserError as error:
        if not made.exists():  # it may have ended, well done, between the two looks
            raise UserError(f"{otherwise}: {error}") from None
