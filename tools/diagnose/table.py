"""The scoreboard as Markdown, from the runs that were measured."""
import collections
import math

import score
import statistics_of
from declared import of_run
from matrix import ANSWERS


def pairs_by_case(runs):
    """{case: [(without, with)]} of the pairs of which both runs are there, in order."""
    found = collections.defaultdict(dict)
    for run in runs:
        found[run["case"], run["seed"]][run["with_faults"]] = run
    pairs = collections.defaultdict(list)
    for (case, _), both in found.items():
        if len(both) == 2:
            pairs[case].append((both[False], both[True]))
    return pairs


def score_all(runs, declared):
    """(CaseScore of each case, in the order in which they were measured; {name: Baseline})."""
    baselines = score.baselines(run for run in runs if not run["with_faults"])
    scores = [
        score.score_case(pairs, of_run(pairs[0][0], declared), baselines[pairs[0][0]["baseline"]])
        for pairs in pairs_by_case(runs).values()
    ]
    return scores, baselines


def markdown(runs, declared):
    """Summary and table; the text around them is docs/diagnosis.md's own."""
    scores, baselines = score_all(runs, declared)
    clean = [run for run in runs if not run["with_faults"]]
    right = sum(score.is_clean_run_right(run, of_run(run, declared)) for run in clean)
    return "\n".join(
        [*_summary(scores, len(clean), right), "", *_noise(baselines), "", *_rows(scores), "",
         *_misses(scores), *_false_alarms(clean, declared)]
    ).rstrip() + "\n"


def _summary(scores, clean, right):
    must = [s for s in scores if s.must_be_found]
    runs = sum(s.pairs for s in must)
    costs = [s.is_within(s.claimed_ns) for s in scores if s.must_be_found]
    gains = [s.is_within(s.predicted_ns) for s in scores if s.must_be_found]
    forbidden = sum(s.must_be_found and s.noise_forbids for s in scores)
    lines = [
        "| | seen | share, 95 % interval |",
        "|---|---|---|",
        _share("runs whose fault is named first", sum(s.kinds for s in must), runs),
        _share("runs whose ranks are right too", sum(s.ranks for s in must), runs),
        _share("faults whose cost is within 20 %", costs.count(True), _judged(costs)),
        _share("faults whose replay is within 20 %", gains.count(True), _judged(gains)),
        _share("clean runs with a finding beyond the declared", clean - right, clean),
    ]
    if forbidden:
        lines += ["", f"Of {forbidden} faults the noise of this machine forbids to judge the cost."]
    return lines


def _judged(verdicts):
    return sum(verdict is not None for verdict in verdicts)


def _share(what, hits, trials):
    if trials == 0:
        return f"| {what} | none to judge | |"
    low, high = statistics_of.wilson(hits, trials)
    share = f"{hits / trials:.1%} ({low:.1%} to {high:.1%})".replace("%", " %")
    return f"| {what} | {hits} of {trials} | {share} |"


def _noise(baselines):
    """What two equal runs differ by: nothing finer can be measured here."""
    lines = ["| without a fault | runs | median step, ms | scatter | mean step, ms | scatter |",
             "|---|---|---|---|---|---|"]
    for name, baseline in sorted(baselines.items()):
        cells = [f"`{name}`", str(baseline.runs)]
        for key in score.STATISTICS:
            share = baseline.deviation_ns[key] / baseline.step_ns[key]
            scatter = f"{share:.1%}".replace("%", " %") if math.isfinite(share) else "unknown"
            cells += [_ms(baseline.step_ns[key]),
                      scatter if baseline.is_scatter_known else f"({scatter})"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _rows(scores):
    lines = [
        "| fault | pairs | named | ranks | costs, ms | of the step | told, ms | replay, ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for s in sorted(scores, key=lambda s: (not s.must_be_found, s.case)):
        cost = "" if s.truth_ns is None else f"{_ms(s.truth_ns)} ± {_ms(s.noise_ns)}"
        share = "" if s.share is None else f"{s.share:.0%}".replace("%", " %")
        cells = [f"`{s.case}`", str(s.pairs), f"{s.kinds}", f"{s.ranks}", cost, share,
                 _judgement(s, s.claimed_ns), _judgement(s, s.predicted_ns)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _judgement(case, value_ns):
    if value_ns is None:
        return ""
    verdict = case.is_within(value_ns)
    mark = {True: "", False: " **off**", None: ""}[verdict]
    if case.truth_ns is not None and verdict is None:
        mark = " (noise)"
    return _ms(value_ns) + mark


def _misses(scores):
    lines = []
    for s in scores:
        if s.said_instead and s.must_be_found:
            said = collections.Counter(s.said_instead)
            what = "; ".join(f"{text} ({count})" for text, count in said.most_common(3))
            wanted = ANSWERS.get(s.case.split()[-1].split(":")[0])
            lines.append(f"- `{s.case}`: {what}" + (f", not {wanted.finding}" if wanted else ""))
    return ["Not as it should be:", "", *lines, ""] if lines else []


def _false_alarms(clean, declared):
    said = collections.Counter(
        (run["case"].split()[0], finding["id"])
        for run in clean
        for finding in score.beyond_declared(run, of_run(run, declared))
    )
    lines = [f"- `{workload}`: {kind}, {count}" for (workload, kind), count in said.most_common()]
    return ["Said of clean runs beyond what is declared:", "", *lines] if lines else []


def _ms(ns):
    return f"{ns / 1e6:.2f}" if math.isfinite(ns) else "unknown"
