"""What the machine around the directory allows: rights, limits, clocks, and how quiet it is."""

from __future__ import annotations

from typing import Any

from leadline.run.observe.clock import CLOCK_SOURCE
from leadline.run.observe.control_groups import GroupLimits, read_group_limits
from leadline.run.observe.counter_readings import read_counters
from leadline.run.observe.finding import Finding, State
from leadline.run.observe.kernel import read_limits
from leadline.run.observe.machine import Machine
from leadline.run.observe.processor import describe_processor

CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21  # include/uapi/linux/capability.h
QUICK_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"}
)
OPEN_FILES_WANTED = 4096
STEAL_TOLERATED = 0.01
LOAD_TOLERATED = 0.25  # runnable tasks a thread before we start anything


def judge_machine(machine: Machine) -> list[Finding]:
    """All facts that need only files to be read."""
    limits = read_group_limits(machine)
    processor = describe_processor(machine, limits)
    return [
        _judge_rights(machine),
        _judge_namespaces(machine),
        _judge_control_groups(limits),
        *_judge_processor(processor),
        *_judge_noise(machine, processor["threads"]),
        _judge_clock_source(machine),
        _judge_open_files(machine),
    ]


def _judge_rights(machine: Machine) -> Finding:
    user = machine.fields("/proc/self/status").get("Uid", "").split()
    if user[1:2] == ["0"]:  # real, effective, saved, filesystem
        return Finding("rights", State.OK, "leadline runs as root.")
    sentence = "leadline does not run as root: no cache drops, no mounts, no shaped links."
    return Finding("rights", State.LIMITED, sentence, "Run with sudo where these are needed.")


def _judge_namespaces(machine: Machine) -> Finding:
    mask = int(machine.fields("/proc/self/status").get("CapEff", "0"), 16)
    has_rights = all(mask >> capability & 1 for capability in (CAP_NET_ADMIN, CAP_SYS_ADMIN))
    if not machine.names("/proc/self/ns"):
        return Finding(
            "namespaces", State.MISSING, "This kernel shows no namespaces: the lab cannot make hosts."
        )
    if has_rights:
        return Finding("namespaces", State.OK, "Network and mount namespaces can be made: the lab can run.")
    sentence = "The rights to make network namespaces (CAP_NET_ADMIN, CAP_SYS_ADMIN) are not held."
    return Finding("namespaces", State.LIMITED, sentence, "Run as root, outside an unprivileged container.")


def _judge_control_groups(limits: GroupLimits) -> Finding:
    found = " and ".join(f"v{version}" for version in limits.versions)
    if not found:
        return Finding(
            "control groups", State.MISSING, "No control groups are mounted: load cannot be confined."
        )
    tight = []
    if limits.cpu_cores is not None:
        tight.append(f"{limits.cpu_cores:g} CPU cores")
    if limits.memory_bytes is not None:
        tight.append(f"{limits.memory_bytes / (1 << 30):.1f} GiB of memory")
    if tight:
        sentence = f"Control groups ({found}) hold this process to {' and '.join(tight)}."
        return Finding(
            "control groups", State.LIMITED, sentence, "Raise the limit, or read figures as under it."
        )
    return Finding("control groups", State.OK, f"Control groups {found} are there and set no limit.")


def _judge_processor(facts: dict[str, Any]) -> list[Finding]:
    findings = []
    if not facts["governors"]:
        sentence = "The CPU governor cannot be read" + (": the host decides." if facts["is_virtual"] else ".")
        findings.append(Finding("CPU governor", State.LIMITED, sentence))
    elif facts["governors"] == ["performance"]:
        findings.append(Finding("CPU governor", State.OK, "The CPU governor is performance."))
    else:
        sentence = f"The CPU governor is {', '.join(facts['governors'])}: clocks vary with load."
        remedy = "As root: cpupower frequency-set -g performance"
        findings.append(Finding("CPU governor", State.LIMITED, sentence, remedy))
    if facts["is_virtual"]:
        sentence = "This is a virtual machine: others may share its CPUs, disks and network."
        findings.append(
            Finding("virtual machine", State.LIMITED, sentence, "Repeat cells at different hours.")
        )
    return findings


def _judge_noise(machine: Machine, threads: int | None) -> list[Finding]:
    """Steal since boot and the load of the last minute: hints, not measurements."""
    findings = []
    ticks = read_counters(machine, (), (), 0).cores.get("cpu.all")
    if ticks is not None and ticks.whole:
        share = ticks.steal / ticks.whole
        state = State.OK if share <= STEAL_TOLERATED else State.LIMITED
        sentence = f"The hypervisor has kept {share:.1%} of CPU time since boot for others (steal)."
        findings.append(Finding("steal", state, sentence))
    load = (machine.text("/proc/loadavg") or "").split()
    if load and threads:
        state = State.OK if float(load[0]) <= LOAD_TOLERATED * threads else State.LIMITED
        sentence = f"Load over the last minute: {load[0]} on {threads} threads."
        remedy = None if state is State.OK else "Wait until other work has ended."
        findings.append(Finding("load", state, sentence, remedy))
    return findings


def _judge_clock_source(machine: Machine) -> Finding:
    name = machine.text(f"{CLOCK_SOURCE}/current_clocksource")
    if name is None:
        return Finding("clock source", State.LIMITED, "The kernel's clock source cannot be read.")
    if name in QUICK_CLOCKS:
        return Finding("clock source", State.OK, f"The clock source is {name}, read without a system call.")
    sentence = f"The clock source is {name}: reading the time is slow and adds to every latency."
    return Finding("clock source", State.LIMITED, sentence, "Boot with a trustworthy TSC, see dmesg on tsc.")


def _judge_open_files(machine: Machine) -> Finding:
    limits = read_limits(machine)
    if "open_files" not in limits:
        return Finding("open files", State.LIMITED, "The limit on open files cannot be read.")
    limit = limits["open_files"]
    if limit is None or limit >= OPEN_FILES_WANTED:
        return Finding("open files", State.OK, f"{limit or 'Any number of'} files may be open at once.")
    sentence = f"Only {limit} files may be open at once: many jobs times many files will fail."
    return Finding("open files", State.LIMITED, sentence, f"ulimit -n {OPEN_FILES_WANTED}")
