"""An experiment's axes multiplied out into cells, and sizes scaled down for small machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from types import MappingProxyType

from leadline.errors import UserError
from leadline.plan.scaling import Scaling
from leadline.plan.steps import Layout
from leadline.spec.campaign import Experiment
from leadline.spec.settings import EXPERIMENT_AXES, SETTINGS
from leadline.spec.units import format_size
from leadline.store.records import Cell, Scalar

_NEEDS_MIX = {"read_percentage": {"rw", "randrw"}}
OWN_FILES = ("nfs", "rbd", "rados")
"""ioengines of fio whose files, objects or images no mount shows: only they can write what they read."""
_ELSEWHERE = ("directory", "filename_format", "opendir", "read_iolog", "replay_redirect")
"""fio(1): options that put the files elsewhere, or under names by which the layout would not find them."""


def scaled(cell: dict[str, Scalar], scaling: Scaling) -> dict[str, Scalar]:
    """The bytes of a job, never a file below one block: then there are fewer files instead."""
    if scaling.scale == 1:
        return cell
    block, files = int(cell["block_size"]), int(cell["nrfiles"])
    if "filesize" in cell:
        filesize = int(cell["filesize"])
        scaled_file = max(block, _blocks(filesize * scaling.scale, block)) if filesize > block else filesize
        scaling.note("file size", format_size(filesize), format_size(scaled_file))
        return {**cell, "filesize": scaled_file}
    size = int(cell["size"])
    scaled_size = max(block, _blocks(size * scaling.scale, block))
    kept_files = max(1, min(files, scaled_size // block))
    scaling.note("size a job", format_size(size), format_size(scaled_size))
    if kept_files < files:
        scaling.say(
            f"{files} files a job became {kept_files}, so that each still holds one block of {format_size(block)}"
        )
    return {**cell, "size": scaled_size, "nrfiles": kept_files}


def _blocks(size_bytes: Fraction, block_bytes: int) -> int:
    return int(size_bytes // block_bytes) * block_bytes


def expand(
    experiment: Experiment,
    scaling: Scaling,
    overrides: Mapping[str, tuple[Scalar, ...]] = MappingProxyType({}),
) -> Iterator[dict[str, Scalar]]:
    """Every cell of an experiment, in the order in which its axes are listed; raises UserError for an impossible cell.

    `overrides` are axes that a target has in place of the experiment's.
    """
    axes = {
        name: values for name in EXPERIMENT_AXES if (values := getattr(experiment, name, None)) is not None
    }
    axes |= overrides
    axes |= {
        f"fio.{name}": tuple(value) if isinstance(value, list) else (value,)
        for name, value in experiment.fio.items()
    }
    fixed = {name: value for name, value in _fixed(experiment) if value}
    seen: set[tuple[tuple[str, Scalar], ...]] = set()
    for values in product(*axes.values()):
        cell = {**dict(zip(axes, values, strict=True)), **fixed}
        for name, tests in _NEEDS_MIX.items():
            if cell["rw"] not in tests:
                cell.pop(name, None)
        cell = scaled(cell, scaling)
        _check(cell, experiment.name)
        identity = tuple(sorted(cell.items(), key=lambda item: item[0]))
        if identity not in seen:  # a mix axis multiplies only the mixed tests
            seen.add(identity)
            yield cell


def _fixed(experiment: Experiment) -> Iterator[tuple[str, Scalar]]:
    for setting in SETTINGS.values():
        if not setting.axis and hasattr(experiment, setting.name):
            yield setting.name, getattr(experiment, setting.name)


def _check(cell: Cell, experiment: str) -> None:
    block, file_bytes = int(cell["block_size"]), file_bytes_of(cell)
    if file_bytes < block:
        raise UserError(
            f'experiment "{experiment}": a file of {format_size(file_bytes)} is smaller than one block of {format_size(block)}; '
            "raise `size`, lower `nrfiles`, or drop that block size"
        )
    filename = str(cell.get("fio.filename", ""))
    if filename and any(mark in filename for mark in "/:*"):
        raise UserError(
            f'experiment "{experiment}": fio option filename="{filename}" must be a plain name; leadline writes only inside its directory'
        )
    for option in _ELSEWHERE:
        if f"fio.{option}" in cell:
            raise UserError(
                f'experiment "{experiment}": fio option `{option}` is not taken; set [target] directory instead'
            )


def file_bytes_of(cell: Cell) -> int:
    """Bytes of each file of a job."""
    return int(cell["filesize"]) if "filesize" in cell else int(cell["size"]) // int(cell["nrfiles"])


def job_bytes_of(cell: Cell) -> int:
    """Bytes of all files of one job."""
    return file_bytes_of(cell) * int(cell["nrfiles"])


def layout_of(cell: Cell, jobs: int | None = None) -> Layout:
    """The files that this cell works on."""
    file_bytes, files = file_bytes_of(cell), int(cell["nrfiles"])
    filename = str(cell.get("fio.filename", ""))
    key = f"{filename or 'files'}-{files}x{format_size(file_bytes)}"
    own = str(cell["ioengine"]) if cell.get("ioengine") in OWN_FILES else ""
    return Layout(
        key="-".join(filter(None, (own, key, "each" if "clients" in cell else ""))),
        jobs=1 if filename else jobs or int(cell["numjobs"]),
        files_a_job=files,
        file_bytes=file_bytes,
        filename=filename,
        clients=int(cell.get("clients", 0)),
        ioengine=own,
    )
