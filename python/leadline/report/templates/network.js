// The network: message size, latency and throughput, in space as published figures lay them, and on paper two at a time.

const NETWORK_VIEWS = [["space", "3D: message size, latency, throughput"], ["size throughput", "Throughput by message size"], ["size latency", "Latency by message size"], ["latency throughput", "Throughput against latency"]];

function startNetwork() {
  const place = part("network", ".plot");
  if (!place) return null;
  if (!data.network.length) return closeSection("network", "");
  const state = {};
  const withLatency = LATENCIES.filter((name) => data.network.some((item) => item.profiles.some((one) => one.latency.some((cell) => cell !== null && hasValue(cell, name)))));
  const options = METRIC_OPTIONS.filter(([name]) => withLatency.includes(name));
  const views = NETWORK_VIEWS.filter(([name]) => withLatency.length || name === "size throughput").filter(([name]) => name !== "space" || hasWebGl());
  const figure = whenVisible(place, () => drawNetwork(place, state));
  const extras = [
    { name: "view", label: "View", options: views, initial: views[0][0] },
    ...(options.length ? [{ name: "latency", label: "Latency", options, initial: withLatency.includes("p50") ? "p50" : options[0][0] }] : []),
  ];
  cascade(part("network", ".menus"), data.network, ["Run", "Held to"], extras, (item, picked) => {
    Object.assign(state, { item, view: picked.view, latency: picked.latency });
    place.classList.toggle("space", picked.view === "space");
    figure.repaint();
  });
  return figure;
}

// What a profile shows of a message size: the latency of one cell and the throughput of another.
function networkPoints(profile, latency, ways) {
  return profile.sizes.map((size, at) => {
    const slow = profile.latency[at];
    const fast = profile[ways][at];
    return { size, words: profile.words[at], region: profile.regions[at], slow: slow !== null && hasValue(slow, latency) ? slow : null, fast };
  });
}

async function drawNetwork(place, { item, view, latency }) {
  if (view === "space") return drawNetworkSpace(place, item, latency);
  const lines = networkLines(item, view, latency);
  if (!lines.length) return draw(place, [], { ...baseLayout(), annotations: [{ text: "not measured here", showarrow: false }] });
  const rates = lines.flatMap((line) => line.points.map((point) => point.fast)).filter((cell) => cell !== null);
  const waits = lines.flatMap((line) => line.points.map((point) => point.slow)).filter((cell) => cell !== null);
  const units = { throughput: rates.length && metricUnit("bandwidth", rates), latency: waits.length && metricUnit(latency, waits) };
  const [xName, yName] = view.split(" ");
  const traces = lines.map((line, style) => networkTrace(line, style, xName, yName, latency, units)).filter((trace) => trace.x.length);
  const stars = yName === "throughput" && xName === "size" ? networkStars(item, units.throughput) : [];
  return draw(place, [...traces, ...(stars.length ? [starTrace(stars, seriesColour)] : [])], {
    ...baseLayout(),
    xaxis: networkAxis(item, xName, latency, units, traces.flatMap((trace) => trace.x)),
    yaxis: networkAxis(item, yName, latency, units, traces.flatMap((trace) => trace.y)),
    showlegend: traces.length > 1,
    legend: { orientation: "h", y: -0.22 },
    margin: { l: 72, r: 16, t: 12, b: 96 },
  });
}

function networkLines(item, view, latency) {
  const ways = view === "size throughput" ? [["one_way", ""], ["there", ", both ways, there"], ["back", ", both ways, back"]] : [["one_way", ""]];
  return item.profiles.flatMap((profile) => ways.map(([way, words]) => ({ label: profile.label + words, points: networkPoints(profile, latency, way) })))
    .filter((line) => line.points.some((point) => (view === "size latency" ? point.slow !== null : view === "size throughput" ? point.fast !== null : point.slow !== null && point.fast !== null)));
}

function networkTrace(line, style, xName, yName, latency, units) {
  const needs = { size: () => true, latency: (point) => point.slow !== null, throughput: (point) => point.fast !== null };
  const kept = line.points.filter((point) => needs[xName](point) && needs[yName](point));
  const valueOf = {
    size: (point) => ({ value: point.size }),
    latency: (point) => inUnit(point.slow, latency, units.latency),
    throughput: (point) => inUnit(point.fast, "bandwidth", units.throughput),
  };
  const shown = [xName, yName];
  return lineTrace({
    label: line.label,
    style,
    xs: kept.map(valueOf[xName]),
    ys: kept.map(valueOf[yName]),
    texts: xName === "latency" ? kept.map((point) => point.words) : undefined,
    valid: kept.map((point) => networkValid(point, latency, shown)),
    hover: kept.map((point) => networkHover(line.label, point, latency)),
  });
}

