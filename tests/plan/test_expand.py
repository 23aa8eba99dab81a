"""Axes multiplied out into cells, and sizes scaled: the laws that hold for every experiment."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UserError
from leadline.plan.expand import expand, file_bytes_of, job_bytes_of, layout_of, scaled
from leadline.plan.scaling import Scaling
from leadline.spec.campaign import Experiment

scales = st.fractions(min_value=Fraction(1, 10_000), max_value=4)
blocks = st.sampled_from([512, 4096, 65536, 1 << 20, 4 << 20])


def experiment(**settings: Any) -> Experiment:
    return Experiment.model_validate({"name": "one", "rw": "read", "size": "64m"} | settings)


def cells(**settings: Any) -> list[dict[str, Any]]:
    return list(expand(experiment(**settings), Scaling()))


@given(
    st.sets(st.sampled_from(["read", "write", "randread", "randwrite"]), min_size=1),
    st.sets(st.integers(1, 64), min_size=1, max_size=4),
    st.sets(st.integers(1, 16), min_size=1, max_size=4),
    st.sets(blocks, min_size=1, max_size=3),
)
def test_every_combination_of_the_axes_is_a_cell_exactly_once(
    tests: set[str], depths: set[int], jobs: set[int], sizes: set[int]
) -> None:
    expanded = cells(rw=list(tests), iodepth=list(depths), numjobs=list(jobs), block_size=list(sizes))
    found = [(cell["rw"], cell["iodepth"], cell["numjobs"], cell["block_size"]) for cell in expanded]
    assert sorted(found) == sorted(product(tests, depths, jobs, sizes))


def test_a_mix_multiplies_only_the_mixed_tests() -> None:
    expanded = cells(rw=["randread", "randrw"], read_percentage=[30, 70])
    assert [(cell["rw"], cell.get("read_percentage")) for cell in expanded] == [
        ("randread", None),
        ("randrw", 30),
        ("randrw", 70),
    ]


def test_further_fio_options_are_axes_too() -> None:
    assert [cell["fio.buffered"] for cell in cells(fio={"buffered": [0, 1]})] == [0, 1]


def test_settings_that_are_off_are_not_in_the_cell() -> None:
    (cell,) = cells()
    assert not {"ramp", "runtime", "end_fsync", "refill_buffers", "fsync_on_close", "openfiles"} & set(cell)


@given(blocks, st.integers(1, 4096), st.integers(1, 1000), scales)
def test_scaling_never_leaves_a_file_below_one_block(
    block: int, in_blocks: int, files: int, scale: Fraction
) -> None:
    cell = scaled({"block_size": block, "nrfiles": files, "size": block * in_blocks * files}, Scaling(scale))
    assert file_bytes_of(cell) >= block
    cell = scaled({"block_size": block, "nrfiles": files, "filesize": block * in_blocks}, Scaling(scale))
    assert file_bytes_of(cell) >= block


@given(blocks, st.integers(1, 4096), st.integers(1, 1000), scales, scales)
def test_a_larger_scale_never_moves_fewer_bytes(
    block: int, in_blocks: int, files: int, first: Fraction, second: Fraction
) -> None:
    small, large = sorted((first, second))
    for stated in ({"size": block * in_blocks * files}, {"filesize": block * in_blocks}):
        cell = {"block_size": block, "nrfiles": files, **stated}
        assert job_bytes_of(scaled(cell, Scaling(small))) <= job_bytes_of(scaled(cell, Scaling(large)))


@given(blocks, st.integers(1, 4096), scales)
def test_a_scaled_size_is_the_share_asked_for_to_the_block(
    block: int, in_blocks: int, scale: Fraction
) -> None:
    cell = scaled({"block_size": block, "nrfiles": 1, "size": block * in_blocks}, Scaling(scale))
    wanted = block * in_blocks * scale
    assert abs(job_bytes_of(cell) - wanted) < block or job_bytes_of(cell) == block


def test_scaling_says_in_words_what_it_changed_and_once_only() -> None:
    scaling = Scaling(Fraction(1, 64))
    list(expand(experiment(size="1g", nrfiles=64, block_size="4m", iodepth=[1, 2]), scaling))
    assert scaling.effects == [
        "size a job 1g became 16m",
        "64 files a job became 4, so that each still holds one block of 4m",
    ]


def test_a_scale_of_one_changes_and_says_nothing() -> None:
    scaling = Scaling()
    cell = {"block_size": 4096, "nrfiles": 3, "size": 10_000_000}
    assert scaled(cell, scaling) == cell
    assert scaling.effects == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": "1k"}, "smaller than one block"),
        ({"size": "1m", "nrfiles": 1000, "block_size": "4k"}, "smaller than one block"),
        ({"fio": {"filename": "/dev/sda"}}, "plain name"),
        ({"fio": {"filename": "a:b"}}, "plain name"),
        ({"fio": {"filename": "../../x"}}, "plain name"),
        ({"fio": {"directory": "/etc"}}, "directory"),
        ({"fio": {"filename_format": "/etc/$jobnum"}}, "filename_format"),
        ({"fio": {"opendir": "/home"}}, "opendir"),
        ({"fio": {"replay_redirect": "/dev/sda"}}, "replay_redirect"),
        ({"fio": {"read_iolog": "/tmp/log"}}, "read_iolog"),
    ],
)  # fmt: skip
def test_a_cell_that_cannot_be_or_would_leave_the_directory_is_refused(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words) as refused:
        cells(**settings)
    assert 'experiment "one"' in str(refused.value)


@given(st.integers(1, 2**40), st.integers(1, 2**40))
def test_files_of_different_sizes_never_share_a_folder(one: int, other: int) -> None:
    keys = {layout_of({"filesize": each, "nrfiles": 1, "numjobs": 1}).key for each in (one, other)}
    assert len(keys) == (1 if one == other else 2)


def test_one_file_shared_by_all_jobs_is_a_layout_of_one() -> None:
    cell = {"filesize": 4096, "nrfiles": 1, "numjobs": 8, "fio.filename": "shared.bin"}
    layout = layout_of(cell)
    assert (layout.jobs, layout.filename, layout.total_bytes) == (1, "shared.bin", 4096)
    assert layout.key != layout_of({"filesize": 4096, "nrfiles": 1, "numjobs": 8}).key
