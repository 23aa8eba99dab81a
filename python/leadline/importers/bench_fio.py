"""Result trees of bench-fio (PyPI fio-plot): TARGET/[randrw70/]4k/randread-16-4.json, one fio result a cell.

The JSON repeats fio's options and is believed first; the names of folders and files (test, iodepth, numjobs,
block size, share of reads) fill in what it lacks. All jobs are called "FIOJOB": the target is the experiment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from leadline.importers import fio_results
from leadline.importers.fio_steps import Reading, records
from leadline.importers.sources import Source
from leadline.store.records import StepRecord

CELL_FILE = re.compile(
    r"(rw|readwrite|randrw|read|write|randread|randwrite|trim|randtrim)-(\d{1,6})-(\d{1,6})\.json"
)
BLOCK_FOLDER = re.compile(r"\d{1,9}[kmg]?", re.IGNORECASE)
MIX_FOLDER = re.compile(r"(?:rw|readwrite|randrw)(\d{1,3})")


def recognise(source: Source) -> bool:
    """A fio result in the place that bench-fio gives it."""
    name, folder = source.path.name, source.path.absolute().parent.name
    return bool(CELL_FILE.fullmatch(name) and BLOCK_FOLDER.fullmatch(folder)) and fio_results.recognise(
        source
    )


def read(source: Source) -> Iterable[StepRecord]:
    """The one cell of the file."""
    cell_file = CELL_FILE.fullmatch(source.path.name)
    if cell_file is None:
        raise ValueError(f"{source.path} was not recognised")
    rw, iodepth, numjobs = cell_file.groups()
    block, target = source.path.absolute().parent, source.path.absolute().parent.parent
    fallback = {"rw": rw, "iodepth": iodepth, "numjobs": numjobs, "bs": block.name}
    if mix := MIX_FOLDER.fullmatch(target.name):
        fallback["rwmixread"] = mix[1]
        target = target.parent
    return records(source, Reading(fallback, target.name))
