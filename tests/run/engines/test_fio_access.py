"""Past the mount: what a target says to an ioengine becomes part of fio's command, and jobs find their files again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.plan.steps import Layout, Step
from leadline.run.engines.fio import FioEngine
from leadline.run.seams import Access, Invocation, Place
from leadline.store.records import StepKind

ENGINE = FioEngine()
DATA, SCRATCH = Path("/tmp/empty"), Path("/runs/scratch")
URLS = ("nfs://10.77.1.1/export", "nfs://10.77.1.2/export", "nfs://10.77.1.3/export")
LAYOUT = Layout("files-5x64k", 5, 1, 65536, ioengine="nfs")


@pytest.fixture(autouse=True)
def any_fio(fake_fio: Callable[[str], Path]) -> None:
    """That knows `filename`, as the real one does."""
    path = fake_fio("exit 0")
    others = "--enghelp=*|--cmdhelp=*)"
    path.write_text(path.read_text().replace(others, f"--cmdhelp=filename) exit 0;;\n        {others}"))


def servers(count: int) -> Access:
    return Access("external:/cache/fio-nfs.so", spread=tuple({"nfs_url": url} for url in URLS[:count]))


GFAPI = Access("gfapi", options={"volume": "leadline", "brick": "10.77.1.1"}, root="/work")
IMAGES = Access(
    "rbd",
    {"pool": "p"},
    tuple({"rbdname": f"image{each}"} for each in range(4)),
    {"CEPH_CONF": "/c"},
    named=False,
)
OBJECTS = Access("rados", {"pool": "p"})


@pytest.fixture
def prepared(step: Callable[..., Step]) -> Callable[..., Invocation]:
    """What a cell becomes at a client that reaches the target so."""

    def prepare(ioengine: str, access: Access, client: str = "client1", cell: dict[str, object] | None = None,
                within: str = "leadline-files", **settings: object) -> Invocation:  # fmt: skip
        asked = step(cell={"ioengine": ioengine, **(cell or {})}, **({"layout": LAYOUT} | settings))
        return ENGINE.prepare(asked, Place(DATA, client, {ioengine: access}, within), SCRATCH)

    return prepare


def dealt(invocation: Invocation) -> dict[str, int]:
    """Jobs by server, as the command says."""
    shares: dict[str, int] = {}
    words = invocation.argv
    for place, word in enumerate(words):
        if word.startswith("--nfs_url="):
            near = [each for each in (*words[place - 1 : place], *words) if each.startswith("--numjobs=")]
            shares[word.removeprefix("--nfs_url=")] = int(near[0].partition("=")[2])
    return shares


def test_one_server_makes_a_plain_command_without_a_directory(prepared: Callable[..., Invocation]) -> None:
    words = list(prepared("nfs", servers(1), cell={"numjobs": 3}).argv)
    assert words[1:3] == [
        "--name=leadline",
        "--filename_format=leadline-files-5x64k-client1.$jobnum.$filenum",
    ]
    assert words.count("--numjobs=3") == 1 and sum(word.startswith("--name=") for word in words) == 1
    assert words.index("--ioengine=external:/cache/fio-nfs.so") < words.index(f"--nfs_url={URLS[0]}")
    assert not any(word.startswith("--directory") for word in words)


def test_jobs_are_dealt_out_over_the_servers_as_evenly_as_can_be(prepared: Callable[..., Invocation]) -> None:
    words = list(prepared("nfs", servers(2), cell={"numjobs": 5}).argv)
    assert words[1] == "--name=global" and "--numjobs=5" not in words
    assert words[-6:] == [
        "--name=server1", "--numjobs=3", f"--nfs_url={URLS[0]}", "--name=server2", "--numjobs=2", f"--nfs_url={URLS[1]}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("client", "jobs", "expected"),
    [
        ("client1", 1, {URLS[0]: 1}), ("client2", 1, {URLS[1]: 1}), ("client3", 1, {URLS[2]: 1}), ("client4", 1, {URLS[0]: 1}),
        ("client2", 2, {URLS[1]: 1, URLS[2]: 1}), ("client3", 2, {URLS[0]: 1, URLS[2]: 1}), ("local", 1, {URLS[0]: 1}),
        ("client2", 4, {URLS[0]: 1, URLS[1]: 2, URLS[2]: 1}),
    ],
)  # fmt: skip
def test_each_client_begins_with_another_server(
    client: str, jobs: int, expected: dict[str, int], prepared: Callable[..., Invocation]
) -> None:
    assert dealt(prepared("nfs", servers(3), client, {"numjobs": jobs})) == expected


def test_a_cell_with_fewer_jobs_finds_its_files_on_the_same_servers(
    prepared: Callable[..., Invocation],
) -> None:
    for client in ("client1", "client2", "client3"):
        laid_out = dealt(prepared("nfs", servers(3), client, {"numjobs": 5}, kind=StepKind.LAYOUT))
        for jobs in range(1, 6):
            found = dealt(prepared("nfs", servers(3), client, {"numjobs": jobs}))
            assert all(laid_out[url] >= count for url, count in found.items())
            assert sum(found.values()) == jobs


def test_a_file_that_all_jobs_share_lies_on_one_server(prepared: Callable[..., Invocation]) -> None:
    words = prepared("nfs", servers(3), "client2", {"numjobs": 4, "fio.filename": "one.bin"}).argv
    assert "--filename=leadline-files-5x64k-client2.one.bin" in words
    assert "--filename=one.bin" not in words and not any("filename_format" in word for word in words)
    assert "--numjobs=4" in words and [word for word in words if "nfs_url" in word] == [
        f"--nfs_url={URLS[1]}"
    ]


def test_an_engine_that_sees_the_mounts_files_is_given_their_path_under_its_own_root(
    prepared: Callable[..., Invocation],
) -> None:
    invocation = prepared("gfapi", GFAPI, within="leadline-files/client1")
    assert "--filename_format=/work/leadline-files/client1/$jobnum.$filenum" in invocation.argv
    assert {"--ioengine=gfapi", "--volume=leadline", "--brick=10.77.1.1"} <= set(invocation.argv)
    assert not any(word.startswith("--directory") for word in invocation.argv)
    assert "--filename_format=/work/$jobnum.$filenum" in invocation.by_hand
    shared = prepared("gfapi", GFAPI, cell={"fio.filename": "one.bin"})
    assert "--filename=/work/leadline-files/one.bin" in shared.argv


def test_images_have_no_file_names_and_every_client_its_own_images(
    prepared: Callable[..., Invocation],
) -> None:
    layout = Layout("i", 2, 1, 65536, ioengine="rbd")
    first = prepared("rbd", IMAGES, "client1", {"numjobs": 2}, layout=layout)
    second = prepared("rbd", IMAGES, "client2", {"numjobs": 1}, layout=layout)
    assert not any("filename" in word or "directory" in word for word in first.argv)
    assert [word for word in first.argv if "rbdname" in word] == ["--rbdname=image0", "--rbdname=image1"]
    assert [word for word in second.argv if "rbdname" in word] == ["--rbdname=image2"]
    assert first.environment == {"CEPH_CONF": "/c"}
    assert first.by_hand[:3] == ("env", "CEPH_CONF=/c", "fio")


def test_objects_are_named_like_files(prepared: Callable[..., Invocation]) -> None:
    words = prepared("rados", OBJECTS, "client2").argv
    assert "--filename_format=leadline-files-5x64k-client2.$jobnum.$filenum" in words
    assert words[-1] == "--pool=p"


def test_the_command_for_a_person_is_the_same_load(prepared: Callable[..., Invocation]) -> None:
    invocation = prepared("nfs", servers(2), cell={"numjobs": 2})
    assert not any(str(SCRATCH) in word or str(DATA) in word for word in invocation.by_hand)
    assert invocation.by_hand[:2] == ("fio", "--name=global")
    assert set(invocation.by_hand[1:]) < set(invocation.argv)


def test_an_engine_that_leads_elsewhere_is_refused_with_those_that_lead_here(
    step: Callable[..., Step],
) -> None:
    place = Place(DATA, "client1", {"rbd": IMAGES, "rados": OBJECTS})
    with pytest.raises(UserError, match="not reached by ioengine nfs; it serves: rbd, rados"):
        ENGINE.prepare(step(cell={"ioengine": "nfs"}), place, SCRATCH)
    with pytest.raises(UserError, match=r"fio-3.33 has no ioengine nfs, and no target brings it"):
        ENGINE.prepare(step(cell={"ioengine": "nfs"}), Place(DATA), SCRATCH)


def test_an_engine_that_needs_no_target_works_beside_one(step: Callable[..., Step]) -> None:
    argv = ENGINE.prepare(
        step(cell={"ioengine": "psync"}), Place(DATA, "client1", {"nfs": servers(2)}), SCRATCH
    ).argv
    assert f"--directory={DATA}" in argv and "--ioengine=psync" in argv


def test_what_goes_past_the_mount_cannot_be_read_into_memory_first(
    prepared: Callable[..., Invocation],
) -> None:
    with pytest.raises(UserError, match='take cache = "hot" out'):
        prepared("nfs", servers(1), cache="hot")


def test_an_image_holds_no_files(prepared: Callable[..., Invocation]) -> None:
    with pytest.raises(UserError, match="take nrfiles = 2 out"):
        prepared("rbd", IMAGES, cell={"nrfiles": 2})


def test_engines_that_a_target_brings_are_not_looked_for_before_it_is_up(step: Callable[..., Step]) -> None:
    ENGINE.check(
        [step(cell={"ioengine": name, "fio.nfs_url": "x"}) for name in ("nfs", "gfapi", "rbd", "rados")]
    )
    with pytest.raises(UserError, match='no ioengine "nsf"'):
        ENGINE.check([step(cell={"ioengine": "nsf"})])


def test_options_of_such_an_engine_are_checked_when_it_is_there(prepared: Callable[..., Invocation]) -> None:
    with pytest.raises(UserError, match='fio has no option "nfs_ulr"'):
        prepared("nfs", servers(1), cell={"fio.nfs_ulr": "x"})
