"""Free-running load and delayed probes on mounts that are there: checked, worked on, left to settle, looked at a last time, judged.

The records of each client are in a file; `leadline-engine check` judges all files together. What is judged is what was written down:
a client that was lost leaves the history incomplete, and then nothing counts as violated that its part could excuse.
"""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.errors import UserError
from leadline.run.consistency.calls import at
from leadline.run.consistency.clients import Station
from leadline.run.consistency.clock_report import ClockReport, clocks_of, hosts_in
from leadline.run.consistency.delays import Delays, Probing, perform, planned
from leadline.run.consistency.far_load import load_client
from leadline.run.consistency.lanes import clients_at
from leadline.run.consistency.load_clients import LoadClient, run_together
from leadline.run.consistency.mounts import Claim, check_distinct, check_shared, claimed, described
from leadline.run.executable import engine_executable
from leadline.run.temporary import temporary_folder
from leadline.store.histories import NO_REPORT, Histories

OBJECTS = "objects"
"""The folder of the objects within the claimed one."""
JUDGED_WITHIN_SECONDS = 300.0


@dataclass(frozen=True)
class FreeRun:
    """The load that is asked for."""

    seconds: float = 20.0
    workers: int = 4
    """Threads of each client."""
    seed: int = 0
    flavours: tuple[str, ...] = ()
    """Sorts of objects, as the engine names them; none: all."""
    objects_at_a_time: int = 2
    """Of each sort."""


@dataclass(frozen=True)
class Asked:
    """What is asked for: load, probes, or both."""

    load: FreeRun | None
    probing: Probing | None
    patience_seconds: float = 5.0
    """Longer than the longest cache time."""
    control: bool = False
    """Several stations may lie on one mount."""
    keep: Path | None = None
    """Where the records stay when all is over; nowhere, if None."""

    @property
    def settle_seconds(self) -> float:
        """The rest before everybody looks again: twice the longest cache time."""
        return 2 * self.patience_seconds


@dataclass(frozen=True)
class Load:
    """What came of the free-running load."""

    report: Mapping[str, Any]
    outcomes: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]


def sound_histories(
    label: str,
    stations: Sequence[Station],
    witness: Station | None,
    asked: Asked,
    facts: Mapping[str, Any],
    on_progress: Callable[[str], None] = lambda sentence: None,
) -> Histories:
    """All of it; raises UserError when the mounts are unfit. A client that is lost meanwhile leaves doubts, and is told of in the notes."""
    everybody = [*stations, *([witness] if witness else [])]
    began, clocks = time.monotonic(), clocks_of(everybody)
    with claimed(everybody) as claim:
        if not asked.control:
            check_distinct(everybody)
        clients = tuple(described(station) for station in everybody)
        with clients_at(stations) as there:
            check_shared(claim.folder, list(there.values()), asked.patience_seconds)
        probed = _probe(claim, stations, asked, on_progress)
        if clocks.doubts:
            probed.give_up("; ".join(clocks.doubts))
        load = _work(claim, stations, witness, asked, clocks, on_progress)
    settings = {**_settings(asked), "elapsed_seconds": time.monotonic() - began}
    versions = {"leadline": __version__, "kernel": platform.release(), "host": platform.node()}
    when = {"created_utc": datetime.now(UTC).isoformat(timespec="seconds")}
    work: dict[str, Any] = {
        "work": load.outcomes,
        "never_true": dict(probed.never_true),
        "undecided_probes": dict(probed.undecided),
    }
    notes = (*_notes(asked, everybody, witness, probed), *clocks.notes(), *load.notes)
    if clocks.clocks:
        work["clocks"] = clocks.facts()
    name = witness.name if witness else ""
    samples = tuple(probed.samples)
    return Histories(
        label, clients, name, settings, load.report, samples, {**facts, **versions, **when, **work}, notes
    )


def _settings(asked: Asked) -> dict[str, Any]:
    load = {} if asked.load is None else asdict(asked.load)
    probing = (
        {}
        if asked.probing is None
        else {**asdict(asked.probing), "longest_fill_seconds": asked.probing.longest_fill_seconds}
    )
    own = {
        "control": asked.control,
        "patience_seconds": asked.patience_seconds,
        "settle_seconds": asked.settle_seconds,
    }
    return {**probing, **load, **own}


def _probe(
    claim: Claim, stations: Sequence[Station], asked: Asked, on_progress: Callable[[str], None]
) -> Delays:
    if asked.probing is None:
        return Delays()
    todo = planned(asked.probing, [station.name for station in stations])
    with clients_at(stations) as there:
        delays = perform(
            todo,
            claim.folder,
            there,
            asked.patience_seconds,
            lambda done, of: on_progress(f"{done} of {of} probes"),
        )
    claim.hangs |= delays.lost is not None and delays.lost.hangs
    return delays


