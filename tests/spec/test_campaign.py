"""Campaign files: what is asked for is what is understood; every mistake is one sentence that says where."""

from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.plan.sites import lay_stands
from leadline.spec.campaign import Campaign
from leadline.spec.load import build_campaign, find_campaign, load_campaign, ready_made
from leadline.spec.load_cluster import build_cluster

EXPERIMENT = {"name": "one", "rw": "read", "size": "1m"}


def built(experiment: dict[str, Any] | None = None, **top: Any) -> Campaign:
    return build_campaign({"name": "c", "experiment": [EXPERIMENT | (experiment or {})], **top}, "c.toml")


def refusal(experiment: dict[str, Any] | None = None, **top: Any) -> str:
    with pytest.raises(UserError) as refused:
        built(experiment, **top)
    return str(refused.value)


def test_a_single_value_is_an_axis_of_one_and_a_list_is_an_axis() -> None:
    experiment = built({"iodepth": [1, 2, 4], "block_size": "64k"}).experiment[0]
    assert experiment.iodepth == (1, 2, 4)
    assert experiment.block_size == (65536,)


def test_units_are_read_wherever_they_are_written() -> None:
    campaign = built(
        {"size": ["4m", "1GiB"], "ramp": "500ms", "runtime": "1m", "timeout": "1h"},
        limits={"read": "450MB/s", "network": "25Gb/s"}, scale="1/16",
    )  # fmt: skip
    experiment = campaign.experiment[0]
    assert (experiment.size, experiment.ramp, experiment.runtime) == ((4 << 20, 1 << 30), 0.5, 60.0)
    assert (experiment.timeout, campaign.limits.read, campaign.limits.network) == (3600.0, 450e6, 25e9 / 8)
    assert campaign.scale.denominator == 16


def test_what_is_not_said_is_fios_default_or_says_the_least() -> None:
    campaign = built()
    experiment = campaign.experiment[0]
    assert (experiment.block_size, experiment.iodepth, experiment.numjobs) == ((4096,), (1,), (1,))
    assert (experiment.ioengine, experiment.direct, experiment.nrfiles) == (("psync",), (False,), (1,))
    assert (experiment.ramp, experiment.runtime, experiment.repeats) == (0.0, None, 1)
    assert (experiment.end_fsync, experiment.refill_buffers, experiment.cache) == (False, False, "as is")
    assert (campaign.order, campaign.seed, campaign.scale, campaign.baselines) == ("random", 1, 1, True)


def test_defaults_lie_under_every_experiment_and_the_experiments_own_word_wins() -> None:
    document = {
        "name": "c",
        "defaults": {
            "rw": "read",
            "filesize": "1m",
            "iodepth": 8,
            "fio": {"buffered": 1, "norandommap": True},
        },
        "experiment": [{"name": "a"}, {"name": "b", "iodepth": 2, "size": "8m", "fio": {"buffered": 0}}],
    }
    first, second = build_campaign(document, "c.toml").experiment
    assert (first.iodepth, first.filesize, first.fio) == (
        (8,),
        (1 << 20,),
        {"buffered": 1, "norandommap": True},
    )
    assert (second.iodepth, second.filesize, second.size) == ((2,), None, (8 << 20,))
    assert second.fio == {"buffered": 0, "norandommap": True}


