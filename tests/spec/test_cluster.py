"""Cluster files: what cannot be is refused in one sentence, and bits are never taken for bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leadline.errors import UserError
from leadline.spec.load_cluster import build_cluster, load_cluster

FIVE: dict[str, Any] = {"storage_nodes": 5, "storage_nic": "25Gb/s", "client_nic": "25Gb/s"}


def test_links_are_of_all_nics_of_a_host_each_way() -> None:
    cluster = build_cluster({**FIVE, "storage_nics": 2, "disks_per_node": 4}, "c.toml")
    assert (cluster.storage_link, cluster.client_link, cluster.disks) == (2 * 25e9 / 8, 25e9 / 8, 20)


def test_a_file_may_hold_a_table_for_the_simulator_and_keeps_it_as_written(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        '[cluster]\nstorage_nodes = 2\nstorage_nic = "10Gb/s"\nclient_nic = "10Gb/s"\n[simulation]\nseed = 7\n'
    )
    found = load_cluster(path)
    assert found.simulation == {"seed": 7} and found.table["storage_nodes"] == 2
    assert build_cluster({**found.table, "storage_nodes": 9}, "varied").storage_nodes == 9


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"replicas": 6}, "has 6 replicas on 5 storage nodes"),
        ({"storage_nodes": 0}, "`storage_nodes` in [cluster]"),
        ({"disks_per_node": 0}, "`disks_per_node` in [cluster]"),
        ({"replica": 3}, 'unknown key "replica" in [cluster]; did you mean "replicas"?'),
        ({"disk": {"reed": "1GB/s"}}, 'unknown key "reed" in [cluster.disk]; did you mean "read"?'),
        ({"erasure_code": {"data": 4, "parity": 2}, "writes": "primary"}, "4 + 2 parts on 5 disks"),
        ({"erasure_code": {"data": 2, "parity": 1}}, 'has `erasure_code` with writes = "chain"'),
        ({"erasure_code": {"data": 2, "parity": 1}, "replicas": 2}, "has both `replicas` and `erasure_code`"),
        ({"chunk_size": "1m", "stripe": 6}, "has a `stripe` of 6 over 5 disks"),
        ({"stripe": 2}, "has a `stripe` without `chunk_size`"),
        ({"copy_on_write": True}, "has `copy_on_write` without `chunk_size`"),
        ({"writes": "chian"}, "`writes` in [cluster]"),
    ],
)
def test_a_cluster_that_cannot_be_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        build_cluster({**FIVE, **change}, "c.toml")
    assert str(refused.value).startswith("c.toml: ") and sentence in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("client_nic", "25GB/s", 'NICs are sold in bits, so write "25Gb/s", or "200Gb/s" if that is meant'),
        ("storage_nic", "100 GB/s", "NICs are sold in bits"),
        ("client_nic", 25, "25 has no unit"),
        ("client_nic", "25", '"25" is not a bandwidth'),
        ("client_nic", "25b/s", "is the bandwidth of no link"),
        ("disk", {"read": "4Gb/s"}, "is in bits, 500 MB/s; disks are stated in bytes"),
        ("disk", {"write": "450 TB/s"}, "is the bandwidth of no disk"),
        ("disk", {"write": 450}, "450 has no unit"),
    ],
)
def test_bits_and_bytes_are_not_mixed_up(key: str, value: Any, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        build_cluster({**FIVE, key: value}, "c.toml")
    assert sentence in str(refused.value)


def test_a_measured_bandwidth_of_a_nic_may_be_in_bytes() -> None:
    assert build_cluster({**FIVE, "client_nic": "11.5GB/s"}, "c.toml").client_nic == 11.5e9


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[cluster\n", "is not valid TOML"),
        ("[simulation]\n", "describe it in a [cluster] table"),
        ("[clusters]\n", 'unknown table or key "clusters"; did you mean "cluster"?'),
        ("cluster = 3\n", "describe it in a [cluster] table"),
        ("simulation = 3\n[cluster]\n", "`simulation` must be a table"),
    ],
)
def test_a_file_that_is_no_cluster_says_what_to_do(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(UserError) as refused:
        load_cluster(path)
    assert sentence in str(refused.value)
