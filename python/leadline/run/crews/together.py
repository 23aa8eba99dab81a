"""The usual crew: one command a client, all let go at once.

Everything that takes time (connections, supervisors, control groups) comes before the gate. A client that does not get there keeps
the others from starting, and says why: a measurement by fewer clients than asked for would be one of something else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leadline.errors import UserError
from leadline.run.crews.barriers import Barriers
from leadline.run.seams import Client, Completed, Invocation

ALL_THERE_WITHIN_SECONDS = 60.0
"""The last one at the gate may be this much later than the first."""


class _Gate:
    """threading.Barrier, as the seam `Gate` names it. Only the clients' threads wait at it, so a signal handler may abort it."""

    def __init__(self, clients: int) -> None:
        self._barrier = threading.Barrier(clients, timeout=ALL_THERE_WITHIN_SECONDS)
        self._further = Barriers(clients)

    def wait(self) -> None:
        self._barrier.wait()

    def abort(self) -> None:
        self._barrier.abort()
        self._further.leave()

    def meet(self, number: int, greatest: int) -> int:
        return self._further.meet(number, greatest)

    def leave(self) -> None:
        self._further.leave()


def _within_ns(client: Client) -> int:
    """How exactly a start is known: the word `go` has to travel to hosts that are reached by a network."""
    within_ns: int = getattr(client.host, "start_known_to_within_ns", 0)
    return within_ns


class Together:
    """Clients on any hosts, a thread for each."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self._clients = {client.name: client for client in clients}
        self._gate: _Gate | None = None
        self._completed: dict[str, Completed] = {}
        self._faults: list[BaseException] = []

    def run(
        self,
        invocations: Mapping[str, Invocation],
        on_start: Callable[[int], None],
        on_line: Callable[[str], None],
    ) -> Mapping[str, Completed]:
        """One invocation a client, by its name, let go together. Lines are told one at a time, whichever client they come from."""
        self._gate = _Gate(len(invocations))
        self._completed, self._faults = {}, []
        told = threading.Lock()

        def tell(line: str) -> None:
            with told:
                on_line(line)

        threads = [
            threading.Thread(
                target=self._run_one, args=(name, invocation, on_start, tell), name=f"client {name}"
            )
            for name, invocation in invocations.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._gate = None
        if self._faults:
            raise self._faults[0]
        return {name: self._completed[name] for name in invocations}

    def interrupt(self) -> None:
        """All clients, those that still wait at the gate included."""
        gate = self._gate
        for client in self._clients.values():
            client.host.interrupt()
        if gate is not None:
            gate.abort()

    def facts(self) -> dict[str, Any]:
        """Of the last run: how far apart the clients started and ended."""
        ran = [each for each in self._completed.values() if each.started_ns]
        if len(ran) < 2:
            return {}
        starts, ends = [each.started_ns for each in ran], [each.ended_ns for each in ran]
        return {
            "release_skew_ns": max(starts) - min(starts),
            "starts_known_to_within_ns": max(_within_ns(each) for each in self._clients.values()),
            "end_spread_ns": max(ends) - min(ends),
            "common_window_ns": max(0, min(ends) - max(starts)),
        }

    def _run_one(
        self,
        name: str,
        invocation: Invocation,
        on_start: Callable[[int], None],
        tell: Callable[[str], None],
    ) -> None:
        gate = self._gate
        assert gate is not None
        try:
            self._completed[name] = self._clients[name].host.run(invocation, on_start, tell, gate)
            gate.leave()
        except UserError as error:
            gate.abort()
            self._completed[name] = Completed(None, "", "", 0, reason=str(error))
        except (
            BaseException
        ) as error:  # a mistake of ours: in a thread it would vanish, and the others would wait
            gate.abort()
            self._faults.append(error)
