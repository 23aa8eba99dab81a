"""fio's ETA line for the live screen."""

import pytest
from fio_samples import FOLDER

from leadline.formats.fio_eta import Eta, parse


@pytest.mark.parametrize(
    ("line", "eta"),
    [
        (
            "Jobs: 2 (f=2): [r(2)][60.0%][r=786MiB/s][r=201k IOPS][eta 00m:02s]",
            Eta(786 * 2**20, 0.0, 201_000.0, 0.0, 0.6, 2),
        ),
        (
            "Jobs: 1 (f=1): [m(1)][50.0%][r=1.2MiB/s,w=3KiB/s][r=10,w=5 IOPS][eta 00m:01s]",
            Eta(1.2 * 2**20, 3 * 2**10, 10.0, 5.0, 0.5, 1),
        ),
        (
            "Jobs: 16 (f=1024): [W(16)][0.1%][w=1.5GB/s][w=1.2M IOPS][eta 02d:03h:04m:05s]",
            Eta(0.0, 1.5e9, 0.0, 1.2e6, 0.001, ((2 * 24 + 3) * 60 + 4) * 60 + 5),
        ),
        ("Jobs: 1 (f=1): [R(1)][-.-%][r=512B/s][r=0 IOPS][eta 00m:00s]", Eta(512.0, 0.0, 0.0, 0.0, None, 0)),
    ],
)
def test_a_line_is_read_with_its_units(line: str, eta: Eta) -> None:
    assert parse(line) == eta


def test_the_last_line_of_a_stream_of_carriage_returns_counts() -> None:
    lines = [f"Jobs: 1 (f=1): [r(1)][{share}.0%][r=1KiB/s][r=1 IOPS][eta 00m:01s]" for share in (10, 20, 30)]
    eta = parse("\r".join([*lines, "Jobs: 1 (f=1)"]))
    assert eta is not None and eta.share_done == pytest.approx(0.3)


def test_what_fio_really_wrote_with_rate_limits_is_read() -> None:
    eta = parse((FOLDER / "eta.txt").read_bytes().decode())
    assert eta == Eta(2050 * 1024, 1025 * 1024, 512.0, 256.0, None, 0)


@pytest.mark.parametrize("text", ["", "fio: error", "Jobs: 1 (f=1)", "[r=1MiB/s]"])
def test_text_without_progress_is_none(text: str) -> None:
    assert parse(text) is None
