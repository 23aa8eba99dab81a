"""NFS really up: servers with disks of their own, jobs spread over them, every byte accounted for, nothing left by any end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import (
    UP_AND_MEASURED_WITHIN_SECONDS,
    journal_has,
    killed_when,
    shadow,
    statuses,
    up,
)
from lab_parts import eventually
from nfs_parts import MEBIBYTE, NAME, build_or_skip, cell, disks, moved, perform, stored

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.nfs_options import configuration, shape_of
from leadline.run.lab.state import known_labs

Fork = Callable[[Callable[[], None]], int]
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]
CYCLES = 8
LOSES_WITHIN_TRIES = 60
"""It takes one or two; the first that loses something is the last."""
CAMPAIGN = """
name = "tiny"
baselines = false
noise_repeats = 0
[target]
name = "nfs"
storage_nodes = 2
[[experiment]]
name = "big"
rw = ["read", "write"]
block_size = "1m"
ioengine = "nfs"
iodepth = 4
numjobs = 3
clients = [1, 2]
size = "8m"
runtime = "300ms"
[[experiment]]
name = "small"
rw = ["randread", "randwrite"]
block_size = "4k"
ioengine = "nfs"
size = "8m"
runtime = "300ms"
"""
ASK_LIBNFS = """
import ctypes, sys
library = ctypes.CDLL("libnfs.so.13")
for name in ("nfs_init_context", "nfs_get_readmax", "nfs_get_writemax"):
    getattr(library, name).restype = ctypes.c_uint64
context = ctypes.c_void_p(library.nfs_init_context())
assert library.nfs_mount(context, sys.argv[1].encode(), b"/export") == 0
print(library.nfs_get_readmax(context), library.nfs_get_writemax(context))
"""


@pytest.fixture
def engine() -> Path:
    return build_or_skip()


@pytest.fixture
def unpatched(tmp_path: Path) -> Path:
    """fio's engine as it is."""
    nothing = tmp_path / "nothing.patch"
    nothing.touch()
    return build_or_skip(nothing)


@pytest.mark.usefixtures("engine")
def test_many_cycles_leave_nothing(traces: Look) -> None:
    before = traces()
    for _ in range(CYCLES):
        up(NAME)
        lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


@pytest.mark.fio
@pytest.mark.usefixtures("engine")
def test_jobs_are_spread_and_their_bytes_arrive_on_both_disks(tmp_path: Path) -> None:
    ready = up(NAME, clients=2, nodes=2)
    assert len({seat.namespace for seat in ready.clients}) == 2 and "://" in ready.directory
    first = perform(ready, tmp_path / "first", cell("write", jobs=3, depth=4))
    second = perform(ready, tmp_path / "second", cell("write", jobs=1), client=2)
    assert (first.reason, second.reason) == (None, None)
    assert stored() == [
        {"leadline-files-client1.0.0": 8 * MEBIBYTE, "leadline-files-client1.1.0": 8 * MEBIBYTE},
        {"leadline-files-client1.0.0": 8 * MEBIBYTE, "leadline-files-client2.0.0": 8 * MEBIBYTE},
    ]
    assert sorted(each.job for each in first.measurements) == [0, 1, 2]


@pytest.mark.fio
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("depth", [1, 8, 32])
def test_every_byte_is_counted_and_stored_at_any_iodepth(depth: int, tmp_path: Path) -> None:
    ready = up(NAME)
    written = perform(ready, tmp_path / "w", cell("write", 2, depth, 32 * MEBIBYTE, end_fsync=True))
    assert written.reason is None and moved(written) == sum(stored()[0].values()) == 64 * MEBIBYTE
    assert perform(ready, tmp_path / "r", cell("randread", 2, depth, 32 * MEBIBYTE)).reason is None
    timed = perform(ready, tmp_path / "t", cell("randwrite", 2, depth, 32 * MEBIBYTE, runtime=0.3))
    assert timed.reason is None and all(each.operations == each.latency.count for each in timed.measurements)


