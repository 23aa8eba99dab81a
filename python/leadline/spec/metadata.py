"""An experiment on metadata: mdtest's phases, its options in words. docs/guide/metadata.md has the table of both."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from leadline.spec.values import Axis, Count, Duration, Flag, Natural, Size, Strict

Action = Literal["create", "stat", "read", "rename", "remove"]
Driver = Literal["calls", "io_uring"]
Naming = Literal["full_path", "directory_relative"]


class MetadataExperiment(Strict):
    """Directories and files created, looked at, renamed and removed; lists are axes and multiply."""

    name: str = Field(min_length=1)
    targets: tuple[str, ...] | None = Field(
        None, description="the targets it runs on, by label or name; left out: all"
    )
    engine: Literal["metadata"]
    clients: Axis[Count] | None = Field(
        None,
        description="how many clients work at once, in the same directory, each through its own mount",
    )
    numjobs: Axis[Count] = Field((1,), description="ranks (processes) of each client")
    driver: Axis[Driver] = Field(
        ("calls",), description="calls: one system call at a time, as mdtest; io_uring: `iodepth` in flight"
    )
    iodepth: Axis[Count] = Field((1,), description="operations of a rank in flight; only with io_uring")
    naming: Axis[Naming] = Field(
        ("full_path",),
        description="full_path: as mdtest; directory_relative: the parent is open already, fewer lookups",
    )
    depth: Axis[Natural] = Field((0,), description="levels of directories below a tree's root (mdtest -z)")
    branching_factor: Axis[Count] = Field((1,), description="children of each directory (mdtest -b)")
    items_per_directory: Axis[Count] | None = Field(None, description="of each kind (mdtest -I)")
    items_per_rank: Axis[Count] | None = Field(
        None,
        description="spread evenly over the directories, so rounded down to a multiple of them (mdtest -n)",
    )
    unique_trees: Axis[Flag] = Field((False,), description="a tree for each rank (mdtest -u)")
    leaves_only: Flag = Field(default=False, description="items in the deepest directories only (mdtest -L)")
    rank_shift: Axis[Natural] = Field(
        (0,),
        description="ranks between who made an item and who works on it next (mdtest -N); `numjobs` of them are the next client",
    )
    drop_caches: Axis[Flag] = Field(
        (False,), description="each client drops its caches before stat and before read; needs root there"
    )
    directories: Flag = Field(
        default=True, description="whether there are items that are directories (off: mdtest -F)"
    )
    files: Flag = Field(default=True, description="whether there are items that are files (off: mdtest -D)")
    actions: Axis[Action] | None = Field(
        None, description="which phases run, create among them; left out: all (mdtest -C -T -E -U -r)"
    )
    write_size: Axis[Size] | None = Field(
        None, description="bytes written to each file when it is created (mdtest -w)"
    )
    read_size: Axis[Size] | None = Field(None, description="bytes read from each file (mdtest -e)")
    pause: Duration = Field(0.0, description="rest before directories and before files (mdtest -p)")
    stonewall: Duration | None = Field(
        None,
        description="files are created for this long, then all catch up with the fastest rank (mdtest -W)",
    )
    timeout: Duration | None = Field(
        None, description="hard limit on a cell's wall time; then it is killed and the cell failed"
    )
    repeats: Count = Field(1, description="rounds of every cell (mdtest -i)")

    @model_validator(mode="after")
    def _makes_sense(self) -> MetadataExperiment:
        if self.items_per_directory is None and self.items_per_rank is None:
            raise ValueError("needs `items_per_directory` (mdtest -I) or `items_per_rank` (mdtest -n)")
        if "io_uring" not in self.driver and max(self.iodepth) > 1:
            raise ValueError(
                'has `iodepth` above 1, and the driver "calls" has one call in flight; set driver = "io_uring"'
            )
        if not self.directories and not self.files:
            raise ValueError("has neither `directories` nor `files`; leave one of them on")
        if self.actions is not None and "create" not in self.actions:
            raise ValueError('has `actions` without "create"; a cell starts from nothing, so add it')
        return self

    @model_validator(mode="after")
    def _has_bytes_to_read(self) -> MetadataExperiment:
        if self.read_size is not None and max(self.read_size) > min(self.write_size or (0,)):
            raise ValueError(
                "has a `read_size` above `write_size`; files hold what was written, so raise that"
            )
        if self.stonewall is not None and (not self.files or max(self.branching_factor) > 1):
            raise ValueError(
                "has `stonewall`, which stops the creation of files and needs branching_factor = 1"
            )
        return self
