"""Calling `leadline-engine run` for simulations: nothing is measured, so several may run at once, one to a core."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from leadline.errors import UserError
from leadline.run.executable import engine_executable

Step = Mapping[str, Any]


def simulate_all(steps: Sequence[Step], done: Callable[[int], None]) -> list[dict[str, Any]]:
    """The outcomes in the order of the steps; `done` hears how many are. Raises UserError when the engine refuses one.

    When this is interrupted, simulations that have not begun never do, and those that have are ended.
    """
    executable, finished = str(engine_executable()), 0
    running: set[subprocess.Popen[str]] = set()
    outcomes = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        waiting = [pool.submit(_simulate, executable, step, running) for step in steps]
        try:
            for each in waiting:
                outcomes.append(each.result())
                finished += 1
                done(finished)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                process.kill()
            raise
    return outcomes


def _simulate(executable: str, step: Step, running: set[subprocess.Popen[str]]) -> dict[str, Any]:
    with subprocess.Popen(
        [executable, "run", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        running.add(process)
        try:
            printed, complaint = process.communicate(json.dumps(step))
        finally:
            running.discard(process)
    if process.returncode:
        said = complaint.strip().splitlines()
        raise UserError(
            f"the simulation was refused: {said[-1].removeprefix('leadline-engine: standard input: ') if said else 'no message'}"
        )
    return dict(json.loads(printed))
