// Allocated memory over time.

function drawMemory(main) {
  if (report.memory.length === 0) return;
  const section =
      el("section", {id: "memory"}, el("h2", {}, "Memory"),
         el("p", {class: "quiet"},
            "The most that was allocated at a time, of each rank and device; the line is the " +
                "highest " +
                "point of each stretch of time. Memory that grows from step to step leaks. ",
            series.memory_left_out > 0 &&
                `Lines of the ${series.memory.length} highest peaks of ` +
                    `${series.memory.length + series.memory_left_out}.`));
  const place = el("div");
  const draw = () => place.replaceChildren(memorySvg());
  selection.listeners.push(draw);
  draw();
  section.append(place, memoryTable());
  main.append(section);
}

function deviceName({device_type, device_id}) {
  return device_id === null || device_id < 0 ? device_type : `${device_type} ${device_id}`;
}

// Lines take turns with the colours, and from the second turn on with dashes.
const MEMORY_COLOURS =
    ["compute", "exposed_comm_wait", "input_wait", "exposed_copy", "exposed_comm_transfer", "sync"];

function memorySvg() {
  const [width, height, left, right] = [1000, 200, 62, 4];
  const shown = series.memory.filter(({rank}) => hasRank(rank));
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${height + 22}`,
    role: "img",
    "aria-label": "allocated memory over time"
  });
  if (shown.length === 0) {
    root.append(svg("text", {x: left, y: 40}, "No line of the chosen ranks is in this file."));
    return root;
  }
  const most = Math.max(...shown.flatMap(({max_bytes}) => max_bytes), 1);
  const span = series.run_ns;
  const x = (ns) => left + ns / span * (width - left - right);
  const y = (size) => height - size / most * (height - 12);
  const unit = 1024 ** Math.floor(Math.log2(most) / 10);
  for (const tick of ticks(most / unit, 4)) {
    root.append(
        svg("line",
            {x1: left, x2: width - right, y1: y(tick * unit), y2: y(tick * unit), class: "grid"}),
        svg("text", {x: left - 6, y: y(tick * unit) + 4, "text-anchor": "end"},
            bytes(tick * unit)));
  }
  shown.forEach((line, place) => {
    const points = line.begin_ns.flatMap(
        (begin, i) =>
            [`${x(begin).toFixed(1)},${y(line.max_bytes[i]).toFixed(1)}`,
             `${x(line.end_ns[i]).toFixed(1)},${y(line.max_bytes[i]).toFixed(1)}`]);
    const node = svg("polyline", {points: points.join(" "), class: "line"});
    node.style.stroke = `var(--${MEMORY_COLOURS[place % MEMORY_COLOURS.length]})`;
    if (place >= MEMORY_COLOURS.length)
      node.setAttribute("stroke-dasharray", place < 2 * MEMORY_COLOURS.length ? "6 3" : "2 3");
    tooltip.on(
        node,
        () => `rank ${line.rank}, ${deviceName(line)}: peak ${bytes(Math.max(...line.max_bytes))}`);
    root.append(node);
  });
  root.append(
      svg("text", {x: left, y: height + 18}, "0 s"),
      svg("text", {x: width - right, y: height + 18, "text-anchor": "end"}, duration(span)));
  return el("div", {}, memoryLegend(shown), root);
}

function memoryLegend(lines) {
  return el(
      "div", {class: "legend"},
      lines.map(
          (line, place) =>
              el("span", {}, swatch(MEMORY_COLOURS[place % MEMORY_COLOURS.length]),
                 `rank ${line.rank} ${deviceName(line)}`)));
}

function memoryTable() {
  const key = (row) =>
      ({rank: row.rank, device_type: row.device_type, device_id: row.device_id ?? -1});
  const sized = (row, column) => row[column] === null ?
      DASH :
      figure(bytes(row[column]), SQL.row("memory_peak", key(row), column), row[column]);
  return table(
      [
        {name: "Rank", text: true, short: true, sort: ({rank}) => rank},
        {name: "device", text: true, short: true}, {name: "peak", sort: (row) => row.peak_bytes},
        {name: "reserved at most", sort: (row) => row.peak_reserved_bytes},
        {name: "in step", title: "step of the peak"},
        {name: "at the end", sort: (row) => row.end_bytes},
        {name: "allocations", sort: (row) => row.allocations},
        {name: "out of memory", sort: (row) => row.ooms}
      ],
      report.memory,
      (row) =>
          [`rank ${row.rank}`, deviceName(row), sized(row, "peak_bytes"),
           sized(row, "peak_reserved_bytes"),
           row.peak_step === null ? DASH : stepName(row.peak_step).replace(/^step /, ""),
           sized(row, "end_bytes"),
           figure(
               grouped(row.allocations), SQL.row("memory_peak", key(row), "allocations"),
               row.allocations),
           figure(grouped(row.ooms), SQL.row("memory_peak", key(row), "ooms"), row.ooms)],
      {tall: report.memory.length > 12, sortBy: {column: 2, descending: true}});
}
