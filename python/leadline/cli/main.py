"""The command `leadline`: finds the subcommand and prints a user's mistake as one sentence.

Command modules are imported only when they are asked for and import the stages only when they run, so that
`leadline --help` answers at once.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

from leadline import __version__
from leadline.errors import UserError, did_you_mean

COMMANDS = {
    "quick": "Sound a directory in a few minutes.",
    "run": "Run a campaign (TOML) or a fio job file.",
    "plan": "Show what a campaign would do: steps, time, bytes. Touches nothing.",
    "report": "Write the HTML report of one or several runs.",
    "show": "Show a run in the terminal.",
    "export": "Write a run's cells as Parquet, CSV or JSON.",
    "import": "Read other tools' results: fio JSON, bench-fio trees, grids, perftest, nccl-tests.",
    "predict": "Predict what a cluster should reach from the baselines of its parts.",
    "simulate": "Simulate a cluster that nobody has here, from its description.",
    "lab": "Bring up filesystems to measure, and take them down again.",
    "posix": "How far a filesystem keeps to POSIX, case by case (pjdfstest).",
    "network": "How fast the network between two hosts is, by message size.",
    "allreduce": "All-reduce by MPI: algorithm and bus bandwidth by vector size, results checked.",
    "objbench": "What an object store can do, and how fast it is.",
    "mdtest": "Metadata rates with mdtest's options, and its table.",
    "consistency": "Whether one client sees what another did: at once, how late, never, or lost.",
    "doctor": "What this machine can and cannot measure, and why.",
    "schema": "Print the JSON schema of campaigns.",
}
"""Name -> what it does; the module leadline.cli.<name>_command holds it."""


class Commands(click.Group):
    """Loads a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"leadline.cli.{cmd_name}_command").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            raise UserError(
                f'there is no command "{args[0]}"{did_you_mean(args[0], COMMANDS)} (leadline --help lists them)'
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="leadline")
def leadline() -> None:
    """Sounds a filesystem from wire to workload. Every figure carries its n, its interval and its verdict."""


def main() -> None:
    """The entry point: exit code 0 done, 1 a gate said no, 2 the user's mistake, 130 interrupted."""
    try:
        sys.exit(leadline.main(standalone_mode=False) or 0)
    except UserError as error:
        _complain(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        _complain(_one_sentence(error))
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:  # `leadline show RUN | head`
        sys.stderr.close()
        sys.exit(0)


def _one_sentence(error: click.ClickException) -> str:
    command = getattr(getattr(error, "ctx", None), "command_path", "leadline")
    return f"{error.format_message().rstrip('.')} (see {command} --help)"


def _complain(sentence: str) -> None:
    click.echo(f"leadline: {' '.join(sentence.split())}", err=True)  # one line, whatever is quoted in it
    sys.exit(2)
