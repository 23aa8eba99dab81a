// The surface of one grid and test: in 3D with the measured cells as points on it, in 2D as a table that reads and prints.

// Viridis at nine places: perceptually even and safe for colour-blind readers.
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
const colourScale = VIRIDIS.map((colour, place) => [place / (VIRIDIS.length - 1), colour]);

function hasWebGl() {
  try {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
  } catch {
    return false;
  }
}

// A latency spans decades over a grid, so its colours and its z axis are logarithmic.
function isLogarithmic(metric) {
  return metricNamed[metric].scale === "latency";
}

function shareOf(value, least, most, logarithmic) {
  if (most <= least) return 1;
  const [a, b, c] = logarithmic ? [value, least, most].map(Math.log) : [value, least, most];
  return (a - b) / (c - b);
}

function viridis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const [low, part] = [Math.floor(place), place - Math.floor(place)];
  const [from, to] = [VIRIDIS[low], VIRIDIS[Math.min(low + 1, VIRIDIS.length - 1)]].map(channels);
  return from.map((channel, index) => Math.round(channel + (to[index] - channel) * part));
}

function channels(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

// Black or white, whichever contrasts more (WCAG relative luminance).
function inkOn(rgb) {
  const [r, g, b] = rgb.map((channel) => channel / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

function gridCells(item) {
  return item.rows.flat().filter((cell) => cell !== null);
}

function drawMap(place, item, metric) {
  const cells = gridCells(item).filter((cell) => hasValue(cell, metric));
  const unit = metricUnit(metric, cells);
  const values = cells.map((cell) => inUnit(cell, metric, unit).value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const table = element("table", null, { class: "heat" });
  const words = `${item.keys.filter(Boolean).join(", ")}: ${metricNamed[metric].label} in ${unit.symbol}`;
  table.append(element("caption", `${words}. Small: 95 % interval. Hatched with ○: not valid.`), mapHead(item));
  const body = element("tbody");
  [...item.rows.keys()].reverse().forEach((row) => {
    const line = element("tr");
    line.append(element("th", item.y.words[row], { scope: "row" }));
    line.append(...item.rows[row].map((cell) => mapField(cell, metric, unit, least, most)));
    body.append(line);
  });
  table.append(body);
  place.replaceChildren(table);
}

function mapHead(item) {
  const head = element("thead");
  const over = element("tr");
  over.append(element("th", `${item.y.label} ↓`, { scope: "col", rowspan: "2" }));
  over.append(element("th", `${item.x.label} →`, { scope: "colgroup", colspan: String(item.x.words.length) }));
  const names = element("tr");
  names.append(...item.x.words.map((word) => element("th", word, { scope: "col" })));
  head.append(over, names);
  return head;
}

function mapField(cell, metric, unit, least, most) {
  if (!hasValue(cell, metric)) return element("td", "not measured", { class: "absent" });
  const { value, low, high } = inUnit(cell, metric, unit);
  const field = element("td", null, { title: hoverLines(cell, metric).join("\n") });
  const rgb = viridis(shareOf(value, least, most, isLogarithmic(metric)));
  field.style.backgroundColor = `rgb(${rgb.join(" ")})`;
  field.style.color = inkOn(rgb);
  const doubts = spoiled(cell, metric);
  field.append(element("b", `${doubts.length ? "○ " : ""}${digits(value)}`));
  if (low !== null || high !== null) {
    field.append(element("small", `${low === null ? "open" : digits(low)}–${high === null ? "open" : digits(high)}`));
  }
  if (doubts.length) {
    field.classList.add("doubtful");
    field.append(element("span", `not valid: ${doubts.map((verdict) => verdict.name).join(", ")}`, { class: "unseen" }));
  }
  return field;
}

function spaceAxis(axis) {
  const numeric = axis.values.every((value) => typeof value === "number");
  return {
    title: { text: plain(axis.label) },
    type: numeric && axis.log ? "log" : numeric ? "linear" : "category",
    tickvals: thinned(axis.values),
    ticktext: thinned(axis.words).map(plain),
    ...spaceColours(),
  };
}

// At most nine ticks: a long axis would print words over words.
function thinned(values) {
  const step = Math.ceil(values.length / 9);
  return values.filter((_, place) => place % step === 0);
}

function spaceColours() {
  return { gridcolor: cssValue("--line"), linecolor: cssValue("--line"), color: cssValue("--ink"), showbackground: false };
}

function spaceTraces(item, metric, unit) {
  const shown = (cell) => (hasValue(cell, metric) ? inUnit(cell, metric, unit).value : null);
  const heights = item.rows.map((row) => row.map(shown));
  const logarithmic = isLogarithmic(metric);
  const tint = heights.map((row) => row.map((value) => (value === null ? null : logarithmic ? Math.log10(value) : value)));
  const surface = {
    type: "surface",
    x: item.x.values,
    y: item.y.values,
    z: heights,
    surfacecolor: tint,
    colorscale: colourScale,
    colorbar: colourBar(metric, unit, tint.flat().filter((value) => value !== null), logarithmic),
    opacity: 0.85,
    hoverinfo: "skip",
    contours: { x: { highlight: false }, y: { highlight: false }, z: { highlight: false } },
  };
  return [surface, pointTrace(item, metric, shown, true), pointTrace(item, metric, shown, false)];
}

function colourBar(metric, unit, tints, logarithmic) {
  const ticks = logarithmic ? logTicks(tints.map((tint) => 10 ** tint)) : {};
  return {
    title: { text: unit.symbol, side: "top" },
    thickness: 12,
    len: 0.7,
    tickvals: ticks.tickvals && ticks.tickvals.map(Math.log10),
    ticktext: ticks.ticktext,
    outlinewidth: 0,
  };
}

function pointTrace(item, metric, shown, valid) {
  const points = item.rows.flatMap((row, y) => row.map((cell, x) => ({ cell, x: item.x.values[x], y: item.y.values[y] })));
  const kept = points.filter(({ cell }) => hasValue(cell, metric) && isValid(cell, metric) === valid);
  return {
    type: "scatter3d",
    mode: "markers",
    name: valid ? "valid" : "not valid",
    showlegend: false,
    x: kept.map((point) => point.x),
    y: kept.map((point) => point.y),
    z: kept.map((point) => shown(point.cell)),
    hovertext: kept.map((point) => hoverText(point.cell, [metric])),
    hoverinfo: "text",
    marker: { size: valid ? 5 : 7, symbol: valid ? "circle" : "circle-open", color: cssValue("--ink"), line: { width: valid ? 0 : 3, color: cssValue("--ink") } },
  };
}

const FRONT = { x: -1.42, y: -1.52, z: 0.88 };

// A narrow picture needs more distance to hold the whole surface.
function front(place) {
  const distance = Math.max(1, 520 / place.clientWidth);
  return { x: FRONT.x * distance, y: FRONT.y * distance, z: FRONT.z * distance };
}

async function drawSpace(place, item, metric) {
  const cells = gridCells(item).filter((cell) => hasValue(cell, metric));
  const unit = metricUnit(metric, cells);
  const values = cells.map((cell) => inUnit(cell, metric, unit).value);
  const height = isLogarithmic(metric) ? { type: "log", ...logTicks(values) } : { rangemode: "tozero" };
  const layout = {
    ...baseLayout(),
    margin: { l: 0, r: 0, t: 0, b: 0 },
    uirevision: "one camera for all menus",
    scene: {
      xaxis: spaceAxis(item.x),
      yaxis: spaceAxis(item.y),
      zaxis: { title: { text: `${metricNamed[metric].label}, ${unit.symbol}` }, ...height, ...spaceColours() },
      aspectmode: "manual",
      aspectratio: { x: 1.3, y: 1.15, z: 0.85 },
      camera: { eye: front(place), center: { x: 0, y: 0, z: -0.16 } },
    },
  };
  await draw(place, spaceTraces(item, metric, unit), layout);
}

// Buttons for readers without a mouse: turn about the height axis, come nearer, go back to the front.
function addCameraButtons(tools, place) {
  const moves = [
    ["Turn left", ({ x, y, z }) => turned(x, y, z, Math.PI / 8)],
    ["Turn right", ({ x, y, z }) => turned(x, y, z, -Math.PI / 8)],
    ["Nearer", ({ x, y, z }) => ({ x: x / 1.2, y: y / 1.2, z: z / 1.2 })],
    ["Farther", ({ x, y, z }) => ({ x: x * 1.2, y: y * 1.2, z: z * 1.2 })],
    ["Front", () => front(place)],
  ];
  moves.forEach(([words, move]) => {
    const button = element("button", words, { type: "button" });
    button.addEventListener("click", () => {
      const eye = move(place.layout.scene.camera.eye);
      window.Plotly.relayout(place, { "scene.camera.eye": eye });
    });
    tools.append(button);
  });
}

function turned(x, y, z, angle) {
  return { x: x * Math.cos(angle) - y * Math.sin(angle), y: x * Math.sin(angle) + y * Math.cos(angle), z };
}
