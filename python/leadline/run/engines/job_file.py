"""A section of a user's own fio job file, given to fio as it is; leadline adds only how results are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines.fio import RESULT, collect_fio, facts_of, now_from_eta
from leadline.run.engines.fio_capabilities import check_ioengine, installed_fio
from leadline.run.engines.fio_totals import Expectation
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place

JOB_FILE = "job.fio"


class JobFileEngine:
    """`fio --section=NAME FILE`. The conductor puts the file into the scratch folder."""

    def check(self, steps: Sequence[Step]) -> None:
        """Engines that this fio does not have; raises UserError."""
        for step in steps:
            try:
                check_ioengine(str(step.cell["ioengine"]))
            except UserError as error:
                raise UserError(f"section [{step.section}]: {error}") from None

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """The section's own options win over leadline's, except for the form of the result."""
        argv = [
            installed_fio().path, "--lat_percentiles=1", "--clat_percentiles=0", "--eta=always", "--eta-interval=500ms",
            "--output-format=json+", f"--output={scratch / RESULT}", f"--section={step.section}", str(scratch / JOB_FILE),
        ]  # fmt: skip
        by_hand = ("fio", "--output-format=json+", f"--section={step.section}", JOB_FILE)
        return Invocation(tuple(argv), scratch, place.data, step.timeout_seconds, by_hand)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Nothing is expected of it but that it did something."""
        facts = {**facts_of(step), "group_reporting": "group_reporting" in step.options}
        return collect_fio(invocation, completed, Expectation(), facts)

    def now(self, line: str) -> Now | None:
        """From fio's ETA line."""
        return now_from_eta(line)
