"""Means, τ, Spearman's ρ and paired t-tests, by the definitions, in exact arithmetic where that is possible."""

import itertools
import math
from fractions import Fraction


def tau_a(first, second):
    """Kendall's τ_a by counting pairs of exact numbers."""
    balance = 0
    for i, j in itertools.combinations(range(len(first)), 2):
        one = (Fraction(first[i]) > Fraction(first[j])) - (Fraction(first[i]) < Fraction(first[j]))
        two = (Fraction(second[i]) > Fraction(second[j])) - (Fraction(second[i]) < Fraction(second[j]))
        balance += one * two
    return balance / math.comb(len(first), 2)


def mean(values):
    """The mean, rounded once."""
    return float(sum(map(Fraction, values)) / len(values))


def paired_t(first, second):
    """Student's t of paired samples, from exact sums; None where the differences do not vary."""
    gaps = [Fraction(a) - Fraction(b) for a, b in zip(first, second, strict=True)]
    n = len(gaps)
    centre = sum(gaps) / n
    variance = sum((gap - centre) ** 2 for gap in gaps) / (n - 1)
    if variance == 0:
        return None
    squared = centre**2 * n / variance
    return math.copysign(math.sqrt(squared), centre)
