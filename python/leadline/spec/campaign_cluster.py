"""The `[cluster]` table of a campaign: a cluster as spec/cluster.py has it, and what a prediction of it rests on.

Several tables (`[[cluster]]`) describe several targets. The prediction is made before the first cell of theirs is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from leadline.spec.cluster import Cluster, Disk, ErasureCode, Service
from leadline.spec.values import Duration, Flag, OneOrSeveral, as_tuple


class CampaignCluster(Cluster):
    """A cluster that is predicted before it is measured."""

    baselines: tuple[str, ...] = Field(
        min_length=1,
        description="experiments of this campaign that run first, on one disk or one NIC; or earlier runs and grids by path",
    )
    targets: tuple[str, ...] | None = Field(
        None, description="the targets that it describes; left out: all, but for the baselines' experiments"
    )
    experiments: tuple[str, ...] | None = Field(
        None, description="the experiments that it describes; left out: all of fio that are no baselines"
    )
    processors: str | None = Field(
        None,
        description="an experiment of this campaign that runs first on the target, not held back: what a request costs its client's and "
        "servers' processors is taken from it, and nothing else",
    )
    probes: Flag = Field(
        default=True,
        description="two cells of each test run first on each target, and the others are foretold a second time from them, before they run",
    )
    client_processor: Duration | None = Field(
        None,
        gt=0,
        description="processor time of a request at the client, if known: what the condition client_cores bounds",
    )
    server_processor: Duration | None = Field(
        None,
        gt=0,
        description="processor time of a request at all servers together, if known: what the condition server_cores bounds",
    )

    @classmethod
    def of_stored(cls, document: Mapping[str, Any]) -> CampaignCluster:
        """As a manifest keeps it: checked once, in bytes and seconds, which a user's file may not be written in."""
        stored: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
        }
        disk, code = dict(document["disk"]), document["erasure_code"]
        for key in ("read_service", "write_service"):
            disk[key] = tuple(Service.model_construct(**each) for each in disk[key])
        stored["disk"] = Disk.model_construct(**disk)
        stored["erasure_code"] = ErasureCode.model_construct(**code) if code else None
        # Every default is stored too; one that nobody may have stated must not keep Little's law from being asked.
        stated = set(stored) - ({"iodepth"} if stored["iodepth"] == "kept" else set())
        return cls.model_construct(stated, **stored)

    @property
    def beforehand(self) -> tuple[str, ...]:
        """Experiments and paths that a prediction rests on."""
        return (*self.baselines, *((self.processors,) if self.processors else ()))

    def describes(self, target: str, experiment: str) -> bool:
        """Whether cells of that experiment on that target are predicted from it; baselines never are."""
        return (
            experiment not in self.beforehand
            and (self.targets is None or target in self.targets)
            and (self.experiments is None or experiment in self.experiments)
        )


Clusters = Annotated[
    tuple[CampaignCluster, ...],
    BeforeValidator(as_tuple),
    OneOrSeveral(),
    Field(
        description="what targets are made of: foretold before they are measured (docs/guide/prediction.md)"
    ),
]
