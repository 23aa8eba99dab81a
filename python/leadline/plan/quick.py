"""The best use of a few minutes: a campaign made from the time given and from what the directory can do.

Breadth first (four tests, a shallow and a deep queue, one and several jobs), then three rounds of everything, then
denser queues; what time is left goes into longer windows. Three rounds spread over the whole time are worth more than
one long window: they show how much this machine differs from itself, which a window cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

from leadline.errors import UserError
from leadline.plan.assumptions import ASSUMED_BYTES_PER_SECOND, STEP_OVERHEAD_SECONDS
from leadline.plan.baselines import BASELINE_SECONDS
from leadline.spec.campaign import Campaign, Experiment

LONGEST_WINDOW_SECONDS = 15.0
RAMP_SECONDS = 0.3
REPORT_SECONDS = 4.0
LARGEST_FILE_BYTES = 256 << 20
SMALLEST_FILE_BYTES = 16 << 20


@dataclass(frozen=True)
class DirectoryFacts:
    """What quick has to know of the directory and the machine."""

    free_bytes: int
    direct: bool
    """O_DIRECT is accepted."""
    ioengines: tuple[str, ...]
    """Usable ones, best first."""


@dataclass(frozen=True)
class _Shape:
    """How dense the grid is; ordered from poor to rich."""

    iodepths: tuple[int, ...]
    numjobs: tuple[int, ...]
    random_blocks: tuple[int, ...] = (4096,)
    sequential_blocks: tuple[int, ...] = (1 << 20,)
    repeats: int = 3
    noise_repeats: int = 5
    shortest_window_seconds: float = 1.3

    @property
    def steps(self) -> int:
        blocks = 2 * len(self.random_blocks) + 2 * len(self.sequential_blocks)
        return len(self.iodepths) * len(self.numjobs) * blocks * self.repeats

    def file_bytes(self, free_bytes: int) -> int:
        """Of each job's file, in whole MiB: all of them together take at most a quarter of what is free."""
        return min(LARGEST_FILE_BYTES, free_bytes // (4 * max(self.numjobs)) >> 20 << 20)


_SHAPES = (
    _Shape((1, 16), (1,), repeats=1, noise_repeats=2, shortest_window_seconds=1.0),
    _Shape((1, 8, 64), (1,), repeats=1),
    _Shape((1, 8, 64), (1,)),
    _Shape((1, 8, 64), (1, 4)),
    _Shape((1, 4, 16, 64), (1, 4)),
    _Shape((1, 4, 16, 64), (1, 2, 4)),
    _Shape((1, 2, 4, 8, 16, 32, 64, 128), (1, 2, 4)),
    _Shape((1, 2, 4, 8, 16, 32, 64, 128), (1, 2, 4), (4096, 65536), (65536, 1 << 20)),
    _Shape((1, 2, 4, 8, 16, 32, 64, 128), (1, 2, 4, 8, 16), (4096, 65536), (65536, 1 << 20)),
)


def quick_campaign(minutes: float, facts: DirectoryFacts, seed: int) -> Campaign:
    """Raises UserError when the time or the space is too little for anything believable."""
    if _SHAPES[0].file_bytes(facts.free_bytes) < SMALLEST_FILE_BYTES:
        needed = 4 * max(_SHAPES[0].numjobs) * SMALLEST_FILE_BYTES
        raise UserError(
            f"there are {facts.free_bytes >> 20} MiB free, too little to measure: quick needs at least {needed >> 20} MiB"
        )
    shape, window = _richest(minutes * 60, facts.free_bytes)
    common = {
        "ioengine": facts.ioengines[0], "direct": facts.direct, "size": shape.file_bytes(facts.free_bytes),
        "iodepth": list(shape.iodepths), "numjobs": list(shape.numjobs), "ramp": RAMP_SECONDS, "runtime": window,
        "repeats": shape.repeats, "cache": "as is" if facts.direct else "cold",
    }  # fmt: skip
    return Campaign(
        name="quick",
        description=f"a first sounding in {minutes:g} minutes",
        seed=seed,
        noise_repeats=shape.noise_repeats,
        experiment=(
            Experiment.model_validate(
                {
                    "name": "random",
                    "rw": ["randread", "randwrite"],
                    "block_size": list(shape.random_blocks),
                    **common,
                }
            ),
            Experiment.model_validate(
                {
                    "name": "sequential",
                    "rw": ["read", "write"],
                    "block_size": list(shape.sequential_blocks),
                    **common,
                }
            ),
        ),
    )


def _richest(seconds: float, free_bytes: int) -> tuple[_Shape, float]:
    """The densest grid whose windows are still long enough, and the window that fills the time."""
    for shape in reversed(_SHAPES):
        file_bytes = shape.file_bytes(free_bytes)
        layout = max(shape.numjobs) * file_bytes / ASSUMED_BYTES_PER_SECOND + STEP_OVERHEAD_SECONDS
        left = seconds - layout - REPORT_SECONDS - 2 * (BASELINE_SECONDS + STEP_OVERHEAD_SECONDS)
        window = left / (shape.steps + shape.noise_repeats) - STEP_OVERHEAD_SECONDS - RAMP_SECONDS
        if window >= shape.shortest_window_seconds and file_bytes >= SMALLEST_FILE_BYTES:
            return shape, int(min(window, LONGEST_WINDOW_SECONDS) * 10) / 10
    raise UserError(
        f"{seconds:.0f} s are too few for a believable figure; give quick at least half a minute with --minutes 0.5"
    )
