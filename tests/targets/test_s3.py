"""The object store really up: signed requests from the clients' hosts, several gateways over one bucket, nothing left by any end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_parts import campaign, journal_has, kill_when
from lab_parts import eventually
from program_parts import skip_unless_built

from leadline.errors import UserError
from leadline.run.lab import lifecycle
from leadline.run.lab.juicefs import JUICEFS
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.registry import lab_target
from leadline.run.lab.s3 import words_of
from leadline.run.lab.s3_gateway import VERSITYGW
from leadline.run.lab.state import Ready, known_labs, lab_state

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


def sync(client: tuple[str, str], ready: Ready, source: str, target: str) -> subprocess.CompletedProcess[str]:
    """Copies between a folder and the bucket, on the client's own host; "s3" stands for its bucket."""
    namespace, url = client
    keys = f"{ready.facts['access_key']}:{ready.facts['secret_key']}@"
    bucket = url.replace("http://", f"minio://{keys}") + "/"
    words = [bucket if word == "s3" else f"file://{word}/" for word in (source, target)]
    enter = [
        "nsenter",
        f"--net=/run/netns/{namespace}",
        JUICEFS.path,
        "--no-agent",
        "sync",
        "--quiet",
        *words,
    ]
    return subprocess.run(enter, capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.usefixtures("programs")
def test_what_one_client_puts_by_one_gateway_another_gets_by_the_other(traces: Look, tmp_path: Path) -> None:
    before = traces()
    ready = up(clients=2, nodes=2, io_buffer_size="65536")
    first, second = ready.clients
    assert first[0] != second[0] and first[1] == ready.directory != second[1]
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
    kill_when(lambda: journal_has(NAME, f'"name": "{server}"'), forked(up_with_many_gateways))
    lifecycle.tear_down(NAME)
    assert eventually(lambda: traces() == before)


def up_with_many_gateways() -> None:
    """So that there is time to be killed in."""
    up(nodes=12)


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
    ],
)
def test_what_an_object_store_cannot_be_is_refused(wishes: Wishes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        words_of(wishes)
