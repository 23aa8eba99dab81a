"""The object store really up: signed requests from the clients' hosts, several gateways over one bucket, nothing left by any end."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import campaign, journal_has, killed_when
from lab_parts import eventually
from program_parts import skip_unless_built

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.juicefs import JUICEFS
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.registry import lab_target
from leadline.run.lab.s3 import Shape, shape_of
from leadline.run.lab.s3_gateway import VERSITYGW
from leadline.run.lab.state import Ready, Seat, known_labs, lab_state

NAME = "s3"
Fork = Callable[[Callable[[], None]], int]
Leadline = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[], Any]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The server, and JuiceFS as a client that signs its requests; built at most once."""
    skip_unless_built(tmp_path_factory.mktemp("programs"), JUICEFS, VERSITYGW)


def up(clients: int = 1, nodes: int | None = None, **options: str) -> Ready:
    """For little data; an underscore in an option's name stands for a hyphen."""
    named = {key.replace("_", "-"): text for key, text in options.items()}
    wishes = Wishes(64 << 20, clients, nodes, named)
    return lifecycle.bring_up(NAME, lab_target(NAME), wishes, lambda line: None)[0]


def sync(client: Seat, ready: Ready, source: str, target: str) -> subprocess.CompletedProcess[str]:
    """Copies between a folder and the bucket, on the client's own host; "s3" stands for its bucket."""
    keys = f"{ready.facts['access_key']}:{ready.facts['secret_key']}@"
    bucket = client.directory.replace("http://", f"minio://{keys}") + "/"
    words = [bucket if word == "s3" else f"file://{word}/" for word in (source, target)]
    enter = [
        "nsenter",
        f"--net=/run/netns/{client.namespace}",
        JUICEFS.path,
        "--no-agent",
        "sync",
        "--quiet",
        *words,
    ]
    return subprocess.run(enter, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.usefixtures("programs")
def test_what_one_client_puts_by_one_gateway_another_gets_by_the_other(traces: Look, tmp_path: Path) -> None:
    before = traces()
    ready = up(clients=2, nodes=2, io_buffer_size="65536")
    first, second = ready.clients
    assert first.namespace != second.namespace
    assert first.directory == ready.directory != second.directory
    sent, received = tmp_path / "sent", tmp_path / "received"
    sent.mkdir()
    received.mkdir()
    (sent / "object").write_bytes(b"x" * 3_000_000)
    assert sync(first, ready, str(sent), "s3").returncode == 0
    assert sync(second, ready, "s3", str(received)).returncode == 0
    assert (received / "object").read_bytes() == b"x" * 3_000_000
    assert sum("--io-buffer-size=65536" in line for line in traces().processes) == 2
    lifecycle.tear_down(NAME)
    up()
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


@pytest.mark.usefixtures("programs")
def test_a_wrong_key_is_refused_by_the_server(tmp_path: Path) -> None:
    ready = up()
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "object").write_text("x")
    ready.facts["secret_key"] = "guessed"
    assert sync(ready.clients[0], ready, str(tmp_path / "sent"), "s3").returncode != 0


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("server", ["versitygw1", "versitygw6"])
def test_killed_while_it_comes_up_another_process_cleans_up(server: str, forked: Fork, traces: Look) -> None:
    before = traces()
    killed_when(lambda: journal_has(NAME, f'"name": "{server}"'), forked, lambda: up(nodes=12))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


@pytest.mark.usefixtures("programs")
def test_a_campaign_that_measures_files_is_refused_in_one_sentence_and_leaves_nothing(
    leadline: Leadline, tmp_path: Path, traces: Look
) -> None:
    before = traces()
    done = leadline("run", campaign(NAME, tmp_path), "--output", tmp_path / "run")
    assert done.returncode == 2 and "s3 is an object store at http://" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert eventually(lambda: traces() == before)


@pytest.mark.usefixtures("programs")
def test_a_gateway_that_cannot_start_is_told_with_its_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / f"versitygw-{VERSITYGW.version}" / "versitygw"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho the port is taken >&2\nexit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="versitygw1 ended before it served; it said: the port is taken"):
        up()
    assert known_labs() == [] and not lab_state(NAME).folder.exists()


