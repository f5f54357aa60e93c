"""Means and τ by their definitions, in exact arithmetic."""

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
