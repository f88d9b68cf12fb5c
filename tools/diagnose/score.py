"""Compares what Tutti said of a run with what was injected. Pure functions of measured runs (the
dictionaries of measure.py); nothing is run here."""
import dataclasses
import math
import statistics

import statistics_of
from matrix import ANSWERS, COST_NO_TIME

COST_TOLERANCE = 0.2
LEAST_SHARE = 0.1  # of the step: from here on a fault has to be found
# A measured cost is a yardstick only if it is this much sharper than what it is to judge.
MOST_NOISE = COST_TOLERANCE / 2
STATISTICS = ("median", "mean")
FEWEST_FOR_SCATTER = 5  # runs: the median deviation of fewer is often near 0
PAIRS_AT_LEAST = 2


def beyond_declared(run, declared):
    """The findings that the README does not declare true of the workload, in their order."""
    return [finding for finding in run["findings"] if finding["id"] not in declared]


def is_clean_run_right(run, declared):
    return not beyond_declared(run, declared)


@dataclasses.dataclass
class Named:
    """Whether a run's faults are what its first findings say."""

    kind: bool
    ranks: bool
    said: str  # what came first instead, for the table


def named(run, declared):
    """All of the run's faults must be named by its first findings, as many as there are faults:
    the first one if there is one fault. Their order among each other is free. What costs no time,
    such as a leak, is reported behind everything that does: it has to be named at all."""
    findings = beyond_declared(run, declared)
    first = findings[: len(run["truth"])]
    matches = [
        _match(fact, findings if fact["kind"] in COST_NO_TIME else first) for fact in run["truth"]
    ]
    return Named(
        kind=all(match is not None for match in matches),
        ranks=all(
            match is not None and sorted(match["ranks"]) == sorted(fact["ranks"])
            for match, fact in zip(matches, run["truth"])
        ),
        said=", ".join(f"{f['id']} {f['ranks']}" for f in first) or "nothing",
    )


def _match(fact, findings):
    wanted = ANSWERS[fact["kind"]].finding
    return next((finding for finding in findings if finding["id"] == wanted), None)


def claimed_ns(fact, run):
    """What Tutti says that the fault costs per step: replayed where it is, else its bound."""
    finding = _match(fact, run["findings"])
    if finding is None:
        return None
    return finding["cost_ns"] if finding["replayed_ns"] is None else finding["replayed_ns"]


def predicted_ns(fact, run):
    """What the replay says that the step would take less without the fault."""
    scenario = ANSWERS[fact["kind"]].scenario
    if scenario is None:
        return None
    if "{rank}" in scenario and len(fact["ranks"]) != 1:
        return None
    return run["whatif"].get(scenario.format(rank=fact["ranks"][0]))


@dataclasses.dataclass
class CaseScore:
    """All pairs of runs of one case. Times in ns per step; None where there is none."""

    case: str
    pairs: int = 0
    kinds: int = 0  # runs whose faults were named
    ranks: int = 0  # of them with the right ranks
    said_instead: list = dataclasses.field(default_factory=list)
    clean_ns: float | None = None
    truth_ns: float | None = None  # median with the fault - median of the baseline's clean runs
    noise_ns: float | None = None  # half of its 95 % interval
    claimed_ns: float | None = None
    predicted_ns: float | None = None

    @property
    def share(self):
        return None if self.truth_ns is None else self.truth_ns / self.clean_ns

    @property
    def must_be_found(self):
        """At least a tenth of the step, and certainly so; or the job or its memory is at stake."""
        if self.truth_ns is None:
            return True
        return self.truth_ns - self.noise_ns >= self.least_ns

    @property
    def noise_forbids(self):
        return self.truth_ns is not None and self.noise_ns > MOST_NOISE * abs(self.truth_ns)

    @property
    def is_settled(self):
        """Another pair would say nothing new: it was named each time and its cost is judged, or it
        certainly costs less than what has to be found."""
        if self.pairs < PAIRS_AT_LEAST:
            return False
        if self.truth_ns is not None and self.truth_ns + self.noise_ns < self.least_ns:
            return True
        return self.ranks == self.pairs and not self.noise_forbids

    @property
    def least_ns(self):
        return LEAST_SHARE * self.clean_ns

    def is_within(self, value_ns):
        """True or False; None where there is nothing to compare or noise forbids it."""
        if self.truth_ns is None or value_ns is None or self.noise_forbids:
            return None
        return abs(value_ns - self.truth_ns) <= COST_TOLERANCE * self.truth_ns


@dataclasses.dataclass
class Baseline:
    """All clean runs of one baseline, by either statistic, "median" or "mean". Times in ns."""

    runs: int
    step_ns: dict  # median over the runs
    deviation_ns: dict  # robust standard deviation over the runs
    is_scatter_known: bool = True


def baselines(clean_runs):
    """{name: Baseline}. Of few runs the scatter is not known: it is taken to be as large, for
    the step, as the largest of those that are known."""
    by_baseline = {}
    for run in clean_runs:
        by_baseline.setdefault(run["baseline"], []).append(run)
    found = {name: _baseline(runs) for name, runs in by_baseline.items()}
    for statistic in STATISTICS:
        worst = max((one.deviation_ns[statistic] / one.step_ns[statistic]
                     for one in found.values() if one.is_scatter_known), default=math.inf)
        for one in found.values():
            if not one.is_scatter_known:
                one.deviation_ns[statistic] = worst * one.step_ns[statistic]
    return found


def _baseline(runs):
    values = {key: [run[f"{key}_ns"] for run in runs] for key in STATISTICS}
    return Baseline(
        len(runs),
        {key: statistics.median(values[key]) for key in STATISTICS},
        {key: statistics_of.robust_deviation(values[key]) for key in STATISTICS},
        len(runs) >= FEWEST_FOR_SCATTER,
    )


def score_case(pairs, declared, baseline):
    """`pairs`: [(without, with)] of one case; `baseline`: all clean runs like theirs."""
    score = CaseScore(pairs[0][1]["case"], len(pairs))
    for _, faulty in pairs:
        answer = named(faulty, declared)
        score.kinds += answer.kind
        score.ranks += answer.kind and answer.ranks
        if not (answer.kind and answer.ranks):
            score.said_instead.append(answer.said)
    facts = pairs[0][1]["truth"]
    statistic = ANSWERS[facts[0]["kind"]].statistic
    if len(facts) != 1 or statistic is None:
        return score
    faulty_ns = [faulty[f"{statistic}_ns"] for _, faulty in pairs]
    score.clean_ns = baseline.step_ns[statistic]
    score.truth_ns = statistics.median(faulty_ns) - score.clean_ns
    score.noise_ns = _noise_of_difference(faulty_ns, baseline.deviation_ns[statistic],
                                          baseline.runs)
    score.claimed_ns = _median_of(claimed_ns(facts[0], faulty) for _, faulty in pairs)
    score.predicted_ns = _median_of(predicted_ns(facts[0], faulty) for _, faulty in pairs)
    return score


def _noise_of_difference(faulty_ns, deviation_ns, clean_runs):
    """Half of the 95 % interval of the difference of the medians. Runs with the fault scatter as
    clean ones do, or more: by themselves, where there are enough of them."""
    of_faulty = deviation_ns
    if len(faulty_ns) >= FEWEST_FOR_SCATTER:
        of_faulty = max(of_faulty, statistics_of.robust_deviation(faulty_ns))
    return math.hypot(statistics_of.error_of_median(of_faulty, len(faulty_ns)),
                      statistics_of.error_of_median(deviation_ns, clean_runs))


def _median_of(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
