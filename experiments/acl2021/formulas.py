"""The paper's claims about formulas and printed numbers, whatever the data; and what cannot be tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import metaeval
from experiments.acl2021.audit import PRINTED, STUDY
from experiments.acl2021.judging import bound
from experiments.acl2021.verdicts import CLAIMS, PAPER, fill_bounds
from experiments.audits import rounds_to
from experiments.verdicts import PRINT
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

SEARCH = "formulas: search for counterexamples"
CLASSIFICATION, QUANTIFICATION = STUDY["classification_order"], STUDY["quantification_order"]
NOMINAL = ("F1_M", "HMPR", "Accuracy", "NVD", "RNSS", "JSD")
N_STRETCHED = 500
"""Pairs of distributions on which a scale is stretched."""

Tried = Mapping[str, tuple[int, int]]
"""By measure, cases that fail and cases tried."""


def decide_formulas() -> list[Verdict]:
    """Return the verdicts of all claims about formulas.

    Returns
    -------
    list of Verdict
    """
    decide: dict[str, Callable[[], tuple[OutcomeWord, tuple[Evidence, ...]]]] = {
        "order_ignored": lambda: judge_cases(try_order(), fails=NOMINAL, only=NOMINAL),
        "order_heeded": lambda: judge_cases(
            try_order(), only=[one for one in (*CLASSIFICATION, *QUANTIFICATION) if one not in NOMINAL]
        ),
        "imbalance": lambda: judge_cases(try_property("imbalance", CLASSIFICATION), fails=("MAE_mu", "Accuracy")),
        "constant_handled": lambda: judge_cases(try_property("constant", CLASSIFICATION), fails=("kappa",)),
        "symmetric": lambda: judge_cases(try_property("symmetric", QUANTIFICATION), fails=("RNOD",)),
        "equidistance": lambda: judge_cases(try_stretching(), fails=("kappa", "RNOD")),
        "semeval_smaller": lambda: judge_sizes(PRINTED["table1"]),
        "effect_sizes": lambda: judge_effects(PRINTED),
    }
    on_print = {"semeval_smaller": "Table 1", "effect_sizes": "Tables 3, 6 and 9"}
    found = []
    for claim in CLAIMS["formulas"]:
        name = claim["name"]
        word, evidence = decide[name]()
        data = f"{PRINT}: {on_print[name]}" if name in on_print else SEARCH
        where = f"{PAPER}, {claim['where']}"
        found.append(Verdict(claim["claim"], where, fill_bounds(claim["rule"]), data, word, evidence))
    return found


def judge_cases(
    tried: Tried, *, fails: Sequence[str] = (), only: Sequence[str] | None = None
) -> tuple[OutcomeWord, tuple[Evidence, ...]]:
    """Does a property fail for the measures for which it should, and for no other?

    Parameters
    ----------
    tried : mapping of str to (int, int)
        By measure, cases that fail and cases tried.
    fails : sequence of str, optional
        Measures for which it should fail in some case.
    only : sequence of str, optional
        Measures that the claim is about; all by default.

    Returns
    -------
    (outcome, evidence)

    Examples
    --------
    >>> judge_cases({"kappa": (3, 9), "CEM_ORD": (0, 9)}, fails=["kappa"])[0]
    'holds'
    """
    about = [name for name in tried if only is None or name in only]
    as_said = [(tried[name][0] > 0) == (name in fails) for name in about]
    evidence = tuple(Evidence(f"{name}: cases that fail, of {tried[name][1]:,}", tried[name][0]) for name in about)
    if all(as_said):
        return "holds", evidence
    return ("holds in part" if np.mean(as_said) > bound("most") else "does not hold"), evidence


def try_property(name: str, measures: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return by measure how many cases of a property fail, and how many were tried."""
    found = search_properties(tuple(measures), (name,))
    return {one: (check.failed, check.cases) for one in measures if (check := found.get_check(one, name)) is not None}


