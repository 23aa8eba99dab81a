"""Where does the difference go: what was busy beside the best point of each test, in words.

A first, simple attribution from the counters of this machine and of the hosts that took part.
"""

from __future__ import annotations

from collections.abc import Iterable

from leadline.analyse.bottleneck import Bound, busiest_elsewhere, disagreement, in_words, named_by_counters
from leadline.analyse.fuse_words import fuse_in_words
from leadline.analyse.machine import Machine, read_machine
from leadline.analyse.network_bytes import AMPLIFIED
from leadline.analyse.participants import HostUse
from leadline.analyse.recommendations import best_of_tests, of_data, reservation
from leadline.analyse.results import Answer, CellResult, Results
from leadline.analyse.wording import bandwidth, count, digits, listed, percent, settings
from leadline.store.records import Direction

QUESTION = "Where does the difference go?"
IN_CALLS = "the kernel's own work in the calls"
NEAREST = "nearest "
BUSY = 0.9
NEAR = 0.6
MOST = 12
"""Sentences: more points than this nobody reads one by one."""


def explain_differences(results: Results) -> Iterable[Answer]:
    """One sentence for each test of data (and each target) that has counters; one that says so where none has."""
    explained = _explained(results)
    found = [
        Answer(QUESTION, _explain(cell, results, machine_of(results, cell)), cell)
        for cell in explained
        if cell.resources
    ]
    if found or (results.cells and not explained):
        return found
    return [Answer(QUESTION, "Not measured: no counters were recorded beside the cells.", measured=False)]


def machine_of(results: Results, cell: CellResult) -> Machine:
    """The client on the target of this cell; where conditions differ, under those of the cell."""
    target = str(cell.cell.get("target", ""))
    for site in results.sites:
        held = all(cell.cell.get(name, value) == value for name, value in site.conditions.items())
        if site.target == target and held:
            return site.machine
    return read_machine(results.environment)


def _explained(results: Results) -> list[CellResult]:
    """The best point of each test; then, where targets are compared, each target's, as far as a reader follows."""
    best = list(best_of_tests(of_data(results.cells)).values())
    others = of_data([standing.cell for ranking in results.rankings for standing in ranking.standings])
    return best + [cell for cell in others if not any(cell is one for one in best)][: MOST - len(best)]


def _explain(cell: CellResult, results: Results, machine: Machine) -> str:
    place = "; ".join(filter(None, (settings(cell.cell), reservation(cell))))
    named = named_by_counters(cell, results)
    waiting = fuse_in_words(cell, named.bound if named else None)
    used = listed([*_uses(cell, machine), *waiting]) or "little was counted"
    shares, law = _shares(cell, results, machine), _law(cell, results)
    first, then = (law, "") if law and not _used_up(shares) else (_opinion(shares), law)
    further = [
        f"{words[0].upper()}{words[1:]}." for words in (used, then, disagreement(cell, results)) if words
    ]
    return f"{cell.test} at its best ({place}): {first}. {' '.join(further)}"


def _law(cell: CellResult, results: Results) -> str:
    """What binds, and how much more of it would help; where nothing is used up, the opinion has said so."""
    named = named_by_counters(cell, results)
    return in_words(cell, results) if named and named.bound is not Bound.LATENCY else ""


def _uses(cell: CellResult, machine: Machine) -> list[str]:
    """What was in use, as far as it was counted."""
    resources, words = cell.resources, []
    if "disk_utilisation" in resources:
        words.append(f"the busiest disk had work {percent(resources['disk_utilisation'])} of the time")
    if "cpu_busy_share" in resources:
        waiting = resources.get("cpu_iowait_share")
        beside = f" and waited for I/O {percent(waiting)}" if waiting is not None else ""
        whose = f" of {busiest.name}" if (busiest := busiest_elsewhere(cell)) else ""
        words.append(f"the CPUs{whose} were busy {percent(resources['cpu_busy_share'])} of the time{beside}")
    if "engine_cpu_cores" in resources:
        of = f" of {machine.threads:g}" if machine.threads and not busiest_elsewhere(cell) else ""
        words.append(f"the engine used {digits(resources['engine_cpu_cores'])}{of} cores")
    return [*words, *_network_uses(cell)]


def _network_uses(cell: CellResult) -> list[str]:
    """What the NICs of the clients carried, and how much more than was asked for."""
    words: list[str] = []
    if any(use.is_client for use in cell.hosts):
        received = bandwidth(cell.resources["nic_receive_bytes_per_second"])
        sent = bandwidth(cell.resources["nic_transmit_bytes_per_second"])
        words.append(f"the NICs of the clients received {received} and sent {sent}{_amplification(cell)}")
    again = sum(use.retransmitted_segments or 0.0 for use in cell.hosts if use.is_client)
    return [*words, f"their TCP sent {count(again)} segments again"] if again else words


