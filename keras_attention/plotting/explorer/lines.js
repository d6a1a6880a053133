// Two columns of tokens, and a line from each query to each key, the stronger the larger its weight.

const ROW = 26; // CSS pixels, the height of a token

class Lines {
  constructor(root, actions, name) {
    this.root = root;
    this.lists = { row: root.querySelector(".queries"), column: root.querySelector(".keys") };
    this.canvas = root.querySelector("canvas");
    this.between = root.querySelector(".between");
    this.name = name;
    root.addEventListener("scroll", () => this.draw());
    for (const [side, list] of Object.entries(this.lists)) {
      const at = (event) => {
        const item = event.target.closest("li");
        return item ? { [side]: [...list.children].indexOf(item) } : null;
      };
      list.addEventListener("pointerover", (event) => actions.point(at(event), event));
      for (const gone of ["pointerleave", "blur"]) list.addEventListener(gone, () => actions.point(null));
      list.addEventListener("click", (event) => actions.pin(at(event)));
      list.addEventListener("keydown", (event) => actions.key(event, this, side));
    }
    new ResizeObserver(() => this.draw()).observe(this.between);
  }

  show(matrix, queries, keys, most) {
    if (queries !== this.queries) this.fill("row", queries);
    if (keys !== this.keys) this.fill("column", keys);
    Object.assign(this, { matrix, queries, keys, most });
    this.lists.row.setAttribute("aria-label", say("queries"));
    this.lists.column.setAttribute("aria-label", say("keys"));
  }

  fill(side, tokens) {
    this.lists[side].replaceChildren(
      ...tokens.map((token, i) => {
        const position = element("small", { textContent: i + 1 });
        const parts = [element("bdi", { textContent: token }), position];
        return element(
          "li",
          { id: `${this.name}-${side}-${i}`, role: "option", title: token },
          ...(side === "row" ? parts : parts.reverse()),
        );
      }),
    );
  }

  draw(focus = this.focus, pinned = this.pinned) {
    this.focus = focus;
    this.pinned = pinned;
    if (!this.matrix) return;
    this.shade();
    const height = Math.min(this.root.clientHeight, ROW * Math.max(this.matrix.rows, this.matrix.columns));
    const width = this.between.clientWidth, scrolled = this.root.scrollTop;
    if (!width || !height) return;
    const context = prepare(this.canvas, width, height);
    const { row = null, column = null } = focus ?? {};
    const y = (i) => (i + 0.5) * ROW - scrolled;
    if (row !== null) this.lines(context, width, y, [row, row + 1], [0, this.matrix.columns], column);
    else if (column !== null) this.lines(context, width, y, [0, this.matrix.rows], [column, column + 1]);
    else {
      const first = Math.floor(scrolled / ROW), last = Math.ceil((scrolled + height) / ROW);
      const seen = (count) => [Math.min(first, count), Math.min(last, count)];
      const rows = seen(this.matrix.rows);
      this.lines(context, width, y, rows, [0, this.matrix.columns]);
      this.lines(context, width, y, [0, rows[0]], seen(this.matrix.columns));
      this.lines(context, width, y, [rows[1], this.matrix.rows], seen(this.matrix.columns));
    }
  }

  lines(context, width, y, [top, bottom], [first, last], chosen = null) {
    const colour = signs().line;
    context.lineCap = "round";
    for (let row = top; row < bottom; row++) {
      for (let column = first; column < last; column++) {
        const strength = Math.min(1, this.matrix.usable(row, column) / this.most);
        if (strength < 0.02 && column !== chosen) continue;
        context.strokeStyle = css(colour, Math.max(strength, 0.1));
        context.lineWidth = 0.5 + 4 * strength;
        if (column === chosen) {
          context.strokeStyle = signs().cursor;
          context.lineWidth = Math.max(1.5, context.lineWidth);
        }
        context.beginPath();
        context.moveTo(2, y(row));
        context.bezierCurveTo(width / 2, y(row), width / 2, y(column), width - 2, y(column));
        context.stroke();
      }
    }
  }

  // the tokens on the other side take the colour of their weight
  shade() {
    const { row = null, column = null } = this.focus ?? {};
    const masked = (side, i) => (side === "row" ? this.matrix.masked(i, column) : this.matrix.masked(row, i));
    const weights = {
      row: row === null && column !== null ? this.matrix.column(column) : null,
      column: row !== null ? this.matrix.row(row) : null,
    };
    const colours = palette(false);
    for (const [side, list] of Object.entries(this.lists)) {
      const current = side === "row" ? row : column, fixed = this.pinned?.[side] ?? null;
      [...list.children].forEach((item, i) => {
        const weight = weights[side]?.[i];
        const colour = weight ? colours[place(weight, this.most, false)] : null;
        item.style.backgroundColor = colour ? css(colour) : "";
        item.style.color = colour ? inkOn(colour) : "";
        item.classList.toggle("shaded", colour !== null);
        item.classList.toggle("current", i === current);
        item.setAttribute("aria-selected", i === fixed);
        item.querySelector("small").textContent =
          weight === undefined ? i + 1 : masked(side, i) ? "—" : number(this.matrix.at(row ?? i, column ?? i));
      });
      if (current === null) list.removeAttribute("aria-activedescendant");
      else list.setAttribute("aria-activedescendant", `${this.name}-${side}-${current}`);
    }
  }

  reveal(focus) {
    const position = (focus.row ?? focus.column) * ROW, { clientHeight, scrollTop } = this.root;
    this.root.scrollTop = Math.min(position, Math.max(scrollTop, position + ROW - clientHeight));
  }
}
