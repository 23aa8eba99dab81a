"""Grounds that are plain folders: for tests of the walk, which say themselves what cannot be brought up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from leadline.errors import UserError
from leadline.plan.sites import Site
from leadline.run.crews.alone import Alone
from leadline.run.crews.together import Together
from leadline.run.grounds import Ground
from leadline.run.hosts.fake import FakeHost
from leadline.run.seams import Client
from leadline.run.targets.fake import FakeTarget


@dataclass
class FakeGrounds:
    """All sites share one target and one host; every client has a folder of its own name where there are several."""

    host: FakeHost
    target: FakeTarget
    refused: Mapping[str, str] = field(default_factory=dict)
    """Sites by label that cannot be brought up, and the sentence why."""
    told: list[str] = field(default_factory=list)
    """What was brought up and taken down, in order: "up xfs", "down xfs"."""

    @contextmanager
    def standing(self, site: Site) -> Iterator[Ground]:
        """The folder, prepared and cleaned up."""
        if site.label in self.refused:
            raise UserError(self.refused[site.label])
        directory = self.target.prepare()
        clients = tuple(
            Client(
                f"client{number}", FakeHost(self.host.meanwhile, self.host.lines, self.host.ran), directory
            )
            for number in range(1, site.clients + 1)
        ) or (Client("local", self.host, directory),)
        crew = Together(clients) if site.clients > 1 else Alone(clients[0])
        self.told.append(f"up {site.label}")
        try:
            yield Ground(site, site.label, directory, clients, crew, self.target)
        finally:
            self.target.clean_up()
            self.told.append(f"down {site.label}")

    def clear(self, site: Site) -> None:
        """Nothing of it outlives a test."""
