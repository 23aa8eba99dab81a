"""Hosts reached by the real OpenSSH: what is asked of them is done there, and nothing is left on them whatever happens."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lab_parts import eventually
from ssh_parts import Remote, make_user_key, start_remote, user_config

from attempts import attempts
from leadline.errors import UserError
from leadline.run.crews.fio_servers import FioServers, Server
from leadline.run.crews.mpi import Launcher, MpiCrew
from leadline.run.crews.together import Together
from leadline.run.executable import engine_executable
from leadline.run.hosts import ssh_connection
from leadline.run.hosts.check_host import check_host
from leadline.run.hosts.namespace import NamespaceHost
from leadline.run.hosts.ssh import SshHost
from leadline.run.lab.faults import cut_link
from leadline.run.lab.journal import Journal
from leadline.run.lab.network import Network, make_network
from leadline.run.lab.state import lab_state
from leadline.run.seams import Client, Completed, Invocation

pytestmark = pytest.mark.skipif(
    not shutil.which("sshd", path="/usr/sbin:/usr/bin"), reason="sshd is not installed"
)


@pytest.fixture
def network(journal: Journal) -> Network:
    return make_network(journal, lab_state("ssh").prefix, 3)


@pytest.fixture
def remotes(network: Network, tmp_path: Path) -> Iterator[list[Remote]]:
    folder = tmp_path / "ssh"
    folder.mkdir()
    make_user_key(folder)
    several = [start_remote(folder, host) for host in network.hosts[:2]]
    yield several
    for remote in several:
        remote.server.terminate()
        remote.server.wait()


@pytest.fixture
def config(network: Network, remotes: list[Remote], tmp_path: Path) -> Path:
    return user_config(tmp_path / "ssh", remotes, network.hosts[2])


@pytest.fixture
def hosts(remotes: list[Remote], config: Path) -> Iterator[list[SshHost]]:
    several = [SshHost(remote.name, config) for remote in remotes]
    yield several
    for host in several:
        host.close()


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    path = tmp_path / "scratch"
    path.mkdir()
    return path


def run(host: SshHost, scratch: Path, *argv: str, timeout_seconds: float = 120) -> Completed:
    return host.run(
        Invocation(argv, scratch, Path("/"), timeout_seconds), lambda pid: None, lambda line: None
    )


def test_a_command_runs_there_and_its_output_and_times_come_back(hosts: list[SshHost], scratch: Path) -> None:
    before = time.monotonic_ns()
    completed = run(hosts[0], scratch, "sh", "-c", "ip -brief addr show v0; echo err >&2; sleep 0.2; exit 3")
    assert (completed.exit_code, completed.reason) == (3, None)
    assert "10.77.1.1/24" in completed.stdout
    assert completed.stderr == "err\n"
    assert 0.2e9 < completed.wall_ns < time.monotonic_ns() - before
    known_to_within_ns = hosts[0].start_known_to_within_ns  # by the way of the word that starts it
    assert before < completed.started_ns < completed.ended_ns < time.monotonic_ns() + known_to_within_ns


def test_a_leadline_that_stands_still_after_the_word_to_start_knows_when_it_started(
    hosts: list[SshHost], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = hosts[0]._order

    def order_and_stand_still(word: bytes) -> None:
        order(word)
        time.sleep(1)

    monkeypatch.setattr(hosts[0], "_order", order_and_stand_still)
    completed = run(hosts[0], scratch, "sleep", "0.9")
    assert completed.ended_ns < time.monotonic_ns() + hosts[0].start_known_to_within_ns


def test_files_travel_both_ways_under_the_name_they_have_here(hosts: list[SshHost], scratch: Path) -> None:
    (scratch / "step.json").write_text("asked")
    content = bytes(range(256)) * 2000
    (scratch / "large").write_bytes(content)
    script = f"cp {scratch}/large {scratch}/copy && mkdir {scratch}/logs && cat {scratch}/step.json > {scratch}/logs/one; pwd"
    completed = hosts[0].run(
        Invocation(("sh", "-c", script), scratch, scratch, 20), lambda pid: None, lambda line: None
    )
    assert completed.exit_code == 0
    assert (scratch / "copy").read_bytes() == content
    assert (scratch / "logs" / "one").read_text() == "asked"
    assert str(scratch) not in completed.stdout, "it works in a folder of its own there"


def test_lines_are_heard_while_the_command_runs(hosts: list[SshHost], scratch: Path, tmp_path: Path) -> None:
    """Also those that end as fio's do, with a carriage return. The command waits for what only a listener makes."""
    heard: list[str] = []

    def listen(line: str) -> None:
        heard.append(line)
        (tmp_path / "heard").touch()

    script = f"printf 'first\\r.'; while [ ! -e {tmp_path}/heard ]; do sleep 0.01; done; printf 'last'"
    hosts[0].run(Invocation(("sh", "-c", script), scratch, Path("/"), 20), lambda pid: None, listen)
    assert heard == ["first\n", ".last"]


