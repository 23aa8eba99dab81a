// Wakes the drawing library when it is first needed, and draws lines over two axes with it.

const SHAPES = ["circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "star-square", "hexagram"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

let waking = null;
function wakeLibrary() {
  waking = waking || unpackLibrary();
  return waking;
}

async function unpackLibrary() {
  readCanvasesOften();
  const script = document.createElement("script");
  script.textContent = await unpack(document.getElementById("library"));
  document.head.append(script);
  return window.Plotly;
}

// The library turns 3D labels into shapes by reading canvases back; told so, the browser keeps them in memory and does not warn.
function readCanvasesOften() {
  const original = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function getContext(kind, options) {
    return original.call(this, kind, kind === "2d" ? { willReadFrequently: true, ...options } : options);
  };
}

function cssValue(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function seriesColour(style) {
  return cssValue(`--series-${(style % 7) + 1}`);
}

function baseLayout() {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: cssValue("--font"), size: 13, color: cssValue("--ink") },
    hoverlabel: { align: "left", bgcolor: cssValue("--paper"), bordercolor: cssValue("--line"), font: { color: cssValue("--ink") } },
    margin: { l: 72, r: 16, t: 12, b: 56 },
  };
}

function flatAxis(title, logarithmic, extra = {}) {
  return {
    title: { text: title },
    type: logarithmic ? "log" : "linear",
    gridcolor: cssValue("--faint"),
    linecolor: cssValue("--line"),
    zerolinecolor: cssValue("--line"),
    showline: true,
    ...extra,
  };
}

// Ticks of a logarithmic axis at 1, 2, 5 x 10^k, written without exponents.
function logTicks(values) {
  const present = values.filter((value) => value > 0);
  if (!present.length) return {};
  const steps = [];
  const wide = Math.max(...present) / Math.min(...present) > 1000;
  for (let power = Math.floor(Math.log10(Math.min(...present))); power <= Math.ceil(Math.log10(Math.max(...present))); power += 1) {
    (wide ? [1] : [1, 2, 5]).forEach((lead) => steps.push(lead * 10 ** power));
  }
  return { tickvals: steps, ticktext: steps.map((step) => Number(step.toPrecision(1)).toLocaleString("en-US", { maximumFractionDigits: 9 })) };
}

// Plotly reads a few HTML tags in texts: foreign words must not become tags.
function plain(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function hoverText(cell, metricNames) {
  const lines = metricNames.flatMap((metric, place) => hoverLines(cell, metric).slice(place ? 1 : 0));
  return [...new Set(lines)].map((line) => plain(wrapped(line))).join("<br>").replaceAll("\n", "<br>");
}

function wrapped(line) {
  return line.replace(/(.{60,80}?) /g, "$1\n");
}

function whiskers(points, colour) {
  const known = (end, value) => (end === null ? 0 : Math.abs(end - value));
  return {
    type: "data",
    symmetric: false,
    array: points.map((point) => known(point.high, point.value)),
    arrayminus: points.map((point) => known(point.low, point.value)),
    thickness: 1,
    width: 2,
    color: colour,
  };
}

// One line of a chart. `xs` and `ys` are {value, low, high} in the units of the axes.
function lineTrace({ label, style, xs, ys, texts, valid, hover }) {
  const colour = seriesColour(style);
  const shape = SHAPES[style % SHAPES.length];
  return {
    type: "scatter",
    mode: texts ? "lines+markers+text" : "lines+markers",
    name: plain(label),
    x: xs.map((point) => point.value),
    y: ys.map((point) => point.value),
    error_x: xs.some((point) => point.low !== undefined) ? whiskers(xs, colour) : undefined,
    error_y: whiskers(ys, colour),
    text: texts,
    textposition: "top left",
    textfont: { size: 11, color: cssValue("--soft") },
    line: { color: colour, width: 2, dash: DASHES[Math.floor(style / 7) % DASHES.length] },
    marker: { size: 10, symbol: shape, color: valid.map((good) => (good ? colour : cssValue("--paper"))), line: { width: 2, color: colour } },
    hovertext: hover,
    hoverinfo: "text",
    cliponaxis: false,
  };
}

// Blanks the texts that would lie on a text placed before; positions in pixels are near enough for that.
function thinTexts(traces, place, top, logarithmic) {
  const ys = traces.flatMap((trace) => trace.y).filter((value) => value > 0);
  const floor = Math.log(Math.min(...ys));
  const heightOf = (value) => (logarithmic ? (Math.log(value) - floor) / (Math.log(top) - floor || 1) : value / top);
  const xs = traces.flatMap((trace) => trace.x).map(Math.log);
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const placed = [];
  traces.forEach((trace) => {
    trace.text = trace.text.map((text, at) => {
      const x = ((Math.log(trace.x[at]) - least) / (most - least || 1)) * (place.clientWidth - 130);
      const y = heightOf(trace.y[at]) * (place.clientHeight - 100);
      const free = placed.every((other) => Math.abs(other.x - x) > 18 || Math.abs(other.y - y) > 13);
      if (free) placed.push({ x, y });
      return free ? text : "";
    });
  });
}

function starTrace(stars, colourOf) {
  return {
    type: "scatter",
    mode: "markers",
    name: "knee",
    showlegend: false,
    x: stars.map((star) => star.x),
    y: stars.map((star) => star.y),
    hovertext: stars.map((star) => plain(wrapped(`${star.label}: ${star.sentence}`)).replaceAll("\n", "<br>")),
    hoverinfo: "text",
    marker: { size: 20, symbol: "star", color: stars.map((star) => (star.doubtful ? cssValue("--paper") : colourOf(star.style))), line: { width: 1.5, color: cssValue("--ink") } },
  };
}

const plotConfig = { displaylogo: false, responsive: true, showTips: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage", "sendDataToCloud"] };

async function draw(place, traces, layout) {
  const plotly = await wakeLibrary();
  await plotly.react(place, traces, layout, plotConfig);
  place.dataset.drawn = String(Number(place.dataset.drawn || 0) + 1);
}

// Runs `paint` when the place first comes near the screen, and again whenever `again` is called after that.
function whenVisible(place, paint) {
  let seen = false;
  const begin = () => {
    if (seen) return;
    seen = true;
    watcher.disconnect();
    paint();
  };
  const watcher = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && begin(), { rootMargin: "200px" });
  watcher.observe(place);
  return { begin, repaint: () => seen && paint() };
}

// On paper a figure is as wide as the page, not as the window.
const PAPER_WIDTH = 680;
function fitToPaper(printing) {
  document.querySelectorAll(".plot.js-plotly-plot:not(.space)").forEach((place) => {
    window.Plotly.relayout(place, printing ? { width: PAPER_WIDTH, height: 400 } : { autosize: true, width: null, height: null });
  });
}
