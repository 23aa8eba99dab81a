"""JuiceFS really up: metadata and data where asked, clients on hosts of their own, nothing left by any end."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
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
    skip_unless_installed,
)
from lab_parts import eventually
from program_parts import skip_unless_built

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.juicefs import JUICEFS
from leadline.run.lab.juicefs_cache import cached_bytes, clear_cache, staged_blocks
from leadline.run.lab.juicefs_options import FORMAT_OPTIONS, MOUNT_OPTIONS, choices_of
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.packages import require
from leadline.run.lab.registry import lab_target
from leadline.run.lab.s3_gateway import VERSITYGW
from leadline.run.lab.state import Ready, known_labs, lab_state
from leadline.run.lab.tools import Toolbox

NAME = "juicefs"
DATA_BYTES = 64 << 20
BLOCK_BYTES = 4 << 20
Fork = Callable[[Callable[[], None]], int]
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]


@pytest.fixture(scope="session")
def juicefs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The client and the S3 server, built at most once."""
    skip_unless_built(tmp_path_factory.mktemp("programs"), JUICEFS, VERSITYGW)
    skip_unless_installed(NAME)


@pytest.fixture
def redis(juicefs: None) -> None:
    try:
        require({"redis-server": "redis-server"}, Toolbox(), lambda line: None)
    except UserError as error:
        pytest.skip(str(error))


def up(clients: int = 1, nodes: int | None = None, **options: str) -> Ready:
    """For little data; an underscore in an option's name stands for a hyphen."""
    named = {key.replace("_", "-"): text for key, text in options.items()}
    wishes = Wishes(DATA_BYTES, clients, nodes, named)
    return lifecycle.bring_up(NAME, lab_target(NAME), wishes, lambda line: None)[0]


def clients() -> list[int]:
    """This test's clients, by their cache: what they were started with they write over, to hide passwords."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode()
            if (entry / "exe").readlink() == JUICEFS.path and lab_state(NAME).prefix in words:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def left_in_tmp() -> list[str]:
    """Outside the lab: the sockets by which JuiceFS clients hand their mount over."""
    return sorted(
        str(path) for path in (*Path("/tmp").glob("fuse_fd_comm.*"), *Path("/tmp").glob("state*.json"))
    )


def cache_of(ready: Ready, client: int = 0) -> Path:
    return Path(ready.facts["cache_directories"][client])


@pytest.mark.usefixtures("juicefs")
def test_two_cycles_of_two_clients_on_sqlite_and_a_directory_leave_nothing(traces: Look) -> None:
    before, outside = traces(), left_in_tmp()
    ready = up(clients=2, attr_cache="0", block_size="1M")
    first, second = ready.clients
    assert first.namespace != second.namespace and first.directory == ready.directory != second.directory
    (Path(ready.directory) / "note").write_text("seen by both")
    assert seen_by(second, "note") == "seen by both"
    assert len({os_device(client.directory) for client in ready.clients}) == 2
    assert len(clients()) == 2
    for client in ready.clients:
        assert json.loads((Path(client.directory).parent / ".config").read_text())["AttrTimeout"] == 0
    assert volume_format(ready)["BlockSize"] == 1024
    assert "1.4.1" in ready.facts["version"]
    lifecycle.tear_down(NAME)
    up()
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before and clients() == []) and left_in_tmp() == outside


def os_device(directory: str) -> int:
    return Path(directory).stat().st_dev


def volume_format(ready: Ready) -> dict[str, Any]:
    """As the volume's own metadata tells it."""
    done = subprocess.run(
        [JUICEFS.path, "--no-agent", "status", ready.facts["metadata_url"]],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    setting: dict[str, Any] = json.loads(done.stdout)["Setting"]
    return setting


@pytest.mark.usefixtures("redis")
def test_redis_and_two_s3_gateways_serve_three_clients(traces: Look) -> None:
    before = traces()
    ready = up(clients=3, nodes=2, metadata="redis", data="s3")
    assert ready.facts["storage_nodes"] == 2 and ready.facts["redis"].startswith("Redis server")
    assert len({client.namespace for client in ready.clients}) == 3
    (Path(ready.directory) / "data").write_bytes(b"x" * 300_000)
    assert seen_by(ready.clients[2], "data") == "x" * 300_000
    assert any("/data/leadline/" in path and "/chunks/" in path for path in traces().files), (
        "not in the bucket"
    )
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before and clients() == [])


