"""Runs every benchmark, one after the other, and can write what they printed into README.md."""

from __future__ import annotations

import datetime
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import describe_machine, option_parser

HERE = Path(__file__).parent
BENCHMARKS = (
    "start_up", "merged_percentiles", "report_speed", "fidelity", "overhead", "metadata_against_bare_loop", "metadata_depth",
    "checker_speed", "objbench_against_juicefs",
)  # fmt: skip
PLACES_OF_THEIR_OWN = {
    "metadata_against_bare_loop",
    "metadata_depth",
    "checker_speed",
    "objbench_against_juicefs",
}
"""They make what they measure, and take no --directory."""
QUICK = {
    "start_up": ["--repeats", "3"],
    "merged_percentiles": ["--repeats", "1", "--runtime", "1"],
    "report_speed": ["--repeats", "1"],
    "fidelity": ["--repeats", "3", "--runtime", "0.5"],
    "overhead": ["--rounds", "1", "--runtime", "1"],
    "metadata_against_bare_loop": ["--repeats", "1", "--files", "1000"],
    "metadata_depth": ["--repeats", "1", "--files", "100", "--far-files", "20"],
    "checker_speed": ["--repeats", "1"],
    "objbench_against_juicefs": ["--repeats", "1", "--small-objects", "200"],
}
"""To see that they run; not figures to show."""
RECORD_HEADING = "## What was printed"


@dataclass(frozen=True)
class Outcome:
    """One benchmark, run."""

    name: str
    printed: str
    seconds: float
    exit_code: int


def run_benchmark(name: str, arguments: Sequence[str]) -> Outcome:
    """As a process of its own; what it prints is shown and kept, its progress and complaints (stderr) are only shown."""
    begin = time.monotonic()
    lines = []
    argv = [sys.executable, "-u", str(HERE / f"{name}.py"), *arguments]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    return Outcome(name, "".join(lines).strip("\n"), time.monotonic() - begin, process.returncode)


def section_of(outcome: Outcome) -> str:
    """What README.md keeps of one."""
    return f"### {outcome.name}.py ({outcome.seconds:.0f} s, exit code {outcome.exit_code})\n\n```text\n{outcome.printed}\n```\n"


def record(heading: str, outcomes: Iterable[Outcome], readme: Path) -> None:
    """Replaces everything from the heading on, so that README.md never holds two ages of figures."""
    kept = readme.read_text(encoding="utf-8").partition(RECORD_HEADING)[0]
    sections = "\n".join(section_of(outcome) for outcome in outcomes)
    readme.write_text(f"{kept}{RECORD_HEADING}\n\n{heading}\n\n{sections}", encoding="utf-8")


def options_parser() -> ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"some of {', '.join(BENCHMARKS)} (default: all)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny settings: only to see that everything runs"
    )
    parser.add_argument("--record", action="store_true", help="write what is printed into README.md")
    parser.add_argument("--bench-fio", type=Path, help="folder of `pip install --target FOLDER fio-plot`")
    return parser


def main() -> int:
    parser = options_parser()
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown or (options.record and (options.quick or options.names)):
        parser.error(
            f"no benchmark {', '.join(unknown)}"
            if unknown
            else "--record goes with a full run of all benchmarks"
        )
    heading = f"{datetime.date.today().isoformat()}, {describe_machine(options.directory)}"
    print(heading)
    outcomes = []
    for name in options.names or BENCHMARKS:
        print(f"\n=== {name}", flush=True)
        where = [] if name in PLACES_OF_THEIR_OWN else ["--directory", str(options.directory)]
        arguments = [*where, *(QUICK[name] if options.quick else [])]
        if name == "overhead" and options.bench_fio:
            arguments += ["--bench-fio", str(options.bench_fio)]
        outcomes.append(run_benchmark(name, arguments))
    if options.record:
        record(heading, outcomes, HERE / "README.md")
    failed = [outcome.name for outcome in outcomes if outcome.exit_code]
    print(
        f"\n{len(outcomes) - len(failed)} of {len(outcomes)} benchmarks hold{': not ' + ', '.join(failed) if failed else ''}"
    )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
