"""Steps on object stores as the engine is told of them: no key in any file, several clients that wait for each other, faults in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.sites import Site
from leadline.plan.steps import Step
from leadline.run.engines.object_engine import ObjectEngine
from leadline.run.object_steps import SECRETS_VARIABLE, in_words
from leadline.run.seams import Bucket, Completed, Place
from leadline.spec.object_store import ObjectStore, parse_store
from leadline.store.object_checks import DOCUMENT, checks_of
from leadline.store.records import Cell, StepKind

CELL: Cell = {"object_size": 4096, "objects": 10, "concurrency": 4, "instances": 2, "window": 1.5}
S3 = parse_store(
    "http://host:9000/bucket", environment={"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "hush"}
)


def step(cell: Cell = CELL, files: Any = "objects") -> Step:
    return Step(0, StepKind.CELL, "store", "object", cell, files=files, site=Site(label="bucket"), seed=7)


def place(tmp_path: Path, store: ObjectStore = S3) -> Place:
    return Place(tmp_path, bucket=Bucket(store, "leadline-objbench-1/"))


def asked(of: Step, tmp_path: Path, store: ObjectStore = S3) -> dict[str, Any]:
    ObjectEngine().prepare(of, place(tmp_path, store), tmp_path)
    return dict(json.loads((tmp_path / "engine_step.json").read_text()))


def test_a_cell_becomes_a_load_with_its_requests_divided(tmp_path: Path) -> None:
    document = asked(step(), tmp_path)
    wanted = {
        "workload": "object_load", "folder": "leadline-objbench-1/", "object_size_bytes": 4096, "objects": 10, "concurrency": 4,
        "clients": 2, "runtime_ns": 1_500_000_000, "seed": 7, "operations": ["put", "get", "head", "list", "delete"],
    }  # fmt: skip
    assert {name: document[name] for name in wanted} == wanted
    assert "external_barriers" not in document and "part_size_bytes" not in document


def test_parts_are_put_got_and_deleted(tmp_path: Path) -> None:
    document = asked(step({**CELL, "part_size": 1024}), tmp_path)
    assert (document["part_size_bytes"], document["operations"]) == (1024, ["put", "get", "delete"])


def test_keys_go_through_the_environment_and_into_no_file(tmp_path: Path) -> None:
    invocation = ObjectEngine().prepare(step(), place(tmp_path), tmp_path)
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "hush" not in written + " ".join(invocation.argv)
    assert json.loads(invocation.environment[SECRETS_VARIABLE])["secret_access_key"] == "hush"


def test_several_clients_wait_for_each_other_before_each_kind_of_request(tmp_path: Path) -> None:
    two = step({**CELL, "clients": 2})
    assert asked(two, tmp_path)["external_barriers"] is True
    assert ObjectEngine().prepare(two, place(tmp_path), tmp_path).takes_answers
    assert not ObjectEngine().prepare(step(), place(tmp_path), tmp_path).takes_answers


def test_what_is_no_store_or_has_no_parts_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no store"):
        ObjectEngine().prepare(step(), Place(tmp_path), tmp_path)
    with pytest.raises(UserError, match="have no parts; take `part_size` out"):
        asked(step({**CELL, "part_size": 1024}), tmp_path, parse_store(str(tmp_path)))


def test_failed_checks_are_the_result_and_no_fault_of_the_step(tmp_path: Path) -> None:
    of = step({"checks": True}, "checks")
    assert asked(of, tmp_path)["workload"] == "object_checks"
    said = {"checks": [{"name": "put an object", "result": "failed", "reason": "EACCES"}]}
    invocation = ObjectEngine().prepare(of, place(tmp_path), tmp_path)
    outcome = ObjectEngine().collect(of, invocation, Completed(0, json.dumps(said), "", 1))
    assert outcome.reason is None
    found = checks_of(outcome.documents[DOCUMENT], "it")
    assert found.label == "bucket" and found.named("failed") == ["put an object"]


def test_an_engine_that_refuses_is_a_reason_in_its_own_words(tmp_path: Path) -> None:
    invocation = ObjectEngine().prepare(step(), place(tmp_path), tmp_path)
    refused = Completed(2, "", "leadline-engine: engine_step.json: NoSuchBucket: gone\n", 1)
    assert ObjectEngine().collect(step(), invocation, refused).reason == (
        "NoSuchBucket: gone; make the bucket first, or name another"
    )
    assert "SSL_CERT_FILE" in in_words("invalid peer certificate: UnknownIssuer")


def test_a_foreign_document_of_checks_is_refused_with_whose_it_is() -> None:
    with pytest.raises(UserError, match="step 3"):
        checks_of('{"format": "leadline posix 1"}', "step 3")
