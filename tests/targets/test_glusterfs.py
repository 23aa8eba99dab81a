"""GlusterFS really up: replicas on every brick, clients on hosts of their own, nothing left by any end."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import (
    cleaned_after_a_killed_campaign,
    journal_has,
    killed_when,
    measured_by_a_campaign,
    seen_by,
    shadow,
    skip_unless_installed,
    up,
)
from lab_parts import eventually

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.glusterfs import Shape, shape_of
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.state import Ready, known_labs, lab_state

NAME = "glusterfs"
SYSTEM_FOLDERS = ("/var/lib/glusterd", "/var/log/glusterfs", "/run/gluster")
Fork = Callable[[Callable[[], None]], int]
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]


@pytest.fixture
def installed() -> None:
    skip_unless_installed(NAME)


def system_files() -> list[str]:
    return sorted(str(path) for top in SYSTEM_FOLDERS for path in Path(top).glob("**/*"))


def bricks() -> list[Path]:
    entries = Journal(lab_state(NAME).journal).entries()
    points = [
        Path(getattr(each.resource, "point", "")) for each in entries if hasattr(each.resource, "point")
    ]
    return [point / "brick" for point in points if point.name.startswith("disk")]


def ask_gluster(*words: str) -> str:
    """As its administrator on the first host."""
    entries = Journal(lab_state(NAME).journal).entries()
    server = next(each for each in entries if getattr(each.resource, "name", "") == "glusterd1")
    pid = str(server.identity).partition(":")[0]
    enter = ["nsenter", "-t", pid, "-m", "-n", "gluster", "--mode=script"]
    return subprocess.run([*enter, *words], capture_output=True, text=True, check=True, timeout=120).stdout


def hosts_of_the_copies(file: Path) -> set[str]:
    """The names of the hosts that the bricks of a file say they are on."""
    said = os.getxattr(file, "trusted.glusterfs.pathinfo").decode()
    return {found[1] for found in re.finditer(r"<POSIX\([^)]*\):([^:>]+):", said)}


def client_logs() -> list[str]:
    return [path.read_text() for path in (lab_state(NAME).folder / "logs").glob("client*.log")]


@pytest.mark.usefixtures("installed")
def test_two_cycles_two_clients_three_replicas_and_nothing_is_left(traces: Look) -> None:
    before, system = traces(), system_files()
    ready = up(NAME, {"network.ping-timeout": "7", "attribute-timeout": "0"}, clients=2)
    first, second = ready.clients
    assert first.namespace != second.namespace and first.directory == ready.directory
    (Path(ready.directory) / "note").write_text("three times")
    # close(2) comes back before the bricks have the data (performance.flush-behind).
    assert eventually(
        lambda: [(brick / "work" / "note").read_text() for brick in bricks()] == ["three times"] * 3
    )
    assert eventually(lambda: seen_by(second, "note") == "three times")
    assert len(hosts_of_the_copies(Path(ready.directory) / "note")) == 3
    assert not any(
        "selecting local read_child" in log for log in client_logs()
    )  # all reads would go to one copy
    assert "7" in ask_gluster("volume", "get", "leadline", "network.ping-timeout").split()
    assert any("--attribute-timeout=0" in line for line in traces().processes)
    assert ready.facts["replicas"] == 3 and ready.facts["version"].startswith("glusterfs ")
    lifecycle.tear_down(NAME)
    up(NAME)
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)
    assert system_files() == system


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_the_library_and_the_mount_see_the_same_files() -> None:
    ready = up(NAME)
    (Path(ready.directory) / "layout").mkdir()
    for writer, reader in (("psync", "gfapi"), ("gfapi", "psync")):
        checked = ("--verify=crc32c", "--verify_state_save=0")
        fio(ready, writer, f"layout/{writer}", "--rw=write", "--do_verify=0", "--end_fsync=1", *checked)
        job = fio(ready, reader, f"layout/{writer}", "--rw=read", *checked)
        assert job["error"] == 0 and job["read"]["io_bytes"] == 8 << 20


def fio(ready: Ready, ioengine: str, file: str, *words: str) -> dict[str, Any]:
    """A job on a file below the work directory, under the name that the engine has for it."""
    access = ready.accesses.get(ioengine)
    options = [f"--{key}={text}" for key, text in access.options.items()] if access else []
    root = access.root if access else ready.directory
    argv = [
        "fio",
        "--name=test",
        "--bs=1m",
        "--size=8m",
        f"--ioengine={ioengine}",
        f"--filename={root}/{file}",
        *words,
    ]
    inside = [
        "nsenter",
        f"--net=/run/netns/{ready.clients[0].namespace}",
        *argv,
        *options,
        "--output-format=json",
    ]
    said = subprocess.run(inside, capture_output=True, text=True, check=True, timeout=60).stdout
    return dict(json.loads(said[said.index("{") :])["jobs"][0])


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "moment",
    [
        lambda: journal_has(NAME, '"name": "glusterd2"'),
        lambda: any(brick.exists() for brick in bricks()),
        lambda: journal_has(NAME, '"filesystem": "fuse.glusterfs"'),
    ],
    ids=["a server starts", "the volume is made", "a client mounts"],
)
def test_killed_while_it_comes_up_another_process_cleans_up(
    moment: Callable[[], bool], forked: Fork, traces: Look
) -> None:
    before = traces()
    killed_when(moment, forked, lambda: up(NAME))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_a_campaign_measures_it_and_takes_it_down(leadline: Leadline, tmp_path: Path, traces: Look) -> None:
    target = measured_by_a_campaign(NAME, leadline, tmp_path, traces)
    assert target["replicas"] == 3


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_lab_down_cleans_after_a_killed_campaign(
    argv: Callable[..., list[str]], leadline: Leadline, tmp_path: Path, traces: Look
) -> None:
    cleaned_after_a_killed_campaign(NAME, argv, leadline, tmp_path, traces)


def test_a_server_that_cannot_start_is_told_with_its_words(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow("glusterd", tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match="glusterd1 ended before it served; it said: the port is taken"):
        up(NAME)
    assert known_labs() == []


def test_a_client_option_that_nobody_knows_is_refused_before_anything_is_made(installed: None) -> None:
    with pytest.raises(UserError, match=r'"atribute-timeout".*did you mean "attribute-timeout"\?'):
        up(NAME, {"atribute-timeout": "0"})
    assert known_labs() == []


@pytest.mark.anybody
def test_options_with_a_dot_are_the_volumes_and_the_others_the_clients() -> None:
    options = {"replica": "2", "network.ping-timeout": "5", "fopen-keep-cache": ""}
    shape = shape_of(Wishes(1, storage_nodes=4, options=options))
    assert shape == Shape(4, 2, {"network.ping-timeout": "5"}, {"fopen-keep-cache": ""})
    assert shape_of(Wishes(1)) == Shape(3, 3, {}, {})


@pytest.mark.anybody
@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (
            Wishes(1, storage_nodes=5),
            "sets of 3 replicas, which 5 storage nodes are not a multiple of; take 3",
        ),
        (Wishes(1, storage_nodes=0), "take 3"),
        (Wishes(1, options={"replica": "three"}), 'a number from 1 to 99, not "three"'),
        (Wishes(1, clients=0), "at least 1 client"),
    ],
)
def test_what_makes_no_volume_is_refused(wishes: Wishes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        shape_of(wishes)
