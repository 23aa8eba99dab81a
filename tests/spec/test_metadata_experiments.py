"""Experiments on metadata in campaign files: what is asked for is understood, and mistakes are one sentence."""

from typing import Any

import pytest

from leadline.errors import UserError
from leadline.spec.campaign import Campaign
from leadline.spec.load import build_campaign
from leadline.spec.metadata import MetadataExperiment

TREE = {"name": "tree", "engine": "metadata", "items_per_directory": 100}
DATA = {"name": "data", "rw": "read", "size": "1m"}


def built(*experiments: dict[str, Any], **top: Any) -> Campaign:
    return build_campaign({"name": "c", "experiment": list(experiments), **top}, "c.toml")


def refusal(changes: dict[str, Any], **top: Any) -> str:
    """`None` takes a key out."""
    experiment = {name: value for name, value in (TREE | changes).items() if value is not None}
    with pytest.raises(UserError) as refused:
        built(experiment, **top)
    return str(refused.value)


def test_mdtests_options_are_keys_and_lists_are_axes() -> None:
    (experiment,) = built(
        TREE
        | {"numjobs": [1, 4], "depth": 2, "branching_factor": [2, 3], "write_size": "4k", "pause": "500ms"}
    ).experiment
    assert isinstance(experiment, MetadataExperiment)
    assert (experiment.numjobs, experiment.depth, experiment.branching_factor) == ((1, 4), (2,), (2, 3))
    assert (experiment.write_size, experiment.pause, experiment.naming) == ((4096,), 0.5, ("full_path",))


def test_both_kinds_stand_in_one_campaign_and_take_of_the_defaults_what_they_know() -> None:
    defaults = {"rw": "randread", "size": "4m", "iodepth": [1, 8], "driver": "io_uring", "repeats": 3}
    tree, data = built(TREE, {"name": "data"}, defaults=defaults).experiment
    assert (tree.iodepth, tree.repeats, tree.driver) == ((1, 8), 3, ("io_uring",))
    assert (data.iodepth, data.repeats, data.rw) == ((1, 8), 3, ("randread",))


def test_the_engine_may_come_from_the_defaults() -> None:
    (tree,) = built({"name": "tree", "items_per_rank": 10}, defaults={"engine": "metadata"}).experiment
    assert isinstance(tree, MetadataExperiment)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"items_per_directory": None}, ["items_per_rank", "mdtest -n"]),
        ({"rw": "read"}, ['"rw"', "means nothing to the metadata engine"]),
        ({"runtime": "3s"}, ['"runtime"', "means nothing to the metadata engine"]),
        ({"cache": "cold"}, ['"cache"', "means nothing to the metadata engine"]),
        ({"dept": 2}, ['unknown key "dept"', 'did you mean "depth"']),
        ({"iodepth": [1, 8]}, ['set driver = "io_uring"']),
        ({"driver": "aio"}, ["`driver`"]),
        ({"naming": "relative"}, ["`naming`"]),
        ({"depth": -1}, ["`depth`"]),
        ({"numjobs": 0}, ["`numjobs`"]),
        ({"files": False, "directories": False}, ["leave one of them on"]),
        ({"actions": ["stat", "remove"]}, ['without "create"']),
        ({"actions": ["look"]}, ["`actions`"]),
        ({"read_size": "4k"}, ["files hold what was written"]),
        ({"stonewall": "1s", "branching_factor": 2}, ["branching_factor = 1"]),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_with_its_place(changes: dict[str, Any], words: list[str]) -> None:
    sentence = refusal(changes)
    assert sentence.startswith("c.toml: ") and "\n" not in sentence and "tree" in sentence
    for word in words:
        assert word in sentence


def test_metadata_keys_in_an_experiment_of_fio_say_what_they_are_of() -> None:
    with pytest.raises(UserError, match=r'"items_per_directory".*set engine = "metadata"'):
        built(DATA | {"items_per_directory": 3})


def test_an_unknown_engine_is_told_all_there_are() -> None:
    with pytest.raises(UserError, match="fio, paced, metadata, posix"):
        built(DATA | {"engine": "mdtest"})


def test_fios_server_cannot_run_it() -> None:
    assert 'set [hosts] load = "together"' in refusal({}, hosts={"load": "fio server"}, target="glusterfs")
