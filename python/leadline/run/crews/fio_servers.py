"""fio's own way to use several clients: `fio --server` on each, one `fio --client` that tells them what to do and collects.

It starts its clients less exactly than `Together` does, and its total has no percentiles; it is here because the field knows it, and
because it needs only one open port a host. A server executes whatever it is told by whoever reaches it: it lives for one step, and
listens on the one address that is given.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from leadline.errors import UserError
from leadline.formats.fields import FormatError
from leadline.run.crews.fio_server_files import (
    RESULT,
    Window,
    bring_logs_home,
    is_listening,
    job_file,
    split_result,
)
from leadline.run.seams import Completed, Host, Invocation

USUAL_PORT = 8765
LISTENS_WITHIN_SECONDS = 30.0
LIVES_LONGER_SECONDS = 60.0
"""A server is given this much more time than its step."""


class ServingHost(Host, Protocol):
    """A host that can run a server beside its other commands."""

    def again(self) -> ServingHost:
        """The same host for another command at the same time."""
        ...

    def ask(self, argv: Sequence[str], timeout_seconds: float = 10.0) -> str:
        """What a short command prints there."""
        ...


@dataclass(frozen=True)
class Server:
    """Where a client's fio listens."""

    name: str
    """The client's."""
    host: ServingHost
    address: str
    """IPv4, of the client's host, as the controlling fio reaches it."""
    port: int = USUAL_PORT


@dataclass
class _Step:
    """One step while it runs."""

    on_start: Callable[[int], None]
    hosts: list[Host] = field(default_factory=list)
    """Everything that an interrupt must reach."""
    ended: dict[str, Completed] = field(default_factory=dict)
    """Servers that have ended, and how."""


class FioServers:
    """The clients of a step behind one controlling fio."""

    def __init__(self, servers: Sequence[Server], controller: ServingHost) -> None:
        """`controller` is the host that reaches all servers: this machine, or a namespace on the lab's network."""
        self._servers = {server.name: server for server in servers}
        self._controller = controller
        self._step: _Step | None = None
        self._interrupted = False
        self._untold: list[str] = []

    def run(
        self,
        invocations: Mapping[str, Invocation],
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
    ) -> Mapping[str, Completed]:
        """One result a client, as the fio engine expects it in the invocation's scratch folder."""
        asked = {self._servers[name]: invocation for name, invocation in invocations.items()}
        step = self._step = _Step(on_start)
        try:
            jobs = {server: job_file(invocation) for server, invocation in asked.items()}
            with _serving(asked, step):
                controlled = self._control(asked, jobs, step, on_line)
        except UserError as error:
            return {
                name: Completed(None, "", "", 0, interrupted=self._interrupted, reason=str(error))
                for name in invocations
            }
        finally:
            self._step = None
        return self._apart(asked, controlled, step)

    def interrupt(self) -> None:
        """The controlling fio, which tells its servers, and the servers themselves."""
        self._interrupted = True
        step = self._step
        for host in step.hosts if step else ():
            host.interrupt()

    def facts(self) -> dict[str, Any]:
        """Of the last run: whose window is not known, because its fio brought no log home."""
        return {"clients_by": "fio --client", "windows_unknown": list(self._untold)}

    def _control(
        self,
        asked: Mapping[Server, Invocation],
        jobs: Mapping[Server, str],
        step: _Step,
        on_line: Callable[[str], None],
    ) -> Completed:
        first = next(iter(asked.values()))
        scratch = _folder(first.scratch, "control")
        words = [first.argv[0]]
        for server, text in jobs.items():
            path = scratch / f"{server.name}.fio"
            path.write_text(text, encoding="utf-8")
            words += [f"--client=ip:{server.address},{server.port}", str(path)]
        words += [
            "--output-format=json+",
            f"--output={scratch / RESULT}",
            "--eta=always",
            "--eta-interval=500ms",
        ]
        timeout_seconds = max(each.timeout_seconds for each in asked.values())
        host = self._controller.again()
        step.hosts.append(host)
        if self._interrupted:
            host.interrupt()
        return host.run(
            Invocation(tuple(words), scratch, scratch, timeout_seconds), lambda pid: None, on_line
        )

    def _apart(
        self, asked: Mapping[Server, Invocation], controlled: Completed, step: _Step
    ) -> dict[str, Completed]:
        """One Completed a client; one that is not in the result has a reason."""
        first = next(iter(asked.values()))
        results = _results(first.scratch / "control" / RESULT, asked)
        completed, self._untold = {}, []
        for server, invocation in asked.items():
            served = step.ended.get(server.name)
            spent = served.cpu_seconds if served else None
            window = bring_logs_home(invocation, server.address)
            if window is None:
                self._untold.append(server.name)
            own = replace(_within(controlled, window), cpu_seconds=spent, stdout="")
            text = results.get(server.name)
            if text is None:
                own = replace(
                    own, exit_code=controlled.exit_code, reason=_missing(server, controlled, served)
                )
            else:
                (invocation.scratch / RESULT).write_text(text, encoding="utf-8")
                own = replace(own, exit_code=0)  # of one that came home whole; another's fault is the other's
            completed[server.name] = replace(own, interrupted=controlled.interrupted or self._interrupted)
        return completed