def test_the_environment_of_a_command_is_there(hosts: list[SshHost], scratch: Path) -> None:
    invocation = Invocation(
        ("sh", "-c", 'echo "$WORD"'), scratch, Path("/"), 20, (), {"WORD": f"it's {scratch}/x"}
    )
    completed = hosts[0].run(invocation, lambda pid: None, lambda line: None)
    assert completed.stdout.startswith("it's /")
    assert str(scratch) not in completed.stdout


def test_leadlines_engine_is_brought_there_once_and_again_when_it_is_spoilt(
    hosts: list[SshHost], remotes: list[Remote], config: Path, scratch: Path
) -> None:
    completed = run(hosts[0], scratch, str(engine_executable()), "--version")
    assert completed.stdout.startswith("leadline-engine")
    (engine,) = (remotes[0].home / ".cache/leadline").iterdir()
    first = engine.stat().st_ino
    again = SshHost(remotes[0].name, config)
    again.machine()
    assert engine.stat().st_ino == first
    engine.write_bytes(b"spoilt")
    third = SshHost(remotes[0].name, config)
    assert third.machine().engine == str(engine)
    assert engine.read_bytes() == Path(engine_executable()).read_bytes()
    again.close()
    third.close()


def test_a_program_that_lies_elsewhere_there_is_found_by_its_name(
    hosts: list[SshHost], scratch: Path
) -> None:
    assert run(hosts[0], scratch, "/only/here/bin/echo", "found").stdout == "found\n"


@pytest.mark.fio
def test_fio_runs_there(hosts: list[SshHost], scratch: Path, work_directory: Path) -> None:
    completed = run(
        hosts[0], scratch, "fio", "--name=leadline", f"--directory={work_directory}", "--size=1m", "--rw=write",
        "--output-format=json+", f"--output={scratch / 'fio.json'}", f"--write_bw_log={scratch / 'throughput'}",
    )  # fmt: skip
    assert completed.exit_code == 0
    assert '"jobs"' in (scratch / "fio.json").read_text()
    assert (scratch / "throughput_bw.1.log").exists()


def test_nothing_is_left_there_after_success_or_failure(
    hosts: list[SshHost], remotes: list[Remote], scratch: Path
) -> None:
    run(hosts[0], scratch, "sh", "-c", f"echo > {scratch}/file; setsid sleep 300 & exit 0")
    run(hosts[0], scratch, "no-such-program")
    run(hosts[0], scratch, "sleep", "300", timeout_seconds=0.3)
    assert eventually(lambda: remotes[0].leavings() == [])
    assert eventually(lambda: remotes[0].processes() == [])


def test_a_command_that_takes_too_long_is_ended_there(hosts: list[SshHost], scratch: Path) -> None:
    completed = run(hosts[0], scratch, "sleep", "300", timeout_seconds=0.3)
    assert completed.timed_out
    assert completed.reason is None


