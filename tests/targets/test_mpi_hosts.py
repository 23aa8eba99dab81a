"""Clients started by the real mpirun, two ranks on this machine, which must be told to let them share it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from lab_parts import eventually

from attempts import attempts
from leadline.errors import UserError
from leadline.run.crews.mpi import Launcher, MpiCrew
from leadline.run.seams import Completed, Invocation

pytestmark = [
    pytest.mark.anybody,
    pytest.mark.skipif(
        importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed: pip install mpi4py"
    ),
    pytest.mark.skipif(
        shutil.which("mpirun") is None, reason="mpirun is not installed: apt-get install openmpi-bin"
    ),
]
HERE = Launcher("mpirun", (), ("--oversubscribe", "--allow-run-as-root"))


@pytest.fixture(autouse=True)
def _temporary_files_of_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What killed ranks leave goes with the test."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))


def invocations(folder: Path, timeout_seconds: float = 120, **scripts: str) -> dict[str, Invocation]:
    made = {}
    for name, script in scripts.items():
        scratch = folder / f"scratch-{name}"
        scratch.mkdir()
        (scratch / "step.json").write_text(f"for {name}")
        made[name] = Invocation(
            ("sh", "-c", script.replace("SCRATCH", str(scratch))), scratch, scratch, timeout_seconds
        )
    return made


def run(crew: MpiCrew, asked: Mapping[str, Invocation]) -> Mapping[str, Completed]:
    return crew.run(asked, lambda pid: None, lambda line: None)


def test_clients_meet_and_their_results_and_files_are_gathered(tmp_path: Path) -> None:
    """Each waits for what only the other makes: apart they would never end."""
    meet = f"touch {tmp_path}/met-OWN; while [ ! -e {tmp_path}/met-OTHER ]; do sleep 0.01; done; sleep 0.3; "
    work = "cp SCRATCH/step.json SCRATCH/copy; pwd; echo err >&2; exit "
    asked = invocations(
        tmp_path,
        a=meet.replace("OWN", "a").replace("OTHER", "b") + work + "0",
        b=meet.replace("OWN", "b").replace("OTHER", "a") + work + "3",
    )
    crew = MpiCrew(HERE)
    before = time.monotonic_ns()
    completed = run(crew, asked)
    assert [(each.exit_code, each.reason, each.stderr) for each in completed.values()] == [
        (0, None, "err\n"),
        (3, None, "err\n"),
    ]
    for name, invocation in asked.items():
        assert (invocation.scratch / "copy").read_text() == f"for {name}"
        assert str(invocation.scratch) not in completed[name].stdout, "it works in a folder of its own host"
        assert before < completed[name].started_ns < completed[name].ended_ns < time.monotonic_ns()
    assert set(crew.facts()["mpi_hosts"]) == {"a", "b"}


@pytest.mark.fio
def test_fio_runs_by_mpi(tmp_path: Path, work_directory: Path) -> None:
    asked = {}
    for name in ("a", "b"):
        scratch = tmp_path / name
        scratch.mkdir()
        (work_directory / name).mkdir()
        argv = (
            "fio",
            "--name=leadline",
            f"--directory={work_directory / name}",
            "--size=1m",
            "--rw=write",
            "--output-format=json+",
        )
        asked[name] = Invocation((*argv, f"--output={scratch}/fio.json"), scratch, scratch, 20)
    completed = run(MpiCrew(HERE), asked)
    assert [each.exit_code for each in completed.values()] == [0, 0]
    assert all('"jobs"' in (each.scratch / "fio.json").read_text() for each in asked.values())


def test_a_client_that_cannot_start_keeps_the_others_from_starting(tmp_path: Path) -> None:
    asked = invocations(tmp_path, a=f"touch {tmp_path}/ran", b="")
    asked["b"] = Invocation(("no-such-program",), asked["b"].scratch, asked["b"].scratch, 20)
    completed = run(MpiCrew(HERE), asked)
    assert completed["a"].reason == "it was not started, because another client could not be"
    assert "no-such-program was not found" in str(completed["b"].reason)
    assert not (tmp_path / "ran").exists()


def test_a_client_that_takes_too_long_is_ended_on_its_host(tmp_path: Path) -> None:
    asked = invocations(tmp_path, a="true", b="sleep 600")
    asked["b"] = replace(asked["b"], timeout_seconds=0.5)
    completed = run(MpiCrew(HERE), asked)
    assert (completed["a"].exit_code, completed["b"].timed_out) == (0, True)


def test_a_rank_that_dies_is_a_reason_for_everyone(tmp_path: Path) -> None:
    asked = invocations(tmp_path, a="sleep 600", b=f"echo $PPID > {tmp_path}/supervisor; sleep 600")
    killer = threading.Thread(target=lambda: _kill_parent_of(tmp_path / "supervisor"))
    killer.start()
    completed = run(MpiCrew(HERE), asked)
    killer.join()
    for each in completed.values():
        assert "rank 1" in str(each.reason) and not each.timed_out, (
            "nobody waits until it would have been over"
        )
        assert "\n" not in str(each.reason)


def test_an_interrupt_ends_all_ranks(tmp_path: Path) -> None:
    crew, asked = (
        MpiCrew(HERE),
        invocations(tmp_path, a=f"echo $$ > {tmp_path}/pid; sleep 600", b="sleep 600"),
    )
    interrupter = threading.Thread(
        target=lambda: (eventually(lambda: _filled(tmp_path / "pid")), crew.interrupt())
    )
    interrupter.start()
    completed = run(crew, asked)
    interrupter.join()
    assert all(each.interrupted for each in completed.values())
    assert eventually(lambda: not psutil.pid_exists(int((tmp_path / "pid").read_text())))


LEADLINE_THAT_IS_KILLED = """
import sys
from pathlib import Path
from leadline.run.crews.mpi import Launcher, MpiCrew
from leadline.run.seams import Invocation
here = Path(sys.argv[1])
asked = {}
for name in ("a", "b"):
    (here / name).mkdir()
    script = f"setsid sh -c 'echo $$ > {here}/child-{name}; exec sleep 300' & sleep 300"
    asked[name] = Invocation(("sh", "-c", script), here / name, here, 300)
