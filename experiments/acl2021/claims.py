"""What ACL 2021 recommends (§7), and what the recommendations rest on (§§5.4, 6.4), tried on the committed tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from experiments.claims import Answer, bound, claim, every, is_above, is_at_most
from experiments.page import Folder
from experiments.sakai import split_words

ORDINAL = ("kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu")
"""Measures of classification that take the order of classes into account (Table 4, I)."""

NOMINAL = ("F1_M", "HMPR", "Accuracy", "NVD", "RNSS", "JSD")
Answers = Iterator[tuple[str, Answer]]


def list_collections(tables: Folder, kind: str) -> Iterator[tuple[str, pd.Series]]:
    """Yield the collections of a kind that have runs enough, those of the paper alone where there are any."""
    facts = tables.read("facts")
    names = set(facts[facts["kind"] == kind]["collection"])
    frame = tables.read("collections")
    frame = frame[frame["collection"].isin(names) & (frame["runs"] >= bound("fewest runs"))]
    own = frame[frame["relation"] == "given"]
    for _, row in (own if len(own) else frame).iterrows():
        yield row["collection"], row


def find(tables: Folder, collection: str, figure: str, compare: Callable[..., Answer], limit: float) -> Answer:
    """Compare a figure and its interval with a bound; without an interval it cannot be told."""
    facts = tables.read("facts").set_index(["collection", "figure"])
    value, low, high = facts.loc[(collection, figure), ["value", "low", "high"]]
    return Answer(None, (f"{figure} {value:.3f}",)) if pd.isna(low) else compare(figure, value, limit, low, high)


def is_ahead(tables: Folder, collection: str, measure: str, rivals: Sequence[str]) -> Answer:
    """Is a measure best by one criterion (behind no rival, ahead of one), and beaten by none?"""
    frame, power = tables.read("consistency"), tables.read("power")
    parts = {f"{split} splits": rows.set_index("measure")["ahead of"]
             for split, rows in frame[frame["collection"] == collection].groupby("split")}  # fmt: skip
    parts["power"] = power[power["collection"] == collection].set_index("measure")["finds more than"]
    best = beaten = 0
    figures = []
    for criterion, ahead_of in parts.items():
        ahead = len(split_words(ahead_of[measure]) & set(rivals))
        behind = sum(measure in split_words(ahead_of[rival]) for rival in rivals)
        best, beaten = best + bool(ahead and not behind), beaten + bool(behind)
        figures.append(f"{criterion}: ahead of {ahead}, behind {behind}")
    return Answer(None if bool(best) == bool(beaten) else bool(best), tuple(figures))


@claim("§7", "Use (Linear Weighted) κ as the primary measure if the task does not involve multiple runs that always return the "
       "same class.")  # fmt: skip
def kappa_primary(tables: Folder) -> Answers:
    """Where at most one run is constant, κ is best by one of three criteria, and behind no rival by another.

    Criteria are consistency over halves, over ten topics, and power. Rivals are the other measures that know the order of
    classes; best is ahead of one of them and behind none. Where criteria disagree, or none decides, it cannot be told.
    """
    for name, row in list_collections(tables, "classification"):
        if row["constant runs"] < 2:
            yield name, is_ahead(tables, name, "kappa", [one for one in ORDINAL if one != "kappa"])


@claim("§7", "Otherwise, use α-ORD (i.e., Krippendorff's α for ordinal classes) as the primary measure.")
def alpha_ord_primary(tables: Folder) -> Answers:
    """Where several runs are constant: as for κ, among the measures that then work, which κ does not."""
    for name, row in list_collections(tables, "classification"):
        if row["constant runs"] > 1:
            yield (
                name,
                is_ahead(tables, name, "alpha_ORD", [one for one in ORDINAL if one not in ("kappa", "alpha_ORD")]),
            )


@claim("§7", "In either case, use both measures.")
def use_both(tables: Folder) -> Answers:
    """Of the premise: κ and α-ORD do not give nearly the same ranking, their τ is below {nearly the same}."""
    for name, _ in list_collections(tables, "classification"):
        yield name, find(tables, name, "τ of kappa and alpha_ORD", is_at_most, bound("nearly the same"))


@claim("§7", "Use RNOD as the primary measure […].")
def rnod_primary(tables: Folder) -> Answers:
    """As for κ; the other measures that know the order of classes are RSNOD and NMD."""
    for name, _ in list_collections(tables, "quantification"):
        yield name, is_ahead(tables, name, "RNOD", ["RSNOD", "NMD"])


@claim("§7", "[…] and NMD as a secondary measure.")
def nmd_secondary(tables: Folder) -> Answers:
    """Of the premise: NMD ranks runs from another angle, its τ with RNOD is below {similar, quantification}."""
    for name, _ in list_collections(tables, "quantification"):
        yield name, find(tables, name, "τ of NMD and RNOD", is_at_most, bound("similar, quantification"))


def fails(tables: Folder, measure: str, *properties: str) -> Answer:
    """Say whether a search finds a counterexample to one of some properties of a measure."""
    frame = tables.read("properties")
    rows = frame[(frame["measure"] == measure) & frame["property"].isin(properties)]
    return is_above(f"{measure}: failing of {int(rows['cases'].sum()):,} cases", int(rows["failed"].sum()), 0)


@claim("§7", "Linear Weighted κ and RNOD assume equidistance […], while α-ORD and NMD do not.")
def equidistance(tables: Folder) -> Answer:
    """Stretching the scale by a class that nobody uses changes κ and RNOD in some case tried, and α-ORD and NMD in none."""
    unused = "an unused class between two"
    kappa, alpha = (fails(tables, measure, "ordinal invariance") for measure in ("kappa", "alpha_ORD"))
    return every([kappa, fails(tables, "RNOD", unused), ~alpha, ~fails(tables, "NMD", unused)])


@claim("§1", "Some of these measures satisfy the aforementioned basic requirement for ordinal classes; others do not.")
def order_of_classes(tables: Folder) -> Answer:
    """F1^M, HMPR, Accuracy, NVD, RNSS and JSD ignore the order of classes in some case tried, the other nine in none."""
    names = ("ordinal", "ordinal with mixed gold")
    measures = (*ORDINAL, *NOMINAL, "NMD", "RSNOD", "RNOD")
    answers = [fails(tables, one, *names) if one in NOMINAL else ~fails(tables, one, *names) for one in measures]
    return every(sorted(answers, key=lambda answer: answer.holds is not False))  # what breaks the claim is shown first


@claim("§5.1, §5.4", "(A) the α's, the two “Macro F1” measures […], MAE^M and κ produce similar rankings.")
def group_a_agrees(tables: Folder) -> Answers:
    """The mean τ within A is at least {similar}."""
    for name, _ in list_collections(tables, "classification"):
        yield name, find(tables, name, "mean τ within A", is_above, bound("similar"))


@claim(
    "§5.1, §5.4",
    "(B) MAE^μ and Accuracy […] produce similar rankings, which are drastically different from those of Group A.",
)
def group_b_is_apart(tables: Folder) -> Answers:
    """The τ of the two is at least {similar}, and the mean τ between A and B is below {apart}."""
    for name, _ in list_collections(tables, "classification"):
        within = find(tables, name, "τ within B", is_above, bound("similar"))
        yield name, every([within, find(tables, name, "mean τ between A and B", is_at_most, bound("apart"))])


@claim("§5.2", "Although Amigó et al. (2020) reported that CEM^ORD performed well in terms of “robustness,” this is not "
       "confirmed in our experiments.")  # fmt: skip
def cem_not_robust(tables: Folder) -> Answers:
    """More measures are more consistent than CEM^ORD than less consistent, over halves and over ten topics."""
    frame = tables.read("consistency")
    for name, _ in list_collections(tables, "classification"):
        answers = []
        for split, rows in frame[frame["collection"] == name].groupby("split", sort=False):
            ahead_of = rows.set_index("measure")["ahead of"].map(split_words)
            net = len(ahead_of["CEM_ORD"]) - sum("CEM_ORD" in ahead for ahead in ahead_of)
            figures = (f"{split} splits: measures behind less those ahead {net}",)
            answers.append(Answer(None if net == 0 else net < 0, figures))
        yield name, every(answers)


@claim("§5.4", "Using α-INT instead of α-ORD (i.e., assuming equidistance) does not seem beneficial for OC tasks.")
def alpha_int_no_better(tables: Folder) -> Answers:
    """A tie does not say it; that α-INT is no better does: its lead in power is below {no better}."""
    for name, _ in list_collections(tables, "classification"):
        figure = "power of alpha_INT more than that of alpha_ORD by"
        yield name, find(tables, name, figure, is_at_most, bound("no better"))


@claim("§6.4", "NMD is an outlier in terms of system ranking.")
def nmd_outlier(tables: Folder) -> Answers:
    """NMD has the smallest mean τ with the others, and is farther below the next smallest than that is below the largest."""
    for name, _ in list_collections(tables, "quantification"):
        figures = ("mean τ of NMD below the next by", "more than the others' range by")
        yield name, every(find(tables, name, figure, is_above, 0) for figure in figures)