@contextlib.contextmanager
def _serving(asked: Mapping[Server, Invocation], step: _Step) -> Iterator[None]:
    """All servers, listening; ended afterwards. Raises UserError when one of them does not come up."""
    threads = []
    try:
        for server, invocation in asked.items():
            _refuse_taken(server)
            threads.append(_started(server, invocation, step))
        for server in asked:
            _await_listening(server, step)
        yield
    finally:
        for host in list(step.hosts):
            host.interrupt()
        for thread in threads:
            thread.join()


def _started(server: Server, invocation: Invocation, step: _Step) -> threading.Thread:
    """The thread that stays with a server until it ends."""
    host = server.host.again()
    step.hosts.append(host)
    scratch = _folder(invocation.scratch, "server")
    argv = (invocation.argv[0], f"--server=ip:{server.address},{server.port}")
    lives_seconds = invocation.timeout_seconds + LIVES_LONGER_SECONDS
    serve = Invocation(argv, scratch, invocation.working_directory, lives_seconds, (), invocation.environment)

    def stay() -> None:
        step.ended[server.name] = host.run(serve, step.on_start, lambda line: None)

    thread = threading.Thread(target=stay, name=f"fio server {server.name}")
    thread.start()
    return thread


def _refuse_taken(server: Server) -> None:
    if _listens(server):
        raise UserError(
            f"port {server.port} of {server.address} ({server.name}) is taken by another program; end it, or give another port"
        )


def _await_listening(server: Server, step: _Step) -> None:
    until = time.monotonic() + LISTENS_WITHIN_SECONDS
    while not _listens(server):
        ended = step.ended.get(server.name)
        if ended is not None or time.monotonic() > until:
            said = ended.reason or _last_line(ended.stderr + ended.stdout) if ended else "nothing yet"
            raise UserError(
                f"fio's server on {server.name} does not listen on {server.address}, port {server.port}; it said: {said}"
            )
        time.sleep(0.02)


def _listens(server: Server) -> bool:
    return is_listening(server.host.ask(("cat", "/proc/net/tcp")), server.address, server.port)


def _results(path: Path, asked: Mapping[Server, Invocation]) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        return split_result(text, {server.name: (server.address, server.port) for server in asked})
    except (OSError, FormatError):  # no result at all: every client is missing
        return {}


def _within(controlled: Completed, window: Window | None) -> Completed:
    if window is None:
        return controlled
    return replace(
        controlled,
        started_ns=window.started_ns,
        ended_ns=window.ended_ns,
        wall_ns=window.ended_ns - window.started_ns,
    )


def _missing(server: Server, controlled: Completed, served: Completed | None) -> str:
    """Why a client is not in the result."""
    if controlled.timed_out:
        return "fio --client did not end in time and was killed with all its servers"
    if controlled.reason:
        return controlled.reason
    said = (
        _last_line(controlled.stderr)
        or (served and _last_line(served.stderr))
        or _last_line(controlled.stdout)
    )
    return f"fio's server on {server.name} ({server.address}) vanished: it is not in the result; fio said: {said or 'nothing'}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _folder(parent: Path, name: str) -> Path:
    path = parent / name
    path.mkdir(exist_ok=True)
    return path
