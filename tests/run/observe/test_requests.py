"""Which file counts a mount's requests, and which of its names are requests."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from leadline.run.observe.machine import Machine
from leadline.run.observe.mounts import Mount
from leadline.run.observe.requests import counters_of, find_request_counters, requests_in

MOUNTS = """\
20 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw
30 20 0:40 / /mnt/one rw,relatime - fuse.juicefs JuiceFS:one rw,user_id=0
31 20 0:41 / /mnt/two rw,relatime - fuse.moosefs mfs#10.0.0.1:9421 rw,user_id=0
32 20 0:42 / /mnt/hidden rw,relatime - fuse.juicefs JuiceFS:hidden rw,user_id=0
"""


def mount(kind: str, point: str = "/mnt/data", source: str = "server:/export") -> Mount:
    return Mount("0:40", PurePosixPath("/"), PurePosixPath(point), (), kind, source, ())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Two mounts with counters, and one that hides them."""
    texts = {
        "proc/self/mountinfo": MOUNTS,
        "mnt/one/.stats": "juicefs_fuse_ops_total_open 1\n",
        "mnt/two/.stats": "fuse_ops: 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Machine(tmp_path)


def test_counters_lie_in_the_root_of_the_mount_that_the_directory_is_on(machine: Machine) -> None:
    found = [find_request_counters(machine, Path(name)) for name in ("/mnt/one/a/b", "/mnt/two/a")]
    assert [each and each.file for each in found] == ["/mnt/one/.stats", "/mnt/two/.stats"]


def test_a_mount_without_counters_or_with_hidden_ones_has_none(machine: Machine) -> None:
    assert find_request_counters(machine, Path("/mnt/hidden/a")) is None
    assert find_request_counters(machine, Path("/home")) is None
    assert counters_of(mount("fuse.sshfs")) is None


def test_requests_of_juicefs_are_told_by_kind() -> None:
    counters = counters_of(mount("fuse.juicefs"))
    assert counters is not None
    grown = {"juicefs_fuse_ops_total_lookup": 12, "juicefs_meta_ops_total_Lookup": 10, "juicefs_uptime": 3}
    assert requests_in(grown) == {"FUSE lookup": 12, "metadata Lookup": 10}
    fields = counters.step_fields()
    assert fields["counters_prefixes"] == ["juicefs_fuse_ops_total_", "juicefs_meta_ops_total_"]
    assert "counters_section" not in fields


def test_shares_of_a_request_of_moosefs_do_not_count_twice() -> None:
    counters = counters_of(mount("fuse.moosefs"))
    assert counters is not None
    grown = {
        "fuse_ops": 22,
        "fuse_ops.lookup": 12,
        "fuse_ops.lookup.master": 12,
        "fuse_ops.unlink": 10,
        "master.packets_sent": 22,
    }
    assert requests_in(grown) == {"FUSE lookup": 12, "FUSE unlink": 10, "master packets sent": 22}


def test_of_kernel_nfs_only_the_mount_s_own_section_and_its_calls_count() -> None:
    counters = counters_of(mount("nfs4", "/mnt/my data"))
    assert counters is not None
    assert counters.step_fields() == {
        "counters_file": "/proc/self/mountstats",
        "counters_section": r" mounted on /mnt/my\040data with fstype nfs",
    }
    assert requests_in({"GETATTR": 3, "OPEN_NOATTR": 1, "age": 5, "xprt": 1}) == {
        "NFS GETATTR": 3,
        "NFS OPEN_NOATTR": 1,
    }
