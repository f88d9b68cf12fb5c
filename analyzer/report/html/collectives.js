// Collectives: how far apart the ranks arrive, who comes last, and what each kind costs.

function drawCollectives(main) {
  if (report.collectives.length === 0) return;
  const section =
      el("section", {id: "collectives"}, el("h2", {}, "Collectives"),
         el("p", {class: "quiet"},
            "Skew is the time from the first rank's arrival at a collective to the last one's: " +
                "until then nobody can begin, and those who came early wait. Transfer is what is " +
                "left."));
  const charts = el("div", {class: "two"});
  section.append(charts);
  if (series.lateness.length > 1) charts.append(lateChart());
  if (series.skew.count.some((count) => count > 0)) {
    const place = el("div");
    const draw = () => place.replaceChildren(skewSvg());
    charts.append(
        el("div", {}, el("h3", {}, "Skew by step"),
           el("p", {class: "quiet small"},
              "Median and largest of the collectives of each step, all ranks."),
           place));
    selection.listeners.push(draw);
    draw();
  }
  if (!charts.hasChildNodes()) {
    section.append(
        el("p", {}, "The arrivals of several ranks are not known, so skew can't be told."));
  }
  section.append(el("h3", {}, "By what they are"), collectiveTable());
  main.append(section);
}

function lateChart() {
  const place = el("div");
  const draw = () => {
    const rows = series.lateness.filter(({rank}) => hasRank(rank));
    const most = Math.max(...rows.map(({late_ns, calls}) => late_ns / calls), 0);
    place.replaceChildren(table(
        [
          {name: "Rank", text: true, short: true, sort: ({rank}) => rank},
          {name: "arrives after the first, mean", sort: ({late_ns, calls}) => late_ns / calls},
          {name: "", text: true}, {
            name: "is last",
            title: "share of the complete collectives with a common wait that it is part of",
            sort: ({times_last, collectives}) => times_last / collectives
          }
        ],
        rows,
        (row) =>
            [`rank ${row.rank}`,
             figure(
                 withMs(row.late_ns / row.calls),
                 `SELECT avg(k.arrival_ns - (c.ready_ns - c.skew_ns)) FROM collective_call ` +
                     `AS k JOIN collective AS c ON c.id = k.collective_id WHERE k.rank = ${
                         row.rank} AND c.skew_ns IS NOT NULL ` +
                     "AND c.last_rank IS NOT NULL AND k.arrival_ns IS NOT NULL",
                 row.late_ns / row.calls),
             el("div", {class: "bar-cell"},
                bar(row.late_ns / row.calls / (most || 1), "exposed_comm_wait")),
             row.collectives ? figure(
                                   percent(row.times_last / row.collectives),
                                   SQL.straggler(row.rank, "times_last * 1.0 / collectives"),
                                   row.times_last / row.collectives) :
                               DASH],
        {tall: rows.length > 12, sortBy: {column: 1, descending: true}}));
  };
  selection.listeners.push(draw);
  draw();
  return el(
      "div", {}, el("h3", {}, "Who comes late"),
      el("p", {class: "quiet small"}, "All steps; the others wait for the rank at the top."),
      place);
}

