"""What `leadline doctor` finds: on recorded machines, with broken fios, and here."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attempts import attempts
from leadline.run.observe import capabilities
from leadline.run.observe.capabilities import examine
from leadline.run.observe.finding import Finding, State

Recorded = Callable[[str], Path]
READS_ONE = '{"jobs": [{"read": {"total_ios": 1}}]}'


def finding(findings: list[Finding], subject: str) -> Finding:
    (found,) = [item for item in findings if item.subject == subject]
    return found


def state(findings: list[Finding], subject: str) -> State:
    return finding(findings, subject).state


def fake_fio(
    directory: Path, version: str = "fio-3.33", engines: str = "io_uring libaio psync", job: str = ""
) -> str:
    """A fio that answers --version and --enghelp and then runs `job` in the shell."""
    path = directory / "fake-fio"
    listing = "\\n".join(f"\\t{name}" for name in engines.split())
    path.write_text(
        "#!/bin/sh\n"
        f'case "$1" in --version) echo {version}; exit;; '
        f"--enghelp) printf 'Available IO engines:\\n{listing}\\n'; exit;; esac\n{job}\n"
    )
    path.chmod(0o755)
    return str(path)


def test_a_server_under_power_saving_and_limits_is_judged_with_remedies(recorded: Recorded) -> None:
    findings = examine(Path("/data"), recorded("bonded_numa_server"))
    assert state(findings, "filesystem") is State.OK
    assert "nvme0n1, nvme1n1" in finding(findings, "disks").sentence
    assert "performance, powersave" in finding(findings, "CPU governor").sentence
    assert finding(findings, "CPU governor").remedy is not None
    assert "1.5 CPU cores and 0.1 GiB" in finding(findings, "control groups").sentence
    assert state(findings, "clock source") is State.LIMITED
    assert state(findings, "rights") is State.LIMITED
    assert state(findings, "namespaces") is State.LIMITED
    assert state(findings, "open files") is State.LIMITED
    assert state(findings, "load") is State.LIMITED
    assert state(findings, "steal") is State.OK
    assert all(item.sentence.endswith(".") for item in findings)


@pytest.mark.parametrize(
    ("directory", "words"),
    [
        ("/jfs", "O_DIRECT may be accepted and not honoured"),
        ("/scratch", "memory"),
        ("/home", "from filer:/export/home"),
    ],
)
def test_what_a_filesystem_means_for_figures_is_said(recorded: Recorded, directory: str, words: str) -> None:
    assert words in finding(examine(Path(directory), recorded("bonded_numa_server")), "filesystem").sentence


def test_an_overlay_in_a_virtual_machine_is_judged(recorded: Recorded) -> None:
    findings = examine(Path("/app"), recorded("limited_container"))
    assert "copies it whole" in finding(findings, "filesystem").sentence
    assert "not visible" in finding(findings, "disks").sentence
    assert state(findings, "virtual machine") is State.LIMITED
    assert state(findings, "rights") is State.OK


def test_a_good_board_is_called_good(recorded: Recorded) -> None:
    findings = examine(Path("/"), recorded("small_arm_board"))
    assert state(findings, "CPU governor") is State.OK
    assert state(findings, "clock source") is State.OK


def test_a_machine_that_shows_nothing_is_judged_without_an_error(tmp_path: Path) -> None:
    findings = examine(Path("/data"), tmp_path)
    assert state(findings, "filesystem") is State.LIMITED
    assert state(findings, "control groups") is State.MISSING


def test_a_missing_fio_is_one_finding_that_says_how_to_get_it(tmp_path: Path) -> None:
    findings = [item for item in examine(tmp_path, fio="/nowhere/fio") if item.subject.startswith("fio")]
    assert [item.state for item in findings] == [State.MISSING]
    assert "apt-get install fio" in (findings[0].remedy or "")


def test_an_engine_that_is_not_listed_is_missing_and_one_that_reads_is_ok(tmp_path: Path) -> None:
    findings = examine(tmp_path, fio=fake_fio(tmp_path, job=f"echo 'note'; echo '{READS_ONE}'"))
    assert state(findings, "fio engine psync") is State.OK
    assert state(findings, "fio engine posixaio") is State.MISSING
    assert state(findings, "fio engine nfs") is State.MISSING


def test_exit_code_zero_without_a_read_is_not_believed(tmp_path: Path) -> None:
    job = """echo '{"jobs": [{"read": {"total_ios": 0}}]}'"""
    assert state(examine(tmp_path, fio=fake_fio(tmp_path, job=job)), "fio engine psync") is State.MISSING


def test_what_fio_complains_of_is_passed_on(tmp_path: Path) -> None:
    fio = fake_fio(tmp_path, job="echo 'fio: io_queue_init failed' >&2; exit 1")
    libaio = finding(examine(tmp_path, fio=fio), "fio engine libaio")
    assert libaio.sentence == "libaio does not start: fio: io_queue_init failed."


def test_a_hung_fio_is_killed_within_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process_ids = tmp_path / "process-ids"
    fio = fake_fio(tmp_path, job=f"trap '' TERM; echo $$ >> {process_ids}; sleep 300 & wait; sleep 300")
    begun = time.monotonic()
    for seconds in (1.5, 15, 60):  # until it has come to hang before the budget was spent
        monkeypatch.setattr(capabilities, "BUDGET_SECONDS", seconds)
        findings = examine(tmp_path, fio=fio)
        if process_ids.exists() and len(process_ids.read_text().split()) >= 2:
            break
    assert time.monotonic() - begun < 250, "not the 300 s that it sleeps"
    assert finding(findings, "fio engine io_uring").sentence.endswith("it hung and was killed.")
    assert state(findings, "fio engine psync") is State.LIMITED
    assert "was not tried" in finding(findings, "fio engine psync").sentence
    assert process_ids.read_text().split()
    assert not any(Path(f"/proc/{pid}").exists() for pid in process_ids.read_text().split())


def test_quirks_are_told_for_the_versions_known_to_have_them(tmp_path: Path) -> None:
    old = finding(examine(tmp_path, fio=fake_fio(tmp_path, "fio-3.33")), "fio").sentence
    new = finding(examine(tmp_path, fio=fake_fio(tmp_path, "fio-3.39-12-gabc")), "fio").sentence
    assert "offload may hang" in old and "no percentiles" in old
    assert "offload may hang" not in new and "no percentiles" not in new


def test_a_directory_that_does_not_exist_is_said_to_be_missing(tmp_path: Path) -> None:
    findings = examine(tmp_path / "nowhere", fio="/nowhere/fio")
    assert "is not a directory that exists" in finding(findings, "directory").sentence


@pytest.mark.fio
def test_probing_this_machine_is_quick_and_leaves_nothing_behind(tmp_path: Path) -> None:
    for attempt in attempts():
        begun = time.monotonic()
        findings = examine(tmp_path)
        with attempt:
            assert time.monotonic() - begun < 6
    assert list(tmp_path.iterdir()) == []
    assert state(findings, "fio") is State.OK
    assert state(findings, "fio engine psync") is State.OK
    assert finding(findings, "direct I/O").state in (State.OK, State.MISSING)
