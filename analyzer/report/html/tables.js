// Ranks, GPUs, operators, and what limits the trust in all of it.

function drawRanks(main) {
  if (!HAS_TIME) return;
  const place = el("div");
  const draw = () => place.replaceChildren(rankTable());
  main.append(el(
      "section", {id: "ranks"}, el("h2", {}, "Ranks"),
      el("p", {class: "quiet"},
         "Mean of the chosen steps in ms, parts and sum; choose a column's name to order by it. ",
         DATA.left_out.ranks > 0 &&
             `The ${report.ranks.length} slowest of ${
                 report.ranks.length + DATA.left_out.ranks} ranks.`),
      place));
  selection.listeners.push(draw);
  draw();
}

function rankTable() {
  const indexes = chosenGroups();
  const parts = SEEN_PARTS;
  const rows = report.ranks.filter(({rank}) => hasRank(rank)).map((rank) => {
    const cell = cells.get(rank.rank);
    return {rank, total: cell ? sums([cell], indexes) : null};
  });
  const mean = ({total}, value) => total && total.steps > 0 ? value(total) / total.steps : null;
  const timed = (row, value, column) => {
    const shown = mean(row, value);
    return shown === null ?
        DASH :
        figure(ms(shown), SQL.chosen(`sum(${column}) * 1.0 / count(*)`, [row.rank.rank]), shown);
  };
  const late = ({rank}) => rank.collectives ? rank.times_last / rank.collectives : null;
  return table(
      [
        {name: "Rank", text: true, short: true, sort: ({rank}) => rank.rank},
        {name: "host", text: true, short: true},
        {name: "steps", sort: ({total}) => total?.steps ?? 0},
        {name: "step", sort: (row) => mean(row, (t) => t.step_ns)},
        ...parts.map(({id, name, means}) => ({
                       name: name.replace("Communication: ", "comm. "),
                       title: means,
                       sort: (row) => mean(row, (t) => t.parts[id])
                     })),
        {
          name: "hidden",
          title: "share of communication that compute hides",
          sort: ({total}) => total?.comm_ns ? 1 - total.exposed_ns / total.comm_ns : null
        },
        {
          name: "last",
          title: "share of collectives, of the whole run, that it is last in",
          sort: late
        },
        {name: "exit", title: "status of the process; – its end was not seen"}
      ],
      rows, (row) => {
        const {rank, total} = row;
        const where = [rank.rank];
        return [
          `rank ${rank.rank}`, rank.host,
          total ? figure(grouped(total.steps), SQL.chosen("count(*)", where), total.steps) : DASH,
          timed(row, (t) => t.step_ns, "b.step_ns"),
          ...parts.map(({id}) => timed(row, (t) => t.parts[id], `b.${id}_ns`)),
          total?.comm_ns ? figure(
                               percent(1 - total.exposed_ns / total.comm_ns), overlapSql(rank.rank),
                               (total.comm_ns - total.exposed_ns) / total.comm_ns) :
                           DASH,
          late(row) === null ?
              DASH :
              figure(
                  percent(late(row)), SQL.straggler(rank.rank, "times_last * 1.0 / collectives"),
                  late(row)),
          rank.exit_status === null ? DASH : String(rank.exit_status)
        ];
      }, {tall: rows.length > 16, sortBy: {column: 0, descending: false}});
}

function overlapSql(rank) {
  return SQL.chosen("(sum(o.comm_ns) - sum(o.exposed_ns)) * 1.0 / sum(o.comm_ns)", [rank])
      .replace("USING (step)", "USING (step) JOIN step_overlap AS o USING (rank, step)")
      .replaceAll("b.rank", "rank")
      .replaceAll("b.step ", "step ");
}

function drawDevices(main) {
  const {device} = report;
  if (device === null) return;
  const shares = [
    ["busy_frac", "busy"], ["compute_frac", "computes"], ["comm_frac", "communicates"],
    ["copy_frac", "copies"], ["idle_host_frac", "idle, the host had not launched"],
    ["idle_launched_frac", "idle, launched"], ["idle_unknown_frac", "idle, launch not known"],
    ["tensor_core_frac", "of what could use tensor cores does"]
  ];
  const section = el(
      "section", {id: "gpus"}, el("h2", {}, "GPUs"),
      el("p", {class: "quiet"},
         "Of the time of the steps that count; what runs at once counts once."),
      el("div", {class: "cards"},
         shares.filter(([name]) => device[name] !== null)
             .map(
                 ([name, words]) => card(
                     words,
                     figure(percent(device[name]), SQL.metric(`device.${name}`), device[name])))));
  const columns = el("div", {class: "two"});
  if (report.kernel_categories.length > 0) columns.append(categoryTable());
  if (report.copies.length > 0) columns.append(copyTable());
  section.append(columns);
  main.append(section);
}

