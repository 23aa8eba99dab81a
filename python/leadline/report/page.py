"""One HTML file: words, tables and bars written here by a template, data in columns for the script that draws the rest.

Nothing in the file asks the network for anything, and a content security policy holds it to that. The drawing library
stands in the file compressed and asleep; it is woken when the first figure comes near the screen, so opening is quick.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from leadline import __version__
from leadline.analyse.results import Answer, FailedCell, Results
from leadline.analyse.wording import percent
from leadline.published.tables import PublishedTable
from leadline.report import environment, network, objects, wording
from leadline.report.all_reduce import all_reduce_tables
from leadline.report.figures.depth import Depth, Layer, depth_charts
from leadline.report.glossary import GLOSSARY, VERDICTS
from leadline.report.metadata import trees
from leadline.report.payload import embedded, payload
from leadline.report.standings import boards
from leadline.store.conformance import Conformance

STYLES = ("page.css", "visibility.css", "consistency.css", "prediction.css")
SCRIPTS = (
    "data.js",
    "menus.js",
    "table.js",
    "plots.js",
    "surface.js",
    "sections.js",
    "clients.js",
    "metadata.js",
    "network.js",
    "objects.js",
    "page.js",
)
ANSWERS_SHOWN = 2
BEST_SETTINGS_SHOWN = 4
"""Sentences of one question that are shown at once: the first screen holds an answer to every question."""
REASONS_SHOWN = 100
PLAIN_SIZE = 3_000_000
"""Characters of data up to which the whole file stays well below 5 MB."""
QUESTIONS = (
    "How fast should it be?",
    "How fast is it?",
    "Where does the difference go?",
    "Is it right?",
    "Best settings",
)


def page(
    results: Sequence[Results],
    beside: Sequence[PublishedTable] = (),
    conformance: Sequence[Conformance] = (),
) -> str:
    """The whole file as text; `conformance` are runs of suites that were kept in files of their own."""
    template = templates().get_template("page.html.j2")
    data_type, data = stored_data(results, beside)
    messages = network.tables(results)
    return template.render(
        version=__version__,
        title=" and ".join(one.label for one in results) or "no runs",
        results=results,
        several=len(results) > 1,
        answers=[(one, answers_by_question(one)) for one in results],
        boards=boards(results),
        trees=trees(results, beside),
        network=[*messages, *all_reduce_tables(results)],
        network_messages=bool(messages),
        objects=objects.tables(results),
        object_heads=objects.HEADS,
        object_checks=objects.check_table(results),
        posix=posix_section([*conformance_of(results), *conformance]),
        has_participants=any(cell.clients or cell.hosts for one in results for cell in one.cells),
        depths=[(depth, bars(depth)) for depth in depth_charts(results)],
        reasons={one.label: reasons(one.failed) for one in results},
        beside=beside,
        glossary=GLOSSARY,
        verdicts=VERDICTS,
        environment=environment,
        counted=counted,
        consistency=consistency_part(results),
        only_documents=any(one.consistency or one.conformance or one.object_checks for one in results)
        and not any(one.cells for one in results),
        prediction=prediction_part(results),
        disks=disks_part(results),
        style=Markup("".join(map(template_text, STYLES))),
        script=Markup("\n".join(template_text(name) for name in SCRIPTS)),
        data_type=data_type,
        data=Markup(data),
        library=Markup(library()),
    )


def conformance_of(results: Sequence[Results]) -> list[Conformance]:
    """What the runs hold, each run's under its own name where there are several."""
    named = len(results) > 1
    return [
        replace(found, label=f"{found.label}, {one.label}") if named else found
        for one in results
        for found in one.conformance
    ]


def consistency_part(results: Sequence[Results]) -> Markup | None:
    """What clients saw of each other; None where nobody looked."""
    from leadline.report.consistency import consistency_section  # it takes its templates from here

    return consistency_section(results)


def prediction_part(results: Sequence[Results]) -> Markup | None:
    """What was foretold, with what came; None where nobody foretold anything."""
    from leadline.report.prediction import prediction_section  # it takes its templates from here

    return prediction_section(results)


def disks_part(results: Sequence[Results]) -> Markup | None:
    """Local disks against their sheets; None where no sheet is stated."""
    from leadline.report.disks import disks_section  # it takes its templates from here

    return disks_section(results)


def posix_section(conformance: Sequence[Conformance]) -> Markup | None:
    """The matrix of all runs of suites; None where there is none."""
    from leadline.report.posix_matrix import matrix_section  # it takes its templates from here

    return matrix_section(conformance) if conformance else None


@cache
def templates() -> Environment:
    """The template environment; every foreign string is escaped."""
    loader = PackageLoader("leadline.report", "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def template_text(name: str) -> str:
    """A file beside the template, as it stands."""
    return (resources.files("leadline.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def library() -> str:
    """The drawing library, compressed: 1.75 MB become 0.75 MB of base64."""
    return packed((resources.files("leadline.report") / "vendor" / "plotly-gl3d.min.js").read_bytes())


def stored_data(results: Sequence[Results], beside: Sequence[PublishedTable] = ()) -> tuple[str, str]:
    """(type of the script element, its text): plain JSON that anybody can read, packed where it would grow too large."""
    text = embedded(payload(results, beside))
    return ("application/json", text) if len(text) <= PLAIN_SIZE else ("text/plain", packed(text.encode()))


def packed(content: bytes) -> str:
    """Compressed, in letters that may stand in a page; browsers unpack it by themselves (DecompressionStream)."""
    return base64.b64encode(gzip.compress(content, compresslevel=6, mtime=0)).decode("ascii")


def answers_by_question(one: Results) -> list[tuple[str, list[Answer], list[Answer]]]:
    """(question, answers shown at once, further answers), in the order of QUESTIONS, others last."""
    order = {question: place for place, question in enumerate(QUESTIONS)}
    ordered = sorted(one.answers, key=lambda answer: order.get(answer.question, len(order)))
    grouped = [
        (question, list(members))
        for question, members in groupby(ordered, key=lambda answer: answer.question)
    ]
    return [
        (question, members[: shown(question)], members[shown(question) :]) for question, members in grouped
    ]


def shown(question: str) -> int:
    """How many sentences of a question stand open."""
    return BEST_SETTINGS_SHOWN if question == "Best settings" else ANSWERS_SHOWN


def bars(depth: Depth) -> list[dict[str, Any]]:
    """The layers of a depth chart in words, with the width of each bar on their common axis."""
    values = [layer.value for layer in depth.layers if layer.value]
    longest = max(values, default=1.0)
    return [bar(layer, depth.scale, longest) for layer in depth.layers]


def bar(layer: Layer, scale: str, longest: float) -> dict[str, Any]:
    """One bar."""
    known = layer.value is not None
    return {
        "layer": layer,
        "figure": layer.absent if layer.value is None else wording.measure(scale, layer.value),
        "known": known,
        "width": f"{100 * (layer.value or 0) / longest:.2f}",
        "share": f"{percent(layer.share)} of {layer.above}" if layer.share is not None else "",
    }


def counted(count: int, noun: str) -> str:
    """ "1 cell", "640 cells"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def reasons(failed: Iterable[FailedCell]) -> Mapping[str, list[FailedCell]]:
    """Failed steps by their reason, the commonest first; rare reasons beyond a hundred are in the data only."""
    found: dict[str, list[FailedCell]] = {}
    for cell in failed:
        found.setdefault(cell.reason, []).append(cell)
    return dict(sorted(found.items(), key=lambda entry: -len(entry[1]))[:REASONS_SHOWN])
