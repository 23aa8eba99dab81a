"""A campaign as a validated, immutable value: experiments, each a set of axes and fixed settings.

The pydantic models are the single definition: they check, they fill in defaults, and `schemas/campaign.schema.json`
is printed from them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from leadline.errors import did_you_mean
from leadline.spec.campaign_cluster import Clusters
from leadline.spec.consistency import ConsistencyExperiment
from leadline.spec.metadata import MetadataExperiment
from leadline.spec.network import NetworkExperiment
from leadline.spec.nominal import Nominal
from leadline.spec.objects import ObjectExperiment
from leadline.spec.posix import PosixExperiment
from leadline.spec.target import Conditions, Target, Targets
from leadline.spec.units import parse_fraction
from leadline.spec.values import (
    Axis,
    Bandwidth,
    Count,
    Duration,
    FioValue,
    Flag,
    Percent,
    Rate,
    Size,
    Strict,
    checked,
)

LAB_STORES = ("s3", "juicefs")
"""Targets of the lab that hold objects."""
Rw = Literal["read", "write", "randread", "randwrite", "randrw", "rw"]
Cache = Literal["as is", "cold", "hot"]


class Experiment(Strict):
    """One workload: lists are axes and multiply, single values are fixed."""

    name: str = Field(min_length=1)
    targets: tuple[str, ...] | None = Field(
        None, description="the targets it runs on, by label or name; left out: all"
    )
    engine: Literal["fio", "paced"] = Field(
        "fio", description="fio: closed loop; paced: open loop, latency counted from the schedule"
    )
    clients: Axis[Count] | None = Field(
        None,
        description="how many clients work at once, each on files of its own; needs a lab target's clients or [hosts]",
    )
    rw: Axis[Rw]
    read_percentage: Axis[Percent] | None = Field(None, description="share of reads in rw and randrw")
    block_size: Axis[Size] = (4096,)
    iodepth: Axis[Count] = (1,)
    numjobs: Axis[Count] = (1,)
    ioengine: Axis[str] = ("psync",)
    direct: Axis[Flag] = (False,)
    size: Axis[Size] | None = Field(None, description="bytes a job reads or writes, over all its files")
    filesize: Axis[Size] | None = Field(
        None, description="bytes of each file; size is then filesize x nrfiles"
    )
    nrfiles: Axis[Count] = (1,)
    openfiles: Axis[Count] | None = None
    file_service_type: Axis[Literal["random", "roundrobin", "sequential"]] | None = None
    rate: Axis[Rate] | None = Field(None, description="offered operations per second (paced engine)")
    ramp: Duration = 0.0
    runtime: Duration | None = Field(None, description="seconds measured; left out: until `size` is done")
    timeout: Duration | None = Field(
        None, description="hard limit on a cell's wall time; then fio is killed and the cell failed"
    )
    repeats: Count = 1
    refill_buffers: Flag = False
    end_fsync: Flag = False
    fsync_on_close: Flag = False
    cache: Cache = Field(
        "as is", description="cold: caches dropped before each cell; hot: read into memory first"
    )
    fio: dict[str, FioValue | list[FioValue]] = Field(
        default_factory=dict,
        description="any further fio option, checked with `fio --cmdhelp`; a list is an axis",
    )

    @model_validator(mode="after")
    def _sized_and_consistent(self) -> Experiment:
        if self.size is None and self.filesize is None:
            raise ValueError("needs `size` (bytes a job) or `filesize` (bytes a file)")
        if self.size is not None and self.filesize is not None:
            raise ValueError("has both `size` and `filesize`; size = filesize x nrfiles, so give one of them")
        if self.read_percentage is not None and not {"rw", "randrw"} & set(self.rw):
            raise ValueError('has `read_percentage` but no mixed test; add "randrw" to `rw` or take it out')
        if self.engine == "paced" and (self.rate is None or self.runtime is None):
            raise ValueError(
                "uses the paced engine, which needs `rate` (operations per second) and `runtime`"
            )
        if self.engine == "fio" and self.rate is not None:
            raise ValueError('has `rate`, which the paced engine serves; set engine = "paced"')
        return self


def _kind(experiment: Any) -> str:
    """Which kind of experiment something is meant as, whatever else may be wrong with it."""
    engine = experiment.get("engine") if isinstance(experiment, dict) else getattr(experiment, "engine", None)
    return str(engine) if str(engine) in OWN_MODELS else "data"


OWN_MODELS: dict[str, type[Strict]] = {
    "metadata": MetadataExperiment,
    "posix": PosixExperiment,
    "consistency": ConsistencyExperiment,
    "network": NetworkExperiment,
    "object": ObjectExperiment,
}
"""Of engines whose experiments are not of data."""
AnyExperiment = (
    Experiment
    | MetadataExperiment
    | PosixExperiment
    | ConsistencyExperiment
    | NetworkExperiment
    | ObjectExperiment
)
Experiments = Annotated[
    Annotated[Experiment, Tag("data")]
    | Annotated[MetadataExperiment, Tag("metadata")]
    | Annotated[PosixExperiment, Tag("posix")]
    | Annotated[ConsistencyExperiment, Tag("consistency")]
    | Annotated[NetworkExperiment, Tag("network")]
    | Annotated[ObjectExperiment, Tag("object")],
    Discriminator(_kind),
]


class Hosts(Strict):
    """Where the load comes from, when not from this machine alone or from a lab target's own clients."""

    kind: Literal["lab", "ssh", "mpi", "pair"] = Field(
        "lab",
        description="lab: the target's clients; ssh: by OpenSSH with your own configuration; mpi: by mpirun or srun; "
        "pair: two hosts of any kind, for experiments on the network alone",
    )
    names: tuple[str, ...] = Field(
        (),
        description="hosts as ssh or the MPI launcher knows them; of a pair also local, or a network namespace",
    )
    load: Literal["together", "fio server"] = Field(
        "together", description="one fio a host, started together; or fio's own --server and --client"
    )
    launcher: str = Field(
        "mpirun", description="for mpi: the launcher with its options, e.g. srun --mpi=pmix"
    )

    @model_validator(mode="after")
    def _named(self) -> Hosts:
        if self.kind == "ssh" and not self.names:
            raise ValueError('has kind = "ssh" and no `names`; list the hosts')
        if self.kind == "lab" and self.names:
            raise ValueError(
                'has `names` beside kind = "lab", whose hosts are made by leadline; set kind = "ssh" or "mpi"'
            )
        if self.kind == "pair" and len(self.names) != 2:
            raise ValueError('has kind = "pair", which needs two `names`: who asks and who serves')
        return self


