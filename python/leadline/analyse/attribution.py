"""Where does the difference go: what was busy beside the best point of each test, in words.

A first, simple attribution from the counters of this host; a model's opinion comes beside it once there are
baselines.
"""

from __future__ import annotations

from collections.abc import Iterable

from leadline.analyse.machine import Machine, read_machine
from leadline.analyse.recommendations import best_of_tests, reservation
from leadline.analyse.results import Answer, CellResult, Results
from leadline.analyse.wording import bandwidth, digits, listed, percent, settings

QUESTION = "Where does the difference go?"
BUSY = 0.9
GENERATOR_BUSY = 0.8


def explain_differences(results: Results) -> Iterable[Answer]:
    """One sentence for each test that has counters; one that says so where none has."""
    machine = read_machine(results.environment)
    found = [
        Answer(QUESTION, _explain(cell, results, machine), cell)
        for cell in best_of_tests(results.cells).values()
        if cell.resources
    ]
    if found:
        return found
    return [Answer(QUESTION, "Not measured: no counters were recorded beside the cells.", measured=False)]


def _explain(cell: CellResult, results: Results, machine: Machine) -> str:
    used = _uses(cell, machine)
    return (
        f"{cell.test} at its best ({settings(cell.cell)}{reservation(cell)}): "
        f"{listed(used) or 'little was counted'}: "
        f"{_binding(cell, results, machine)}."
    )


def _uses(cell: CellResult, machine: Machine) -> list[str]:
    """What was in use, as far as it was counted."""
    resources, words = cell.resources, []
    if "disk_utilisation" in resources:
        words.append(f"the busiest disk had work {percent(resources['disk_utilisation'])} of the time")
    if "cpu_busy_share" in resources:
        waiting = resources.get("cpu_iowait_share")
        beside = f" and waited for I/O {percent(waiting)}" if waiting is not None else ""
        words.append(f"the CPUs were busy {percent(resources['cpu_busy_share'])} of the time{beside}")
    if "engine_cpu_cores" in resources:
        of = f" of {machine.threads:g}" if machine.threads else ""
        words.append(f"the engine used {digits(resources['engine_cpu_cores'])}{of} cores")
    return words


def _binding(cell: CellResult, results: Results, machine: Machine) -> str:
    """What binds, by what is nearest to its end."""
    resources = cell.resources
    jobs = _jobs(cell)
    network, carried = results.reference.limits.get("network"), cell.metrics["bandwidth"].value
    if network and carried >= BUSY * network:
        return (
            f"{bandwidth(carried)} is {percent(carried / network)} of the stated network: the network binds"
        )
    if resources.get("disk_utilisation", 0) >= BUSY:
        return "the disk most likely binds"
    if resources.get("engine_cpu_cores", 0) > GENERATOR_BUSY * min(jobs, machine.threads or jobs):
        return "the load generator binds, not the storage"
    if resources.get("cpu_busy_share", 0) >= BUSY:
        return "the CPUs of this host bind"
    if not {"disk_utilisation", "cpu_busy_share"} <= set(resources):
        return "too little was counted to name what binds"
    return (
        "nothing on this host was used up, so the time goes into waiting: latency, or a limit that is "
        "not counted here"
    )


def _jobs(cell: CellResult) -> float:
    value = cell.cell.get("numjobs", 1)
    return float(value) if isinstance(value, int | float) else 1.0
