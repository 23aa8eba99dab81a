"""What can be asked of CephFS: its own options, by the section of ceph.conf that they go to, the pools, and the layout of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.laboratory import Wishes

REPLICAS = 3
PLACEMENT_GROUPS_A_NODE = 10
"""Rounded up to a power of two, 32 for three nodes: an even spread, and no long wait for many small groups on a small machine."""
IMAGES = 16

# One name a line would be a hundred lines of nothing.
# fmt: off
POOL_OPTIONS = frozenset({"size", "pg_num", "images"})
LAYOUT_OPTIONS = ("stripe_unit", "stripe_count", "object_size")
SECTIONS: Mapping[str, frozenset[str]] = {
    "global": frozenset({"ms_async_op_threads", "ms_crc_data", "ms_tcp_rcvbuf"}),
    "client": frozenset({
        "client_cache_size", "client_caps_release_delay", "client_oc", "client_oc_max_dirty", "client_oc_max_dirty_age",
        "client_oc_max_objects", "client_oc_size", "client_oc_target_dirty", "client_quota", "client_readahead_max_bytes",
        "client_readahead_max_periods", "client_readahead_min", "fuse_big_writes", "fuse_default_permissions",
        "fuse_disable_pagecache", "fuse_max_write", "fuse_multithreaded", "fuse_splice_read", "objecter_inflight_op_bytes",
        "objecter_inflight_ops", "rbd_cache", "rbd_cache_max_dirty", "rbd_cache_policy", "rbd_cache_size",
        "rbd_cache_target_dirty", "rbd_cache_writethrough_until_flush", "rbd_default_features", "rbd_default_order",
        "rbd_io_scheduler", "rbd_readahead_max_bytes",
    }),
    "osd": frozenset({
        "bluestore_allocator", "bluestore_cache_autotune", "bluestore_cache_size", "bluestore_compression_algorithm",
        "bluestore_compression_mode", "bluestore_csum_type", "bluestore_default_buffered_read",
        "bluestore_default_buffered_write", "bluestore_min_alloc_size", "bluestore_prefer_deferred_size",
        "bluestore_throttle_bytes", "bluestore_throttle_deferred_bytes", "osd_client_message_cap",
        "osd_client_message_size_cap", "osd_enable_op_tracker", "osd_heartbeat_grace", "osd_heartbeat_interval",
        "osd_memory_target", "osd_op_num_shards", "osd_op_num_threads_per_shard", "osd_op_queue",
    }),
    "mds": frozenset({
        "mds_bal_fragment_size_max", "mds_bal_split_size", "mds_cache_memory_limit", "mds_client_prealloc_inos",
        "mds_log_max_segments", "mds_max_caps_per_client",
    }),
}
# fmt: on
"""Of the 1,800 options of Ceph those that change speed, caching or how soon a failure is seen; not what the lab sets itself."""


@dataclass(frozen=True)
class Shape:
    """What the wishes come to."""

    nodes: int
    replicas: int
    placement_groups: int
    """Of each pool with data."""
    images: int
    """RBD images that are made."""
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By section of ceph.conf."""
    layout: Mapping[str, int] = field(default_factory=dict)
    """How files of the work directory lie on objects, where it is not as usual."""


def shape_of(wishes: Wishes) -> Shape:
    """Raises UserError for what Ceph does not know and for what does not go together; values are Ceph's own to judge."""
    if wishes.clients < 1:
        raise UserError(f"cephfs needs at least 1 client, not {wishes.clients}")
    options = wishes.options
    _check_known(options)
    replicas = _number(options, "size", REPLICAS, 1, 10)
    nodes = wishes.storage_nodes if wishes.storage_nodes is not None else max(replicas, REPLICAS)
    if nodes < replicas:
        raise UserError(
            f"cephfs keeps {replicas} replicas on as many hosts and has {nodes}; "
            'ask for more storage nodes, or set the option "size"'
        )
    return Shape(
        nodes=nodes,
        replicas=replicas,
        placement_groups=_number(options, "pg_num", _usual_placement_groups(nodes), 1, 1024),
        images=_number(options, "images", IMAGES, 0, 256),
        settings=_settings(options),
        layout={key: _number(options, key, 0, 1, 1 << 40) for key in LAYOUT_OPTIONS if key in options},
    )


def _check_known(options: Mapping[str, str]) -> None:
    known = {*POOL_OPTIONS, *LAYOUT_OPTIONS}.union(*SECTIONS.values())
    for key in options:
        if key not in known:
            raise UserError(
                f'cephfs has no option "{key}" in the lab{did_you_mean(key, known)} (docs/guide/targets/cephfs.md says which)'
            )


def _number(options: Mapping[str, str], key: str, usual: int, least: int, most: int) -> int:
    text = options.get(key, str(usual))
    if key in options and not (re.fullmatch("[0-9]{1,13}", text) and least <= int(text) <= most):
        raise UserError(f'the option "{key}" of cephfs is a number from {least} to {most}, not "{text}"')
    return int(text)


def _usual_placement_groups(nodes: int) -> int:
    return 1 << max(5, (PLACEMENT_GROUPS_A_NODE * nodes - 1).bit_length())


def _settings(options: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """An option without a value is one that is meant to be on."""
    chosen = {
        section: {key: text or "true" for key, text in options.items() if key in known}
        for section, known in SECTIONS.items()
    }
    return {section: settings for section, settings in chosen.items() if settings}
