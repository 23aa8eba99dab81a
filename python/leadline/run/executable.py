"""Where the Rust engine is installed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from leadline.errors import UserError


def engine_executable() -> Path:
    """The executable beside this Python, else on PATH; raises UserError when it is missing."""
    beside = Path(sys.executable).with_name("leadline-engine")
    found = beside if beside.is_file() else shutil.which("leadline-engine")
    if not found:
        raise UserError(
            "leadline-engine is not installed beside leadline; run `make run` in the checkout, or install the wheel again"
        )
    return Path(found)
