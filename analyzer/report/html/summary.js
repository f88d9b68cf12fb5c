// The head of the page: what ran, what is missing, how long a step takes and what it is spent on.

function drawHeader(header) {
  const run = report.run;
  const quality = report.data_quality;
  const name = run.workload || "Training run";
  document.title = `${name} – Tutti report`;
  const theme = el("button", {type: "button", class: "theme"});
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const show = (isDark) => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    theme.textContent = isDark ? "Light" : "Dark";
    for (const listener of themeListeners) listener();
  };
  let chosen = false;
  theme.addEventListener("click", () => {
    chosen = true;
    show(document.documentElement.dataset.theme !== "dark");
  });
  dark.addEventListener("change", () => {
    if (!chosen) show(dark.matches);
  });
  show(dark.matches);
  const ranks = figure(grouped(run.ranks), SQL.count("rank"), run.ranks);
  header.append(
      el("div", {class: "title-row"}, el("h1", {}, name), theme),
      el("p", {class: "quiet"}, ranks, ` of ${plural(run.ranks_expected, "rank")}, `,
         figure(grouped(run.steps), SQL.count("run_step"), run.steps),
         ` ${run.steps === 1 ? "step" : "steps"} (`,
         `${BASIS_WORDS} count: ${grouped(countingSteps())}; ${originWords(run.steps_origin)}), `,
         figure(grouped(quality.events), SQL.metric("run.events"), quality.events), " events, ",
         quality.events_lost === 0 ? "none lost" :
                                     [
                                       figure(
                                           grouped(quality.events_lost),
                                           SQL.metric("run.events_lost"), quality.events_lost),
                                       " lost"
                                     ],
         ". Every number shows its SQL when you choose it."));
}

const themeListeners = [];

function countingSteps() {
  return groups.filter(counts).reduce((sum, group) => sum + group.count, 0);
}

function originWords(origin) {
  const words = {
    annotate: "marked by the program",
    profiler_step: "marked by torch.profiler",
    nvtx: "marked by NVTX",
    range: "a range of the program",
    inferred_optimizer: "inferred from optimizer runs",
    inferred_collective: "inferred from collectives",
    whole_trace: "not marked: the whole trace is one",
  };
  return words[origin] ?? "no steps";
}

// What is missing, above everything else.
function drawBanner(main) {
  const losses = report.data_quality.issues.filter(
      ({severity}) => severity === "data_loss" || severity === "error");
  if (losses.length === 0) return;
  const shown = losses.slice(0, 8);
  main.append(
      el("div", {class: "banner", role: "alert", id: "data-loss"}, el("h2", {}, "Data is missing"),
         el("p", {}, "Numbers that rest on what is missing can't be trusted."),
         el("ul", {}, shown.map(issueItem)),
         losses.length > shown.length &&
             el("p", {}, `and ${losses.length - shown.length} more, at the end of this page`)));
}

function issueItem(issue) {
  const where = [issue.rank === null ? "run" : `rank ${issue.rank}`];
  if (issue.first_step !== null) where.push(stepsName(issue.first_step, issue.last_step));
  return el(
      "li", {}, el("strong", {}, issue.name), ` (${where.join(", ")}): ${issue.detail}`,
      issue.advice && `; ${issue.advice}`);
}

function card(name, value) {
  return el("div", {}, el("span", {class: "value"}, value), el("span", {class: "name"}, name));
}

function drawSummary(main) {
  const {step, throughput, overlap} = report;
  const timed = (name, value) =>
      value === null ? DASH : figure(withMs(value), SQL.metric(name), value);
  const rated = (name) => {
    const value = throughput[name];
    return value === null ? null :
                            card(
                                name.replace("_per_s", " a second").replace("_", " "),
                                figure(rate(value), SQL.metric(`throughput.${name}`), value));
  };
  const section = el("section", {id: "step"}, el("h2", {}, "A step and where its time goes"));
  main.append(section);
  if (!(step.total_ns > 0)) {
    section.append(el("p", {}, "No step was found in this run: there is nothing to divide."));
    return;
  }
  section.append(
      el("div", {class: "cards"}, card("median step", timed("step.median_ns", step.median_ns)),
         card("99th percentile", timed("step.p99_ns", step.p99_ns)),
         card(
             "median from end to end, all ranks",
             timed("step.period_median_ns", step.period_median_ns)),
         rated("steps_per_s"), rated("samples_per_s"), rated("tokens_per_s"),
         overlap.overlap_frac !== null &&
             card(
                 "of communication hidden by compute",
                 figure(
                     percent(overlap.overlap_frac), SQL.metric("overlap.frac"),
                     overlap.overlap_frac))));
  drawParts(section);
}

function drawParts(section) {
  const {step} = report;
  const rows = PARTS.filter(({id}) => step.breakdown_total_ns[id] > 0);
  const steps = report.ranks.reduce((sum, rank) => sum + (rank.steps ?? 0), 0) +
      (DATA.left_out.rank_steps ?? 0);
  const stack =
      el("div", {class: "stack", role: "img", "aria-label": "parts of a step"}, rows.map((part) => {
        const share = step.breakdown_total_ns[part.id] / step.total_ns;
        const piece = el("div");
        piece.style.flex = String(share);
        piece.style.background = `var(--${part.id})`;
        tooltip.on(piece, () => `${part.name}: ${percent(share)}\n${part.means}`);
        return piece;
      }));
  section.append(
      stack,
      table(
          [
            {name: "Part", text: true},
            {name: "mean", title: "over all steps that count and all ranks; the means add up"},
            {name: "share"}, {name: "median", title: "stands alone: medians don't add up"},
            {name: "What it is", text: true, wide: true}
          ],
          rows, ({id, name, means}) => {
            const total = step.breakdown_total_ns[id];
            return [
              [swatch(id), name], figure(withMs(total / steps), SQL.partMean(id), total / steps),
              figure(percent(total / step.total_ns), SQL.partShare(id), total / step.total_ns),
              figure(withMs(step.breakdown_ns[id]), SQL.partMedian(id), step.breakdown_ns[id]),
              means
            ];
          }, {
            foot: [
              "Sum",
              figure(
                  withMs(step.total_ns / steps),
                  "SELECT sum(step_total_ns) * 1.0 / sum(steps) FROM rank_summary",
                  step.total_ns / steps),
              "100.0 %", "", ""
            ]
          }));
}
