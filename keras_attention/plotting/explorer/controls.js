// What is chosen: record, layer, head, moment, a second record; and what is pointed at or pinned.

const byId = (id) => document.getElementById(id);
const records = await readRecords();

const state = {
  record: 0, layer: 0, head: MEAN, moment: 0,
  other: -1, otherMoment: 0,
  stretch: false, gold: true,
  pointed: null, pinned: null,
};

const chosen = () => {
  const record = records[state.record];
  return { record, layer: record.layers[state.layer], moment: state.moment };
};

// the second record's layer of the same name, else of the same number
const compared = () => {
  const record = records[state.other];
  if (!record) return null;
  const { name } = chosen().layer;
  const layer = record.layers.find((each) => each.name === name) ?? record.layers[Math.min(state.layer, record.layers.length - 1)];
  return { record, layer, moment: Math.min(state.otherMoment, record.moments.length - 1) };
};

const headOf = (layer) => (layer.heads === 1 ? 0 : Math.min(state.head, layer.heads - 1));
const matrixOf = ({ layer, moment }) => layer.matrix(moment, headOf(layer));

// the largest weight of all, to which the colours may be stretched
const largestOfAll = Math.max(...records.flatMap((record) => record.layers.flatMap((layer) =>
  Array.from({ length: layer.moments * layer.heads }, (_, i) => layer.one(Math.floor(i / layer.heads), i % layer.heads).largest)))) || 1;
const most = () => (state.stretch ? largestOfAll : 1);

function choose(changes) {
  Object.assign(state, changes);
  const { record } = chosen();
  state.layer = Math.min(state.layer, record.layers.length - 1);
  state.moment = Math.min(state.moment, record.moments.length - 1);
  state.head = Math.min(state.head, chosen().layer.heads - 1);
  render();
}

const titleOf = (i) => records[i].title || say("numbered", i + 1);

function fillSelect(select, names, value) {
  select.replaceChildren(...names.map(([key, text]) => element("option", { value: key, textContent: text })));
  select.value = value;
}

function showTexts() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const item of document.querySelectorAll("[data-text]")) item.textContent = say(item.dataset.text);
  byId("language").textContent = say("other");
  byId("language").lang = language === "zh" ? "en" : "zh-CN";
  byId("theme").setAttribute("aria-pressed", theme === "dark");
  byId("play").textContent = say(playing ? "pause" : "play");
  byId("help").replaceChildren(...["help1", "help2", "help3", "help4"].map((key) => element("li", { textContent: say(key) })));
}

function showControls() {
  const { record, layer, moment } = chosen(), second = compared();
  const names = records.map((_, i) => [i, titleOf(i)]);
  fillSelect(byId("record"), names, state.record);
  fillSelect(byId("layer"), record.layers.map((each, i) => [i, each.name]), state.layer);
  fillSelect(byId("other"), [[-1, say("nothing")], ...names], state.other);
  showSlider(byId("moment"), record, moment);
  if (second) showSlider(byId("other-moment"), second.record, second.moment);
  byId("stretch").checked = state.stretch;
  byId("most").textContent = number(most());
  showRamp();
  showHeads(layer, moment);

  const shown = second ? [layer, second.layer] : [layer];
  const visible = {
    records: records.length > 1,
    layers: record.layers.length > 1,
    comparable: records.length > 1 || record.moments.length > 1,
    heads: layer.heads > 1,
    moments: record.moments.length > 1,
    "other-moments": second && second.record.moments.length > 1,
    gold: shown.some((each) => each.gold),
    masks: shown.some((each) => each.one(0, 0).hidden.includes(1)),
  };
  for (const item of document.querySelectorAll("[data-only]")) item.hidden = !visible[item.dataset.only];
}

function showSlider(slider, record, moment) {
  slider.max = record.moments.length - 1;
  slider.value = moment;
  slider.setAttribute("aria-valuetext", record.moments[moment]);
  slider.parentElement.querySelector("output").textContent = record.moments[moment];
}

function showRamp() {
  const context = byId("ramp").getContext("2d");
  palette(false).forEach((colour, i) => {
    context.fillStyle = css(colour);
    context.fillRect(i, 0, 1, 12);
  });
}

// a small picture of each head, as radio buttons
function showHeads(layer, moment) {
  const heads = [MEAN, ...Array(layer.heads).keys()];
  const place = byId("heads");
  if (place.children.length !== heads.length) {
    place.replaceChildren(...heads.map((head) => element(
      "label", {},
      element("input", { type: "radio", name: "head", value: head }),
      element("canvas", { width: 80, height: 80 }),
      element("span"),
    )));
  }
  heads.forEach((head, i) => {
    const [input, canvas, name] = place.children[i].children;
    input.checked = head === headOf(layer);
    input.setAttribute("aria-label", head === MEAN ? say("meanOfHeads", layer.heads) : say("numberedHead", head + 1));
    name.textContent = head === MEAN ? say("mean") : head + 1;
    const stamp = [state.record, state.layer, moment, most(), theme].join();
    if (layer.heads > 1 && canvas.dataset.stamp !== stamp) {
      canvas.dataset.stamp = stamp;
      thumbnail(canvas, layer.matrix(moment, head), most());
    }
  });
}
