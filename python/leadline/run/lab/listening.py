"""Whether a server on a lab's host has opened its port, asked without connecting: a connection would be in its log and its counters."""

from __future__ import annotations

from leadline.run.lab.laboratory import Laboratory
from leadline.run.lab.network import LabHost


def listens(lab: Laboratory, host: LabHost, port: int) -> bool:
    """By ss(8), which comes with ip(8)."""
    asked = ("ss", "--no-header", "--listening", "--tcp", "--numeric", f"sport = {port}")
    return bool(lab.run(*host.inside(asked)).strip())
