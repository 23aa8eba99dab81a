"""`leadline objbench` on the S3 of the lab: what it finds there, and that keys and leavings stay nowhere."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_parts import eventually
from program_parts import skip_unless_built

from leadline.run.lab import lifecycle
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.registry import lab_target
from leadline.run.lab.s3_gateway import VERSITYGW
from leadline.run.lab.state import Ready

SMALL = (
    "--big-object-size",
    "2MiB",
    "--block-size",
    "512KiB",
    "--small-object-size",
    "4KiB",
    "--small-objects",
    "10",
    "--part-size",
    "0",
)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    skip_unless_built(tmp_path_factory.mktemp("programs"), VERSITYGW)


@pytest.fixture
def store(programs: None) -> Ready:
    """An S3 server with an empty bucket."""
    return lifecycle.bring_up("s3", lab_target("s3"), Wishes(1 << 30, 1, None, {}), lambda line: None)[0]


def keys(ready: Ready) -> dict[str, str]:
    return {
        **os.environ, "AWS_ACCESS_KEY_ID": ready.facts["access_key"], "AWS_SECRET_ACCESS_KEY": ready.facts["secret_key"],
    }  # fmt: skip


def inside(ready: Ready, argv: list[str]) -> list[str]:
    """On the client's host, from where alone the server is reached."""
    return ["nsenter", f"--net=/run/netns/{ready.clients[0].namespace}", *argv]


def objbench(
    argv: Callable[..., list[str]],
    ready: Ready,
    *options: object,
    url: str = "",
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    line = inside(ready, argv("objbench", url or ready.clients[0].directory, *options))
    return subprocess.run(
        line,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={**keys(ready), **(environment or {})},
    )


def objects(ready: Ready) -> list[Path]:
    """Files below the bucket, which is a directory of the server's disk; where it keeps its own is no object."""
    lines = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    (point,) = [Path(words[1]) for words in lines if words[0] == ready.facts["disks"][0]]
    bucket = point / "buckets" / ready.facts["bucket"]
    found = (Path(folder, name) for folder, _, names in os.walk(bucket) for name in names)
    return [path for path in found if ".sgwtmp" not in path.parts]


def await_nobody(ready: Ready) -> None:
    """Until the engine of a leadline that was killed has heard of it: nothing else runs on the client's host."""
    words = ["ip", "netns", "pids", str(ready.clients[0].namespace)]
    assert eventually(lambda: subprocess.run(words, capture_output=True, check=True).stdout.split() == [])


def test_an_s3_server_is_tried_out_and_measured_and_nothing_is_left(
    argv: Callable[..., list[str]], store: Ready, tmp_path: Path
) -> None:
    kept = tmp_path / "objbench.json"
    done = objbench(argv, store, *SMALL, "--threads", "1,2", "--repeats", "2", "--json", kept)
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(kept.read_text())
    results = {check["name"]: check["result"] for check in document["checks"]}
    assert len(results) == 16 and results["change mtime"] == results["create a bucket"] == "not_supported"
    for name in (
        "put an object",
        "get an object",
        "list objects",
        "delete non-exist",
        "put a big object",
        "multipart upload",
    ):
        assert results[name] == "passed", document["checks"]
    assert all(not cell["failed"] and not cell["retried"] for cell in document["cells"])
    assert store.facts["secret_key"] not in done.stdout + done.stderr + kept.read_text()
    assert objects(store) == []


def test_uploads_in_parts_are_measured_as_their_own_request(
    argv: Callable[..., list[str]], store: Ready, tmp_path: Path
) -> None:
    kept = tmp_path / "objbench.json"
    options = (
        "--big-object-size",
        "40MiB",
        "--part-size",
        "5MiB",
        "--small-objects",
        "2",
        "--threads",
        "2",
        "--repeats",
        "1",
    )
    assert objbench(argv, store, *options, "--skip-checks", "--json", kept).returncode == 0
    parts = [cell for cell in json.loads(kept.read_text())["cells"] if cell["request"] == "multipart put"]
    assert [(cell["object_size_bytes"], cell["part_size_bytes"], cell["requests"]) for cell in parts] == [
        (20 << 20, 5 << 20, 2)
    ]
    assert parts[0]["failed"] == {} and objects(store) == []


def test_what_a_run_left_that_was_killed_on_s3_is_removed_by_the_next(
    argv: Callable[..., list[str]], store: Ready
) -> None:
    long = ("--time", "60s", "--threads", "2", "--skip-checks", *SMALL)
    process = subprocess.Popen(
        inside(store, argv("objbench", store.clients[0].directory, *long)),
        env=keys(store),
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 240
    while len(objects(store)) < 3:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    await_nobody(store)
    assert objects(store)
    done = objbench(argv, store, *SMALL, "--threads", "1", "--repeats", "1", "--skip-checks")
    assert done.returncode == 0 and "left by a run that was killed" in done.stderr
    assert objects(store) == []


def test_a_wrong_key_and_a_missing_bucket_are_one_sentence_each(
    argv: Callable[..., list[str]], store: Ready
) -> None:
    wrong = objbench(argv, store, *SMALL, environment={"AWS_SECRET_ACCESS_KEY": "guessed-wrongly"})
    assert wrong.returncode == 2 and "check the secret key" in wrong.stderr and "guessed" not in wrong.stderr
    elsewhere = store.clients[0].directory.replace("/leadline", "/elsewhere")
    missing = objbench(argv, store, *SMALL, url=elsewhere)
    assert missing.returncode == 2 and "make the bucket first" in missing.stderr
    assert [len(done.stderr.strip().splitlines()) for done in (wrong, missing)] == [1, 1]