def test_a_campaign_cannot_be_changed_once_it_is_checked() -> None:
    with pytest.raises(ValueError, match="frozen"):
        built().name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        ({"iodpeth": 4}, ['unknown key "iodpeth"', 'experiment "one"', 'did you mean "iodepth"']),
        ({"blocksize": "4k"}, ['did you mean "block_size"']),
        ({"rw": "randraed"}, ["`rw`", 'experiment "one"']),
        ({"block_size": "4 parsecs"}, ["`block_size`", '"4 parsecs" is not a size']),
        ({"runtime": "soon"}, ["`runtime`", '"soon" is not a duration']),
        ({"iodepth": 0}, ["`iodepth`"]),
        ({"iodepth": []}, ["`iodepth`"]),
        ({"numjobs": "many"}, ["`numjobs`"]),
        ({"numjobs": 1.5}, ["`numjobs`"]),
        ({"direct": "perhaps"}, ["`direct`"]),
        ({"repeats": 0}, ["`repeats`"]),
        ({"cache": "lukewarm"}, ["`cache`"]),
        ({"filesize": "4k"}, ["both `size` and `filesize`", 'experiment "one"']),
        ({"read_percentage": 70}, ["no mixed test"]),
        ({"rw": "randrw", "read_percentage": 101}, ["`read_percentage`"]),
        ({"engine": "paced"}, ["`rate`"]),
        ({"rate": 100}, ['engine = "paced"']),
        ({"engine": "paced", "rate": float("inf"), "runtime": 1}, ["`rate`"]),
        ({"name": ""}, ["`name`"]),
        ({"fio": {"buffered": {"y": 1}}}, ["`fio.buffered`", 'experiment "one"']),
    ],
)  # fmt: skip
def test_a_mistake_in_an_experiment_is_named_with_its_place(
    experiment: dict[str, Any], words: list[str]
) -> None:
    sentence = refusal(experiment)
    assert sentence.startswith("c.toml: ")
    for word in words:
        assert word in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ({"sede": 3}, ['unknown key "sede"', 'did you mean "seed"']),
        ({"order": "alphabetical"}, ["`order`"]),
        ({"scale": "0"}, ["`scale`", "not a scale"]),
        ({"limits": {"raed": "1GB/s"}}, ['unknown key "raed"', "[limits]", 'did you mean "read"']),
        ({"limits": {"read": "fast"}}, ["`read`", '"fast" is not a bandwidth']),
        ({"target": {"dir": "/x"}}, ["[target]"]),
        ({"defaults": {"iodpeth": 2}}, ['"iodpeth"', "[defaults]", 'did you mean "iodepth"']),
        ({"defaults": 3}, ["[defaults]"]),
        ({"noise_repeats": -1}, ["`noise_repeats`"]),
        ({"name": ""}, ["`name`"]),
        ({"conditions": {"client_cores": 1}}, ["c.toml: [conditions] (client_cores)", "lab targets only", "take them out"]),
        ({"target": {"directory": "/x"}, "conditions": {"link": "1Gb/s", "client_memory": "1GiB"}},
         ["(client_memory, link)", '"/x" is a directory']),
        ({"target": ["xfs", {"directory": "/x"}], "conditions": {"disk_read_iops": 60}},
         ['"/x" is a directory', "give the others `conditions` of their own"]),
        ({"target": {"directory": "/x", "conditions": {"client_cores": 1}}}, ["`conditions`", "only a target of the lab"]),
        ({"hosts": {"kind": "pair", "names": ["local", "b"]}, "conditions": {"link": "1Gb/s"}}, ["lab targets only"]),
    ],
)  # fmt: skip
def test_a_mistake_at_the_top_is_named_with_its_place(top: dict[str, Any], words: list[str]) -> None:
    sentence = refusal(**top)
    for word in words:
        assert word in sentence
    assert "\n" not in sentence


def test_a_directory_beside_lab_targets_that_have_conditions_of_their_own_stays_free() -> None:
    campaign = built(target=[{"name": "xfs", "conditions": {"client_cores": 1}}, {"directory": "/x"}])
    assert [stand.site.conditions.given() for stand in lay_stands(campaign)] == [{"client_cores": 1}, {}]


@pytest.mark.parametrize("experiments", [[], {"rw": "read"}, 3, ["read"], None])
def test_a_campaign_without_an_experiment_says_how_to_write_one(experiments: Any) -> None:
    with pytest.raises(UserError, match="experiment"):
        build_campaign({"name": "c", "experiment": experiments}, "c.toml")


def test_an_experiment_without_rw_or_size_says_what_is_missing() -> None:
    with pytest.raises(UserError, match="`rw` is missing in experiment"):
        build_campaign({"name": "c", "experiment": [{"name": "one", "size": "1m"}]}, "c.toml")
    with pytest.raises(UserError, match="needs `size`"):
        build_campaign({"name": "c", "experiment": [{"name": "one", "rw": "read"}]}, "c.toml")


def test_a_misspelt_key_is_told_as_such_and_not_as_a_missing_one() -> None:
    with pytest.raises(UserError, match=r'unknown key "nam" in experiment.* did you mean "name"'):
        build_campaign({"name": "c", "experiment": [{"nam": "one", "rw": "read", "size": "1m"}]}, "c.toml")
    with pytest.raises(
        UserError, match=r'unknown key "storage_node" in .cluster.; did you mean "storage_nodes"'
    ):
        build_cluster({"storage_node": 3, "storage_nic": "10Gb/s"}, "c.toml")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"name = ", "not valid TOML"), (b"\xff\xfe\x00", "cannot be read"), (b"", "no experiment"), (b"a = 1\na = 2\n", "not valid TOML")],
)  # fmt: skip
def test_a_file_that_is_no_campaign_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=words) as refused:
        load_campaign(path)
    assert str(path) in str(refused.value)


def test_a_ready_made_campaign_is_found_by_its_name_and_a_near_name_is_suggested() -> None:
    assert (
        find_campaign("juicefs_guide") == find_campaign("juicefs_guide.toml") == ready_made()["juicefs_guide"]
    )
    with pytest.raises(UserError, match='did you mean "juicefs_guide"'):
        find_campaign("juicefs_giude.toml")


def test_a_file_beside_the_user_wins_over_a_ready_made_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "juicefs_guide.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert find_campaign("juicefs_guide.toml").resolve() == tmp_path / "juicefs_guide.toml"


def test_options_belong_to_a_target_of_the_lab() -> None:
    assert "`options`, which only a target of the lab takes" in refusal(
        target={"directory": "/data", "options": {"mount": "noatime"}}
    )
