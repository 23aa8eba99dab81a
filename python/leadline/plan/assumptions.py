"""What forecasts and timeouts assume; nothing is judged by any of it."""

from __future__ import annotations

ASSUMED_BYTES_PER_SECOND = 400e6
"""For forecasting steps that are bound by size."""
SLOWEST_BYTES_PER_SECOND = 10e6
"""A size-bound step slower than this is taken for hung, unless the campaign sets `timeout`."""
ASSUMED_OPERATIONS_PER_SECOND = 5000.0
"""For forecasting metadata: a FUSE filesystem of one machine. A local one does fifty times as many, one over a network a tenth."""
SLOWEST_OPERATIONS_PER_SECOND = 50.0
"""Metadata slower than this is taken for hung, unless the campaign sets `timeout`."""
ASSUMED_SUITE_SECONDS = 30.0
"""Of a conformance suite: a second on a local filesystem, a minute where times are kept coarsely."""
ASSUMED_SUITE_BYTES = 256 * 2**20
"""It needs a quarter of it (run/posix/own_directory.py)."""
SLOWEST_SUITE_SECONDS = 3600.0
STEP_OVERHEAD_SECONDS = 0.45
"""Start and end of fio and of leadline around it: 0.3-0.5 s for 1-16 jobs on two cores (benchmarks/overhead.py)."""
TIMEOUT_MARGIN_SECONDS = 60.0
