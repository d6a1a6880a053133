// The weights as a table, for screen readers and for copying; made when it is opened.

const MOST_COLUMNS = 40, MOST_CELLS = 1600, LARGEST = 5;

class Table {
  constructor(root) {
    this.root = root;
    this.place = root.querySelector(".wide");
    root.addEventListener("toggle", () => this.fill());
  }

  show(matrix, layer, title) {
    Object.assign(this, { matrix, layer, title });
    this.place.setAttribute("aria-label", `${say("table")}: ${title}`);
    this.fill();
  }

  fill() {
    if (!this.root.open || !this.matrix) return;
    const { rows, columns } = this.matrix;
    const small = columns <= MOST_COLUMNS && rows * columns <= MOST_CELLS;
    this.place.replaceChildren(small ? this.whole() : this.largest());
  }

  table(caption, head, body) {
    const columns = head.map((content) => element("th", { scope: "col" }, content));
    const rows = body.map(([name, ...cells]) => element("tr", {}, element("th", { scope: "row" }, name), ...cells));
    return element(
      "table", {},
      element("caption", { textContent: caption }),
      element("thead", {}, element("tr", {}, ...columns)),
      element("tbody", {}, ...rows),
    );
  }

  name(tokens, i) { return element("bdi", { textContent: `${tokens[i]} (${i + 1})` }); }

  cell(row, column, text) {
    const masked = this.matrix.masked(row, column), gold = this.layer.isGold.has(row * this.matrix.columns + column);
    const signs = [masked && say("isMasked"), gold && say("isGold")].filter(Boolean);
    return element("td", { className: `${masked ? "masked " : ""}${gold ? "gold" : ""}` }, [text, ...signs].filter(Boolean).join(" · "));
  }

  whole() {
    const { matrix, layer } = this, show = matrix.signed ? signed : number;
    const body = layer.queries.map((_, row) => [
      this.name(layer.queries, row),
      ...layer.keys.map((_, column) =>
        this.cell(row, column, matrix.masked(row, column) ? "" : show(matrix.at(row, column)))),
    ]);
    return this.table(say("caption"), [say("query"), ...layer.keys.map((_, i) => this.name(layer.keys, i))], body);
  }

  largest() {
    const { matrix, layer } = this, show = matrix.signed ? signed : number;
    const count = Math.min(LARGEST, matrix.columns);
    const body = layer.queries.map((_, row) => {
      const weights = matrix.row(row);
      const order = weights.map((_, i) => i).sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]));
      const cells = order.slice(0, count).map((i) => this.cell(row, i, `${isolated(layer.keys[i])} (${i + 1}) ${show(matrix.at(row, i))}`));
      return [this.name(layer.queries, row), ...cells];
    });
    const head = [say("query"), ...Array.from({ length: count }, (_, i) => say("rank", i + 1))];
    return this.table(say("captionLargest", count), head, body);
  }
}
