"""Whether the conclusions from the paper's worked examples and those of the blog come out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.amigo2020 import blog
from experiments.amigo2020.verdicts import conclude, count_met, judge_all
from experiments.outcome import read_toml
from experiments.verdicts import Found
from metaeval.measures.closeness import proximity
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict
from metaeval.stats.ordinal_cases import all_matrices

PRINTED = read_toml(Path(__file__).parent / "printed.toml")
APPENDIX, FIGURE3 = PRINTED["appendix_b"], PRINTED["figure3"]
COUNTS = {system: np.array(one["counts"]) for system, one in FIGURE3["systems"].items()}
NEG, NEU, POS = range(3)
REJECT, WEAK_REJECT, UNDECIDED, WEAK_ACCEPT, ACCEPT = range(5)
BOTH = (("F", np.array([PRINTED["figure1"]["left"]])), ("S", blog.split_ends()))
"""Both distributions of Figure 1, shape (split, K)."""

DERIVED = (("provenance", "every input is printed, or follows from print"),)
GIVEN = ("blog_highest", "blog_accuracy", "blog_neutral")
"""What the blog says of inputs that are printed, or of all inputs."""

ASSUMED = (("provenance", "assumed where the text gives nothing: every filling"),)


def judge_examples(scores: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts on everything that is concluded from an example.

    Parameters
    ----------
    scores : DataFrame
        Of `examples.score_statements`.

    Returns
    -------
    list of Verdict
    """
    printed = {
        "figure1": judge_figure1(),
        "rare_classes": judge_rare_classes(),
        "same_accuracy": judge_accuracy(),
        "distant_mistakes": judge_distant(),
        "neutral_mistakes": judge_neutral(),
        "neutral_share": judge_share(),
    }
    said = {
        "blog_furthest": judge_furthest(),
        "blog_closest": judge_closest(),
        "blog_symmetry": judge_asymmetry(),
        "blog_highest": judge_highest(),
        "blog_point": judge_point(),
        "blog_accuracy": judge_accuracy(),
        "blog_neutral": judge_neutral_share(),
    }
    given = {name: conclude(name, "Figures 1 and 3, Appendix B", found, DERIVED) for name, found in printed.items()}
    for name in ("figure1", "rare_classes"):
        given[name] = conclude(name, "Figure 1", printed[name], ASSUMED)
    said_of_measures = [
        conclude(name, "Figures 1 and 3, Appendix B", found, DERIVED, reason)
        for name, (found, reason) in judge_appendix(scores).items()
    ]
    return [
        *given.values(),
        *said_of_measures,
        *(conclude(name, "the blog", one, DERIVED if name in GIVEN else ASSUMED) for name, one in said.items()),
        *judge_pairs(),
    ]


def _closeness(p: int, g: int) -> list[np.ndarray]:
    """Return the closeness of a predicted to a gold class in both distributions, over all splits."""
    return [proximity(gold)[:, g, p] for _, gold in BOTH]


def judge_figure1() -> Found:
    """Is weak accept for weak reject the worse mistake in the left distribution?"""
    met: list[bool] = []
    evidence: list[Evidence] = []
    for way, pair in (
        ("weak accept for weak reject", (WEAK_ACCEPT, WEAK_REJECT)),
        ("the reverse", (WEAK_REJECT, WEAK_ACCEPT)),
    ):
        left, right = _closeness(*pair)
        met += list(left[0] < right)
        evidence += [
            Evidence(f"{way}, left", float(left[0]), digits=2),
            Evidence(f"{way}, right", float(right.mean()), (float(right.min()), float(right.max())), digits=2),
        ]
    return judge_all(met), tuple(evidence)


def judge_rare_classes() -> Found:
    """Is, of two classes, the smaller one the closer to itself?"""
    met = []
    for _, gold in BOTH:
        own = np.diagonal(proximity(gold), axis1=1, axis2=2)
        smaller = gold[:, :, None] < gold[:, None, :]
        met += list((own[:, :, None] > own[:, None, :])[smaller])
    return judge_all(met), count_met("pairs of classes", met)


