"""A target with a host for a server, a host for a client and a disk of its own: what conditions and faults take hold of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leadline.run.lab.laboratory import Laboratory, Wishes
from leadline.run.lab.state import Ready, Seat


@dataclass(frozen=True)
class Held:
    """Comes up in a tenth of a second."""

    summary: str = "for tests"
    needs: Mapping[str, str] = field(default_factory=dict)
    server: Sequence[str] = ("sleep", "1000")

    def up(self, lab: Laboratory, wishes: Wishes) -> Ready:
        device = lab.loop(lab.image(lab.storage(), 64 << 20))
        point = lab.folder("mount")
        lab.run("mkfs.ext4", "-q", device)
        lab.mount(str(device), point, "ext4")
        server, client = lab.network(2).hosts
        lab.start("server", self.server, server)
        seat = Seat(client.namespace, str(point))
        return Ready(str(point), "ext4", {"disks": [str(device)]}, (seat,))
