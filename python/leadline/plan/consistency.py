"""An experiment on consistency multiplied out: its cells, the clients that each needs, and how long it may take.

Clients make their own files and remove them, so there is nothing to lay out; one command works through the mounts of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.plan.assumptions import TIMEOUT_MARGIN_SECONDS
from leadline.spec.consistency import NO_GRID, ConsistencyExperiment
from leadline.store.records import Cell, Scalar

SIZE_BYTES = 64 << 20
"""Files of the grid and of histories are a few KiB each."""
CELLS_OF_SET = {"default": 44, "all": 410}
"""How many cells the named sets have, for forecasting only."""
ASSUMED_WINDOW_SECONDS = 1.0
"""For forecasting: how long a trial waits. With caches it is their time, without it is nothing."""
MECHANISMS, PROBES_A_SECOND = 4, 40
"""Of delayed probes: four kinds of change, and how many begin in a second (run/consistency/delays.py)."""
SLOWEST_CALLS_SECONDS = 5.0
"""What the calls of a trial take at most beside the waiting, on a slow target on a busy machine."""


def expand_consistency(experiment: ConsistencyExperiment) -> Iterator[dict[str, Scalar]]:
    """A cell for each number of clients."""
    for clients in experiment.clients:
        cell: dict[str, Scalar] = {"clients": clients} if not experiment.control else {"control": True}
        if not experiment.witness and not experiment.control:
            cell["witness"] = False
        cell["cells"] = "; ".join(experiment.cells)
        cell["patience"] = experiment.patience
        if experiment.cells != (NO_GRID,):
            cell["trials"] = experiment.trials
        if experiment.histories:
            cell["histories"] = experiment.histories
        if experiment.delays:
            cell["delays"] = experiment.delays
        if experiment.promise:
            cell["promise"] = "; ".join(experiment.promise)
        yield cell


def mounts_needed(cell: Cell) -> int:
    """The clients that write and read, and the witness; 0 where both clients are on one mount."""
    return 0 if cell.get("control") else int(cell["clients"]) + has_witness(cell)


def has_witness(cell: Cell) -> bool:
    """Whether one more client looks at nothing before the end."""
    return not cell.get("control") and bool(cell.get("witness", True))


def options_of(experiment: ConsistencyExperiment) -> dict[str, str]:
    """What decides how long it takes and not what comes of it."""
    longest = experiment.longest_delay or experiment.patience
    return {"lanes": str(experiment.lanes), "longest_delay": str(longest)}


def expected_seconds(experiment: ConsistencyExperiment) -> float:
    """Trials in lanes, the patience at the end, the load, the probes."""
    grid = (
        _rounds(experiment) * ASSUMED_WINDOW_SECONDS + experiment.patience if _has_grid(experiment) else 0.0
    )
    return grid + _beside_the_grid(experiment)


def longest_seconds(experiment: ConsistencyExperiment) -> float:
    """Every trial waits for the whole of the patience, and settling takes twice that."""
    if not _has_grid(experiment):
        return TIMEOUT_MARGIN_SECONDS + 3 * _beside_the_grid(experiment)
    grid = _rounds(experiment) * (2 * experiment.patience + SLOWEST_CALLS_SECONDS) + 3 * experiment.patience
    return TIMEOUT_MARGIN_SECONDS + grid + 3 * _beside_the_grid(experiment)


def _has_grid(experiment: ConsistencyExperiment) -> bool:
    return experiment.cells != (NO_GRID,)


def _rounds(experiment: ConsistencyExperiment) -> float:
    """Of trials, one after the other in each lane."""
    cells = sum(CELLS_OF_SET.get(each, 1) for each in experiment.cells)
    return -(-cells * experiment.trials // experiment.lanes)


def _beside_the_grid(experiment: ConsistencyExperiment) -> float:
    longest = experiment.longest_delay or experiment.patience
    histories = (experiment.histories or 0.0) + 2 * experiment.patience if experiment.histories else 0.0
    probing = MECHANISMS * experiment.delays / PROBES_A_SECOND + longest if experiment.delays else 0.0
    return histories + probing
