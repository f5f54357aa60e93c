"""Rules on measures of ordinal classification (§3.1 and §5). Each function decides the claim of its name in claims.toml."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.acl2021.figures import (
    CONSTANT,
    HALVES,
    POWER,
    SMALL,
    Between,
    Figures,
    average_figures,
    pair_all,
)
from experiments.acl2021.judging import (
    bound,
    compare_two,
    count_net,
    join_parts,
    judge_against,
    judge_orders,
    judge_two,
    tell_at_least,
    tell_below,
    tell_more,
    tell_sides,
)
from experiments.verdicts import Found
from metaeval.show.verdict import Evidence, OutcomeWord

GROUP_A = ("alpha_ORD", "alpha_INT", "F1_M", "HMPR", "MAE_M", "kappa")
GROUP_B = ("MAE_mu", "Accuracy")
CONSISTENT = ("alpha_ORD", "alpha_INT", "kappa")
INCONSISTENT = ("CEM_ORD", "Accuracy")
INDISCRIMINATE = ("CEM_ORD", "Accuracy", "MAE_M", "MAE_mu")
ORDINAL = ("kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu")
"""Measures that take the order of classes into account (Table 4, I)."""

ALL = (*GROUP_A, "CEM_ORD", *GROUP_B)
SPLITS = (HALVES, SMALL)


def average_tau(pairs: Sequence[tuple[str, str]], tau: Between) -> np.ndarray:
    """Return the mean τ of pairs of measures."""
    return np.mean([tau(one, two) for one, two in pairs], axis=0)


def leave_out(measures: Sequence[str], *out: str) -> list[str]:
    """Return measures without some."""
    return [one for one in measures if one not in out]


def kappa_of_constant_runs(figures: Figures) -> Found | None:
    """Is κ of constant runs 0 on every topic?"""
    scores = _take_constant_runs(figures, "kappa")
    if scores is None:
        return None
    zero = np.abs(scores[..., 0]) < 1e-12
    evidence = (
        Evidence("constant runs", len(zero)),
        Evidence("their scores on topics", zero.size),
        Evidence("of which κ = 0", int(zero.sum())),
    )
    if zero.all():
        return "holds", evidence
    return ("holds in part" if zero.mean() > bound("most") else "does not hold"), evidence


def alphas_of_constant_runs(figures: Figures) -> Found | None:
    """Do both α's tell all constant runs apart?"""
    scores = _take_constant_runs(figures, "alpha_ORD", "alpha_INT")
    if scores is None or len(scores) < 2:
        return None
    evidence, words = [Evidence("constant runs", len(scores))], []
    for name, means in zip(("α-ORD", "α-INT"), scores.mean(axis=1).T, strict=True):
        gaps = np.array([abs(means[i] - means[j]) for i, j in zip(*np.triu_indices(len(means), 1), strict=True)])
        told = gaps > 1e-12
        evidence.append(Evidence(f"of {len(told)} pairs with unequal mean {name}", int(told.sum())))
        part: OutcomeWord = "holds" if told.all() else "does not hold"
        words.append("holds in part" if part != "holds" and told.mean() > bound("most") else part)
    return join_parts(words), tuple(evidence)


def group_a(figures: Figures) -> Found | None:
    """Are rankings alike within group A?"""
    if figures.tau is None or not set(GROUP_A) <= set(figures.measures):
        return None
    within = figures.weigh("mean τ within A", lambda tau: average_tau(pair_all(GROUP_A), tau))
    return tell_at_least(within, bound("similar")), (within,)


def group_b(figures: Figures) -> Found | None:
    """Are rankings alike within group B, and drastically different from those of A?"""
    if figures.tau is None or not {*GROUP_A, *GROUP_B} <= set(figures.measures):
        return None
    within = figures.weigh("τ within B", lambda tau: tau(*GROUP_B))
    between = figures.weigh("mean τ between A and B", lambda tau: average_tau(pair_all(GROUP_A, GROUP_B), tau))
    words = [tell_at_least(within, bound("similar")), tell_below(between, bound("apart"))]
    return join_parts(words), (within, between)


