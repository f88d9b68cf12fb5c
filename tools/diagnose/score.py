"""Compares what Tutti said of a run with what was injected. Pure functions of measured runs (the
dictionaries of measure.py); nothing is run here."""
import dataclasses
import statistics

import statistics_of
from matrix import ANSWERS, COST_NO_TIME

COST_TOLERANCE = 0.2
LEAST_SHARE = 0.1  # of the step: from here on a fault has to be found
# A measured cost is a yardstick only if it is this much sharper than what it is to judge.
MOST_NOISE = COST_TOLERANCE / 2


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
    truth_ns: float | None = None  # median over the pairs of with - without
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
        return self.truth_ns - self.noise_ns >= LEAST_SHARE * self.clean_ns

    @property
    def noise_forbids(self):
        return self.truth_ns is not None and self.noise_ns > MOST_NOISE * abs(self.truth_ns)

    def is_within(self, value_ns):
        """True or False; None where there is nothing to compare or noise forbids it."""
        if self.truth_ns is None or value_ns is None or self.noise_forbids:
            return None
        return abs(value_ns - self.truth_ns) <= COST_TOLERANCE * self.truth_ns


def noise_by_baseline(clean_runs):
    """Robust standard deviation over the clean runs of each baseline, of either statistic."""
    by_baseline = {}
    for run in clean_runs:
        by_baseline.setdefault(run["baseline"], []).append(run)
    return {
        baseline: {
            statistic: statistics_of.robust_deviation([run[f"{statistic}_ns"] for run in runs])
            for statistic in ("median", "mean")
        }
        for baseline, runs in by_baseline.items()
    }


def score_case(pairs, declared, noise):
    """`pairs`: [(without, with)] of one case; `noise`: its baseline's, of noise_by_baseline."""
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
    key = f"{statistic}_ns"
    score.clean_ns = statistics.median(without[key] for without, _ in pairs)
    score.truth_ns = statistics.median(faulty[key] - without[key] for without, faulty in pairs)
    score.noise_ns = statistics_of.error_of_difference(noise[statistic], len(pairs))
    score.noise_ns = max(score.noise_ns, _scatter_of_differences(pairs, key))
    score.claimed_ns = _median_of(claimed_ns(facts[0], faulty) for _, faulty in pairs)
    score.predicted_ns = _median_of(predicted_ns(facts[0], faulty) for _, faulty in pairs)
    return score


def _scatter_of_differences(pairs, key):
    """The same error by the pairs themselves: a fault may make a run noisier than a clean one."""
    if len(pairs) < 3:
        return 0.0
    deviation = statistics_of.robust_deviation([f[key] - w[key] for w, f in pairs])
    return statistics_of.error_of_median(deviation, len(pairs))


def _median_of(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