def judge_accuracy() -> Found:
    """Is B as accurate as A and better by CEM_ORD?"""
    scores = {
        name: [float(metaeval.measure(name).score(one)) for one in COUNTS.values()] for name in ("Accuracy", "CEM_ORD")
    }
    met = abs(scores["Accuracy"][0] - scores["Accuracy"][1]) < 1e-9, scores["CEM_ORD"][1] > scores["CEM_ORD"][0]
    evidence = [
        Evidence(f"{name} of {system}", value, digits=4)
        for name, values in scores.items()
        for system, value in zip(COUNTS, values, strict=True)
    ]
    return judge_all(met), tuple(evidence)


def _mistakes(system: str, one: int, two: int) -> list[int]:
    """Return the items of the second class in the first, and of the first in the second, as the blog orders them."""
    counts = COUNTS[system]
    return [int(counts[two, one]), int(counts[one, two])]


def judge_distant() -> Found:
    """Does A take positive for negative, or the reverse, more often, with the blog's four numbers?"""
    found = {system: _mistakes(system, NEG, POS) for system in COUNTS}
    met = sum(found["A"]) > sum(found["B"]), all(found[system] == blog.BLOG["mistakes"][system] for system in COUNTS)
    evidence = [
        Evidence(f"{system}, {way}", n)
        for system, pair in found.items()
        for way, n in zip(("neg for pos", "pos for neg"), pair, strict=True)
    ]
    return judge_all(met), tuple(evidence)


def judge_neutral() -> Found:
    """Does A make more positive/neutral than negative/neutral mistakes, and do they cost more?"""
    counts = [sum(_mistakes("A", NEU, other)) for other in (POS, NEG)]
    closeness = proximity(FIGURE3["gold"])
    dearer = closeness[POS, NEU] < closeness[NEG, NEU] and closeness[NEU, POS] < closeness[NEU, NEG]
    evidence = (
        Evidence("A, positive/neutral", counts[0]),
        Evidence("A, negative/neutral", counts[1]),
        *(Evidence(f"{name} for neu", float(closeness[NEU, c]), digits=2) for name, c in (("pos", POS), ("neg", NEG))),
        *(Evidence(f"neu for {name}", float(closeness[c, NEU]), digits=2) for name, c in (("pos", POS), ("neg", NEG))),
    )
    return judge_all([counts[0] > counts[1], bool(dearer)]), evidence


def judge_share() -> Found:
    """Have positive and neutral nine tenths of the gold items?"""
    gold = np.array(FIGURE3["gold"])
    share = float(gold[[NEU, POS]].sum() / gold.sum())
    return judge_all([abs(share - blog.BLOG["mistakes"]["share"]) < 1e-9]), (Evidence("share", share, digits=2),)


def judge_neutral_share() -> Found:
    """Does A make more positive/neutral mistakes than B, and have both classes nine tenths of the items?"""
    counts = [sum(_mistakes(system, NEU, POS)) for system in COUNTS]
    word, share = judge_share()
    evidence = [Evidence(f"{system}, positive/neutral", n) for system, n in zip(COUNTS, counts, strict=True)]
    return judge_all([counts[0] > counts[1], word == "holds"]), (*evidence, *share)


def judge_appendix(scores: pd.DataFrame) -> dict[str, tuple[Found, str]]:
    """Return what comes of the examples of Appendix B, and which measures are otherwise, by conclusion."""
    gap = {name: scores[name, "first"] - scores[name, "second"] for name in ("monotonicity", "invariance", "imbalance")}
    denied = ["Acc", "Acc with n", "MAE", "MSE", "Cosine similarity", "Linear correlation"]
    claimed = ["Kendall (tau-b)", "Spearman", "Reliability and Sensitivity", "MI", "Purity", "Inv. Purity"]
    met = {
        "appendix_monotonicity": gap["monotonicity"].abs()[APPENDIX["monotonicity"]["rows"]] < 1e-9,
        "appendix_invariance": gap["invariance"].abs()[APPENDIX["invariance"]["rows"]] > 1e-9,
        "appendix_imbalance": gap["imbalance"][denied] <= 1e-9,
        "appendix_imbalance_others": gap["imbalance"][claimed] > 1e-9,
    }
    return {
        name: (
            (judge_all(one), count_met("measures", one)),
            "" if one.all() else f"not so: {', '.join(one.index[~one])}",
        )
        for name, one in met.items()
    }