MpiCrew(Launcher("mpirun", (), ("--oversubscribe", "--allow-run-as-root"))).run(asked, print, print)
"""


def test_nothing_outlives_a_leadline_that_is_killed(tmp_path: Path) -> None:
    leadline = subprocess.Popen(
        [sys.executable, "-c", LEADLINE_THAT_IS_KILLED, tmp_path], stdout=subprocess.DEVNULL
    )
    children = [tmp_path / f"child-{name}" for name in ("a", "b")]
    assert eventually(lambda: all(_filled(child) for child in children))
    leadline.send_signal(signal.SIGKILL)
    leadline.wait()
    assert eventually(lambda: not any(psutil.pid_exists(int(child.read_text())) for child in children))


def test_an_interrupt_leaves_no_folder_behind(tmp_path: Path) -> None:
    for number, attempt in enumerate(attempts()):
        here = tmp_path / str(number)
        here.mkdir()
        crew, asked = MpiCrew(HERE), invocations(here, a=f"echo $$ > {here}/pid; sleep 600", b="sleep 600")
        interrupter = threading.Thread(
            target=lambda crew=crew, pid=here / "pid": (eventually(lambda: _filled(pid)), crew.interrupt())  # type: ignore[misc]
        )
        interrupter.start()
        run(crew, asked)
        interrupter.join()
        left = list((tmp_path / "temporary").glob("leadline-mpi-*"))
        for folder in left:
            shutil.rmtree(folder)
        with attempt:  # mpirun gives a rank one second to tidy up, and then kills it
            assert left == []


def test_the_command_lines_of_both_launchers_place_one_rank_on_a_host() -> None:
    assert Launcher("mpirun", ("n1", "n2", "n3")).argv(2) == (
        "mpirun", "-np", "2", "--host", "n1,n2", "--map-by", "ppr:1:node",
    )  # fmt: skip
    assert Launcher("srun").argv(4) == (
        "srun", "--nodes", "4", "--ntasks", "4", "--ntasks-per-node=1", "--kill-on-bad-exit=1", "--overlap",
    )  # fmt: skip
    assert Launcher("srun", (), ("--mpi=pmix",)).argv(1)[-2:] == ("--overlap", "--mpi=pmix")
    assert Launcher("srun", (), ("--ntasks-per-node=2",)).argv(2)[-2:] == ("2", "--ntasks-per-node=2")
    with pytest.raises(UserError, match="mpirun or srun; did you mean"):
        Launcher("mpirum").argv(1)


def test_a_launcher_that_is_missing_is_one_sentence(tmp_path: Path) -> None:
    completed = run(MpiCrew(Launcher("/no/such/mpirun")), invocations(tmp_path, a="true"))
    assert "/no/such/mpirun" in str(completed["a"].reason)


def _filled(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _kill_parent_of(path: Path) -> None:
    """The rank is the parent of the supervisor."""
    assert eventually(lambda: _filled(path))
    os.kill(psutil.Process(int(path.read_text())).ppid(), signal.SIGKILL)
