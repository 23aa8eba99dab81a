"""What fio's own servers are told and what they bring home: command lines become job files, one result becomes one a client.

Two things are different under `--client` (fio 3.33): names of files get the client's address in front, so that no layout is found again
(`unique_filename=0` keeps them), and times of logs count from each server's own start, which nobody tells (`log_unix_epoch=1` does).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.formats.fio_documents import last_document
from leadline.formats.fio_json import ALL_CLIENTS
from leadline.run.seams import Invocation

RESULT = "fio.json"
OF_THE_COMMAND = frozenset({"output", "output-format", "eta", "eta-interval"})
"""Said to the fio that controls, not to those that work."""


def job_file(invocation: Invocation) -> str:
    """The command line of one client as a job file; raises UserError for what is no command line of a cell."""
    words = invocation.argv[1:]
    if Path(invocation.argv[0]).name != "fio" or not all(word.startswith("--") for word in words):
        raise UserError(
            'fio\'s own servers perform only the cells of fio experiments, not job files or other engines; set load = "together"'
        )
    pairs = [word.removeprefix("--").partition("=") for word in words]
    lines: list[str] = []
    for name, sign, value in pairs:
        if name == "name":  # opens a section, as on the command line
            lines += [f"[{value}]", *([] if lines else ["unique_filename=0", "log_unix_epoch=1"])]
        elif name not in OF_THE_COMMAND:
            lines.append(f"{name}={value}" if sign else name)
    return "\n".join([*lines, ""])


def split_result(text: str, places: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    """fio's one result -> one a client, by name, in the form it has without servers; a client that is not in it is left out.

    Entries are told apart by address and port. The sum over all clients is never used: it has no percentiles before fio 3.39.
    """
    document, _ = last_document(text)
    entries: list[dict[str, Any]] = [
        entry
        for entry in dict[str, Any](document).get("client_stats", [])
        if entry.get("jobname") != ALL_CLIENTS
    ]
    head = {
        key: document[key] for key in ("fio version", "timestamp", "timestamp_ms", "time") if key in document
    }
    found = {}
    for name, place in places.items():
        own = [entry for entry in entries if (entry.get("hostname"), entry.get("port")) == place]
        if own:
            jobs = [{key: entry[key] for key in entry if key not in ("hostname", "port")} for entry in own]
            found[name] = json.dumps({**head, "jobs": jobs, "disk_util": []})
    return found


@dataclass(frozen=True)
class Window:
    """From the start of a client's load to its last log line, on this machine's monotonic clock."""

    started_ns: int
    ended_ns: int


def bring_logs_home(invocation: Invocation, address: str) -> Window | None:
    """Gives a client's logs the names and the times they have without servers; when it worked, where its logs say so.

    Its clock counts: in a namespace it is ours, elsewhere it is off by what `check_host` bounds.
    """
    paths = sorted(invocation.scratch.glob(f"*.log.{address}"))
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in paths}
    times = [_times_ms(text) for text in texts.values()]
    before_first_ms = _option(invocation.argv, "log_avg_msec") + round(
        _option(invocation.argv, "ramp_time") / 1000
    )
    start_ms = min((each[0] for each in times if each), default=0) - before_first_ms
    for path, text in texts.items():
        shifted = re.sub(r"^(\d+)", lambda found: str(int(found[1]) - start_ms), text, flags=re.MULTILINE)
        path.with_name(path.name.removesuffix(f".{address}")).write_text(shifted, encoding="utf-8")
        path.unlink()
    if not any(times):
        return None
    to_monotonic_ns = time.monotonic_ns() - time.time_ns()
    end_ms = max(each[-1] for each in times if each)
    return Window(start_ms * 1_000_000 + to_monotonic_ns, end_ms * 1_000_000 + to_monotonic_ns)


def is_listening(table: str, address: str, port: int) -> bool:
    """Whether a line of /proc/net/tcp (proc_net_tcp in the kernel's documentation) is a server on that address and port."""
    wanted = {f"{_hexadecimal(each)}:{port:04X}" for each in (address, "0.0.0.0")}
    lines = [line.split() for line in table.splitlines()[1:]]
    return any(len(line) > 3 and line[1] in wanted and line[3] == "0A" for line in lines)


def _hexadecimal(address: str) -> str:
    """As the kernel of a little-endian machine prints it."""
    return "".join(f"{int(part):02X}" for part in reversed(address.split(".")))


def _times_ms(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"^(\d+),", text, flags=re.MULTILINE)]


def _option(argv: Sequence[str], name: str) -> int:
    """Its number, units left off (ramp_time is told in us); 0 when it is not given."""
    for word in argv:
        found = re.fullmatch(rf"--{name}=(\d+)\w*", word)
        if found:
            return int(found[1])
    return 0
