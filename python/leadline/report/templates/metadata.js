// Metadata over load: rates of all operations of one tree and way, with what was published of the same tree in grey.

const KINDS = [["file", "files"], ["directory", "directories"], ["tree", "trees"], ["", "everything"]];

function startMetadata() {
  const place = part("metadata", ".plot");
  if (!place) return null;
  if (!data.scaling.length) return closeSection("metadata", "No line over load: that needs cells that differ in their processes, clients or iodepth only.");
  const state = {};
  const figure = whenVisible(place, () => drawScaling(place, state.item, state.kind));
  const initial = data.scaling.some((item) => item.lines.some(([label]) => label.startsWith("file"))) ? "file" : "";
  cascade(part("metadata", ".menus"), data.scaling, ["Run", "Tree", "Points by", "At"], [{ name: "kind", label: "Operations", options: KINDS, initial }], (item, picked) => {
    Object.assign(state, { item, kind: picked.kind });
    place.setAttribute("aria-label", `Metadata rates: ${item.keys.filter(Boolean).join(", ")}. The tables below hold the same figures.`);
    figure.repaint();
  });
  return figure;
}

function drawScaling(place, item, kind) {
  const lines = item.lines.filter(([label]) => label.startsWith(kind))
    .map(([label, style, cells, loads, kneeAt, kneeSentence, kneeDoubtful]) => ({ label, style, cells, loads, kneeAt, kneeSentence, kneeDoubtful }));
  const published = item.published.filter(([label]) => label.startsWith(kind));
  say("metadata", lines.length ? "" : "This tree has no such operation over load.");
  const unit = metricUnit("iops", lines.flatMap((line) => line.cells));
  const traces = [...published.map((line, place) => publishedTrace(line, unit, place === 0)), ...lines.map((line) => rateTrace(line, unit))];
  const stars = lines.filter((line) => line.kneeAt !== undefined && hasValue(line.cells[line.kneeAt], "iops")).map((line) => ({
    label: line.label,
    style: line.style,
    sentence: line.kneeSentence,
    doubtful: line.kneeDoubtful,
    x: line.loads[line.kneeAt],
    y: inUnit(line.cells[line.kneeAt], "iops", unit).value,
  }));
  const heights = traces.flatMap((trace) => trace.y).filter((value) => value > 0);
  // Around the points: an interval that reaches down to nothing would press them together.
  const range = heights.length ? [Math.log10(Math.min(...heights) / 2), Math.log10(Math.max(...heights) * 2)] : undefined;
  const loads = thinned([...new Set(traces.flatMap((trace) => trace.x))].sort((left, right) => left - right));
  const layout = {
    ...baseLayout(),
    xaxis: flatAxis(`${item.x} (logarithmic)`, true, { tickvals: loads, ticktext: loads.map(String) }),
    yaxis: flatAxis(`${unit.symbol} (logarithmic)`, true, { range, ...logTicks(heights) }),
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
  };
  return draw(place, [...traces, starTrace(stars, seriesColour)], layout);
}

function rateTrace(line, unit) {
  const kept = line.cells.map((cell, place) => ({ cell, load: line.loads[place] })).filter(({ cell }) => hasValue(cell, "iops"));
  return lineTrace({
    label: line.label,
    style: line.style,
    xs: kept.map((point) => ({ value: point.load })),
    ys: kept.map((point) => inUnit(point.cell, "iops", unit)),
    valid: kept.map((point) => isValid(point.cell, "iops")),
    hover: kept.map((point) => hoverText(point.cell, ["iops", ...(LATENCIES.includes("p99") ? ["p99"] : [])])),
  });
}

// One entry of the legend stands for all that was published.
function publishedTrace([label, style, loads, values], unit, isFirst) {
  const grey = cssValue("--line");
  return {
    type: "scatter",
    mode: "lines+markers",
    name: "published",
    legendgroup: "published",
    showlegend: isFirst,
    x: loads,
    y: values.map((value) => value / unit.size),
    line: { color: grey, width: 1.5, dash: "dot" },
    marker: { size: 7, symbol: SHAPES[style % SHAPES.length], color: grey },
    hovertext: values.map((value, at) => plain(wrapped(`published: ${label}, ${loads[at]} processes: ${measure("operations", value)}`)).replaceAll("\n", "<br>")),
    hoverinfo: "text",
  };
}
