"""Tools that a target needs: there, installed from the distribution, or one sentence that says what to install."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping

from leadline.errors import UserError
from leadline.run.lab.tools import Toolbox

INSTALL_SECONDS = 600.0


def require(needs: Mapping[str, str], tools: Toolbox, tell: Callable[[str], None]) -> None:
    """`needs` says which package holds which command; raises UserError for what cannot be had."""
    packages = sorted({package for command, package in needs.items() if shutil.which(command) is None})
    if not packages:
        return
    if shutil.which("apt-get") is None:
        raise UserError(f"{_listed(needs)} missing; install {' '.join(packages)} with this system's packages")
    tell(f"installing {' '.join(packages)}")
    install = (
        "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", "--quiet", "--no-install-recommends", "install", *packages,
    )  # fmt: skip
    try:
        tools.run(*install, timeout_seconds=INSTALL_SECONDS)
    except UserError:
        raise UserError(
            f"{_listed(needs)} missing and apt-get could not install it; try: apt-get update && apt-get install {' '.join(packages)}"
        ) from None
    still = [command for command in needs if shutil.which(command) is None]
    if still:
        raise UserError(
            f"{' '.join(packages)} was installed but brings no {still[0]}; put {still[0]} on the PATH"
        )


def _listed(needs: Mapping[str, str]) -> str:
    missing = [command for command in needs if shutil.which(command) is None]
    return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
