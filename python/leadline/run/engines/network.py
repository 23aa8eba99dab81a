"""The network between two hosts: the first client asks, the second serves, each by the tool that the cell names.

The two meet at the barrier of their crew (hosts/answering.py), where the server tells its port: a server is never asked before it
listens, and no port is ever taken twice. Foreign tools do that through a few lines of shell (network_pair.py), leadline's own
workload by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.errors import UserError
from leadline.formats.fields import FormatError
from leadline.formats.network_figures import Flow, NetworkFigures
from leadline.plan.steps import Step
from leadline.run.engines import network_leadline
from leadline.run.engines.network_pair import ROLE, invocation_of_pair, printed, sent_again
from leadline.run.engines.network_tool import Exchange, NetworkTool
from leadline.run.engines.network_tools import FOREIGN
from leadline.run.seams import Completed, Invocation, Now, Outcome, Place
from leadline.store.records import Direction, JobUse, Latency, Measurement

ASKING, SERVING = "client", "server"


class NetworkEngine:
    """One message size, one test, one tool."""

    def check(self, steps: Sequence[Step]) -> None:
        """Whether a tool is on both hosts is found out there."""

    def prepare(self, step: Step, place: Place, scratch: Path) -> Invocation:
        """The side of this client; raises UserError where the clients are on no network."""
        if len(place.addresses) < 2:
            raise UserError(
                f'experiment "{step.experiment}" measures a network, and the clients are on none; take a target with hosts, or [hosts]'
            )
        exchange = exchange_of(step, place.addresses[1])
        role = ASKING if place.number == 0 else SERVING
        tool = FOREIGN.get(str(step.cell["tool"]))
        invocation = (
            network_leadline.invocation_of_side(exchange, role, scratch, step.timeout_seconds)
            if tool is None
            else invocation_of_pair(tool, exchange, role, scratch, step.timeout_seconds)
        )
        return replace(invocation, takes_answers=True, environment={**invocation.environment, ROLE: role})

    def collect(self, step: Step, invocation: Invocation, completed: Completed) -> Outcome:
        """Of leadline's own workload each side tells what it received; of another tool the one that asked tells everything."""
        role = invocation.environment[ROLE]
        tool = FOREIGN.get(str(step.cell["tool"]))
        exchange = exchange_of(step, "")
        if tool is None:
            return network_leadline.outcome_of(exchange, role, completed)
        return _of_foreign(tool, exchange, role, invocation, completed)

    def now(self, line: str) -> Now | None:
        """They print their result only."""
        return None


def exchange_of(step: Step, address: str) -> Exchange:
    """What a cell asks for."""
    cell = step.cell
    return Exchange(
        str(cell["test"]), int(cell["message_size"]), float(cell["ramp"]), float(cell["runtime"]), address
    )


def _of_foreign(
    tool: NetworkTool, exchange: Exchange, role: str, invocation: Invocation, completed: Completed
) -> Outcome:
    output, errors = printed(invocation.scratch)
    raw = {f"{tool.name}.txt": output.encode(), f"{tool.name}.stderr": errors.encode()}
    if completed.exit_code != 0:
        said = [
            *completed.stderr.strip().splitlines(),
            *errors.strip().splitlines(),
            *output.strip().splitlines(),
        ]
        ended = f"{tool.name} ended with exit code {completed.exit_code}: {_why(said)}"
        missing = next((line for line in said if line.startswith("leadline: ")), None)
        return Outcome(reason=missing.removeprefix("leadline: ") if missing else ended, raw=raw)
    if role == SERVING:
        return Outcome(jobs=_use(completed), raw=raw, facts={"retransmitted_segments": 0})
    try:
        figures = tool.read(exchange, output)
    except FormatError as error:
        return Outcome(reason=str(error), raw=raw)
    again = figures.retransmitted_segments
    facts: dict[str, Any] = {
        "retransmitted_segments": sent_again(invocation.scratch) if again is None else again,
        "retransmits_of": "every connection of the host that asked" if again is None else "the connection",
    }
    return Outcome(measurements=tuple(measurements_of(figures)), jobs=_use(completed), raw=raw, facts=facts)


def _why(said: Sequence[str]) -> str:
    """Tools end with their usage where they were asked for what they do not do, so an error goes before the last line."""
    errors = [line.strip() for line in said if "error" in line.lower()]
    return next(iter(errors), said[-1].strip() if said else "no message")


def _use(completed: Completed) -> tuple[JobUse, ...]:
    """Of the tool and the shell around it, from their start to their end; nothing where it was not counted."""
    if completed.cpu_seconds is None or not completed.wall_ns:
        return ()
    share = completed.cpu_seconds * 1e9 / completed.wall_ns
    return (JobUse("", 0, share, 0.0, 0, completed.wall_ns, 0),)


def measurements_of(figures: NetworkFigures) -> list[Measurement]:
    """One each way."""
    flows = ((Direction.SEND, figures.sent), (Direction.RECEIVE, figures.received))
    return [_measurement(way, flow, figures) for way, flow in flows if flow is not None]


def _measurement(direction: Direction, flow: Flow, figures: NetworkFigures) -> Measurement:
    latency = Latency(0, 0.0)
    if figures.mean_ns is not None:
        latency = Latency(
            figures.round_trips, figures.mean_ns, stated_percentiles_ns=dict(figures.percentiles_ns)
        )
    return Measurement("", 0, direction, flow.operations, flow.size_bytes, flow.runtime_ns, latency)
