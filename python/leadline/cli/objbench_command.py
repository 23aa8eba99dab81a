"""`leadline objbench`: what an object store can do, and how fast it is, before anything stands on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from leadline.run.object_sounding import Wishes


@click.command("objbench")
@click.argument("url")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Of the store, in opendal's words; repeatable.",
)
@click.option(
    "--big-object-size",
    default="1GiB",
    show_default=True,
    help="Bytes put as big objects, at each concurrency.",
)
@click.option("--block-size", default="4MiB", show_default=True, help="Size of each of them.")
@click.option("--small-object-size", default="128KiB", show_default=True, help="Size of a small object.")
@click.option(
    "--small-objects", type=click.IntRange(1), default=100, show_default=True, help="How many small objects."
)
@click.option(
    "--part-size",
    default="8MiB",
    show_default=True,
    help="Of uploads in parts, four parts an object; 0: none.",
)
@click.option("--threads", help="Requests in flight: 1,4,16.  [default: doubling, to 4 x the cores]")
@click.option(
    "--clients",
    type=click.IntRange(1, 256),
    help="Client instances at most, each with connections of its own.  [default: one a core]",
)
@click.option(
    "--time", "window", help="How long each kind of request is made (5s), instead of once an object."
)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Rounds of everything.")
@click.option(
    "--retries",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of a request that failed for the moment; counted.",
)
@click.option("--skip-checks", is_flag=True, help="Only measure.")
@click.option("--keep", is_flag=True, help="Leave the folder with leadline's objects there.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Keep everything in this file, without keys."
)
def command(
    url: str, options: tuple[str, ...], skip_checks: bool, keep: bool, json_file: Path | None, **given: Any
) -> int:
    """Try out and measure the object store at URL: /DIRECTORY, s3://BUCKET?endpoint=http://HOST:PORT, http://HOST:PORT/BUCKET (S3).

    Keys: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --option. Works in a folder of its own, leadline-objbench-..., which is removed.

    Exit code 0: every check passed or is not supported; 1: one failed; 2: it could not be run.
    """
    from rich.console import Console

    from leadline.report.objects_terminal import show_checks
    from leadline.run.executable import engine_executable
    from leadline.run.object_folder import own_folder
    from leadline.run.object_requests import Interrupted
    from leadline.run.object_sounding import Sounder, check_space, checks, takes_parts
    from leadline.spec.object_store import parse_store

    store, wishes, console = parse_store(url, options), wishes_of(given), Console()
    engine_executable()
    check_space(store, wishes)
    try:
        with own_folder(store, keep, _tell) as folder:
            checked = [] if skip_checks else checks(store, folder)
            if checked:
                show_checks(checked, console)
            records = Sounder(store, folder, wishes, _tell).sound(takes_parts(store, checked))
    except Interrupted:
        raise click.Abort from None
    _show(store.shown, wishes, checked, records, console, json_file)
    return int(any(check["result"] == "failed" for check in checked))


def wishes_of(given: dict[str, Any]) -> Wishes:
    """The options as sizes and counts; raises UserError."""
    from leadline.errors import UserError
    from leadline.run.object_sounding import Wishes
    from leadline.spec.units import parse_duration, parse_size

    names = ("big_object_size", "block_size", "small_object_size")
    big, block, small = (parse_size(given[name]) for name in names)
    if block > big:
        raise UserError(
            f"--block-size {given['block_size']} is above --big-object-size {given['big_object_size']}; lower it"
        )
    return Wishes(
        big_object_bytes=big, block_bytes=block, small_object_bytes=small, small_objects=given["small_objects"],
        part_bytes=None if given["part_size"] == "0" else parse_size(given["part_size"]), threads=levels_of(given["threads"]),
        clients=given["clients"], window_seconds=parse_duration(given["window"]) if given["window"] else None,
        repeats=given["repeats"], retries=given["retries"],
    )  # fmt: skip


def levels_of(text: str | None) -> tuple[int, ...] | None:
    """ "1,4,16"; raises UserError."""
    from leadline.errors import UserError

    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() and 0 < int(word) <= 4096 for word in words):
        raise UserError(f'--threads is "{text}"; give numbers from 1 to 4096, such as 1,4,16')
    return tuple(dict.fromkeys(int(word) for word in words))


def _show(
    store: str, wishes: Wishes, checked: Any, records: Any, console: Any, json_file: Path | None
) -> None:
    from dataclasses import asdict

    from leadline.analyse.machine import read_machine
    from leadline.analyse.object_sounding import judge_objects
    from leadline.report.objects_document import objects_document, write_objects
    from leadline.report.objects_terminal import cost_sentence, show_cells, show_evidence
    from leadline.run.object_sounding import environment

    cells = judge_objects(records, read_machine(environment()), "objbench")
    show_cells(cells, console)
    show_evidence(cells, console)
    for record in records:
        if record.reason:
            console.print(f"  round {record.repeat + 1} gave no figure: {record.reason}", markup=False)
    console.print(f"\n{cost_sentence(cells)}", markup=False)
    if json_file is not None:
        write_objects(json_file, objects_document(store, asdict(wishes), checked, cells))


def _tell(sentence: str) -> None:
    click.echo(sentence, err=True)