@pytest.mark.fio
@pytest.mark.usefixtures("engine")
def test_what_the_unpatched_engine_loses_is_never_published(unpatched: Path, tmp_path: Path) -> None:
    """It is a race: repeated until it shows; a run that lost bytes on the server and counts is a failure at once."""
    ready = up(NAME)
    reasons: list[str] = []
    for number in range(LOSES_WITHIN_TRIES):
        asked = cell("write", jobs=2, depth=8, each_bytes=32 * MEBIBYTE)
        outcome = perform(ready, tmp_path / str(number), asked, f"try{number}", engine=unpatched)
        arrived = sum(size for name, size in stored()[0].items() if f"try{number}-" in name)
        if outcome.reason is None:
            assert arrived == moved(outcome) == 64 * MEBIBYTE
            continue
        reasons.append(outcome.reason)
        if "I/O was lost" in outcome.reason:
            return
    pytest.fail(f"{LOSES_WITHIN_TRIES} tries lost nothing: the engine may have been mended; {reasons}")


@pytest.mark.fio
@pytest.mark.usefixtures("engine")
def test_the_unpatched_engine_is_caught_where_only_time_bounds_the_step(
    unpatched: Path, tmp_path: Path
) -> None:
    """Nothing is expected in bytes there: what was issued and never came back gives it away."""
    ready = up(NAME)
    assert perform(ready, tmp_path / "w", cell("write", 2)).reason is None
    for number in range(LOSES_WITHIN_TRIES):
        asked = cell("randwrite", jobs=2, depth=8, runtime=0.2)
        outcome = perform(ready, tmp_path / str(number), asked, engine=unpatched)
        if outcome.reason is None:
            assert "Failed NFS operation" not in outcome.raw["fio.stderr"].decode()
            continue
        # Whether the engine said a word of it or not.
        assert "I/Os never completed: I/O was lost" in outcome.reason
        return
    pytest.fail(f"{LOSES_WITHIN_TRIES} tries lost nothing: the engine may have been mended")


@pytest.mark.fio
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("rw", ["randread", "randwrite", "read"])
def test_files_that_are_not_there_are_no_result_though_fio_exits_with_0(rw: str, tmp_path: Path) -> None:
    ready = up(NAME, nodes=2)
    none = perform(ready, tmp_path / "none", cell(rw, jobs=2, runtime=0.2))
    assert none.reason is not None and "did no I/O" in none.reason and "NFS3ERR_NOENT" in none.reason
    assert perform(ready, tmp_path / "w", cell("write", jobs=1)).reason is None  # on the first server only
    half = perform(ready, tmp_path / "half", cell(rw, jobs=2, runtime=0.2))
    assert half.reason is not None and "job 1 did no I/O while others did" in half.reason


@pytest.mark.usefixtures("engine")
def test_options_reach_the_server_and_the_client(tmp_path: Path) -> None:
    ready = up(NAME, {"MaxRead": "65536", "MaxWrite": "131072", "readahead": "1048576"})
    assert ready.directory == "nfs://10.77.1.1/export?readahead=1048576"
    namespace = f"--net=/run/netns/{ready.clients[0].namespace}"
    asked = ["nsenter", namespace, sys.executable, "-c", ASK_LIBNFS, "10.77.1.1"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["65536", "131072"]
    assert perform(ready, tmp_path / "w", cell("write", depth=4)).reason is None
    assert perform(ready, tmp_path / "r", cell("read", depth=4)).reason is None


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "options", [{"MaxRead": "1"}, {"RPC_Ioq_ThrdMax": "0"}], ids=["it would serve no export", "it would end"]
)
def test_a_value_that_ganesha_refuses_is_one_sentence(options: dict[str, str]) -> None:
    ((name, text),) = options.items()
    with pytest.raises(
        UserError, match=rf'does not take the option "{name} = {text}": \({text}\) is out of range'
    ):
        up(NAME, options)
    assert known_labs() == []


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "moment",
    [
        lambda: journal_has(NAME, "disk1.img"),
        lambda: journal_has(NAME, '"name": "rpcbind1"'),
        lambda: journal_has(NAME, '"name": "ganesha2"'),
    ],
    ids=["a disk is made", "the first server starts", "the second server starts"],
)
def test_killed_while_it_comes_up_another_process_cleans_up(
    moment: Callable[[], bool], forked: Fork, traces: Look
) -> None:
    before = traces()
    killed_when(moment, forked, lambda: up(NAME, nodes=2))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("command", "name"), [("ganesha.nfsd", "ganesha1"), ("rpcbind", "rpcbind1")])
