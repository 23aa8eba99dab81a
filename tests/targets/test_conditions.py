"""Conditions on real targets: each holds as was said, stands in the facts, and goes with the lab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import skip_unless_installed
from held_parts import Held
from lab_parts import EVERYTHING, eventually

from attempts import attempts
from leadline.errors import UserError
from leadline.plan.sites import Conditions
from leadline.run.lab import lifecycle
from leadline.run.lab.holding import check_conditions
from leadline.run.lab.journal import Journal
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.parts import counted_namespaces, parts_of
from leadline.run.lab.registry import TARGETS, lab_target
from leadline.run.lab.state import Ready, Seat, lab_state
from leadline.run.lab.tools import in_groups
from leadline.run.observe.network_namespaces import NamespaceReader

DATA_BYTES = 64 << 20
MIB = 1 << 20
Killed = Callable[[int, Callable[[], object]], int]
Look = Callable[[], Any]


def up(name: str, clients: int = 1, **conditions: Any) -> Ready:
    wishes = Wishes(DATA_BYTES, clients, conditions=Conditions(**conditions))
    return lifecycle.bring_up(name, lab_target(name), wishes, lambda line: None)[0]


def fio(seat: Seat, rw: str, block_size: str, *more: str) -> Mapping[str, float]:
    """As the load of a client: in its namespace and in its groups."""
    words = ("timeout", "-k", "3", "60", "fio", "--name=x", f"--directory={seat.directory}", f"--rw={rw}", f"--bs={block_size}",
             "--ioengine=psync", "--output-format=json", *more)  # fmt: skip
    where = ("nsenter", f"--net=/run/netns/{seat.namespace}", "--") if seat.namespace else ()
    done = subprocess.run(
        in_groups(seat.groups, (*where, *words)), capture_output=True, text=True, check=True
    )
    figures: Mapping[str, float] = json.loads(done.stdout)["jobs"][0]["write" if "write" in rw else "read"]
    return figures


@pytest.fixture
def distributed(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    skip_unless_installed(name)
    return name


both = pytest.mark.parametrize("distributed", ["glusterfs", "moosefs"], indirect=True)


@both
@pytest.mark.fio
def test_a_shaped_cable_carries_what_was_said_and_no_more(distributed: str) -> None:
    """While it is busy: opening the file and waiting for the last answer take time in which nothing is sent."""
    shape = 10e6
    ready = up(distributed, link=shape)
    with NamespaceReader(counted_namespaces(lab_state(distributed), ready)) as reader:
        for attempt in attempts():
            rates = sent_meanwhile(
                reader, lambda: fio(ready.clients[0], "write", "1m", "--size=24m", "--end_fsync=1")
            )
            assert max(rates) < 1.1 * shape
            with attempt:
                assert max(rates) > 0.9 * shape
    assert ready.facts["conditions"] == {"link": shape}


def sent_meanwhile(reader: NamespaceReader, act: Callable[[], object]) -> list[float]:
    """Bytes a second that the first client sent, in windows of half a second or a little less: never more than it was."""
    working = threading.Thread(target=act)
    working.start()
    rates, begun, counted = [], time.monotonic(), reader.counters()
    while working.is_alive():
        working.join(0.5)
        begun_next, now = time.monotonic(), reader.counters()
        name = "host.client1.nic.v0.transmit_bytes"
        rates.append((now[name] - counted[name]) / (time.monotonic() - begun))
        begun, counted = begun_next, now
    return rates


@both
def test_each_host_has_a_name_and_each_server_an_entry(distributed: str) -> None:
    ready = up(distributed, clients=2)
    assert Ready.read(lab_state(distributed).ready) == ready
    servers = {"glusterfs": "glusterd", "moosefs": "chunkserver"}[distributed]
    assert {f"{servers}{number}": number for number in (1, 2, 3)}.items() <= ready.hosts.items()
    first = ready.hosts["client1"]
    assert ready.clients[0].namespace.endswith(f"-h{first}") and ready.hosts["client2"] == first + 1
    journal = Journal(lab_state(distributed).journal)
    assert {journal.entry(number).resource.name for number in ready.servers.values()} == set(ready.servers)  # type: ignore[union-attr]
    assert list(parts_of(lab_state(distributed), ready).disks) == ["disk1", "disk2", "disk3"]


@pytest.mark.fio
@pytest.mark.parametrize("name", ["ext4", "xfs", "btrfs"])
def test_a_slow_disk_is_slow_for_the_load_and_for_the_kernels_own_writeback(name: str) -> None:
    (seat,) = seats(up(name, disk_read_iops=200, disk_write_bandwidth=4 * MIB))
    for attempt in attempts():
        wrote = fio(seat, "write", "64k", "--size=6m", "--direct=1")
        # Never more; how much less is this machine's affair (3.0 of 4 MiB/s was seen once on btrfs under a load of 10, cause not found).
        assert wrote["bw_bytes"] < 1.1 * 4 * MIB
        with attempt:
            assert wrote["bw_bytes"] > 2 * MIB
    for attempt in attempts():  # of its own: a stall spoils the one or the other
        # Of the file just written: one that fio laid out itself would first be flushed, at the slow disk's pace and in the reads' time.
        read = fio(seat, "randread", "4k", "--size=6m", "--direct=1", "--runtime=1", "--time_based")
        assert read["iops"] < 1.15 * 200
        with attempt:
            assert read["iops"] > 0.6 * 200
    path, content = Path(seat.directory) / "buffered", os.urandom(8 * MIB)
    started = time.monotonic()  # the kernel may begin while this process stands still before its sync
    path.write_bytes(content)
    subprocess.run(["sync", "--file-system", path], check=True, timeout=120)
    assert time.monotonic() - started > 0.9 * 8 / 4 - 0.5  # not in the writer's own name


@both
@pytest.mark.fio
def test_slow_disks_hold_the_servers_of_a_distributed_target(distributed: str) -> None:
    """From the first byte to the last that the kernel writes back: servers keep in memory what no fsync forces."""
    limit, size = 8 * MIB, 20 * MIB
    ready = up(distributed, disk_write_bandwidth=limit)
    for attempt in attempts():
        sync_at_once(disks(distributed, ready))
        started, before = time.monotonic(), written(ready)
        Path(ready.clients[0].directory, "data").write_bytes(os.urandom(size))
        sync_at_once(disks(distributed, ready))
        gained = [now - then for then, now in zip(before, written(ready), strict=True)]
        seconds = time.monotonic() - started
        assert min(gained) >= size and max(gained) / seconds < 1.1 * limit
        with attempt:  # the rest is the client's writing, before there is anything to sync
            assert min(gained) / seconds > 0.6 * limit


@both
@pytest.mark.fio
def test_a_small_client_has_its_cores_and_memory_with_its_mount(distributed: str) -> None:
    ready = up(distributed, clients=2, client_cores=0.25, client_memory=96 * MIB)
    for seat in ready.clients:
        assert len(seat.groups) == 2
        (cpu,) = [Path(path) for path in seat.groups if "/cpu/" in path]
        (memory,) = [Path(path) for path in seat.groups if "/memory/" in path]
        assert (cpu / "cgroup.procs").read_text().split() == (memory / "cgroup.procs").read_text().split()
        mount = (cpu / "cgroup.procs").read_text().split()
        assert len(mount) >= 1 and seat.directory.removesuffix("/work") in commands(mount)
        assert (memory / "memory.limit_in_bytes").read_text().strip() == str(96 * MIB)
    seat = ready.clients[0]
    cpu = Path(next(path for path in seat.groups if "/cpu/" in path))
    memory = Path(next(path for path in seat.groups if "/memory/" in path))
    (daemon,) = [int(pid) for pid in (cpu / "cgroup.procs").read_text().split()]
    started, used = time.monotonic(), cpu_seconds(daemon)
    figures = fio(seat, "randread", "4k", "--size=8m", "--runtime=3", "--time_based")
    used, seconds = cpu_seconds(daemon) - used, time.monotonic() - started
    assert (
        figures["total_ios"] > 0 and used / seconds < 0.25 * 1.2
    )  # the mount; the load shares the quota with it
    statistics = dict(line.split() for line in (cpu / "cpu.stat").read_text().splitlines())
    assert int(statistics["nr_throttled"]) > 0
    assert int((memory / "memory.max_usage_in_bytes").read_text()) <= 96 * MIB
    assert ready.facts["conditions"] == {"client_cores": 0.25, "client_memory": 96 * MIB}


def test_a_client_of_a_quarter_of_a_core_on_a_local_target_gets_no_more() -> None:
    (seat,) = up("tmpfs", client_cores=0.25, client_memory=64 * MIB).clients
    assert seat.namespace == ""
    busy = "import time; begun = time.monotonic()\nwhile time.process_time() < 0.4: pass\nprint(time.monotonic() - begun)"
    said = subprocess.run(
        in_groups(seat.groups, (sys.executable, "-c", busy)), capture_output=True, text=True, check=True
    )
    assert float(said.stdout) > 0.8, (
        "0.4 s of a processor take 1.6 s then, but for what was spent on the way there"
    )
    takes = "bytearray(b'x') * (256 << 20); print('got it')"
    done = subprocess.run(
        in_groups(seat.groups, (sys.executable, "-c", takes)), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "got it" not in done.stdout


def test_lost_packets_are_sent_again() -> None:
    skip_unless_installed("moosefs")
    ready = up("moosefs", packet_loss=2)
    with NamespaceReader(counted_namespaces(lab_state("moosefs"), ready)) as reader:
        Path(ready.directory, "data").write_bytes(bytes(16 * MIB))
        Path(ready.clients[0].directory, "data").read_bytes()
        counters = reader.counters()
    assert sum(value for name, value in counters.items() if name.endswith("retransmitted_segments")) > 10


def test_conditions_go_with_the_lab_and_leave_no_limit_behind(traces: Look) -> None:
    before, throttled = traces(), throttles()
    ready = up("ext4", disk_write_iops=50, client_cores=0.5, client_memory=64 * MIB)
    assert len(traces().control_groups) == len(before.control_groups) + 2
    assert numbers(ready.facts["device"]) in throttles()
    lifecycle.tear_down("ext4")
    assert traces() == before and throttles() == throttled


def test_twenty_cycles_under_conditions_leave_nothing(traces: Look) -> None:
    before, throttled = traces(), throttles()
    for _ in range(20):
        up("ext4", disk_write_iops=50, client_cores=0.5)
        lifecycle.tear_down("ext4")
    assert traces() == before and throttles() == throttled


ALL = Conditions(1e6, 1.0, 4e6, 4e6, 100, 100, 0.5, 64 * MIB)


@pytest.mark.parametrize("last", range(14, 46, 3))
def test_killed_while_conditions_are_set_it_is_cleaned_by_another_process(
    last: int, killed_after_line: Killed, traces: Look
) -> None:
    before, throttled = traces(), throttles()

    def bring_up() -> None:
        lifecycle.bring_up("held", Held(), Wishes(1, conditions=ALL), lambda line: None)

    status = killed_after_line(last, bring_up)
    assert os.WIFSIGNALED(status) or last > 40
    lifecycle.tear_down("held")
    assert eventually(lambda: traces() == before) and throttles() == throttled


@pytest.mark.anybody
@pytest.mark.parametrize(
    ("name", "conditions", "said"),
    [
        (
            "ext4",
            Conditions(link=1e6),
            "ext4 cannot be held to link: it is a filesystem of this machine alone",
        ),
        ("xfs", Conditions(packet_loss=1), "xfs cannot be held to packet_loss"),
        ("tmpfs", Conditions(disk_read_iops=5), "tmpfs cannot be held to disk_read_iops: it lies in memory"),
        ("moosefs", Conditions(link=0), "link is 0; give a value above 0"),
        ("moosefs", Conditions(packet_loss=100), "packet_loss is 100 %; give less than 100"),
    ],
)
def test_what_a_target_cannot_be_held_to_is_refused_before_it_is_brought_up(
    name: str, conditions: Conditions, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        check_conditions(name, TARGETS[name], conditions)


def test_refused_conditions_leave_nothing(traces: Look) -> None:
    before = traces()
    with pytest.raises(UserError, match="cannot be held to link"):
        up("ext4", link=1e6)
    with pytest.raises(UserError, match="has no disk of its own to slow down"):
        lifecycle.bring_up(
            "everything", EVERYTHING, Wishes(1, conditions=Conditions(disk_read_iops=9)), print
        )
    assert traces() == before


def test_conditions_are_given_on_the_command_line_and_refused_there_in_one_sentence(
    leadline: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = leadline("lab", "up", "ext4", "--size", "16MiB", "--client-cores", "0.5", "--client-memory", "64MiB",
                    "--disk-write-bandwidth", "20MiB/s", "--disk-read-iops", "100")  # fmt: skip
    assert done.returncode == 0, done.stderr
    ready = Ready.read(lab_state("ext4").ready)
    assert ready is not None
    assert ready.facts["conditions"] == {
        "disk_write_bandwidth": 20 * MIB, "disk_read_iops": 100, "client_cores": 0.5, "client_memory": 64 * MIB,
    }  # fmt: skip
    status = leadline("lab", "status", "ext4").stdout
    assert "disk    disk1  mounted at" in status and "held    0.5 cores a client" in status
    assert leadline("lab", "down", "ext4").returncode == 0
    for wrong in (
        ("--link", "fast"),
        ("--link", "1Gb/s"),
        ("--packet-loss", "100"),
        ("--client-memory", "0"),
    ):
        refused = leadline("lab", "up", "ext4", *wrong)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1, refused.stderr


def seats(ready: Ready) -> Iterator[Seat]:
    yield from ready.clients or (Seat("", ready.directory),)


def entries(name: str) -> list[Any]:
    return Journal(lab_state(name).journal).entries()


def disks(name: str, ready: Ready) -> list[str]:
    return [str(point) for point in parts_of(lab_state(name), ready).disks.values()]


def sync_at_once(points: list[str]) -> None:
    """One sync(1) over all of them would do one after the other."""
    running = [subprocess.Popen(["sync", "--file-system", point]) for point in points]
    assert [each.wait(120) for each in running] == [0] * len(points)


def numbers(device: str) -> str:
    return (Path("/sys/block") / Path(device).name / "dev").read_text().strip()


def written(ready: Ready) -> list[int]:
    """Bytes that each disk has been given so far."""
    stats = [(Path("/sys/block") / Path(each).name / "stat").read_text() for each in ready.facts["disks"]]
    return [int(each.split()[6]) * 512 for each in stats]


def commands(pids: list[str]) -> str:
    return " ".join(Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode() for pid in pids)


def throttles() -> str:
    """Every limit on a block device in the root group."""
    root = Path("/sys/fs/cgroup/blkio")
    return "\n".join(path.read_text() for path in sorted(root.glob("blkio.throttle.*_device")))


def cpu_seconds(pid: int) -> float:
    """User and system time of a process (proc_pid_stat(5), fields 14 and 15)."""
    columns = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(columns[11]) + int(columns[12])) / os.sysconf("SC_CLK_TCK")
