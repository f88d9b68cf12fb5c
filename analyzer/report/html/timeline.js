// The median step: what each rank does when, and which communication compute hides.

const TIMELINE_LANES = [
  {name: "compute", kinds: ["compute"]},
  {name: "communication", kinds: ["comm_unsplit", "comm_transfer", "comm_wait"]},
  {name: "copies, input, sync", kinds: ["copy", "sync", "input_wait"]},
];
const KIND_COLOURS = {
  compute: "compute",
  comm_transfer: "exposed_comm_transfer",
  comm_wait: "exposed_comm_wait",
  comm_unsplit: "exposed_comm_unsplit",
  copy: "exposed_copy",
  input_wait: "input_wait",
  sync: "sync",
};
const KIND_NAMES = {
  compute: "compute",
  comm_transfer: "transfer",
  comm_wait: "wait for ranks",
  comm_unsplit: "communication, not split",
  copy: "copy",
  input_wait: "input wait",
  sync: "synchronisation",
};

function drawTimeline(main) {
  const {timeline} = series;
  if (timeline.ranks.length === 0) return;
  const place = el("div");
  let most = 8;
  const draw = () => {
    const all = timeline.ranks.filter(({rank}) => hasRank(rank));
    const chosen = all.slice(0, most).sort((a, b) => a.rank - b.rank);
    place.replaceChildren(
        ...(chosen.length ? chosen.map((rank) => rankTimeline(rank, timeline.length_ns)) : [
          el("p", {},
             "None of the chosen ranks is in this file: tutti query RUN \"SELECT * FROM median_step_span\"")
        ]));
    if (chosen.length) place.append(timelineAxis(timeline.length_ns));
    if (all.length > most) {
      const more = el("button", {type: "button"}, `Show ${all.length - most} more`);
      more.addEventListener("click", () => {
        most = Infinity;
        draw();
      });
      place.append(more);
    }
  };
  const kinds =
      Object.keys(KIND_COLOURS).filter((kind) => timeline.ranks.some(({spans}) => spans[kind]));
  main.append(
      el("section", {id: "timeline"}, el("h2", {}, `The median step (step ${timeline.number})`),
         el("p", {class: "quiet"},
            "Communication below compute is hidden; communication below nothing is what a step " +
                "waits " +
                "for. ",
            timeline.left_out > 0 &&
                `This file has ${timeline.ranks.length} of ${
                    timeline.ranks.length + timeline.left_out} ` +
                    "ranks, those that a finding singles out first. ",
            timeline.is_coarse && "Spans with very short gaps between them are drawn as one."),
         el("div", {class: "legend"},
            kinds.map((kind) => el("span", {}, swatch(KIND_COLOURS[kind]), KIND_NAMES[kind]))),
         place));
  selection.listeners.push(draw);
  draw();
}

function rankTimeline({rank, begin_ns, end_ns, spans}, length) {
  const lanes = TIMELINE_LANES.filter(({kinds}) => kinds.some((kind) => spans[kind]));
  const [width, height] = [1000, 13];
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${Math.max(1, lanes.length) * (height + 2)}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `rank ${rank} in the median step`
  });
  root.style.height = `${Math.max(1, lanes.length) * (height + 2)}px`;
  const x = (ns) => ns / length * width;
  lanes.forEach(({kinds}, lane) => {
    const y = lane * (height + 2);
    const back =
        svg("rect", {x: x(begin_ns), width: x(end_ns - begin_ns), y, height, "fill-opacity": .25});
    back.style.fill = "var(--line)";
    root.append(back);
    for (const kind of kinds) {
      for (const [begin, end, busy] of spans[kind] ?? []) {
        const piece = svg("rect", {x: x(begin), width: Math.max(.5, x(end - begin)), y, height});
        piece.style.fill = `var(--${KIND_COLOURS[kind]})`;
        tooltip.on(
            piece,
            () => `rank ${rank}: ${KIND_NAMES[kind]}, ${withMs(busy)}${
                busy < end - begin ? ` of ${withMs(end - begin)}` :
                                     ""}\nfrom ${withMs(begin)} of the step`);
        root.append(piece);
      }
    }
  });
  return el(
      "div", {class: "timeline-rank"},
      el("div", {class: "small"}, `rank ${rank}`, el("br"), hiddenShare(rank)), root);
}

function hiddenShare(rank) {
  const {step} = series.timeline;
  const told = series.timeline.overlap[rank];
  if (!told || told.comm_ns === 0) return el("span", {class: "quiet"}, "no communication");
  const share = (told.comm_ns - told.exposed_ns) / told.comm_ns;
  return el(
      "span", {class: "quiet"},
      figure(
          percent(share),
          `SELECT (comm_ns - exposed_ns) * 1.0 / comm_ns FROM step_overlap WHERE step = ${
              step} AND rank = ${rank}`,
          share),
      " hidden");
}

function timelineAxis(length) {
  const root = svg("svg", {viewBox: "0 0 1000 18", "aria-hidden": "true"});
  for (const tick of ticks(length, 8)) {
    root.append(
        svg("text", {
          x: tick / length * 1000,
          y: 13,
          "text-anchor": tick === 0 ? "start" :
              tick > length * .97   ? "end" :
                                      "middle"
        },
            duration(tick)));
  }
  return el("div", {class: "timeline-rank"}, el("span"), root);
}
