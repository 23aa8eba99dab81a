"""Where does the difference go: what was busy beside the best point of each test, in words.

A first, simple attribution from the counters of this host.
"""

from __future__ import annotations

from collections.abc import Iterable

from leadline.analyse.machine import Machine, read_machine
from leadline.analyse.recommendations import best_of_tests, reservation
from leadline.analyse.results import Answer, CellResult, Results
from leadline.analyse.wording import digits, listed, percent, settings

QUESTION = "Where does the difference go?"
BUSY = 0.9
NEAR = 0.6


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
    place = "; ".join(filter(None, (settings(cell.cell), reservation(cell))))
    used = listed(_uses(cell, machine)) or "little was counted"
    return f"{cell.test} at its best ({place}): {used}. {_opinion(_shares(cell, results, machine))}."


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


def _shares(cell: CellResult, results: Results, machine: Machine) -> dict[str, float]:
    """How far each counted or limited thing was used up; what proves most comes first."""
    resources, jobs = cell.resources, _jobs(cell)
    network, engine = results.reference.limits.get("network"), resources.get("engine_cpu_cores")
    shares = {
        "the stated network": cell.metrics["bandwidth"].value / network if network else None,
        "the load generator": engine / min(jobs, machine.threads or jobs) if engine is not None else None,
        "the CPU of this host": resources.get("cpu_busy_share"),
        "the disk": resources.get("disk_utilisation"),
    }
    return {name: share for name, share in shares.items() if share is not None}


def _opinion(shares: dict[str, float]) -> str:
    """What binds, or is nearest to it. A disk's utilisation is time with work: it proves least."""
    if not shares:
        return "Too little was counted to say what binds"
    binding = next((name for name, share in shares.items() if share >= BUSY), None)
    name = binding or max(shares, key=shares.__getitem__)
    used = f"{name} ({percent(shares[name])} used)"
    if binding is not None:
        return f"Most likely bound by {used}"
    if shares[name] >= NEAR:
        return f"Nearest to its end is {used}, but nothing was used up"
    return (
        f"Nothing that was counted was used up, most {used}: the time goes into waiting, "
        "or into a limit that is not counted here"
    )


def _jobs(cell: CellResult) -> float:
    value = cell.cell.get("numjobs", 1)
    return float(value) if isinstance(value, int | float) and value > 0 else 1.0