def test_a_server_that_cannot_start_is_told_with_its_words(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow(command, tmp_path / "bin", monkeypatch)
    with pytest.raises(UserError, match=f"{name} ended before it served; it said: the port is taken"):
        up(NAME)
    assert known_labs() == []


@pytest.mark.fio
@pytest.mark.usefixtures("engine")
def test_a_campaign_measures_it_and_takes_it_down(leadline: Leadline, tmp_path: Path, traces: Look) -> None:
    before, run = traces(), tmp_path / "run"
    (tmp_path / "tiny.toml").write_text(CAMPAIGN)
    done = leadline("run", tmp_path / "tiny.toml", "--output", run)
    assert done.returncode == 0, done.stderr
    assert len(statuses(run)) >= 6 and set(statuses(run)) == {"finished"}
    target = json.loads((run / "environment.json").read_text())["target"]
    assert target["protocol"] == "NFSv3" and target["storage_nodes"] == 2
    assert eventually(lambda: traces() == before)


@pytest.mark.fio
@pytest.mark.usefixtures("engine")
def test_lab_down_cleans_after_a_killed_campaign(
    argv: Callable[..., list[str]], leadline: Leadline, tmp_path: Path, traces: Look
) -> None:
    before, run, quiet = traces(), tmp_path / "run", subprocess.DEVNULL
    (tmp_path / "tiny.toml").write_text(CAMPAIGN)
    words = argv("run", tmp_path / "tiny.toml", "--output", run)
    with subprocess.Popen(words, cwd=tmp_path, stdout=quiet, stderr=quiet) as started:
        assert eventually(lambda: bool(statuses(run)), UP_AND_MEASURED_WITHIN_SECONDS)
        started.kill()
    assert leadline("lab", "down").returncode == 0
    assert eventually(lambda: traces() == before)


@pytest.mark.usefixtures("engine")
def test_each_disk_belongs_to_one_server() -> None:
    up(NAME, nodes=2)
    assert len({disk.stat().st_dev for disk in disks()}) == 2


@pytest.mark.anybody
@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(1, clients=0), "at least 1 client and 1 storage node"),
        (Wishes(1, storage_nodes=0), "at least 1 client and 1 storage node"),
        (Wishes(1, options={"MaxRaed": "1"}), 'no option "MaxRaed"; did you mean "MaxRead"'),
        (Wishes(1, options={"MaxRead": "1m"}), '"MaxRead" of nfs is a whole number, not "1m"'),
        (Wishes(1, options={"NFS_Commit": "yes"}), '"NFS_Commit" of nfs is true or false, not "yes"'),
        (Wishes(1, options={"readahead": "1&version=4"}), '"readahead" of nfs is a whole number'),
    ],
)
def test_what_no_server_knows_is_refused(wishes: Wishes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        shape_of(wishes)


@pytest.mark.anybody
def test_options_are_written_where_their_owner_reads_them() -> None:
    options = {"RPC_Ioq_ThrdMax": "8", "NFS_Commit": "true", "readahead": "4096", "autoreconnect": "0"}
    shape = shape_of(Wishes(1, options=options))
    text = configuration(Path("/disk"), "/export", shape)
    core, exported = text.partition("EXPORT {")[::2]
    assert "RPC_Ioq_ThrdMax = 8;" in core and "NFS_Commit = true;" in exported and "readahead" not in text
    assert shape.nodes == 1 and shape.query == "?readahead=4096&autoreconnect=0"