def test_an_interrupt_lets_the_command_finish_what_it_writes(
    hosts: list[SshHost], scratch: Path, tmp_path: Path
) -> None:
    script = f"trap 'echo bye; exit 7' INT; touch {tmp_path}/ready; while :; do sleep 0.05; done"
    interrupter = threading.Thread(
        target=lambda: (eventually((tmp_path / "ready").exists), hosts[0].interrupt())
    )
    interrupter.start()
    completed = run(hosts[0], scratch, "sh", "-c", script)
    interrupter.join()
    assert (completed.exit_code, completed.stdout, completed.interrupted) == (7, "bye\n", True)


def test_clients_on_several_hosts_start_together(
    hosts: list[SshHost], remotes: list[Remote], tmp_path: Path
) -> None:
    """Each waits for what only the other makes: apart they would never end."""
    crew = Together([Client(each.name, each, Path("/")) for each in hosts])
    for number, attempt in enumerate(attempts()):
        asked = {}
        for own, other in ((hosts[0], hosts[1]), (hosts[1], hosts[0])):
            folder, met = tmp_path / f"scratch-{own.name}-{number}", tmp_path / f"met-{number}"
            folder.mkdir()
            script = (
                f"touch {met}-{own.name}; while [ ! -e {met}-{other.name} ]; do sleep 0.01; done; sleep 0.3"
            )
            asked[own.name] = Invocation(("sh", "-c", script), folder, Path("/"), 60)
        before = time.monotonic_ns()
        completed = crew.run(asked, lambda pid: None, lambda line: None)
        assert [each.exit_code for each in completed.values()] == [0, 0]
        assert 0 < crew.facts()["starts_known_to_within_ns"] < time.monotonic_ns() - before
        with attempt:  # when a word is on its way for as long as the machine stands still, nobody knows
            assert crew.facts()["common_window_ns"] > 0.2e9


@pytest.mark.fio
def test_fios_own_servers_run_there_and_end_there(
    hosts: list[SshHost], remotes: list[Remote], network: Network, tmp_path: Path, work_directory: Path
) -> None:
    servers = [
        Server(host.name, host, remote.host.address) for host, remote in zip(hosts, remotes, strict=True)
    ]
    asked = {}
    for host in hosts:
        data, folder = work_directory / host.name, tmp_path / host.name
        data.mkdir()
        folder.mkdir()
        words = (
            "fio",
            "--name=leadline",
            f"--directory={data}",
            "--size=1m",
            "--rw=write",
            f"--write_bw_log={folder}/throughput",
        )
        asked[host.name] = Invocation((*words, "--log_avg_msec=20"), folder, Path("/"), 20)
    crew = FioServers(servers, NamespaceHost("control", network.hosts[2].namespace))
    completed = crew.run(asked, lambda pid: None, lambda line: None)
    assert [(each.reason, each.exit_code) for each in completed.values()] == [(None, 0), (None, 0)]
    assert all('"jobs"' in (each.scratch / "fio.json").read_text() for each in asked.values())
    for remote in remotes:
        assert eventually(lambda remote=remote: not (remote.processes() or remote.leavings()))  # type: ignore[misc]


