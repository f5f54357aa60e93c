"""How often the exchange tests and intervals of `agreement` call one of two equally good measures better.

The rates are from simulations, results/calibration/exchanges; a test holds them against that file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metaeval.analyses.agreement_statistics import split_statistic
from metaeval.errors import format_list

Rates = Mapping[str, tuple[float, float]]

EXCHANGE_EXCESS: Rates = {
    "pearson": (0.072, 0.008),
    "acc_t": (0.178, 0.014),
    "tau_ap_b": (0.07, 0.009),
    "tau_gap": (0.07, 0.007),
}
"""Rate and standard error of the exchange tests that err more often than α, where scores of cells are independent."""

EXCHANGE_EXCESS_OF_RUNS: Rates = {
    "spa": (0.284, 0.011),
    "pearson": (0.069, 0.008),
    "topic_pearson": (0.241, 0.012),
    "acc_t": (0.35, 0.009),
    "acc_t_cells": (0.23, 0.012),
}
"""The same where each measure favours some runs on every topic."""

INTERVAL_EXCESS: Rates = {}
"""The same of the rule that the paired interval leaves 0 out, where scores of cells are independent."""

INTERVAL_EXCESS_OF_RUNS: Rates = {
    "pairwise_accuracy": (0.28, 0.024),
    "spa": (0.447, 0.022),
    "pearson": (0.511, 0.026),
    "spearman": (0.31, 0.024),
    "tau_a": (0.28, 0.024),
    "tau_b": (0.28, 0.024),
    "topic_pearson": (0.413, 0.025),
    "acc_t": (0.374, 0.025),
    "acc_t_cells": (0.401, 0.025),
    "tau_ap_b": (0.244, 0.023),
    "tau_gap": (0.281, 0.024),
}
"""The same where each measure favours some runs on every topic, and is not better on other runs."""

SIMULATED_ALPHA = 0.05


def remark_levels(wanted: Sequence[str], intervals: bool) -> tuple[str, ...]:
    """Return what a reader has to know about the exchange tests, and about the intervals of differences.

    Parameters
    ----------
    wanted : sequence of str
        Statistics.
    intervals : bool
        Whether there are intervals.

    Returns
    -------
    tuple of str
        Nothing where simulations found that the tests and intervals err no more often than α.

    Examples
    --------
    >>> len(remark_levels(["acc_t"], True)), remark_levels(["acc_t"], True)[0][:36]
    (2, 'exchange tests, and so clusters, err')
    """
    said = []
    alone, of_runs = (_list_rates(wanted, rates) for rates in (EXCHANGE_EXCESS, EXCHANGE_EXCESS_OF_RUNS))
    clauses = [f"by {alone}"] if alone else []
    clauses += [f"where measures favour some runs on every topic, by {of_runs}"] if of_runs else []
    meant = f"{100 * SIMULATED_ALPHA:g} % is meant"
    if clauses:
        said.append(
            "exchange tests, and so clusters, err too often: in simulations they called one of two equally good measures "
            f"better {'; '.join(clauses)}, where {meant} (results/calibration)"
        )
    if not intervals:
        return tuple(said)
    if alone := _list_rates(wanted, INTERVAL_EXCESS):
        said.append(f"intervals of differences left 0 out too often in such simulations, by {alone}, where {meant}")
    if found := [INTERVAL_EXCESS_OF_RUNS[name] for name in _find_names(wanted) if name in INTERVAL_EXCESS_OF_RUNS]:
        rates, errors = zip(*found, strict=True)
        least, most = (f"{100 * one:.1f}" for one in (min(rates), max(rates)))
        shares = f"{least} %" if least == most else f"{least} to {most} %"
        said.append(
            "better is said of these runs, not of others: in simulations of measures that favour some runs on every topic "
            f"and are equally good over all runs, one was better on the runs of a study in {shares} of pairs of measures "
            f"(± {100 * max(errors):.1f} % at most)"
        )
    return tuple(said)


def _find_names(wanted: Sequence[str]) -> list[str]:
    return [split_statistic(one)[0] for one in wanted]


def _list_rates(wanted: Sequence[str], rates: Rates) -> str:
    """Return the statistics asked for that err too often, with rates and standard errors."""
    found = [(one, rates[name]) for one, name in zip(wanted, _find_names(wanted), strict=True) if name in rates]
    return format_list([f"{one} in {100 * rate:.1f} ± {100 * error:.1f} %" for one, (rate, error) in found])
