"""One OpenSSH connection to a host, shared by all that is done there (ControlMaster in ssh_config(5)).

Hosts, users and keys are the user's own affair: their configuration is taken as it is, and nothing is ever asked (BatchMode). The
shared connection runs under supervision, so it ends when leadline is killed, and with it ends what it carried.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from leadline.errors import UserError
from leadline.run.executable import engine_executable
from leadline.run.hosts.asking import answer
from leadline.run.temporary import temporary_folder

CONFIG_VARIABLE = "LEADLINE_SSH_CONFIG"
"""Names a configuration file in place of the user's usual one."""
CONNECTS_WITHIN_SECONDS = 10
SILENT_AT_MOST_SECONDS = 15
"""After which a connection whose other end says nothing counts as lost."""
LIVES_AT_MOST_MS = 30 * 86_400_000
OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": CONNECTS_WITHIN_SECONDS,
    "ServerAliveInterval": SILENT_AT_MOST_SECONDS // 3,
    "ServerAliveCountMax": 3,
    "LogLevel": "ERROR",
    # What a configuration may ask for on behalf of a person at a terminal:
    "ClearAllForwardings": "yes",
    "RemoteCommand": "none",
    "RequestTTY": "no",
    "PermitLocalCommand": "no",
}


class Connection:
    """To one destination, as `ssh DESTINATION` names it."""

    def __init__(self, destination: str, config: Path | None = None) -> None:
        """Raises UserError for a destination that ssh would take for an option."""
        if not destination or destination.startswith("-") or any(each.isspace() for each in destination):
            raise UserError(
                f'"{destination}" is no host for ssh; name it as on its command line: host, or user@host'
            )
        named = os.environ.get(CONFIG_VARIABLE)
        self.destination = destination
        self._config = config or (Path(named) if named else None)
        self._held = contextlib.ExitStack()
        self._opening = threading.Lock()
        self._folder: Path | None = None
        self._master: subprocess.Popen[str] | None = None

    def open(self) -> None:
        """Connects, unless it is connected; raises UserError with one sentence for whatever keeps it from that."""
        with self._opening:
            self._open()

    def _open(self) -> None:
        if self._master is not None and self._master.poll() is None:
            return
        self.close()
        self._folder = self._held.enter_context(temporary_folder("ssh"))  # a socket's path must be short
        try:
            self._master = subprocess.Popen(
                [
                    str(engine_executable()), "supervise", "--timeout-ms", str(LIVES_AT_MOST_MS), "--grace-ms", "1000",
                    "--parent", str(os.getpid()), "--", *self._ssh("yes"), "-N", "--", self.destination,
                ],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                start_new_session=True,
            )  # fmt: skip
            self._await_socket()
        except BaseException:
            self.close()
            raise

    def argv(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` there."""
        return [*self._ssh("no"), "-T", "--", self.destination, shlex.join(command)]

    def ask(self, command: Sequence[str], timeout_seconds: float = 10.0, question: bytes = b"") -> str:
        """What a short command prints there; raises UserError."""
        self.open()
        return answer(self.destination, self.argv(command), timeout_seconds, question)

    def address(self) -> str:
        """IPv4 of what ssh connects to under this name, by the user's configuration (ssh_config(5), HostName); its name where
        that cannot be told.
        """
        config = ["-F", str(self._config)] if self._config else []
        told = answer(self.destination, ["ssh", *config, "-G", "--", self.destination], 10.0)
        named = dict(line.partition(" ")[::2] for line in told.splitlines()).get("hostname", self.destination)
        with contextlib.suppress(OSError):
            return socket.gethostbyname(named)
        return named

    def close(self) -> None:
        """Ends it, and every session that it carries."""
        if self._master is not None:
            self._master.terminate()
            self._master.communicate()
            self._master = None
        self._held.close()
        self._folder = None

    def _ssh(self, master: str) -> list[str]:
        config = ["-F", str(self._config)] if self._config else []
        options = {"ControlMaster": master, "ControlPath": self._socket, "ControlPersist": "no", **OPTIONS}
        return [
            "ssh",
            *config,
            *(word for name, value in options.items() for word in ("-o", f"{name}={value}")),
        ]

    @property
    def _socket(self) -> str:
        return str(self._folder / "socket") if self._folder else "none"

    def _await_socket(self) -> None:
        """It appears once the other end has let us in."""
        assert self._master is not None
        until = time.monotonic() + CONNECTS_WITHIN_SECONDS + SILENT_AT_MOST_SECONDS
        while not Path(self._socket).exists():
            if self._master.poll() is not None:
                assert self._master.stderr is not None
                raise UserError(_why(self.destination, self._master.stderr.read()))
            if time.monotonic() > until:
                raise UserError(
                    f"{self.destination} lets nobody in within {CONNECTS_WITHIN_SECONDS + SILENT_AT_MOST_SECONDS} s"
                )
            time.sleep(0.01)


def _why(destination: str, said: str) -> str:
    """ssh's complaint as one sentence that says what to do."""
    last = (said.strip().splitlines() or ["it said nothing"])[-1].removeprefix("leadline-engine: ")
    by_hand = f"`ssh -o BatchMode=yes {destination} true`"
    if "Permission denied" in last:
        return f"{destination} does not accept this user's keys ({last}); leadline asks for no password: make {by_hand} work"
    if "Host key verification failed" in last:
        return f"the host key of {destination} is not the known one, or not known yet; connect once by hand: ssh {destination}"
    if "ssh was not found" in last:
        return "ssh is not installed here; install the OpenSSH client"
    return f"{destination} cannot be reached ({last}); make {by_hand} work"
