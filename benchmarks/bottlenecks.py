"""Is what binds named right? A run of campaigns/bottlenecks.toml as two confusion matrices: by the counters, by the model beforehand.

    leadline run bottlenecks --output RUN          (root; leave the machine alone meanwhile)
    .venv/bin/python benchmarks/bottlenecks.py RUN          prints Markdown; with --record writes docs/results/bottlenecks.md

Nothing is measured here. A scenario whose throttle did not bite is listed and counted nowhere.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from measuring import Claim, conclude

from leadline.analyse.bottleneck import Bound
from leadline.analyse.confusion import Scenario, matrix, right_share, scenarios
from leadline.analyse.wording import percent
from leadline.cli.analysing import analysed

GOAL, FEWEST = 0.9, 20
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "bottlenecks.md"
Found = Sequence[tuple[Bound, Bound | None]]


def main() -> int:
    arguments = _parser().parse_args()
    results = analysed(arguments.run)
    every = scenarios(results)
    judged = [each for each in every if each.bites]
    text = (
        "\n".join([*_head(results.manifest.created_utc, len(judged), arguments.note), *_page(every, judged)])
        + "\n"
    )
    print(text)
    if arguments.record:
        RESULTS.write_text(text, encoding="utf-8")
    return conclude("bottlenecks", _claims(judged))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="a run of campaigns/bottlenecks.toml")
    parser.add_argument(
        "--note", default="", help="what has to be known of the run, e.g. what else ran meanwhile"
    )
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name}")
    return parser


def _claims(judged: Sequence[Scenario]) -> list[Claim]:
    enough = len(judged) >= FEWEST
    return [
        Claim(
            f"right by the {who} in >= {percent(GOAL)} of at least {FEWEST} scenarios",
            f"{percent(share)} of {len(judged)}" if share is not None else "no scenario",
            share is not None and share >= GOAL and enough,
        )
        for who, found in _both(judged).items()
        for share in [right_share(found)]
    ]


def _both(judged: Sequence[Scenario]) -> dict[str, Found]:
    return {
        "counters": [(each.truth, each.by_counters) for each in judged],
        "model, before it was measured": [(each.truth, each.by_model) for each in judged],
    }


def _head(when: str, judged: int, note: str) -> Iterator[str]:
    yield "# What binds: named against the truth"
    yield ""
    yield "<!-- Written by `benchmarks/bottlenecks.py RUN --record`. -->"
    yield ""
    yield f"`leadline run bottlenecks`, {when}, {judged} scenarios in which one thing alone was held back and the throttle did bite."
    yield "Filesystems of the lab on loop devices of one machine (docs/guide/lab.md); one run a scenario. Random reads, writes of 64 KiB;"
    yield "a lone job reads each byte once; writes are synchronous, and where disks are slow they are on them before they are answered"
    yield "(O_SYNC on the mounts, NFS_Commit at Ganesha, MooseFS's disks mounted with `sync`)."
    yield "Counters know what each part is held to, as one knows the speed of a NIC. The model knows that, one local disk, and what a"
    yield "request costs the processors in one cell that nothing held back. Right means the part; how far off the figure was stands last."
    yield "What an earlier draft of the scenarios got wrong: [concepts](../concepts/prediction.md#named-right-and-named-wrong)."
    if note:
        yield f"\n{note}"


def _page(every: Sequence[Scenario], judged: Sequence[Scenario]) -> Iterator[str]:
    for who, found in _both(judged).items():
        share = right_share(found)
        yield f"\n## By the {who}: {percent(share) if share is not None else 'nothing'} right\n"
        yield from _matrix(found)
    yield "\n## How far off the model's figures were\n"
    yield from _off(judged)
    yield "\n## Every scenario\n"
    yield from _list(every)


def _off(judged: Sequence[Scenario]) -> Iterator[str]:
    yield "| held back | scenarios | median of abs(predicted / actual - 1) | at worst, times |"
    yield "|---|---|---|---|"
    for truth in [*Bound, None]:
        ratios = [each.over_actual for each in judged if each.over_actual and truth in (each.truth, None)]
        if ratios:
            off = median(abs(ratio - 1) for ratio in ratios)
            worst = max(max(ratio, 1 / ratio) for ratio in ratios)
            yield f"| {truth or 'all'} | {len(ratios)} | {percent(off)} | {worst:.1f} |"


def _matrix(found: Found) -> Iterator[str]:
    rows = matrix(found)
    columns: list[Bound | None] = [*Bound, *([None] if any(None in row for row in rows.values()) else [])]
    yield "| held back | " + " | ".join(str(name or "nothing named") for name in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for truth, counts in rows.items():
        figures = (f"**{counts[name]}**" if name is truth else str(counts[name]) for name in columns)
        yield f"| {truth} | " + " | ".join(figures) + " |"


def _list(every: Sequence[Scenario]) -> Iterator[str]:
    yield "| scenario | test | held back | of the free rate | counters | model, beforehand | predicted / actual |"
    yield "|---|---|---|---|---|---|---|"
    for each in every:
        share = percent(each.share_of_free) if each.share_of_free is not None else "–"
        bites = "" if each.bites else ", did not bite: not counted"
        use = each.counters.use if each.counters else None
        counted = f"{each.by_counters} ({percent(use.share)} of {use.part})" if use else "–"
        ratio = f"{each.over_actual:.2f}" if each.over_actual else "–"
        wrong = ["", " ✗"]
        yield (
            f"| {each.name} | {each.test} | {each.truth} | {share}{bites} | {counted}{wrong[each.by_counters is not each.truth]} "
            f"| {each.model}{wrong[each.by_model is not each.truth]} | {ratio} |"
        )


if __name__ == "__main__":
    sys.exit(main())
