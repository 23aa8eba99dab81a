"""The command without the wait for its imports: a process that has made them becomes the command, anew for every call.

    python warm_start.py serve SOCKET        imports leadline, prints "ready" and serves until its input ends
    python -IS warm_start.py SOCKET WORDS    `leadline WORDS`, run there as if this process were it

The second gives its directory, environment, input and output away, so that whoever started it sees no difference; when it is
killed, so is the command. What a fresh interpreter would do otherwise (a module that another one has imported by chance) is
seen by the first call of every command, which conftest.py gives a fresh one.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn

LARGEST_REQUEST_BYTES = 1 << 18
STREAMS = (0, 1, 2)
NO_ANSWER = 70
ON_PAPER = "leadline.report.figures"
"""Imports what draws figures for print, which takes as long as all the rest; few commands do."""


def ask(path: str, words: list[str]) -> int:
    """Exit code of the command, which has run to its end."""
    here = os.getcwd()  # noqa: PTH109  (pathlib would take longer than all the rest)
    request = json.dumps({"words": words, "directory": here, "environment": dict(os.environ)})
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
        channel.connect(path)
        socket.send_fds(channel, [request.encode()], STREAMS)
        return int(channel.recv(16) or NO_ANSWER)


def serve(path: str) -> None:
    """Forks a process for every call, which watches over the command."""
    make_ready()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who watch
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            channel, _ = listening.accept()
            if not os.fork():
                listening.close()
                watch_over(channel)
            channel.close()


def make_ready() -> None:
    """Imports everything, as `python -c` would find it and so not from the folder of the tests; prepares what every report holds."""
    sys.path[0] = ""
    import pkgutil
    from importlib import import_module

    import leadline

    for module in pkgutil.walk_packages(leadline.__path__, "leadline."):
        if not module.name.startswith(ON_PAPER):
            import_module(module.name)
    from leadline.report.page import library, templates

    templates().get_template("page.html.j2")
    library()


def watch_over(channel: socket.socket) -> NoReturn:
    """Tells the caller how the command ended, and ends it when the caller is gone."""
    for number in (signal.SIGCHLD, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL if number is signal.SIGCHLD else signal.default_int_handler)
    message, streams, _, _ = socket.recv_fds(channel, LARGEST_REQUEST_BYTES, len(STREAMS))
    child = os.fork()
    if not child:
        channel.close()
        become(json.loads(message), streams)
    for stream in (*streams, *STREAMS):
        os.close(stream)
    ended = os.pidfd_open(child)
    if channel in select.select([channel, ended], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    channel.send(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """The command, in what its caller has given away."""
    import random
    import tempfile

    for stream, number in zip(streams, STREAMS, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["-c", *request["words"]]
    random.seed()
    tempfile.tempdir = None
    from leadline.cli.main import main

    code = ended_with(main)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def ended_with(main: Callable[[], object]) -> int:
    """Exit code of a program, with the last words that the interpreter would say for it."""
    import atexit
    import traceback

    code: object = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    atexit._run_exitfuncs()
    return code


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
