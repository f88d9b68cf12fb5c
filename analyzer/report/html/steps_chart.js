// Bars of the steps, stacked by part: the mean over the chosen ranks. Choosing a bar tells its
// numbers.

const STEPS_WIDTH = 1000;
const STEPS_HEIGHT = 240;
const LEFT = 62;

function drawSteps(main) {
  if (!HAS_TIME) return;
  const chart = el("div");
  const legend =
      el("div", {class: "legend"},
         SEEN_PARTS.map(({id, name, means}) => el("span", {title: means}, swatch(id), name)));
  const detail = el("div");
  let chosen = null;  // index into groups; null: the whole selection
  const draw = () => {
    if (chosen !== null && !chosenGroups().includes(chosen)) chosen = null;
    chart.replaceChildren(stepsSvg((index) => {
      chosen = index === chosen ? null : index;
      draw();
    }, chosen));
    detail.replaceChildren(stepDetail(chosen));
  };
  main.append(
      el("section", {id: "steps"}, el("h2", {}, "Step by step"),
         el("p", {class: "quiet"},
            "Each bar is a step, divided among the parts in order of precedence; they add up to " +
                "the step exactly. Mean over the chosen ranks. Choose a bar for its numbers. ",
            groupedNote()),
         legend, chart, detail));
  selection.listeners.push(draw);
  draw();
}

function groupedNote() {
  return series.is_grouped ?
      `There are ${grouped(report.run.steps)} steps: a bar is the mean of up to ` +
          `${
              Math.max(...groups.map(
                  (group) => group.count))} steps of one kind that follow one another.` :
      "";
}

function stepsSvg(onChoose, chosen) {
  const ofCells = chosenCells();
  const indexes = chosenGroups();
  const height = STEPS_HEIGHT;
  const root = svg("svg", {
    viewBox: `0 0 ${STEPS_WIDTH} ${height + 34}`,
    role: "img",
    "aria-label": "time of each step by part"
  });
  const totals = indexes.map((index) => sums(ofCells, [index]));
  const most = Math.max(0, ...totals.map((total) => total.steps ? total.step_ns / total.steps : 0));
  if (!(most > 0)) {
    root.append(
        svg("text", {x: LEFT, y: 40}, "No step of the selection was recorded on these ranks."));
    return root;
  }
  const y = (ns) => height - (ns / most) * (height - 12);
  drawTimeAxis(root, most, y);
  const width = Math.min(90, (STEPS_WIDTH - LEFT) / indexes.length);
  const gap = width > 6 ? Math.min(2, width * .15) : 0;
  totals.forEach((total, place) => {
    if (total.steps === 0) return;
    const group = groups[indexes[place]];
    const x = LEFT + place * width;
    let below = 0;
    for (const {id} of SEEN_PARTS) {
      if (total.parts[id] === 0) continue;
      const top = below + total.parts[id] / total.steps;
      const piece = svg("rect", {
        x,
        width: Math.max(.4, width - gap),
        y: y(top),
        height: Math.max(0, y(below) - y(top)),
        class: counts(group) ? "" : "faint"
      });
      piece.style.fill = `var(--${id})`;
      root.append(piece);
      below = top;
    }
    const pick = svg("rect", {
      x,
      width,
      y: 0,
      height,
      class: chosen === indexes[place] ? "pick chosen" : "pick",
      "data-group": indexes[place]
    });
    pick.addEventListener("click", () => onChoose(indexes[place]));
    tooltip.on(pick, () => stepTooltip(group, total));
    root.append(pick);
  });
  drawStepLabels(root, indexes, width, height);
  return root;
}

function drawTimeAxis(root, most, y) {
  for (const tick of ticks(most, 4)) {
    root.append(
        svg("line", {x1: LEFT, x2: STEPS_WIDTH, y1: y(tick), y2: y(tick), class: "grid"}),
        svg("text", {x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end"}, duration(tick)));
  }
}

function drawStepLabels(root, indexes, width, height) {
  const every =
      Math.max(1, Math.ceil(indexes.length / Math.max(1, Math.floor((STEPS_WIDTH - LEFT) / 55))));
  indexes.forEach((index, place) => {
    if (place % every) return;
    root.append(
        svg("text", {x: LEFT + (place + .5) * width, y: height + 15, "text-anchor": "middle"},
            String(groups[index].first_number)));
  });
  root.append(svg("text", {x: STEPS_WIDTH, y: height + 31, "text-anchor": "end"}, "step"));
}

function stepTooltip(group, total) {
  const lines = [`${groupName(group)}: ${withMs(total.step_ns / total.steps)}`];
  for (const {id, name} of SEEN_PARTS) {
    if (total.parts[id] > 0) lines.push(`${name}: ${withMs(total.parts[id] / total.steps)}`);
  }
  return lines.join("\n");
}

// The numbers of a group of steps, or of the whole selection.
function stepDetail(chosen) {
  const indexes = chosen === null ? chosenGroups() : [chosen];
  const total = sums(chosenCells(), indexes);
  if (total.steps === 0) return "";
  const sql = (value) => chosen === null ? SQL.chosen(value) : SQL.group(value, groups[chosen]);
  const numbers =
      SEEN_PARTS.filter(({id}) => total.parts[id] > 0)
          .map(
              ({id, name}) =>
                  el("span", {}, swatch(id), `${name} `,
                     figure(
                         withMs(total.parts[id] / total.steps),
                         sql(`sum(b.${id}_ns) * 1.0 / count(*)`), total.parts[id] / total.steps)));
  const what = chosen === null ? "All that is chosen" : groupName(groups[chosen]);
  return el(
      "div", {class: "detail", id: "step-detail"},
      el("strong", {},
         `${what}, mean of ${plural(total.steps, "step")} of ${
             plural(chosenCells().length, "rank")}: `,
         figure(
             withMs(total.step_ns / total.steps), sql("sum(b.step_ns) * 1.0 / count(*)"),
             total.step_ns / total.steps)),
      el("div", {class: "legend"}, numbers));
}
