// Rank by step: who is slow, and when. Drawn on a canvas, for there may be many cells.

// Cividis, which reads the same with every kind of colour vision: from little to much.
const CIVIDIS =
    [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 181, 104], [254, 232, 56]];
// From less than the median rank (blue) over equal to more (orange).
const DIVERGING = {
  light: [[0, 90, 160], [120, 175, 215], [246, 246, 246], [240, 170, 100], [200, 70, 0]],
  dark: [[70, 165, 230], [40, 90, 130], [32, 37, 45], [140, 80, 30], [245, 140, 50]],
};

function colourAt(stops, share) {
  const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(place));
  const mixed =
      stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (place - low)));
  return `rgb(${mixed.join(" ")})`;
}

const HEAT_VIEWS = [
  {
    id: "relative",
    name: "step time against the median rank",
    relative: true,
    of: (cell, i) => cell.step_ns[i]
  },
  {
    id: "longest",
    name: "step time (longest of a group)",
    of: (cell, i) => cell.longest_ns[i],
    isLongest: true
  },
  ...SEEN_PARTS.map(({id, name}) => ({
                      id,
                      name: `${name.toLowerCase()}, mean`,
                      of: (cell, i) => cell.parts[id] ? cell.parts[id][i] : 0
                    })),
  ...SEEN_PARTS.map(({id, name}) => ({
                      id: `relative-${id}`,
                      name: `${name.toLowerCase()} against the median rank`,
                      relative: true,
                      of: (cell, i) => cell.parts[id] ? cell.parts[id][i] : 0
                    })),
];

function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? sorted[Math.floor((sorted.length - 1) / 2)] : 0;
}

// A number for each cell, null where the rank has no step there.
function heatValues(view, ofCells, indexes) {
  const rows = ofCells.map(
      (cell) => indexes.map(
          (i) => cell.steps[i] === 0 ? null :
                                       view.of(cell, i) / (view.isLongest ? 1 : cell.steps[i])));
  if (!view.relative) return rows;
  indexes.forEach((_, column) => {
    const middle = medianOf(rows.map((row) => row[column]).filter((value) => value !== null));
    for (const row of rows)
      if (row[column] !== null) row[column] -= middle;
  });
  return rows;
}

// The limit of the scale: what 99 of 100 cells stay below, so that one outlier hides nothing, but
// no less than what is usual for the rank that stands out most.
function heatLimit(rows) {
  const sizes = rows.flat().filter((value) => value !== null).map(Math.abs).sort((a, b) => a - b);
  if (sizes.length === 0) return 0;
  const usual = rows.map((row) => medianOf(row.filter((value) => value !== null).map(Math.abs)));
  return Math.max(sizes[Math.ceil((sizes.length - 1) * .99)], ...usual) || sizes.at(-1);
}

// Rows that are too many to be seen are cut to those that stand out most.
const MANY_ROWS = 64;
const TOP_ROWS = 40;

function topRows(ofCells, rows) {
  const order =
      rows.map((row, index) => ({index, size: medianOf(row.filter((value) => value !== null))}))
          .sort((a, b) => b.size - a.size)
          .slice(0, TOP_ROWS)
          .map(({index}) => index);
  return {ofCells: order.map((index) => ofCells[index]), rows: order.map((index) => rows[index])};
}

function heatColour(view, value, limit) {
  if (view.relative) {
    const stops = DIVERGING[document.documentElement.dataset.theme] ?? DIVERGING.light;
    return colourAt(stops, limit > 0 ? .5 + value / limit / 2 : .5);
  }
  return colourAt(CIVIDIS, limit > 0 ? value / limit : 0);
}

// The view in which ranks differ most. Waits for ranks are left out: they are the mirror image of
// what made the other rank late.
function tellingView() {
  const spread = (view) => heatLimit(heatValues(view, chosenCells(), chosenGroups()));
  const views = HEAT_VIEWS.filter(({id, relative}) => relative && !id.includes("exposed_comm"));
  return views.reduce((best, view) => spread(view) > spread(best) * 1.05 ? view : best);
}

