"""Generator-bound: the load generator, not the filesystem, set the figure."""

from __future__ import annotations

from leadline.analyse.results import Verdict, VerdictName
from leadline.analyse.verdicts.context import CellContext
from leadline.analyse.wording import digits, iops, percent

LARGEST_CPU_SHARE = 0.8
LARGEST_CEILING_SHARE = 0.5


def busy_jobs(context: CellContext) -> Verdict | None:
    """The jobs keep more than 80 % of a core busy each."""
    cores = context.engine_cpu_cores
    jobs = len(context.trials.first.jobs) or context.trials.jobs
    if cores is None or cores / jobs <= LARGEST_CPU_SHARE:
        return None
    share = cores / jobs
    evidence = f"the engine used {percent(share)} of a core per job (at most {percent(LARGEST_CPU_SHARE)})"
    return Verdict(VerdictName.GENERATOR_BOUND, evidence, severity=share / LARGEST_CPU_SHARE)


def busy_machine(context: CellContext) -> Verdict | None:
    """All jobs together keep more than 80 % of the cores busy that they may use."""
    cores, available = context.engine_cpu_cores, context.available_cores
    if cores is None or available is None or busy_jobs(context) is not None:
        return None
    if cores / available <= LARGEST_CPU_SHARE:
        return None
    evidence = (
        f"the engine used {digits(cores)} of {available:g} cores (at most {percent(LARGEST_CPU_SHARE)} "
        "of them)"
    )
    return Verdict(VerdictName.GENERATOR_BOUND, evidence, severity=cores / available / LARGEST_CPU_SHARE)


def near_the_ceiling(context: CellContext) -> Verdict | None:
    """More than half the operations per second that the generator makes on the null engine.

    The ceiling is one job's; jobs beyond the hardware threads cannot raise it. It is one of blocks: for names it means nothing.
    """
    ceiling = context.reference.ceiling_iops
    if not ceiling or not context.total_iops or context.trials.direction.is_phase:
        return None
    cores, jobs = context.available_cores, float(context.trials.jobs)
    makers = jobs if cores is None else min(jobs, cores)
    share = context.total_iops / (ceiling * makers)
    if share <= LARGEST_CEILING_SHARE:
        return None
    evidence = (
        f"{iops(context.total_iops)} is {percent(share)} of what the generator makes on the null engine with "
        f"{makers:g} cores, {iops(ceiling * makers)} (at most {percent(LARGEST_CEILING_SHARE)})"
    )
    return Verdict(VerdictName.GENERATOR_BOUND, evidence, severity=share / LARGEST_CEILING_SHARE)
