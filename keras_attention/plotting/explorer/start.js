// What happens when something is chosen, pointed at, pinned or typed.

let playing = null;
const tip = byId("tip"), readout = byId("readout");

const actionsOf = (name) => ({
  point(focus, event) {
    state.pointed = focus && { ...focus, name };
    refresh();
    const text = focus && event ? tell(state.pointed) : "";
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const right = event.clientX + 16 + tip.offsetWidth > window.innerWidth;
    tip.style.left = `${Math.max(4, right ? event.clientX - tip.offsetWidth - 12 : event.clientX + 16)}px`;
    tip.style.top = `${Math.min(event.clientY + 18, window.innerHeight - tip.offsetHeight - 4)}px`;
  },

  pin(focus) {
    state.pinned = !focus || same(focus, state.pinned) ? null : { ...focus, name };
    refresh();
  },

  // keys within a map (both of row and column) or within a list of tokens (one side of the two)
  key(event, view, side = null) {
    const { rows, columns } = view.matrix, focus = state.pointed ?? state.pinned;
    const here = side
      ? { [side]: focus?.[side] ?? -1 }
      : { row: focus?.row ?? 0, column: focus?.column ?? (focus ? 0 : -1) };
    const last = { row: rows - 1, column: columns - 1 };
    const along = side ?? "column", across = side ?? "row";
    const moves = {
      ArrowLeft: [along, -1], ArrowRight: [along, 1], ArrowUp: [across, -1], ArrowDown: [across, 1],
      Home: [along, -Infinity], End: [along, Infinity],
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) {
      const [which, step] = moves[event.key];
      here[which] += step;
      for (const key of Object.keys(here)) here[key] = Math.min(last[key], Math.max(0, here[key]));
      state.pointed = { ...here, name };
      view.reveal(here);
      refresh();
    } else if (event.key === "Enter" || event.key === " ") {
      if (focus) this.pin(focus);
    } else if (event.key === "Escape") {
      state.pointed = state.pinned = null;
      refresh();
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      const { heads } = chosen().layer, step = event.key === "PageDown" ? 1 : -1;
      if (heads > 1) choose({ head: Math.min(heads - 1, Math.max(MEAN, state.head + step)) });
    } else return;
    tip.hidden = true;
    event.preventDefault();
  },
});

const same = (a, b) => b && a.row === b.row && a.column === b.column;

// of what is pointed at or pinned, the part that a panel shows: with other tokens a place means another thing
function applying(panel, focus = state.pointed ?? state.pinned) {
  return focus && (panels[focus.name] === panel || alike(panels[focus.name].layer, panel.layer)) ? focus : null;
}

const panels = Object.fromEntries(["first", "second", "difference"].map((name) => [name, new Panel(name, actionsOf(name))]));
let shown = [];

// everything: the controls, and which panels there are
function render() {
  showControls();
  const one = chosen(), two = compared();
  const first = matrixOf(one), second = two && matrixOf(two);
  const panel = (name, { record, layer, moment }, matrix) => {
    const title = two ? say(name, [record.title || titleOf(records.indexOf(record)), record.moments[moment]].filter(Boolean).join(" · ")) : "";
    panels[name].show({ matrix, layer, title, summary: summarise(matrix, layer), most: most(), gold: state.gold });
    return panels[name];
  };
  shown = [panel("first", one, first)];
  if (two) {
    shown.push(panel("second", two, second));
    if (alike(one.layer, two.layer)) {
      const matrix = second.minus(first), span = state.stretch ? matrix.largest || 1 : 1;
      panels.difference.show({
        matrix, layer: one.layer, title: say("difference"), summary: say("differenceSize", number(span)), most: span, gold: state.gold,
      });
      shown.push(panels.difference);
    } else panels.second.summary.textContent += ` ${say("noDifference")}`;
  }
  const place = byId("panels"), roots = shown.map(({ root }) => root);
  if (roots.some((root, i) => place.children[i] !== root) || place.children.length !== roots.length) place.replaceChildren(...roots);
  place.classList.toggle("two", Boolean(two));
  showTexts();
  for (const each of shown) each.map.measure();
  refresh();
}

const alike = (a, b) => a.queries.join("\n") === b.queries.join("\n") && a.keys.join("\n") === b.keys.join("\n");

