"""The few statistics that the scoreboard needs."""
import math
import statistics

Z95 = 1.959964  # two-sided 95 % of the normal distribution


def wilson(hits, trials):
    """The 95 % interval of a share of which `hits` of `trials` were seen (Wilson's score)."""
    if trials == 0:
        return (0.0, 1.0)
    share = hits / trials
    centre = (share + Z95**2 / (2 * trials)) / (1 + Z95**2 / trials)
    half = (
        Z95
        / (1 + Z95**2 / trials)
        * math.sqrt(share * (1 - share) / trials + Z95**2 / (4 * trials**2))
    )
    return (max(0.0, centre - half), min(1.0, centre + half))


def robust_deviation(values):
    """Standard deviation of the bulk: 1.4826 times the median deviation from the median."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values)


def error_of_median(deviation, count):
    """Half of the 95 % interval of the median of so many values that scatter so much. A median of
    many scatters 1.2533 times as much as a mean does; of one or two it is the mean."""
    return Z95 * (1 if count <= 2 else 1.2533) * deviation / math.sqrt(count)
