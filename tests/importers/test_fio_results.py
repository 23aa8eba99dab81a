"""fio's own files become step records."""

import json
from pathlib import Path

import pytest
from foreign_results import FIO_SAMPLES, fio_document, fio_text, write_json

from leadline.errors import UserError
from leadline.importers import import_paths
from leadline.store.records import Status, StepRecord


def records_of(path: Path) -> list[StepRecord]:
    return import_paths([path])[1]


def written(tmp_path: Path, name: str) -> Path:
    path = tmp_path / f"{name}.json"
    path.write_text(fio_text(name))
    return path


def test_the_cell_comes_from_the_options_that_fio_repeats(tmp_path: Path) -> None:
    (record,) = records_of(write_json(tmp_path / "a.json", fio_document({"filename": "/mnt/nfs/file"})))
    assert record.cell == {
        "rw": "randread",
        "block_size": 4096,
        "iodepth": 8,
        "numjobs": 1,
        "ioengine": "libaio",
        "direct": True,
        "nrfiles": 1,
    }
    assert (record.experiment, record.engine, record.status) == ("job on /mnt/nfs", "fio", Status.FINISHED)
    assert record.started_unix_ns == 1_700_000_000_000_000_000
    assert record.wall_ns == 10_000_000_000
    assert record.facts["imported"] is True and record.facts["direct"] is True


def test_equal_cells_in_two_places_are_not_repeats_of_each_other(tmp_path: Path) -> None:
    for place in ("/mnt/nfs", "/mnt/ssd"):
        write_json(tmp_path / f"{place[5:]}.json", fio_document({"directory": place}))
    write_json(tmp_path / "ssd-again.json", fio_document({"directory": "/mnt/ssd"}))
    found = [(record.experiment, record.repeat, record.ordinal) for record in records_of(tmp_path)]
    assert found == [("job on /mnt/nfs", 0, 0), ("job on /mnt/ssd", 0, 1), ("job on /mnt/ssd", 1, 2)]


def test_clones_of_a_section_are_one_step_and_sections_are_experiments(tmp_path: Path) -> None:
    (clones,) = records_of(written(tmp_path, "numjobs_4"))
    assert (len(clones.measurements), len(clones.jobs), clones.cell["numjobs"]) == (4, 4, 4)
    one, two = records_of(written(tmp_path, "two_sections"))
    assert (one.experiment, two.experiment) == ("one", "two")
    assert (one.cell["rw"], two.cell["rw"], two.cell["block_size"]) == ("read", "write", 65536)
    assert one.warnings == two.warnings == ()  # a stonewall stood between them


def test_sections_that_ran_together_say_so(tmp_path: Path) -> None:
    document = fio_document()
    document["jobs"].append(fio_document({"rw": "read"}, jobname="other")["jobs"][0])
    first, second = records_of(write_json(tmp_path / "a.json", document))
    assert first.warnings == ("it ran at the same time as other: a shared load",)
    assert second.warnings == ("it ran at the same time as job: a shared load",)


def test_a_section_that_ran_twice_is_two_repeats(tmp_path: Path) -> None:
    document = fio_document()
    document["jobs"].append(fio_document(groupid=1)["jobs"][0])
    assert [record.repeat for record in records_of(write_json(tmp_path / "a.json", document))] == [0, 1]


def test_the_same_section_on_two_hosts_is_one_step(tmp_path: Path) -> None:
    (record,) = records_of(written(tmp_path, "two_clients"))
    assert {measurement.host for measurement in record.measurements} == {"127.0.0.1", "localhost"}


def test_a_job_with_an_error_is_a_failed_step_with_its_reason(tmp_path: Path) -> None:
    (record,) = records_of(written(tmp_path, "polluted_by_error"))
    assert record.status is Status.FAILED
    assert record.reason == 'fio reports error 28 (No space left on device) in job "a"'


def test_a_job_that_moved_nothing_is_a_failed_step(tmp_path: Path) -> None:
    (record,) = records_of(write_json(tmp_path / "a.json", fio_document(read={})))
    assert (record.status, record.reason) == (Status.FAILED, 'job "job" moved no data')


def test_a_run_that_ended_before_its_time_says_so(tmp_path: Path) -> None:
    (early,) = records_of(write_json(tmp_path / "a.json", fio_document({"runtime": "60"})))
    assert early.facts["ended_early"] is True
    assert early.warnings == ("it ended after 10 s of the 60 s asked for: its size was done",)
    (whole,) = records_of(write_json(tmp_path / "b.json", fio_document({"runtime": "10"})))
    assert whole.facts["ended_early"] is False and whole.warnings == ()


@pytest.mark.parametrize(
    ("options", "unflushed"),
    [
        ({"rw": "write", "direct": "0"}, True),
        ({"rw": "write", "direct": "0", "end_fsync": "1"}, False),
        ({"rw": "write", "direct": "0", "fsync": "32"}, False),
        ({"rw": "write", "direct": "1"}, False),
        ({"rw": "read", "direct": "0"}, False),
    ],
)
def test_buffered_writes_without_flush_are_marked(
    tmp_path: Path, options: dict[str, str], unflushed: bool
) -> None:
    (record,) = records_of(write_json(tmp_path / "a.json", fio_document(options)))
    assert record.facts["buffered_without_flush"] is unflushed


def test_bandwidth_logs_beside_the_result_become_its_throughput_over_time(tmp_path: Path) -> None:
    path = written(tmp_path, "with_bandwidth_log")
    for log in FIO_SAMPLES.glob("throughput_bw.*.log"):
        (tmp_path / log.name).write_bytes(log.read_bytes())
    (record,) = records_of(path)
    assert [series.name for series in record.throughput] == ["read", "write"]
    manifest, (again,) = import_paths([tmp_path])
    assert manifest.campaign["left_out"] == [] and again.throughput == record.throughput


def test_broken_logs_are_left_out_with_a_warning(tmp_path: Path) -> None:
    path = written(tmp_path, "with_bandwidth_log")
    (tmp_path / "throughput_bw.1.log").write_text("torn\n")
    (record,) = records_of(path)
    assert record.throughput == () and "bandwidth logs are left out" in record.warnings[-1]


def test_a_gzipped_result_is_read_as_it_is(tmp_path: Path) -> None:
    (record,) = records_of(FIO_SAMPLES / "json.txt.gz")
    assert record.measurements[0].operations == 256


def test_a_result_without_jobs_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", {"fio version": "fio-3.33", "jobs": []})
    with pytest.raises(UserError, match=r"a\.json: .*the run failed before it began"):
        import_paths([path])


def test_a_truncated_result_is_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(fio_document(), indent=1)[:400])
    with pytest.raises(UserError, match=r"cut\.json: .*cut off at line"):
        import_paths([path])
