"""Object experiments of campaigns, really run: on the lab's S3, on the store below its JuiceFS, by an address with keys, on a directory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from program_parts import skip_unless_built
from test_objbench import await_nobody, inside, keys, objects

from leadline.run.lab import lifecycle
from leadline.run.lab.juicefs import JUICEFS
from leadline.run.lab.laboratory import Wishes
from leadline.run.lab.registry import lab_target
from leadline.run.lab.s3_gateway import SECRET_KEY, VERSITYGW
from leadline.run.lab.state import Ready
from leadline.store.object_checks import DOCUMENT
from leadline.store.records import Direction, Status, StepRecord
from leadline.store.run_folder import RunFolder

Leadline = Callable[..., subprocess.CompletedProcess[str]]
SMALL = 'engine = "object"\nobject_size = "16KiB"\nobjects = 8\nrepeats = 1\n'
HEAD = 'name = "o"\nnoise_repeats = 0\nbaselines = false\n'


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> None:
    skip_unless_built(tmp_path_factory.mktemp("programs"), VERSITYGW)


@pytest.fixture(scope="session")
def juicefs(tmp_path_factory: pytest.TempPathFactory) -> None:
    skip_unless_built(tmp_path_factory.mktemp("programs"), VERSITYGW, JUICEFS)


@pytest.fixture
def store(s3: None) -> Ready:
    """An S3 server that nobody's campaign brought up."""
    return lifecycle.bring_up("s3", lab_target("s3"), Wishes(1 << 30, 1, None, {}), lambda line: None)[0]


def written(folder: Path, text: str) -> Path:
    path = folder / "objects.toml"
    path.write_text(HEAD + text)
    return path


def records(run: Path) -> list[StepRecord]:
    folder = RunFolder.open(run)
    found = folder.records()
    folder.close()
    assert [each.reason for each in found if each.status is Status.FAILED] == []
    return found


def kept(run: Path) -> str:
    """All that a run folder holds."""
    return "".join(path.read_bytes().decode("latin-1") for path in run.rglob("*") if path.is_file())


def operations(record: StepRecord, kind: Direction) -> int:
    return sum(part.operations for part in record.measurements if part.direction is kind)


def test_a_campaign_measures_the_labs_store_with_several_clients_and_keeps_no_key(
    leadline: Leadline, s3: None, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        f'target = "s3"\n[[experiment]]\nname = "store"\nclients = [1, 2]\n{SMALL}',
    )
    done = leadline("run", path, "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    found = records(tmp_path / "run")
    (checked,) = [each for each in found if each.documents]
    outcome = {each["name"]: each["result"] for each in json.loads(checked.documents[DOCUMENT])["checks"]}
    assert len(outcome) == 16 and outcome["put an object"] == "passed"
    loads = [each for each in found if each.measurements]
    assert len(loads) == 2
    for each in loads:
        asked = 8 * int(each.cell["clients"])
        assert operations(each, Direction.OBJECT_PUT) == operations(each, Direction.OBJECT_GET) == asked
        assert not any(part.failed for part in each.measurements)
    assert "Object store s3: what it can do" in done.stdout and "in flight" in done.stdout
    assert SECRET_KEY not in kept(tmp_path / "run") + done.stdout + done.stderr


def test_the_store_below_a_filesystem_is_measured_beside_it(
    leadline: Leadline, juicefs: None, tmp_path: Path
) -> None:
    files = '[[experiment]]\nname = "files"\nrw = "write"\nblock_size = "1m"\nsize = "4m"\nend_fsync = true\n'
    path = written(
        tmp_path,
        '[target]\nname = "juicefs"\noptions = { data = "s3" }\n'
        f'[[experiment]]\nname = "store"\nchecks = false\noperations = "get"\n{SMALL}{files}',
    )
    done = leadline("run", path, "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    by_engine = {each.engine: each for each in records(tmp_path / "run")}
    assert operations(by_engine["object"], Direction.OBJECT_GET) == 8
    assert operations(by_engine["fio"], Direction.WRITE) == 4
    assert "put into the object store" in (tmp_path / "run" / "report.html").read_text()


def test_a_store_by_its_address_takes_keys_from_the_environment_and_is_left_as_it_was(
    argv: Callable[..., list[str]], store: Ready, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        f'[target]\nurl = "{store.clients[0].directory}"\n[[experiment]]\nname = "store"\nchecks = false\n{SMALL}',
    )
    line = inside(store, argv("run", path, "--output", tmp_path / "run"))
    done = subprocess.run(line, env=keys(store), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (load,) = records(tmp_path / "run")
    assert operations(load, Direction.OBJECT_GET) == 8 and load.facts["filesystem"]["type"] == "s3"
    assert SECRET_KEY not in kept(tmp_path / "run") + done.stdout + done.stderr
    assert objects(store) == []


def test_what_a_killed_campaign_left_in_a_store_goes_when_it_is_resumed(
    argv: Callable[..., list[str]], store: Ready, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        f'[target]\nurl = "{store.clients[0].directory}"\n[[experiment]]\nname = "store"\nchecks = false\nruntime = "60s"\n'
        f'operations = "put"\n{SMALL}',
    )
    process = subprocess.Popen(
        inside(store, argv("run", path, "--output", tmp_path / "run")),
        env=keys(store),
        stdout=subprocess.DEVNULL,
    )
    until = time.monotonic() + 240
    while len(objects(store)) < 3:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    await_nobody(store)
    assert objects(store)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    manifest["plan"][0]["cell"]["window"] = 0.5  # what was killed would take a minute
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    resumed = subprocess.run(
        inside(store, argv("run", "--resume", tmp_path / "run")), env=keys(store), capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    assert "left by a run that was killed" in resumed.stdout + resumed.stderr
    assert len(records(tmp_path / "run")) == 1 and objects(store) == []


@pytest.mark.anybody
def test_a_directory_is_a_store_whose_objects_are_gone_afterwards(
    leadline: Leadline, work_directory: Path, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        f'[target]\ndirectory = "{work_directory}"\n[[experiment]]\nname = "files"\nchecks = false\n{SMALL}',
    )
    done = leadline("run", path, "--output", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    (load,) = records(tmp_path / "run")
    assert operations(load, Direction.OBJECT_DELETE) == 8 and load.facts["object_scheme"] == "fs"
    assert list(work_directory.iterdir()) == []


@pytest.mark.anybody
def test_a_store_without_keys_or_that_nobody_serves_is_one_sentence_and_nothing_is_run(
    leadline: Leadline, tmp_path: Path
) -> None:
    path = written(
        tmp_path, f'[target]\nurl = "http://127.0.0.1:9/bucket"\n[[experiment]]\nname = "store"\n{SMALL}'
    )
    nothing = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": str(tmp_path)}
    without = leadline("run", path, "--output", tmp_path / "run", **nothing)
    assert without.returncode == 2 and "there are no keys for S3" in without.stderr
    unserved = leadline(
        "run", path, "--output", tmp_path / "run", AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="hush"
    )
    assert unserved.returncode == 2 and "nothing listens at that endpoint" in unserved.stderr
    assert "hush" not in unserved.stdout + unserved.stderr
    assert not (tmp_path / "run").exists()
