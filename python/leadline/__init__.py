"""leadline sounds a distributed filesystem from wire to workload.

The flow, from top to bottom: campaign (TOML) -> plan (ordered steps) -> run (engines on hosts against
targets) -> store (one folder) -> analyse (pure functions) -> report. Each stage reads and writes files.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("leadline")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "0+uninstalled"
