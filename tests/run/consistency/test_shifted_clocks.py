"""A client whose clock is 100 ms wrong: its records are put right, and where the clock jumped nothing is called violated."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from leadline.run.consistency.clients import Client, Station
from leadline.run.consistency.clock_report import ClockReport, clocks_of
from leadline.run.consistency.clock_watch import HostClock, asking
from leadline.run.consistency.clocks import Reading
from leadline.run.consistency.far import Far
from leadline.run.consistency.load_clients import LoadClient, run_together
from leadline.run.consistency.shifted_records import put_right
from leadline.run.executable import engine_executable
from leadline.run.hosts.remote_machine import RemoteMachine
from leadline.run.hosts.ssh_connection import Connection

WRONG_NS = 100_000_000


@dataclass
class Twisted:
    """A clock of this machine that pretends to be another's: ahead by so much, and suddenly by another amount."""

    client: Client
    ahead_ns: int

    def ask(self) -> Reading:
        seen = asking(self.client)()
        return replace(
            seen,
            there_first_ns=seen.there_first_ns + self.ahead_ns,
            there_last_ns=seen.there_last_ns + self.ahead_ns,
        )


@pytest.fixture
def twisted(tmp_path: Path) -> Iterator[Twisted]:
    client = Client(Station("clock", tmp_path))
    yield Twisted(client, WRONG_NS)
    client.close()


@pytest.fixture
def clock(twisted: Twisted) -> Iterator[HostClock]:
    made = HostClock("twisted", twisted.ask)
    made.start()
    yield made
    made.close()


@pytest.fixture
def clients(work_directory: Path, tmp_path: Path, clock: HostClock) -> list[LoadClient]:
    """Two that are done with one directory; the records of B are from a clock that is ahead."""
    common = {
        "workload": "histories", "directory": str(work_directory), "clients": 2, "workers": 2, "runtime_ns": 1_500_000_000,
        "settle_ns": 100_000_000, "external_barriers": True, "flavours": ["register", "session_file", "published_file"],
    }  # fmt: skip
    clients = [
        LoadClient(
            Station(name, work_directory),
            {**common, "client": number, "clock_offset_ns": offset_ns},
            tmp_path,
        )
        for number, (name, offset_ns) in enumerate((("A", 0), ("B", WRONG_NS)))
    ]
    run_together(clients, 1.5, 0.1)
    for client in clients:
        client.close()
    far = Far("twisted", Connection("twisted"), RemoteMachine("", "", 1, 1, "", "", "", 0, 0), clock)
    clients[1].station = replace(clients[1].station, far=far)
    return clients


@pytest.fixture
def histories(clients: list[LoadClient]) -> list[Path]:
    return [client.history for client in clients]


def checked(histories: list[Path]) -> dict[str, Any]:
    argv = [str(engine_executable()), "check", *map(str, histories)]
    return dict(json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout))


def verdicts(report: dict[str, Any]) -> set[str]:
    return {line["verdict"] for line in report["lines"]}


def test_an_error_of_100_ms_shows_violations_that_are_none_and_putting_it_right_removes_them(
    clients: list[LoadClient], histories: list[Path]
) -> None:
    wrong = checked(histories)
    assert "violated" in verdicts(wrong)
    clocks = clocks_of([client.station for client in clients])
    clocks.read_again()
    clocks.put_right(clients)
    (facts,) = clocks.facts().values()
    assert abs(facts["offset_ns"] + WRONG_NS) <= facts["error_ns"] and facts["jumped_ns"] == 0
    assert 0 < facts["largest_record_error_ns"] < WRONG_NS // 4, (
        "what is known of the clock is worth something"
    )
    right = checked(histories)
    assert right["damages"] == [] and right["operations"] == wrong["operations"]
    assert "violated" not in verdicts(right), [
        each for each in right["lines"] if each["verdict"] == "violated"
    ]


def test_after_a_jump_everything_that_was_exercised_is_undecided_and_says_why(
    histories: list[Path], clock: HostClock, twisted: Twisted
) -> None:
    report = checked(histories)
    clocks = ClockReport({"twisted": clock})
    assert clocks.judged(report) is report
    twisted.ahead_ns += 300_000_000
    time.sleep(0.01)
    clocks.read_again()
    judged = clocks.judged(report)
    assert {line["verdict"] for line in judged["lines"]} <= {"undecided", "not_exercised"}
    because = {line["undecided_because"] for line in judged["lines"] if line["verdict"] == "undecided"}
    assert len(because) == 1
    jumped = re.fullmatch(r"the clock of twisted jumped by at least (\d+) ms", because.pop())
    assert jumped and 250 < int(jumped[1]) <= 300
    assert [note for note in clocks.notes() if note.startswith("Undecided: the clock of twisted jumped")]


def test_a_history_that_was_cut_off_is_put_right_as_far_as_it_goes(
    histories: list[Path], tmp_path: Path
) -> None:
    cut = tmp_path / "cut.history"
    cut.write_bytes(histories[0].read_bytes()[:-10])  # of the mark at the end
    assert put_right(cut, lambda there_ns: (WRONG_NS, 77)) == 77
    report = checked([cut, histories[1]])
    assert len(report["damages"]) == 1 and report["operations"] == checked(histories)["operations"]
