// Each section of the page: its menus, and what it draws for the entries that are chosen.

const LATENCIES = metrics.filter((metric) => metric.scale === "latency").map((metric) => metric.name);
const METRIC_OPTIONS = metrics.map((metric) => [metric.name, metric.label]);

function part(section, selector) {
  return document.querySelector(`#${section} ${selector}`);
}

function say(section, words) {
  const notice = part(section, "> .notice");
  notice.textContent = words;
  notice.hidden = !words;
}

// A section without anything to draw says so instead of showing empty axes.
function closeSection(section, words) {
  document.querySelectorAll(`#${section} > .menus, #${section} > .plot, #${section} > .legend, #${section} > .tools, #${section} > .map`)
    .forEach((one) => one.remove());
  say(section, words);
}

function startSurfaces() {
  if (!data.surfaces.length) return closeSection("surfaces", "No grid: a surface needs cells that differ in two settings.");
  const webGl = hasWebGl();
  const state = {};
  const place = part("surfaces", ".plot");
  const map = part("surfaces", ".map");
  const tools = part("surfaces", ".tools");
  addCameraButtons(tools, place);
  const paint = () => state.view === "3D" && drawSpace(place, state.item, state.metric);
  const figure = whenVisible(place, paint);
  const extras = [
    { name: "metric", label: "Metric", options: METRIC_OPTIONS, initial: metrics[0].name },
    { name: "view", label: "View", options: [["3D", "3D"], ["2D", "2D"]], initial: webGl && !isFlat(data.surfaces[0]) ? "3D" : "2D" },
  ];
  cascade(part("surfaces", ".menus"), data.surfaces, ["Run", "Grid", "Test"], extras, (item, picked) => {
    Object.assign(state, { item, metric: metricOf(item, picked.metric), view: webGl ? picked.view : "2D" });
    document.getElementById("surfaces").dataset.view = state.view;
    place.setAttribute("aria-label", `Surface: ${item.keys.filter(Boolean).join(", ")}, ${metricNamed[state.metric].label}. The 2D view holds the same figures as a table.`);
    drawMap(map, item, state.metric);
    figure.repaint();
  });
  if (!webGl) say("surfaces", "This browser offers no WebGL, so the surface is shown as a table only.");
  return { repaint: figure.repaint };
}

// Cells that moved no bytes have no bandwidth to show: then what they are known by.
function metricOf(item, metric) {
  const cells = item.rows.flat().filter((cell) => cell !== null);
  return cells.some((cell) => hasValue(cell, metric)) || !cells.length ? metric : facts.throughput(cells[0]);
}

// One row of cells spans no surface, and between two words (targets, engines) there is nothing to interpolate: the table says it better.
function isFlat(item) {
  return [item.x, item.y].some((axis) => axis.values.length < 2 || axis.values.some((value) => typeof value !== "number"));
}

function startThroughput() {
  if (!data.throughput.length) return closeSection("throughput", "No curve: that needs cells that differ in their load only.");
  if (!LATENCIES.length) return closeSection("throughput", "The source gives no latencies.");
  const state = {};
  const place = part("throughput", ".plot");
  const figure = whenVisible(place, () => drawThroughput(place, state.item, state.latency));
  const extras = [{ name: "latency", label: "Latency", options: METRIC_OPTIONS.filter(([name]) => LATENCIES.includes(name)), initial: usualLatency() }];
  cascade(part("throughput", ".menus"), data.throughput, ["Test", "Points by", "Lines", "At"], extras, (item, picked) => {
    Object.assign(state, { item, latency: picked.latency });
    place.setAttribute("aria-label", `Throughput against ${metricNamed[picked.latency].label}: ${item.keys.filter(Boolean).join(", ")}. Every cell stands in the table below.`);
    listKnees(item);
    figure.repaint();
  });
  return figure;
}

function usualLatency() {
  return ["p99", "mean"].find((name) => LATENCIES.includes(name)) || LATENCIES[0];
}

const lineCurve = (row) => data.lines.curves[data.lines.curve[row]];
const lineLabel = reader(data.lines.label);
const lineStyle = reader(data.lines.style);

function chartLines(item) {
  return Array.from({ length: item.to - item.from }, (_, place) => item.from + place).map((row) => {
    const [cells, loads, kneeAt, kneeSentence, kneeDoubtful] = lineCurve(row);
    return { label: lineLabel(row), style: lineStyle(row), cells, loads, kneeAt, kneeSentence, kneeDoubtful };
  });
}

function listKnees(item) {
  const bent = chartLines(item).filter((line) => line.kneeAt !== undefined);
  part("throughput", ".knees").replaceChildren(...bent.map((line) => element("li", `★ ${line.label}: ${line.kneeSentence}`)));
}

