"""fio's own servers: what comes home a client, and what happens when one does not come home."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from attempts import attempts
from leadline.errors import UserError
from leadline.formats import fio_json, fio_log
from leadline.run.crews.fio_server_files import is_listening, job_file
from leadline.run.crews.fio_servers import FioServers, Server
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Completed, Invocation

pytestmark = pytest.mark.fio
Table = Mapping[str, Invocation]


@pytest.fixture
def ports() -> list[int]:
    """Two that nobody uses."""
    several = [socket.socket() for _ in range(2)]
    for each in several:
        each.bind(("127.0.0.1", 0))
    free = [each.getsockname()[1] for each in several]
    for each in several:
        each.close()
    return free


@pytest.fixture
def servers(ports: list[int]) -> list[Server]:
    return [
        Server(name, LocalHost(), "127.0.0.1", port) for name, port in zip(("a", "b"), ports, strict=True)
    ]


def invocations(folder: Path, runtime_seconds: float = 1.0, **more: str) -> dict[str, Invocation]:
    """As the fio engine makes them."""
    made = {}
    for name in ("a", "b"):
        data, scratch = folder / f"data-{name}", folder / f"scratch-{name}"
        data.mkdir()
        scratch.mkdir()
        options = {
            "directory": data, "filename_format": "$jobnum.$filenum", "rw": "write", "bs": "64k", "size": "4m", "numjobs": 2,
            "ioengine": "psync", "runtime": f"{round(runtime_seconds * 1e6)}us", "time_based": 1, "lat_percentiles": 1,
            "clat_percentiles": 0, "write_bw_log": scratch / "throughput", "log_avg_msec": 100, **more,
        }  # fmt: skip
        words = [f"--{option}={value}" for option, value in options.items()]
        command = ("--output-format=json+", f"--output={scratch / 'fio.json'}", "--eta=always")
        argv = ("fio", "--name=leadline", *words, *command)
        made[name] = Invocation(argv, scratch, data, 120)
    return made


def run(
    crew: FioServers, asked: Table, on_start: Callable[[int], None] = lambda pid: None
) -> Mapping[str, Completed]:
    return crew.run(asked, on_start, lambda line: None)


def test_every_client_has_its_own_result_as_if_it_had_run_alone(
    tmp_path: Path, servers: list[Server]
) -> None:
    crew, asked = FioServers(servers, LocalHost()), invocations(tmp_path)
    completed = run(crew, asked)
    for name, invocation in asked.items():
        assert (completed[name].reason, completed[name].exit_code) == (None, 0)
        output = fio_json.parse((invocation.scratch / "fio.json").read_text())
        assert len(output.jobs) == 2
        latencies = [part.latency for job in output.jobs for part in job.measurements]
        assert all(each.histogram is not None and each.histogram.total == each.count for each in latencies)
        assert completed[name].cpu_seconds


def test_files_have_the_names_that_later_cells_look_for(tmp_path: Path, servers: list[Server]) -> None:
    run(FioServers(servers, LocalHost()), invocations(tmp_path))
    assert sorted(path.name for path in (tmp_path / "data-a").iterdir()) == ["0.0", "1.0"]


def test_logs_come_home_and_tell_when_each_client_worked(tmp_path: Path, servers: list[Server]) -> None:
    for number, attempt in enumerate(attempts()):
        folder = tmp_path / str(number)
        folder.mkdir()
        crew, asked = FioServers(servers, LocalHost()), invocations(folder)
        before = time.monotonic_ns()
        completed = run(crew, asked)
        after = time.monotonic_ns()
        for name, invocation in asked.items():
            logs = sorted(path.name for path in invocation.scratch.glob("*.log*"))
            assert logs == ["throughput_bw.1.log", "throughput_bw.2.log"]
            assert before < completed[name].started_ns < completed[name].ended_ns < after
            assert completed[name].wall_ns < after - before
        with attempt:  # of a second in which nothing was done there is no line
            assert crew.facts()["windows_unknown"] == []
            for name, invocation in asked.items():
                (series,) = fio_log.parse((invocation.scratch / log).read_text() for log in logs)
                assert 0 < series.times_ns[0] <= series.times_ns[-1] and series.times_ns[-1] > 0.5e9
                assert completed[name].wall_ns > 0.5e9


def test_a_client_that_vanishes_has_a_reason_and_the_others_their_results(
    tmp_path: Path, servers: list[Server]
) -> None:
    asked, started = invocations(tmp_path), []  # type: ignore[var-annotated]
    asked["b"] = replace(asked["b"], argv=(*asked["b"].argv, "--runtime=100s"))

    def kill_b_at_work() -> None:
        """The server, what it forked for the connection and two jobs, not its supervisor."""
        deadline, family = time.monotonic() + 60, []
        while len(family) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
            with contextlib.suppress(psutil.NoSuchProcess):  # a has done its part
                family = next(
                    (each for each in map(family_of, tuple(started)) if serves(each, servers[1])), []
                )
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):  # its supervisor was quicker
                process.kill()

    threading.Thread(target=kill_b_at_work).start()
    completed = run(FioServers(servers, LocalHost()), asked, started.append)
    assert completed["a"].reason is None and "vanished" in str(completed["b"].reason)
    assert len(fio_json.parse((asked["a"].scratch / "fio.json").read_text()).jobs) == 2
    assert not (asked["b"].scratch / "fio.json").exists()


def family_of(supervisor: int) -> list[psutil.Process]:
    return psutil.Process(supervisor).children(recursive=True)


def serves(family: list[psutil.Process], server: Server) -> bool:
    return any(str(server.port) in word for process in family[:1] for word in process.cmdline())


def test_a_port_that_is_taken_is_one_sentence_and_nothing_runs(
    tmp_path: Path, servers: list[Server], ports: list[int]
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", ports[1]))
        other.listen()
        completed = run(FioServers(servers, LocalHost()), invocations(tmp_path))
    assert all(
        f"port {ports[1]} of 127.0.0.1 (b) is taken" in str(each.reason) for each in completed.values()
    )
    assert not list((tmp_path / "data-a").iterdir())


def test_no_server_outlives_its_step(tmp_path: Path, servers: list[Server]) -> None:
    started: list[int] = []
    run(FioServers(servers, LocalHost()), invocations(tmp_path), started.append)
    assert len(started) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)
    table = Path("/proc/net/tcp").read_text()
    assert not any(is_listening(table, each.address, each.port) for each in servers)


LEADLINE_THAT_IS_KILLED = """
import sys
from pathlib import Path
from leadline.run.crews.fio_servers import FioServers, Server
from leadline.run.hosts.local import LocalHost
from leadline.run.seams import Invocation
here, port = Path(sys.argv[1]), int(sys.argv[2])
words = ("fio", "--name=leadline", f"--directory={here}", "--size=1m", "--rw=write", "--time_based=1", "--runtime=60s", "--numjobs=2")
crew = FioServers([Server("a", LocalHost(), "127.0.0.1", port)], LocalHost())
crew.run({"a": Invocation(words, here, here, 90)}, lambda pid: print(pid, flush=True), lambda line: None)
"""


def test_nothing_outlives_a_leadline_that_is_killed(work_directory: Path, ports: list[int]) -> None:
    argv = [sys.executable, "-c", LEADLINE_THAT_IS_KILLED, work_directory, str(ports[0])]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as leadline:
        assert leadline.stdout is not None
        supervisor = psutil.Process(int(leadline.stdout.readline()))
        deadline = time.monotonic() + 60
        while len(family := supervisor.children(recursive=True)) < 4:  # server, connection, two jobs
            assert time.monotonic() < deadline
            time.sleep(0.02)
        leadline.kill()
    _, alive = psutil.wait_procs([supervisor, *family], timeout=60)
    assert alive == []


def test_an_interrupt_ends_the_step_soon(tmp_path: Path, servers: list[Server]) -> None:
    crew = FioServers(servers, LocalHost())
    threading.Timer(1.0, crew.interrupt).start()
    begun = time.monotonic()
    completed = run(crew, invocations(tmp_path, runtime_seconds=100))
    assert time.monotonic() - begun < 60
    assert all(each.interrupted for each in completed.values())


def test_another_program_than_fio_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="only the cells of fio"):
        job_file(Invocation(("leadline-engine", "run", "step.json"), tmp_path, tmp_path, 1))
    with pytest.raises(UserError, match="only the cells of fio"):
        job_file(Invocation(("/usr/bin/fio", "--section=a", "job.fio"), tmp_path, tmp_path, 1))


def test_a_listening_socket_is_told_from_a_connection_and_from_another_address() -> None:
    table = "head\n 0: 0100007F:223D 00000000:0000 0A 0\n 1: 0200007F:223E 0100007F:1000 01 0\n 2: 00000000:0016 00000000:0000 0A 0\n"
    assert is_listening(table, "127.0.0.1", 8765)
    assert not is_listening(table, "127.0.0.2", 8765)
    assert not is_listening(table, "127.0.0.2", 8766)
    assert is_listening(table, "10.0.0.1", 22)