function summarise(matrix, layer) {
  const parts = [say("size", layer.rows, layer.columns, number(matrix.largest))];
  const masked = matrix.hidden.reduce((sum, h) => sum + h, 0);
  const broken = matrix.values.reduce((sum, value) => sum + !Number.isFinite(value), 0);
  if (masked) parts.push(say("maskedCount", masked));
  if (broken) parts.push(say("broken", broken));
  if (layer.gold?.length && state.gold) {
    const { rate, hits, rows } = layer.alignment(matrix);
    parts.push(say("errorRate", rate.toFixed(2), hits, rows));
  }
  return parts.join(language === "zh" ? "" : " ");
}

// only what follows the pointer
let waiting = false;
function refresh() {
  const focus = state.pointed ?? state.pinned;
  const mark = !state.pointed && state.pinned ? ` · ${say("pinned")}` : "";
  readout.textContent = focus ? tell(focus) + mark : say("hint");
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const panel of shown) panel.draw(applying(panel), applying(panel, state.pinned));
  });
}

// what is pointed at, in words
function tell({ row = null, column = null, name }) {
  const { matrix, layer } = shown.includes(panels.difference) ? panels.first : panels[name];
  if (row !== null && column !== null) return tellCell(matrix, layer, row, column);
  const index = row ?? column, tokens = row !== null ? layer.queries : layer.keys;
  const others = row !== null ? layer.keys : layer.queries;
  if (index >= tokens.length) return "";
  const weights = row !== null ? matrix.row(row) : matrix.column(column);
  const order = weights.map((_, i) => i).filter((i) => weights[i] > 0).sort((a, b) => weights[b] - weights[a]);
  const looks = order.slice(0, 3).map((i) => `${isolated(others[i])} ${number(weights[i])}`).join(language === "zh" ? "，" : ", ");
  return say(row !== null ? "queryToken" : "keyToken", isolated(tokens[index]), index + 1, looks || say("nothing"));
}

function tellCell(matrix, layer, row, column) {
  if (row >= layer.rows || column >= layer.columns) return "";
  const value = matrix.at(row, column), masked = matrix.masked(row, column);
  const weight = !masked ? number(value) : value === 0 ? say("isMasked") : say("leaks", number(value));
  const parts = [say("cell", isolated(layer.queries[row]), row + 1, isolated(layer.keys[column]), column + 1, weight)];
  if (layer.isGold.has(row * layer.columns + column) && state.gold) parts.push(say("isGold"));
  if (!masked && value > 0 && value === Math.max(...matrix.row(row))) parts.push(say("isLargest"));
  if (shown.includes(panels.difference)) {
    parts.push(say("versus", number(panels.second.matrix.at(row, column)), signed(panels.difference.matrix.at(row, column))));
  }
  return parts.join(" · ");
}

function listen(id, event, act) {
  byId(id).addEventListener(event, (happened) => act(happened.target));
}

listen("record", "change", ({ value }) => choose({ record: Number(value), moment: Infinity, pinned: null }));
listen("layer", "change", ({ value }) => choose({ layer: Number(value), pinned: null }));
listen("other", "change", ({ value }) => choose({ other: Number(value) }));
listen("heads", "change", ({ value }) => choose({ head: Number(value) }));
listen("moment", "input", ({ value }) => choose({ moment: Number(value) }));
listen("other-moment", "input", ({ value }) => choose({ otherMoment: Number(value) }));
listen("stretch", "change", ({ checked }) => choose({ stretch: checked }));
listen("gold", "change", ({ checked }) => choose({ gold: checked }));
listen("controls", "submit", () => {});
listen("play", "click", () => (playing ? stop() : start()));
listen("language", "click", () => { language = language === "en" ? "zh" : "en"; render(); });
listen("theme", "click", () => setTheme(theme === "dark" ? "light" : "dark"));
night.addEventListener("change", () => setTheme(night.matches ? "dark" : "light"));

function setTheme(name) {
  theme = document.documentElement.dataset.theme = name;
  render();
}

function start() {
  const { moments } = chosen().record;
  if (state.moment === moments.length - 1) choose({ moment: 0 });
  playing = setInterval(() => {
    choose({ moment: state.moment + 1 });
    if (state.moment === moments.length - 1) stop();
  }, 600);
  render();
}

function stop() {
  clearInterval(playing);
  playing = null;
  render();
}

choose({ moment: Infinity, stretch: largestOfAll < 0.5 });