def _work(
    claim: Claim,
    stations: Sequence[Station],
    witness: Station | None,
    asked: Asked,
    clocks: ClockReport,
    on_progress: Callable[[str], None],
) -> Load:
    if asked.load is None or claim.hangs:
        return Load(NO_REPORT, (), ())
    with clients_at(stations[:1]) as first:
        first[stations[0].name].do([at(f"{claim.folder}/{OBJECTS}", "make_directory")])
    on_progress(f"free-running load for {asked.load.seconds:g} s, and {asked.settle_seconds:g} s of rest")
    with _records(asked.keep) as folder:
        clients = _run(claim, stations, asked, asked.load, folder)
        if not claim.hangs:
            clients.append(_look(claim, stations, witness, asked.load, folder))
        clocks.read_again()
        clocks.put_right(clients)
        return _judge(clients, clocks)


@contextmanager
def _records(keep: Path | None) -> Iterator[Path]:
    """A folder for the records, which stays if somebody wants it."""
    if keep is None:
        with temporary_folder("histories") as folder:
            yield folder
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise UserError(
                f"{keep} is not empty, and records of two runs must not be mixed; give a new folder"
            )
    except OSError as error:
        raise UserError(f"{keep} cannot keep the histories: {error.strerror}") from None
    yield keep.absolute()


def _run(
    claim: Claim, stations: Sequence[Station], asked: Asked, load: FreeRun, folder: Path
) -> list[LoadClient]:
    clients: list[LoadClient] = []
    with ExitStack() as stack:
        for number, station in enumerate(stations):
            step = _step(station, claim, load, number, len(stations))
            step |= {"settle_ns": round(asked.settle_seconds * 1e9), "external_barriers": True}
            clients.append(load_client(station, step, folder))
            stack.callback(clients[-1].close)
        run_together(clients, load.seconds, asked.settle_seconds)
        claim.hangs |= any(client.hangs for client in clients)
    return clients


def _look(
    claim: Claim, stations: Sequence[Station], witness: Station | None, load: FreeRun, folder: Path
) -> LoadClient:
    """The final state, through a mount that had looked at nothing; without one, by a new process on the first mount."""
    where = witness or stations[0]
    station = replace(where, name="witness")
    step = {**_step(station, claim, load, len(stations), len(stations)), "witness": True}
    client = load_client(station, step, folder)
    try:
        client.await_outcome(JUDGED_WITHIN_SECONDS)
    finally:
        client.close()
    claim.hangs |= client.hangs
    return client


def _step(station: Station, claim: Claim, load: FreeRun, client: int, clients: int) -> dict[str, Any]:
    return {
        "workload": "histories",
        "directory": str(station.directory / claim.folder / OBJECTS),
        "client": client,
        "clients": clients,
        "workers": load.workers,
        "runtime_ns": round(load.seconds * 1e9),
        "flavours": list(load.flavours),
        "objects_at_a_time": load.objects_at_a_time,
        "seed": load.seed,
    }


def _judge(clients: Sequence[LoadClient], clocks: ClockReport) -> Load:
    written = [client for client in clients if client.outcome is not None]
    if not written:
        raise UserError(
            "no client lived to write its history down: " + "; ".join(each.lost for each in clients)
        )
    incomplete = ["--incomplete"] if len(written) < len(clients) else []
    argv = [str(engine_executable()), "check", *incomplete, *(str(client.history) for client in written)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=JUDGED_WITHIN_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())  # the files are the engine's own
    report = json.loads(done.stdout)
    outcomes = tuple(client.outcome for client in written if client.outcome is not None)
    lost = tuple(f"{client.lost}; its part of the history is missing." for client in clients if client.lost)
    return Load(clocks.judged(report), outcomes, (*lost, *report.pop("damages"), *_told(outcomes)))


def _told(outcomes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What clients met that a reader must know."""
    missing = sorted({flavour for each in outcomes for flavour in each["not_offered"]})
    if missing:
        yield f"Not offered here, and left out: {', '.join(missing)}."
    for each in outcomes:
        who = f"Client {each['client']}"
        if each["doubts"]:
            yield f"{who}: {each['doubts']:,} operations ended in doubt ({_errors(each)}); they may have happened or not."
        if each["given_up_workers"]:
            yield f"{who}: {each['given_up_workers']} workers met nothing but doubts and stopped."
        if each["full_workers"]:
            yield f"{who}: {each['full_workers']} workers stopped early, their buffers were full."


def _errors(outcome: Mapping[str, Any]) -> str:
    return ", ".join(sorted({each["error"] for each in outcome["failures"] if each["doubt"]}))


def _notes(
    asked: Asked, everybody: Sequence[Station], witness: Station | None, probed: Delays
) -> Iterator[str]:
    if not any(station.far for station in everybody):
        yield "All clients are on one machine and share its clock; the way between them is not a real network's."
    else:
        yield f"The clients are on {hosts_in(everybody)} hosts; all times are on the clock of the machine that led them."
    if asked.control:
        yield "Control: clients that share a mount share its cache, and nothing can be stale there."
    if asked.load is not None and witness is None:
        yield "The final state was looked at by a new process on the first mount; no client was kept fresh (--witness)."
    for reason, count in sorted(probed.undecided.items()):
        yield f"{count} probes came to no answer: {reason}."
    if probed.lost is not None:
        yield f"The probes were cut short: {probed.lost}."
