"""What can be asked of JuiceFS: its own mount and format options, and where its metadata and its data lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.errors import UserError, did_you_mean
from leadline.run.lab.laboratory import Wishes

METADATA = ("sqlite3", "redis")
DATA = ("file", "s3")
PLACES = ("metadata", "data")

# One name a line would be sixty lines of nothing.
# fmt: off
FORMAT_OPTIONS = frozenset({"block-size", "capacity", "compress", "enable-acl", "hash-prefix", "inodes", "trash-days"})
MOUNT_OPTIONS = frozenset({
    "atime-mode", "attr-cache", "backup-meta", "buffer-size", "cache-eviction", "cache-expire", "cache-items", "cache-large-write",
    "cache-mode", "cache-partial-only", "cache-scan-interval", "cache-size", "dir-entry-cache", "disable-transparent-hugepage",
    "download-limit", "enable-xattr", "entry-cache", "fast-statfs", "free-space-ratio", "get-timeout", "heartbeat", "io-retries",
    "max-deletes", "max-downloads", "max-fuse-io", "max-readahead", "max-stage-write", "max-uploads", "negative-entry-cache",
    "no-bgjob", "open-cache", "open-cache-limit", "prefetch", "put-timeout", "readdir-cache", "skip-dir-mtime", "skip-dir-nlink",
    "sort-dir", "upload-delay", "upload-limit", "verify-cache-checksum", "writeback", "writeback-threshold-size",
})
# fmt: on
"""Not among them: what the lab sets itself (cache-dir, log, bucket), and what reaches beyond the lab (update-fstab, consul)."""


@dataclass(frozen=True)
class Choices:
    """What the wishes come to."""

    metadata: str
    data: str
    format: tuple[str, ...]
    """As words of `juicefs format`."""
    mount: tuple[str, ...]
    """As words of `juicefs mount`."""
    servers: int
    """Hosts beside the clients': gateways where the data is on S3; Redis lives on the first."""


def choices_of(wishes: Wishes) -> Choices:
    """Raises UserError for what JuiceFS does not know and for what does not go together."""
    if wishes.clients < 1:
        raise UserError(f"juicefs needs at least 1 client, not {wishes.clients}")
    options = wishes.options
    _check_known(options)
    metadata, data = _one_of(options, "metadata", METADATA), _one_of(options, "data", DATA)
    return Choices(
        metadata,
        data,
        _words(options, FORMAT_OPTIONS),
        _words(options, MOUNT_OPTIONS),
        _servers(wishes, metadata, data),
    )


def _check_known(options: Mapping[str, str]) -> None:
    known = {*PLACES, *FORMAT_OPTIONS, *MOUNT_OPTIONS}
    for key in options:
        if key not in known:
            raise UserError(
                f'juicefs has no option "{key}" in the lab{did_you_mean(key, known)} (docs/guide/targets/juicefs.md says which)'
            )


def _one_of(options: Mapping[str, str], key: str, allowed: tuple[str, ...]) -> str:
    text = options.get(key, allowed[0])
    if text not in allowed:
        raise UserError(f'the option "{key}" of juicefs is {" or ".join(allowed)}, not "{text}"')
    return text


def _words(options: Mapping[str, str], known: frozenset[str]) -> tuple[str, ...]:
    """A flag without a value is meant to be on."""
    return tuple(f"--{key}={text or 'true'}" for key, text in options.items() if key in known)


def _servers(wishes: Wishes, metadata: str, data: str) -> int:
    nodes = wishes.storage_nodes
    if data == "s3":
        if nodes is not None and nodes < 1:
            raise UserError(f"juicefs on S3 needs at least 1 storage node (a gateway), not {nodes}")
        return nodes or 1
    if nodes not in (None, 1):
        raise UserError(
            f'juicefs keeps its data in one directory and has no {nodes} storage nodes; set the option "data" to "s3"'
        )
    return 1 if metadata == "redis" else 0
