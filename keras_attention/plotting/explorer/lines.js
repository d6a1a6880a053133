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
          { id: `${this.name}-${side}-${i}`, role: "option", "aria-selected": "false", title: token },
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
      const rows = this.seen(this.matrix.rows), columns = this.seen(this.matrix.columns);
      this.lines(context, width, y, rows, [0, this.matrix.columns]);
      this.lines(context, width, y, [0, rows[0]], columns);
      this.lines(context, width, y, [rows[1], this.matrix.rows], columns);
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

  // the tokens that can be seen take the colour of their weight, where the other side is pointed at
  shade() {
    const { row = null, column = null } = this.focus ?? {};
    const weights = {
      row: row === null && column !== null ? this.matrix.column(column) : null,
      column: row !== null ? this.matrix.row(row) : null,
    };
    const colours = palette(false);
    for (const [side, list] of Object.entries(this.lists)) {
      const [first, last] = this.seen(list.children.length);
      for (let i = first; i < last; i++) {
        const item = list.children[i], weight = weights[side]?.[i];
        const colour = weight ? colours[place(weight, this.most, false)] : null;
        item.style.backgroundColor = colour ? css(colour) : "";
        item.style.color = colour ? inkOn(colour) : "";
        item.classList.toggle("shaded", colour !== null);
        item.querySelector("small").textContent = weight === undefined ? i + 1 : this.weightAt(side === "row" ? i : row, side === "row" ? column : i);
      }
      this.mark(list, side === "row" ? row : column, this.pinned?.[side] ?? null, side);
    }
  }

  weightAt(row, column) {
    return this.matrix.masked(row, column) ? "—" : number(this.matrix.at(row, column));
  }

  mark(list, current, fixed, side) {
    for (const item of list.querySelectorAll(".current")) item.classList.remove("current");
    for (const item of list.querySelectorAll("[aria-selected=true]")) item.setAttribute("aria-selected", "false");
    list.children[current]?.classList.add("current");
    list.children[fixed]?.setAttribute("aria-selected", "true");
    if (current === null) list.removeAttribute("aria-activedescendant");
    else list.setAttribute("aria-activedescendant", `${this.name}-${side}-${current}`);
  }

  // which of so many tokens are in view
  seen(count) {
    const { scrollTop, clientHeight } = this.root;
    return [Math.min(count, Math.floor(scrollTop / ROW)), Math.min(count, Math.ceil((scrollTop + clientHeight) / ROW))];
  }

  reveal(focus) {
    const position = (focus.row ?? focus.column) * ROW, { clientHeight, scrollTop } = this.root;
    this.root.scrollTop = Math.min(position, Math.max(scrollTop, position + ROW - clientHeight));
  }
}
