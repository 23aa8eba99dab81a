"""Hosts with a real sshd each, in namespaces of their own, and the configuration that a user would reach them by."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from leadline.run.lab.network import LabHost

HAND_OVER = """
import socket, sys
reached = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60)
reached.setblocking(True)
socket.send_fds(socket.socket(fileno=1), [b"."], [reached.fileno()])
"""
"""Connects from inside a namespace and hands the connection to ssh (ProxyUseFdpass), which itself stays outside."""


@dataclass(frozen=True)
class Remote:
    """One host with its own home and temporary folder."""

    host: LabHost
    home: Path
    temporary: Path
    server: subprocess.Popen[bytes]

    @property
    def name(self) -> str:
        return f"remote{self.host.number}"

    def leavings(self) -> list[str]:
        return sorted(path.name for path in self.temporary.iterdir())

    def processes(self) -> list[str]:
        """What runs in its namespace beside the ssh server and its sessions."""
        listed = subprocess.run(
            ["ip", "netns", "pids", self.host.namespace], capture_output=True, text=True, check=True
        )
        return [line for pid in listed.stdout.split() if (line := _command(pid)) and "sshd" not in line]


def start_remote(folder: Path, host: LabHost) -> Remote:
    """Its sshd, listening."""
    home, temporary = folder / f"home{host.number}", folder / f"tmp{host.number}"
    home.mkdir()
    temporary.mkdir()
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    key = folder / f"host-key{host.number}"
    _make_key(key)
    config = folder / f"sshd{host.number}.conf"
    config.write_text(
        f"ListenAddress {host.address}\nHostKey {key}\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n"
        f"AuthorizedKeysFile {folder / 'key.pub'}\nPasswordAuthentication no\nSetEnv HOME={home} TMPDIR={temporary}\n"
    )
    argv = host.inside(("/usr/sbin/sshd", "-D", "-e", "-f", str(config)))
    server = subprocess.Popen(argv, stderr=(folder / f"sshd{host.number}.log").open("wb"))
    _await_listening(host)
    return Remote(host, home, temporary, server)


def user_config(folder: Path, remotes: list[Remote], through: LabHost) -> Path:
    """What a user has in ~/.ssh/config, with the namespace to connect from."""
    known = folder / "known_hosts"
    script = folder / "hand_over.py"
    script.write_text(HAND_OVER)
    hand_over = " ".join(through.inside((sys.executable, str(script), "%h", "%p")))
    sections = []
    for remote in remotes:
        kind, key, *_ = (folder / f"host-key{remote.host.number}.pub").read_text().split()
        known.write_text(
            (known.read_text() if known.exists() else "") + f"{remote.host.address} {kind} {key}\n"
        )
        sections.append(
            f"Host {remote.name}\n  HostName {remote.host.address}\n  User root\n  IdentityFile {folder / 'key'}\n"
            f"  UserKnownHostsFile {known}\n  GlobalKnownHostsFile none\n  IdentitiesOnly yes\n"
            f"  ProxyCommand {hand_over}\n  ProxyUseFdpass yes\n"
        )
    path = folder / "ssh_config"
    path.write_text("\n".join(sections))
    return path


def make_user_key(folder: Path) -> None:
    _make_key(folder / "key")


def _make_key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _await_listening(host: LabHost) -> None:
    until = time.monotonic() + 60
    wanted = f"{socket.inet_aton(host.address)[::-1].hex().upper()}:0016"
    while True:
        table = subprocess.run(
            host.inside(("cat", "/proc/net/tcp")), capture_output=True, text=True, check=True
        ).stdout
        if wanted in table:
            return
        assert time.monotonic() < until, "sshd does not listen"
        time.sleep(0.02)
