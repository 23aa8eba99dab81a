"""An experiment on conformance: what `leadline posix` asks of a filesystem, on every target of a campaign."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from leadline.spec.values import Count, Duration, Strict


class PosixExperiment(Strict):
    """One run of a suite on each site; its result is a document, case by case, and no rate."""

    name: str = Field(min_length=1)
    targets: tuple[str, ...] | None = Field(
        None, description="the targets it runs on, by label or name; left out: all"
    )
    engine: Literal["posix"]
    suite: Literal["rust", "c"] = Field(
        "rust", description="pjdfstest in Rust, which leadline installs, or the C original, where you have it"
    )
    checkout: str | None = Field(None, description="the built C suite (or LEADLINE_PJDFSTEST=DIR)")
    case_timeout: Duration | None = Field(None, description="when a case counts as hung")
    timeout: Duration | None = Field(
        None, description="hard limit on the suite's wall time; then it is killed and the step failed"
    )
    repeats: Count = Field(1, description="runs of the suite on each site")

    @model_validator(mode="after")
    def _has_a_suite(self) -> PosixExperiment:
        if self.checkout is not None and self.suite != "c":
            raise ValueError('has `checkout`, which is of the C suite; set suite = "c" or take it out')
        return self
