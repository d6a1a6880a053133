// The heat map: a canvas as large as what can be seen of it, so that 512 × 512 cells stay quick.

const LARGEST_CELL = 44, LABELLED = 11, NUMBERED = 34; // CSS pixels of a cell
const SQUARE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]$/u;

class HeatMap {
  constructor(root, actions) {
    this.scroller = root.querySelector(".scroller");
    this.sizer = root.querySelector(".sizer");
    this.canvas = root.querySelector("canvas");
    this.zoom = root.querySelector(".zoom input");
    this.scroller.addEventListener("scroll", () => this.draw());
    this.zoom.addEventListener("input", () => { this.measure(); this.draw(); });
    this.canvas.addEventListener("pointermove", (event) => actions.point(this.cellAt(event), event));
    for (const gone of ["pointerleave", "blur"]) this.canvas.addEventListener(gone, () => actions.point(null));
    this.canvas.addEventListener("click", (event) => actions.pin(this.cellAt(event)));
    this.canvas.addEventListener("keydown", (event) => actions.key(event, this));
    new ResizeObserver(() => { this.measure(); this.draw(); }).observe(root);
  }

  show(matrix, queries, keys, most, gold) {
    const stamp = [most, theme].join();
    if (matrix !== this.matrix || stamp !== this.stamp) {
      this.picture = picture(matrix, most);
      this.veil = veil(matrix);
    }
    Object.assign(this, { matrix, queries, keys, most, gold, stamp });
    this.measure();
  }

  // the sizes of labels and cells
  measure() {
    if (!this.matrix || !this.scroller.clientWidth) return;
    const { rows, columns } = this.matrix;
    const context = this.canvas.getContext("2d");
    context.font = this.font(13);
    const widest = (tokens) => Math.min(150, Math.max(...tokens.slice(0, 600).map((t) => context.measureText(t).width)));
    const width = this.scroller.clientWidth;
    this.left = Math.min(Math.ceil(widest(this.queries)) + 10, 0.4 * width);
    const beside = widest(this.keys);
    const tallest = Math.max(280, Math.round(0.7 * window.innerHeight));
    const wide = (width - this.left - 2) / columns, high = (tallest - beside - 12) / rows;
    const fit = Math.min(LARGEST_CELL, wide, wide < LABELLED ? high : Math.max(20, high));
    this.zoom.parentElement.hidden = fit >= LARGEST_CELL;
    this.cell = fit * (Math.max(fit, 32) / fit) ** (this.zoom.value / 100);
    this.labelled = this.cell >= LABELLED;
    this.turned = beside > 0.9 * this.cell;
    this.top = !this.labelled ? 4 : this.turned ? Math.ceil(beside) + 10 : 24;
    if (!this.labelled) this.left = 4;
    const height = this.top + rows * this.cell + 2;
    this.view = { width, height: Math.min(height, tallest) };
    this.sizer.style.width = `${this.left + columns * this.cell + 2}px`;
    this.sizer.style.height = `${height}px`;
    this.scroller.style.height = `${this.view.height + (this.left + columns * this.cell + 2 > width + 1 ? 16 : 0)}px`;
  }

