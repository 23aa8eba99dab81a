"""Loop devices: told by the file behind them, since the kernel gives the number only when one is attached."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from leadline.errors import UserError
from leadline.run.lab.holders import loops
from leadline.run.lab.patience import Patience
from leadline.run.lab.resource import Busy, Ledger, Record
from leadline.run.lab.tools import ToolFailed

DETACHED_WITHIN_SECONDS = 5.0


@dataclass(frozen=True)
class Loop:
    """A loop device with direct I/O over an image: without it every block would lie in memory twice."""

    backing: str
    only_while_up: ClassVar[bool] = False

    def described(self) -> str:
        """By its file."""
        return f"a loop device over {self.backing}"

    def found(self, identity: str | None) -> bool:
        """Whether a loop device, or that very one, has our file behind it."""
        return bool(self._devices(identity))

    def make(self, ledger: Ledger, record: Record) -> None:
        """Attaches the next free device."""
        try:
            record(ledger.tools.run("losetup", "--find", "--show", "--direct-io=on", self.backing).strip())
        except ToolFailed as error:
            raise UserError(
                f"no loop device with direct I/O over {self.backing} ({error.said}); "
                "let LEADLINE_LAB_STORAGE name a folder on a real disk"
            ) from None

    def remove(self, ledger: Ledger, identity: str | None) -> None:
        """Detaches it and waits until it is gone: losetup returns at once when the device is still in use."""
        for device in self._devices(identity):
            try:
                ledger.tools.run("losetup", "--detach", f"/dev/{device}")
            except ToolFailed:
                # Else it went by itself: an earlier try had met a user of it, who has ended now.
                if self.found(identity):
                    raise
        patience = Patience(DETACHED_WITHIN_SECONDS)
        while self.found(identity):
            if patience.is_over():
                raise Busy(
                    f"{self.described()} is still in use, perhaps mounted in another mount namespace; end what uses it"
                )
            time.sleep(0.01)

    def _devices(self, identity: str | None) -> list[str]:
        over = [device for device, backing in loops().items() if backing == Path(self.backing)]
        return [device for device in over if identity in (None, f"/dev/{device}")]
