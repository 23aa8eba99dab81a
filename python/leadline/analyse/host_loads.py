"""How busy other machines were that took part in a cell: hosts reached by ssh or MPI, each counted where it is.

Counter names are those of this machine behind `host.<name>.` (run/observe/host_looks.py). Hosts in namespaces of this machine have
NICs of their own and nothing else: they have no cores here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from leadline.analyse.counter_rules import RULES, of_counters, phase_window
from leadline.analyse.merge import Trials
from leadline.store.records import StepRecord

_OWN_CORES = re.compile(r"(host\..+\.)cpu\.all\.busy_share")
FULLEST = max
"""Of several machines the one that was busiest says what binds."""
ADDED_UP = frozenset(
    {"disk_read_bytes_per_second", "disk_write_bytes_per_second", "context_switches_per_second"}
)
LEAST = frozenset({"memory_available_bytes_min"})


def host_loads(trials: Trials) -> dict[str, dict[str, float]]:
    """By host, the entries of CellResult.resources for that machine alone; means over the repeats."""
    repeats: dict[str, list[dict[str, float]]] = {}
    for trial in trials.trials:
        window = phase_window(trial.record, trials.direction)
        for prefix in _prefixes(trial.record):
            name = prefix.removeprefix("host.").removesuffix(".")
            repeats.setdefault(name, []).append(of_counters(trial.record.counters, window, prefix))
    return {name: _over_repeats(several) for name, several in repeats.items()}


def summarise_clients_elsewhere(trials: Trials) -> dict[str, float]:
    """Entries of CellResult.resources where the load came from other machines: what this one did says nothing of it.

    Only machines that produced load are counted by themselves."""
    loads = list(host_loads(trials).values())
    keys = dict.fromkeys(key for load in loads for key in load)
    return {key: _of_all(key, [load[key] for load in loads if key in load]) for key in keys}


def _of_all(key: str, values: list[float]) -> float:
    if key in ADDED_UP:
        return sum(values)
    return min(values) if key in LEAST else FULLEST(values)


def _over_repeats(repeats: list[dict[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, (key, _, _, over_repeats) in RULES.items():
        values = [repeat[name] for repeat in repeats if name in repeat]
        if values:
            found[key] = over_repeats(values)
    return found


def _prefixes(record: StepRecord) -> Mapping[str, None]:
    names = (name for table in record.counters for name in table.names)
    return dict.fromkeys(match[1] for name in names if (match := _OWN_CORES.fullmatch(name)))
