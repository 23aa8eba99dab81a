"""Consistency in campaigns: documents of steps become sites with ladders, promises and a price, and sentences that say so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from leadline.analyse.consistency_words import price_sentence, site_sentence
from leadline.analyse.ladder import Rung, Verdict, climb, rung_of
from leadline.analyse.price import prices
from leadline.analyse.promises import kept, promised
from leadline.errors import UserError
from leadline.store.records import Direction

from .consistency_samples import CACHES, DOCUMENTS, consistency_record, late_by, sounded, swept

REPORT = json.loads(DOCUMENTS["histories"])["report"]
LINE = {
    "kind": "session_file", "guarantee": "close_to_open", "verdict": "held", "unit": "read", "checked": 100, "violating": 0,
    "upper_bound": 0.03, "objects": 4, "objects_violating": 0, "objects_undecided": 0, "undecided_because": None, "anomalies": {},
    "least_delay_ns": None, "least_delay_exact": True, "witness": None,
}  # fmt: skip


def rung(**known: object) -> Rung:
    return rung_of({**LINE, **known})


def test_a_step_that_holds_documents_is_a_site_and_no_failure() -> None:
    results = sounded(consistency_record(cell={"promise": "close-to-open; bounded=2s"}))
    (site,) = results.consistency
    assert (results.failed, results.cells, results.missing_cells) == ((), (), 0)
    assert len(site.windows) == 5 and site.operations == REPORT["operations"] and len(site.delays) == 240
    assert [each.promise.name for each in site.kept] == ["close-to-open", "bounded=2s"]
    assert {curve.mechanism for curve in site.staleness} >= {"unlink -> stat"}


def test_what_was_seen_before_a_mount_died_is_kept_beside_the_failure() -> None:
    results = sounded(consistency_record(reason="the mount of A is gone"))
    assert [failed.reason for failed in results.failed] == ["the mount of A is gone"]
    assert len(results.consistency) == 1


def test_a_damaged_document_is_one_sentence_with_the_step() -> None:
    with pytest.raises(UserError, match="visibility document of step 4 is damaged"):
        sounded(consistency_record(4, documents={"visibility": '{"format": "leadline visibility 9"}'}))


def test_repeats_of_a_cell_are_one_site_with_all_their_trials() -> None:
    (site,) = sounded(consistency_record(0), consistency_record(1, repeat=1)).consistency
    (single,) = sounded(consistency_record(0)).consistency
    assert site.repeats == 2
    assert [each.decided for each in site.windows] == [2 * each.decided for each in single.windows]
    assert sum(each.checked for each in site.ladder) == 2 * sum(each.checked for each in single.ladder)
    assert len({sample.object for sample in site.delays}) == 2 * len(
        {sample.object for sample in single.delays}
    )


def test_sites_stand_in_the_campaigns_order_whatever_the_plans() -> None:
    records = [consistency_record(0, {"target": "b"}), consistency_record(1, {"target": "a"})]
    campaign = {"target": [{"name": "a"}, {"name": "b"}], "experiment": [{"name": "seen"}]}
    assert [site.label for site in sounded(*records, campaign=campaign).consistency] == ["a", "b"]


def test_one_violating_history_makes_the_line_violated_and_its_witness_is_the_smallest() -> None:
    def line(verdict: str, checked: int, operations: int) -> dict[str, object]:
        witness = {
            "operations": [{}] * operations,
            "sentence": f"of {operations}",
            "anomaly": "stale",
            "object": 1,
        }
        return {
            **LINE,
            "verdict": verdict,
            "checked": checked,
            "violating": int(verdict == "violated"),
            "witness": witness,
        }

    reports = [
        {"lines": [line(*each)]} for each in (("held", 10, 1), ("violated", 20, 4), ("violated", 30, 2))
    ]
    (found,) = climb(reports)
    assert (found.verdict, found.checked, found.violating) == (Verdict.VIOLATED, 60, 2)
    assert found.witness is not None and found.witness["sentence"] == "of 2"


def test_what_one_history_did_not_exercise_takes_nothing_from_what_another_held() -> None:
    silent = {**LINE, "verdict": "not_exercised", "checked": 0}
    (found,) = climb([{"lines": [silent]}, {"lines": [LINE]}])
    assert found.verdict is Verdict.HELD
    assert found.upper_bound == pytest.approx(0.0295, abs=0.0005)  # 1 - 0.05^(1/100), the rule of three


@pytest.mark.parametrize(
    ("promise", "line", "verdict"),
    [
        ("close-to-open", {"verdict": "violated", "violating": 1}, Verdict.VIOLATED),
        ("close-to-open", {"kind": "append_log", "guarantee": "no_lost_write", "verdict": "violated"}, Verdict.NOT_EXERCISED),
        ("close-to-open", {"kind": "append_log", "verdict": "violated"}, Verdict.VIOLATED),
        ("posix", {"kind": "append_log", "guarantee": "no_lost_write", "verdict": "violated"}, Verdict.VIOLATED),
        ("posix", {"guarantee": "bounded_staleness", "verdict": "violated"}, Verdict.NOT_EXERCISED),
        ("eventual", {"guarantee": "convergence", "verdict": "violated"}, Verdict.VIOLATED),
        ("eventual", {"guarantee": "monotonic_reads", "verdict": "violated"}, Verdict.NOT_EXERCISED),
        ("locks", {"kind": "locked_counter", "guarantee": "no_lost_write", "verdict": "violated"}, Verdict.VIOLATED),
        ("locks", {"verdict": "violated"}, Verdict.NOT_EXERCISED),
        ("bounded=1s", {"guarantee": "bounded_staleness", "least_delay_ns": 900_000_000}, Verdict.HELD),
        ("bounded=1s", {"guarantee": "bounded_staleness", "least_delay_ns": 1_100_000_000}, Verdict.VIOLATED),
        ("close-to-open", {"verdict": "undecided", "objects_undecided": 2}, Verdict.UNDECIDED),
        ("close-to-open", {}, Verdict.HELD),
    ],
)  # fmt: skip
def test_a_promise_asks_for_its_own_guarantees_on_its_own_objects(
    promise: str, line: dict[str, object], verdict: Verdict
) -> None:
    assert kept(promised(promise), (), [rung(**line)]).verdict is verdict


def test_a_name_that_vanished_breaks_every_bound_since_no_delay_explains_it() -> None:
    line = rung(
        guarantee="bounded_staleness",
        verdict="violated",
        violating=3,
        least_delay_ns=1,
        anomalies={"vanished": 3},
    )
    assert kept(promised("bounded=1h"), (), [line]).verdict is Verdict.VIOLATED


def test_a_violation_is_a_finding_where_it_was_promised_and_a_measurement_where_not() -> None:
    (site,) = sounded(consistency_record(cell={"promise": "bounded=2s"})).consistency
    violated = [each for each in site.ladder if each.verdict is Verdict.VIOLATED]
    findings = [(each.kind, each.guarantee) for each in violated if site.is_finding(each)]
    assert findings == [("entry", "bounded_staleness")]
    assert len(violated) > len(findings)


def test_the_sentence_of_a_site_counts_what_was_lost_late_and_violated() -> None:
    (site,) = sounded(consistency_record(cell={"promise": "close-to-open"})).consistency
    words = site_sentence(site)
    assert "of 5 kinds of change 2 lost for good and 3 seen late (worst 1.01 s) (n 10)" in words
    assert "14 of 52 guarantees" in words and "it breaks its promise close-to-open" in words


def test_the_first_answer_tells_all_sites_apart() -> None:
    fine = {"visibility": late_by(0, lost=False)}
    results = sounded(consistency_record(0, {"target": "b"}), consistency_record(1, {"target": "a"}, fine))
    right = [answer.sentence for answer in results.answers if answer.question == "Is it right?"]
    assert right[0].startswith(
        "Between clients: everything seen at once on a; lost for good on b (2 of 5 kinds of change"
    )


def test_a_price_joins_rates_with_staleness_by_the_options_of_the_site() -> None:
    (price,) = prices(swept())
    assert price.options == ("attr-cache", "entry-cache")
    assert [point.cache_seconds for point in price.points] == list(CACHES)
    assert [point.stale_ns / 1e9 for point in price.points] == list(CACHES)
    assert [(point.lost, point.appends) for point in price.points] == [(0, 4), (4, 4), (4, 4), (4, 4)]
    assert [round(point.rate(Direction.FILE_STAT) or 0) for point in price.points] == [
        5000,
        8500,
        40000,
        40000,
    ]
    assert price.dearest is Direction.FILE_STAT and price.enough.label == "1 s"


def test_the_price_in_words_names_the_least_cache_that_buys_most_and_what_it_costs() -> None:
    (price,) = prices(swept())
    assert price_sentence(price) == (
        "juicefs: attr-cache and entry-cache of 1 s buy 8.00 times the rate of file stat at 0 s (40.0k ops/s against 5.00k ops/s) and "
        "cost 1.00 s of staleness and 4 of 4 appends by turns; at 0 s it is none."
    )


def test_one_way_of_standing_has_no_price() -> None:
    results = swept()
    first = replace(results, consistency=results.consistency[:1])
    assert prices(first) == ()


def test_a_change_that_no_cache_time_lets_see_is_not_what_the_caches_cost() -> None:
    never = json.loads(late_by(1.0, lost=False))
    for trial in never["trials"]:
        if trial["cell"]["mutation"] == "rename over":
            trial["ending"] = "never"
    results = swept()
    documents = {"visibility": json.dumps(never)}
    blind = [
        sounded(consistency_record(0, dict(each.site), documents)).consistency[0]
        for each in results.consistency
    ]
    several = tuple(
        replace(each, windows=other.windows) for each, other in zip(results.consistency, blind, strict=True)
    )
    (price,) = prices(replace(results, consistency=several))
    assert {point.stale_ns for point in price.points} == {1e9}
