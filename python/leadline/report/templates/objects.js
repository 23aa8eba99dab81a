// The object store over load: throughput, requests a second or a latency, one line a kind of request.

const OBJECT_VIEWS = [["bandwidth", "Throughput"], ["iops", "Requests a second"], ["p50", "Latency, p50"], ["p99", "Latency, p99"]];

function startObjects() {
  const place = part("objects", ".plot");
  if (!place) return null;
  if (!data.objects.length) return closeSection("objects", "No line over load: that needs cells that differ in their requests in flight, instances or clients only.");
  const state = {};
  const has = (name) => metricNamed[name] && data.objects.some((item) => item.lines.some(([, , cells]) => cells.some((cell) => hasValue(cell, name))));
  const options = OBJECT_VIEWS.filter(([name]) => has(name));
  const figure = whenVisible(place, () => drawObjects(place, state.item, state.metric));
  cascade(part("objects", ".menus"), data.objects, ["Run", "Objects", "Points by", "At"], [{ name: "metric", label: "Show", options, initial: options[0][0] }], (item, picked) => {
    Object.assign(state, { item, metric: picked.metric });
    figure.repaint();
  });
  return figure;
}

function drawObjects(place, item, metric) {
  const lines = item.lines
    .map(([label, style, cells, loads, kneeAt, kneeSentence, kneeDoubtful]) => ({ label, style, cells, loads, kneeAt, kneeSentence, kneeDoubtful }))
    .filter((line) => line.cells.some((cell) => hasValue(cell, metric)));
  say("objects", lines.length ? "" : "These objects have no such figure over load.");
  const unit = metricUnit(metric, lines.flatMap((line) => line.cells).filter((cell) => hasValue(cell, metric)));
  const traces = lines.map((line) => objectTrace(line, metric, unit));
  const stars = lines.filter((line) => objectKnee(line, metric)).map((line) => ({
    label: line.label,
    style: line.style,
    sentence: line.kneeSentence,
    doubtful: line.kneeDoubtful,
    x: line.loads[line.kneeAt],
    y: inUnit(line.cells[line.kneeAt], metric, unit).value,
  }));
  const heights = traces.flatMap((trace) => trace.y).filter((value) => value > 0);
  const range = heights.length ? [Math.log10(Math.min(...heights) / 2), Math.log10(Math.max(...heights) * 2)] : undefined;
  const loads = thinned([...new Set(traces.flatMap((trace) => trace.x))].sort((left, right) => left - right));
  return draw(place, [...traces, ...(stars.length ? [starTrace(stars, seriesColour)] : [])], {
    ...baseLayout(),
    xaxis: flatAxis(`${item.x} (logarithmic)`, true, { tickvals: loads, ticktext: loads.map(String) }),
    yaxis: flatAxis(`${metricNamed[metric].label}, ${unit.symbol} (logarithmic)`, true, { range, ...logTicks(heights) }),
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
  });
}

// The knee is one of throughput, which is bytes where bytes moved.
function objectKnee(line, metric) {
  if (line.kneeAt === undefined || !hasValue(line.cells[line.kneeAt], metric)) return false;
  return metric === facts.throughput(line.cells[line.kneeAt]);
}

function objectTrace(line, metric, unit) {
  const kept = line.cells.map((cell, place) => ({ cell, load: line.loads[place] })).filter(({ cell }) => hasValue(cell, metric));
  return lineTrace({
    label: line.label,
    style: line.style,
    xs: kept.map((point) => ({ value: point.load })),
    ys: kept.map((point) => inUnit(point.cell, metric, unit)),
    valid: kept.map((point) => isValid(point.cell, metric)),
    hover: kept.map((point) => hoverText(point.cell, [metric, ...(metric !== "p99" && LATENCIES.includes("p99") ? ["p99"] : [])])),
  });
}
