"""fio's options as cells."""

import subprocess
from shutil import which

import pytest

from leadline.formats.fio_options import cell_of, duration_of, size_of


def test_options_that_are_missing_take_fios_documented_defaults() -> None:
    assert cell_of({}) == {
        "rw": "read",
        "block_size": 4096,
        "iodepth": 1,
        "numjobs": 1,
        "ioengine": "psync",
        "direct": False,
        "nrfiles": 1,
    }


def test_stated_options_become_settings_with_their_units() -> None:
    cell = cell_of(
        {
            "readwrite": "randrw:8",
            "blocksize": "64k",
            "iodepth": "16",
            "numjobs": "4",
            "direct": "1",
            "size": "1g",
            "runtime": "2m",
            "ramp_time": "500ms",
            "rwmixwrite": "30",
            "end_fsync": "1",
            "openfiles": "8",
        }
    )
    assert (cell["rw"], cell["block_size"], cell["iodepth"], cell["numjobs"]) == ("randrw", 65536, 16, 4)
    assert (cell["direct"], cell["size"], cell["runtime"], cell["ramp"]) == (True, 2**30, 120.0, 0.5)
    assert (cell["read_percentage"], cell["end_fsync"], cell["openfiles"]) == (70, True, 8)


def test_the_mix_belongs_to_mixed_tests_only() -> None:
    assert "read_percentage" not in cell_of({"rw": "randread", "rwmixread": "70"})
    assert cell_of({"rw": "readwrite"})["read_percentage"] == 50


def test_an_option_that_no_setting_covers_makes_another_cell() -> None:
    assert cell_of({"fsync": "1"}) != cell_of({"fsync": "8"})
    assert cell_of({"norandommap": ""})["fio.norandommap"] is True


def test_names_places_and_logs_do_not_make_another_cell() -> None:
    assert cell_of({"name": "a", "filename": "/x", "write_bw_log": "y", "lat_percentiles": "1"}) == cell_of(
        {}
    )


def test_what_no_setting_can_hold_is_kept_as_fio_has_it() -> None:
    cell = cell_of({"bs": "4k-64k", "size": "50%"})
    assert (cell["fio.bs"], cell["fio.size"]) == ("4k-64k", "50%")
    assert "block_size" not in cell and "size" not in cell


def test_buffered_is_the_reverse_of_direct() -> None:
    assert cell_of({"buffered": "0"})["direct"] is True
    assert cell_of({"buffered": "1"})["direct"] is False


@pytest.mark.fio
@pytest.mark.skipif(which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("written", ["4k", "4K", "4kb", "4KiB", "4ki", "0x1000", "4000", "1m", "1MiB"])
def test_sizes_are_read_as_fio_reads_them(written: str) -> None:
    command = [
        "timeout",
        "-k",
        "3",
        "10",
        "fio",
        "--name=a",
        "--ioengine=null",
        "--size=8m",
        f"--bs={written}",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    head = next(line for line in result.stdout.splitlines() if "bs=(R)" in line)
    told = head.split("bs=(R) ")[1].split("-")[0]
    known = {"4096B": 4096, "4000B": 4000, "1024KiB": 2**20, "1000kB": 10**6, "977KiB": 10**6}
    assert size_of(written) == known[told]


def test_with_kb_base_1000_the_suffixes_change_places() -> None:
    assert (size_of("4k", binary=False), size_of("4KiB", binary=False)) == (4000, 4096)
    assert cell_of({"bs": "4k", "kb_base": "1000"})["block_size"] == 4000


@pytest.mark.parametrize("text", ["", "k", "4k,64k", "-1", "4kk", "9" * 40, "0x", "4e3", "½"])
def test_what_is_no_size_is_none(text: str) -> None:
    assert size_of(text) is None


@pytest.mark.parametrize(("text", "expected"), [("30", 30.0), ("5m", 300.0), ("500ms", 0.5), ("1h", 3600.0)])
def test_times_are_seconds_without_a_suffix(text: str, expected: float) -> None:
    assert duration_of(text) == expected
