"""`leadline --help` answers within 0.3 s, whole process, beside a Python that does nothing.

Whoever types --help waits for the interpreter in any case; the second figure says how much of the wait is ours.
"""

from __future__ import annotations

import sys

from measuring import LEADLINE, Claim, Spread, conclude, option_parser, ratios, seconds_of_process, take_turns

BOUND_SECONDS = 0.3


def main() -> int:
    parser = option_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    sides = {
        "leadline --help": lambda: seconds_of_process([LEADLINE, "--help"]),
        "python -c pass": lambda: seconds_of_process([sys.executable, "-c", "pass"]),
    }
    take_turns(sides, 1)  # compiles modules that were edited since they last ran
    taken = take_turns(sides, repeats)
    for name, seconds in taken.items():
        print(f"{name:<16} {Spread(tuple(seconds)).shown(' ms', 1e3)}")
    print(f"{'ratio':<16} {ratios(*taken.values()).shown(' x')}")
    answer = Spread(tuple(taken["leadline --help"]))
    return conclude(
        "Start-up",
        [
            Claim(
                f"leadline --help takes at most {BOUND_SECONDS} s",
                f"{answer.median:.3f} s in the median of {repeats} processes",
                answer.median <= BOUND_SECONDS,
            )
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