def judge_furthest() -> Found:
    """Is a pair of reject and accept the least close one in both journals?"""
    met, both_ways = [], []
    outer = {(REJECT, ACCEPT), (ACCEPT, REJECT)}
    for _, gold in BOTH:
        for closeness in proximity(gold):
            order = _order_pairs(closeness)
            met.append(order[-1] in outer)
            both_ways.append(set(order[-2:]) == outer)
    return judge_all(met), (
        *count_met("F, and splits of S", met),
        Evidence("both directions the last two", sum(both_ways)),
    )


def judge_closest() -> Found:
    """Are weak reject, undecided and weak accept the closest classes in S?"""
    inner = (WEAK_REJECT, UNDECIDED, WEAK_ACCEPT)
    wanted = {(g, p) for g in inner for p in inner if g != p}
    met = [
        set(_order_pairs(closeness)[: len(wanted)]) == wanted
        for closeness in proximity(blog.split_ends(max(PRINTED["figure1"]["middle"]) + 1))
    ]
    return judge_all(met), count_met("splits", met)


def _order_pairs(closeness: np.ndarray) -> list[tuple[int, int]]:
    """Return (gold, predicted) of two different classes, the closest first."""
    places = [(int(g), int(p)) for g, p in zip(*np.nonzero(~np.eye(len(closeness), dtype=bool)), strict=True)]
    return sorted(places, key=lambda place: -closeness[place])


def judge_asymmetry() -> Found:
    """Is there always a pair of classes with two closenesses?"""
    met = []
    for _, gold in BOTH:
        closeness = proximity(gold)
        met += list((np.abs(closeness - closeness.swapaxes(1, 2)) > 1e-9).any(axis=(1, 2)))
    return judge_all(met), count_met("F, and splits of S", met)


def judge_highest() -> Found:
    """Is 1 the highest CEM_ORD, of perfect runs only?"""
    met = []
    highest = 0.0
    for n_items in range(1, 5):
        counts = all_matrices(n_items, 3)
        scores = metaeval.measure("CEM_ORD").evaluate(counts)[0]
        perfect = np.trace(counts, axis1=1, axis2=2) == n_items
        met += list((np.abs(scores - 1) < 1e-9) == perfect)
        highest = max(highest, float(scores.max()))
    met.append(highest <= 1 + 1e-9)
    return judge_all(met), (Evidence("highest", highest), Evidence("matrices", len(met) - 1))


def judge_point() -> Found:
    """Is the closeness of a class to the gold, over that of the gold to itself, 1 for the gold class and else less?"""
    closeness = proximity(blog.fill_gold(empty=False))
    share = closeness / np.diagonal(closeness, axis1=1, axis2=2)[:, :, None]
    same = np.eye(closeness.shape[1], dtype=bool)
    met = [*(np.abs(share[:, same] - 1) < 1e-9).ravel(), *(share[:, ~same] < 1 - 1e-9).ravel()]
    return judge_all(met), count_met("pairs of classes", met)


def judge_pairs() -> list[Verdict]:
    """Return the verdicts on the blog's pairs of data sets, one for each way of filling what it leaves open."""
    wanted: Mapping[str, int] = {"=": 0, ">": 1, "<": -1}
    found = []
    for name, _, assumed, pairs in blog.list_pairs():
        signs = blog.compare_pairs(pairs)
        tried = [(f"blog_{name}", signs == wanted[blog.BLOG[name]["says"].split()[1]])]
        if name == "imbalance":
            tried.append(("blog_inconsistency", signs == wanted[">"]))
        for conclusion, met in tried:
            word: OutcomeWord = judge_all(met)
            data = f"the blog, {assumed}" if assumed else "the blog, as it has them"
            found.append(
                conclude(conclusion, data, (word, count_met("fillings", met)), ASSUMED if assumed else DERIVED)
            )
    return found