@pytest.mark.skipif(
    not (shutil.which("mpirun") and importlib.util.find_spec("mpi4py")),
    reason="mpirun or mpi4py is not installed",
)
def test_mpirun_brings_a_rank_to_each_host(
    hosts: list[SshHost], config: Path, network: Network, tmp_path: Path
) -> None:
    """By ssh, as it does where there is no scheduler; the ranks talk over the hosts' own network."""
    agent = ("--allow-run-as-root", "--mca", "plm_rsh_agent", f"ssh -F {config}", "--map-by", "ppr:1:node")
    asked = {}
    for host in hosts:
        folder = tmp_path / host.name
        folder.mkdir()
        asked[host.name] = Invocation(("ip", "-brief", "addr", "show", "v0"), folder, folder, 20)
    launcher = Launcher("mpirun", tuple(host.name for host in hosts), agent)
    crew = MpiCrew(launcher, NamespaceHost("control", network.hosts[2].namespace))
    completed = crew.run(asked, lambda pid: None, lambda line: None)
    assert [each.reason for each in completed.values()] == [None, None]
    assert network.hosts[0].address in completed["remote1"].stdout
    assert network.hosts[1].address in completed["remote2"].stdout


def test_one_host_that_cannot_keep_up_is_named_and_the_other_never_starts(
    hosts: list[SshHost], remotes: list[Remote], tmp_path: Path
) -> None:
    crew = Together([Client(each.name, each, Path("/")) for each in hosts])
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    asked = {
        hosts[0].name: Invocation(("touch", str(tmp_path / "ran")), folders[0], Path("/"), 10),
        hosts[1].name: Invocation(("true",), folders[1], Path("/no/such/place"), 10),
    }
    completed = crew.run(asked, lambda pid: None, lambda line: None)
    assert "remote2 has no directory /no/such/place" in str(completed["remote2"].reason)
    assert completed["remote1"].reason == "it was not started, because another client could not be"
    assert not (tmp_path / "ran").exists()
    assert all(eventually(lambda remote=remote: remote.leavings() == []) for remote in remotes)  # type: ignore[misc]


def test_a_connection_that_breaks_is_a_reason_and_ends_the_command_there(
    hosts: list[SshHost], remotes: list[Remote], scratch: Path, tmp_path: Path
) -> None:
    """As when the server there dies: the sessions' connection is closed."""
    script = f"setsid sh -c 'touch {tmp_path}/ready; sleep 300' & sleep 300"

    def break_it() -> None:
        eventually((tmp_path / "ready").exists)
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            if _is_session_of(line, remotes[0]):
                _kill(int(line.parent.name))

    breaker = threading.Thread(target=break_it)
    breaker.start()
    completed = run(hosts[0], scratch, "sh", "-c", script)
    breaker.join()
    assert "the connection to remote1 was lost" in str(completed.reason)
    assert eventually(lambda: remotes[0].processes() == [])
    assert eventually(lambda: remotes[0].leavings() == [])


