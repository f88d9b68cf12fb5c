#!/usr/bin/env python3
"""reference.py > reference.json: every statistic that verdicts rest on, by SciPy 1.17.1, NumPy 2.4
and statsmodels 0.15, on numbers drawn from a seed. reference_test.cc and the history's tests hold
ours against them to 1e-9. Run again only to add cases.
"""
import json

import numpy as np
from scipy import optimize, spatial, special, stats
from statsmodels.stats.multitest import multipletests

random = np.random.default_rng(20260101)


def exact(values):
    """Multiples of 2^-20: sums of them are exact in any order, so that equal ones tie."""
    return np.round(values * 2**20) / 2**20


def launches(count, sd=0.01):
    return exact(np.log(100) + sd * random.standard_normal(count))


def two_groups():
    n, m = random.integers(2, 9, size=2)
    return launches(n), exact(launches(m, 0.02) + 0.01 * random.standard_normal())


def student_t():
    t, dof, p = random.normal(0, 3), random.uniform(1, 40), random.uniform(0.001, 0.999)
    return {"t": t, "dof": dof, "upper": stats.t.sf(t, dof), "p": p,
            "quantile": stats.t.ppf(p, dof)}


def noncentrality(alpha, power, dof):
    def missing(shift):
        return stats.nct.sf(stats.t.ppf(1 - alpha, dof), dof, shift) - power
    return optimize.brentq(missing, 0, 100, xtol=1e-13, rtol=1e-14)


def power():
    alpha, wanted = random.choice([0.001, 0.005, 0.01, 0.05]), random.uniform(0.5, 0.95)
    dof = int(random.integers(3, 40))
    return {"alpha": alpha, "power": wanted, "dof": dof,
            "noncentrality": noncentrality(alpha, wanted, dof), "c4": c4(dof)}


def c4(dof):
    return np.sqrt(2 / dof) * np.exp(special.gammaln((dof + 1) / 2) - special.gammaln(dof / 2))


def deviation_bounds():
    sd, dof, confidence = random.uniform(0.001, 0.1), int(random.integers(1, 60)), 0.95
    tail = (1 - confidence) / 2
    return {"sd": sd, "dof": dof, "confidence": confidence,
            "low": sd * np.sqrt(dof / stats.chi2.ppf(1 - tail, dof)),
            "high": sd * np.sqrt(dof / stats.chi2.ppf(tail, dof))}


def clopper_pearson():
    trials = int(random.integers(1, 5000))
    hits = int(random.binomial(trials, random.choice([0.0, 0.01, 0.5, 1.0])))
    bounds = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
    return {"hits": hits, "trials": trials, "low": bounds.low, "high": bounds.high}


def tested(result, exact_up, exact_down, statistic, dof):
    interval = result.confidence_interval(0.95)
    return {"t": statistic, "dof": dof, "low": interval.low, "high": interval.high,
            "p_up": stats.t.sf(statistic, dof), "p_down": stats.t.cdf(statistic, dof),
            "exact_up": exact_up.pvalue, "exact_down": exact_down.pvalue}


def paired():
    differences = exact(random.normal(0.005, 0.01, random.integers(2, 12)))

    def flips(side):
        return stats.permutation_test((differences,), np.sum, permutation_type="samples",
                                      n_resamples=np.inf, alternative=side)
    result = stats.ttest_1samp(differences, 0)
    return {"differences": list(differences),
            **tested(result, flips("greater"), flips("less"), result.statistic, result.df)}


def unpaired():
    base, fresh = two_groups()

    def labels(side):
        # With the total fixed, the difference of means grows with the sum of one group.
        return stats.permutation_test((fresh, base), lambda x, y: np.sum(x), n_resamples=np.inf,
                                      alternative=side)
    result = stats.ttest_ind(fresh, base, equal_var=False)
    return {"base": list(base), "new": list(fresh),
            **tested(result, labels("greater"), labels("less"), result.statistic, result.df)}


