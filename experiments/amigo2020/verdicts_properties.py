"""Whether the conclusions on formal properties (§3.2, §4, Appendix C) come out: by the search, and by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

import metaeval
from experiments.amigo2020.verdicts import conclude, count_met, judge_all
from experiments.amigo2020.verdicts_examples import judge_highest
from experiments.outcome import read_toml
from experiments.verdicts import Found
from metaeval.analyses.properties import IMBALANCE, INVARIANCE, MONOTONICITY, PROPERTIES
from metaeval.measures.closeness_scales import closer_items
from metaeval.show.verdict import Evidence, Verdict
from metaeval.stats.ordinal_cases import all_matrices

HERE = Path(__file__).parent
ROWS: Mapping[str, str] = read_toml(HERE / "study.toml")["properties"]
CAMPAIGNS = list(dict.fromkeys(one["row"] for one in read_toml(HERE / "printed.toml")["table1"]))
CLASSIFICATION = ("Acc", "Acc with n", "Macro Avg Acc", "Cohen's kappa", "F-measure avg. across classes")
ERRORS = ("MAE", "MSE", "Macro Avg. MAE", "Macro Avg. MSE", "Weighted kappa", "Rennie & Srebro loss function")
CORRELATION = (
    "Linear correlation",
    "Kendall (tau-b)",
    "Spearman",
    "Kendall (tau-a)",
    "Reliability and Sensitivity",
)
CLUSTERING = ("MI", "Purity", "Inv. Purity")
OWN = "CEM_ORD"
SAME = 1e-9

Marks = Callable[[str, str], bool]
"""Whether a row of Table 2 has no counterexample to a property."""

Statement = tuple[str, bool]
"""What is tried, in a few words, and whether it is so."""


def judge_properties(found: metaeval.Properties, empty: metaeval.Properties) -> list[Verdict]:
    """Return the verdicts on everything that is concluded about formal properties.

    Parameters
    ----------
    found, empty : Properties
        Of the rows of Table 2, without and with empty gold classes.

    Returns
    -------
    list of Verdict
    """
    searched, with_empty = ({row: one.holds()[m] for m, row in enumerate(ROWS)} for one in (found, empty))

    def has(row: str, name: str) -> bool:
        return bool(searched[row][PROPERTIES.index(name)])

    conditions = [("search", "a counterexample proves; that there is none among the cases tried does not")]
    verdicts = []
    for name, statements in list_statements(has, bool(with_empty[OWN].all())).items():
        wrong = [what for what, met in statements if not met]
        result = judge_all(met for _, met in statements), count_met("statements", (met for _, met in statements))
        reason = f"not so: {', '.join(wrong)}" if wrong else ""
        verdicts.append(conclude(name, "the search of Table 2", result, conditions, reason))
    enumerated = {
        "closeness_definition": judge_definition(),
        "accuracy_nominal": judge_proposition1(),
        "precision_nominal": judge_proposition2(),
        "interval_mae": judge_interval(),
    }
    nothing_random = [("enumeration", "nothing is random")]
    verdicts += [conclude(name, "all small cases", one, nothing_random) for name, one in enumerated.items()]
    return [*verdicts, conclude("perfectly_ranked", "the example of §2.1", judge_ranked(), nothing_random)]


def list_statements(has: Marks, whole_with_empty: bool) -> dict[str, list[Statement]]:
    """Return for every conclusion what must be so, statement by statement.

    Parameters
    ----------
    has : callable
    whole_with_empty : bool
        Whether CEM_ORD has all properties when gold classes may be empty.

    Returns
    -------
    dict of str to list of (str, bool)
    """

    def all_have(rows: Iterable[str], name: str) -> list[Statement]:
        return [(f"{row} has {name}", has(row, name)) for row in rows]

    def none_has(rows: Iterable[str], name: str) -> list[Statement]:
        return [(f"{row} lacks {name}", not has(row, name)) for row in rows]

    patterns = {tuple(has(row, name) for name in PROPERTIES) for row in CAMPAIGNS}
    variant = sum(not has(row, INVARIANCE) for row in CAMPAIGNS)
    met = sum(has(row, IMBALANCE) for row in CLUSTERING)
    kappas = {weights: try_kappa(weights) for weights in ("nominal", "linear", "quadratic")}
    growing = ("linear", "quadratic")
    cem = [tuple(has(f"CEM_{scale}", name) for name in PROPERTIES) for scale in ("NOM", "ORD", "INT")]
    return {
        "only_one": [
            *((f"{OWN} has {name}", has(OWN, name)) for name in PROPERTIES),
            *((f"{row} lacks one", not all(has(row, name) for name in PROPERTIES)) for row in ROWS if row != OWN),
        ],
        "empty_needed": [(f"{OWN} lacks one with empty classes", not whole_with_empty)],
        "ignore_or_assume": [
            (f"{row} lacks one of both", not (has(row, MONOTONICITY) and has(row, INVARIANCE))) for row in CAMPAIGNS
        ],
        "inconsistent_scale": [
            (f"most of {len(CAMPAIGNS)} lack {INVARIANCE} ({variant} do)", 2 * variant > len(CAMPAIGNS)),
            (f"{len(patterns)} patterns of properties", len(patterns) > 1),
        ],
        "assume_intervals": none_has(ERRORS, INVARIANCE),
        "classification_family": [*all_have(CLASSIFICATION, INVARIANCE), *none_has(CLASSIFICATION, MONOTONICITY)],
        "classification_imbalance": all_have(("Macro Avg Acc", "Cohen's kappa", CLASSIFICATION[-1]), IMBALANCE),
        "margin_insensitive": none_has(("Acc with n",), MONOTONICITY),
        "pearson_imbalance": none_has(("Linear correlation",), IMBALANCE),
        "nominal_weight": all_have(("CEM_NOM",), IMBALANCE),
        "blog_existing": [
            *none_has(("Acc", "Macro Avg Acc", "F-measure avg. across classes"), MONOTONICITY),
            *none_has(("MAE", "MSE"), INVARIANCE),
            *list_maxima(CORRELATION[1:]),
        ],
        "errors_invariance": none_has(("MAE", "MSE"), INVARIANCE),
        "macro_imbalance": all_have(("Macro Avg. MAE", "Macro Avg. MSE"), IMBALANCE),
        "kappa_monotonic": [
            ("linear or quadratic weights: monotonic", any(kappas[one][MONOTONICITY] for one in growing))
        ],
        "kappa_imbalance": [
            ("some weights: imbalance", any(one[IMBALANCE] for one in kappas.values())),
            ("linear and quadratic weights: not invariant", not any(kappas[one][INVARIANCE] for one in growing)),
        ],
        "cosine": [
            statement for name in (INVARIANCE, IMBALANCE) for statement in none_has(("Cosine similarity",), name)
        ],
        "correlation_family": [*none_has(CORRELATION, MONOTONICITY), *list_maxima()],
        "ordinal_coefficients": [
            *all_have(("Kendall (tau-a)", "Kendall (tau-b)", "Spearman"), INVARIANCE),
            *none_has(("Linear correlation",), INVARIANCE),
        ],
        "tau_a_imbalance": none_has(("Kendall (tau-a)",), IMBALANCE),
        "tau_b_imbalance": all_have(("Kendall (tau-b)", "Spearman"), IMBALANCE),
        "reliability": [
            *all_have(("Reliability and Sensitivity",), INVARIANCE),
            *none_has(("Reliability and Sensitivity",), MONOTONICITY),
            *all_have(("Reliability and Sensitivity",), IMBALANCE),
        ],
        "clustering_imbalance": [(f"most of {len(CLUSTERING)} have {IMBALANCE} ({met} do)", 2 * met > len(CLUSTERING))],
        "clustering_order": [*all_have(CLUSTERING, INVARIANCE), *none_has(CLUSTERING, MONOTONICITY)],
        "oci": [
            *none_has(("Ordinal Classification Index",), INVARIANCE),
            *none_has(("Ordinal Classification Index",), MONOTONICITY),
        ],
        "cem_proofs": [(f"{OWN} has {name}", has(OWN, name)) for name in PROPERTIES],
        "three_virtues": [
            ("only perfect runs have the highest score", judge_highest()[0] == "holds"),
            *((f"{OWN} has {name}", has(OWN, name)) for name in (MONOTONICITY, INVARIANCE)),
        ],
        "three_scales": [
            (f"{len(set(cem))} patterns of properties", len(set(cem)) == len(cem)),
            *all_have(("CEM_NOM", "CEM_ORD"), INVARIANCE),
        ],
    }


def try_kappa(weights: str) -> dict[str, bool]:
    """Return which properties κ has in the search with weights of one kind."""
    found = metaeval.properties([f"kappa(weights={weights})"], only=PROPERTIES)
    return dict(zip(PROPERTIES, map(bool, found.holds()[0]), strict=True))


def list_maxima(rows: Sequence[str] = CORRELATION) -> list[Statement]:
    """Return whether each of some coefficients gives a run without one right item its highest score, 1."""
    # Appendix B: (1, 2, 3) for gold (3, 4, 5)
    pairs = [(row, *score_beside_gold(row, [2, 3, 4], [0, 1, 2], 5)) for row in rows]
    return [(f"{row} is highest without a match", abs(own - best) <= SAME) for row, own, best in pairs]


def score_beside_gold(row: str, gold: Sequence[int], output: Sequence[int], n_classes: int) -> tuple[float, float]:
    """Return the score of an output by a row of Table 2, and that of the gold itself."""
    scores = []
    for answers in (output, gold):
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        np.add.at(counts, (list(gold), list(answers)), 1)
        scores.append(float(metaeval.measure(ROWS[row]).evaluate(counts)[0]))
    return scores[0], scores[1]


def judge_ranked() -> Found:
    """Does an output one class too high throughout have the ranking coefficients of the gold, and no item right?"""
    gold, output = (2, 1, 0), (3, 2, 1)  # of very low, low, high, very high
    scored = {row: score_beside_gold(row, gold, output, 4) for row in ("Acc", *CORRELATION[1:])}
    met = [abs(own - best) <= SAME for row, (own, best) in scored.items() if row != "Acc"]
    evidence = (Evidence(row, own) for row, (own, _) in scored.items())
    return judge_all([scored["Acc"][0] == 0, *met]), tuple(evidence)


def judge_definition() -> Found:
    """Is the printed condition at each scale what Definition 1, with ∃, says?"""
    numbers, images = range(1, 5), range(9)
    rising = [dict(zip(numbers, one, strict=True)) for one in itertools.combinations(images, len(numbers))]
    scales = {
        "ordinal": (rising, lambda x, a, b: b >= x >= a or a >= x >= b),
        "nominal": (
            [dict(zip(numbers, one, strict=True)) for one in itertools.permutations(images, len(numbers))],
            lambda x, a, b: b == x or b != a,
        ),
        "interval": (
            [{x: sign * x for x in numbers} for sign in (1, -1)],
            lambda x, a, b: abs(b - x) <= abs(b - a),
        ),
    }
    words, evidence = [], []
    for name, (functions, printed) in scales.items():
        met = [
            _can_be_closer(functions, x, a, b) == printed(x, a, b) for x, a, b in itertools.product(numbers, repeat=3)
        ]
        words.append(all(met))
        evidence.append(Evidence(f"{name}: triples that agree, of {len(met)}", sum(met)))
    every = [
        all(abs(f[x] - f[b]) <= abs(f[a] - f[b]) for f in rising) == scales["ordinal"][1](x, a, b)
        for x, a, b in itertools.product(numbers, repeat=3)
    ]
    evidence.append(Evidence("ordinal, with ∀ in place of ∃", sum(every)))
    return judge_all(words), tuple(evidence)


def _can_be_closer(functions: Sequence[Mapping[int, int]], x: int, a: int, b: int) -> bool:
    return any(abs(f[x] - f[b]) <= abs(f[a] - f[b]) for f in functions)


def _list_uniform() -> list[np.ndarray]:
    """Return confusion matrices of 2 to 6 items in 2 and 3 equally large gold classes."""
    found = []
    for n_classes, n_items in ((2, 2), (2, 4), (2, 6), (3, 3), (3, 6)):
        counts = all_matrices(n_items, n_classes)
        found.append(counts[(counts.sum(axis=2) == n_items // n_classes).all(axis=1)])
    return found


def judge_proposition1() -> Found:
    """Is CEM_NOM a constant times Accuracy where gold classes are equally large?"""
    met: list[bool] = []
    for counts in _list_uniform():
        closeness, accuracy = (metaeval.measure(name).evaluate(counts)[0] for name in ("CEM(scale=NOM)", "Accuracy"))
        factor = closeness[np.argmax(accuracy)] / accuracy.max()
        met += list(np.abs(closeness - factor * accuracy) <= SAME)
    return judge_all(met), count_met("matrices", met)


def judge_proposition2() -> Found:
    """Are sums of CIQ_NOM over predicted and gold classes, over the largest possible, precision and recall?"""
    met: list[bool] = []
    for counts in _list_uniform():
        gold = counts.sum(axis=2)
        closeness = -np.log2(closer_items(gold, scale="NOM") / gold.sum(axis=1)[:, None, None])
        right = np.diagonal(counts, axis1=1, axis2=2)
        for axis, sizes in ((1, counts.sum(axis=1)), (2, gold)):
            most = closeness[:, 0, 0][:, None] * sizes  # every item right; all classes weigh the same
            there = sizes > 0
            got = (closeness * counts).sum(axis=axis)[there] / most[there]
            met += list(np.abs(got - right[there] / sizes[there]) <= SAME)
    return judge_all(met), count_met("classes", met)


def judge_interval() -> Found:
    """Is CIQ_INT a function of the distance alone where gold classes are equally large?"""
    everywhere, inside = [], []
    for n_classes in range(3, 8):
        closer = closer_items(np.ones(n_classes), scale="INT")
        g, p = np.indices(closer.shape)
        distance = np.abs(g - p)
        fits = (g - distance >= 0) & (g + distance < n_classes)
        for d in range(n_classes):
            everywhere.append(np.ptp(closer[distance == d]) <= SAME)
            there = (distance == d) & fits
            inside.append(not there.any() or bool(np.ptp(closer[there]) <= SAME))
    evidence = (*count_met("distances", everywhere), Evidence("inside the scale", sum(inside)))
    word = judge_all(everywhere)
    if word != "holds":
        word = "holds in part" if all(inside) else "does not hold"
    return word, evidence
