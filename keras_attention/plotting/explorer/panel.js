// One map with its lines and its table: the first record, the second, or their difference.

class Panel {
  constructor(name, actions) {
    this.root = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    this.root.id = name;
    const find = (selector) => this.root.querySelector(selector);
    this.title = find("h2");
    this.title.id = `${name}-title`;
    this.root.setAttribute("aria-labelledby", this.title.id);
    this.summary = find(".summary");
    this.map = new HeatMap(find(".map"), actions);
    this.lines = new Lines(find(".lines"), actions, name);
    this.reading = new Reading(find(".reading"), actions);
    this.table = new Table(find(".table"));
  }

  show({ matrix, layer, title, summary, most, gold }) {
    Object.assign(this, { matrix, layer });
    this.title.textContent = title;
    this.title.hidden = !title;
    this.summary.textContent = summary;
    const single = layer.rows === 1 && !matrix.signed;
    this.lines.root.hidden = single || matrix.signed;
    this.reading.root.hidden = !single;
    const label = say(matrix.signed ? "differenceMap" : "map", layer.rows, layer.columns);
    this.map.canvas.setAttribute("aria-label", title ? `${title}. ${label}` : label);
    this.map.show(matrix, layer.queries, layer.keys, most, gold ? layer.gold : null);
    if (!this.lines.root.hidden) this.lines.show(matrix, layer.queries, layer.keys, most);
    if (single) this.reading.show(matrix, layer.keys, most);
    this.table.show(matrix, layer, title || say("layer"));
  }

  draw(focus, pinned) {
    const inside = (index, count) => (index ?? null) !== null && index < count ? index : null;
    const here = focus && { row: inside(focus.row, this.layer.rows), column: inside(focus.column, this.layer.columns) };
    this.map.draw(here);
    if (!this.lines.root.hidden) this.lines.draw(here, pinned);
    if (!this.reading.root.hidden) this.reading.draw(here);
  }
}
