"""Simulated clusters as JSON: everything that the tables show, and the histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.analyse.simulation.findings import WAYS, Finding, OfWay


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Rates per second, latencies in nanoseconds, bandwidths in bytes per second, shares 0..1."""
    return [_finding(finding) for finding in findings]


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "cluster": finding.scenario.cluster.name,
        "settings": dict(finding.scenario.settings),
        "in_flight": finding.scenario.in_flight,
        "bandwidth_bytes_per_second": finding.bandwidth,
        "iops": finding.iops,
        "mean_latency_ns": finding.mean_ns,
        "p50_latency_ns": finding.percentile_ns(0.5),
        "p99_latency_ns": finding.percentile_ns(0.99),
        **({way: _of_way(finding.of_way(way)) for way in WAYS} if finding.scenario.is_mixed else {}),
        "binding": finding.binding,
        "doubts": finding.doubts,
        "outcome": dict(finding.outcome),
    }


def _of_way(found: OfWay) -> dict[str, Any]:
    return {
        "iops": found.iops,
        "mean_latency_ns": found.mean_ns,
        "p50_latency_ns": found.percentile_ns(0.5),
        "p99_latency_ns": found.percentile_ns(0.99),
    }
