"""P(stale | delay) as coordinates: the probes, the curve that fits them, its band and the cache time that it gives away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analyse import wording
from leadline.analyse.staleness import Staleness, Timeout
from leadline.report.figures.frame import Frame, Tick
from leadline.store.histories import DelaySample

WIDTH, HEIGHT = 430, 210
LEFT, RIGHT, TOP, BOTTOM = 48, 22, 18, 40
TICKS_AT_MOST = 6


@dataclass(frozen=True)
class DelayFigure(Frame):
    """Everything that is drawn, in pixels of a view of WIDTH x HEIGHT."""

    title: str
    path: str
    band: str
    stale_marks: tuple[float, ...]
    fresh_marks: tuple[float, ...]
    cache_x: float | None
    """Where the cache forgets what it learned right at the change."""
    sentence: str


def delay_figure(curve: Staleness, samples: Sequence[DelaySample]) -> DelayFigure:
    """One mechanism."""
    longest = curve.longest_probed_seconds or 1.0

    def across(seconds: float) -> float:
        return round(LEFT + min(seconds / longest, 1.0) * (WIDTH - LEFT - RIGHT), 1)

    def down(share: float) -> float:
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)

    def points(shares: Sequence[float]) -> list[str]:
        return [f"{across(at)} {down(share)}" for at, share in zip(curve.delays_seconds, shares, strict=True)]

    own = [each for each in samples if each.mechanism == curve.mechanism]
    outline = [*points(curve.band_high), *reversed(points(curve.band_low))]
    return DelayFigure(
        WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM,
        title=curve.mechanism,
        path=f"M {' L '.join(points(curve.probability))}",
        band=f"M {' L '.join(outline)} Z",
        stale_marks=tuple(across(each.delay_ns / 1e9) for each in own if each.stale),
        fresh_marks=tuple(across(each.delay_ns / 1e9) for each in own if not each.stale),
        x_ticks=tuple(Tick(across(at), _time(at)) for at in _round_times(longest)),
        y_ticks=tuple(Tick(down(share), wording.percent(share)) for share in (0, 0.5, 1)),
        cache_x=across(curve.cache_time.seconds) if curve.cache_time else None,
        sentence=sentence(curve),
    )  # fmt: skip


def _round_times(longest: float) -> list[float]:
    """0, 0.5 s, 1 s ..."""
    widths = (step * 10.0**power for power in range(-4, 5) for step in (1, 2, 5))
    width = next(each for each in widths if longest / each < TICKS_AT_MOST)
    return [width * number for number in range(int(longest / width) + 1)]


def _time(seconds: float) -> str:
    return wording.latency(seconds * 1e9) if seconds else "0"


def sentence(curve: Staleness) -> str:
    """What the figure shows, in words.

    "61 of 120 looks were stale: nearly all until 0.912 s [...], none from 1.02 s [0.98 s, 1.10 s] on. Counted from the look that filled
    it, the cache keeps for 1.00 s [0.97 s, 1.03 s].".
    """
    told = f"{curve.stale} of {curve.samples} looks were stale"
    is_step = curve.knee is not None and curve.foot is not None and curve.knee.seconds == curve.foot.seconds
    ends = [f"nearly all until {_timeout(curve.knee)}"] if curve.knee and not is_step else []
    if curve.foot:
        ends.append(f"none from {_timeout(curve.foot)} on")
    elif curve.longest_stale_seconds is not None:
        ends.append(f"the last after {_time(curve.longest_stale_seconds)}")
    kept = (
        f" Counted from the look that filled it, the cache keeps for {_timeout(curve.cache_time)}."
        if curve.cache_time
        else ""
    )
    return f"{told}{': ' if ends else ''}{', '.join(ends)}.{kept}"


def _timeout(found: Timeout) -> str:
    return f"{_time(found.seconds)} [{_time(found.low_seconds)}, {_time(found.high_seconds)}]"
