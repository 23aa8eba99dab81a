"""`leadline posix`: how far a filesystem keeps to POSIX, case by case, and what a failure means for applications."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("posix")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]")
@click.option("--target", metavar="NAME", help="Bring this target of the lab up, test it, take it down.")
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="Of the target, in its own words."
)
@click.option("--size", default="2GiB", show_default=True, help="How much the target has to hold.")
@click.option(
    "--suite",
    type=click.Choice(["rust", "c"]),
    default="rust",
    show_default=True,
    help="pjdfstest in Rust, which leadline installs, or the C original, where you have it.",
)
@click.option(
    "--checkout", type=click.Path(path_type=Path), help="The built C suite (or LEADLINE_PJDFSTEST=DIR)."
)
@click.option(
    "--expect", metavar="LIST", help="Expected failures: a TOML file, or a list of leadline's by name."
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="JSON",
    help="An earlier run: what changed; its failures are expected where no list is given.",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Keep the run in this file.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="JUnit XML for CI servers.")
@click.option(
    "--remount",
    is_flag=True,
    help="Mount the filesystem read-only for moments, for 13 cases about that (a target of the lab: always).",
)
@click.option("--label", help="What tables call the filesystem.")
@click.option("--case", "cases", multiple=True, metavar="NAME", help="Run only this case; repeatable.")
@click.option(
    "--case-timeout", metavar="DURATION", help="When a case counts as hung (2m; the C suite's scripts: 10m)."
)
@click.option("--matrix", is_flag=True, help="Lay earlier runs (PATH: their JSON files) side by side.")
@click.option("--html", type=click.Path(path_type=Path), help="With --matrix: write it as a page as well.")
def command(
    paths: tuple[Path, ...],
    target: str | None,
    options: tuple[str, ...],
    size: str,
    suite: str,
    checkout: Path | None,
    expect: str | None,
    against: Path | None,
    json_file: Path | None,
    junit_file: Path | None,
    remount: bool,
    label: str | None,
    cases: tuple[str, ...],
    case_timeout: str | None,
    matrix: bool,
    html: Path | None,
) -> int:
    """Test the filesystem at PATH, in a folder of its own that is removed afterwards. Complete only as root.

    Exit code 0: nothing failed that should not; 1: something did; 2: it could not be run.
    """
    if matrix or html is not None:
        return _lay_out(paths, html)
    from leadline.cli.conforming import earlier_run, known_cases, list_of, on_target, say, sound_here
    from leadline.run.posix.sounding import Wishes
    from leadline.spec.units import parse_duration

    before = earlier_run(against, suite)
    expected = list_of(expect, before, suite)
    path = _one_place(paths, target)
    seconds = parse_duration(case_timeout) if case_timeout else None
    wishes = Wishes(path, suite, checkout, remount, label, seconds, known_cases(cases, suite))
    sounded = on_target(target, options, size, wishes) if target else sound_here(wishes)
    with sounded as result:
        return say(result, before, expected, json_file, junit_file)


def _one_place(paths: tuple[Path, ...], target: str | None) -> Path:
    from leadline.errors import UserError

    if target is not None and paths:
        raise UserError(f"--target {target} brings its own directory; leave {paths[0]} out")
    if target is None and len(paths) != 1:
        raise UserError("leadline posix tests one directory; name it, or a target of the lab: --target NAME")
    return paths[0] if paths else Path()


def _lay_out(paths: tuple[Path, ...], html: Path | None) -> int:
    from leadline.errors import UserError
    from leadline.report.posix_matrix import matrix_markdown, write_matrix_page
    from leadline.store.conformance import read_conformance

    if not paths:
        raise UserError("--matrix lays earlier runs side by side; name the files that --json wrote")
    results = [read_conformance(path) for path in paths]
    click.echo(matrix_markdown(results), nl=False)
    if html is not None:
        click.echo(f"Page: {write_matrix_page(results, html)}", err=True)
    return 0