def cem_apart(figures: Figures) -> Found | None:
    """Is CEM_ORD's ranking unlike those of both groups, and closer to A's?"""
    if figures.tau is None or not set(ALL) <= set(figures.measures):
        return None

    def with_group(group: Sequence[str], tau: Between) -> np.ndarray:
        return average_tau(pair_all(["CEM_ORD"], group), tau)

    a = figures.weigh("CEM_ORD's mean τ with A", lambda tau: with_group(GROUP_A, tau))
    b = figures.weigh("with B", lambda tau: with_group(GROUP_B, tau))
    closer = figures.weigh(
        "the first less the second",
        lambda tau: with_group(GROUP_A, tau) - with_group(GROUP_B, tau),
        difference=True,
    )
    apart = [tell_below(one, bound("substantially different")) for one in (a, b)]
    # Substantially different from both groups is one part: from one of them alone does not count.
    unlike = apart[0] if apart[0] == apart[1] else "does not hold" if "does not hold" in apart else "cannot tell"
    return join_parts([unlike, tell_more(closer)]), (a, b, closer)


def huge_gap(figures: Figures) -> Found | None:
    """Do τ's within the groups exceed those between them by much?"""
    if figures.tau is None or not {*GROUP_A, *GROUP_B} <= set(figures.measures):
        return None

    def compute(tau: Between) -> np.ndarray:
        within = np.minimum(average_tau(pair_all(GROUP_A), tau), tau(*GROUP_B))
        return within - average_tau(pair_all(GROUP_A, GROUP_B), tau)

    gap = figures.weigh("mean τ within groups, the smaller, less that between", compute, difference=True)
    return tell_at_least(gap, bound("huge gap")), (gap,)


def official_measures(figures: Figures) -> Found | None:
    """Are the rankings by MAE^M and MAE^μ completely different?"""
    if figures.tau is None or not {"MAE_M", "MAE_mu"} <= set(figures.measures):
        return None
    both = figures.weigh("τ of MAE_M and MAE_mu", lambda tau: tau("MAE_M", "MAE_mu"))
    return tell_below(both, bound("apart")), (both,)


def rank_ten_at_top(figures: Figures) -> Found | None:
    """Does the best run by MAE^μ stand far from the top by MAE^M?"""
    return _rank_best(figures)


def constant_run_ten_at_top(figures: Figures) -> Found | None:
    """Is a constant run the best by MAE^μ, and far from the top by MAE^M?"""
    return _rank_best(figures, CONSTANT) if figures.n_constant else None


def kappa_most_consistent(figures: Figures) -> Found | None:
    """Is κ more consistent than all others, over halves?"""
    if HALVES not in figures.splits or "kappa" not in figures.measures:
        return None
    return judge_orders(figures, [(["kappa"], leave_out(figures.measures, "kappa"))], [HALVES])


def most_consistent_three(collections: Sequence[Figures]) -> Found | None:
    """Are the α's and κ more consistent than all others, on average?"""
    figures = _average(collections)
    if figures is None:
        return None
    return judge_orders(figures, [(CONSISTENT, leave_out(ALL, *CONSISTENT))], SPLITS)


def least_consistent_two(collections: Sequence[Figures]) -> Found | None:
    """Are CEM_ORD and Accuracy less consistent than all others, on average?"""
    figures = _average(collections)
    if figures is None:
        return None
    return judge_orders(figures, [(leave_out(ALL, *INCONSISTENT), INCONSISTENT)], SPLITS)


def cem_not_robust(collections: Sequence[Figures]) -> Found | None:
    """Are more measures more consistent than CEM_ORD than it is more consistent than, on average?"""
    figures = _average(collections)
    if figures is None:
        return None
    nets = {label: count_net(figures.ahead[label], "CEM_ORD") for label in SPLITS}
    evidence = tuple(Evidence(f"{label}: measures behind CEM_ORD less those ahead", net) for label, net in nets.items())
    words: list[OutcomeWord] = [tell_sides(int(net < 0), int(net > 0)) for net in nets.values()]
    return join_parts(words), evidence


def kappa_cannot_distinguish(figures: Figures) -> Found | None:
    """Have all constant runs the same mean κ, while Accuracy tells them apart?"""
    scores = _take_constant_runs(figures, "kappa", "Accuracy")
    if scores is None or len(scores) < 2:
        return None
    kappa, accuracy = (float(one) for one in np.ptp(scores.mean(axis=1), axis=0))
    evidence = (
        Evidence("constant runs", len(scores)),
        Evidence("range of their mean κ", kappa),
        Evidence("of their mean Accuracy", accuracy),
    )
    return ("holds" if kappa < 1e-12 < accuracy else "does not hold"), evidence


def constant_runs_explain_consistency(whole: Figures, rest: Figures) -> Found | None:
    """Is κ ahead of more measures, net, without the constant runs, over halves and over small sets?"""
    return _explain(whole, rest, SPLITS)


