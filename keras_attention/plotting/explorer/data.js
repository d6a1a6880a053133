// The records: tokens, and weights as half floats whose sign bit tells that a cell is masked.

const DATA = JSON.parse(document.getElementById("data").textContent);

const HALF = Float32Array.from({ length: 0x8000 }, (_, bits) => {
  const exponent = bits >> 10, fraction = bits & 0x3ff;
  if (exponent === 0) return fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : Infinity;
  return (1 + fraction / 1024) * 2 ** (exponent - 15);
});

async function unpack(base64) {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = bytes.length / 2;
  const weights = new Float32Array(size), hidden = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    const bits = (bytes[i] << 8) | bytes[size + i];
    weights[i] = HALF[bits & 0x7fff];
    hidden[i] = bits >> 15;
  }
  return { weights, hidden };
}

// Values (rows × columns) and which of them are masked; signed: a difference of weights.
class Matrix {
  constructor(values, hidden, rows, columns, signed = false) {
    Object.assign(this, { values, hidden, rows, columns, signed });
  }

  at(row, column) { return this.values[row * this.columns + column]; }

  masked(row, column) { return this.hidden[row * this.columns + column] === 1; }

  row(row) {
    return Array.from({ length: this.columns }, (_, column) => this.usable(row, column));
  }

  column(column) {
    return Array.from({ length: this.rows }, (_, row) => this.usable(row, column));
  }

  // what may be compared and drawn: 0 where a cell is masked or not a number
  usable(row, column) {
    const value = this.at(row, column);
    return this.masked(row, column) || !Number.isFinite(value) ? 0 : value;
  }

  get largest() {
    let most = 0;
    for (let i = 0; i < this.values.length; i++) {
      const value = Math.abs(this.values[i]);
      if (value > most && !this.hidden[i] && value !== Infinity) most = value;
    }
    return most;
  }

  minus(other) {
    const hidden = this.hidden.map((h, i) => h && other.hidden[i]);
    return new Matrix(this.values.map((v, i) => v - other.values[i]), hidden, this.rows, this.columns, true);
  }
}

const MEAN = -1; // in the place of a head

class Layer {
  constructor(description, all, start) {
    Object.assign(this, description);
    [this.moments, this.heads, this.rows, this.columns] = this.shape;
    this.all = all;
    this.start = start;
    this.size = this.rows * this.columns;
    this.kept = new Map();
    this.isGold = new Set((this.gold ?? []).map(([row, column]) => row * this.columns + column));
  }

  get end() { return this.start + this.moments * this.heads * this.size; }

  matrix(moment, head) {
    const key = `${moment} ${head}`;
    if (!this.kept.has(key)) {
      if (this.kept.size > 200) this.kept.clear();
      this.kept.set(key, head === MEAN ? this.mean(moment) : this.one(moment, head));
    }
    return this.kept.get(key);
  }

  one(moment, head) {
    const from = this.start + (moment * this.heads + head) * this.size;
    const cut = (array) => array.subarray(from, from + this.size);
    return new Matrix(cut(this.all.weights), cut(this.all.hidden), this.rows, this.columns);
  }

  mean(moment) {
    const values = new Float32Array(this.size), hidden = new Uint8Array(this.size).fill(1);
    for (let head = 0; head < this.heads; head++) {
      const one = this.one(moment, head);
      for (let i = 0; i < this.size; i++) {
        values[i] += one.values[i] / this.heads;
        hidden[i] &= one.hidden[i];
      }
    }
    return new Matrix(values, hidden, this.rows, this.columns);
  }

  // alignment error rate 1 − 2 |A ∩ G| / (|A| + |G|), A the largest weight of each row that has gold pairs
  alignment(matrix) {
    const linked = new Set(this.gold.map(([row]) => row));
    const hits = [...linked].filter((row) => {
      const weights = matrix.row(row);
      return this.isGold.has(row * this.columns + weights.indexOf(Math.max(...weights)));
    }).length;
    return { hits, rows: linked.size, rate: 1 - (2 * hits) / (linked.size + this.isGold.size) };
  }
}

async function readRecords() {
  const all = await unpack(DATA.weights);
  let start = 0;
  return DATA.records.map((record) => {
    const layers = record.layers.map((description) => {
      const layer = new Layer(description, all, start);
      start = layer.end;
      return layer;
    });
    return { ...record, layers };
  });
}

// Words and numbers

let language = DATA.language;

function say(key, ...values) {
  return DATA.texts[key][language].replace(/\{(\d)\}/g, (_, i) => values[i]);
}

// three digits, as 0.844, 0.0312 and 0.00195
function number(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return "∞";
  if (value === 0) return "0";
  return value.toPrecision(3).replace("-", "−");
}

function signed(value) {
  return value > 0 ? `+${number(value)}` : number(value);
}

// a token within a sentence, whichever way either is written
function isolated(token) {
  return `\u2068${token}\u2069`;
}

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
