"""What the steps of a run need of the machines that carry them out: asked for before anything is brought up, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.observe.caches import DROP_CACHES, reason_caches_stay
from leadline.run.posix.c_suite import find_checkout
from leadline.run.posix.installation import check_installable

OF_FIO = frozenset({"fio", "job file"})
"""Engines that run fio."""


@dataclass(frozen=True)
class Needs:
    """Of every machine that carries out steps."""

    fio: bool = True
    cache_drops_of: str = ""
    """The experiment of which each client drops its caches itself; empty where none does."""


FOR_DATA = Needs()
"""Of campaigns that move data, which is what there is without any other word."""


def needs_of(steps: Iterable[Step]) -> Needs:
    """Over all steps."""
    several = tuple(steps)
    dropping = (step.experiment for step in several if step.cell.get("drop_caches"))
    return Needs(any(step.engine in OF_FIO for step in several), next(dropping, ""))


def check_cache_drops(needs: Needs, where: str = "", writable: Callable[[], bool] | None = None) -> None:
    """Raises UserError where an experiment drops caches and this machine, or the host named by `where`, does not let us."""
    may = writable or (lambda: reason_caches_stay() is None)
    if needs.cache_drops_of and not may():
        on = f" on {where}" if where else ""
        raise UserError(
            f'experiment "{needs.cache_drops_of}" has drop_caches, and {DROP_CACHES} cannot be written{on}; '
            "run it as root there, or take drop_caches out and use rank_shift"
        )


def check_suites(steps: Iterable[Step]) -> None:
    """Whether the conformance suites of the steps are here or can be built; raises UserError."""
    for step in steps:
        if step.engine == "posix" and step.cell["suite"] == "c":
            checkout = step.options.get("checkout")
            find_checkout(Path(checkout) if checkout else None)
        elif step.engine == "posix":
            check_installable()
