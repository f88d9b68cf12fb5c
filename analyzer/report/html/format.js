// Numbers as the text report prints them.

const DASH = "–";

function grouped(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// Milliseconds with three digits behind the point: 12345678 -> "12.346".
function ms(ns) {
  if (ns === null || ns === undefined) return DASH;
  const [whole, rest] = (ns / 1e6).toFixed(3).split(".");
  return whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",") + "." + rest;
}

function withMs(ns) {
  return ns === null || ns === undefined ? DASH : `${ms(ns)} ms`;
}

// A length on an axis or in a tooltip, in the unit that suits it.
function duration(ns) {
  if (ns === null || ns === undefined) return DASH;
  const size = Math.abs(ns);
  if (size >= 1e9) return `${(ns / 1e9).toFixed(size >= 1e10 ? 1 : 2)} s`;
  if (size >= 1e6) return `${(ns / 1e6).toFixed(size >= 1e8 ? 0 : size >= 1e7 ? 1 : 2)} ms`;
  if (size >= 1e3) return `${(ns / 1e3).toFixed(size >= 1e4 ? 0 : 1)} µs`;
  return `${Math.round(ns)} ns`;
}

function percent(share) {
  return share === null || share === undefined ? DASH : `${(share * 100).toFixed(1)} %`;
}

function bytes(count) {
  if (count === null || count === undefined) return DASH;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = count;
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    ++unit;
  }
  return `${size >= 100 || unit === 0 ? Math.round(size) : Number(size.toFixed(1))} ${units[unit]}`;
}

// "3 ranks", "1 rank"
function plural(count, word) {
  return `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
}

// Three significant digits at least, grouped: 3941.87 -> "3,942", 33.17 -> "33.2".
function rate(value) {
  if (value === null || value === undefined) return DASH;
  return value >= 100 ? grouped(value) : value.toPrecision(3);
}

// Round numbers that divide 0 to |most| into at most |count| parts.
function ticks(most, count = 5) {
  if (!(most > 0)) return [0];
  const raw = most / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((digit) => digit * power).find((size) => size >= raw);
  const values = [];
  for (let value = 0; value <= most * 1.0001; value += step) values.push(value);
  return values;
}
