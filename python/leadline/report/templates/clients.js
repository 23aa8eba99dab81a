// Cells of several clients: how well they ran together, and below each on demand every client and every server.

const participants = new Map(data.participants.map((entry) => [entry.cell, entry]));
const FULL_LINK = 0.9;

function startClients() {
  const place = part("clients", ".lazy");
  if (!place) return [];
  const rows = data.participants.filter((entry) => entry.together);
  if (!rows.length) {
    place.append(element("p", "No cell of data had several clients. What each client did, and what its NIC carried, stands in the details of a cell.", { class: "notice" }));
    return [];
  }
  const together = (row) => rows[row].together;
  const columns = [
    { label: "clients", text: () => "", sort: null, node: (row) => openButton(rows[row]) },
    { label: "cell", text: (row) => cellName(rows[row].cell), sort: (row) => rows[row].cell, wraps: true },
    rateColumn("total", (row) => metricNamed.bandwidth.value(rows[row].cell), (row) => !isValid(rows[row].cell, "bandwidth")),
    rateColumn("first done", (row) => together(row).first_done),
    rateColumn("last done", (row) => together(row).last_done),
    rateColumn("while all ran", (row) => together(row).common || null),
    plainColumn("common window", (row) => together(row).common_seconds, (value) => `${digits(value)} s`),
    plainColumn("overlap", (row) => together(row).overlap, (value) => measure("share", value), (row) => together(row).overlap < 0.95),
    plainColumn("fastest over slowest", (row) => spread(rows[row].clients), (value) => `× ${digits(value)}`),
    plainColumn("released within", (row) => together(row).skew_us, (value) => measure("latency", value * 1e3)),
  ];
  return [new LazyTable(place, "Cells of several clients", columns, rows.length, "No cell had several clients.")];
}

function plainColumn(label, of, write, doubtful) {
  return { label, numeric: true, text: (row) => (of(row) === null ? "–" : write(of(row))), sort: of, doubtful };
}

function rateColumn(label, of, doubtful) {
  return plainColumn(label, of, (value) => measure("bandwidth", value * 2 ** 20), doubtful);
}

function spread(clients) {
  const rates = clients.filter((client) => client.bandwidth).map((client) => client.bandwidth[0]);
  return rates.length > 1 ? Math.max(...rates) / Math.min(...rates) : null;
}

// Opens the row: its members stand in a row of their own right below it.
function openButton(entry) {
  const missing = entry.together.clients - entry.clients.length;
  const button = element("button", `${entry.clients.length}${missing > 0 ? ` of ${entry.together.clients}` : ""} ▾`, { type: "button", "aria-expanded": "false", "aria-label": `Clients of ${cellName(entry.cell)}` });
  button.addEventListener("click", () => {
    const line = button.closest("tr");
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) {
      line.nextElementSibling.remove();
      return;
    }
    const below = element("tr", null, { class: "sub" });
    const field = element("td", null, { colspan: String(line.childElementCount) });
    field.append(memberTable(entry));
    below.append(field);
    line.after(below);
  });
  return button;
}

function detailMembers(cell) {
  const entry = participants.get(cell);
  if (!entry) return [];
  const place = element("div", null, { class: "scroll" });
  place.append(memberTable(entry));
  return [place];
}

// One line a client, then one a server: servers have NICs and no figures of their own.
function memberTable(entry) {
  const heads = ["host", "its load over time", "bandwidth", "95 % interval", "IOPS", "mean", "p99", "n", "NIC in", "NIC out", "link used", "sent again", "CPU busy", "disk busy", "disk queue"];
  const hosts = new Map(entry.hosts.map((host) => [host.name, host]));
  const shown = [...heads.keys()].filter((place) => place < 8 ? entry.clients.length || place === 0 : hosts.size && hostHas(entry.hosts, heads[place]));
  const table = element("table", null, { class: "members" });
  const head = element("tr");
  head.append(...shown.map((place) => element("th", heads[place], { scope: "col", class: place > 1 ? "number" : "" })));
  const top = element("thead");
  top.append(head);
  const body = element("tbody");
  const end = Math.max(...entry.clients.map((client) => client.window[1]), 0);
  const others = entry.hosts.filter((host) => !entry.clients.some((client) => client.name === host.name));
  const lines = [...entry.clients.map((client) => [client, hosts.get(client.name)]), ...others.map((host) => [{ name: host.name }, host])];
  lines.forEach(([client, host]) => {
    const fields = memberFields(client, host, end);
    const line = element("tr", null, host && host.client && !client.window && entry.clients.length ? { class: "missing" } : {});
    line.append(...shown.map((place) => fields[place]));
    body.append(line);
  });
  table.append(top, body);
  return table;
}

function hostHas(hosts, head) {
  const told = { "link used": "link", "sent again": "again", "CPU busy": "cpu", "disk busy": "disk", "disk queue": "queue" }[head];
  return !told || hosts.some((host) => host[told] !== null && (told !== "again" || host.again));
}

function memberFields(client, host, end) {
  const number = (words) => element("td", words, { class: "number" });
  const figure = (name, write) => number(client[name] ? write(client[name][0]) : "");
  const rate = (value) => measure("bandwidth", value * 2 ** 20);
  const time = (value) => measure("latency", value * 1e3);
  const link = number(host && host.link !== null ? measure("share", host.link) : "");
  if (host && host.link >= FULL_LINK) link.classList.add("full");
  return [
    element("th", client.name, { scope: "row" }),
    whenField(client, host, end),
    figure("bandwidth", rate),
    number(client.bandwidth ? ends(client.bandwidth) : ""),
    figure("iops", (value) => measure("rate", value).replace(" IOPS", "")),
    figure("mean", time),
    figure("p99", time),
    number(client.p99 ? client.p99[3].toLocaleString("en-US") : ""),
    number(host ? rate(host.receive) : ""),
    number(host ? rate(host.transmit) : ""),
    link,
    number(host && host.again ? host.again.toLocaleString("en-US") : ""),
    number(host && host.cpu !== null ? measure("share", host.cpu) : ""),
    number(host && host.disk !== null ? measure("share", host.disk) : ""),
    number(host && host.queue !== null ? digits(host.queue) : ""),
  ];
}

function ends([, low, high]) {
  if (low === null || high === null) return "none";
  const unit = unitFor("bandwidth", [high * 2 ** 20]);
  return `${digits((low * 2 ** 20) / unit.size)} to ${digits((high * 2 ** 20) / unit.size)} ${unit.symbol}`;
}

function whenField(client, host, end) {
  if (!client.window) return element("td", host && host.client ? "gave no figure" : "server", { class: "when" });
  const [from, to] = client.window;
  const field = element("td", null, { class: "when", title: `${digits(from)} s to ${digits(to)} s` });
  const ran = element("div", null, { class: "ran" });
  const bar = element("div");
  bar.style.left = `${(100 * from) / end}%`;
  bar.style.width = `${(100 * (to - from)) / end}%`;
  ran.append(bar);
  field.append(ran, element("span", `${digits(from)} s to ${digits(to)} s`, { class: "unseen" }));
  return field;
}
