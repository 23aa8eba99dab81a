"""CephFS really up: three replicas, clients on hosts of their own, images and objects beside the files, nothing left by any end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
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
from leadline.run.lab.cephfs import FILESYSTEM, offers_objects
from leadline.run.lab.cephfs_options import Shape, shape_of
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.state import Ready, known_labs, lab_state
from leadline.store.records import StepKind
from leadline.store.run_folder import RunFolder

NAME = "cephfs"
SYSTEM_FOLDERS = ("/etc/ceph", "/var/lib/ceph", "/var/log/ceph", "/run/ceph")
MIB = 1 << 20
Fork = Callable[[Callable[[], None]], int]
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]
PAST_THE_MOUNT = """
name = "past the mount"
baselines = false
noise_repeats = 0
[target]
name = "cephfs"
ioengine = ["rbd", "rados"]
[[experiment]]
name = "small"
rw = ["randread", "write"]
block_size = "64k"
size = "4m"
runtime = "300ms"
"""


@pytest.fixture
def installed() -> None:
    skip_unless_installed(NAME)


def system_files() -> list[str]:
    return sorted(str(path) for top in SYSTEM_FOLDERS for path in Path(top).glob("**/*"))


def at_client(ready: Ready, *argv: str, environment: dict[str, str] | None = None) -> str:
    """What a command prints in the network of the first client."""
    words = ["nsenter", f"--net=/run/netns/{ready.clients[0].namespace}", *argv]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,  # three replicas of each byte, on a disk that others use too
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask_ceph(ready: Ready, *words: str) -> Any:
    conf = lab_state(NAME).folder / "ceph" / "ceph.conf"
    return json.loads(at_client(ready, "ceph", "--conf", str(conf), "--format", "json", *words))


def received_bytes(ready: Ready) -> int:
    lines = at_client(ready, "cat", "/proc/net/dev").splitlines()
    return sum(int(line.split(":")[1].split()[0]) for line in lines if line.strip().startswith("v0"))


def fio(ready: Ready, ioengine: str, rw: str, size_mib: int, *words: str, image: int = 0) -> int:
    """The bytes that fio moved, told to reach the target as its access says."""
    access = ready.accesses[ioengine]
    options = {**access.options, **(access.spread[image] if access.spread else {})}
    argv = ["fio", "--name=test", f"--rw={rw}", "--bs=1m", f"--size={size_mib}m", "--iodepth=4", "--output-format=json"]  # fmt: skip
    argv += [f"--ioengine={access.ioengine}", *words, *(f"--{key}={text}" for key, text in options.items())]
    said = at_client(ready, *argv, environment=dict(access.environment))
    job = json.loads(said[said.index("{") :])["jobs"][0]
    assert job["error"] == 0
    return int(job["read"]["io_bytes"] + job["write"]["io_bytes"])


def pid_of(name: str) -> int | None:
    """Of a server of the lab that is coming up."""
    if not lab_state(NAME).journal.exists():
        return None
    entries = Journal(lab_state(NAME).journal).entries()
    found = [each.identity for each in entries if getattr(each.resource, "name", "") == name]
    return int(found[0].partition(":")[0]) if found and found[0] else None


@pytest.mark.usefixtures("installed")
def test_two_cycles_two_clients_three_replicas_and_nothing_is_left(traces: Look) -> None:
    before, system = traces(), system_files()
    ready = up(NAME, clients=2)
    first, second = ready.clients
    assert first.namespace != second.namespace and first.directory == ready.directory
    (Path(ready.directory) / "note").write_text("three times")
    assert seen_by(second, "note") == "three times"
    status = ask_ceph(ready, "status")
    assert {each["state_name"] for each in status["pgmap"]["pgs_by_state"]} == {"active+clean"}
    assert eventually(lambda: ask_ceph(ready, "status")["health"]["status"] == "HEALTH_OK")
    assert status["osdmap"]["num_up_osds"] == 3
    assert ask_ceph(ready, "osd", "pool", "get", "data", "size")["size"] == ready.facts["replicas"] == 3
    assert sorted(ask_ceph(ready, "osd", "map", "data", "any")["up"]) == [0, 1, 2]
    assert set(ready.servers) == {"osd0", "osd1", "osd2", "mon", "mgr", "mds"}
    lifecycle.tear_down(NAME)
    up(NAME)
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)
    assert system_files() == system


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "moment",
    [
        lambda: journal_has(NAME, '"name": "mgr"'),
        lambda: journal_has(NAME, '"name": "osd1"'),
        lambda: journal_has(NAME, '"name": "mds"'),
        lambda: journal_has(NAME, f'"filesystem": "{FILESYSTEM}"'),
    ],
    ids=["disks are made", "a server starts", "the cluster becomes clean", "a client mounts"],
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
    target = measured_by_a_campaign(NAME, leadline, tmp_path, traces, FILESYSTEM)
    assert target["replicas"] == 3 and target["version"].startswith("ceph version ")


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_one_campaign_measures_its_images_and_its_objects(leadline: Leadline, tmp_path: Path) -> None:
    path, run = tmp_path / "past_the_mount.toml", tmp_path / "run"
    path.write_text(PAST_THE_MOUNT)
    done = leadline("run", path, "--output", run)
    assert done.returncode == 0, done.stderr
    with RunFolder.open(run).locked():
        records = [each for each in RunFolder.open(run).records() if each.kind is StepKind.CELL]
    assert [record.reason for record in records if record.reason] == []
    assert {(record.facts["access"], record.cell["rw"]) for record in records} == {
        (ioengine, rw) for ioengine in ("rbd", "rados") for rw in ("randread", "write")
    }
    assert all(part.operations > 0 for record in records for part in record.measurements)


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_lab_down_cleans_after_a_killed_campaign(
    argv: Callable[..., list[str]], leadline: Leadline, tmp_path: Path, traces: Look
) -> None:
    cleaned_after_a_killed_campaign(NAME, argv, leadline, tmp_path, traces)


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_images_and_objects_hold_what_fio_writes_into_them() -> None:
    ready = up(NAME, {"images": "2"})
    assert len(ready.accesses["rbd"].spread) == 2
    assert fio(ready, "rbd", "write", 16, "--end_fsync=1", image=1) == 16 * MIB
    images = _used_by_images(ready)
    assert images == {"image0": 0, "image1": 16 * MIB}
    name = "--filename_format=here.$filenum"
    assert fio(ready, "rados", "write", 136, name, "--end_fsync=1") == 136 * MIB
    objects = _object_bytes(ready, "here.0")
    assert objects == 136 * MIB, "beyond 128 MiB, Ceph's own limit, nothing arrives and fio does not notice"
    before = received_bytes(ready)
    assert fio(ready, "rados", "read", 136, name) == 136 * MIB
    assert received_bytes(ready) - before > 136 * MIB


@pytest.mark.fio
@pytest.mark.usefixtures("installed")
def test_options_reach_the_client_and_the_layout_of_files() -> None:
    layout = {"stripe_unit": "1048576", "stripe_count": "3", "object_size": "4194304"}
    ready = up(NAME, {"client_oc": "false", "osd_op_num_shards": "3", **layout})
    said = os.getxattr(ready.directory, "ceph.dir.layout").decode()
    assert said.startswith("stripe_unit=1048576 stripe_count=3 object_size=4194304 ")
    path = Path(ready.directory) / "file"
    path.write_bytes(b"x" * 8 * MIB)
    for _ in range(2):
        before = received_bytes(ready)
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            assert len(file.read()) == 8 * MIB
        assert received_bytes(ready) - before > 8 * MIB, "it was read from the client's own cache"
    assert ready.facts["options"] == {"client_oc": "false", "osd_op_num_shards": "3"}


@pytest.mark.usefixtures("installed")
def test_a_server_that_dies_while_the_others_come_up_is_named(traces: Look) -> None:
    before = traces()

    def kill() -> None:
        pids: list[int] = []
        assert eventually(lambda: pids.extend(filter(None, [pid_of("osd2")])) or bool(pids))
        # Not by a second look: where nothing is found then, process 0 would be all of us.
        os.kill(pids[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(UserError, match="osd2 ended before it served; it said: "):
        up(NAME)
    killer.join()
    assert known_labs() == [] and eventually(lambda: traces() == before)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("program", ["ceph-mon", "ceph-osd", "ceph-fuse"])
def test_a_program_that_cannot_start_is_told_with_its_words(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traces: Look
) -> None:
    before = traces()
    shadow(program, tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match=f"{program}.* failed and said: the port is taken"):
        up(NAME)
    assert known_labs() == [] and eventually(lambda: traces() == before)


@pytest.mark.usefixtures("installed")
def test_a_value_that_ceph_cannot_read_is_refused_before_anything_is_made() -> None:
    with pytest.raises(UserError, match=r'"rbd_cache_size" of cephfs cannot be "12x": parse error[^\n]*\)$'):
        up(NAME, {"rbd_cache_size": "12x"})
    assert known_labs() == []


@pytest.mark.usefixtures("installed")
def test_what_the_monitor_refuses_is_told_with_its_words(traces: Look) -> None:
    before = traces()
    with pytest.raises(UserError, match=r"monitor of cephfs said: Error ERANGE: pg_num 1024"):
        up(NAME, {"pg_num": "1024"})
    assert known_labs() == [] and eventually(lambda: traces() == before)


@pytest.mark.anybody
def test_options_go_to_their_sections_and_the_pools_grow_with_the_nodes() -> None:
    options = {
        "size": "2",
        "client_oc": "",
        "osd_op_num_shards": "2",
        "images": "0",
        "object_size": "8388608",
    }
    shape = shape_of(Wishes(1, storage_nodes=5, options=options))
    settings = {"client": {"client_oc": "true"}, "osd": {"osd_op_num_shards": "2"}}
    assert shape == Shape(5, 2, 64, 0, settings, {"object_size": 8388608})
    assert shape_of(Wishes(1)) == Shape(3, 3, 32, 16, {}, {})


@pytest.mark.anybody
@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(1, storage_nodes=2), "keeps 3 replicas on as many hosts and has 2"),
        (Wishes(1, options={"size": "three"}), 'a number from 1 to 10, not "three"'),
        (Wishes(1, options={"size": "0"}), 'a number from 1 to 10, not "0"'),
        (Wishes(1, options={"client_oc_sise": "9"}), 'did you mean "client_oc_size"'),
        (Wishes(1, clients=0), "at least 1 client"),
    ],
)
def test_what_makes_no_cluster_is_refused(wishes: Wishes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        shape_of(wishes)


@pytest.mark.anybody
def test_a_file_that_no_object_can_hold_is_not_offered_to_rados() -> None:
    assert offers_objects(Wishes((4 << 30) - 1)) and not offers_objects(Wishes(4 << 30))


def _used_by_images(ready: Ready) -> dict[str, int]:
    conf = lab_state(NAME).folder / "ceph" / "ceph.conf"
    said = json.loads(at_client(ready, "rbd", "--conf", str(conf), "du", "--format", "json"))
    return {image["name"]: image["used_size"] for image in said["images"]}


def _object_bytes(ready: Ready, name: str) -> int:
    conf = lab_state(NAME).folder / "ceph" / "ceph.conf"
    return int(at_client(ready, "rados", "--conf", str(conf), "--pool", "rados", "stat", name).split()[-1])
