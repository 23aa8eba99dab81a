"""Histories in the terminal: every verdict has its own sign, and what is violated tells its witness."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from leadline.analyse.ladder import climb
from leadline.analyse.promises import kept, promised
from leadline.analyse.staleness import staleness
from leadline.report.histories_terminal import show_histories
from leadline.store.histories import DelaySample, Histories


def line(kind: str, guarantee: str, verdict: str, **more: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {
        "kind": kind,
        "guarantee": guarantee,
        "verdict": verdict,
        "unit": "read",
        "checked": 1234,
        "violating": 0,
        "upper_bound": None,
        "objects": 4,
        "objects_violating": 0,
        "objects_undecided": 0,
        "undecided_because": None,
        "anomalies": {},
        "least_delay_ns": None,
        "least_delay_exact": False,
        "witness": None,
    }
    return {**blank, **more}


WITNESS = {
    "anomaly": "lost",
    "object": 1,
    "operations": [],
    "sentence": "acknowledged and lost for good: client 2",
}
LINES = [
    line("register", "no_invented_data", "held"),
    line("register", "convergence", "not_exercised", checked=0),
    line("register", "bounded_staleness", "held", least_delay_ns=868_000_000, least_delay_exact=True),
    line("append_log", "no_lost_write", "violated", violating=52, anomalies={"lost": 52}, witness=WITNESS),
    line("entry", "bounded_staleness", "violated", violating=3, least_delay_ns=583_000_000),
    line("entry", "linearizable", "undecided", undecided_because="1 object took too much effort"),
]
DELAYS = tuple(
    DelaySample("unlink -> stat", number * 10_000_000, number < 100, number, 0) for number in range(200)
)


def shown(lines: list[dict[str, Any]], delays: tuple[DelaySample, ...], promise: str = "eventual") -> str:
    report = {"operations": 4321 if lines else 0, "objects": 12, "whole": True, "lines": lines}
    result = Histories("juicefs", (), "witness", {"seconds": 20.0}, report, delays, {}, ("A note.",))
    ladder = climb([report])
    console = Console(width=160, record=True, quiet=False, file=None, force_terminal=False)
    with console.capture() as capture:
        show_histories(result, ladder, staleness(delays), [kept(promised(promise), [], ladder)], console)
    return capture.get()


def test_each_verdict_has_its_own_sign() -> None:
    text = shown(LINES, ())
    rows = {row.split("  ")[0]: row for row in text.splitlines()}
    assert "held 1,234" in rows["G1 no invented data"]
    assert "52 of 1,234" in rows["G2 no lost write"]
    assert rows["G3 convergence"].split()[-1] == "-"
    assert "868 ms, n 1,234" in rows["G8 bounded staleness"]
    assert ">= 583 ms, 3 of 1,234" in rows["G8 bounded staleness"]
    assert rows["G9 linearizable"].split()[-1] == "?"


def test_what_is_violated_tells_its_witness_and_what_is_undecided_why() -> None:
    text = shown(LINES, ())
    assert "4,321 operations on 12 objects in 20 s of free-running load" in text
    assert "no lost write of append log (lost 52): acknowledged and lost for good: client 2" in text
    assert "linearizable of name: undecided, 1 object took too much effort" in text
    assert "Promise eventual: violated by histories" in text and "A note." in text


def test_single_looks_are_told_in_a_few_numbers() -> None:
    text = shown([], DELAYS)
    (row,) = [line for line in text.splitlines() if line.startswith("unlink -> stat")]
    assert "200 probes after a planned delay" in text and "G1" not in text
    assert row.split()[4:8] == ["1.00", "1.00", "1.00", "0.00"]
    assert row.count("995 ms") == 3


def test_what_was_never_stale_says_so() -> None:
    fresh = tuple(DelaySample("unlink -> stat", 1_000_000 * number, False, number, 0) for number in range(50))
    assert "never stale" in shown([], fresh)
