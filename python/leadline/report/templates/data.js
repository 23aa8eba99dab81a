// Reads the columns that payload.py wrote and writes figures with their units, as wording.py does.

const data = await readData();

// Small data stands in the page as plain JSON; what would make the page too large is packed.
async function readData() {
  const place = document.getElementById("data");
  return JSON.parse(place.type === "application/json" ? place.textContent : await unpack(place));
}

async function unpack(place) {
  const packed = Uint8Array.from(atob(place.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// The three forms of columns.py as one function from row to value.
function reader(column) {
  if (Array.isArray(column)) return (row) => column[row];
  if ("same" in column) return () => column.same;
  return (row) => column.values[column.at[row]];
}

// Lines taken apart into words: put together again on demand. Ranks say which row of its shape a line is.
function textReader(packed) {
  const seen = packed.shapes.map(() => 0);
  const ranks = packed.shape.map((shape) => seen[shape]++);
  const words = packed.shapes.map((shape) => shape.words.map(reader));
  return (row) => words[packed.shape[row]].map((word) => word(ranks[row])).join("");
}

function readMetric(metric) {
  const { value, low, high, n, method } = metric;
  return { ...metric, value: reader(value), low: reader(low), high: reader(high), n: reader(n), method: reader(method) };
}

const metrics = data.metrics.map(readMetric);
const metricNamed = Object.fromEntries(metrics.map((metric) => [metric.name, metric]));
const settings = data.settings.map((setting) => ({
  ...setting,
  value: (row) => setting.values[setting.at[row]],
  word: (row) => setting.words[setting.at[row]],
  phrase: (row) => setting.phrases[setting.at[row]],
}));
const facts = Object.fromEntries(Object.entries(data.facts).map(([name, column]) => [name, reader(column)]));
const resources = data.resources.map((resource) => ({ ...resource, value: reader(resource.value) }));
const commandOf = textReader(data.command);
const verdictsOf = readVerdicts(data.verdicts);
const severalRuns = data.runs.length > 1;

function readVerdicts(columns) {
  const name = reader(columns.name);
  const spoils = reader(columns.metrics);
  const evidence = textReader(columns.evidence);
  const found = new Map();
  columns.cell.forEach((cell, row) => {
    const verdict = { name: name(row), metrics: spoils(row), evidence: () => evidence(row) };
    if (!found.has(cell)) found.set(cell, []);
    found.get(cell).push(verdict);
  });
  return (cell) => found.get(cell) || [];
}

function spoiled(cell, metric) {
  return verdictsOf(cell).filter((verdict) => !verdict.metrics || verdict.metrics.split(" ").includes(metric));
}

function hasValue(cell, metric) {
  return cell !== null && metricNamed[metric].value(cell) !== null;
}

function isValid(cell, metric) {
  return hasValue(cell, metric) && spoiled(cell, metric).length === 0;
}

// Three significant digits without an exponent, as analyse/wording.py writes them.
function digits(value) {
  if (value === 0) return "0";
  const places = Math.max(2 - Math.floor(Math.log10(Math.abs(value))), 0);
  const rounded = Number(value.toPrecision(3));
  return Math.abs(rounded) >= 100 ? rounded.toLocaleString("en-US", { maximumFractionDigits: 0 }) : rounded.toFixed(places);
}

// One unit for all these values (in the base unit of the scale), chosen as unit_for in wording.py does.
function unitFor(scale, values) {
  const sizes = values.filter((value) => value).map(Math.abs);
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  const least = sizes.reduce((so, size) => Math.min(so, size), largest);
  const judged = scale === "latency" ? Math.sqrt(least * largest) : largest;
  const fitting = data.scales[scale].filter(([, size]) => size <= judged);
  const [symbol, size] = fitting.length ? fitting[fitting.length - 1] : data.scales[scale][0];
  return { symbol, size };
}

function measure(scale, value) {
  const unit = unitFor(scale, [value]);
  return `${digits(value / unit.size)} ${unit.symbol}`.trim();
}

function baseValue(cell, metric) {
  return metricNamed[metric].value(cell) * metricNamed[metric].size;
}

// What is done to names is no I/O.
function scaleAmong(metric, cells) {
  const named = metric === "iops" && cells.length > 0 && cells.every((cell) => facts.operation(cell));
  return named ? "operations" : metricNamed[metric].scale;
}

function metricUnit(metric, cells) {
  const present = cells.filter((cell) => hasValue(cell, metric));
  return unitFor(scaleAmong(metric, present), present.map((cell) => baseValue(cell, metric)));
}

// Value and interval of a cell's metric in a unit; ends that the data cannot give stay null.
function inUnit(cell, metric, unit) {
  const { value, low, high, size } = metricNamed[metric];
  const scaled = (figure) => (figure === null ? null : (figure * size) / unit.size);
  return { value: scaled(value(cell)), low: scaled(low(cell)), high: scaled(high(cell)) };
}

function measureOf(cell, metric) {
  return hasValue(cell, metric) ? measure(scaleAmong(metric, [cell]), baseValue(cell, metric)) : "not measured";
}

function intervalOf(cell, metric) {
  const unit = metricUnit(metric, [cell]);
  const { low, high } = inUnit(cell, metric, unit);
  if (low === null && high === null) return "no interval";
  return `${low === null ? "open" : digits(low)} to ${high === null ? "open" : digits(high)} ${unit.symbol}`;
}

function settingsPhrase(cell) {
  return settings.filter((setting) => setting.names).map((setting) => setting.phrase(cell)).filter(Boolean).join(", ");
}

function cellName(cell) {
  return `${severalRuns ? `${facts.run(cell)}: ` : ""}${facts.test(cell)}, ${settingsPhrase(cell)}`;
}

// What hovering over a point or a field of the map says, in plain text lines.
function hoverLines(cell, metric) {
  const { n, method, label } = metricNamed[metric];
  const doubts = spoiled(cell, metric).map((verdict) => `${verdict.name}: ${verdict.evidence()}`);
  return [
    cellName(cell),
    `${label} ${measureOf(cell, metric)}`,
    `95 % interval ${intervalOf(cell, metric)}, n = ${n(cell)}`,
    method(cell),
    ...(doubts.length ? doubts : ["valid"]),
  ];
}
