"""The checker and Porcupine, written by others in another language, say the same of random histories, and differences are seen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from porcupine import KINDS, NotHere, built, exported, opinion  # noqa: E402

HISTORIES = 1000


@pytest.fixture(scope="module")
def porcupine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return built(tmp_path_factory.mktemp("porcupine"))
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def exporter() -> Path:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed, and histories are exported by an example of the checker")
    argv = [
        "cargo",
        "build",
        "--quiet",
        "--locked",
        "-p",
        "leadline-checker",
        "--example",
        "export_histories",
    ]
    done = subprocess.run(
        [*argv, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    artifacts = [json.loads(line) for line in done.stdout.splitlines()]
    return Path(next(each["executable"] for each in artifacts if each.get("executable")))


@pytest.mark.parametrize("kind", KINDS)
def test_both_say_the_same_of_random_histories(porcupine: Path, exporter: Path, kind: str) -> None:
    found = opinion(porcupine, exported(exporter, "small", kind, HISTORIES, 5))
    assert found.histories == HISTORIES and found.disagreements == ()
    assert HISTORIES / 20 < found.violating < HISTORIES * 3 / 4


def test_a_verdict_that_is_wrong_is_a_disagreement(porcupine: Path, exporter: Path) -> None:
    told = exported(exporter, "small", "entry", 10, 5).decode().splitlines(keepends=True)
    begins = [place for place, line in enumerate(told) if line.startswith("history ")]
    swapped = {" held ": " violated ", " violated ": " held "}
    word = next(word for word in swapped if word in told[begins[3]])
    told[begins[3]] = told[begins[3]].replace(word, swapped[word])
    assert opinion(porcupine, "".join(told)).disagreements == (3,)


def test_what_is_no_history_is_refused(porcupine: Path) -> None:
    with pytest.raises(RuntimeError, match="does not begin as one"):
        opinion(porcupine, "once upon a time\n")
