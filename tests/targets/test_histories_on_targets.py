"""Known answers found by chance: the published anomalies from random load alone, cache times from single looks, and a mount that dies."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import skip_unless_installed, up
from lab_parts import eventually, is_load_at_work

from attempts import attempts
from leadline.analyse.ladder import Rung, Verdict, climb
from leadline.analyse.staleness import staleness
from leadline.run.consistency.clients import Station
from leadline.run.consistency.histories import Asked, FreeRun, sound_histories
from leadline.run.lab import lifecycle
from leadline.run.lab.juicefs import JUICEFS
from leadline.store.histories import Histories, read_histories

Leadline = Callable[..., subprocess.CompletedProcess[str]]
Sounded = Callable[..., tuple[subprocess.CompletedProcess[str], Histories]]


@pytest.fixture
def sounded(leadline: Leadline, tmp_path: Path) -> Sounded:
    """Runs the command; what it said, and what came of it."""

    def sound(*words: object) -> tuple[subprocess.CompletedProcess[str], Histories]:
        path = tmp_path / "histories.json"
        done = leadline("consistency", *words, "--histories-json", path)
        assert path.exists(), done.stdout + done.stderr
        return done, read_histories(path)

    return sound


def rung(result: Histories, kind: str, guarantee: str) -> Rung:
    return next(each for each in climb([result.report]) if (each.kind, each.guarantee) == (kind, guarantee))


def violated(result: Histories) -> list[tuple[str, str]]:
    return [
        (each.kind, each.guarantee)
        for each in climb([result.report])
        if each.verdict is not Verdict.HELD and each.verdict is not Verdict.NOT_EXERCISED
    ]


def caches(seconds: float) -> Sequence[str]:
    names = ("attr-cache", "entry-cache", "dir-entry-cache")
    return [word for name in names for word in ("--option", f"{name}={seconds:g}")]


def test_random_load_on_default_juicefs_finds_the_published_anomalies_within_a_minute(
    sounded: Sounded, tmp_path: Path
) -> None:
    skip_unless_installed("juicefs")
    words = ("--target", "juicefs", "--only", "histories", "--histories", "10s", "--patience", "2s")
    for number, attempt in enumerate(attempts()):
        kept = tmp_path / f"kept{number}"
        done, result = sounded(*words, "--promise", "eventual", "--keep-histories", kept)
        lost = rung(result, "append_log", "no_lost_write")
        assert lost.anomalies.keys() <= {"lost"}
        for guarantee in ("no_invented_data", "no_lost_write"):
            assert rung(result, "session_file", guarantee).verdict is not Verdict.VIOLATED
        # A whole file is read stale at most by who opens it while another thread of the same mount does: JuiceFS tells the second
        # of them to keep its pages, which is heard before the first one drops them.
        stale, sessions = stale_sessions(kept)
        assert len(stale) == rung(result, "session_file", "close_to_open").violating
        assert [each for each in stale if not any(each.beside(other) for other in sessions)] == []
        with attempt:  # how much is done in ten seconds, and so met by chance
            assert result.settings["elapsed_seconds"] < 60
            assert done.returncode == 1 and "eventual: violated" in done.stdout, done.stdout + done.stderr
            # Appended and acknowledged, and not there in the end.
            assert lost.verdict is Verdict.VIOLATED
            # Removed, and still seen; replaced by rename, and gone for a while.
            names = rung(result, "entry", "bounded_staleness").anomalies
            assert names.keys() >= {"stale", "vanished"}
            assert rung(result, "entry", "linearizable").verdict is Verdict.VIOLATED
            for guarantee in ("no_invented_data", "no_lost_write"):
                assert rung(result, "session_file", guarantee).verdict is Verdict.HELD


def test_juicefs_keeps_close_to_open_for_clients_that_do_one_thing_at_a_time(sounded: Sounded) -> None:
    skip_unless_installed("juicefs")
    load = ("--only", "histories", "--histories", "5s", "--workers", 1, "--patience", "2s")
    for attempt in attempts():
        _, result = sounded("--target", "juicefs", *load)
        whole = [
            rung(result, "session_file", guarantee)
            for guarantee in ("no_invented_data", "no_lost_write", "close_to_open")
        ]
        assert [each for each in whole if each.verdict is Verdict.VIOLATED] == []
        with attempt:  # that it was looked at often enough
            assert {each.verdict for each in whole} == {Verdict.HELD} and whole[-1].checked > 50


@dataclass(frozen=True)
class Session:
    """A whole file written, or read, between open and close; what was not answered well is left out."""

    object: int
    written: int
    read: int
    client: int
    worker: int
    start_ns: int
    end_ns: int

    def beside(self, other: Session) -> bool:
        """Whether another thread of the same mount had the file in hand at the same time."""
        same = (self.object, self.client) == (other.object, other.client) and self.worker != other.worker
        return same and self.start_ns <= other.end_ns and other.start_ns <= self.end_ns


def stale_sessions(kept: Path) -> tuple[list[Session], list[Session]]:
    """Those that read what had been replaced before they began; and all."""
    fields = ("object", "value_in", "value_out", "client", "worker", "start_ns", "end_ns")
    records = [record for path in kept.glob("*.history") for record, _ in records_of(path.read_bytes())]
    sessions = [
        Session(*(record[name] for name in fields))
        for record in records
        if (record["kind"], record["outcome"]) == (3, 0)
    ]
    writes = {(each.object, each.written): each for each in sessions if each.written}

    def is_stale(session: Session) -> bool:
        origin = writes.get((session.object, session.read))
        return origin is not None and any(
            each.object == session.object and origin.end_ns < each.start_ns and each.end_ns < session.start_ns
            for each in writes.values()
        )

    return [each for each in sessions if not each.written and is_stale(each)], sessions


def test_juicefs_without_cache_times_loses_only_appends_that_overlap_one_of_another_client(
    sounded: Sounded, tmp_path: Path
) -> None:
    skip_unless_installed("juicefs")
    words = (
        "--target",
        "juicefs",
        *caches(0),
        "--only",
        "histories",
        "--histories",
        "8s",
        "--patience",
        "1s",
    )
    for number, attempt in enumerate(attempts()):
        kept = tmp_path / f"kept{number}"
        _, result = sounded(*words, "--keep-histories", kept)
        appends, final = appends_and_final_logs(kept)
        judged = rung(result, "append_log", "no_lost_write")
        assert len(appends) == judged.checked
        lost = [each for each in appends if each.value not in final[each.object]]
        assert len(lost) == judged.violating
        assert [each for each in lost if not any(each.overlaps(other) for other in appends)] == []
        with attempt:  # that there were enough of them
            assert judged.checked > 30


@dataclass(frozen=True)
class Append:
    """One that was acknowledged."""

    object: int
    value: int
    client: int
    start_ns: int
    end_ns: int

    def overlaps(self, other: Append) -> bool:
        """Whether another client appended to the same log at the same time."""
        same = self.object == other.object and self.client != other.client
        return same and self.start_ns <= other.end_ns and other.start_ns <= self.end_ns


def appends_and_final_logs(kept: Path) -> tuple[list[Append], dict[int, tuple[int, ...]]]:
    """As any program would read the files: by the fields that their first line names."""
    appends: list[Append] = []
    final: dict[int, tuple[int, ...]] = {}
    for path in kept.glob("*.history"):
        for record, values in records_of(path.read_bytes()):
            log = (record["kind"], record["outcome"]) == (4, 0)
            if log and record["action"] == 3:
                times = record["start_ns"], record["end_ns"]
                appends.append(Append(record["object"], record["value_in"], record["client"], *times))
            elif log and (record["action"], record["moment"]) == (2, 2):
                final[record["object"]] = values
    return appends, final


def records_of(content: bytes) -> Iterator[tuple[dict[str, int], tuple[int, ...]]]:
    header, _, blocks = content.partition(b"\n")
    fields = json.loads(header)["fields"]
    codes = {"i64": "q", "u64": "Q", "u32": "I", "u16": "H", "i16": "h", "u8": "B"}
    layout = struct.Struct("<" + "".join(codes[width] for _, width in fields))
    while blocks.startswith(b"BLCK"):
        count, values, _ = struct.unpack_from("<III", blocks, 4)
        lists = list(struct.unpack_from(f"<{values}Q", blocks, 16 + count * layout.size))
        for place in range(count):
            told = layout.unpack_from(blocks, 16 + place * layout.size)
            record = {name: value for (name, _), value in zip(fields, told, strict=True)}
            own, lists = lists[: record["values_count"]], lists[record["values_count"] :]
            yield record, tuple(own)
        blocks = blocks[16 + count * layout.size + 8 * values :]


@pytest.mark.parametrize("cache_seconds", [1.0, 0.3])
def test_single_looks_give_the_cache_time_of_juicefs_away(sounded: Sounded, cache_seconds: float) -> None:
    skip_unless_installed("juicefs")
    words = (
        "--target",
        "juicefs",
        *caches(cache_seconds),
        "--only",
        "delays",
        "--delays",
        60,
        "--patience",
        "2s",
    )
    for attempt in attempts():
        _, result = sounded(*words, "--longest-delay", f"{2 * cache_seconds:g}s")
        curves = {each.mechanism: each for each in staleness(result.delays)}
        with attempt:
            for mechanism in (
                "unlink -> stat",
                "overwrite -> size",
                "append -> length",
                "rename over -> open",
            ):
                time_seen = curves[mechanism].cache_time
                assert time_seen is not None, mechanism
                slack = 0.05  # what a call takes on a busy machine
                assert time_seen.low_seconds - slack <= cache_seconds <= time_seen.high_seconds + slack, (
                    mechanism
                )
            assert result.facts["never_true"]["rename over -> open"] > 0


def test_one_ext4_mounted_twice_holds_everything(
    sounded: Sounded, work_directory: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    subprocess.run(["mount", "--bind", work_directory.parent, second], check=True)
    try:
        words = (work_directory, second / work_directory.name, "--control", "--patience", "0.3s")
        for attempt in attempts():
            done, result = sounded(
                *words, "--only", "histories", "--histories", "5s", "--workers", 6, "--promise", "posix"
            )
            assert done.returncode == 0, done.stdout
            assert violated(result) == []
            exercised = {each.kind for each in climb([result.report]) if each.verdict is Verdict.HELD}
            with attempt:
                assert len(exercised) == 8
    finally:
        subprocess.run(["umount", second], check=True)


def test_a_mount_whose_daemon_is_killed_in_mid_run_leaves_doubts_and_nothing_is_lost(tmp_path: Path) -> None:
    skip_unless_installed("juicefs")
    for attempt in attempts():
        result, stations = sounded_while_the_second_mount_dies()
        told: dict[int, Any] = {each["client"]: each for each in result.facts["work"]}
        for kind in ("entry", "name_pair"):
            assert rung(result, kind, "no_lost_write").verdict is Verdict.HELD
        assert not list(stations[0].directory.glob("leadline-*"))
        lifecycle.tear_down("juicefs")
        with attempt:  # that a stall has not put the kill off until the load was over
            assert told[1]["doubts"] > 0 and told[1]["given_up_workers"] > 0
            assert told[0]["given_up_workers"] == 0 and told[0]["operations"] > told[1]["operations"]
            assert any("Client 1" in note and "ended in doubt" in note for note in result.notes), result.notes


def sounded_while_the_second_mount_dies() -> tuple[Histories, list[Station]]:
    ready = up("juicefs", {"attr-cache": "0", "entry-cache": "0", "dir-entry-cache": "0"}, clients=3)
    stations = [
        Station(name, Path(seat.directory), seat.namespace, seat.groups)
        for name, seat in zip(("A", "B", "witness"), ready.clients, strict=True)
    ]
    killer = threading.Thread(target=lambda: kill_daemon_under_load(stations[1]))
    killer.start()
    asked = Asked(FreeRun(5.0, flavours=("linked_file", "name_pair")), None, 1.0)
    try:
        return sound_histories("dies", stations[:2], stations[2], asked, {}), stations
    finally:
        killer.join()


def kill_daemon_under_load(station: Station) -> None:
    """The daemon behind a station's mount, which is what runs in its namespace all the time."""
    # A load that cannot even begin is an error of the user's. It has begun on all mounts when its threads are there.
    assert eventually(lambda: any(map(is_load_at_work, processes_at(station))))
    time.sleep(0.5)  # of the five seconds of load
    for process in processes_at(station):
        with contextlib.suppress(OSError):
            if (process / "exe").readlink() == JUICEFS.path:
                os.kill(int(process.name), signal.SIGKILL)


def processes_at(station: Station) -> Iterator[Path]:
    """What runs on the host of a station."""
    namespace = Path(f"/run/netns/{station.namespace}").stat().st_ino
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "ns" / "net").stat().st_ino == namespace:
                yield entry
