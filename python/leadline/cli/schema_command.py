"""`leadline schema`."""

from __future__ import annotations

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON schema of campaigns, for editors."""
    from leadline.spec.schema import campaign_schema

    click.echo(json.dumps(campaign_schema(), indent=1))