function drawHeatMap(main) {
  if (!HAS_TIME || series.cells.length < 2) return;
  const choice =
      el("select", {id: "heat-view", "aria-label": "What the map shows"},
         HEAT_VIEWS.map(({id, name}) => el("option", {value: id}, name)));
  choice.value = tellingView().id;
  const extent =
      el("select", {id: "heat-extent", "aria-label": "Which ranks the map shows"},
         el("option", {value: "top"}, `the ${TOP_ROWS} ranks highest in it`),
         el("option", {value: "all"}, "all ranks"));
  const canvas = el("canvas", {id: "heat", role: "img", "aria-label": "rank by step"});
  const labels = el("div", {class: "heat-labels"});
  const axis = el("div", {class: "heat-axis"});
  const scale = el("div", {class: "scale"});
  const told = el("p", {class: "small quiet"});
  let shown = null;
  const draw = () => {
    const view = HEAT_VIEWS.find(({id}) => id === choice.value);
    const indexes = chosenGroups();
    const chosen = chosenCells();
    const values = heatValues(view, chosen, indexes);
    const limit = heatLimit(values);
    extent.hidden = chosen.length <= MANY_ROWS;
    const cut = !extent.hidden && extent.value === "top";
    shown = {view, indexes, ...(cut ? topRows(chosen, values) : {ofCells: chosen, rows: values})};
    paintHeat(canvas, labels, shown, limit);
    drawScale(scale, view, limit);
    axis.replaceChildren(...[0, indexes.length - 1]
                             .filter((i, at, all) => i >= 0 && all.indexOf(i) === at)
                             .map((i) => el("span", {}, groupName(groups[indexes[i]]))));
    told.textContent = heatWords(shown, limit);
  };
  choice.addEventListener("change", draw);
  extent.addEventListener("change", draw);
  tooltip.on(canvas, (event) => heatTooltip(canvas, event, shown));
  canvas.addEventListener("click", (event) => {
    const cell = heatCell(canvas, event, shown);
    if (cell) selection.change({ranks: new Set([shown.ofCells[cell.row].rank])});
  });
  main.append(el(
      "section", {id: "heat-map"}, el("h2", {}, "Rank by step"),
      el("p", {class: "quiet"},
         "A row is a rank, a column a step. A row that stands out is a slow rank, a column a " +
             "step that was slow for all. Ranks wait for each other, so a late one shows in the " +
             "waits of the others: " +
             "what differs most between the ranks is shown first. Choose a cell to see its rank " +
             "alone. ",
         groupedNote()),
      el("p", {}, el("label", {}, "Show ", choice), " ", extent),
      el("div", {class: "heat"}, labels, el("div", {class: "heat-plot"}, canvas, axis)), scale,
      told));
  selection.listeners.push(draw);
  themeListeners.push(draw);
  draw();
}

function paintHeat(canvas, labels, {view, indexes, ofCells, rows}, limit) {
  const rowHeight = Math.max(1, Math.min(26, Math.floor(480 / Math.max(1, ofCells.length))));
  const height = Math.max(rowHeight * ofCells.length, 24);
  // Whole pixels for each cell: a multiple of the columns, which the page then scales.
  canvas.width = indexes.length * Math.max(1, Math.floor(2000 / Math.max(1, indexes.length)));
  canvas.height = height;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  const width = canvas.width / Math.max(1, indexes.length);
  const gap = rowHeight >= 8 ? 1 : 0;
  rows.forEach((row, y) => row.forEach((value, x) => {
    if (value === null) return;
    context.fillStyle = heatColour(view, value, limit);
    context.fillRect(x * width, y * rowHeight, width, rowHeight - gap);
  }));
  const every = Math.max(1, Math.ceil(14 / rowHeight));
  labels.style.height = `${height}px`;
  labels.replaceChildren(...ofCells.flatMap((cell, y) => {
    if (y % every) return [];
    const label = el("span", {}, `rank ${cell.rank}`);
    label.style.top = `${(y + .5) * rowHeight}px`;
    return [label];
  }));
}

function drawScale(scale, view, limit) {
  const strip = el("canvas", {width: 120, height: 1, "aria-hidden": "true"});
  const context = strip.getContext("2d");
  for (let x = 0; x < 120; ++x) {
    context.fillStyle = view.relative ? heatColour(view, (x / 119 * 2 - 1) * limit, limit) :
                                        heatColour(view, x / 119 * limit, limit);
    context.fillRect(x, 0, 1, 1);
  }
  const ends = view.relative ? [`${duration(-limit)} (faster)`, `+${duration(limit)} (slower)`] :
                               ["0", duration(limit)];
  scale.replaceChildren(ends[0], strip, `${ends[1]} and more`);
}

function heatCell(canvas, event, {indexes, ofCells}) {
  const box = canvas.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / box.width * indexes.length);
  const row = Math.floor((event.clientY - box.top) / box.height * ofCells.length);
  return ofCells[row] && column >= 0 && column < indexes.length ? {row, column} : null;
}

function heatTooltip(canvas, event, shown) {
  const place = heatCell(canvas, event, shown);
  if (!place) return "";
  const cell = shown.ofCells[place.row];
  const index = shown.indexes[place.column];
  const value = shown.rows[place.row][place.column];
  const head = `rank ${cell.rank}, ${groupName(groups[index])}`;
  if (value === null) return `${head}: none`;
  return `${head}\n${shown.view.name}: ${value > 0 && shown.view.relative ? "+" : ""}${
             withMs(value)}\n` +
      `step time: ${withMs(cell.step_ns[index] / cell.steps[index])}`;
}

// The same in words, for those who can't see it.
function heatWords({view, indexes, ofCells, rows}, limit) {
  let most = null;
  rows.forEach((row, y) => row.forEach((value, x) => {
    if (value !== null && (most === null || value > most.value)) most = {value, x, y};
  }));
  if (!most || !(limit > 0)) return "";
  return `Highest: rank ${ofCells[most.y].rank} in ${groupName(groups[indexes[most.x]])}, ` +
      `${view.relative ? "+" : ""}${withMs(most.value)}.`;
}