  font(size, weight = 400) {
    return `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  }

  draw(focus = this.focus) {
    this.focus = focus;
    if (!this.matrix || !this.view) return;
    const context = prepare(this.canvas, this.view.width, this.view.height);
    const { scrollLeft, scrollTop } = this.scroller, { rows, columns } = this.matrix;
    const { cell, left, top } = this, { width, height } = this.view;
    const x = (column) => left + column * cell - scrollLeft, y = (row) => top + row * cell - scrollTop;
    const seen = {
      rows: this.range(scrollTop, height - top, rows),
      columns: this.range(scrollLeft, width - left, columns),
    };

    context.save();
    context.beginPath();
    context.rect(left, top, width - left, height - top);
    context.clip();
    context.imageSmoothingEnabled = cell * (window.devicePixelRatio || 1) < 1;
    context.drawImage(this.picture, x(0), y(0), columns * cell, rows * cell);
    if (this.veil) this.hatch(context, x(0), y(0));
    if (cell >= 8) this.grid(context, x, y, seen);
    if (cell >= NUMBERED) this.numbers(context, x, y, seen);
    if (this.gold) this.outline(context, x, y);
    this.cross(context, x, y);
    context.restore();
    if (this.labelled) this.labels(context, x, y, seen);
  }

  range(scrolled, room, count) {
    const first = Math.max(0, Math.floor(scrolled / this.cell));
    return [first, Math.min(count, Math.ceil((scrolled + room) / this.cell) + 1)];
  }

  // diagonal lines over the masked cells
  hatch(context, x, y) {
    const { width, height } = this.view;
    const over = new OffscreenCanvas(this.canvas.width, this.canvas.height).getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    over.scale(ratio, ratio);
    over.strokeStyle = signs().hatch;
    over.beginPath();
    for (let offset = -height; offset < width; offset += 7) {
      over.moveTo(offset, height);
      over.lineTo(offset + height, 0);
    }
    over.stroke();
    over.globalCompositeOperation = "destination-in";
    over.imageSmoothingEnabled = false;
    over.drawImage(this.veil, x, y, this.matrix.columns * this.cell, this.matrix.rows * this.cell);
    context.drawImage(over.canvas, 0, 0, width, height);
  }

  grid(context, x, y, { rows, columns }) {
    context.strokeStyle = signs().edge;
    context.lineWidth = 1;
    context.beginPath();
    for (let row = rows[0]; row <= rows[1]; row++) {
      context.moveTo(x(0), Math.round(y(row)) + 0.5);
      context.lineTo(x(this.matrix.columns), Math.round(y(row)) + 0.5);
    }
    for (let column = columns[0]; column <= columns[1]; column++) {
      context.moveTo(Math.round(x(column)) + 0.5, y(0));
      context.lineTo(Math.round(x(column)) + 0.5, y(this.matrix.rows));
    }
    context.stroke();
  }

  numbers(context, x, y, { rows, columns }) {
    const colours = palette(this.matrix.signed);
    context.font = this.font(11);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let row = rows[0]; row < Math.min(rows[1], this.matrix.rows); row++) {
      for (let column = columns[0]; column < Math.min(columns[1], this.matrix.columns); column++) {
        const value = this.matrix.at(row, column);
        if (this.matrix.masked(row, column) || !Number.isFinite(value)) continue;
        context.fillStyle = inkOn(colours[place(value, this.most, this.matrix.signed)]);
        const text = value === 0 ? "0" : value.toFixed(2).replace(/^(-?)0\./, "$1.").replace("-", "−");
        context.fillText(text, x(column + 0.5), y(row + 0.5));
      }
    }
  }

  outline(context, x, y) {
    const thick = this.cell >= 14 ? 2.5 : this.cell >= 6 ? 1.5 : 1;
    const side = Math.max(this.cell - thick - 1, 1);
    for (const [row, column] of this.gold) {
      context.strokeStyle = signs().gold;
      context.lineWidth = thick;
      context.strokeRect(x(column) + thick / 2 + 0.5, y(row) + thick / 2 + 0.5, side, side);
      if (this.cell < 14) continue;
      context.strokeStyle = css(RAMPS[theme].weights[0]); // apart from a cell of a similar colour
      context.lineWidth = 1;
      context.strokeRect(x(column) + thick + 1, y(row) + thick + 1, this.cell - 2 * thick - 2, this.cell - 2 * thick - 2);
    }
  }

  cross(context, x, y) {
    const { row = null, column = null } = this.focus ?? {};
    const side = Math.max(this.cell, 1.5), { rows, columns } = this.matrix;
    context.strokeStyle = signs().cursor;
    context.lineWidth = 1;
    if (row !== null) context.strokeRect(x(0) + 0.5, y(row) + 0.5, columns * this.cell - 1, side - 1);
    if (column !== null) context.strokeRect(x(column) + 0.5, y(0) + 0.5, side - 1, rows * this.cell - 1);
    if (row === null || column === null) return;
    context.lineWidth = 2;
    context.strokeRect(x(column), y(row), side, side);
  }

  labels(context, x, y, { rows, columns }) {
    const { row: chosenRow = null, column: chosenColumn = null } = this.focus ?? {};
    const { width, height } = this.view;
    const size = Math.min(13, this.cell + 1);
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, this.top, this.left, height - this.top);
    context.clip();
    context.textAlign = "right";
    for (let row = rows[0]; row < Math.min(rows[1], this.matrix.rows); row++) {
      this.style(context, row === chosenRow, size);
      context.fillText(this.queries[row], this.left - 6, y(row + 0.5), this.left - 8);
    }
    context.restore();
    context.save();
    context.beginPath();
    context.rect(this.left, 0, width - this.left, this.top);
    context.clip();
    for (let column = columns[0]; column < Math.min(columns[1], this.matrix.columns); column++) {
      this.style(context, column === chosenColumn, size);
      context.save();
      const upright = !this.turned || (SQUARE.test(this.keys[column]) && this.cell >= size);
      context.textAlign = upright ? "center" : "left";
      context.translate(x(column + 0.5), upright ? this.top - 12 : this.top - 5);
      if (!upright) context.rotate(-Math.PI / 2);
      context.fillText(this.keys[column], 0, 0, upright ? this.cell : this.top - 8);
      context.restore();
    }
    context.restore();
  }

  style(context, chosen, size) {
    context.font = this.font(size, chosen ? 700 : 400);
    context.fillStyle = signs()[chosen ? "ink" : "quiet"];
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - this.top + this.scroller.scrollTop) / this.cell);
    const column = Math.floor((event.clientX - box.left - this.left + this.scroller.scrollLeft) / this.cell);
    const { rows, columns } = this.matrix;
    const inside = event.clientX - box.left >= this.left && event.clientY - box.top >= this.top;
    return inside && row < rows && column < columns ? { row, column } : null;
  }

  // scroll until a cell can be seen
  reveal({ row, column }) {
    const { cell, left, top, scroller } = this, { width, height } = this.view;
    scroller.scrollTop = Math.min(row * cell, Math.max(scroller.scrollTop, (row + 1) * cell - (height - top) + 2));
    scroller.scrollLeft = Math.min(column * cell, Math.max(scroller.scrollLeft, (column + 1) * cell - (width - left) + 2));
  }
}