class Limits(Strict):
    """Nominal figures of the hardware (vendor sheet), shown as limits and used by the verdict "impossible"."""

    read: Bandwidth | None = None
    write: Bandwidth | None = None
    randread: Bandwidth | None = None
    randwrite: Bandwidth | None = None
    network: Bandwidth | None = None


class Campaign(Strict):
    """All that is asked for, ready to be planned."""

    name: str = Field(min_length=1)
    description: str = ""
    seed: int = 1
    order: Literal["random", "as written"] = "random"
    scale: Annotated[
        Fraction, checked(lambda text: parse_fraction(str(text))), WithJsonSchema({"type": "string"})
    ] = Fraction(1)
    baselines: Flag = Field(default=True, description="measure the generator's ceiling and memory copy first")
    noise_repeats: int = Field(
        3, ge=0, description="A/A repeats of the first cell: this machine's noise floor; 0 leaves it out"
    )
    target: Targets = Field(default_factory=lambda: (Target.model_validate({}),))
    conditions: Conditions = Field(default_factory=lambda: Conditions.model_validate({}))
    hosts: Hosts = Field(default_factory=lambda: Hosts.model_validate({}))
    limits: Limits = Limits()
    nominal: Nominal | None = Field(
        default=None,
        description="what the machine should be made of, by its sheets; what is not so is among the doubts",
    )
    cluster: Clusters = ()
    experiment: tuple[Experiments, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _places(self) -> Campaign:
        if len(self.target) > 1 and any(
            not each.name and not each.directory and not each.url for each in self.target
        ):
            raise ValueError(
                "one of several targets has neither `name` nor `directory` nor `url`; say where it lies"
            )
        titles = [each.title for each in self.target]
        for experiment in self.experiment:
            for wanted in experiment.targets or ():
                if wanted not in titles:
                    raise ValueError(
                        f'experiment "{experiment.name}" names the target "{wanted}", which is not there{did_you_mean(wanted, titles)}'
                    )
        return self

    @model_validator(mode="after")
    def _only_the_lab_is_held(self) -> Campaign:
        """Nothing holds a directory: what is stated of it would be recorded, and believed by the verdicts."""
        free = next((target for target in self.target if target.name is None), None)
        held = ", ".join(sorted(self.conditions.model_fields_set))
        if free is None or not held:
            return self
        what = "an object store" if free.url is not None else "a directory"
        also = any(target.name is not None for target in self.target)
        remedy = (
            "give the others `conditions` of their own"
            if also
            else "take them out, or name a target of the lab"
        )
        raise ValueError(
            f'[conditions] ({held}) hold lab targets only, and the target "{free.title}" is {what}; {remedy}'
        )

    @model_validator(mode="after")
    def _objects_in_stores(self) -> Campaign:
        for experiment in self.experiment:
            of_objects = experiment.engine == "object"
            for target in self.target:
                if experiment.targets is not None and target.title not in experiment.targets:
                    continue
                if of_objects and target.name is not None and target.name not in LAB_STORES:
                    raise ValueError(
                        f'experiment "{experiment.name}" is on objects, and the target "{target.title}" is a filesystem of the lab '
                        "without an object store; name in `targets` one with `url`, a directory, or the lab's s3 or juicefs"
                    )
                if not of_objects and target.url is not None:
                    raise ValueError(
                        f'experiment "{experiment.name}" needs files, and the target "{target.title}" is an object store; '
                        'name its targets in `targets`, or set engine = "object"'
                    )
        return self

    @model_validator(mode="after")
    def _clusters_describe_what_is_there(self) -> Campaign:
        names = [experiment.name for experiment in self.experiment]
        titles = [each.title for each in self.target]
        for cluster in self.cluster:
            for kind, wanted, known in (
                ("targets", cluster.targets, titles),
                ("experiments", cluster.experiments, names),
                ("processors", (cluster.processors,) if cluster.processors else (), names),
            ):
                for each in wanted or ():
                    if each not in known:
                        raise ValueError(
                            f'[cluster] names "{each}" among its {kind}, which is not there{did_you_mean(each, known)}'
                        )
        return self

    @model_validator(mode="after")
    def _started_by_who_can(self) -> Campaign:
        for experiment in self.experiment:
            if experiment.engine == "metadata" and self.hosts.load == "fio server":
                raise ValueError(
                    f'experiment "{experiment.name}" is of metadata, which fio\'s server cannot run; set [hosts] load = "together"'
                )
            if experiment.engine == "consistency" and self.hosts.kind != "lab":
                raise ValueError(
                    f'experiment "{experiment.name}" is on consistency, whose clients are mounts of this machine and not [hosts] kind = '
                    f'"{self.hosts.kind}"; take one of them out'
                )
            if experiment.engine == "object" and self.hosts.kind != "lab":
                raise ValueError(
                    f'experiment "{experiment.name}" is on objects, whose load comes from this machine or a lab\'s clients and not from '
                    f'[hosts] kind = "{self.hosts.kind}"; run `leadline objbench` on such a host, or take one of them out'
                )
            if experiment.engine == "posix" and self.hosts.kind != "lab":
                raise ValueError(
                    f'experiment "{experiment.name}" tests POSIX, which runs on this machine and not by [hosts] kind = '
                    f'"{self.hosts.kind}"; run `leadline posix` on such a host, or take one of them out'
                )
            if experiment.engine != "network" and self.hosts.kind == "pair":
                raise ValueError(
                    f'experiment "{experiment.name}" needs files, which [hosts] kind = "pair" has none of; set engine = "network"'
                )
            if experiment.engine == "network" and (
                self.hosts.kind == "mpi" or self.hosts.load == "fio server"
            ):
                raise ValueError(
                    f'experiment "{experiment.name}" is on the network, which neither mpi nor fio\'s server carries; '
                    'set [hosts] kind = "ssh" '
                    'or "pair" and load = "together"'
                )
        return self
