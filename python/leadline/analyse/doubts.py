"""The box "What not to trust here, and why": every verdict passed, and what limits the run as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from leadline.analyse.machine import Machine
from leadline.analyse.results import CellResult, Doubt, Results, Site, Verdict, VerdictName
from leadline.analyse.wording import is_set, listed, percent, settings
from leadline.store.records import StepKind, StepRecord

COARSE_NOISE = 0.10


def collect_doubts(results: Results, records: Sequence[StepRecord], machine: Machine) -> tuple[Doubt, ...]:
    """Verdicts first, then gaps, then what the run and the machine cannot show."""
    return (
        *_of_verdicts(results.cells),
        *_of_gaps(results),
        *_of_precision(results),
        *_of_caches(records),
        *_of_scale(results),
        *_of_machine(results, machine),
        *_of_inventory(results),
    )


def _of_verdicts(cells: Sequence[CellResult]) -> Iterable[Doubt]:
    """One for each verdict name present, with the worst evidence."""
    found: dict[VerdictName, list[tuple[CellResult, Verdict]]] = {}
    for cell in cells:
        for verdict in cell.verdicts:
            found.setdefault(verdict.name, []).append((cell, verdict))
    for name in VerdictName:
        if name in found:
            touched = len({id(cell) for cell, _ in found[name]})
            cell, worst = max(found[name], key=lambda pair: pair[1].severity)
            place = ", ".join(filter(None, (cell.test, settings(cell.cell))))
            yield Doubt(name, f"Worst: {place}: {worst.evidence}.", touched)


def _of_gaps(results: Results) -> Iterable[Doubt]:
    if results.failed:
        first = results.failed[0]
        sentence = (
            f"{_steps(len(results.failed))} gave no figure. First: {first.experiment}, "
            f"{settings(first.cell)}: {first.reason}."
        )
        yield Doubt("failed", sentence, len(results.failed))
    if results.missing_cells:
        sentence = (
            f"{results.missing_cells} of {_cells(results.planned_cells)} planned were not measured: "
            "the run was stopped."
        )
        yield Doubt("missing", sentence, results.missing_cells)


def _of_precision(results: Results) -> Iterable[Doubt]:
    """How small a difference this run can show."""
    noise, single = results.reference.noise_floor, sum(cell.repeats == 1 for cell in results.cells)
    coarse = [cell.noise_floor for cell in results.cells if (cell.noise_floor or 0.0) > COARSE_NOISE]
    if noise is not None and coarse:
        worst = "" if len(results.reference.noise_floors) < 2 else " at the worst place"
        sentence = (
            f"The same cell differs from itself by {percent(noise)}{worst} over "
            f"{results.reference.noise_repeats} repeats: "
            "smaller differences mean nothing."
        )
        yield Doubt("coarse noise floor", sentence, len(coarse))
    if noise is None and results.cells:
        sentence = (
            "How much this machine differs from itself was not measured: small differences may be noise."
        )
        yield Doubt("unknown noise floor", sentence, len(results.cells))
    if single:
        sentence = "They ran once: their intervals know nothing of what changes between runs."
        yield Doubt("no repeats", sentence, single)


def _of_caches(records: Sequence[StepRecord]) -> Iterable[Doubt]:
    refused = [
        r for r in records if r.kind is StepKind.CELL and r.facts.get("caches") == "drop not permitted"
    ]
    if refused:
        reason = refused[0].facts.get("caches_reason") or "not permitted"
        yield Doubt(
            "caches kept",
            f"Caches could not be dropped before {_steps(len(refused))}: {reason}.",
            len(refused),
        )
    stated = sum(bool(record.facts.get("stated_rates_only")) for record in records)
    if stated:
        sentence = (
            f"{_cells(stated)} hold figures as their source states them: without counts there is no n "
            "and no interval."
        )
        yield Doubt("stated figures", sentence, stated)


def _of_scale(results: Results) -> Iterable[Doubt]:
    if results.manifest.scale not in ("1", "1/1", ""):
        effects = "; ".join(results.manifest.scale_effects)
        sentence = f"Sizes were scaled by {results.manifest.scale}" + (f": {effects}." if effects else ".")
        yield Doubt("scaled", sentence, len(results.cells))


def _of_sites(results: Results, machine: Machine) -> Iterable[Doubt]:
    """What the targets themselves cannot show; each is said once, of all targets that share it."""
    sites = results.sites or (Site("", machine, {}),)
    for name, sentence, applies in _SITE_DOUBTS:
        touched = [site for site in sites if applies(site.machine)]
        cells = _cells_on(results, touched)
        if name == O_DIRECT_ON_FUSE:
            cells = [cell for cell in cells if is_set(cell.cell.get("direct", False))]
            touched = touched if cells else []
        if touched:
            kinds = listed(dict.fromkeys(str(site.machine.filesystem) for site in touched))
            yield Doubt(name, sentence.format(kinds), len(cells))


def _cells_on(results: Results, sites: Sequence[Site]) -> list[CellResult]:
    targets = {site.target for site in sites}
    return [cell for cell in results.cells if str(cell.cell.get("target", "")) in targets]


O_DIRECT_ON_FUSE = "O_DIRECT on FUSE"
_SITE_DOUBTS: tuple[tuple[str, str, Callable[[Machine], bool]], ...] = (
    ("in memory", "{} lives in memory: no storage was measured.", lambda machine: machine.is_memory),
    (
        "overlay",
        "The directory lies on {}fs: the figures include its copy-up and its lower layers.",
        lambda machine: machine.filesystem == "overlay",
    ),
    (
        O_DIRECT_ON_FUSE,
        "FUSE filesystems may accept O_DIRECT and cache all the same: {}.",
        lambda machine: machine.is_fuse,
    ),
)


def _of_inventory(results: Results) -> Iterable[Doubt]:
    """What the campaign's sheets promise and the machine is not, or does not tell."""
    off = [each for each in results.environment.get("inventory", ()) if each.get("state") != "ok"]
    if off:
        sentences = " ".join(f"{each['subject']}: {each['sentence']}" for each in off)
        yield Doubt("not as nominal", sentences, len(results.cells))


def _of_machine(results: Results, machine: Machine) -> Iterable[Doubt]:
    yield from _of_sites(results, machine)
    shared = sum(any(not use.is_client for use in cell.hosts) for cell in results.cells)
    if shared:
        sentence = (
            "Clients and servers share the processors, disks and memory of this machine: such figures compare "
            "systems with each other here, and predict no cluster."
        )
        yield Doubt("one machine", sentence, shared)
    if machine.is_virtual:
        yield Doubt(
            "virtual machine",
            "A virtual machine: its neighbours and the host's caches are not seen from here.",
            len(results.cells),
        )


def _cells(number: int) -> str:
    return f"{number:,} cell" + ("" if number == 1 else "s")


def _steps(number: int) -> str:
    return f"{number:,} step" + ("" if number == 1 else "s")
