// What costs time and what to do about it, the most expensive first.

function drawFindings(main) {
  const section = el("section", {id: "findings"}, el("h2", {}, "Findings"));
  main.append(section);
  if (report.findings.length === 0) {
    section.append(el("p", {}, "Nothing costs at least 5 % of a step beyond its noise."));
    return;
  }
  section.append(
      el("p", {class: "quiet"},
         "Ranked by what a replay of the steps saves without the cause; where none can tell, by " +
             "what it costs at most. No time is charged to two findings; the bar is the most " +
             "that it costs, as a share of a step."));
  report.findings.forEach((finding, index) => section.append(drawFinding(finding, index)));
}

function drawFinding(finding, index) {
  const id = finding.number ?? index + 1;
  const cost = finding.cost_ns === null ? el("span", {class: "cost"}, "the job stopped") :
                                          el("span", {class: "cost"}, ...saving(finding, id));
  const steps = finding.first_step === null ? "" : stepsName(finding.first_step, finding.last_step);
  const isAll = finding.ranks.length === report.run.ranks;
  return el(
      "div", {class: "finding"}, el("h3", {}, `${index + 1}. ${finding.id}`, cost),
      finding.share !== null && bar(finding.share), el("p", {}, finding.title),
      el("p", {class: "do"}, el("strong", {}, "Do: "), finding.advice),
      el("p", {class: "quiet small"}, `Confidence ${finding.confidence}: ${finding.reason}. `,
         isAll ? "All ranks. " :
                 finding.ranks.length > 0 &&
                 `${finding.ranks.length === 1 ? "Rank" : "Ranks"} ${rankList(finding.ranks)}. `,
         steps && `Seen in ${plural(finding.steps_seen, "step")}, ${steps}. `,
         !isAll && finding.ranks.length > 0 && focusButton(finding.ranks)),
      el("details", {}, el("summary", {}, "What this rests on"),
         finding.formula && el("p", {class: "small"}, `Cost: ${finding.formula}.`),
         el("ul", {}, finding.evidence.map(evidenceItem))));
}

// As the text says it: what a replay saves first, where there is one, then the most it can be.
function saving(finding, id) {
  const most = figure(withMs(finding.cost_ns), SQL.finding(id, "cost_ns"), finding.cost_ns);
  if (finding.replayed_ns === null) {
    const share = figure(percent(finding.share), SQL.finding(id, "share"), finding.share);
    return ["up to ", most, " per step (", share, ")"];
  }
  const saved = finding.share * finding.replayed_ns / finding.cost_ns;
  return [
    "saves ",
    figure(withMs(finding.replayed_ns), SQL.finding(id, "replayed_ns"), finding.replayed_ns),
    " per step (", figure(percent(saved), SQL.finding(id, "share * replayed_ns / cost_ns"), saved),
    "), at most ", most
  ];
}

function rankList(ranks) {
  return ranks.length > 12 ? `${ranks.slice(0, 12).join(", ")} and ${ranks.length - 12} more` :
                             ranks.join(", ");
}

function focusButton(ranks) {
  const button = el("button", {type: "button"}, "Show only these ranks");
  button.addEventListener("click", () => {
    selection.change({ranks: new Set(ranks)});
    document.getElementById("steps").scrollIntoView();
  });
  return button;
}

// The row that shows it, as a query; of a raw table the rank's own.
function evidenceItem(evidence) {
  const text = `${evidence.rank === null ? "" : `rank ${evidence.rank}: `}${evidence.note}`;
  if (evidence.row_id === null)
    return el("li", {}, text, el("span", {class: "quiet"}, ` (${evidence.table})`));
  const key = DATA.derived_keys[evidence.table];
  const conditions = [`${key ?? "id"} = ${evidence.row_id}`];
  const isByRank = key === "step" || !(evidence.table in DATA.derived_keys);
  if (evidence.rank !== null && isByRank) conditions.push(`rank = ${evidence.rank}`);
  const query =
      el("button", {
        type: "button",
        class: "figure",
        "data-sql": `SELECT * FROM ${evidence.table} WHERE ${conditions.join(" AND ")}`
      },
         `${evidence.table} ${evidence.row_id}`);
  return el("li", {}, text, " (", query, ")");
}
