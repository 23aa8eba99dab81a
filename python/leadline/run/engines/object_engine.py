"""The object engine: `leadline objbench` as steps of a campaign. A load is measured, the functional checks end in a document.

Keys go through the engine's environment, and nowhere else: the step is a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.plan.objects import BIG_CHECK_BYTES
from leadline.plan.steps import Step
from leadline.run.engines import object_store
from leadline.run.engines.engine_process import invocation_of, result_of
from leadline.run.object_steps import described, environment, in_words
from leadline.run.seams import Bucket, Completed, Invocation, Now, Outcome, Place
from leadline.store.object_checks import DOCUMENT, Check, ObjectChecks, checks_text


class ObjectEngine:
    """Requests to an object store."""

    def check(self, steps: Sequence[Step]) -> None:
        """Whether a store answers is found out when it is reached."""

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """Raises UserError for what the store has not."""
        bucket = place.bucket
        if bucket is None:
            raise UserError(f'experiment "{step.experiment}" is on objects, and there is no store')
        if step.cell.get("part_size") and bucket.store.scheme == "fs":
            raise UserError(
                f"objects in {bucket.store.shown} are files, which have no parts; take `part_size` out there"
            )
        document = {**_fields(step, bucket), "store": described(bucket.store)}
        if step.clients > 1:  # they wait for each other before each kind of request
            document["external_barriers"] = True
        invocation = invocation_of(document, scratch, step.timeout_seconds)
        return replace(invocation, environment=environment(bucket.store), takes_answers=step.clients > 1)

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """A kind of request without a single success makes the step fail; single failures stay out of the rates."""
        result, reason = result_of(completed)
        raw = {"engine.json": completed.stdout.encode()}
        if result is None:
            return Outcome(reason=in_words(str(reason)), raw=raw)
        if step.files == "checks":
            found = tuple(
                Check(each["name"], each["result"], each["reason"] or "") for each in result["checks"]
            )
            label = str(step.cell.get("target", step.site.label or step.site.target))
            return Outcome(raw=raw, documents={DOCUMENT: checks_text(ObjectChecks(label, found))})
        return Outcome(
            measurements=tuple(object_store.measurements(result)),
            jobs=object_store.jobs(result),
            throughput=object_store.series(result),
            warnings=tuple(dict.fromkeys(object_store.warnings(result))),
            reason=object_store.fault(result),
            raw=raw,
            facts=object_store.facts(result),
        )

    def now(self, line: str) -> Now | None:
        """It prints its result only."""
        return None


def _fields(step: Step, bucket: Bucket) -> dict[str, Any]:
    """What the engine is asked to do."""
    if step.files == "checks":
        return {"workload": "object_checks", "folder": bucket.folder, "big_object_bytes": BIG_CHECK_BYTES}
    return object_store.step_of(step.cell, bucket.folder, len(os.sched_getaffinity(0)), step.seed)
