"""Depth chart: what the machine could do, layer by layer, down to the best that was measured.

Bars of one scale share one axis that starts at zero. A layer that nobody measured is named, never drawn as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.analyse.network import is_of_network, profiles
from leadline.analyse.recommendations import of_data
from leadline.analyse.results import CellResult, Reference, Results
from leadline.analyse.sites import shared_links
from leadline.report import wording
from leadline.store.records import Direction


@dataclass(frozen=True)
class Layer:
    """One bar. `absent` says why there is none; `share` is of the layer `above`."""

    label: str
    value: float | None
    absent: str = ""
    above: str = ""
    share: float | None = None
    doubtful: bool = False
    detail: str = ""


@dataclass(frozen=True)
class Depth:
    """One axis of bars, in the base unit of `scale`."""

    run: str
    title: str
    scale: str
    layers: tuple[Layer, ...]


def depth_charts(results: Sequence[Results]) -> list[Depth]:
    """Two axes a run of data: bandwidth and operations per second; one of metadata; none for a run without cells."""
    return [chart for one in results for chart in charts_of(one)]


def charts_of(one: Results) -> list[Depth]:
    """The axes of one run."""
    tests, messages = tests_of(one), any(map(is_of_network, one.cells))
    bandwidths = [bandwidth_depth(one)] if tests or messages else []
    return [
        *bandwidths,
        *([rate_depth(one)] if tests else []),
        *([metadata_depth(one)] if phases_of(one) else []),
    ]


def bandwidth_depth(one: Results) -> Depth:
    """Memory copy, network (stated, the lab's cables, measured), then for each test its nominal limit, the object store, what was foretold
    and the best measured cell."""
    reference = one.reference
    memory = layer("memory copy", reference.memory_copy_bytes_per_second, "not measured", None)
    hardware = [memory]
    if "network" in reference.limits:
        hardware.append(layer("nominal network", reference.limits["network"], "", memory))
    links = shared_links(one.sites, one.cells)
    if links is not None:
        hardware.append(layer(links[0], links[1], "", memory))
    # One connection is no bound: several carry more, so nothing below is a share of it.
    layers = [*hardware, *network_layers(one, hardware[-1])]
    for test in tests_of(one):
        nominal = layer(f"{test}, nominal limit", nominal_limit(reference, test), "not stated", memory)
        store = store_layers(one, test, memory)
        upper = next((upper for upper in (*store, nominal, *reversed(hardware)) if upper.value), None)
        foretold = foretold_layers(one, test, upper)
        best = best_layer(one, test, "bandwidth", foretold[0] if foretold and foretold[0].value else upper)
        layers += [nominal, *store, *foretold, best]
    return Depth(one.label, "Bandwidth", "bandwidth", tuple(layers))


def network_layers(one: Results, above: Layer) -> list[Layer]:
    """The fastest stream of one connection between the hosts of the same run; none where the network was not measured."""
    streams = [row.one_way for profile in profiles(one.cells) for row in profile.rows if row.one_way]
    # A valid figure of short messages would say nothing about the network: the highest of all, marked where it is doubtful.
    best = best_cell([cell for cell in streams if "bandwidth" in cell.metrics], "bandwidth")
    if best is None:
        return []
    detail = wording.cell_phrase(best.cell, ("target", "tool", "message_size"))
    rate, doubtful = best.metrics["bandwidth"].value, not best.valid("bandwidth")
    return [layer("network, one connection", rate, "", above, doubtful=doubtful, detail=detail)]


def store_layers(one: Results, test: str, above: Layer) -> list[Layer]:
    """What the object store of the same run gives or takes at its best; none where it was not measured."""
    reads = any(cell.test == test and cell.direction is Direction.READ for cell in one.cells)
    wanted = (Direction.OBJECT_GET,) if reads else (Direction.OBJECT_PUT, Direction.OBJECT_MULTIPART_PUT)
    cells = [cell for cell in one.cells if cell.direction in wanted and "bandwidth" in cell.metrics]
    trusted = [cell for cell in cells if cell.valid("bandwidth")]
    best = best_cell(trusted or cells, "bandwidth")
    if best is None:
        return []
    label = "get from the object store" if reads else "put into the object store"
    detail = wording.cell_phrase(best.cell, ("target", "object_size", "part_size", "concurrency", "clients"))
    return [layer(label, best.metrics["bandwidth"].value, "", above, doubtful=not trusted, detail=detail)]


def foretold_layers(one: Results, test: str, above: Layer | None) -> list[Layer]:
    """What was foretold of the best cell that was foretold and measured."""
    known = [
        each
        for made in one.predictions
        if made.is_before
        for each in made.cells
        if each.actual_iops and each.foretold.cell["rw"] == test
    ]
    best = max(known, key=lambda each: each.actual_iops or 0.0, default=None)
    if best is None or best.actual is None:
        return []
    detail = wording.cell_phrase(best.foretold.cell, wording.naming_settings(one.cells))
    label = f"{test}, predicted"
    return [layer(label, best.predicted_bytes_per_second, "", above, detail=detail)]


def rate_depth(one: Results) -> Depth:
    """The load generator alone, then the best measured cell of each test."""
    ceiling = layer("generator alone (one job)", one.reference.ceiling_iops, "not measured", None)
    best = [best_layer(one, test, "iops", ceiling) for test in tests_of(one)]
    return Depth(one.label, "Operations", "rate", (ceiling, *best))


def metadata_depth(one: Results) -> Depth:
    """The best measured cell of every operation: nothing above them is known that bounds names."""
    best = [best_layer(one, test, "iops", None) for test in phases_of(one)]
    return Depth(one.label, "Metadata", "operations", tuple(best))


def tests_of(one: Results) -> list[str]:
    """The tests of data of a run in the order of its cells."""
    return list(dict.fromkeys(cell.test for cell in of_data(one.cells)))


def phases_of(one: Results) -> list[str]:
    """The operations of metadata of a run, by their ways."""
    return list(dict.fromkeys(cell.test for cell in one.cells if cell.direction.is_of_names))


def nominal_limit(reference: Reference, test: str) -> float | None:
    """The limit the campaign states for a test; "randrw, read" is judged by "randread"'s."""
    mixed = {
        "randrw, read": "randread",
        "randrw, write": "randwrite",
        "rw, read": "read",
        "rw, write": "write",
    }
    return reference.limits.get(mixed.get(test, test))


def best_layer(one: Results, test: str, metric: str, above: Layer | None) -> Layer:
    """The best cell that may be believed; the best doubtful one, marked, where none may."""
    cells = [cell for cell in one.cells if cell.test == test and metric in cell.metrics]
    trusted = [cell for cell in cells if cell.valid(metric)]
    best = best_cell(trusted or cells, metric)
    label = f"{test}, best measured"
    if best is None:
        return layer(label, None, "not measured", None)
    detail = wording.cell_phrase(best.cell, wording.naming_settings(one.cells))
    return layer(label, best.metrics[metric].value, "", above, doubtful=not trusted, detail=detail)


def best_cell(cells: Sequence[CellResult], metric: str) -> CellResult | None:
    """The cell with the highest value."""
    return max(cells, key=lambda cell: cell.metrics[metric].value, default=None)


def layer(
    label: str,
    value: float | None,
    absent: str,
    above: Layer | None,
    doubtful: bool = False,
    detail: str = "",
) -> Layer:
    """A bar with its share of the layer above, where both are known."""
    if value is None:
        return Layer(label, None, absent)
    if above is None or not above.value:
        return Layer(label, value, doubtful=doubtful, detail=detail)
    return Layer(label, value, "", above.label.split(", ")[-1], value / above.value, doubtful, detail)