function drawThroughput(place, item, latency) {
  const lines = chartLines(item);
  const cells = lines.flatMap((line) => line.cells);
  const rate = item.metric;
  const [across, up] = [metricUnit(latency, cells), metricUnit(rate, cells)];
  const traces = lines.map((line) => throughputTrace(line, latency, rate, across, up));
  const stars = lines.filter((line) => line.kneeAt !== undefined && hasValue(line.cells[line.kneeAt], latency) && hasValue(line.cells[line.kneeAt], rate)).map((line) => ({
    label: line.label,
    style: line.style,
    sentence: line.kneeSentence,
    doubtful: line.kneeDoubtful,
    x: inUnit(line.cells[line.kneeAt], latency, across).value,
    y: inUnit(line.cells[line.kneeAt], rate, up).value,
  }));
  const xs = traces.flatMap((trace) => trace.x);
  const most = Math.max(...traces.flatMap((trace) => trace.y));
  const limits = (data.limits[item.keys[0]] || []).map(([label, value]) => ({ words: `${label} ${measure("bandwidth", value)}`, value: value / up.size }));
  const [near, far] = [limits.filter((limit) => limit.value <= 2.5 * most), limits.filter((limit) => limit.value > 2.5 * most)];
  const top = Math.max(most, ...near.map((limit) => limit.value)) * 1.08;
  thinTexts(traces, place, top, item.log);
  const ys = traces.flatMap((trace) => trace.y).filter((value) => value > 0);
  const upward = item.log
    ? flatAxis(`${rateLabel(rate, cells)}, ${up.symbol} (logarithmic)`, true, { range: [Math.log10(Math.min(...ys) / 1.6), Math.log10(top * 1.5)], ...logTicks(ys) })
    : flatAxis(`${rateLabel(rate, cells)}, ${up.symbol}`, false, { range: [0, top] });
  const layout = {
    ...baseLayout(),
    xaxis: flatAxis(`${metricNamed[latency].label}, ${across.symbol} (logarithmic)`, true, logTicks(xs)),
    yaxis: upward,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    shapes: near.map(limitShape),
    annotations: near.map((limit) => limitWords(limit, item.log)),
  };
  say("throughput", far.length ? `Above the picture: ${far.map((limit) => limit.words).join(", ")}.` : "");
  return draw(place, [...traces, starTrace(stars, seriesColour)], layout);
}

function rateLabel(rate, cells) {
  return scaleAmong(rate, cells) === "operations" ? "operations" : metricNamed[rate].label;
}

function throughputTrace(line, latency, rate, across, up) {
  const kept = line.cells.map((cell, place) => ({ cell, load: line.loads[place] }))
    .filter(({ cell }) => hasValue(cell, latency) && hasValue(cell, rate));
  const cells = kept.map((point) => point.cell);
  return lineTrace({
    label: line.label,
    style: line.style,
    xs: cells.map((cell) => inUnit(cell, latency, across)),
    ys: cells.map((cell) => inUnit(cell, rate, up)),
    texts: kept.map((point) => String(point.load)),
    valid: cells.map((cell) => isValid(cell, latency) && isValid(cell, rate)),
    hover: cells.map((cell) => hoverText(cell, [rate, latency])),
  });
}

function limitShape(limit) {
  return { type: "line", xref: "paper", x0: 0, x1: 1, y0: limit.value, y1: limit.value, line: { dash: "dash", width: 1.5, color: cssValue("--soft") } };
}

// Shapes take values on a logarithmic axis, annotations their logarithms (plotly.js, layout.annotations.y).
function limitWords(limit, logarithmic) {
  return { xref: "paper", x: 1, xanchor: "right", y: logarithmic ? Math.log10(limit.value) : limit.value, yanchor: "bottom", showarrow: false, text: plain(limit.words), font: { color: cssValue("--soft"), size: 12 } };
}

function startPercentiles() {
  if (!data.percentiles.length) return closeSection("percentiles", "No curve with latencies.");
  const state = {};
  const place = part("percentiles", ".plot");
  const figure = whenVisible(place, () => drawPercentiles(place, state.item));
  cascade(part("percentiles", ".menus"), data.percentiles, ["Test", "Points by", "At"], [], (item) => {
    state.item = item;
    place.setAttribute("aria-label", `Latency percentiles: ${item.keys.filter(Boolean).join(", ")}. Every cell stands in the table below.`);
    figure.repaint();
  });
  return figure;
}

function drawPercentiles(place, item) {
  const cells = item.cells;
  const present = item.metrics.flatMap((metric) => cells.filter((cell) => hasValue(cell, metric)).map((cell) => baseValue(cell, metric)));
  const unit = unitFor("latency", present);
  const traces = item.metrics.map((metric, style) => {
    const kept = cells.map((cell, at) => ({ cell, load: item.loads[at] })).filter(({ cell }) => hasValue(cell, metric));
    return lineTrace({
      label: metric,
      style,
      xs: kept.map((point) => ({ value: point.load })),
      ys: kept.map((point) => inUnit(point.cell, metric, unit)),
      valid: kept.map((point) => isValid(point.cell, metric)),
      hover: kept.map((point) => hoverText(point.cell, [metric])),
    });
  });
  const layout = {
    ...baseLayout(),
    xaxis: flatAxis(`${item.keys[1]} (logarithmic)`, true, { tickvals: thinned(item.loads), ticktext: thinned(item.loads).map(String) }),
    yaxis: flatAxis(`latency, ${unit.symbol} (logarithmic)`, true, logTicks(present.map((value) => value / unit.size))),
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
  };
  return draw(place, traces, layout);
}
