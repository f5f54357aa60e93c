"""Table 3, left, over several seeds; Table 2 by search for counterexamples; Figures 1 and 3 and the examples of Appendix B."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import joblib
import numpy as np
import pandas as pd

import metaeval
from experiments.amigo2020.simulation import simulate_runs
from experiments.paper import Results, Settings, cell, read_study
from metaeval.analyses.properties import PROPERTIES
from metaeval.errors import UndefinedValueWarning
from metaeval.measures.ordinal import proximity

STUDY = read_study("amigo2020")
PRINTED, MEASURES, COLUMNS, ROWS = STUDY["printed"], STUDY["measures"], STUDY["columns"], STUDY["properties"]
DEVIATIONS = 3
"""Standard deviations over seeds by which one printed draw may be away from the mean."""


def run(settings: Settings) -> Results:
    """Compute what needs no data: that is all but the real half of Table 3, whose runs are not public."""
    results = Results("amigo2020")
    if settings.wants("table3", "leads", "comparison"):
        settings.say(f"amigo2020: Table 3, left, by {STUDY['seeds']} seeds")
        coverages = cover_seeds(settings)
        how = (
            f"reference {', '.join(STUDY['reference'])} | seeds {settings.seed} to {settings.seed + STUDY['seeds'] - 1}"
        )
        caption = "Coverage of every measure in every column of Table 3, left, over seeds."
        results.add("table3", tabulate_coverages(coverages), caption, how=how)
        caption = "By how much CEM_ORD is ahead of the best of some measures; ends over seeds."
        results.add("leads", tabulate_leads(coverages), caption)
    if settings.wants("marks", "comparison"):
        settings.say("amigo2020: Table 2")
        found = metaeval.properties(list(ROWS.values()), only=PROPERTIES, seed=settings.seed)
        empty = metaeval.properties(list(ROWS.values()), only=PROPERTIES, seed=settings.seed, empty_classes=True)
        caption = "Counterexamples found to each property, of how many cases tried."
        results.add("marks", tabulate_marks(found, empty), caption)
    if settings.wants("comparison"):
        cells = [*compare_coverages(coverages), *compare_real(), *compare_marks(found), *compare_examples()]
        results.compare("comparison", cells)
    return results


def tabulate_coverages(coverages: np.ndarray) -> pd.DataFrame:
    """Return mean, standard deviation and ends over seeds of every cell of Table 3, left, beside what is in print."""
    statistics = (np.mean, partial(np.std, ddof=1), np.min, np.max)
    rows = [
        (
            row,
            column,
            *(statistic(coverages[:, r, c]) for statistic in statistics),
            PRINTED["Table 3 (synthetic)"][row][c],
        )
        for r, row in enumerate(MEASURES)
        for c, column in enumerate(COLUMNS)
    ]
    columns = ["measure", "column", "mean", "sd", "smallest", "largest", "printed"]
    return pd.DataFrame(rows, columns=columns).set_index("measure")


def cover_seeds(settings: Settings) -> np.ndarray:
    """Return the coverage of every measure in every column, shape (seed, row, column)."""
    seeds = range(settings.seed, settings.seed + STUDY["seeds"])
    return np.stack(joblib.Parallel(settings.n_jobs)(joblib.delayed(cover_once)(seed) for seed in seeds))


def cover_once(seed: int) -> np.ndarray:
    """Simulate once and return the coverages, shape (row, column)."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UndefinedValueWarning
        )  # of runs that always return one class: see what was assumed
        scores = metaeval.score(simulate_runs(seed), list(MEASURES.values()))
    table = np.empty((len(MEASURES), len(COLUMNS)))
    for c, left_out in enumerate(COLUMNS.values()):
        kept = [name for name in scores.runs if name.rpartition("-")[0] != left_out]
        table[:, c] = metaeval.coverage(scores.sel(runs=kept), reference=STUDY["reference"], n_bootstrap=0).rows[
            "coverage"
        ]
    return table


def tabulate_leads(coverages: np.ndarray) -> pd.DataFrame:
    """Return the lead of CEM_ORD over all others, its three references, and its flat version, column by column."""
    names = list(MEASURES)
    own, rows = names.index("CEM_ORD"), []
    groups = {"all others": [name for name in names if name != "CEM_ORD"], "references": ["Accuracy", "Kendall", "MI"],
              "flat": ["CEM_ORD flat"]}  # fmt: skip
    for c, column in enumerate(COLUMNS):
        for group, others in groups.items():
            gaps = coverages[:, own, c] - coverages[:, [names.index(name) for name in others], c].max(axis=1)
            rows.append((column, group, gaps.mean(), gaps.min(), gaps.max()))
    return pd.DataFrame(rows, columns=["column", "over", "lead", "smallest", "largest"]).set_index("column")


def compare_coverages(coverages: np.ndarray) -> list[dict[str, object]]:
    """Return Table 3, left, beside ours: one draw and the mean of n others differ by 1 + 1/n times the variance of a draw."""
    means, spread = coverages.mean(axis=0), coverages.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(coverages))
    item = "Table 3 (synthetic)"
    return [
        cell(
            item,
            row,
            column,
            PRINTED[item][row][c],
            float(means[r, c]),
            data="simulated",
            monte_carlo=float(DEVIATIONS * spread[r, c]),
        )
        for r, row in enumerate(MEASURES)
        for c, column in enumerate(COLUMNS)
    ]


def compare_real() -> list[dict[str, object]]:
    """Return Table 3, right, of which nothing can be computed."""
    names = ("Replab 2013", "T9-A", "T9-B", "T10-A", "T10-B", "T10-C")
    return [
        cell("Table 3", row, name, text, None, data="")
        for row, texts in PRINTED["Table 3"].items()
        for name, text in zip(names, texts, strict=True)
    ]