@pytest.mark.usefixtures("juicefs")
@pytest.mark.parametrize(
    "moment",
    [
        lambda: journal_has(NAME, "-h9"),
        lambda: journal_has(NAME, '"name": "versitygw1"'),
        lambda: journal_has(NAME, '"filesystem": "fuse.juicefs"'),
        lambda: journal_has(NAME, '"filesystem": "fuse.juicefs"', 2),
    ],
    ids=["the hosts are made", "a gateway starts", "a client mounts", "the second client mounts"],
)
def test_killed_while_it_comes_up_another_process_cleans_up(
    moment: Callable[[], bool], forked: Fork, traces: Look
) -> None:
    before, outside = traces(), left_in_tmp()
    killed_when(moment, forked, lambda: up(clients=8, data="s3"))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before and clients() == []) and left_in_tmp() == outside


@pytest.mark.fio
@pytest.mark.usefixtures("juicefs")
def test_a_campaign_measures_it_and_takes_it_down(leadline: Leadline, tmp_path: Path, traces: Look) -> None:
    target = measured_by_a_campaign(NAME, leadline, tmp_path, traces)
    assert target["metadata"] == "sqlite3"
    assert clients() == []


@pytest.mark.fio
@pytest.mark.usefixtures("juicefs")
def test_lab_down_cleans_after_a_killed_campaign(
    argv: Callable[..., list[str]], leadline: Leadline, tmp_path: Path, traces: Look
) -> None:
    cleaned_after_a_killed_campaign(NAME, argv, leadline, tmp_path, traces)
    assert clients() == []


@pytest.mark.usefixtures("juicefs")
def test_a_cleared_cache_is_filled_again_from_the_data() -> None:
    ready = up()
    path = Path(ready.directory) / "data"
    path.write_bytes(b"y" * BLOCK_BYTES)
    for _ in range(2):
        Path("/proc/sys/vm/drop_caches").write_text("3")
        assert path.read_bytes() == b"y" * BLOCK_BYTES
        # The client fills its cache in its own time. Only looked at meanwhile: clearing would take away the directory it writes into.
        assert eventually(lambda: cached_bytes(cache_of(ready)) >= BLOCK_BYTES)
        assert clear_cache(cache_of(ready)) >= BLOCK_BYTES
        assert cached_bytes(cache_of(ready)) == 0


@pytest.mark.usefixtures("juicefs")
def test_a_cache_with_staged_data_is_not_cleared_and_the_data_stays_readable() -> None:
    ready = up(writeback="true", upload_delay="1h")
    path = Path(ready.directory) / "data"
    path.write_bytes(b"z" * BLOCK_BYTES)
    assert eventually(lambda: staged_blocks(cache_of(ready)) >= 1)
    with pytest.raises(UserError, match="blocks that are not uploaded yet and exist nowhere else"):
        clear_cache(cache_of(ready), wait_seconds=0.2)
    Path("/proc/sys/vm/drop_caches").write_text("3")
    assert path.read_bytes() == b"z" * BLOCK_BYTES


@pytest.mark.usefixtures("juicefs")
def test_clearing_waits_for_uploads_that_are_under_way() -> None:
    ready = up(writeback="true", upload_delay="1s")
    begun = time.monotonic()
    (Path(ready.directory) / "data").write_bytes(b"w" * BLOCK_BYTES)
    assert eventually(lambda: staged_blocks(cache_of(ready)) >= 1 or time.monotonic() - begun >= 1)
    clear_cache(cache_of(ready), wait_seconds=60)
    assert staged_blocks(cache_of(ready)) == 0


@pytest.mark.usefixtures("juicefs")
def test_a_value_that_juicefs_does_not_take_is_told_in_its_words() -> None:
    with pytest.raises(UserError, match="buffer-size"):
        up(buffer_size="plenty")
    assert known_labs() == []


