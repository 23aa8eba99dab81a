"""Commands on this machine: heard while they run, ended when they must, and never left behind."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.run.executable import engine_executable
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed, Invocation


@pytest.fixture(autouse=True)
def _engine_is_there() -> None:
    try:
        engine_executable()
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Completed]:
    """Runs a shell command to its end."""

    def run(
        script: str,
        timeout_seconds: float = 120,
        host: LocalHost | None = None,
        lines: list[str] | None = None,
    ) -> Completed:
        invocation = Invocation(("sh", "-c", script), tmp_path, tmp_path, timeout_seconds)
        heard = lines if lines is not None else []
        return (host or LocalHost()).run(invocation, lambda pid: None, heard.append)

    return run


def gone(pid_file: Path) -> bool:
    return not Path(f"/proc/{int(pid_file.read_text())}").exists()


def test_the_exit_code_output_and_times_come_back(run: Callable[..., Completed]) -> None:
    completed = run("echo out; echo err >&2; exit 3")
    assert (completed.exit_code, completed.stdout, completed.stderr) == (3, "out\n", "err\n")
    assert (completed.timed_out, completed.interrupted, completed.reason) == (False, False, None)
    assert 0 < completed.wall_ns < 60e9


def test_lines_are_heard_while_the_command_runs(run: Callable[..., Completed], tmp_path: Path) -> None:
    """The command waits for what only a listener of its first line makes."""
    invocation = Invocation(
        ("sh", "-c", "echo first; while [ ! -e heard ]; do sleep 0.01; done; echo last"),
        tmp_path,
        tmp_path,
        20,
    )
    heard: list[str] = []

    def listen(line: str) -> None:
        heard.append(line.strip())
        (tmp_path / "heard").touch()

    completed = LocalHost().run(invocation, lambda pid: None, listen)
    assert heard == ["first", "last"]
    assert not completed.timed_out


def test_the_processor_time_of_children_is_counted(run: Callable[..., Completed]) -> None:
    completed = run(f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.2: pass'")
    assert completed.cpu_seconds is not None
    assert 0.2 <= completed.cpu_seconds < 2


def test_a_command_that_hangs_is_killed_with_children_that_left_its_process_group(
    run: Callable[..., Completed], tmp_path: Path
) -> None:
    script = "setsid sh -c 'echo $$ > child; trap \"\" TERM INT HUP; sleep 300' & trap '' TERM; sleep 300"
    for seconds in (0.5, 10, 60):  # until it has come to hang before its time was up
        assert run(script, timeout_seconds=seconds).timed_out
        if (tmp_path / "child").exists() and (tmp_path / "child").stat().st_size:
            break
    assert gone(tmp_path / "child")


def test_children_left_behind_by_a_command_that_ended_are_killed(
    run: Callable[..., Completed], tmp_path: Path
) -> None:
    completed = run(
        "setsid sh -c 'echo $$ > child; exec sleep 300' > /dev/null 2>&1 & while [ ! -s child ]; do sleep 0.01; done"
    )
    assert completed.exit_code == 0
    assert gone(tmp_path / "child")


def test_an_interrupt_reaches_the_command_which_may_still_finish_what_it_writes(
    run: Callable[..., Completed], tmp_path: Path
) -> None:
    host, lines = LocalHost(), []  # type: ignore[var-annotated]
    script = "trap 'echo bye; exit 7' INT; touch ready; while :; do sleep 0.05; done"
    interrupter = threading.Thread(target=lambda: (wait_for(tmp_path / "ready"), host.interrupt()))
    interrupter.start()
    completed = run(script, host=host, lines=lines)
    interrupter.join()
    assert completed.interrupted
    assert (completed.exit_code, lines) == (7, ["bye\n"])


def test_an_interrupt_between_two_commands_keeps_the_next_one_from_starting(
    run: Callable[..., Completed], tmp_path: Path
) -> None:
    host = LocalHost()
    host.interrupt()
    completed = run("touch started; sleep 5", host=host)
    assert completed.interrupted
    assert not (tmp_path / "started").exists()


def test_an_interrupt_while_a_command_is_being_started_ends_it(
    run: Callable[..., Completed], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, start = LocalHost(), subprocess.Popen

    def interrupted_start(*arguments: Any, **settings: Any) -> Any:
        process = start(*arguments, **settings)
        host.interrupt()
        return process

    monkeypatch.setattr("leadline.run.hosts.supervised.subprocess.Popen", interrupted_start)
    completed = run("sleep 600", host=host)
    assert completed.interrupted and not completed.timed_out


def test_a_command_that_does_not_exist_is_a_reason_and_no_exception(tmp_path: Path) -> None:
    invocation = Invocation((str(tmp_path / "nothing"),), tmp_path, tmp_path, 5)
    completed = LocalHost().run(invocation, lambda pid: None, lambda line: None)
    assert completed.reason is not None
    assert "nothing" in completed.reason
    invocation = Invocation(("true",), tmp_path, tmp_path / "missing", 5)
    assert "could not be started" in str(
        LocalHost().run(invocation, lambda pid: None, lambda line: None).reason
    )


def test_output_without_end_is_not_kept_without_end(
    run: Callable[..., Completed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leadline.run.hosts.supervised.OUTPUT_LIMIT_CHARACTERS", 1000)
    completed = run("seq 1 200000; seq 1 200000 >&2")
    assert completed.exit_code == 0
    assert len(completed.stdout) < 1100
    assert len(completed.stderr) < 1100


def test_output_that_is_no_text_is_no_reason_to_fail(run: Callable[..., Completed]) -> None:
    assert run("printf '\\377\\376'").exit_code == 0


LEADLINE_THAT_IS_KILLED = """
import sys
from pathlib import Path
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Invocation
here = Path(sys.argv[1])
LocalHost().run(Invocation(("sh", "-c", "setsid sh -c 'echo $$ > child; exec sleep 300' & sleep 300"), here, here, 300), print, print)
"""


def test_nothing_outlives_a_leadline_that_is_killed(tmp_path: Path) -> None:
    leadline = subprocess.Popen(
        [sys.executable, "-c", LEADLINE_THAT_IS_KILLED, tmp_path], stdout=subprocess.DEVNULL
    )
    wait_for(tmp_path / "child")
    leadline.send_signal(signal.SIGKILL)
    leadline.wait()
    deadline = time.monotonic() + 60
    while not gone(tmp_path / "child"):
        assert time.monotonic() < deadline, "the engine's child outlived leadline"
        time.sleep(0.02)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not (path.exists() and (path.stat().st_size or path.name == "ready")):
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)