def tabulate_marks(found: metaeval.Properties, empty: metaeval.Properties) -> pd.DataFrame:
    """Return how many counterexamples a search found of how many cases, and how many where gold classes may be empty."""
    rows = []
    for row, measure in zip(ROWS, found.measures, strict=True):
        for p, name in enumerate(PROPERTIES):
            checks = [one.get_check(measure, name) for one in (found, empty)]
            rows.append(
                (
                    row,
                    name,
                    "✓" if PRINTED["Table 2"][row][p] else "–",
                    *(n for one in checks for n in (one.failed, one.cases)),
                )
            )
    columns = ["measure", "property", "print", "counterexamples", "cases", "with empty classes", "of"]
    return pd.DataFrame(rows, columns=columns).set_index("measure")


def compare_marks(found: metaeval.Properties) -> list[dict[str, object]]:
    """Return marks beside print: a counterexample proves that one is lacking, a search that finds none proves nothing."""
    return [
        cell("Table 2", row, name, str(PRINTED["Table 2"][row][p]), float(holds), data="confusion matrices",
             monte_carlo=0.0 if holds else None)
        for row, marks in zip(ROWS, found.holds(), strict=True)
        for p, (name, holds) in enumerate(zip(PROPERTIES, marks, strict=True))
    ]  # fmt: skip


def compare_examples() -> list[dict[str, object]]:
    """Return the numbers of Figures 1 and 3 and of Appendix B."""
    return [*compare_figure1(), *compare_figure3(), *compare_imbalance(), *compare_statements()]


def compare_figure1() -> list[dict[str, object]]:
    """Return closenesses; on the right, of that split of the outer classes, which print lacks, that is farthest from print."""
    figure, cells = STUDY["figure1"], []
    ends = np.arange(1, figure["ends"])
    right = np.column_stack([ends, np.tile(figure["middle"], (len(ends), 1)), figure["ends"] - ends])
    for value in figure["values"]:
        closeness = proximity(np.array([figure["left"]]) if "left" in value["item"] else right)[
            :, value["gold"], value["predicted"]
        ]
        farthest = float(closeness[np.argmax(np.abs(closeness - value["printed"]))])
        cells.append(
            cell(value["item"], value["row"], "prox", f"{value['printed']:.{value['digits']}f}", farthest, data="print")
        )
    return cells


def compare_figure3() -> list[dict[str, object]]:
    """Return closenesses, sums and scores of Figure 3."""
    figure, item = STUDY["figure3"], "Figure 3"
    names, gold = figure["classes"], np.array(figure["gold"])
    closeness = proximity(gold)
    cells = [
        cell(
            item,
            f"{p} for {g}",
            "prox",
            f"{printed:.2f}",
            float(closeness[names.index(g), names.index(p)]),
            data="print",
        )
        for p, values in figure["proximity"].items()
        for g, printed in zip(names, values, strict=True)
    ]
    for system, one in figure["systems"].items():
        counts = np.array(one["counts"])
        for kind, printed, sums in (
            ("gold", gold, counts.sum(axis=1)),
            ("predicted", one["predicted"], counts.sum(axis=0)),
        ):
            cells += [
                cell(item, f"system {system}, {kind} {name}", "total", str(a), float(b), data="print")
                for name, a, b in zip(names, printed, sums, strict=True)
            ]
        for name in ("CEM_ORD", "Accuracy"):
            cells.append(
                cell(
                    item,
                    f"system {system}",
                    name,
                    f"{one[name]:.2f}",
                    float(metaeval.measure(name).score(counts)),
                    data="print",
                )
            )
    return cells


def compare_imbalance() -> list[dict[str, object]]:
    """Return the scores of both outputs of Appendix B, imbalance; errors with a minus, as printed."""
    example, cells = STUDY["appendix_b"]["imbalance"], []
    for value in example["values"]:
        measure = metaeval.measure(value["measure"])
        for output, printed in zip(example["outputs"], value["printed"], strict=True):
            ours = measure.sign * float(measure.score(count_pairs(output, example["gold"], 3)))
            row = f"({', '.join(map(str, output))})"
            cells.append(cell("Appendix B", row, str(measure), f"{printed:.{value['digits']}f}", ours, data="print"))
    return cells


def count_pairs(predicted: Sequence[int], gold: Sequence[int], n_classes: int) -> np.ndarray:
    """Return confusion counts of labels from 1, shape (K, K)."""
    counts = np.zeros((n_classes, n_classes), dtype=int)
    np.add.at(counts, (np.asarray(gold) - 1, np.asarray(predicted) - 1), 1)
    return counts


def compare_statements() -> list[dict[str, object]]:
    """Return whether what Appendix B says of the scores of two examples is so: 1 for yes."""
    cells = []
    for name, wanted in (("monotonicity", "scores are equal"), ("invariance", "scores differ")):
        example = STUDY["appendix_b"][name]
        if name == "monotonicity":
            pairs = [count_pairs(output, example["gold"], example["n_classes"]) for output in example["outputs"]]
        else:  # the same labels after f(x) = 10 + x³, on a scale of the same length
            after = [[10 + x**3 for x in labels] for labels in (example["output"], example["gold"])]
            most = max(*after[0], *after[1])
            pairs = [count_pairs(example["output"], example["gold"], most), count_pairs(*after, most)]
        for row in example["rows"]:
            first, second = (metaeval.measure(ROWS[row]).evaluate(counts)[0] for counts in pairs)
            met = (abs(float(first - second)) < 1e-9) == (wanted == "scores are equal")
            cells.append(cell(f"Appendix B, {name}", row, wanted, "1", float(met), data="print"))
    return cells