def one_against():
    history, one = launches(random.integers(2, 30)), launches(1)[0]
    n = len(history)
    se = np.std(history, ddof=1) * np.sqrt(1 + 1 / n)
    t = (one - np.mean(history)) / se
    half = stats.t.ppf(0.975, n - 1) * se
    return {"history": list(history), "one": one, "t": t, "p_up": stats.t.sf(t, n - 1),
            "low": one - np.mean(history) - half, "high": one - np.mean(history) + half}


def level():
    steps = random.integers(1_000_000, 9_000_000, random.integers(1, 60))
    median = np.percentile(steps, 50, method="lower")
    return {"steps": [int(step) for step in steps], "trimmed": stats.trim_mean(steps, 0.2),
            "mean": np.mean(steps), "p99": float(np.percentile(steps, 99, method="lower")),
            "tail": np.sum(np.maximum(steps - 1.5 * median, 0)) / np.sum(steps)}


def multiplicity():
    p = random.uniform(0, 1, random.integers(1, 20)) ** 3
    return {"p": list(p), "holm": list(multipletests(p, method="holm")[1]),
            "benjamini_hochberg": list(stats.false_discovery_control(p))}


def detectable():
    base, fresh = launches(8), launches(8, 0.02)
    differences = fresh - base
    alpha, gates, effect = 0.01, int(random.integers(1, 4)), random.choice([0.001, 0.01, 0.05])
    k = len(differences)
    se = np.std(differences, ddof=1) / np.sqrt(k)
    shift = noncentrality(alpha / gates, 0.8, k - 1)
    return {"differences": list(differences), "gates": gates, "min_effect": effect,
            "detectable": max(shift * se / c4(k - 1), effect + stats.t.ppf(0.8, k - 1) * se)}


def mser():
    """White's cut: the smallest w up to half of the series with the least statistic."""
    series = random.normal(0, 1, random.integers(4, 60))
    series[:random.integers(0, len(series))] += random.choice([0, 0.5, 3])
    scores = [np.sum((series[w:] - np.mean(series[w:])) ** 2) / (len(series) - w) ** 2
              for w in range(len(series) // 2 + 1)]
    return {"series": list(series), "cut": int(np.argmin(scores))}


def trend():
    n = random.integers(10, 60)
    series = np.round(random.normal(0, 1, n) + random.choice([0, 0.05]) * np.arange(n), 1)
    rho = stats.spearmanr(series, np.arange(n)).statistic
    return {"series": list(series), "p": 2 * stats.norm.sf(abs(rho) * np.sqrt(n - 1))}


def autocorrelation():
    n = random.integers(20, 80)
    series = np.zeros(n)
    for i in range(1, n):
        series[i] = 0.6 * series[i - 1] + random.standard_normal()
    around = series - np.mean(series)
    covariance = np.correlate(around, around, "full")[n - 1:]
    tau = 1.0
    for lag in range(1, n // 2):
        tau += 2 * covariance[lag] / covariance[0]
        if lag >= 5 * tau:
            break
    return {"series": list(series), "tau": max(tau, 1.0)}


def change():
    """Student's t of two segments, and the energy statistic of E-divisive."""
    before, after = launches(random.integers(3, 20)), launches(random.integers(3, 20)) + 0.01
    n, m = len(before), len(after)
    across = spatial.distance.cdist(before[:, None], after[:, None], "cityblock").mean()
    within = [spatial.distance.pdist(x[:, None], "cityblock").mean() for x in (before, after)]
    return {"before": list(before), "after": list(after),
            "p": stats.ttest_ind(before, after).pvalue,
            "energy": n * m / (n + m) * (2 * across - sum(within))}


def main():
    cases = {make.__name__: [make() for _ in range(20)]
             for make in (student_t, power, deviation_bounds, clopper_pearson, paired, unpaired,
                          one_against, level, multiplicity, detectable, mser, trend,
                          autocorrelation, change)}
    # A case a line.
    parts = (f'"{name}": [\n' + ",\n".join(json.dumps(one, default=lambda x: x.item())
                                           for one in found) + "\n]"
             for name, found in cases.items())
    print("{" + ",\n".join(parts) + "}")


if __name__ == "__main__":
    main()