def try_order() -> dict[str, tuple[int, int]]:
    """Return the same of the order of classes: for quantification of both its properties together."""
    one, two = (try_property(name, QUANTIFICATION) for name in ("ordinal", "ordinal with mixed gold"))
    both = {name: (one[name][0] + two[name][0], one[name][1] + two[name][1]) for name in one}
    return try_property("ordinal", CLASSIFICATION) | both


def try_stretching() -> dict[str, tuple[int, int]]:
    """Return by measure in how many cases a class that nobody uses, put between two others, changes the score."""
    rng = np.random.default_rng(STUDY["seed"])
    gold, estimated = rng.dirichlet(np.ones(4), size=(2, N_STRETCHED))
    names = ["NMD", "RNOD"]
    before = _score(estimated, gold, names)
    failed = np.zeros(len(names), dtype=int)
    places = range(1, gold.shape[1])
    for place in places:
        stretched = [np.insert(one, place, 0.0, axis=1) for one in (estimated, gold)]
        after = _score(stretched[0], stretched[1], names)
        failed += (np.abs(after - before) > 1e-9).sum(axis=0)
    found = {name: (int(number), len(places) * N_STRETCHED) for name, number in zip(names, failed, strict=True)}
    return try_property("ordinal invariance", ("kappa", "alpha_ORD")) | found


def _score(estimated: np.ndarray, gold: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return scores of shape (topic, measure)."""
    n_topics, n_classes = gold.shape
    runs = metaeval.QuantificationRuns(
        estimated[None], gold, runs=["run"], topics=range(n_topics), classes=range(n_classes)
    )  # fmt: skip
    return metaeval.score(runs, names).values[0]


def judge_sizes(sizes: Mapping[str, Sequence[int]]) -> tuple[OutcomeWord, tuple[Evidence, ...]]:
    """Are SemEval's score matrices much smaller than NTCIR's?

    Parameters
    ----------
    sizes : mapping of str to (classes, topics, runs)
        By collection, as in Table 1.

    Returns
    -------
    (outcome, evidence)
    """
    cells = {name: topics * runs for name, (_, topics, runs) in sizes.items()}
    small = max(cells[name] for name in cells if name.endswith("E") and name.startswith("Sem"))
    large = min(cells[name] for name in cells if name.startswith("DQ"))
    evidence = (Evidence("runs × topics, the largest of SemEval", small), Evidence("the smallest of NTCIR", large))
    if small <= bound("much smaller") * large:
        return "holds", evidence
    return ("holds in part" if small < large else "does not hold"), evidence


def judge_effects(printed: Mapping[str, Any]) -> tuple[OutcomeWord, tuple[Evidence, ...]]:
    """Do the effect sizes of captions follow from the numbers, and is one over five standard deviations?

    Parameters
    ----------
    printed : mapping
        Of printed.toml.

    Returns
    -------
    (outcome, evidence)
    """
    as_said, evidence = [], []
    for table, collection, split, better, worse, size in printed["effect_sizes"]["examples"]:
        part = printed[table][collection][split]
        effect = (part[better][0] - part[worse][0]) / math.sqrt(part["V_E2"])
        over_five = effect > 5 or better != "RNOD"
        as_said.append(rounds_to(effect, size, 2) and over_five)
        evidence.append(Evidence(f"{collection}, {split}: {better} over {worse}, printed {size:.2f}", effect))
    if all(as_said):
        return "holds", tuple(evidence)
    return ("holds in part" if np.mean(as_said) > bound("most") else "does not hold"), tuple(evidence)


def list_untried() -> list[Verdict]:
    """Return the conclusions that neither data nor formulas can decide, each with what could.

    Returns
    -------
    list of Verdict
    """
    return [
        Verdict(
            claim["claim"], f"{PAPER}, {claim['where']}", "None: it cannot be tried here.", "none", "cannot tell",
            reason=f"it would take {claim['needs']}",
        )
        for claim in CLAIMS["untried"]
    ]  # fmt: skip


@cache
def search_properties(measures: tuple[str, ...], names: tuple[str, ...]) -> metaeval.Properties:
    """Search for counterexamples, once for the same measures and properties."""
    return metaeval.properties(measures, only=names)