function categoryTable() {
  const most = Math.max(...report.kernel_categories.map((row) => row.total_ns));
  const steps = BASIS_SQL === "1" ? "" : ` JOIN run_step AS s USING (step) WHERE ${BASIS_SQL} AND`;
  const sql = (value, category) => `SELECT sum(c.${value}) FROM step_category AS c${
      steps || " WHERE"} c.category = '${category}'`;
  return el(
      "div", {}, el("h3", {}, "What GPU work does, all ranks"),
      table(
          [
            {name: "Category", text: true, short: true}, {name: "", text: true}, {name: "count"},
            {name: "total ms"}
          ],
          report.kernel_categories,
          (row) =>
              [row.category.replaceAll("_", " "),
               el("div", {class: "bar-cell"}, bar(row.total_ns / (most || 1))),
               figure(grouped(row.count), sql("count", row.category), row.count),
               figure(ms(row.total_ns), sql("total_ns", row.category), row.total_ns)]));
}

function copyTable() {
  const key = (row) => ({
    rank: row.rank,
    device_id: row.device_id,
    direction: row.direction,
    source: row.source ?? "",
    destination: row.destination ?? ""
  });
  const told = (row, column, text) => row[column] === null ?
      DASH :
      figure(text(row[column]), SQL.row("copy_stats", key(row), column), row[column]);
  return el(
      "div", {}, el("h3", {}, "Copies"),
      table(
          [
            {name: "Rank", text: true, short: true, sort: ({rank}) => rank},
            {name: "direction", text: true}, {name: "count", sort: (row) => row.count},
            {name: "bytes", sort: (row) => row.bytes}, {name: "GB/s", sort: (row) => row.gb_per_s},
            {name: "not hidden ms", sort: (row) => row.exposed_ns}
          ],
          report.copies,
          (row) =>
              [`rank ${row.rank}`,
               `${row.direction}${
                   row.source ? `, ${row.source} to ${row.destination ?? "unknown"}` : ""}`,
               told(row, "count", grouped), told(row, "bytes", bytes),
               told(row, "gb_per_s", (value) => value.toFixed(2)), told(row, "exposed_ns", ms)],
          {tall: report.copies.length > 12}));
}

function drawOperators(main) {
  const rows = report.operators.slice(0, 50);
  if (rows.length === 0) return;
  const where = (row) => `FROM op_stats WHERE on_compute = 1 AND kind = ${
      quoted(row.kind)} AND name = ${quoted(row.name)}`;
  const told = (row, value, expression, text) =>
      figure(text(value), `SELECT ${expression} ${where(row)}`, value);
  const most = Math.max(...rows.map((row) => row.in_steps_self_ns));
  main.append(el(
      "section", {id: "operators"}, el("h2", {}, "Operators and kernels that take most time"),
      el("p", {class: "quiet"},
         `Self time in the ${BASIS_WORDS}, all ranks; percentiles over the ` +
             "whole trace, of the slowest rank."),
      table(
          [
            {name: "Name", text: true, sort: ({name}) => name},
            {name: "kind", text: true, short: true},
            {name: "count", sort: (row) => row.in_steps_count},
            {name: "self ms", sort: (row) => row.in_steps_self_ns}, {name: "", text: true},
            {name: "p50 ms", sort: (row) => row.p50_ns}, {name: "p99 ms", sort: (row) => row.p99_ns}
          ],
          rows,
          (row) =>
              [el("span", {class: "name-cell", title: row.name}, row.name), row.kind,
               told(row, row.in_steps_count, "sum(in_steps_count)", grouped),
               told(row, row.in_steps_self_ns, "sum(in_steps_self_ns)", ms),
               el("div", {class: "bar-cell"}, bar(row.in_steps_self_ns / (most || 1))),
               told(row, row.p50_ns, "max(p50_ns)", ms), told(row, row.p99_ns, "max(p99_ns)", ms)],
          {tall: true})));
}

function drawTrust(main) {
  const {run, data_quality: quality} = report;
  const notes = quality.issues.filter(({severity}) => severity !== "info");
  const infos = quality.issues.filter(({severity}) => severity === "info");
  const left =
      Object.entries(DATA.left_out).filter(([name, count]) => count > 0 && name !== "rank_steps");
  main.append(el(
      "section", {id: "trust"}, el("h2", {}, "How far to trust it"),
      el("p", {}, `${run.ranks} of ${plural(run.ranks_expected, "rank")}; `,
         run.clock_error_ns === null  ? "clocks of different machines are not aligned" :
             run.clock_error_ns === 0 ? "all ranks read one clock" :
                                        `clocks agree within ${duration(run.clock_error_ns)}`,
         `; times are measured with tracing on. What each number means is in docs/metrics.md.`),
      notes.length > 0 ? el("ul", {}, notes.map(issueItem)) :
                         el("p", {}, "Nothing odd was noticed."),
      infos.length > 0 &&
          el("details", {},
             el("summary", {}, `${plural(infos.length, "thing")} worth knowing, without harm`),
             el("ul", {}, infos.map(issueItem))),
      left.length > 0 &&
          el("p", {class: "quiet"}, "To keep this file small, these were left out of it: ",
             left.map(([name, count]) => `${grouped(count)} rows of ${name.replaceAll("_", " ")}`)
                 .join(", "),
             "; the JSON report has all of them.")));
}
