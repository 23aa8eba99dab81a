"""Several targets in one run: rankings, comparisons, curves, what each stood on, and all of it in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leadline.analyse.analysis import analyse
from leadline.analyse.conditions import condition, condition_value, link
from leadline.analyse.results import Results
from leadline.analyse.sites import shared_links
from leadline.analyse.wording import setting, settings
from leadline.store.records import StepRecord
from leadline.store.series import Series, SeriesTable

from .client_samples import FUSE, NETWORK, client, nics, together
from .samples import CLEAN, ENVIRONMENT, GIB, failed, manifest, measurement, record

RATES = {"alpha": 20_000, "beta": 10_000, "gamma": 15_000}


def run(*records: StepRecord) -> Results:
    return analyse(records, manifest(), ENVIRONMENT)


def on(target: str, iops: float, ordinal: int, **cell: Any) -> StepRecord:
    known = {**CLEAN, "target": target, **cell}
    return record(
        measurement(iops=iops), ordinal=ordinal, cell=known, experiment=cell.get("experiment", "grid")
    )


def three(**cell: Any) -> list[StepRecord]:
    return [on(target, iops, n, **cell) for n, (target, iops) in enumerate(RATES.items())]


def ranked(results: Results) -> list[tuple[str, float | None]]:
    (ranking,) = results.rankings
    return [(one.target, one.ratio and one.ratio.value) for one in ranking.standings]


def test_a_run_of_one_target_has_no_ranking() -> None:
    assert run(record(measurement()), on("alpha", 10_000, 1)).rankings == ()


def test_targets_are_ranked_by_their_best_point_with_the_ratio_to_the_best() -> None:
    slower = on("alpha", 5_000, 9, iodepth=1)
    assert ranked(run(*three(), slower)) == [
        ("alpha", None),
        ("gamma", pytest.approx(0.75)),
        ("beta", pytest.approx(0.5)),
    ]


def test_a_figure_that_is_not_valid_leads_nothing() -> None:
    fast = record(
        measurement(iops=90_000),
        ordinal=8,
        cell={**CLEAN, "target": "omega"},
        totals={"disk.vda.read_bytes": 0.0},
    )
    results = run(*three(), fast)
    assert [target for target, _ in ranked(results)] == ["alpha", "gamma", "beta", "omega"]
    (sentence,) = [answer.sentence for answer in results.answers if "leads" in answer.sentence]
    assert sentence == (
        "randread: of the 3 that are valid alpha leads with 1.22 GiB/s; of that reach gamma 75 % and beta 50 %; "
        "not valid: omega (impossible)."
    )


def test_a_target_without_a_figure_is_named_with_the_reason() -> None:
    lost = failed("the mount is gone", cell={**CLEAN, "target": "delta"})
    (ranking,) = run(*three(), lost).rankings
    assert ranking.absent == (("delta", "the mount is gone"),)


def test_a_target_of_other_experiments_is_not_missing_where_it_was_not_asked() -> None:
    alone = on("omega", 10_000, 7, experiment="apart", block_size=4096)
    results = run(*three(), alone)
    (ranking,) = results.rankings
    assert {one.target for one in ranking.standings} == RATES.keys() and not ranking.absent


def test_many_targets_are_not_all_named_in_the_sentence() -> None:
    many = [on(f"t{n}", 20_000 - 100 * n, n) for n in range(9)]
    (sentence,) = [answer.sentence for answer in run(*many).answers if "leads" in answer.sentence]
    assert "t4 98 % and 4 more less" in sentence and "t5" not in sentence


def test_each_test_and_block_size_has_a_ranking_of_its_own() -> None:
    small = [on(target, iops, 10 + n, block_size=4096) for n, (target, iops) in enumerate(RATES.items())]
    rankings = run(*three(), *small).rankings
    assert [(one.test, one.label) for one in rankings] == [("randread", "4 KiB"), ("randread", "64 KiB")]


def test_a_target_reached_by_an_engine_of_its_own_is_still_compared() -> None:
    records = [on("alpha", 20_000, 0), on("nfs", 10_000, 1, ioengine="nfs")]
    results = run(*records)
    assert ranked(results) == [("alpha", None), ("nfs", pytest.approx(0.5))]
    assert [(one.axis, one.left.cell["target"], one.right.cell["target"]) for one in results.comparisons] == [
        ("target", "alpha", "nfs")
    ]


def test_engines_that_every_target_has_are_not_mixed_up() -> None:
    records = [
        on(target, 10_000, n, ioengine=engine)
        for n, (target, engine) in enumerate(
            (t, e) for t in ("alpha", "beta") for e in ("io_uring", "libaio")
        )
    ]
    pairs = [one for one in run(*records).comparisons if one.axis == "target"]
    assert len(pairs) == 2
    assert all(one.left.cell["ioengine"] == one.right.cell["ioengine"] for one in pairs)


def test_each_target_is_one_line_named_after_it() -> None:
    records = [
        on(
            target,
            iops * depth,
            10 * n + depth,
            iodepth=depth,
            **({"ioengine": "nfs"} if target == "gamma" else {}),
        )
        for n, (target, iops) in enumerate(RATES.items())
        for depth in (1, 2)
    ]
    results = run(*records)
    assert [curve.label for curve in results.curves] == ["alpha", "beta", "gamma"]
    assert {(grid.x_axis, grid.y_axis) for grid in results.grids} == {("iodepth", "target")}


def test_mount_options_are_an_axis_and_say_their_name() -> None:
    records = [
        on("juicefs", 10_000, n, **{"target.buffer-size": size, "iodepth": depth})
        for n, (size, depth) in enumerate((s, d) for s in ("300", "1024") for d in (1, 4))
    ]
    results = run(*records)
    assert {curve.label for curve in results.curves} == {"buffer-size 300", "buffer-size 1024"}


# what cells stood on


def sited(
    target: str, ordinal: int, filesystem: Any = NETWORK, link_bytes: float = 125e6, **facts: Any
) -> StepRecord:
    parts = client("client1"), client("client2")
    held = {"site_conditions": {"link": link_bytes}, "filesystem": filesystem, **facts}
    return together(
        *parts,
        ordinal=ordinal,
        cell={"target": target},
        facts=held,
        totals=nics({"client1": 1.02, "client2": 1.02}, parts),
    )


def test_sites_tell_filesystem_way_in_and_conditions() -> None:
    sites = run(sited("gluster", 0, FUSE), sited("past", 1, FUSE, access="gfapi")).sites
    assert [(site.target, site.machine.name) for site in sites] == [
        ("gluster", "fuse.glusterfs"),
        ("past", "fuse.glusterfs through gfapi"),
    ]
    assert all(site.conditions == {"link": 125e6} for site in sites)
    assert not sites[1].machine.is_fuse


def test_links_bound_a_run_only_where_they_are_the_same_for_all() -> None:
    same, other = run(sited("a", 0), sited("b", 1)), run(sited("a", 0), sited("b", 1, link_bytes=250e6))
    assert shared_links(same.sites, same.cells) == ("links of 2 clients", 250e6)
    assert shared_links(other.sites, other.cells) is None
    local = run(sited("a", 0), sited("b", 1, {"type": "xfs"}))
    assert shared_links(local.sites, local.cells) is None


def test_what_the_links_carry_answers_how_fast_it_should_be() -> None:
    sentence = run(sited("a", 0), sited("b", 1)).answers[0].sentence
    assert sentence.startswith("The links of 2 clients can carry 238 MiB/s, of which randread reached 52 %")


def test_servers_in_namespaces_share_this_machine_and_that_is_said() -> None:
    (doubt,) = [doubt for doubt in run(sited("a", 0), sited("b", 1)).doubts if doubt.name == "one machine"]
    assert "predict no cluster" in doubt.sentence and doubt.cells == 2


def test_doubts_name_the_targets_they_touch() -> None:
    plain = on("memory", 9_000, 1)
    kind = {"type": "tmpfs", "is_memory": True}
    memory = replace(plain, facts={**plain.facts, "filesystem": kind})
    (doubt,) = [one for one in run(on("disk", 8_000, 0), memory).doubts if one.name == "in memory"]
    assert doubt.sentence == "tmpfs lives in memory: no storage was measured." and doubt.cells == 1


def test_the_fullest_link_is_said_to_bind() -> None:
    results = run(
        sited("a", 0, link_bytes=1.05 * 1_000 * 65_536), sited("b", 1, link_bytes=1.05 * 1_000 * 65_536)
    )
    found = [
        answer.sentence for answer in results.answers if answer.question == "Where does the difference go?"
    ]
    assert "most likely bound by the link of client1 (97 % used)" in found[0]
    assert "the NICs of the clients received 128 MiB/s and sent 1.25 MiB/s" in found[0]


def test_hosts_show_what_their_nics_carried() -> None:
    (cell, _) = run(sited("a", 0), sited("b", 1)).cells
    first, second, server = cell.hosts
    assert (first.name, second.name, server.name) == ("client1", "client2", "server1")
    assert (first.is_client, server.is_client) == (True, False)
    assert first.receive_bytes_per_second == pytest.approx(1.02 * 65_536_000)
    assert first.link_share == pytest.approx(1.02 * 65_536_000 / 125e6)
    assert cell.resources["nic_receive_bytes_per_second"] == pytest.approx(2 * 1.02 * 65_536_000)


def test_bytes_before_and_after_the_load_make_no_link_fuller_than_its_busiest_second() -> None:
    seconds = [number * 1_000_000_000 for number in range(1, 4)]
    busy = Series("host.client1.nic.v0.receive_bytes_per_second", "B/s", seconds, [20e6, 60e6, 50e6])
    (cell, _) = run(sited("a", 0), replace(sited("b", 1), counters=SeriesTable.group([busy]))).cells[::-1]
    first, second, _ = cell.hosts
    assert first.receive_bytes_per_second == 60e6
    assert second.receive_bytes_per_second == pytest.approx(1.02 * 65_536_000)


# words


@pytest.mark.parametrize(
    ("name", "value", "phrase", "words"),
    [
        ("link", 125_000_000.0, "links of 1 Gb/s", "1 Gb/s"),
        ("link", 31_250_000.0, "links of 250 Mb/s", "250 Mb/s"),
        ("packet_loss", 0.5, "0.5 % of packets lost", "0.5 %"),
        ("disk_read_bandwidth", 200e6, "disk reads held to 200 MB/s", "200 MB/s"),
        ("disk_write_iops", 500.0, "disk writes held to 500 IOPS", "500"),
        ("disk_latency", 0.004, "disks that take 4 ms a request", "4 ms"),
        ("disk_latency", 2.5, "disks that take 2.5 s a request", "2.5 s"),
        ("disk_channels", 3, "each disk serves 3 at once", "3"),
        ("disk_channel_bandwidth", 50e6, "50 MB/s a channel of a disk", "50 MB/s"),
        ("client_cores", 1.5, "1.5 cores a client", "1.5"),
    ],
)
def test_conditions_read_as_words(name: str, value: float, phrase: str, words: str) -> None:
    assert condition(name, value) == setting(name, value) == phrase
    assert condition_value(name, value) == words


def test_what_is_no_condition_is_left_to_others() -> None:
    assert condition("iodepth", 8) is None and link(100.0) == "800 b/s"


def test_a_cell_of_the_lab_reads_as_a_sentence() -> None:
    cell = {
        "clients": 3,
        "target": "nfs",
        "storage_nodes": 2,
        "ioengine": "nfs",
        "iodepth": 4,
        "block_size": 4096,
    }
    assert settings(cell) == "nfs, 2 storage nodes, 4 KiB, iodepth 4, 3 clients"
    assert setting("client_memory", GIB) == "memory a client 1 GiB"
