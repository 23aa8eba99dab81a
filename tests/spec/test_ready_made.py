"""The ready-made campaigns carry the parameters of the published evaluations, no more and no less."""

from fractions import Fraction
from typing import Any

import pytest

from leadline.plan.design import design
from leadline.plan.steps import WITHOUT_RATE
from leadline.spec.campaign import Experiment
from leadline.spec.load import load_campaign, ready_made
from leadline.store.records import StepKind

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
DOUBLING_TO_16 = (1, 2, 4, 8, 16)
RANDOM_BIG = {"block_size": (4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB), "numjobs": (1, 16)}
RANDOM_LARGE = {
    "block_size": (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB),
    "refill_buffers": True,
    "size": (4 * GIB,),
}
LARGE = {"block_size": (256 * KIB,), "refill_buffers": True, "size": (4 * GIB,), "numjobs": DOUBLING_TO_16}
BIG = {"direct": (True,), "block_size": (4 * MIB,), "size": (1 * GIB,)}
JOB_FILE = {
    "ioengine": ("sync",),
    "block_size": (4 * MIB,),
    "filesize": (1 * GIB,),
    "openfiles": (1,),
    "end_fsync": True,
}
SMALL = {"file_service_type": ("sequential",), "nrfiles": (1000,)}


def small(size_bytes: int) -> dict[str, Any]:
    return SMALL | {"block_size": (size_bytes,), "filesize": (size_bytes,)}


# JuiceFS documentation, "Fio Benchmark": sections "Construct tests", "Test different buffer sizes", "Test different block sizes".
GUIDE: dict[str, dict[str, Any]] = {
    "big-write": BIG | {"rw": ("write",), "end_fsync": True, "numjobs": (1, 16)},
    "big-read-single": BIG | {"rw": ("read",), "cache": "cold"},
    "big-write, 16 x 64 files": BIG | {"rw": ("write",), "end_fsync": True, "numjobs": (16,), "nrfiles": (64,)},
    "big-read-multiple": BIG | {"rw": ("read",), "nrfiles": (64,), "cache": "cold"},
    "big-read-multiple-concurrent": BIG | {"rw": ("read",), "numjobs": (64,), "nrfiles": (64,), "openfiles": (1,), "cache": "cold"},
    "big-write, random": BIG | RANDOM_BIG | {"rw": ("randwrite",), "end_fsync": True},
    "big-read, random": BIG | RANDOM_BIG | {"rw": ("randread",), "cache": "cold"},
    "sequential-write": JOB_FILE | {"rw": ("write",)},
    "sequential-read": JOB_FILE | {"rw": ("read",), "cache": "cold"},
    "big-file-multi-write": LARGE | {"rw": ("write",)},
    "big-file-multi-read": LARGE | {"rw": ("read",), "cache": "cold"},
    "big-file-random-write": RANDOM_LARGE | {"rw": ("randwrite",)},
    "big-file-rand-read, pre_read": RANDOM_LARGE | {"rw": ("randread",), "fio": {"filename": "randread.bin", "pre_read": 1}},
    "big-file-rand-read, caches dropped": RANDOM_LARGE | {"rw": ("randread",), "fio": {"filename": "randread.bin"}, "cache": "cold"},
    "small-file-multi-write": small(4 * KIB) | {"rw": ("write",), "numjobs": DOUBLING_TO_16},
    "small-file-multi-read": small(4 * KIB) | {"rw": ("read",), "numjobs": DOUBLING_TO_16, "cache": "cold"},
} | {
    f"small-file-seq-{test}, {size_kib}k": small(size_kib * KIB) | {"rw": (test,)} | ({"cache": "cold"} if test == "read" else {})
    for test in ("read", "write") for size_kib in (4, 16, 64, 128)
}  # fmt: skip


def stated(experiment: Experiment) -> dict[str, Any]:
    said = experiment.model_dump(exclude_unset=True, exclude={"name"})
    return {name: value for name, value in said.items() if value != {}}


def test_the_juicefs_guides_every_command_is_there_with_its_parameters() -> None:
    campaign = load_campaign(ready_made()["juicefs_guide"])
    assert {experiment.name: stated(experiment) for experiment in campaign.experiment} == GUIDE
    assert campaign.order == "as written"


def test_the_juicefs_guide_writes_before_it_reads() -> None:
    """Its reads say that they take what the writes have left."""
    names = [experiment.name for experiment in load_campaign(ready_made()["juicefs_guide"]).experiment]
    for write, read in (
        ("big-write", "big-read-single"), ("sequential-write", "sequential-read"), ("big-file-multi-write", "big-file-multi-read"),
        ("small-file-multi-write", "small-file-multi-read"),
    ):  # fmt: skip
        assert names.index(write) < names.index(read)


def test_the_3fs_journals_grid_is_there_with_its_axes() -> None:
    """Part 3: iodepth 1..128 and numjobs 1..16 in powers of two, four tests; io_uring, and libaio for 4k and 1m."""
    uring, libaio = load_campaign(ready_made()["3fs_journal_local"]).experiment
    for experiment in (uring, libaio):
        assert set(experiment.rw) == {"read", "write", "randread", "randwrite"}
        assert experiment.iodepth == (1, 2, 4, 8, 16, 32, 64, 128)
        assert experiment.numjobs == DOUBLING_TO_16
        assert experiment.direct == (True,)
    assert (uring.ioengine, uring.block_size) == (("io_uring",), (4 * KIB, 64 * KIB, 1 * MIB, 4 * MIB))
    assert (libaio.ioengine, libaio.block_size) == (("libaio",), (4 * KIB, 1 * MIB))


def test_the_3fs_journals_grid_comes_to_960_cells() -> None:
    plan, _ = design(load_campaign(ready_made()["3fs_journal_local"]))
    assert sum(step.kind is StepKind.CELL for step in plan.steps) == 8 * 5 * 4 * (4 + 2)


@pytest.mark.parametrize("name", sorted(ready_made()))
@pytest.mark.parametrize("scale", ["1", "1/16", "1/1024"])
def test_every_ready_made_campaign_can_be_planned_at_any_scale(name: str, scale: str) -> None:
    campaign = load_campaign(ready_made()[name]).model_copy(update={"scale": Fraction(scale)})
    plan, scaling = design(campaign)
    measured = [step for step in plan.steps if step.files not in WITHOUT_RATE]
    assert len(measured) > 30 or len(measured) < len(plan.steps), "soundings are few, and each is many trials"
    assert bool(scaling.effects) == (scale != "1" and bool(measured)), (
        "what scaling changed is said, and only then"
    )


def test_the_published_metadata_shapes_are_there_with_their_processes() -> None:
    """`mdtest -z 2 -b 3 -I 10000 -u` and `mdtest -z 10 -b 2 -I 100 -u`, each with 1, 4, 8, 16 and 32 processes."""
    wide, deep = load_campaign(ready_made()["3fs_metadata"]).experiment
    assert (wide.depth, wide.branching_factor, wide.items_per_directory) == ((2,), (3,), (10_000,))
    assert (deep.depth, deep.branching_factor, deep.items_per_directory) == ((10,), (2,), (100,))
    for each in (wide, deep):
        assert (each.engine, each.numjobs, each.unique_trees) == ("metadata", (1, 4, 8, 16, 32), (True,))
