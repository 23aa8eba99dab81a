"""Made-up runs that look like real ones, for tests of the report: known cells, verdicts, a collapse, failures.

Throughput follows a saturating curve per block size; latency follows from Little's law; nothing here was measured.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import Any

from leadline.analyse.results import (
    METRICS,
    Answer,
    CellResult,
    Comparison,
    Curve,
    Doubt,
    Estimate,
    FailedCell,
    Grid,
    Reference,
    Results,
    Saturation,
    Verdict,
    VerdictName,
)
from leadline.store.manifest import Manifest
from leadline.store.records import Cell, Direction

TESTS = ("read", "write", "randread", "randwrite")
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
JOBS = (1, 2, 4, 8, 16)
BLOCKS = (4096, 1048576)
ENGINES = ("io_uring", "libaio")

PEAK_BYTES_PER_SECOND = {"read": 2.9e9, "write": 1.6e9, "randread": 2.2e9, "randwrite": 0.9e9}
LATENCY_AT_ONE_NS = {4096: 82_000.0, 65536: 130_000.0, 1048576: 560_000.0, 4194304: 1_900_000.0}

ENVIRONMENT: dict[str, Any] = {
    "cpu": {"model": "AMD EPYC 7302P", "cores": 16, "governor": "performance", "numa_nodes": 1},
    "memory": {"total_bytes": 67_553_599_488, "swap_bytes": 0},
    "kernel": {
        "release": "6.1.0-28-amd64",
        "settings": {"vm.dirty_ratio": 20, "vm.dirty_background_ratio": 10},
    },
    "filesystem": {
        "type": "xfs",
        "mount_point": "/mnt/data",
        "options": ["rw", "noatime"],
        "device": "/dev/nvme0n1",
    },
    "block_devices": [
        {"name": "nvme0n1", "model": "Dell Ent NVMe 1.6TB", "scheduler": "none", "rotational": False}
    ],
    "network": [{"name": "eno1", "speed_bits_per_second": 25_000_000_000, "bonding": None}],
    "versions": {"fio": "3.33", "python": "3.11.2"},
    "unreadable": ["governor of cpu3: permission denied"],
}


def peak(test: str, block: int) -> float:
    """Small blocks reach less; one 4 KiB block a request is bound by operations."""
    return PEAK_BYTES_PER_SECOND[test] * (0.42 if block < 65536 else 1.0)


def estimate(value: float, width: float, n: int, method: str) -> Estimate:
    return Estimate(value, value * (1 - width), value * (1 + width), n, method)


def metrics_of(cell: Cell, test: str, noise: random.Random) -> dict[str, Estimate]:
    block, concurrency = int(cell["block_size"]), int(cell["iodepth"]) * int(cell["numjobs"])
    base = LATENCY_AT_ONE_NS[block]
    limit = peak(test, block) / block * (1.02 if cell["ioengine"] == "io_uring" else 0.97)
    iops = concurrency / (base / 1e9 + concurrency / limit) * noise.uniform(0.985, 1.015)
    if test == "randwrite" and concurrency > 512:
        iops *= 0.55  # the collapse
    mean = concurrency / iops * 1e9
    samples = max(int(iops * 30), 1)
    repeats = "t interval over 3 repeats"
    tail = {"p50": 0.93, "p90": 1.35, "p99": 2.6, "p99.9": 5.2}
    return {
        "bandwidth": estimate(iops * block, 0.012, 3, repeats),
        "iops": estimate(iops, 0.012, 3, repeats),
        "mean": estimate(mean, 0.015, 3, repeats),
        **{name: estimate(mean * by, 0.03, samples, "order statistics") for name, by in tail.items()},
    }


def verdicts_of(cell: Cell, test: str, metrics: dict[str, Estimate]) -> tuple[Verdict, ...]:
    found = []
    concurrency = int(cell["iodepth"]) * int(cell["numjobs"])
    if metrics["p99.9"].n < 100_000:
        found.append(
            Verdict(
                VerdictName.TOO_FEW_SAMPLES,
                f"p99.9 rests on {metrics['p99.9'].n} samples; 100000 are needed",
                ("p99.9",),
            )
        )
    if test == "randwrite" and concurrency > 512:
        found.append(
            Verdict(
                VerdictName.COLLAPSED,
                f"at concurrency {concurrency} throughput is 46 % below the peak of this curve",
            )
        )
    if test == "read" and cell["block_size"] == 4096 and int(cell["numjobs"]) == 16:
        found.append(
            Verdict(
                VerdictName.GENERATOR_BOUND,
                "fio used 0.97 of a core per job; more than 0.8 is the generator's own limit",
            )
        )
    return tuple(found)


def cell_result(
    run: str, experiment: str, cell: dict[str, Any], noise: random.Random, ordinal: int
) -> CellResult:
    test = str(cell["rw"])
    metrics = metrics_of(cell, test, noise)
    concurrency = cell["iodepth"] * cell["numjobs"]
    bandwidth = metrics["bandwidth"].value
    return CellResult(
        run=run,
        experiment=experiment,
        cell=cell,
        direction=Direction.WRITE if "write" in test else Direction.READ,
        test=test,
        repeats=3,
        metrics=metrics,
        verdicts=verdicts_of(cell, test, metrics),
        concurrency=concurrency,
        effective_concurrency=concurrency * noise.uniform(0.98, 1.0),
        submission_mean_ns=2100.0,
        completion_mean_ns=metrics["mean"].value - 2100.0,
        operations=metrics["p99"].n,
        size_bytes=int(metrics["p99"].n * cell["block_size"]),
        resources={
            "cpu_busy_share": min(0.02 + bandwidth / 6e9, 1.0),
            "engine_cpu_cores": 0.05 * cell["numjobs"],
            "disk_read_bytes_per_second": bandwidth if "read" in test else 0.0,
            "disk_write_bytes_per_second": bandwidth if "write" in test else 0.0,
            "disk_utilisation": min(bandwidth / 3e9 + 0.2, 1.0),
            "context_switches_per_second": metrics["iops"].value * 1.1,
        },
        command=(
            f"fio --name=cell --directory=/mnt/data/leadline --rw={test} --bs={cell['block_size']} --iodepth={cell['iodepth']}"
            f" --numjobs={cell['numjobs']} --ioengine={cell['ioengine']} --direct=1 --size=4g --runtime=10 --time_based"
            f" --ramp_time=2 --group_reporting=0 --output-format=json+ --output=/mnt/runs/step-{ordinal:05}.json"
        ),
        ordinals=(ordinal, ordinal + 1, ordinal + 2),
    )


def saturation(cells: Sequence[CellResult], loads: Sequence[float]) -> Saturation:
    rates = [cell.metrics["bandwidth"].value for cell in cells]
    top = max(rates)
    knee = next(load for load, rate in zip(loads, rates, strict=True) if rate >= 0.9 * top)
    after = rates.index(top)
    fallen = [load for load, rate in zip(loads[after:], rates[after:], strict=True) if rate < 0.85 * top]
    return Saturation(
        peak=top,
        peak_load=loads[after],
        onset_load=top / rates[0] if loads[0] == 1 else None,
        knee_load=knee * 0.9,
        censored=after == len(rates) - 1,
        collapse_load=fallen[0] if fallen else None,
    )


def curves_of(cells: Sequence[CellResult], axis: str) -> list[Curve]:
    """Curves along `axis` with all else fixed, as the analysis makes them."""
    names = ("block_size", "ioengine", "iodepth" if axis == "numjobs" else "numjobs")
    groups: dict[tuple[Any, ...], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault((cell.experiment, cell.test, *(cell.cell[name] for name in names)), []).append(cell)
    curves = []
    for (experiment, test, *values), members in groups.items():
        members.sort(key=lambda one: one.cell[axis])
        loads = tuple(float(one.cell[axis]) for one in members)
        fixed = dict(zip(names, values, strict=True))
        curves.append(
            Curve(
                run=members[0].run,
                experiment=experiment,
                test=test,
                axis=axis,
                fixed=fixed,
                label=", ".join(str(value) for value in values),
                loads=loads,
                cells=tuple(members),
                saturation=saturation(members, loads) if len(members) > 2 else None,
            )
        )
    return curves


def grids_of(cells: Sequence[CellResult]) -> list[Grid]:
    groups: dict[tuple[Any, ...], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault((cell.experiment, cell.cell["block_size"], cell.cell["ioengine"]), []).append(cell)
    return [
        Grid(
            run=members[0].run,
            experiment=experiment,
            label=f"{block // 1024} KiB, {engine}",
            fixed={"block_size": block, "ioengine": engine},
            x_axis="iodepth",
            y_axis="numjobs",
            tests=tuple(dict.fromkeys(member.test for member in members)),
            cells=tuple(members),
        )
        for (experiment, block, engine), members in groups.items()
    ]


def comparisons_of(cells: Sequence[CellResult], axis: str) -> list[Comparison]:
    groups: dict[tuple[Any, ...], list[CellResult]] = {}
    for cell in cells:
        key = tuple(sorted((name, value) for name, value in cell.cell.items() if name != axis))
        groups.setdefault((cell.test, key), []).append(cell)
    return [
        Comparison(
            axis,
            left,
            right,
            {name: ratio(left, right, name) for name in ("bandwidth", "mean", "p99")},
            index % 2 == 0,
        )
        for index, members in enumerate(groups.values())
        for left, right in pairwise(members)
    ]


def ratio(left: CellResult, right: CellResult, name: str) -> Estimate:
    return estimate(right.metrics[name].value / left.metrics[name].value, 0.02, 3, "from both intervals")


def sample(
    label: str = "nvme-xfs",
    tests: Iterable[str] = TESTS,
    depths: Iterable[int] = DEPTHS,
    jobs: Iterable[int] = JOBS,
    blocks: Iterable[int] = BLOCKS,
    engines: Iterable[str] = ENGINES,
    seed: int = 7,
) -> Results:
    """A whole run: by default 4 tests x 8 iodepths x 5 numjobs x 2 block sizes x 2 engines = 640 cells, 2 failed."""
    noise = random.Random(seed)
    cells = []
    for ordinal, (test, block, engine, job, depth) in enumerate(
        product(tests, blocks, engines, jobs, depths)
    ):
        cell = {
            "rw": test,
            "block_size": block,
            "iodepth": depth,
            "numjobs": job,
            "ioengine": engine,
            "direct": True,
        }
        cells.append(cell_result(label, "local disk", cell, noise, ordinal * 3))
    return results_of(label, cells)


def results_of(label: str, cells: Sequence[CellResult]) -> Results:
    best = max(cells, key=lambda cell: cell.metrics["bandwidth"].value)
    curves = [curve for axis in ("iodepth", "numjobs") for curve in curves_of(cells, axis)]
    comparisons = [pair for axis in ("ioengine", "block_size") for pair in comparisons_of(cells, axis)]
    return Results(
        label=label,
        manifest=manifest(label),
        environment=ENVIRONMENT,
        reference=Reference(
            ceiling_iops=1_350_000.0,
            memory_copy_bytes_per_second=11.8e9,
            noise_floor=0.021,
            noise_repeats=5,
            limits={"read": 6.2e9, "randread": 3.77e9, "write": 2.3e9},
        ),
        cells=tuple(cells),
        failed=(
            FailedCell(
                label,
                "local disk",
                {**cells[0].cell, "iodepth": 256},
                0,
                "fio hung and was killed after 42 s",
                "fio --name=cell",
            ),
            FailedCell(
                label,
                "local disk",
                {**cells[0].cell, "iodepth": 512},
                0,
                "fio hung and was killed after 42 s",
                "fio --name=cell",
            ),
        ),
        curves=tuple(curves),
        grids=tuple(grids_of(cells)),
        comparisons=tuple(comparisons),
        answers=answers(best),
        doubts=doubts(cells),
        warnings=("fio: file hash not empty on exit (2 times)",),
        planned_cells=len(cells) + 3,
        missing_cells=1,
    )


def answers(best: CellResult) -> tuple[Answer, ...]:
    return (
        Answer(
            "How fast should it be?",
            "The campaign states 5.77 GiB/s for reads and 2.14 GiB/s for writes; memory copies at 11.0 GiB/s.",
        ),
        Answer(
            "How fast is it?",
            "Reads peak at 2.75 GiB/s (1 MiB, iodepth 128, 16 jobs), 48 % of the nominal limit; writes at 1.51 GiB/s, 70 %.",
            best,
        ),
        Answer(
            "Where does the difference go?",
            "At the read peak the disk was busy 100 % of the time and the CPU 51 %: the disk binds.",
        ),
        Answer("Is it right?", "Not measured: this run did not verify data.", measured=False),
        Answer("Best settings", "Throughput, read: 1 MiB, iodepth 64, 4 jobs, io_uring: 2.74 GiB/s.", best),
        Answer(
            "Best settings", "Throughput, randread: 1 MiB, iodepth 64, 2 jobs, io_uring: 2.07 GiB/s.", best
        ),
        Answer(
            "Best settings",
            "p99 under 1 ms, randread: 4 KiB, iodepth 16, 4 jobs, io_uring: 166 thousand IOPS.",
            best,
        ),
        Answer(
            "Best settings", "p99 under 10 ms, randread: 1 MiB, iodepth 4, 1 job, io_uring: 1.6 GiB/s.", best
        ),
    )


def doubts(cells: Sequence[CellResult]) -> tuple[Doubt, ...]:
    counts = {
        name: sum(any(one.name == name for one in cell.verdicts) for cell in cells) for name in VerdictName
    }
    known = [
        Doubt(
            "too few samples",
            "p99.9 rests on 8123 samples in the worst cell; 100000 are needed.",
            counts[VerdictName.TOO_FEW_SAMPLES],
        ),
        Doubt(
            "collapsed",
            "randwrite, 4 KiB: throughput is 46 % below the peak at concurrency 2048.",
            counts[VerdictName.COLLAPSED],
        ),
        Doubt(
            "generator-bound",
            "fio used 0.97 of a core per job: these are fio's own limit.",
            counts[VerdictName.GENERATOR_BOUND],
        ),
        Doubt("failed", "fio hung and was killed after 42 s.", 2),
        Doubt("missing", "The run was stopped: 1 planned cell was not measured.", 1),
    ]
    return tuple(doubt for doubt in known if doubt.cells)


def manifest(label: str) -> Manifest:
    return Manifest(
        name=label,
        source="campaign",
        directory="/mnt/data",
        created_utc="2026-03-04T09:12:44Z",
        leadline_version="0.1.0",
        seed=42,
        scale="1/16",
        scale_effects=("size: 64 GiB became 4 GiB",),
        argv=("leadline", "run", "campaign.toml", "--scale", "1/16"),
    )


def empty(label: str = "stopped at once") -> Results:
    """A run that measured nothing."""
    return Results(
        label,
        manifest(label),
        {},
        Reference(),
        (),
        (),
        (),
        (),
        (),
        (),
        (),
        planned_cells=12,
        missing_cells=12,
    )


def single() -> Results:
    """One cell, two metrics, no interval, no curve and no grid: an import of somebody's one fio result."""
    cell: dict[str, Any] = {
        "rw": "randread",
        "block_size": 4096,
        "iodepth": 32,
        "numjobs": 1,
        "ioengine": "libaio",
    }
    full = cell_result("one cell", "imported", cell, random.Random(1), 0)
    bare = CellResult(
        run="one cell",
        experiment="imported",
        cell=cell,
        direction=Direction.READ,
        test="randread",
        repeats=1,
        metrics={
            name: Estimate(full.metrics[name].value, None, None, 1, "stated by the source")
            for name in METRICS[:3]
        },
        concurrency=32,
    )
    return Results("one cell", manifest("one cell"), {}, Reference(), (bare,), (), (), (), (), (), ())


def many(count: int) -> Results:
    """At least `count` cells in the shape of the default run, more block sizes, depths and jobs."""
    blocks = (4096, 65536, 1048576, 4194304)
    per_depth = len(TESTS) * len(blocks) * len(ENGINES) * 20
    depths = range(1, -(-count // per_depth) + 1)
    return sample("many cells", depths=depths, jobs=range(1, 21), blocks=blocks)
