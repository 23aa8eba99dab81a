"""fio's JSON as fio 3.33 really writes it, and as fio 2 did."""

import json
from typing import Any

import pytest
from fio_samples import NAMES, sample

from leadline.errors import UserError
from leadline.formats.fio_json import parse
from leadline.store.records import Direction


def document(**changes: Any) -> dict[str, Any]:
    """A small result of fio 3: one job that read 256 blocks."""
    read = {
        "io_bytes": 1048576,
        "io_kbytes": 1024,
        "runtime": 6,
        "total_ios": 256,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": {"min": 100, "max": 300, "mean": 200.0, "stddev": 10.0, "N": 256},
        "lat_ns": {"min": 110, "max": 310, "mean": 210.0, "stddev": 10.0, "N": 256},
    }
    job = {"jobname": "a", "groupid": 0, "error": 0, "job options": {"rw": "read"}, "read": read | changes}
    return {"fio version": "fio-3.33", "timestamp_ms": 1795228734143, "jobs": [job]}


def parse_document(**changes: Any) -> Any:
    return parse(json.dumps(document(**changes))).jobs[0].measurements[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_real_sample_is_read_with_as_many_latencies_as_operations(name: str) -> None:
    output = parse(sample(name))
    assert output.version == "fio-3.33"
    for job in output.jobs:
        for measurement in job.measurements:
            if job.error == 0:
                assert measurement.latency.count == measurement.operations
                assert measurement.size_bytes >= measurement.operations * 4096
            if measurement.latency.histogram is not None:
                assert measurement.latency.histogram.total == measurement.latency.count


def test_what_was_under_way_at_the_end_of_a_ramp_counts_as_operations_as_it_does_as_bytes() -> None:
    text = sample("after_a_ramp")
    (measurement,) = parse(text).jobs[0].measurements
    assert json.loads(text)["jobs"][0]["read"]["total_ios"] == 32, "issued after the ramp"
    assert (measurement.operations, measurement.latency.count) == (63, 63)
    assert measurement.size_bytes == 63 << 20


def test_without_latencies_operations_are_what_was_issued() -> None:
    none = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    assert parse_document(lat_ns=none, clat_ns=none).operations == 256


def test_a_window_in_which_only_requests_of_the_ramp_were_answered_is_measured() -> None:
    assert parse_document(total_ios=0).operations == 256


def test_json_plus_gives_the_total_latency_with_its_bins_and_percentiles() -> None:
    read, write = parse(sample("json_plus_randrw")).jobs[0].measurements
    assert (read.direction, read.operations, read.size_bytes, read.runtime_ns) == (
        Direction.READ,
        132,
        540672,
        4_000_000,
    )
    assert (write.direction, write.operations) == (Direction.WRITE, 124)
    assert read.latency.mean_ns == pytest.approx(20676.863636)
    assert read.completion is not None and read.completion.mean_ns == pytest.approx(20630.606061)
    assert read.submission is None  # psync has none
    assert read.latency.histogram is not None and read.latency.min_ns is not None
    assert read.latency.histogram.value_at_rank(1) == pytest.approx(read.latency.min_ns, rel=1 / 128)
    assert read.latency.stated_percentiles_ns["0.01"] == 15936
    assert {"0.5", "0.99", "0.999", "0.9999"} <= set(read.latency.stated_percentiles_ns)


def test_stated_percentiles_agree_with_those_of_the_bins() -> None:
    latency = parse(sample("null_engine")).jobs[0].measurements[0].latency
    assert latency.histogram is not None
    for fraction, stated_ns in latency.stated_percentiles_ns.items():
        assert latency.histogram.percentile(float(fraction)) == pytest.approx(stated_ns, rel=1 / 64)


def test_four_jobs_without_group_reporting_are_four_entries_of_one_section() -> None:
    jobs = parse(sample("numjobs_4")).jobs
    assert [(job.name, job.group) for job in jobs] == [("a", 0)] * 4
    assert [job.measurements[0].job for job in jobs] == [0, 1, 2, 3]
    assert all(job.measurements[0].submission is not None for job in jobs)  # libaio


def test_group_reporting_sums_four_jobs_into_one_entry() -> None:
    output = parse(sample("group_reporting"))
    assert [job.measurements[0].operations for job in output.jobs] == [256]
    assert any("bins of clat stand for those of lat" in warning for warning in output.warnings)


def test_an_error_line_before_the_document_is_kept_as_a_warning() -> None:
    output = parse(sample("polluted_by_error"))
    assert output.jobs[0].error == 28
    assert len(output.warnings) == 1 and "No space left on device" in output.warnings[0]


def test_of_several_documents_the_last_complete_one_counts() -> None:
    text = sample("status_interval")
    assert text.count('"fio version"') > 1
    assert parse(text).jobs[0].measurements[0].runtime_ns == 3_001_000_000
    cut = text[: text.rindex('"fio version"') + 2000]
    output = parse(cut)
    assert output.jobs[0].measurements[0].runtime_ns < 3_000_000_000
    assert "left out" in output.warnings[-1] and "cut off" in output.warnings[-1]


def test_jobs_of_clients_carry_their_host_and_fios_own_sum_is_left_out() -> None:
    output = parse(sample("two_clients"))
    assert '"All clients"' in sample("two_clients")
    assert sorted(job.hostname for job in output.jobs) == ["127.0.0.1", "localhost"]
    assert all(job.measurements[0].host == job.hostname for job in output.jobs)
    assert output.jobs[0].options["lat_percentiles"] == "1"
    assert any("<vm> hosts: (g=0)" in warning for warning in output.warnings)


def test_local_jobs_carry_the_host_that_was_passed() -> None:
    job = parse(sample("json"), host="node7").jobs[0]
    assert (job.measurements[0].host, job.use.host, job.hostname) == ("node7", "node7", "")


def test_global_options_lie_under_those_of_the_section() -> None:
    one, two = parse(sample("two_sections")).jobs
    assert (one.options["bs"], one.options["rw"], one.options["ioengine"]) == ("4k", "read", "null")
    assert (two.options["bs"], two.options["rw"]) == ("64k", "write")


def test_a_job_that_failed_before_it_began_has_an_error_and_no_measurement() -> None:
    failed, *others = parse(sample("failed_job")).jobs
    assert (failed.error, failed.measurements, failed.use.error) == (22, (), 22)
    assert [job.error for job in others] == [0, 0]


def test_cpu_use_is_a_share_of_one_core() -> None:
    use = parse(sample("failed_job")).jobs[1].use
    assert use.user_cpu_share == pytest.approx(0.05633333)
    assert (use.context_switches, use.runtime_ns) == (99132, 3_000_000_000)


def test_bins_of_completion_do_not_stand_for_the_total_when_submission_took_time() -> None:
    measurement = parse_document(
        slat_ns={"min": 5, "max": 9, "mean": 7.0, "stddev": 1.0, "N": 256},
        clat_ns={"min": 100, "max": 300, "mean": 200.0, "stddev": 1.0, "N": 256, "bins": {"200": 256}},
    )
    assert measurement.latency.histogram is None
    assert measurement.completion.histogram.total == 256


def test_percentiles_of_completion_alone_are_not_passed_off_as_those_of_the_total() -> None:
    slat = {"min": 5, "max": 9, "mean": 7.0, "stddev": 1.0, "N": 256}
    clat = {"min": 100, "max": 300, "mean": 200.0, "stddev": 1.0, "N": 256, "percentile": {"99.000000": 290}}
    output = parse(json.dumps(document(slat_ns=slat, clat_ns=clat)))
    measurement = output.jobs[0].measurements[0]
    assert measurement.latency.stated_percentiles_ns == {}
    assert measurement.completion is not None
    assert measurement.completion.stated_percentiles_ns == {"0.99": 290}
    assert "only clat has percentiles" in output.warnings[0]


def test_a_total_that_was_switched_off_has_the_sum_of_its_parts_as_mean_and_says_so() -> None:
    off = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    slat = {"min": 5, "max": 9, "mean": 7.0, "stddev": 1.0, "N": 256}
    output = parse(json.dumps(document(lat_ns=off, slat_ns=slat)))
    assert output.jobs[0].measurements[0].latency.mean_ns == 207.0
    assert "sum of slat and clat" in output.warnings[0]


def test_latency_that_fio_did_not_measure_counts_zero() -> None:
    off = {"min": 18446744073709551615, "max": 0, "mean": 0.0, "stddev": 0.0}  # fio before it wrote N
    latency = parse_document(lat_ns=off, slat_ns=off, clat_ns=off).latency
    assert (latency.count, latency.histogram) == (0, None)


def test_fio_2_is_read_in_its_own_units() -> None:
    read = {
        "io_bytes": 1024,
        "bw": 170666,
        "iops": 42666.6,
        "runtime": 6,
        "total_ios": 256,
        "slat": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0},
        "clat": {
            "min": 14,
            "max": 71,
            "mean": 17.5,
            "stddev": 5.2,
            "percentile": {"99.000000": 33, "0.00": 0},
        },
        "lat": {"min": 14, "max": 72, "mean": 17.6, "stddev": 5.3},
    }
    text = json.dumps({"fio version": "fio-2.2.10", "jobs": [{"jobname": "a", "error": 0, "read": read}]})
    measurement = parse(text).jobs[0].measurements[0]
    assert measurement.size_bytes == 1048576  # KiB before io_kbytes came
    assert (measurement.latency.mean_ns, measurement.latency.min_ns) == (pytest.approx(17600), 14000)
    assert measurement.latency.stated_percentiles_ns == {"0.99": 33000}


