"""What the tests of every distributed target share: a tiny campaign, a kill in the middle, a reason to skip."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from lab_parts import eventually

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.packages import require
from leadline.run.lab.registry import lab_target
from leadline.run.lab.state import Ready, Seat, lab_state
from leadline.run.lab.tools import Toolbox

Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], object]
Fork = Callable[[Callable[[], None]], int]
DATA_BYTES = 64 << 20
UP_AND_MEASURED_WITHIN_SECONDS = 240.0
"""The servers of a cluster may take more than a minute by the lab's own limits, and then comes the first step."""
CAMPAIGN = """
name = "tiny"
baselines = false
noise_repeats = 0
[target]
name = "{name}"
[[experiment]]
name = "big"
rw = ["read", "write"]
block_size = "1m"
ioengine = "psync"
size = "16m"
runtime = "300ms"
[[experiment]]
name = "small"
rw = ["randread", "randwrite"]
block_size = "4k"
ioengine = "psync"
size = "16m"
runtime = "300ms"
"""


def skip_unless_installed(name: str) -> None:
    """Installs what the target needs as `lab up` would; where that fails, the test is skipped with the sentence."""
    if os.geteuid() != 0:
        pytest.skip("needs root to install and to mount")
    try:
        require(lab_target(name).needs, Toolbox(), lambda line: None)
    except UserError as error:
        pytest.skip(str(error))


def up(
    name: str, options: Mapping[str, str] | None = None, clients: int = 1, nodes: int | None = None
) -> Ready:
    """Brought up by hand for little data."""
    wishes = Wishes(DATA_BYTES, clients, nodes, options or {})
    return lifecycle.bring_up(name, lab_target(name), wishes, lambda line: None)[0]


def killed_when(true: Callable[[], bool], forked: Fork, act: Callable[[], object]) -> None:
    """Acts in a process of its own that is killed as soon as something is so, by itself: nobody has to look in time."""

    def die_when_true() -> None:
        while not true():
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGKILL)

    def act_and_die() -> None:
        threading.Thread(target=die_when_true, daemon=True).start()
        act()
        if true():  # the thread has had no processor meanwhile
            os.kill(os.getpid(), signal.SIGKILL)

    _, status = os.waitpid(forked(act_and_die), 0)
    assert os.WIFSIGNALED(status), "it ended before it was killed"


def journal_has(name: str, text: str, times: int = 1) -> bool:
    """Whether a lab's journal mentions something that often."""
    try:
        return lab_state(name).journal.read_text().count(text) >= times
    except OSError:
        return False


def campaign(name: str, folder: Path) -> Path:
    """Four cells of 0.3 s on a target."""
    path = folder / "tiny.toml"
    path.write_text(CAMPAIGN.format(name=name))
    return path


def statuses(run: Path) -> list[str]:
    """Of each stored step, in order; none before the first."""
    if not (run / "results.sqlite").exists():
        return []
    with sqlite3.connect(run / "results.sqlite") as connection:
        try:
            return [row[0] for row in connection.execute("SELECT status FROM step ORDER BY ordinal")]
        except sqlite3.OperationalError:  # not made yet
            return []


def measured_by_a_campaign(
    name: str, leadline: Leadline, folder: Path, traces: Look, filesystem: str = ""
) -> dict[str, Any]:
    """A whole campaign on the target, which leaves nothing; what the environment record says of the target."""
    before, run = traces(), folder / "run"
    done = leadline("run", campaign(name, folder), "--output", run)
    assert done.returncode == 0, done.stderr
    assert f"{name} is up after" in done.stdout and f"{name} is down after" in done.stdout
    assert len(statuses(run)) >= 4 and set(statuses(run)) == {"finished"}
    environment = json.loads((run / "environment.json").read_text())
    assert environment["filesystem"]["type"] == (filesystem or f"fuse.{name}")
    assert (run / "report.html").is_file()
    assert eventually(lambda: traces() == before)
    return dict(environment["target"])


def cleaned_after_a_killed_campaign(
    name: str, argv: Callable[..., list[str]], leadline: Leadline, folder: Path, traces: Look
) -> None:
    """`kill -9` in the middle of a campaign, then `lab down` leaves nothing."""
    before, run = traces(), folder / "run"
    words, quiet = argv("run", campaign(name, folder), "--output", run), subprocess.DEVNULL
    with subprocess.Popen(words, cwd=folder, stdout=quiet, stderr=quiet) as started:
        assert eventually(lambda: bool(statuses(run)), UP_AND_MEASURED_WITHIN_SECONDS)
        started.kill()
    assert leadline("lab", "down").returncode == 0
    assert eventually(lambda: traces() == before)


def seen_by(client: Seat, file: str) -> str:
    """A file's content as read on a client's own mount, from its own network namespace."""
    words = ["nsenter", f"--net=/run/netns/{client.namespace}", "cat", f"{client.directory}/{file}"]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout


def shadow(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a command of that name in front of the PATH that complains and ends."""
    folder.mkdir()
    (folder / command).write_text("#!/bin/sh\necho the port is taken >&2\nexit 3\n")
    (folder / command).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
