"""A conformance run as a command of its own: `python -m leadline.run.posix.worker FILE`, started by the engine of campaigns.

FILE says what is wished; the result is written where it says. What is told goes to the error output, and so does the sentence of a
run that cannot be. Exit code 0: the suite has run, however it ended; 2: it could not be run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.run.posix.sounding import Wishes, sound
from leadline.store.conformance import Case, write_conformance


def main(path: Path) -> int:
    """Runs the suite."""
    document = json.loads(path.read_text(encoding="utf-8"))
    try:
        result = sound(wishes_of(document), _tell, _progress)
        facts = {**result.facts, **document["facts"]}
        write_conformance(replace(result, facts=facts), Path(document["result"]))
    except UserError as error:
        _tell(str(error))
        return 2
    return 0


def wishes_of(document: Mapping[str, Any]) -> Wishes:
    """From the engine's file."""
    checkout = document["checkout"]
    return Wishes(
        path=Path(document["path"]),
        suite=document["suite"],
        checkout=Path(checkout) if checkout else None,
        remount=document["remount"],
        label=document["label"],
        case_seconds=document["case_seconds"],
    )


def _tell(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _progress(case: Case, number: int, total: int) -> None:
    """A line a case, for whoever shows how far it is."""
    sys.stdout.write(f"case {number} {total}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