def test_missing_io_bytes_follow_from_io_kbytes() -> None:
    assert parse_document(io_bytes=None).size_bytes == 1048576


def test_directions_that_moved_nothing_are_left_out() -> None:
    assert [m.direction for m in parse(sample("json")).jobs[0].measurements] == [Direction.READ]


def test_a_sum_of_reads_and_writes_is_named_and_not_read() -> None:
    text = document()
    text["jobs"][0]["mixed"] = text["jobs"][0].pop("read")
    output = parse(json.dumps(text))
    assert output.jobs[0].measurements == () and "unified_rw_reporting" in output.warnings[0]


def test_keys_in_another_order_are_still_a_result_of_fio() -> None:
    assert parse(json.dumps(document(), sort_keys=True)).jobs[0].measurements[0].operations == 256


def test_progress_in_the_same_stream_is_no_warning() -> None:
    text = "Jobs: 1 (f=1): [r(1)][50.0%][r=1MiB/s][r=1 IOPS][eta 00m:01s]\rfio: odd\n" + json.dumps(
        document()
    )
    assert parse(text).warnings == ("fio: odd",)


def test_endless_foreign_lines_are_counted_not_kept() -> None:
    output = parse("noise\n" * 5000 + json.dumps(document()))
    assert len(output.warnings) == 101 and output.warnings[-1] == "... and 4900 more foreign lines"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no fio JSON document"),
        ("fio: nothing here\n", "no fio JSON document"),
        ('{"jobs": []}', "no fio JSON document"),
        ('{"fio version": "fio-3.33"}', 'neither "jobs" nor "client_stats"'),
        (json.dumps(document(), indent=2)[:700], "cut off at line"),
        (json.dumps(document(total_ios="many")), 'jobs[0].read.total_ios is "many", but should be a number'),
        (json.dumps(document(total_ios=None)), "jobs[0].read.total_ios is missing"),
        (json.dumps(document(io_bytes=-1)), "from 0 to 2^63"),
        (json.dumps(document(runtime=10**17)), "longer than can be stored"),
        (json.dumps(document(lat_ns={"mean": float("nan")})), "lat_ns.mean is NaN"),
        (json.dumps(document(lat_ns=[1])), "should be an object"),
        (json.dumps(document(lat_ns={"mean": 1, "N": 1, "bins": {"x": 1}})), "whole nanoseconds"),
        (json.dumps(document(lat_ns={"mean": 1, "N": 1, "percentile": {"x": 1}})), "percentiles are numbers"),
    ],
)
def test_what_is_no_whole_result_is_refused_in_one_sentence_with_the_place(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        parse(text)
    assert sentence in str(error.value) and "\n" not in str(error.value)