function networkValid(point, latency, shown) {
  const good = (name) => (name === "latency" ? isValid(point.slow, latency) : name === "throughput" ? isValid(point.fast, "bandwidth") : true);
  return shown.every(good);
}

function networkHover(label, point, latency) {
  const lines = [`${label}, ${point.words}${point.region ? `: latency ${point.region}` : ""}`];
  if (point.slow !== null) lines.push(...hoverLines(point.slow, latency).slice(1));
  if (point.fast !== null) lines.push(...hoverLines(point.fast, "bandwidth").slice(1));
  return lines.map((line) => plain(wrapped(line))).join("<br>").replaceAll("\n", "<br>");
}

function networkAxis(item, name, latency, units, values) {
  if (name === "latency") return flatAxis(`${metricNamed[latency].label}, ${units.latency.symbol}`, true, logTicks(values));
  if (name === "throughput") return flatAxis(`throughput, ${units.throughput.symbol}`, true, logTicks(values));
  return flatAxis("message size", true, networkSizeTicks(item));
}

function networkSizeTicks(item) {
  const named = new Map(item.profiles.flatMap((profile) => profile.sizes.map((size, at) => [size, profile.words[at]])));
  const sizes = [...named.keys()].sort((left, right) => left - right);
  return { tickvals: thinned(sizes), ticktext: thinned(sizes.map((size) => named.get(size))) };
}

// The size that fills the network lies between measured ones: the star stands at the first measured one that does.
function networkStars(item, unit) {
  return item.profiles.flatMap((profile, style) => {
    if (!profile.filling) return [];
    const at = profile.sizes.findIndex((size, place) => size >= profile.filling[0] && profile.one_way[place] !== null);
    if (at < 0) return [];
    const cell = profile.one_way[at];
    return [{ x: profile.sizes[at], y: inUnit(cell, "bandwidth", unit).value, label: profile.label, sentence: profile.filling[1], doubtful: !isValid(cell, "bandwidth"), style }];
  });
}

async function drawNetworkSpace(place, item, latency) {
  const lines = networkLines(item, "latency throughput", latency);
  if (!lines.length) return draw(place, [], { ...baseLayout(), annotations: [{ text: "3D needs one tool that measured both latency and throughput", showarrow: false }] });
  const points = lines.flatMap((line) => line.points).filter((point) => point.slow !== null && point.fast !== null);
  const [slow, fast] = [metricUnit(latency, points.map((point) => point.slow)), metricUnit("bandwidth", points.map((point) => point.fast))];
  const traces = lines.map((line, style) => spaceLine(line, style, latency, slow, fast));
  const spaceOf = (title, values, extra = {}) => ({ title: { text: plain(title) }, type: "log", ...logTicks(values), ...extra, ...spaceColours() });
  return draw(place, traces, {
    ...baseLayout(),
    margin: { l: 0, r: 0, t: 0, b: 0 },
    showlegend: traces.length > 1,
    legend: { orientation: "h", y: 0.02 },
    scene: {
      xaxis: spaceOf("message size", [], networkSizeTicks(item)),
      yaxis: spaceOf(`${metricNamed[latency].label}, ${slow.symbol}`, points.map((point) => inUnit(point.slow, latency, slow).value)),
      zaxis: spaceOf(`throughput, ${fast.symbol}`, points.map((point) => inUnit(point.fast, "bandwidth", fast).value)),
      aspectmode: "manual",
      aspectratio: { x: 1.3, y: 1.15, z: 0.85 },
      camera: { eye: front(place), center: { x: 0, y: 0, z: -0.16 } },
    },
  });
}

// Lines to the floor say where in the plane of size and latency a point stands.
function spaceLine(line, style, latency, slow, fast) {
  const kept = line.points.filter((point) => point.slow !== null && point.fast !== null);
  const colour = seriesColour(style);
  return {
    type: "scatter3d",
    mode: "lines+markers",
    name: plain(line.label),
    x: kept.map((point) => point.size),
    y: kept.map((point) => inUnit(point.slow, latency, slow).value),
    z: kept.map((point) => inUnit(point.fast, "bandwidth", fast).value),
    hovertext: kept.map((point) => networkHover(line.label, point, latency)),
    hoverinfo: "text",
    projection: { z: { show: true, opacity: 0.35, scale: 0.5 } },
    line: { color: colour, width: 5 },
    marker: { size: 6, symbol: kept.map((point) => (networkValid(point, latency, ["latency", "throughput"]) ? "circle" : "circle-open")), color: colour, line: { width: 2, color: colour } },
  };
}
