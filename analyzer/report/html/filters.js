// Which ranks and steps the charts below are of.

// "0-3,8" -> Set; "" -> null for all; throws what is wrong in words.
function parseRanks(text) {
  if (!text.trim()) return null;
  const chosen = new Set();
  for (const piece of text.split(",")) {
    const match = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(piece);
    if (!match) throw new Error(`"${piece.trim()}" is no rank and no range like 0-3`);
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
    for (const rank of cells.keys())
      if (rank >= first && rank <= last) chosen.add(rank);
  }
  if (chosen.size === 0) throw new Error("no such rank here");
  return chosen;
}

// {0, 1, 2, 7} -> "0-2,7"
function rangesOf(ranks) {
  const sorted = [...ranks].sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) ++j;
    pieces.push(i === j ? `${sorted[i]}` : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return pieces.join(",");
}

function drawFilters(main) {
  if (!HAS_TIME) return;
  const ranks = el(
      "input",
      {type: "text", placeholder: "all", id: "filter-ranks", "aria-describedby": "filter-error"});
  const first = el("input", {type: "number", placeholder: "first", id: "filter-first"});
  const last = el("input", {type: "number", placeholder: "last", id: "filter-last"});
  const counting = el("input", {type: "checkbox", id: "filter-counting"});
  const error = el("span", {class: "error", id: "filter-error", role: "alert"});
  const told = el("span", {class: "quiet", id: "filter-told"});
  const reset = el("button", {type: "button", id: "filter-reset"}, "Reset");
  const limit = (input) => input.value === "" ? null : Number(input.value);
  const apply = () => {
    try {
      error.textContent = "";
      selection.change({
        ranks: parseRanks(ranks.value),
        first: limit(first),
        last: limit(last),
        onlyCounting: counting.checked
      });
    } catch (wrong) {
      error.textContent = wrong.message;
    }
  };
  for (const input of [ranks, first, last, counting]) input.addEventListener("change", apply);
  reset.addEventListener(
      "click", () => selection.change({ranks: null, first: null, last: null, onlyCounting: true}));
  const show = () => {
    ranks.value = selection.ranks === null ? "" : rangesOf(selection.ranks);
    first.value = selection.first ?? "";
    last.value = selection.last ?? "";
    counting.checked = selection.onlyCounting;
    const steps = chosenGroups().reduce((sum, index) => sum + groups[index].count, 0);
    told.textContent = `${plural(chosenCells().length, "rank")}, ${plural(steps, "step")}`;
  };
  selection.listeners.unshift(show);
  show();
  main.append(
      el("div", {class: "filters", id: "filters", role: "search", "aria-label": "Filters"},
         el("label", {}, "Ranks", ranks), el("label", {}, "Steps", first, "to", last),
         el("label", {}, counting, `only ${BASIS_WORDS}`), reset, told, error));
}
