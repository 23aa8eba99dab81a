"""A foreign tool on two hosts, as a few lines of shell for either side: nothing but sh(1) is needed there.

The server takes the first free port, starts the tool, waits until it listens, and tells the port at barrier 1; the client then starts
its side with that port. At barrier 2 the client is done, and the server ends its tool by its process id. A side that fails leaves
the barrier, and the other is ended (hosts/answering.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from leadline.run.engines.network_tool import PORT, Exchange, NetworkTool
from leadline.run.seams import Invocation

ROLE = "LEADLINE_NETWORK_ROLE"
SCRIPT, OUTPUT, ERRORS = "pair.sh", "tool.out", "tool.err"
FIRST_PORT, LAST_PORT = 23400, 23899
"""Below the ports that kernels give to clients (ip_local_port_range begins at 32768)."""

_COMMON = """\
export LC_ALL=C
command -v {program} >/dev/null 2>&1 || {{
  echo "leadline: {program} is not installed there; install it (Debian: apt-get install {package}), or take another tool" >&2
  exit 127
}}
count() {{
  awk '$1 == "Tcp:" {{ if (column) print $column; for (i = 2; i <= NF; i++) if ($i == "RetransSegs") column = i }}' /proc/net/snmp
}}
"""

_SERVER = """\
listens() {{ cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$(printf %04X "$1") [0-9A-F]*:0000 0A"; }}
port={first}
while listens "$port"; do
  port=$((port + 1))
  [ "$port" -le {last} ] || {{ echo "leadline: ports {first} to {last} are all taken there; end what listens on them" >&2; exit 1; }}
done
{command} >tool.out 2>tool.err </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null' EXIT
until listens "$port"; do
  kill -0 "$server" 2>/dev/null || {{ cat tool.out tool.err >&2; exit 1; }}
  sleep 0.02
done
echo "barrier 1 $port"
read -r word number agreed || exit 1
echo "barrier 2 0"
read -r word number agreed || exit 1
exit 0
"""

_CLIENT = """\
echo "barrier 1 0"
read -r word number port || exit 1
count >again.before
{command} >tool.out 2>tool.err </dev/null
code=$?
count >again.after
echo "barrier 2 0"
read -r word number agreed
exit "$code"
"""


def invocation_of_pair(
    tool: NetworkTool, exchange: Exchange, role: str, scratch: Path, timeout_seconds: float
) -> Invocation:
    """Writes the script of this side and calls it."""
    serves = role == "server"
    argv = tool.server(exchange) if serves else tool.client(exchange)
    text = (_COMMON + (_SERVER if serves else _CLIENT)).format(
        program=shlex.quote(tool.program(exchange)), package=tool.package,
        command=shell_command(argv), first=FIRST_PORT, last=LAST_PORT,
    )  # fmt: skip
    (scratch / SCRIPT).write_text(text, encoding="utf-8")
    return Invocation(
        ("sh", str(scratch / SCRIPT)), scratch, scratch, timeout_seconds,
        by_hand=argv, environment=dict(tool.environment),
    )  # fmt: skip


def shell_command(argv: Sequence[str]) -> str:
    """Every word quoted but the port, which the shell knows."""
    return " ".join('"$port"' if word == PORT else shlex.quote(word) for word in argv)


def printed(scratch: Path) -> tuple[str, str]:
    """What the tool wrote to its output and to its errors; empty where it never started."""
    output, errors = (_text(scratch / name) for name in (OUTPUT, ERRORS))
    return output, errors


def sent_again(scratch: Path) -> int | None:
    """TCP segments that the host of the client sent again meanwhile, over all its connections; None where it does not count."""
    counts = [_text(scratch / name).strip() for name in ("again.before", "again.after")]
    if not all(count.isdecimal() for count in counts):
        return None
    return max(0, int(counts[1]) - int(counts[0]))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
