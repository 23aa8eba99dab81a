// Starts every section, then what concerns the whole page: cell details, downloads, dark mode, printing.

const settingColumns = settings.map((setting) => ({
  label: setting.label,
  text: (cell) => setting.word(cell),
  sort: (cell) => setting.value(cell),
  numeric: typeof setting.value(0) === "number",
}));
const runColumns = severalRuns ? [{ label: "run", text: facts.run, sort: facts.run }] : [];
const testColumn = { label: "test", text: facts.test, sort: facts.test };
const experimentColumn = { label: "experiment", text: facts.experiment, sort: facts.experiment };
const isNaming = (_, place) => settings[place].names;
// Where many settings vary, the experiment's name stands for most of them and they follow behind the figures.
const isCrowded = settings.filter((setting) => setting.names).length > 6;
const isFurther = (_, place) => isCrowded && !["target", "block_size", "iodepth", "numjobs", "clients", "ioengine"].includes(settings[place].name);
const varyingSettings = settingColumns.filter((column, place) => isNaming(column, place) && !isFurther(column, place));
const furtherColumns = settingColumns.filter((column, place) => isNaming(column, place) && isFurther(column, place));
const cellColumns = [...runColumns, ...(isCrowded ? [experimentColumn] : []), testColumn, ...varyingSettings];

function metricColumn(metric) {
  return {
    label: metric.label.replace(" latency", ""),
    numeric: true,
    text: (cell) => (hasValue(cell, metric.name) ? measureOf(cell, metric.name) : "–"),
    sort: (cell) => metric.value(cell),
    doubtful: (cell) => hasValue(cell, metric.name) && !isValid(cell, metric.name),
  };
}

function verdictWords(cell) {
  const words = verdictsOf(cell).map((verdict) => (verdict.metrics ? `${verdict.name} (${verdict.metrics.replaceAll(" ", ", ")})` : verdict.name));
  return [...new Set(words)].join("; ") || "valid";
}

const anyFailed = Array.from({ length: data.count }, (_, cell) => facts.failed(cell)).some((count) => count > 0);
const failedColumns = anyFailed ? [{ label: "failed", numeric: true, text: (cell) => facts.failed(cell).toLocaleString("en-US"), sort: facts.failed }] : [];
const verdictColumn = { label: "verdict", text: verdictWords, sort: verdictWords, wraps: true };

const detailColumn = {
  label: "details",
  text: () => "",
  sort: null,
  node: (cell) => {
    const button = element("button", "open", { type: "button", "aria-label": `Details: ${cellName(cell)}` });
    button.addEventListener("click", () => openDetail(cell));
    return button;
  },
};

function resourceColumn(resource) {
  return {
    label: resource.label,
    numeric: true,
    text: (cell) => (resource.value(cell) === null ? "–" : resource.scale ? measure(resource.scale, resource.value(cell)) : digits(resource.value(cell))),
    sort: (cell) => resource.value(cell),
  };
}

function openDetail(cell) {
  const dialog = document.getElementById("detail");
  const close = element("button", "Close", { type: "button" });
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(element("h2", cellName(cell), { id: "detail-title" }), detailMetrics(cell), detailVerdicts(cell), ...detailMembers(cell), detailFacts(cell), ...detailCommand(cell), close);
  dialog.showModal();
}

function detailMetrics(cell) {
  const table = element("table", null, { class: "data" });
  metrics.filter((metric) => hasValue(cell, metric.name)).forEach((metric) => {
    const row = element("tr");
    row.append(element("th", metric.label, { scope: "row" }), element("td", measureOf(cell, metric.name), { class: "number" }));
    row.append(element("td", intervalOf(cell, metric.name)), element("td", `n = ${metric.n(cell)}`), element("td", metric.method(cell)));
    table.append(row);
  });
  return table;
}

function detailVerdicts(cell) {
  const list = element("ul");
  const verdicts = verdictsOf(cell);
  if (!verdicts.length) list.append(element("li", "valid: no check found a reason to doubt it"));
  verdicts.forEach((verdict) => {
    const item = element("li");
    item.append(element("strong", verdict.name), ` ${verdict.metrics ? `(${verdict.metrics.replaceAll(" ", ", ")}) ` : ""}${verdict.evidence()}`);
    list.append(item);
  });
  return list;
}