def _amplification(cell: CellResult) -> str:
    """Said where it is more than the overhead of protocols."""
    share = cell.resources.get("nic_share")
    if share is None or share <= AMPLIFIED:
        return ""
    return (
        f" ({digits(share)} bytes for each byte {'read' if cell.direction is Direction.READ else 'written'})"
    )


def _shares(cell: CellResult, results: Results, machine: Machine) -> dict[str, float]:
    """How far each counted or limited thing was used up; what proves most comes first."""
    resources = cell.resources
    network, engine = results.reference.limits.get("network"), resources.get("engine_cpu_cores")
    calls, makers = resources.get("kernel_cpu_cores"), _makers(cell, machine)
    shares = {
        "the stated network": _bandwidth(cell) / network if network else None,
        **_links(cell),
        "the load generator": engine / makers if engine is not None else None,
        IN_CALLS: calls / makers if calls is not None else None,
        _cpu_of(cell): resources.get("cpu_busy_share"),
        "the disk": resources.get("disk_held_share", resources.get("disk_utilisation")),
    }
    return {name: share for name, share in shares.items() if share is not None}


def _bandwidth(cell: CellResult) -> float:
    return cell.metrics["bandwidth"].value if "bandwidth" in cell.metrics else 0.0


def _links(cell: CellResult) -> dict[str, float | None]:
    """The fullest link of a client and the fullest of a server."""
    fullest: dict[bool, HostUse] = {}
    for use in cell.hosts:
        known = fullest.get(use.is_client)
        if use.link_share is not None and (known is None or use.link_share > (known.link_share or 0.0)):
            fullest[use.is_client] = use
    return {f"the link of {use.name}": use.link_share for use in fullest.values()}


def _cpu_of(cell: CellResult) -> str:
    if busiest := busiest_elsewhere(cell):
        return f"the CPU of {busiest.name}"
    shared = any(not use.is_client for use in cell.hosts)
    return "the CPU of this machine, which clients and servers share" if shared else "the CPU of this host"


def _makers(cell: CellResult, machine: Machine) -> float:
    """Cores that the jobs can use: one each, within what the clients have."""
    clients = cell.together.clients if cell.together else 1
    value = cell.cell.get("numjobs", 1)
    jobs = (float(value) if isinstance(value, int | float) and value > 0 else 1.0) * clients
    if busiest_elsewhere(cell):
        return jobs
    cores = machine.client_cores * clients if machine.client_cores else machine.threads
    return min(jobs, cores or jobs)


def what_binds(cell: CellResult, results: Results) -> tuple[str, float | None]:
    """What binds, in a few words, and how far it was used up; None where nothing was, or nothing was counted."""
    shares = _shares(cell, results, machine_of(results, cell))
    if not shares:
        return "not counted", None
    binding = _used_up(shares)
    named = None if binding else named_by_counters(cell, results)
    if named is not None and named.use is not None and named.bound is not Bound.LATENCY:
        return named.use.part, named.use.share
    name = binding or max(shares, key=shares.__getitem__)
    if binding is None and shares[name] < NEAR:
        return "waiting", None
    return (name if binding else f"{NEAREST}{name}"), shares[name]


def explained(name: str) -> str:
    """What binds, as a sentence has it."""
    nearest = f"nothing used up, {name}" if name.startswith(NEAREST) else name
    return _EXPLAINED.get(name, nearest)


_EXPLAINED = {
    "waiting": "waiting for answers, with nothing that was counted used up",
    "not counted": "unknown, nothing was counted",
}


def _used_up(shares: dict[str, float]) -> str | None:
    """The first, for what proves most comes first; None where there is none."""
    return next((name for name, share in shares.items() if share >= BUSY), None)


def _opinion(shares: dict[str, float]) -> str:
    """What binds, or is nearest to it. A disk's utilisation is time with work: it proves least."""
    if not shares:
        return "too little was counted to say what binds"
    binding = _used_up(shares)
    name = binding or max(shares, key=shares.__getitem__)
    used = f"{name} ({percent(shares[name])} used)"
    if binding is not None:
        return f"most likely bound by {used}"
    if shares[name] >= NEAR:
        return f"nearest to its end is {used}, but nothing was used up"
    return (
        f"nothing that was counted was used up, most {used}: the time goes into waiting, "
        "or into a limit that is not counted here"
    )