@pytest.mark.usefixtures("juicefs")
def test_every_option_of_the_lab_is_one_of_juicefs() -> None:
    for command, options in (("format", FORMAT_OPTIONS), ("mount", MOUNT_OPTIONS)):
        said = subprocess.run([JUICEFS.path, command, "--help"], capture_output=True, text=True, check=True)
        assert [each for each in sorted(options) if f"--{each} " not in said.stdout] == []


def test_killed_while_it_builds_no_compiler_is_left(
    forked: Fork, traces: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "go").write_text("#!/bin/sh\nsleep 1000 & sleep 1000\n")
    (folder / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin")
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    skip_unless_installed(NAME)
    before = traces()
    building = lambda: sum("sleep 1000" in line for line in traces().processes) == 2  # noqa: E731
    killed_when(building, forked, lambda: up(clients=1))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before and clients() == [])


def test_a_build_that_fails_is_told_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "go").write_text("#!/bin/sh\necho no route to the proxy >&2\nexit 1\n")
    (folder / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin")
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    skip_unless_installed(NAME)
    with pytest.raises(UserError, match=r"juicefs v1.4.1 could not be built: .*no route to the proxy"):
        up()
    assert known_labs() == []


def test_without_go_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    skip_unless_installed(NAME)
    which = shutil.which
    monkeypatch.setattr("shutil.which", lambda name: None if name == "go" else which(name))
    with pytest.raises(
        UserError, match=r"juicefs v1.4.1 has to be built and go cannot be found; put Go 1\.25 or newer"
    ):
        up()
    assert known_labs() == [] and not lab_state(NAME).folder.exists()


def test_a_storage_folder_without_room_is_refused_before_anything_is_made() -> None:
    with pytest.raises(UserError, match="GiB free and juicefs needs"):
        lifecycle.bring_up(NAME, lab_target(NAME), Wishes(1 << 60), lambda line: None)
    assert known_labs() == []


@pytest.mark.anybody
def test_options_go_to_format_and_to_mount_and_a_flag_is_on() -> None:
    choices = choices_of(Wishes(1, options={"block-size": "1M", "writeback": "", "metadata": "redis"}))
    assert choices.format == ("--block-size=1M",) and choices.mount == ("--writeback=true",)
    assert (choices.metadata, choices.data, choices.servers) == ("redis", "file", 1)
    assert choices_of(Wishes(1)).servers == 0
    assert choices_of(Wishes(1, storage_nodes=3, options={"data": "s3"})).servers == 3


@pytest.mark.anybody
@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(1, options={"bufer-size": "300"}), 'did you mean "buffer-size"'),
        (Wishes(1, options={"cache-dir": "/tmp/x"}), 'no option "cache-dir" in the lab'),
        (Wishes(1, options={"metadata": "etcd"}), 'is sqlite3 or redis, not "etcd"'),
        (Wishes(1, storage_nodes=3), 'set the option "data" to "s3"'),
        (Wishes(1, storage_nodes=0, options={"data": "s3"}), "at least 1 storage node"),
        (Wishes(1, clients=0), "at least 1 client"),
    ],
)
def test_what_juicefs_cannot_be_is_refused(wishes: Wishes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        choices_of(wishes)


@pytest.mark.anybody
def test_clearing_never_touches_what_is_staged(tmp_path: Path) -> None:
    for kind in ("raw", "rawstaging"):
        (tmp_path / "uuid" / kind / "chunks").mkdir(parents=True)
        (tmp_path / "uuid" / kind / "chunks" / "1_0_4").write_text("data")
    with pytest.raises(UserError, match="holds 1 blocks"):
        clear_cache(tmp_path)
    assert (tmp_path / "uuid/raw/chunks/1_0_4").exists()
    (tmp_path / "uuid/rawstaging/chunks/1_0_4").unlink()
    (tmp_path / "uuid/raw/chunks/2_0_4.tmp").write_text("data")  # not a block yet
    assert clear_cache(tmp_path) == 4
    assert not (tmp_path / "uuid/raw").exists() and (tmp_path / "uuid/rawstaging").exists()
    assert clear_cache(tmp_path / "nowhere") == 0
