// How weights become colours: from the page's ground to a strong blue; differences orange to purple.

const RAMPS = {
  light: { weights: [[255, 255, 255], [107, 174, 214], [8, 48, 107]], differences: [[179, 88, 6], [255, 255, 255], [84, 39, 136]] },
  dark: { weights: [[27, 30, 36], [46, 110, 178], [214, 236, 255]], differences: [[240, 150, 60], [27, 30, 36], [176, 140, 240]] },
};
const SIGNS = {
  light: { masked: [231, 228, 222], hatch: "#b3ada2", broken: [214, 39, 40], gold: "#b3480b", cursor: "#1d2026", line: [31, 95, 174], edge: "#dcdad5", ink: "#1d2026", quiet: "#5a606b" },
  dark: { masked: [44, 46, 51], hatch: "#565a63", broken: [240, 90, 90], gold: "#ffb454", cursor: "#ffffff", line: [122, 181, 245], edge: "#343943", ink: "#e9eaee", quiet: "#a4abb8" },
};

const night = matchMedia("(prefers-color-scheme: dark)");
let theme = night.matches ? "dark" : "light";

const signs = () => SIGNS[theme];

// the colour at a share of 0 … 1 of a ramp of three colours
function between(ramp, share) {
  const place = Math.min(1, Math.max(0, share)) * 2;
  const first = Math.min(1, Math.floor(place)), rest = place - first;
  return ramp[first].map((a, i) => Math.round(a + rest * (ramp[first + 1][i] - a)));
}

// 256 colours for the values of a matrix, and the place of a value among them
function palette(isSigned) {
  const ramp = RAMPS[theme][isSigned ? "differences" : "weights"];
  return Array.from({ length: 256 }, (_, i) => between(ramp, i / 255));
}

function place(value, most, isSigned) {
  const share = isSigned ? 0.5 + value / (2 * most) : value / most;
  return Math.round(255 * Math.min(1, Math.max(0, share)));
}

const css = (rgb, alpha = 1) => `rgb(${rgb.join(" ")} / ${alpha})`;

const channel = (x) => (x <= 10 ? x / 3294 : ((x / 255 + 0.055) / 1.055) ** 2.4);
const luminance = (rgb) => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);

// black or white, whichever has more contrast (WCAG 2.2)
function inkOn(rgb) {
  const light = luminance(rgb);
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
}

// one pixel a cell
function picture(matrix, most) {
  const { rows, columns, values, hidden } = matrix;
  const colours = palette(matrix.signed), { masked, broken } = signs();
  const image = new ImageData(columns, rows);
  for (let i = 0; i < values.length; i++) {
    const rgb = hidden[i] ? masked : Number.isFinite(values[i]) ? colours[place(values[i], most, matrix.signed)] : broken;
    image.data.set(rgb, 4 * i);
    image.data[4 * i + 3] = 255;
  }
  return onCanvas(image);
}

// masked cells opaque, all others clear
function veil(matrix) {
  if (!matrix.hidden.includes(1)) return null;
  const image = new ImageData(matrix.columns, matrix.rows);
  matrix.hidden.forEach((hidden, i) => { image.data[4 * i + 3] = 255 * hidden; });
  return onCanvas(image);
}

function onCanvas(image) {
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// a small picture of a head; where cells are smaller than pixels, the largest of them shows
function thumbnail(canvas, matrix, most) {
  const side = canvas.width, context = canvas.getContext("2d");
  const rows = Math.min(matrix.rows, side), columns = Math.min(matrix.columns, side);
  const values = new Float32Array(rows * columns), hidden = new Uint8Array(rows * columns).fill(1);
  for (let row = 0, i = 0; row < matrix.rows; row++) {
    const at = Math.floor((row * rows) / matrix.rows) * columns;
    for (let column = 0; column < matrix.columns; column++, i++) {
      const to = at + Math.floor((column * columns) / matrix.columns);
      if (matrix.hidden[i]) continue;
      hidden[to] = 0;
      if (!(matrix.values[i] <= values[to])) values[to] = matrix.values[i];
    }
  }
  context.imageSmoothingEnabled = false;
  context.drawImage(picture(new Matrix(values, hidden, rows, columns), most), 0, 0, side, side);
}

// a canvas at the resolution of the screen, measured in CSS pixels
function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
