"""`leadline lab`: filesystems of one's own to measure, brought up and taken down on one command."""

from __future__ import annotations

import click

from leadline.cli.condition_options import condition_options, conditions_of
from leadline.cli.fault_command import command as fault


@click.group("lab")
def command() -> None:
    """Bring up filesystems to measure, and break them: list, up, status, fault, down."""


@command.command("list")
def list_targets() -> None:
    """What can be brought up here."""
    from leadline.run.lab.registry import TARGETS

    width = max(map(len, TARGETS))
    for name, target in TARGETS.items():
        click.echo(f"{name:{width}}  {target.summary}")


@command.command("up")
@click.argument("name")
@click.option("--size", default="4GiB", show_default=True, help="How much its filesystem has to hold.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="A mount or format option in its own words.",
)
@click.option(
    "--clients",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Mounts, each on a host of its own.",
)
@click.option(
    "--storage-nodes", type=click.IntRange(min=1), help="Servers, where the target lets one choose."
)
@condition_options
def up(
    name: str,
    size: str,
    options: tuple[str, ...],
    clients: int,
    storage_nodes: int | None,
    **conditions: str | float | None,
) -> None:
    """Bring NAME up and leave it up. Needs root."""
    from leadline.run.lab.laboratory import Wishes
    from leadline.run.lab.lifecycle import bring_up
    from leadline.run.lab.registry import lab_target
    from leadline.spec.units import parse_size

    target = lab_target(name)
    wishes = Wishes(
        parse_size(size),
        clients,
        storage_nodes,
        {key: value for key, _, value in (each.partition("=") for each in options)},
        conditions_of(conditions),
    )
    ready, seconds = bring_up(name, target, wishes, click.echo)
    click.echo(f"{name} is up after {seconds:.2f} s: {ready.filesystem} at {ready.directory}")
    if "://" not in ready.directory:
        click.echo(f"Measure it: leadline quick {ready.directory}")


@command.command("status")
@click.argument("name", required=False)
def status(name: str | None) -> None:
    """What is up, half-made or in use; of NAME also its hosts, servers and disks, and the faults that stand."""
    from leadline.run.lab.lifecycle import described
    from leadline.run.lab.state import known_labs

    if name is not None:
        _show_parts(name)
        return
    labs = known_labs()
    for state in labs:
        click.echo(f"{state.name}: {described(state)}")
    if not labs:
        click.echo("No lab is up.")


def _show_parts(name: str) -> None:
    from leadline.report.wording import setting_phrase
    from leadline.run.lab.breaking import standing_faults
    from leadline.run.lab.lifecycle import described
    from leadline.run.lab.parts import parts_of, ready_lab
    from leadline.spec.units import format_duration

    state, ready = ready_lab(name)
    parts = parts_of(state, ready)
    click.echo(f"{name}: {described(state)}")
    for part, host in parts.hosts.items():
        click.echo(f"host    {part}  {host.address} in {host.namespace}")
    for server in parts.servers:
        click.echo(f"server  {server}")
    for disk, point in parts.disks.items():
        click.echo(f"disk    {disk}  mounted at {point}")
    for key, value in ready.facts.get("conditions", {}).items():
        click.echo(f"held    {setting_phrase(key, value)}")
    for fault_stands in standing_faults(state):
        click.echo(
            f"fault   {fault_stands.described}, at most {format_duration(fault_stands.at_most_seconds)}"
        )


@command.command("down")
@click.argument("name", required=False)
def down(name: str | None) -> None:
    """Take NAME down, or all labs: undoes what leadline made, from any state, and nothing else. Needs root."""
    from leadline.errors import UserError, did_you_mean
    from leadline.run.lab.lifecycle import check_root, tear_down
    from leadline.run.lab.state import known_labs

    check_root("leadline lab down")
    there = [state.name for state in known_labs()]
    if name is not None and name not in there:
        up_now = f"up are: {', '.join(there)}" if there else "no lab is up"
        raise UserError(f"{name} is not up{did_you_mean(name, there)} ({up_now})")
    for each in [name] if name else there:
        click.echo(f"{each} is down after {tear_down(each):.2f} s")
    if not there:
        click.echo("No lab is up.")


command.add_command(fault)
