// The query behind each number; each gives one value. `tutti query RUN "…"` runs them.

const SQL = {
  metric: (name) => `SELECT value FROM run_metric WHERE name = '${name}'`,
  meta: (key) => `SELECT CAST(value AS INTEGER) FROM run_meta WHERE key = '${key}'`,
  count: (table, where = "") => `SELECT count(*) FROM ${table}${where && " WHERE " + where}`,
  partTotal: (part) => `SELECT total_ns FROM part_summary WHERE part = '${part}'`,
  partMedian: (part) => `SELECT median_ns FROM part_summary WHERE part = '${part}'`,
  partMean: (part) =>
      `SELECT total_ns * 1.0 / (SELECT sum(steps) FROM rank_summary) FROM part_summary ` +
      `WHERE part = '${part}'`,
  partShare: (part) => `SELECT total_ns * 1.0 / (SELECT value FROM run_metric WHERE name = ` +
      `'step.total_ns') FROM part_summary WHERE part = '${part}'`,
  finding: (id, column) => `SELECT ${column} FROM finding WHERE id = ${id}`,
  straggler: (rank, value) => `SELECT ${value} FROM straggler WHERE rank = ${rank}`,
  rankSummary: (rank, column) => `SELECT ${column} FROM rank_summary WHERE rank = ${rank}`,
  row: (table, key, column) => `SELECT ${column} FROM ${table} WHERE ` +
      Object.entries(key)
          .map(
              ([name, value]) => value === null ?
                  `${name} IS NULL` :
                  `${name} = ${typeof value === "number" ? value : quoted(value)}`)
          .join(" AND "),

  // |value| over the ranks and steps that are chosen; b is step_breakdown, s run_step.
  chosen: (value, ranks = selection.ranks) =>
      `SELECT ${value} FROM step_breakdown AS b JOIN run_step AS s ` +
      `USING (step) WHERE ${stepsCondition()}${ranksCondition(ranks)}`,
  group: (value, group, ranks = selection.ranks) =>
      `SELECT ${value} FROM step_breakdown AS b JOIN run_step AS s ` +
      `USING (step) WHERE ${groupCondition(group)}${ranksCondition(ranks)}`,
};

function quoted(text) {
  return `'${String(text).replaceAll("'", "''")}'`;
}

function ranksCondition(ranks) {
  if (ranks === null) return "";
  const list = [...ranks];
  return list.length === 1 ? ` AND b.rank = ${list[0]}` : ` AND b.rank IN (${list.join(", ")})`;
}

// The chosen steps, by the groups that are chosen.
function stepsCondition() {
  const conditions = selection.onlyCounting ? [BASIS_SQL] : [];
  if (selection.first !== null || selection.last !== null) {
    const chosen = chosenGroups().map((index) => groups[index]);
    const first = Math.min(...chosen.map((group) => group.first));
    const last = Math.max(...chosen.map((group) => group.last));
    conditions.push(chosen.length ? `b.step BETWEEN ${first} AND ${last}` : "0");
  }
  return conditions.join(" AND ") || "1";
}

const STATE_SQL = {
  "steady": "s.is_steady = 1",
  "warm-up": "s.tag = 'train' AND s.is_partial = 0 AND s.is_warmup = 1",
  "partial": "s.tag = 'train' AND s.is_partial = 1",
  "checkpoint": "s.tag = 'checkpoint'",
  "evaluation": "s.tag = 'evaluation'",
};

function groupCondition(group) {
  if (group.first === group.last) return `b.step = ${group.first}`;
  return `b.step BETWEEN ${group.first} AND ${group.last} AND ${STATE_SQL[group.state]}`;
}

function showSql(sql, shown) {
  const dialog = document.getElementById("sql-dialog");
  const query = el("pre", {}, sql);
  const copy = el("button", {type: "button"}, "Copy");
  copy.addEventListener("click", () => {
    window.getSelection().selectAllChildren(query);
    navigator.clipboard?.writeText(sql).then(() => {
      copy.textContent = "Copied";
    }, () => {});
  });
  const close = el("button", {type: "button", autofocus: ""}, "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(
      el("h2", {id: "sql-title"}, `Where ${shown} comes from`),
      el("p", {class: "quiet small"}, "Run it with ", el("code", {}, "tutti query RUN \"…\""),
         ", or with sqlite3 on run.sqlite in the run's folder. Times are nanoseconds."),
      query, el("div", {class: "buttons"}, copy, close));
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-sql]");
  if (chosen) showSql(chosen.dataset.sql, chosen.textContent);
});
