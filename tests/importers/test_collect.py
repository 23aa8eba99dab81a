"""Files and trees of several kinds."""

import json
from pathlib import Path

import pytest
from foreign_results import fio_document, fio_text, grid, write_json
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.errors import UserError
from leadline.importers import import_paths
from leadline.store.manifest import Manifest


def mixed_tree(folder: Path) -> Path:
    write_json(folder / "fio/a.json", fio_document())
    write_json(folder / "grids/4k_ssd_xfs_libaio_m1_1.json", grid({("read", 1, 1): (0.1, 26214.0, 38.0)}))
    write_json(folder / "nvme/4k/randread-1-1.json", fio_document())
    (folder / "notes.txt").write_text("remember the milk\n")
    (folder / "cut.json").write_text(json.dumps(fio_document(), indent=1)[:300])
    (folder / ".hidden.json").write_text("{}")
    return folder


def test_a_tree_of_several_kinds_imports_all_and_names_the_rest(tmp_path: Path) -> None:
    manifest, records = import_paths([mixed_tree(tmp_path)])
    assert len(records) == 3 and [record.ordinal for record in records] == [0, 1, 2]
    assert manifest.campaign["imported"] == {
        "fio JSON or JSON+": 1,
        "bench-fio tree": 1,
        "published grid JSON": 1,
    }
    cut, notes = manifest.campaign["left_out"]
    assert "cut.json" in cut and "cut off at line" in cut
    assert "notes.txt" in notes and "fio JSON or JSON+" in notes


def test_the_manifest_says_import_and_survives_being_stored(tmp_path: Path) -> None:
    manifest, _ = import_paths([mixed_tree(tmp_path / "results")])
    assert (manifest.name, manifest.source) == ("results", "import")
    assert manifest.directory == str(tmp_path / "results")
    manifest.write(tmp_path / "manifest.json")
    assert Manifest.read(tmp_path / "manifest.json").campaign == manifest.campaign


def test_a_named_file_that_nobody_understands_is_a_mistake(tmp_path: Path) -> None:
    good = write_json(tmp_path / "a.json", fio_document())
    (tmp_path / "notes.txt").write_text("remember the milk\n")
    with pytest.raises(
        UserError, match=r"notes\.txt: it is no result that leadline understands \(bench-fio tree, fio"
    ):
        import_paths([good, tmp_path / "notes.txt"])


def test_a_tree_without_any_result_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"nothing could be imported from .*no file there is one of: bench-fio tree"
    ):
        import_paths([tmp_path])
    for number in range(5):
        (tmp_path / f"notes{number}.txt").write_text("milk\n")
    with pytest.raises(UserError, match=r"notes2\.txt.*and 2 more$"):
        import_paths([tmp_path])


def test_a_path_that_does_not_exist_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="missing does not exist"):
        import_paths([tmp_path / "missing"])


def test_a_file_that_breaks_off_half_way_leaves_no_half_of_it(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", fio_document())
    cells = {("read", 1, 1): (0.1, 26214.0, 38.0), ("read", 2, 1): (0.2, float("nan"), 38.0)}
    write_json(tmp_path / "4k_ssd_xfs_libaio_m1_1.json", grid(cells))
    manifest, records = import_paths([tmp_path])
    assert len(records) == 1 and "iops is NaN" in manifest.campaign["left_out"][0]


def test_a_broken_gzip_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(b"\x1f\x8b torn")
    with pytest.raises(UserError, match=r"a\.json\.gz: it cannot be read"):
        import_paths([tmp_path / "a.json.gz"])


GRID = json.dumps(grid({("read", 1, 1): (0.1, 26214.0, 38.0), ("write", 8, 4): (0.2, 1.0, 3.0)}), indent=1)
PERFTEST = json.dumps(
    {
        "results": {
            "x": {
                "test_type": "ib_send_bw",
                "results": [{"bytes": 64, "iterations": 5, "bw_average_MBs": 5.0}],
            }
        }
    }
)
SEEDS = {"4k_a_b_c_1.json": GRID, "ib.json": PERFTEST, "a.json": fio_text("two_sections")}
NOISE = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["NaN", "null", "-1", "1e999", "9" * 400, '"x"', "{}", "[]", "true", "}", '"']),
)


@settings(max_examples=200, deadline=3000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(SEEDS)), st.floats(0, 1), st.integers(0, 30), NOISE)
def test_mutated_files_are_imported_or_refused(
    tmp_path: Path, name: str, place: float, gap: int, noise: str
) -> None:
    text, begin = SEEDS[name], int(place * len(SEEDS[name]))
    path = tmp_path / name
    path.write_text(text[:begin] + noise + text[begin + gap :], encoding="utf-8", errors="replace")
    try:
        import_paths([path])
    except UserError as error:
        assert "\n" not in str(error)


NUMBERS = st.sampled_from(
    ["NaN", "null", "-1", "1e999", "1e17", "9" * 400, '"x"', "{}", "[]", "true", "0", "1e-300"]
)


@settings(max_examples=200, deadline=3000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(SEEDS)), st.floats(0, 0.999), NUMBERS)
def test_any_number_may_be_anything(tmp_path: Path, name: str, place: float, value: str) -> None:
    words = SEEDS[name].split()
    numbers = [index for index, word in enumerate(words) if word.strip(",}]").replace(".", "").isdigit()]
    words[numbers[int(place * len(numbers))]] = value + (
        "," if words[numbers[int(place * len(numbers))]].endswith(",") else ""
    )
    path = tmp_path / name
    path.write_text(" ".join(words))
    try:
        import_paths([path])
    except UserError as error:
        assert "\n" not in str(error)