@pytest.mark.anybody
@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(1, options={"concurency": "5"}), 'did you mean "concurrency"'),
        (Wishes(1, clients=0), "at least 1 client"),
        (Wishes(1, storage_nodes=0), "1 storage node"),
        (Wishes(1, options={"server": "mino"}), 'no server "mino"; did you mean "minio"'),
        (Wishes(1, options={"server": "minio", "nometa": ""}), '"nometa" is versitygw\'s'),
        (Wishes(1, storage_nodes=17, options={"server": "minio"}), "at most 16 storage nodes"),
    ],
)
def test_what_an_object_store_cannot_be_is_refused(wishes: Wishes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        shape_of(wishes)


@pytest.mark.anybody
def test_the_options_of_versitygw_go_to_its_command_line_as_they_are() -> None:
    options = {"server": "versitygw", "nometa": "", "concurrency": "50"}
    assert shape_of(Wishes(1, options=options)) == Shape(
        1, "versitygw", ("--nometa=true", "--concurrency=50")
    )


def curl(client: Seat, ready: Ready, *words: str, url: str = "") -> subprocess.CompletedProcess[str]:
    """A signed request on the client's own host, to its own server where no other is named."""
    user = f"{ready.facts['access_key']}:{ready.facts['secret_key']}"
    signed = ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", user, "--silent", "--fail", "--max-time", "20"]
    enter = ["nsenter", f"--net=/run/netns/{client.namespace}", "curl", *signed, *words]
    target = f"{url or client.directory}/object"
    return subprocess.run([*enter, target], capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def own_minio() -> None:
    """The user's own: leadline never fetches it, and neither do its tests."""
    if shutil.which("minio") is None:
        pytest.skip("minio is not on the PATH")


@pytest.mark.usefixtures("own_minio")
@pytest.mark.parametrize("nodes", [1, 4])
def test_what_one_client_puts_by_one_minio_another_gets_by_the_next(
    nodes: int, traces: Look, tmp_path: Path
) -> None:
    before = traces()
    ready = up(clients=2, nodes=nodes, server="minio")
    first, second = ready.clients
    assert len(ready.facts["disks"]) == len(set(ready.facts["endpoints"])) == nodes
    assert ready.facts["server"].startswith("minio ")
    assert (first.directory == second.directory) == (nodes == 1)
    sent, received = tmp_path / "sent", tmp_path / "received"
    sent.write_bytes(b"x" * 3_000_000)
    assert curl(first, ready, "--upload-file", str(sent)).returncode == 0
    assert curl(second, ready, "--output", str(received)).returncode == 0
    assert received.read_bytes() == sent.read_bytes()
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


@pytest.mark.usefixtures("own_minio")
def test_minio_refuses_a_wrong_key(tmp_path: Path) -> None:
    ready = up(server="minio")
    (tmp_path / "object").write_text("x")
    put = ("--upload-file", str(tmp_path / "object"))
    assert curl(ready.clients[0], ready, *put).returncode == 0
    ready.facts["secret_key"] = "guessed-wrongly"
    assert curl(ready.clients[0], ready, *put).returncode != 0


@pytest.mark.usefixtures("own_minio")
@pytest.mark.parametrize("server", ["minio1", "minio4"])
def test_minio_killed_while_it_comes_up_is_cleaned_up_by_another_process(
    server: str, forked: Fork, traces: Look
) -> None:
    before = traces()
    killed_when(lambda: journal_has(NAME, f'"name": "{server}"'), forked, up_with_four_minios)
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


def up_with_four_minios() -> None:
    """They wait for each other, so that there is time to be killed in."""
    up(nodes=4, server="minio")


def test_without_minio_one_sentence_says_where_to_put_it_and_nothing_was_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folders = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "minio").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    with pytest.raises(
        UserError, match=f"does not ship .AGPL.; put it on the PATH or at {tmp_path}/minio/minio"
    ):
        up(server="minio")
    assert known_labs() == [] and not lab_state(NAME).folder.exists()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("echo minio 1.0, a small orange fish", "does not answer --version like the minio server"),
        ("", r"does not answer --version like the minio server \(''\)"),
        (
            '[ "$1" = --version ] && echo minio version OF.A.TEST && exit; echo the port is taken; exit 3',
            "minio1 ended before it served; it said: the port is taken",
        ),
    ],
)
def test_a_minio_that_cannot_serve_is_told_with_its_words(
    lines: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "minio"
    fake.write_text(f"#!/bin/sh\n{lines}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(UserError, match=said):
        up(server="minio")
    assert known_labs() == [] and not lab_state(NAME).folder.exists()