def test_a_cable_that_is_cut_is_noticed_and_the_command_ends_once_it_is_back(
    hosts: list[SshHost],
    remotes: list[Remote],
    network: Network,
    journal: Journal,
    scratch: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing closes the connection then: ssh asks the other end, and leadline gives up with it."""
    monkeypatch.setitem(ssh_connection.OPTIONS, "ServerAliveInterval", 1)
    hosts[0].machine()
    with cut_link(journal, network.hosts[0], at_most_seconds=300):
        completed = run(hosts[0], scratch, "true", timeout_seconds=40)
    assert "remote1" in str(completed.reason)
    ready = tmp_path / "ready"
    worker = threading.Thread(
        target=lambda: results.append(
            run(hosts[0], scratch, "sh", "-c", f"touch {ready}; sleep 600", timeout_seconds=600)
        )
    )
    results: list[Completed] = []
    worker.start()
    assert eventually(ready.exists)
    with cut_link(journal, network.hosts[0], at_most_seconds=300):
        worker.join(120)
        assert "the connection to remote1 was lost" in str(results[0].reason)
    assert eventually(lambda: remotes[0].leavings() == [])


LEADLINE_THAT_IS_KILLED = """
import sys
from pathlib import Path
from leadline.run.hosts import ssh_connection
from leadline.run.hosts.check_host import check_host
from leadline.run.hosts.namespace import NamespaceHost
from leadline.run.hosts.ssh import SshHost
from leadline.run.seams import Invocation
name, config, scratch, ready = sys.argv[1:]
script = f"setsid sh -c 'touch {ready}; sleep 300' & sleep 300"
SshHost(name, Path(config)).run(Invocation(("sh", "-c", script), Path(scratch), Path("/"), 300), print, print)
"""


def test_nothing_is_left_there_when_leadline_is_killed(
    remotes: list[Remote], config: Path, scratch: Path, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    leadline = subprocess.Popen(
        [sys.executable, "-c", LEADLINE_THAT_IS_KILLED, remotes[0].name, config, scratch, ready]
    )
    assert eventually(ready.exists)
    assert len(remotes[0].processes()) >= 3
    leadline.send_signal(signal.SIGKILL)
    leadline.wait()
    assert eventually(lambda: remotes[0].processes() == [])
    assert eventually(lambda: remotes[0].leavings() == [])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("10.77.1.1\n", "10.77.1.77\n"), "remote1 cannot be reached"),
        (lambda text: text.replace("/key\n", "/no-key\n"), "does not accept this user's keys"),
        (lambda text: text.replace("/known_hosts\n", "/nobody\n"), "connect once by hand: ssh remote1"),
    ],
)
def test_whatever_keeps_us_out_is_one_sentence(
    config: Path, change: Callable[[str], str], sentence: str, scratch: Path
) -> None:
    config.write_text(change(config.read_text()))
    host = SshHost("remote1", config)
    completed = run(host, scratch, "true")
    host.close()
    assert sentence in str(completed.reason)
    assert "\n" not in str(completed.reason)


def test_an_engine_that_does_not_run_there_is_one_sentence(
    remotes: list[Remote], config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    foreign = tmp_path / "leadline-engine"
    foreign.write_bytes(b"\x7fELF of another machine")
    monkeypatch.setattr("leadline.run.hosts.remote_machine._engine", lambda: ("0" * 64, foreign.read_bytes()))
    host = SshHost(remotes[0].name, config)
    with pytest.raises(UserError, match="engine does not run on remote1"):
        host.machine()
    host.close()


def test_a_host_is_described_for_the_environment_record(hosts: list[SshHost]) -> None:
    before = time.monotonic_ns()
    machine = hosts[0].machine()
    taken_ns = time.monotonic_ns() - before
    assert machine.kernel.startswith("Linux")
    assert machine.cores > 0
    assert machine.memory_bytes > 1e8
    assert 0 < machine.round_trip_ns < taken_ns
    assert abs(machine.clock_ahead_ns) <= machine.round_trip_ns, "it is this machine's own clock"
    assert machine.facts()["clock_known_to_within_ns"] == machine.round_trip_ns // 2


@pytest.mark.fio
def test_another_version_of_fio_is_a_warning_and_none_at_all_a_refusal(
    hosts: list[SshHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = hosts[0].machine().fio_version
    assert check_host(hosts[0], own).warnings == ()
    assert f"remote1 has {own} where this machine has fio-0.1" in check_host(hosts[0], "fio-0.1").warnings[0]
    without = replace(hosts[0].machine(), fio_version="")
    monkeypatch.setattr(hosts[0], "_machine", without)
    assert check_host(hosts[0]).warnings == ()
    with pytest.raises(UserError, match="remote1 has no fio"):
        check_host(hosts[0], own)


def test_an_option_is_no_destination() -> None:
    with pytest.raises(UserError, match="is no host for ssh"):
        SshHost("-oProxyCommand=touch /tmp/x")


def _is_session_of(line: Path, remote: Remote) -> bool:
    """sshd's process of one connection, not the one that listens."""
    try:
        namespace = Path(f"/run/netns/{remote.host.namespace}").stat().st_ino
        own = (line.parent / "ns/net").stat().st_ino == namespace
        pid = int(line.parent.name)
        return own and b"sshd" in line.read_bytes() and pid != remote.server.pid
    except OSError:
        return False


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return
