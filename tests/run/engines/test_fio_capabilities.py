"""What the installed fio can do is asked of it, and said in a sentence when it cannot."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.errors import UserError
from leadline.plan.steps import Step
from leadline.run.engines import fio_capabilities
from leadline.run.engines.fio import FioEngine
from leadline.run.engines.fio_capabilities import check_ioengine, check_options, installed_fio


def test_a_missing_fio_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_fio: Callable[[str], Path]
) -> None:
    fake_fio("").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt-get install fio"):
        installed_fio()


def test_a_program_that_only_happens_to_be_called_fio_is_refused(fake_fio: Callable[[str], Path]) -> None:
    fake_fio("").write_text("#!/bin/sh\necho 'file information object 1.0'\n")
    with pytest.raises(UserError, match="does not answer --version like fio"):
        installed_fio()


def test_a_fio_that_does_not_answer_is_refused(
    fake_fio: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fio_capabilities, "ASK_TIMEOUT_SECONDS", 0.2)
    fake_fio("").write_text("#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(UserError, match="gave no answer"):
        installed_fio()


@pytest.mark.fio
def test_an_ioengine_that_this_fio_lacks_is_refused_with_the_nearest_one() -> None:
    check_ioengine("psync")
    with pytest.raises(UserError, match='no ioengine "libaoi"; did you mean "libaio"'):
        check_ioengine("libaoi")


@pytest.mark.fio
def test_an_external_engine_that_does_not_load_is_refused() -> None:
    with pytest.raises(UserError, match="cannot load the external engine /bin/true"):
        check_ioengine("external:/bin/true")


@pytest.mark.fio
@pytest.mark.parametrize(
    ("shared_object", "said"),
    [("/nowhere/engine.so", "there is no external engine"), ("./engine.so", "give the whole one: /")],
)
def test_an_external_engine_that_is_not_there_is_refused(shared_object: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        check_ioengine(f"external:{shared_object}")


@pytest.mark.fio
@pytest.mark.parametrize("name", ["iodpeth", "no such option", "", "-h", "a;b", "BS"])
def test_an_option_that_fio_does_not_know_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"fio has no option"):
        check_options([name], "psync")


@pytest.mark.fio
def test_options_of_fio_and_of_the_engine_are_known() -> None:
    check_options(["norandommap", "buffer_compress_percentage", "thinktime"], "psync")
    check_options(["userspace_reap"], "libaio")
    with pytest.raises(UserError, match="userspace_reap"):
        check_options(["userspace_reap"], "psync")


@pytest.mark.fio
def test_all_steps_are_checked_before_the_first_one_runs(step: Callable[..., Step]) -> None:
    good, bad = step(), step(ordinal=1, cell={"ioengine": "libaoi"})
    with pytest.raises(UserError, match="libaoi"):
        FioEngine().check([good, bad])
    with pytest.raises(UserError, match='no option "iodpeth"; did you mean "iodepth"'):
        FioEngine().check([good, step(cell={"fio.iodpeth": 1})])
