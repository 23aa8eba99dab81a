"""`leadline lab fault`: breaks a part of a lab for a while, also of one that a running campaign measures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from leadline.run.lab.breaking import Fault

LOOK_AGAIN_SECONDS = 0.1


@click.command("fault")
@click.argument("name")
@click.argument("verb", metavar="cut|kill|pause|fill|end")
@click.argument("subject", required=False)
@click.option("--seconds", metavar="DURATION", help="How long it lasts: 5, 5s, 2m.")
@click.option("--after", default="0s", metavar="DURATION", help="Wait so long before it is made.")
@click.option("--leave", metavar="SIZE", help="What `fill` leaves free: 10MiB; without it nothing.")
def command(
    name: str, verb: str, subject: str | None, seconds: str | None, after: str, leave: str | None
) -> None:
    """Break a part of NAME: cut HOST, kill SERVER, pause SERVER, fill DISK; `end` ends every fault now. Needs root.

    Returns when the fault is over; Ctrl-C ends it early. `leadline lab status NAME` lists the hosts, servers and disks.
    """
    from leadline.errors import UserError
    from leadline.run.lab.breaking import VERBS, fault
    from leadline.run.lab.lifecycle import check_root
    from leadline.run.lab.parts import ready_lab
    from leadline.run.lab.signals import ending_orderly
    from leadline.spec.units import format_duration, parse_duration, parse_size

    check_root("leadline lab fault")
    if verb == "end":
        _end(name)
        return
    if verb in VERBS and (subject is None or seconds is None):
        raise UserError(
            f"{verb} needs to know of what and for how long: leadline lab fault {name} {verb} WHAT --seconds 5 "
            f"(leadline lab status {name} lists hosts, servers and disks)"
        )
    if leave is not None and verb != "fill":
        raise UserError(f"--leave goes with fill, not with {verb}")
    lasts_seconds = parse_duration(seconds or "0")
    leave_bytes = parse_size(leave) if leave else 0
    ready_lab(name)
    with ending_orderly():
        time.sleep(parse_duration(after))
        with fault(name, verb, subject or "", lasts_seconds, leave_bytes) as made:
            told = f"{verb} {subject}: holds, for {format_duration(lasts_seconds)} at most"
            _wait(made, lasts_seconds, told)
    click.echo(f"{verb} {subject}: over")


def _wait(made: Fault, seconds: float, words: str) -> None:
    """Until the time is up or somebody else has ended it; Ctrl-C and SIGTERM end it here, from the moment that the words are read."""
    until = time.monotonic() + seconds
    try:
        click.echo(words)
        while (left := until - time.monotonic()) > 0 and made.stands():
            time.sleep(min(left, LOOK_AGAIN_SECONDS))
    except KeyboardInterrupt:
        click.echo("ended early")


def _end(name: str) -> None:
    from leadline.run.lab.breaking import end_faults

    ended = end_faults(name)
    for each in ended:
        click.echo(f"ended: {each}")
    if not ended:
        click.echo(f"no fault stands in {name}")