function skewSvg() {
  const [width, height, left] = [560, 200, 62];
  const indexes = chosenGroups().filter((index) => series.skew.count[index] > 0);
  const root = svg(
      "svg", {viewBox: `0 0 ${width} ${height + 22}`, role: "img", "aria-label": "skew by step"});
  const most = Math.max(...indexes.map((index) => series.skew.max_ns[index]), 0);
  if (!(most > 0)) {
    root.append(
        svg("text", {x: left, y: 40},
            indexes.length ? "All arrive at once." : "No collective in these steps."));
    return root;
  }
  const x = (place) => left + (place + .5) * (width - left) / indexes.length;
  const y = (ns) => height - ns / most * (height - 12);
  for (const tick of ticks(most, 4)) {
    root.append(
        svg("line", {x1: left, x2: width, y1: y(tick), y2: y(tick), class: "grid"}),
        svg("text", {x: left - 6, y: y(tick) + 4, "text-anchor": "end"}, duration(tick)));
  }
  indexes.forEach((index, place) => {
    const dot = (ns, part, radius) => {
      const node = svg("circle", {cx: x(place), cy: y(ns), r: radius});
      node.style.fill = `var(--${part})`;
      return node;
    };
    const stem = svg("line", {
      x1: x(place),
      x2: x(place),
      y1: y(series.skew.max_ns[index]),
      y2: y(series.skew.p50_ns[index])
    });
    stem.style.stroke = "var(--line)";
    const small = indexes.length > 120 ? 1.5 : 2.5;
    const area = svg("rect", {
      class: "pick",
      x: x(place) - (width - left) / indexes.length / 2,
      width: (width - left) / indexes.length,
      y: 0,
      height
    });
    tooltip.on(
        area,
        () => `${groupName(groups[index])}: ${plural(series.skew.count[index], "collective")}\n` +
            `median skew ${withMs(series.skew.p50_ns[index])}\nlargest ${
                  withMs(series.skew.max_ns[index])}`);
    root.append(
        stem, dot(series.skew.max_ns[index], "exposed_comm_wait", small),
        dot(series.skew.p50_ns[index], "compute", small), area);
  });
  root.append(
      svg("text", {x: left, y: height + 18}, groupName(groups[indexes[0]])),
      svg("text", {x: width, y: height + 18, "text-anchor": "end"},
          groupName(groups[indexes.at(-1)])));
  return el(
      "div", {},
      el("div", {class: "legend"}, el("span", {}, swatch("compute"), "median"),
         el("span", {}, swatch("exposed_comm_wait"), "largest")),
      root);
}

function collectiveTable() {
  const key = (row) => ({
    communicator_id: row.communicator_id ?? -1,
    op: row.op,
    dtype: row.dtype ?? "",
    bytes: row.bytes ?? -1
  });
  const timed = (row, column) => row[column] === null ?
      DASH :
      figure(ms(row[column]), SQL.row("collective_summary", key(row), column), row[column]);
  const waited = (row) => {
    if (row.p50_wait_ns === null) return DASH;
    const mean_ns = Math.floor(row.wait_ns / row.count);
    return figure(ms(mean_ns), SQL.row("collective_summary", key(row), "wait_ns / count"), mean_ns);
  };
  return table(
      [
        {name: "group", text: true}, {name: "op", text: true, short: true},
        {name: "dtype", text: true, short: true}, {name: "payload", sort: (row) => row.bytes},
        {name: "count", sort: (row) => row.count}, {
          name: "skew ms",
          title: "from the first rank's arrival to the last one's, median",
          sort: (row) => row.p50_skew_ns
        },
        {
          name: "wait ms",
          title: "of all ranks together, mean: the last to arrive waits for nobody",
          sort: (row) => row.p50_wait_ns === null ? null : row.wait_ns / row.count
        },
        {
          name: "transfer ms",
          title: "from the moment on at which all that are needed have arrived, median",
          sort: (row) => row.p50_transfer_ns
        },
        {name: "p99 ms", title: "of the transfer", sort: (row) => row.p99_transfer_ns}, {
          name: "bus GB/s",
          title: "by the factors of nccl-tests; * of the raw duration, waiting included",
          sort: (row) => row.p50_busbw_gb_per_s
        }
      ],
      report.collectives,
      (row) =>
          [el("span", {class: "name-cell"},
              `${row.backend ?? "unknown"} ${row.group ?? ""}${
                  row.group_size ? ` of ${row.group_size}` : ""}`),
           row.op, row.dtype ?? DASH, bytes(row.bytes),
           figure(grouped(row.count), SQL.row("collective_summary", key(row), "count"), row.count),
           timed(row, "p50_skew_ns"), waited(row), timed(row, "p50_transfer_ns"),
           timed(row, "p99_transfer_ns"),
           row.p50_busbw_gb_per_s === null ?
               DASH :
               [
                 figure(
                     row.p50_busbw_gb_per_s.toFixed(2),
                     SQL.row("collective_summary", key(row), "p50_busbw_gb_per_s"),
                     row.p50_busbw_gb_per_s),
                 row.busbw_of_raw_duration ? "*" : ""
               ]],
      {tall: report.collectives.length > 12});
}
