// A sortable, filterable table of many rows: rows are made only as far as the reader has scrolled.

const ROWS_A_TIME = 100;
const ROWS_PRINTED = 300;

// `columns`: {label, text(row), sort(row), numeric, node?(row)}; rows are numbers.
class LazyTable {
  constructor(place, caption, columns, count, emptyWords, printed = ROWS_PRINTED) {
    this.printed = printed;
    this.columns = columns;
    this.all = Array.from({ length: count }, (_, row) => row);
    this.rows = this.all;
    this.sorted = { column: -1, ascending: true };
    this.place = place;
    if (!count) {
      place.append(element("p", emptyWords, { class: "notice" }));
      return;
    }
    this.build(caption);
    this.restart();
  }

  build(caption) {
    this.filter = element("input", null, { type: "search", placeholder: "words that a row must have", "aria-label": `Filter: ${caption}` });
    this.filter.addEventListener("input", () => this.narrow());
    this.status = element("span", "", { role: "status", class: "status" });
    const tools = element("p", null, { class: "tools" });
    tools.append(this.filter, this.status);
    this.scroll = element("div", null, { class: "scroll rows", tabindex: "0", role: "region", "aria-label": caption });
    const table = element("table", null, { class: "data" });
    table.append(element("caption", caption, { class: "unseen" }), this.head());
    this.body = element("tbody");
    table.append(this.body);
    this.end = element("p", "", { class: "end" });
    this.scroll.append(table, this.end);
    this.place.append(tools, this.scroll);
    this.scroll.addEventListener("scroll", () => this.extend());
  }

  head() {
    const row = element("tr");
    this.heads = this.columns.map((column, place) => {
      const head = element("th", null, { scope: "col", "aria-sort": "none", class: column.numeric ? "number" : "" });
      if (!column.sort) {
        head.removeAttribute("aria-sort");
        head.append(element("span", column.label, { class: "unseen" }));
        return head;
      }
      const button = element("button", column.label, { type: "button" });
      button.addEventListener("click", () => this.sort(place));
      head.dataset.label = column.label; // printed instead of the button, which a head repeated on later pages would lose
      head.append(button);
      return head;
    });
    row.append(...this.heads);
    const part = element("thead");
    part.append(row);
    return part;
  }

  sort(place) {
    const ascending = this.sorted.column === place ? !this.sorted.ascending : true;
    this.sorted = { column: place, ascending };
    this.heads.forEach((head, other) => {
      if (!this.columns[other].sort) return;
      head.setAttribute("aria-sort", other !== place ? "none" : ascending ? "ascending" : "descending");
    });
    this.order();
    this.restart();
  }

  // Rows without a value come last whichever way is sorted.
  order() {
    const { column, ascending } = this.sorted;
    if (column < 0) return;
    const keys = new Map(this.rows.map((row) => [row, this.columns[column].sort(row)]));
    const missing = (key) => key === null || key === undefined || key === "";
    this.rows = [...this.rows].sort((left, right) => {
      const [a, b] = [keys.get(left), keys.get(right)];
      if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b)) || left - right;
      const order = typeof a === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
      return (ascending ? order : -order) || left - right;
    });
  }

  narrow() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.rows = words.length ? this.all.filter((row) => words.every((word) => this.haystack(row).includes(word))) : this.all;
    this.order();
    this.restart();
  }

  haystack(row) {
    this.texts = this.texts || new Map();
    if (!this.texts.has(row)) {
      this.texts.set(row, this.columns.map((column) => column.text(row)).join(" ").toLowerCase());
    }
    return this.texts.get(row);
  }

  restart() {
    this.made = 0; // rows, not elements: an opened row has another below it
    this.body.replaceChildren();
    this.scroll.scrollTop = 0;
    this.status.textContent = this.rows.length === this.all.length ? `${this.all.length} rows` : `${this.rows.length} of ${this.all.length} rows`;
    this.append(ROWS_A_TIME);
  }

  extend() {
    const near = this.scroll.scrollTop + this.scroll.clientHeight * 2 > this.scroll.scrollHeight;
    if (near) this.append(ROWS_A_TIME);
  }

  append(more) {
    const next = this.rows.slice(this.made, this.made + more);
    this.body.append(...next.map((row) => this.line(row)));
    this.made += next.length;
    const left = this.rows.length - this.made;
    this.end.textContent = left > 0 ? `${left} more rows: scroll, sort or filter` : "";
  }

  line(row) {
    const line = element("tr");
    line.append(...this.columns.map((column) => this.field(column, row)));
    return line;
  }

  field(column, row) {
    const field = element("td", column.node ? null : column.text(row), column.numeric ? { class: "number" } : {});
    if (column.node) field.append(column.node(row));
    if (column.wraps) field.classList.add("wraps");
    if (column.doubtful && column.doubtful(row)) field.classList.add("doubtful");
    return field;
  }

  // Paper cannot be scrolled: all rows up to a bound are made, and what is left out is said.
  spread() {
    if (!this.body) return;
    this.append(Math.max(this.printed - this.made, 0));
    const left = this.rows.length - this.made;
    this.end.textContent = left > 0 ? `${left} more rows are not printed; download the data for all of them` : "";
  }
}