def constant_runs_explain_power(whole: Figures, rest: Figures) -> Found | None:
    """Does κ find more than more measures, net, without the constant runs?"""
    return _explain(whole, rest, (POWER,))


def least_discriminative_four(figures: Figures) -> Found | None:
    """Do all other measures find more than CEM_ORD, Accuracy and the MAE's?"""
    if POWER not in figures.ahead or not set(ALL) <= set(figures.measures):
        return None
    return judge_orders(figures, [(leave_out(ALL, *INDISCRIMINATE), INDISCRIMINATE)], [POWER])


def kappa_discriminates_well(figures: Figures) -> Found | None:
    """Does κ find more than one of the α's and F1's, and less than none?"""
    rivals = leave_out(ALL, *INDISCRIMINATE, "kappa")
    if POWER not in figures.ahead or not {"kappa", *rivals} <= set(figures.measures):
        return None
    word, evidence = judge_orders(figures, [(["kappa"], rivals)], [POWER])
    ahead = any(compare_two(figures, "kappa", rival)[POWER] > 0 for rival in rivals)
    return ("holds in part" if word == "cannot tell" and ahead else word), evidence


def kappa_primary(figures: Figures) -> Found | None:
    """Is κ the best of the measures of ordinal classes, where at most one run is constant?"""
    return None if figures.n_constant > 1 else judge_against(figures, "kappa", leave_out(ORDINAL, "kappa"))


def alpha_ord_primary(figures: Figures) -> Found | None:
    """Is α-ORD the best of the others, where several runs are constant?"""
    return (
        None
        if figures.n_constant < 2
        else judge_against(figures, "alpha_ORD", leave_out(ORDINAL, "kappa", "alpha_ORD"))
    )


def kappa_and_alpha_ord(figures: Figures) -> Found | None:
    """Do κ and α-ORD rank runs differently enough to be worth looking at both?"""
    if figures.tau is None or not {"kappa", "alpha_ORD"} <= set(figures.measures):
        return None
    both = figures.weigh("τ of kappa and alpha_ORD", lambda tau: tau("kappa", "alpha_ORD"))
    return tell_below(both, bound("nearly the same")), (both,)


def alpha_int_no_gain(figures: Figures) -> Found | None:
    """Is α-INT ahead of α-ORD by no criterion?"""
    return judge_two(figures, "alpha_ORD", "alpha_INT")


def _rank_best(figures: Figures, part: str = "") -> Found | None:
    """Return how far from the top by MAE^M the best run by MAE^μ is, of those whose names hold a part."""
    if figures.scores is None or not {"MAE_M", "MAE_mu"} <= set(figures.measures):
        return None
    means = figures.scores.means()
    ranks = means["MAE_M"].round(12).rank(method="min")
    at_top = means["MAE_mu"].round(12) == means["MAE_mu"].round(12).min()
    best = at_top & np.array([part in str(run) for run in means.index])
    if not best.any():
        return "does not hold", (Evidence("runs", len(means)), Evidence("constant runs at the top by MAE_mu", 0))
    rank, n_runs = int(ranks[best].max()), len(means)
    evidence = (Evidence("runs", n_runs), Evidence("rank by MAE_M of the best by MAE_mu", rank))
    if rank >= bound("far from the top"):
        return "holds", evidence
    return ("holds in part" if rank > (n_runs + 1) / 2 else "does not hold"), evidence


def _average(collections: Sequence[Figures]) -> Figures | None:
    figures = average_figures(collections)
    return figures if set(ALL) <= set(figures.measures) and set(SPLITS) <= set(figures.splits) else None


def _take_constant_runs(figures: Figures, *measures: str) -> np.ndarray | None:
    """Return the scores of constant runs, shape (run, topic, measure), where there are any."""
    if figures.scores is None or not figures.n_constant or not set(measures) <= set(figures.measures):
        return None
    runs = [run for run in figures.scores.runs if CONSTANT in run]
    return figures.scores.sel(runs=runs, measures=list(measures)).values


def _explain(whole: Figures, rest: Figures, labels: Sequence[str]) -> Found | None:
    if not all(label in one.ahead for label in labels for one in (whole, rest)):
        return None
    words, evidence = [], [Evidence("constant runs", whole.n_constant)]
    for label in labels:
        before, after = (count_net(one.ahead[label], "kappa") for one in (whole, rest))
        words.append(tell_sides(int(after > before), int(after < before)))
        evidence += [
            Evidence(f"{label}: measures behind kappa less those ahead, with all runs", before),
            Evidence("without constant runs", after),
        ]
    return join_parts(words), tuple(evidence)
