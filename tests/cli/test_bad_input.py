"""Whatever is wrong with the input: exit code 2, one sentence on stderr, no traceback, nothing left behind."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "run_v1"
CAMPAIGN: dict[str, Any] = {
    "name": "c", "baselines": False, "noise_repeats": 0,
    "experiment": [{"name": "e", "rw": "read", "size": "64k", "runtime": "100ms"}],
}  # fmt: skip


BROKEN_KEY = 'name = "c"\n"a\\nb" = 1\n[[experiment]]\nname = "e"\nrw = "read"\nsize = "1m"'
HELD = 'name = "c"\n[conditions]\nclient_cores = 0.05\n[[experiment]]\nname = "e"\nrw = "read"\nsize = "64k"'
NEWER = '{"format_version": 2}'


class Scene:
    """Makes what a case needs; all of it lies in the test's own folder, the data on a real disk."""

    def __init__(self, folder: Path, work: Path, mount: Callable[..., Path]) -> None:
        self.folder = folder
        self.work = work
        self.mount = mount

    def campaign(self, text: str | None = None, **experiment: Any) -> Path:
        usual = toml({**CAMPAIGN, "experiment": [CAMPAIGN["experiment"][0] | experiment]})
        return self.written("c.toml", (usual if text is None else text).encode())

    def job_file(self, text: str) -> Path:
        return self.written("j.fio", text.encode())

    def written(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def run(self, breaking: Callable[[Path], object] | None = None) -> Path:
        path = Path(shutil.copytree(GOLDEN, self.folder / "run"))
        if breaking:
            breaking(path)
        return path

    def measured(self, source: Path | str, *more: object) -> list[object]:
        return ["run", source, "--directory", self.work, *more]


def toml(document: dict[str, Any]) -> str:
    top = [f"{key} = {json.dumps(value)}" for key, value in document.items() if key != "experiment"]
    tables = [
        "[[experiment]]\n" + "\n".join(f"{key} = {value_of(value)}" for key, value in each.items())
        for each in document["experiment"]
    ]
    return "\n".join([*top, *tables])


def value_of(value: Any) -> str:
    return (
        "{" + ", ".join(f"{key} = {json.dumps(each)}" for key, each in value.items()) + "}"
        if isinstance(value, dict)
        else json.dumps(value)
    )


def sql(statement: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        with sqlite3.connect(run / "results.sqlite") as connection:
            connection.executescript(statement)

    return change


def cut(name: str, length: int = 200) -> Callable[[Path], object]:
    return lambda run: (run / name).write_bytes((run / name).read_bytes()[:length])


def own(path: Path, name: str) -> Path:
    (path / name).write_text("mine")
    return path


CASES: dict[str, tuple[Callable[[Scene], list[object]], str]] = {
    "unknown command": (lambda s: ["rnu"], 'did you mean "run"'),
    "unknown option": (lambda s: ["run", "--sclae", "1"], "--sclae"),
    "nothing to run": (lambda s: ["run"], "say what to run"),
    "no such campaign": (lambda s: ["run", "juicefs_giude"], 'did you mean "juicefs_guide"'),
    "no such file": (lambda s: ["run", s.folder / "no.toml"], "no campaign"),
    "not TOML": (lambda s: s.measured(s.campaign("name = ")), "not valid TOML"),
    "a broken quote over two lines": (lambda s: s.measured(s.campaign('name = "a\nb"')), "not valid TOML"),
    "binary campaign": (lambda s: s.measured(s.written("c.toml", b"\xff\0")), "cannot be read"),
    "unknown key": (lambda s: s.measured(s.campaign(iodpeth=3)), 'did you mean "iodepth"'),
    "a key with a line break": (lambda s: s.measured(s.campaign(BROKEN_KEY)),
                                "unknown key"),
    "wrong unit": (lambda s: s.measured(s.campaign(size="4 potatoes")), '"4 potatoes" is not a size'),
    "wrong unit of time": (lambda s: s.measured(s.campaign(runtime="1 moon")), "is not a duration"),
    "wrong scale": (lambda s: s.measured(s.campaign(), "--scale", "much"), "not a scale"),
    "a file below one block": (lambda s: s.measured(s.campaign(block_size="1m")), "smaller than one block"),
    "unknown ioengine": (lambda s: s.measured(s.campaign(ioengine="libaoi")), 'did you mean "libaio"'),
    "external engine that is not there": (lambda s: s.measured(s.campaign(ioengine="external:/no.so")), "no external engine /no.so"),
    "external engine that is no engine": (lambda s: s.measured(s.campaign(ioengine=f"external:{s.written('e.so', b'no ELF')}")),
                                          "cannot load the external engine"),
    "unknown fio option": (lambda s: s.measured(s.campaign(fio={"iodpeth": 1})), "fio has no option"),
    "fio option that is ours": (lambda s: s.measured(s.campaign(fio={"output": "/etc/passwd"})), "set by leadline itself"),
    "fio option that leads elsewhere": (lambda s: s.measured(s.campaign(fio={"filename": "/dev/sda"})), "plain name"),
    "no directory said": (lambda s: ["run", s.campaign()], "--directory"),
    "conditions that nothing holds": (lambda s: ["run", s.campaign(f'{HELD}\n[target]\ndirectory = "{s.work}"')],
                                      "[conditions] (client_cores) hold lab targets only"),
    "missing directory": (lambda s: ["run", s.campaign(), "--directory", s.folder / "missing"], "mkdir -p"),
    "directory is a file": (lambda s: ["run", s.campaign(), "--directory", s.campaign()], "not a directory"),
    "directory is a device": (lambda s: ["run", s.campaign(), "--directory", "/dev/null"], "is a device"),
    "directory is a mounted root": (lambda s: ["run", s.campaign(), "--directory", "/"], "root of a mounted filesystem"),
    "directory is not empty": (lambda s: ["run", s.campaign(), "--directory", own(s.work, "thesis.tex")], "'thesis.tex' is in it"),
    "no space": (lambda s: s.measured(s.campaign(size="4096t")), "make room"),
    "results inside what is measured": (lambda s: s.measured(s.campaign(), "--output", s.work / "results"), "inside"),
    "results where something is": (lambda s: s.measured(s.campaign(), "--output", own(s.folder, "x")), "not empty"),
    "results below a file": (lambda s: s.measured(s.campaign(), "--output", s.campaign() / "below"), "--output"),
    "quick on a missing directory": (lambda s: ["quick", s.folder / "missing"], "mkdir -p"),
    "quick in no time": (lambda s: ["quick", s.work, "--minutes", "0.1"], "--minutes"),
    "quick on a directory in use": (lambda s: ["quick", own(s.work, "thesis.tex")], "not empty"),
    "job file that includes another": (lambda s: s.measured(s.job_file("[a]\ninclude other.fio\nrw=read\n")), "line 2"),
    "job file that writes elsewhere": (lambda s: s.measured(s.job_file("[a]\nfilename=/dev/sda\nrw=write\n")), "filename=/dev/sda"),
    "job file named after a device": (lambda s: s.measured(s.job_file("[/dev/sda]\nrw=write\nsize=1m\n")), "section"),
    "job file with an unknown engine": (lambda s: s.measured(s.job_file("[a]\nrw=read\nsize=1m\nioengine=libaoi\n")), "section [a]"),
    "job file without a section": (lambda s: s.measured(s.job_file("rw=read\n")), "line 1"),
    "job file scaled": (lambda s: s.measured(s.job_file("[a]\nrw=read\nsize=1m\n"), "--scale", "1/2"), "--scale"),
    "resume of no run": (lambda s: ["run", "--resume", s.folder / "nothing"], "no such folder"),
    "resume with other words": (lambda s: ["run", "--resume", s.run(), "--scale", "2"], "give it alone"),
    "resume of a damaged plan": (lambda s: ["run", "--resume", s.run(lambda run: (run / "manifest.json").write_text(
        json.dumps(json.loads((run / "manifest.json").read_text()) | {"plan": [1, 2]})))], "plan"),
    "resume where the directory is gone": (lambda s: ["run", "--resume", s.run(sql("DELETE FROM step WHERE ordinal = 12"))], "/data/work"),
    "show of no run": (lambda s: ["show", s.folder], "not a leadline run"),
    "show of a truncated manifest": (lambda s: ["show", s.run(cut("manifest.json"))], "manifest"),
    "show of a newer manifest": (lambda s: ["show", s.run(lambda run: (run / "manifest.json").write_text(NEWER))], "format 2"),
    "show of a broken database": (lambda s: ["show", s.run(cut("results.sqlite", 5000))], "results.sqlite"),
    "show of a foreign database": (lambda s: ["show", s.run(sql("PRAGMA application_id = 1"))], "not one of leadline's"),
    "show of a truncated environment": (lambda s: ["show", s.run(cut("environment.json"))], "environment.json"),
    "report of no run": (lambda s: ["report", s.folder / "nothing"], "no such folder"),
    "export of no run": (lambda s: ["export", s.folder / "nothing", "--csv"], "no such folder"),
    "import of nothing": (lambda s: ["import", s.folder / "nothing"], "nothing"),
    "import of a truncated JSON": (lambda s: ["import", s.written("t.json", b'{"fio version": "fio-3.33", "jobs": [{"jobname"')], "t.json"),
    "plan of nothing": (lambda s: ["plan", "no-such"], "no campaign"),
}  # fmt: skip


def contents(*folders: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def folders_in(*folders: Path) -> set[str]:
    return {str(path) for folder in folders for path in folder.rglob("*") if path.is_dir()}


def assert_one_sentence(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("leadline: ")
    assert words in lines[0]


@pytest.mark.fio
@pytest.mark.parametrize("what", CASES)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(
    what: str, tmp_path: Path, work_directory: Path, mounted: Callable[..., Path], leadline: Callable[..., subprocess.CompletedProcess[str]]
) -> None:  # fmt: skip
    arguments, words = CASES[what]
    argv = arguments(Scene(tmp_path, work_directory, mounted))
    files, folders = contents(tmp_path, work_directory), folders_in(tmp_path, work_directory)
    assert_one_sentence(leadline(*argv), words)
    assert contents(tmp_path, work_directory) == files
    assert folders_in(tmp_path, work_directory) == folders


@pytest.mark.fio
@pytest.mark.root
def test_direct_io_on_a_filesystem_that_refuses_it_is_said_before_anything_runs(
    tmp_path: Path, mounted: Callable[..., Path], leadline: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    inside = mounted("ramfs", "rw")
    source = Scene(tmp_path, inside, mounted).campaign(direct=True)
    assert_one_sentence(leadline("run", source, "--directory", inside), "refuses O_DIRECT")
    job_file = Scene(tmp_path, inside, mounted).job_file("[a]\nrw=read\nsize=1m\ndirect=1\n")
    assert_one_sentence(leadline("run", job_file, "--directory", inside), "refuses O_DIRECT")
    assert list(inside.iterdir()) == []
    assert not (tmp_path / "runs").exists()


@pytest.mark.fio
@pytest.mark.root
def test_a_read_only_directory_is_refused(
    tmp_path: Path, mounted: Callable[..., Path], leadline: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    inside = mounted("tmpfs")
    subprocess.run(["mount", "-o", "remount,ro", inside.parent], check=True)
    source = Scene(tmp_path, inside, mounted).campaign()
    assert_one_sentence(leadline("run", source, "--directory", inside), "may not be written")
    assert_one_sentence(leadline("quick", inside), "may not be written")


@pytest.mark.fio
def test_a_missing_fio_is_said_before_anything_runs(
    tmp_path: Path, work_directory: Path, mounted: Callable[..., Path], leadline: Callable[..., subprocess.CompletedProcess[str]]
) -> None:  # fmt: skip
    source = Scene(tmp_path, work_directory, mounted).campaign()
    for arguments in (
        ["run", source, "--directory", work_directory],
        ["quick", work_directory],
        ["plan", source],
    ):
        assert_one_sentence(leadline(*arguments, PATH=str(tmp_path)), "apt-get install fio")
    assert list(work_directory.iterdir()) == []
    assert not (tmp_path / "runs").exists()


@pytest.mark.fio
def test_a_missing_fio_does_not_turn_a_resumed_run_into_failures(
    tmp_path: Path, leadline: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    run = Path(shutil.copytree(GOLDEN, tmp_path / "run"))
    sql("DELETE FROM step WHERE ordinal > 5")(run)
    assert_one_sentence(leadline("run", "--resume", run, PATH=str(tmp_path)), "apt-get install fio")
    with sqlite3.connect(run / "results.sqlite") as connection:
        assert connection.execute("SELECT max(ordinal) FROM step").fetchone() == (5,)


def test_a_missing_engine_is_said_before_anything_runs(
    tmp_path: Path, work_directory: Path, mounted: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    import sys

    from leadline.cli.main import main

    source = Scene(tmp_path, work_directory, mounted).campaign()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(sys, "argv", ["leadline", "run", str(source), "--directory", str(work_directory)])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "leadline-engine is not installed" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.fio
def test_a_directory_that_another_leadline_works_in_is_refused_and_leaves_no_run(
    tmp_path: Path, work_directory: Path, mounted: Callable[..., Path], leadline: Callable[..., subprocess.CompletedProcess[str]]
) -> None:  # fmt: skip
    from leadline.run.targets.work_directory import WorkDirectory

    first = WorkDirectory(work_directory)
    first.prepare()
    source = Scene(tmp_path, work_directory, mounted).campaign()
    results = tmp_path / "results"
    assert_one_sentence(
        leadline("run", source, "--directory", work_directory, "--output", results), "another leadline"
    )
    assert not results.exists(), "a run that was refused before its first step is no result"
    assert first.check() is None
    first.clean_up()


def test_a_bug_of_ours_is_a_traceback_and_not_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from leadline.cli.main import main

    monkeypatch.setattr(sys, "argv", ["leadline", "schema"])
    monkeypatch.setattr("leadline.spec.schema.campaign_schema", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main()
