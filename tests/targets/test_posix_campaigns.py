"""Conformance in a campaign: really run on targets of the lab, kept in the run, resumed after a kill, and laid out in the report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.expectations.known import suite_cases
from leadline.run.posix.installation import program_path
from leadline.store.conformance import Outcome, conformance_of
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
CAMPAIGN = """
name = "right"
target = ["tmpfs", "xfs"]
order = "as written"
[[experiment]]
name = "conformance"
engine = "posix"
"""


@pytest.fixture(autouse=True)
def built() -> None:
    if not program_path().exists():
        pytest.skip(
            "pjdfstest is not built here yet: leadline posix DIR builds it, with cargo, from crates.io"
        )


@pytest.fixture(autouse=True)
def reachable(tmp_path: Path) -> None:
    """The suite becomes ordinary users, who have to pass through pytest's closed folders."""
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o011)


def test_every_target_is_tested_whole_and_stands_in_one_matrix(leadline: Leadline, tmp_path: Path) -> None:
    path, run = tmp_path / "right.toml", tmp_path / "run"
    path.write_text(CAMPAIGN)
    done = leadline("run", path, "--output", run)
    assert done.returncode == 0, done.stderr
    records = RunFolder.open(run).records()
    assert [record.reason for record in records] == [None, None]
    found = [conformance_of(record.documents["posix"], "a step") for record in records]
    assert [one.label for one in found] == ["tmpfs", "xfs"]
    for one in found:
        assert len(one.cases) == len(suite_cases())
        tested = [case for case in one.cases if "::erofs_" in case.name]
        assert {case.outcome for case in tested} == {Outcome.PASSED}, "its mount was turned read-only"
    told = " ".join(done.stdout.split())
    assert "POSIX, pjdfstest 0.2.2 (Rust): no case failed on tmpfs" in told
    page = (run / "report.html").read_text()
    assert '<th scope="col">tmpfs</th><th scope="col">xfs</th>' in page
    shown = json.loads(leadline("show", "--json", run).stdout)["runs"][0]
    assert [one["label"] for one in shown["conformance"]] == ["tmpfs", "xfs"]
    assert shown["failed"] == [] and shown["missing_cells"] == 0


def a_case_is_at_work(lab: Path) -> bool:
    """os.walk does not mind what goes while it looks."""
    return any(
        folder.endswith("/leadline-posix/w") and (inside or names) for folder, inside, names in os.walk(lab)
    )


def test_killed_in_a_case_it_is_resumed_and_what_was_finished_is_kept(
    leadline: Leadline, argv: Callable[..., list[str]], tmp_path: Path
) -> None:
    path, run = tmp_path / "right.toml", tmp_path / "run"
    path.write_text(CAMPAIGN.replace('"tmpfs", "xfs"', '"tmpfs"').replace("[[", "baselines = false\n[["))
    with subprocess.Popen(
        argv("run", path, "--output", run), cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 60
        while not a_case_is_at_work(tmp_path / "labs" / "tmpfs"):
            assert time.monotonic() < deadline, "no case was ever run"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    resumed = leadline("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stderr
    (record,) = RunFolder.open(run).records()
    assert record.reason is None and set(record.documents) == {"posix"}
    assert not (tmp_path / "labs/tmpfs").exists() or not list(tmp_path.glob("labs/tmpfs/mount/*"))
