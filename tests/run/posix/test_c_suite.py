"""The C suite's scripts run and judged, on a stand-in checkout: scripts that speak TAP as the real ones do."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.run.posix.c_suite import CSuite, find_checkout
from leadline.store.conformance import Outcome

SCRIPTS = {
    "mkdir/00.t": 'dir=`dirname $0`\n. ${dir}/../misc.sh\necho "1..2"\nmkdir x && echo "ok 1"\nrmdir x && echo "ok 2"\n',
    "chflags/00.t": 'echo "1..1"\necho "ok 1"\nexit 0\n',
    "chmod/00.t": 'echo "1..2"\necho "ok 1"\necho "not ok 2 - tried \'chmod x 0644\', expected 0, got EPERM"\n',
    "link/00.t": 'echo "1..1"\necho "not ok 1 # TODO Linux: known"\n',
    "open/00.t": 'echo "1..3"\necho "ok 1"\necho "openssl: not found" >&2\nexit 1\n',
    "rename/00.t": "sleep 60\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "pjdfstest"
    for name, text in SCRIPTS.items():
        path = folder / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}")
    (folder / "tests" / "misc.sh").write_text("# what all scripts share\n")
    (folder / "pjdfstest").write_text("#!/bin/sh\n")
    (folder / "pjdfstest").chmod(0o755)
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


def test_every_script_is_a_case(checkout: Path) -> None:
    assert list(CSuite(checkout).names) == sorted(SCRIPTS)


def test_a_script_works_in_the_directory_and_passes_when_all_assertions_hold(
    checkout: Path, work: Path
) -> None:
    case = CSuite(checkout).run("mkdir/00.t", work)
    assert (case.outcome, case.assertions, case.failed_assertions) == (Outcome.PASSED, 2, 0)
    assert case.seconds > 0
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("chflags/00.t", Outcome.NOT_APPLICABLE, "tests nothing on this system"),
        ("chmod/00.t", Outcome.FAILED, "tried 'chmod x 0644', expected 0, got EPERM"),
        ("link/00.t", Outcome.PASSED, ""),
        ("open/00.t", Outcome.FAILED, "it broke off: 1 assertions, 3 planned; openssl: not found"),
        ("rename/00.t", Outcome.FAILED, "did not end within 0.2 s"),
    ],
)
def test_a_script_is_judged_by_its_assertions(
    checkout: Path, work: Path, name: str, outcome: Outcome, reason: str
) -> None:
    case = CSuite(checkout, script_seconds=0.2 if name == "rename/00.t" else 20).run(name, work)
    assert case.outcome is outcome
    assert reason in case.reason


def test_the_checkout_is_named_by_option_or_environment(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEADLINE_PJDFSTEST", raising=False)
    assert find_checkout(checkout) == checkout
    with pytest.raises(UserError, match="does not come with leadline"):
        find_checkout(None)
    monkeypatch.setenv("LEADLINE_PJDFSTEST", str(checkout))
    assert find_checkout(None) == checkout
    with pytest.raises(UserError, match="is no checkout of pjdfstest"):
        find_checkout(tmp_path)


def test_a_checkout_that_is_not_built_is_refused(checkout: Path) -> None:
    (checkout / "pjdfstest").unlink()
    with pytest.raises(UserError, match="is not built yet"):
        find_checkout(checkout)