function detailFacts(cell) {
  const kept = facts.effective_concurrency(cell);
  const words = [
    settings.filter((setting) => setting.word(cell)).map((setting) => `${setting.label} ${setting.word(cell)}`).join(", "),
    `${facts.repeats(cell)} repeats, ${facts.operations(cell).toLocaleString("en-US")} operations, ${digits(facts.size_mib(cell))} MiB`,
  ];
  words.push(`concurrency ${facts.concurrency(cell)} offered${kept === null ? "" : `, ${digits(kept)} kept (Little's law)`}`);
  const [handed, done] = [facts.submission_mean_us(cell), facts.completion_mean_us(cell)];
  if (handed !== null && done !== null) words.push(`mean latency: submission ${measure("latency", handed * 1e3)}, completion ${measure("latency", done * 1e3)}`);
  const list = element("ul");
  list.append(...words.map((line) => element("li", line)));
  return list;
}

function detailCommand(cell) {
  const command = commandOf(cell);
  if (!command) return [element("p", "No command was recorded.")];
  const code = element("code", command, { class: "command" });
  const copy = element("button", "Copy command", { type: "button" });
  copy.addEventListener("click", () => copyText(code, copy));
  return [element("p", "The command that repeats it:"), code, copy];
}

// Without the clipboard (old browser, permission) the command is selected, so that Ctrl-C takes it.
async function copyText(code, button) {
  getSelection().selectAllChildren(code);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Selected: copy with Ctrl-C";
  }
}

function startTables() {
  const cells = new LazyTable(part("cells", ".lazy"), "Every cell with its verdict", [detailColumn, ...cellColumns, verdictColumn, ...failedColumns, ...metrics.map(metricColumn), ...furtherColumns], data.count, "No cell was measured.", 2000);
  const beside = resources.length ? data.count : 0;
  const used = new LazyTable(part("resources", ".lazy"), "Resource use beside each cell", [...cellColumns, ...resources.map(resourceColumn)], beside, "No resource use was recorded.");
  return [cells, used, startComparisons(), ...startClients()];
}

function startComparisons() {
  const { left, right, ratios, label, axis } = data.comparisons;
  const [labelOf, axisOf, differs] = [label, axis, data.comparisons.differs].map(reader);
  const valueOf = (row, cell) => {
    if (axisOf(row) === "run") return facts.run(cell);
    const setting = settings.find((one) => one.name === axisOf(row));
    return setting ? setting.word(cell) : facts.experiment(cell);
  };
  const rest = (row) => {
    const shared = settings.filter((setting) => setting.names && setting.name !== axisOf(row));
    return [facts.test(left[row]), ...shared.map((setting) => setting.phrase(left[row])).filter(Boolean)].join(", ");
  };
  const text = (words, of) => ({ label: words, text: of, sort: of });
  const columns = [
    text("compared", labelOf),
    text("left", (row) => valueOf(row, left[row])),
    text("right", (row) => valueOf(row, right[row])),
    text("cell", rest),
    ...Object.entries(ratios).map(([name, ratio]) => ratioColumn(name, ratio, left, right)),
    text("differs", (row) => (differs(row) === null ? "unknown: no interval" : differs(row) ? "differs" : "within noise")),
  ];
  return new LazyTable(part("comparisons", ".lazy"), "Pairs of cells", columns, left.length, "No two cells differ in one setting only.");
}

function ratioColumn(name, ratio, left, right) {
  const [value, low, high] = [ratio.value, ratio.low, ratio.high].map(reader);
  const ends = (row) => (low(row) === null || high(row) === null ? "" : ` (${digits(low(row))}–${digits(high(row))})`);
  return {
    label: `${metricNamed[name].label}, ratio`,
    numeric: true,
    text: (row) => (value(row) === null ? "–" : `× ${digits(value(row))}${ends(row)}`),
    sort: value,
    doubtful: (row) => value(row) !== null && !(isValid(left[row], name) && isValid(right[row], name)),
  };
}

// Column heads carry the unit, so that a spreadsheet needs no guess.
function downloadColumns() {
  const unitName = { "MiB/s": "mib_per_second", IOPS: "per_second", us: "us" };
  return [
    ...["run", "experiment", "test"].map((name) => [name, facts[name]]),
    ...settings.map((setting) => [setting.name, setting.value]),
    ...metrics.flatMap((metric) => ["value", "low", "high"].map((side) => [`${metric.name}_${side}_${unitName[metric.unit]}`, metric[side]])
      .concat([[`${metric.name}_n`, metric.n], [`${metric.name}_method`, metric.method], [`${metric.name}_valid`, (cell) => isValid(cell, metric.name)]])),
    ["verdicts", (cell) => verdictsOf(cell).map((verdict) => `${verdict.name}: ${verdict.evidence()}`).join("; ")],
    ...Object.entries(facts).filter(([name]) => !["run", "experiment", "test"].includes(name) && !settings.some((setting) => setting.name === name)),
    ...resources.map((resource) => [resource.name, resource.value]),
    ["command", commandOf],
  ];
}

// A leading = + - @ would make a spreadsheet run a foreign text as a formula; numbers stay as they are.
function csvField(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function asCsv() {
  const columns = downloadColumns();
  const lines = [columns.map(([name]) => name).join(",")];
  for (let cell = 0; cell < data.count; cell += 1) lines.push(columns.map(([, of]) => csvField(of(cell))).join(","));
  return `${lines.join("\n")}\n`;
}

function asJson() {
  const columns = downloadColumns();
  const cells = Array.from({ length: data.count }, (_, cell) => Object.fromEntries(columns.map(([name, of]) => [name, of(cell) ?? null])));
  const reasonOf = textReader(data.failed.reason);
  const failedCommand = textReader(data.failed.command);
  const { run, experiment, cell: phrase, repeat } = data.failed;
  const failed = run.map((label, row) => ({ run: label, experiment: experiment[row], cell: phrase[row], repeat: repeat[row], reason: reasonOf(row), command: failedCommand(row) }));
  return JSON.stringify({ format: data.format, cells, failed }, null, 1);
}

function startDownloads() {
  const kinds = { csv: ["text/csv", asCsv], json: ["application/json", asJson] };
  document.querySelectorAll("[data-download]").forEach((button) => button.addEventListener("click", () => {
    const [type, make] = kinds[button.dataset.download];
    const link = element("a", null, { download: `leadline.${button.dataset.download}`, href: URL.createObjectURL(new Blob([make()], { type })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }));
}

function startTheme(figures) {
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = (name) => {
    document.documentElement.dataset.theme = name;
    button.setAttribute("aria-pressed", String(name === "dark"));
    figures.forEach((figure) => figure.repaint());
  };
  button.hidden = false;
  button.addEventListener("click", () => apply(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", () => apply(dark.matches ? "dark" : "light"));
  apply(dark.matches ? "dark" : "light");
}

// Paper shows everything: rows are made, folded parts opened, and ink is dark again.
function startPrinting(tables) {
  let before = "light";
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    tables.forEach((table) => table.spread());
    fitToPaper(true);
    document.querySelectorAll("details:not([open])").forEach((part) => {
      part.open = true;
      part.dataset.folded = "";
    });
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = before;
    fitToPaper(false);
    document.querySelectorAll("details[data-folded]").forEach((part) => {
      part.open = false;
      delete part.dataset.folded;
    });
  });
}

// Flat figures are drawn when the browser has nothing else to do, so that they are there when the page is printed.
function drawWhenIdle(figures) {
  const later = window.requestIdleCallback || ((work) => setTimeout(work, 500));
  later(() => figures.forEach((figure) => figure.begin && figure.begin()), { timeout: 3000 });
}

const figures = [startMetadata(), startNetwork(), startObjects(), startSurfaces(), startThroughput(), startPercentiles()].filter(Boolean);
startTheme(figures);
drawWhenIdle(figures);
startDownloads();
startPrinting(startTables());
document.documentElement.dataset.ready = "";
