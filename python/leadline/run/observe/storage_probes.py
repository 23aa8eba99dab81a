"""What can be measured in a directory: whether it takes direct I/O, has room, and is a disk at all."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path
from typing import Any

from leadline.run.observe.block_devices import disk_names_under
from leadline.run.observe.caches import reason_caches_stay
from leadline.run.observe.filesystem import describe_filesystem
from leadline.run.observe.finding import Finding, State
from leadline.run.observe.machine import Machine

DIRECT_SIZES_BYTES = (512, 4096, 65536)
"""Tried in turn: the smallest that works is the finest block a direct engine may use."""

ROOM_WANTED_BYTES = 4 << 30
OTHER_DIRECTORY = "Choose a directory on the disk that is to be measured."


def judge_filesystem(machine: Machine, directory: Path) -> list[Finding]:
    """What the kind of filesystem and its free space allow."""
    facts = describe_filesystem(machine, directory)
    findings = [_judge_kind(facts), *_judge_devices(machine, directory, facts)]
    return findings + (_judge_space(facts) if facts["available_bytes"] is not None else [])


def _judge_kind(facts: dict[str, Any]) -> Finding:
    kind, directory = facts["type"], facts["directory"]
    where = f"{directory} lies on {kind}"
    if kind is None:
        return Finding("filesystem", State.LIMITED, f"Which filesystem {directory} lies on is unknown.")
    if "ro" in facts["mount_options"]:
        return Finding("filesystem", State.MISSING, f"{where}, mounted read-only.", OTHER_DIRECTORY)
    if facts["is_memory"]:
        sentence = f"{where}, which is memory: figures say nothing about storage."
        return Finding("filesystem", State.LIMITED, sentence, OTHER_DIRECTORY)
    if kind == "overlay":
        sentence = f"{where}: the first write to a file of a lower layer copies it whole."
        return Finding("filesystem", State.LIMITED, sentence, "Measure in a volume or a bind mount.")
    if facts["is_fuse"]:
        sentence = (
            f"{where} (FUSE): O_DIRECT may be accepted and not honoured, and large requests may be split."
        )
        return Finding(
            "filesystem", State.LIMITED, sentence, "Compare bytes with the counters of NIC and disk."
        )
    return Finding("filesystem", State.OK, f"{where} from {facts['source']}.")


def _judge_devices(machine: Machine, directory: Path, facts: dict[str, Any]) -> list[Finding]:
    if facts["is_memory"] or facts["is_network"] or facts["type"] is None:
        return []
    disks = disk_names_under(machine, directory)
    if disks:
        return [
            Finding("disks", State.OK, f"The bytes end on {', '.join(disks)}, whose counters can be read.")
        ]
    why = next((entry["why"] for entry in machine.unreadable if entry["what"] == "block devices"), "")
    return [Finding("disks", State.LIMITED, f"No disk's counters can be laid beside the figures: {why}")]


def _judge_space(facts: dict[str, Any]) -> list[Finding]:
    available = facts["available_bytes"]
    sentence = f"{available / (1 << 30):.1f} GiB are free in {facts['directory']}."
    state = State.OK if available >= ROOM_WANTED_BYTES else State.LIMITED
    remedy = (
        None if state is State.OK else "Free some space, or keep datasets small and expect cache effects."
    )
    findings = [Finding("free space", state, sentence, remedy)]
    if facts["inodes"] and not facts["inodes_free"]:  # filesystems without inode tables state zero of both
        findings.append(Finding("free inodes", State.MISSING, f"{facts['directory']} has no inodes left."))
    return findings


def judge_cache_drop(machine: Machine) -> Finding:
    """Whether cold reads can be had."""
    reason = reason_caches_stay(machine.root)
    if reason is None:
        return Finding("cache drop", State.OK, "The kernel's caches can be dropped between cells.")
    sentence = reason.replace("were not", "cannot be", 1)
    return Finding("cache drop", State.LIMITED, sentence, "Use direct=1, or data larger than memory.")


def probe_direct_io(directory: Path) -> Finding:
    """Open a file with O_DIRECT and read it, aligned, in the smallest block that works."""
    path = directory / "direct.bin"
    path.write_bytes(bytes(max(DIRECT_SIZES_BYTES)))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        return _direct_refused(f"opening with O_DIRECT fails ({error.strerror})")
    try:
        smallest = next((size for size in DIRECT_SIZES_BYTES if _reads_directly(descriptor, size)), None)
    finally:
        os.close(descriptor)
    if smallest is None:
        return _direct_refused("O_DIRECT is accepted at open, but no aligned read succeeds")
    return Finding("direct I/O", State.OK, f"O_DIRECT reads work in blocks from {smallest} bytes.")


def _direct_refused(why: str) -> Finding:
    return Finding(
        "direct I/O", State.MISSING, f"Direct I/O does not work here: {why}.", "Set direct = false."
    )


def _reads_directly(descriptor: int, size_bytes: int) -> bool:
    page_aligned = mmap.mmap(-1, max(size_bytes, mmap.PAGESIZE))
    with page_aligned, memoryview(page_aligned) as view, view[:size_bytes] as block:
        try:
            return os.preadv(descriptor, [block], 0) == size_bytes
        except OSError as error:
            if error.errno == errno.EINVAL:  # the block is finer than the device's own
                return False
            raise
