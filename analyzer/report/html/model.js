// What the file holds, and what of it is chosen by the filters.

const DATA = JSON.parse(document.getElementById("data").textContent);
const report = DATA.report;
const series = DATA.series;
const groups = series.groups;  // of steps; one step each unless there are too many
const cells = new Map(series.cells.map((cell) => [cell.rank, cell]));

const PARTS = [
  {id: "compute", name: "Compute", means: "a compute lane works"},
  {
    id: "exposed_comm_transfer",
    name: "Communication: transfer",
    means: "a collective moves data and no compute hides it"
  },
  {
    id: "exposed_comm_wait",
    name: "Communication: wait for ranks",
    means: "a collective waits for a late rank and no compute hides it"
  },
  {
    id: "exposed_comm_unsplit",
    name: "Communication: not split",
    means:
        "communication that no compute hides; waiting can't be told from transferring, because " +
        "the arrivals of the peers are not known"
  },
  {id: "exposed_copy", name: "Copies", means: "only memory copies or fills run"},
  {id: "input_wait", name: "Input wait", means: "waits for the next batch, nothing above runs"},
  {id: "sync", name: "Synchronisation", means: "the host is blocked, nothing above runs"},
  {id: "host_bound", name: "Host-bound", means: "nothing to do: the host has not launched it yet"},
  {id: "idle", name: "Idle, unexplained", means: "none of the above"},
];
const SEEN_PARTS = PARTS.filter(
    ({id}) => (report.step.breakdown_total_ns[id] ?? 0) > 0 ||
        series.cells.some((cell) => cell.parts[id]));

const HAS_TIME = series.cells.some((cell) => cell.step_ns.some((ns) => ns > 0));

// Steps that the report's medians, totals and findings are of.
const BASIS = report.run.steps_basis;
const BASIS_WORDS = {
  steady: "steady steps",
  complete: "complete steps",
  all: "steps"
}[BASIS] ??
    "steps";
const BASIS_SQL = {
  steady: "s.is_steady = 1",
  complete: "s.is_partial = 0 AND s.tag = 'train'"
}[BASIS] ??
    "1";

function counts(group) {
  if (BASIS === "steady") return group.state === "steady";
  return BASIS === "all" || group.state === "steady" || group.state === "warm-up";
}

const selection = {
  ranks: null,  // a Set, or null for all
  first: null,  // step numbers as stepNumbers() has them, null no limit
  last: null,
  onlyCounting: true,
  listeners: [],
  change(values) {
    Object.assign(this, values);
    for (const listener of this.listeners) listener();
  },
};

// The program's numbers where they only go up, else the steps' order from 0.
const NUMBERS_GO_UP =
    groups.every((group, i) => i === 0 || group.first_number > groups[i - 1].last_number);
function stepNumbers(group) {
  return NUMBERS_GO_UP ? [group.first_number, group.last_number] : [group.first, group.last];
}

function hasRank(rank) {
  return selection.ranks === null || selection.ranks.has(rank);
}

function chosenCells() {
  return series.cells.filter((cell) => hasRank(cell.rank));
}

// Indexes into |groups|. Groups that reach over a limit are left out as a whole.
function chosenGroups() {
  const chosen = [];
  groups.forEach((group, index) => {
    if (selection.onlyCounting && !counts(group)) return;
    const [first, last] = stepNumbers(group);
    if (selection.first !== null && first < selection.first) return;
    if (selection.last !== null && last > selection.last) return;
    chosen.push(index);
  });
  return chosen;
}

// Exact sums over ranks and groups of steps.
function sums(ofCells, ofGroups) {
  const total = {steps: 0, step_ns: 0, comm_ns: 0, exposed_ns: 0, parts: {}};
  for (const {id} of PARTS) total.parts[id] = 0;
  for (const cell of ofCells) {
    for (const index of ofGroups) {
      total.steps += cell.steps[index];
      total.step_ns += cell.step_ns[index];
      total.comm_ns += cell.comm_ns[index];
      total.exposed_ns += cell.exposed_ns[index];
      for (const id in cell.parts) total.parts[id] += cell.parts[id][index];
    }
  }
  return total;
}

// What the program called the step with an index of the tables.
function stepName(step) {
  const group = groups.find(({first, last}) => first <= step && step <= last);
  if (!group) return `step ${step}`;
  const offset = group.first_number - group.first;
  return group.last_number - group.last === offset ? `step ${step + offset}` :
                                                     `the run's step ${step}`;
}

function stepsName(first, last) {
  return first === last ?
      stepName(first) :
      `${stepName(first).replace("step", "steps")} to ${stepName(last).replace(/^step /, "")}`;
}

function groupName(group) {
  const number = group.first_number === group.last_number ?
      `step ${group.first_number}` :
      `steps ${group.first_number} to ${group.last_number}`;
  return group.state === "steady" ? number : `${number} (${group.state})`;
}
