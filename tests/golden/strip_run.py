"""`python strip_run.py RUN GOLDEN`: copies a stored run without what names the machine it ran on.

For the first golden run of a new store format; an existing one is never made anew. Figures are left as they are.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
import sys
from pathlib import Path

COLUMNS = ("command", "reason", "warnings", "facts")


def strip(run: Path, golden: Path) -> None:
    """Leaves out the report and the lock, and replaces the paths of data, results and programs."""
    shutil.copytree(run, golden, ignore=shutil.ignore_patterns("report.html", "lock"))
    directory = json.loads((run / "manifest.json").read_text())["directory"]

    def clean(text: str) -> str:
        text = text.replace(directory, "/data/work")
        text = re.sub(re.escape(str(run.resolve())) + r"/scratch-\w+", "/results/scratch", text)
        text = text.replace(str(run.resolve()), "/results")
        return re.sub(r'[^\s"=]*/(leadline-engine|leadline)(?=["\s])', r"/usr/local/bin/\1", text)

    for name in ("manifest.json", "environment.json"):
        (golden / name).write_text(clean((golden / name).read_text()))
    for path in (golden / "raw").glob("*.gz"):
        text = gzip.decompress(path.read_bytes()).decode()
        path.write_bytes(gzip.compress(clean(text).encode(), 9, mtime=0))
    connection = sqlite3.connect(golden / "results.sqlite")
    for ordinal, *texts in connection.execute(f"SELECT ordinal, {', '.join(COLUMNS)} FROM step").fetchall():
        for column, text in zip(COLUMNS, texts, strict=True):
            connection.execute(
                f"UPDATE step SET {column} = ? WHERE ordinal = ?", (text and clean(text), ordinal)
            )
    connection.commit()
    connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    strip(Path(sys.argv[1]), Path(sys.argv[2]))
