"""Worked examples of the paper: Figures 1 and 3, and the examples of Appendix B and §4.1 for all measures of Table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.amigo2020 import audit, blog
from experiments.old.audits import tabulate_audit
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings, read_toml
from metaeval.measures.closeness import proximity

HERE = Path(__file__).parent
PRINTED = read_toml(HERE / "printed.toml")
FIGURE1, FIGURE3, APPENDIX = (PRINTED[name] for name in ("figure1", "figure3", "appendix_b"))
MEASURES: Mapping[str, str] = read_toml(HERE / "study.toml")["properties"]
"""Row of Table 2 to measure."""


def compute_examples(settings: Settings) -> Outcome:
    """Compute the examples of the paper and of the blog; nothing of it is random and no data is needed."""
    settings.say("worked examples: Figures 1 and 3, Appendix B, the blog")
    signature = f"worked examples | inputs as printed | metaeval {metaeval.__version__}"
    scores = score_statements()
    cells = [*compare_figure1(), *compare_figure3(), *compare_imbalance(), *compare_statements(scores)]
    found = Outcome("amigo2020", "examples", cells=cells)
    found.tables["appendix_b_all"] = tabulate_statements(scores, signature)
    found.tables |= blog.make_tables(signature)
    found.tables["audit"] = tabulate_audit("Amigó et al. 2020", audit.find_checks(), "audit of amigo2020/printed.toml")
    return found


def compare_figure1() -> list[Cell]:
    """Return the printed closenesses of both distributions; on the right, of any split of the outer classes."""
    cells = []
    for value in FIGURE1["values"]:
        gold = np.array([FIGURE1["left"]]) if "left" in value["item"] else blog.split_ends()
        computed = proximity(gold)[:, value["gold"], value["predicted"]]
        # Where splits differ, the one that is farthest from print stands for all.
        farthest = float(computed[np.argmax(np.abs(computed - value["printed"]))])
        cells.append(
            cell(value["item"], value["row"], "prox", value["printed"], farthest, data="print", digits=value["digits"])
        )
    return cells


def compare_figure3() -> list[Cell]:
    """Return the printed closenesses, sums and scores of Figure 3."""
    names, gold = FIGURE3["classes"], np.array(FIGURE3["gold"])
    computed = proximity(gold)
    cells = [
        cell("Figure 3", f"{p} for {g}", "prox", printed, float(computed[names.index(g), names.index(p)]),
             data="print", digits=2)
        for p, values in FIGURE3["proximity"].items()
        for g, printed in zip(names, values, strict=True)
    ]  # fmt: skip
    for system, one in FIGURE3["systems"].items():
        counts = np.array(one["counts"])
        for kind, printed, sums in (("gold", gold, counts.sum(axis=1)), ("predicted", one["predicted"], counts.sum(0))):
            cells += [
                cell("Figure 3", f"system {system}, {kind} {name}", "total", float(a), float(b), data="print")
                for name, a, b in zip(names, printed, sums, strict=True)
            ]
        for name in ("CEM_ORD", "Accuracy"):
            score = float(metaeval.measure(name).score(counts))
            cells.append(cell("Figure 3", f"system {system}", name, one[name], score, data="print", digits=2))
    return cells


def compare_imbalance() -> list[Cell]:
    """Return the printed scores of both outputs of Appendix B, imbalance; errors with a minus, as printed."""
    example = APPENDIX["imbalance"]
    cells = []
    for value in example["values"]:
        measure = metaeval.measure(value["measure"])
        for output, printed in zip(example["outputs"], value["printed"], strict=True):
            computed = measure.sign * float(measure.score(count_pairs(output, example["gold"], 3)))
            row = f"({', '.join(map(str, output))})"
            cells.append(cell("Appendix B", row, str(measure), printed, computed, data="print", digits=value["digits"]))
    return cells


def count_pairs(predicted: Sequence[int], gold: Sequence[int], n_classes: int) -> np.ndarray:
    """Return confusion counts of labels from 1, shape (K, K)."""
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(counts, (np.asarray(gold) - 1, np.asarray(predicted) - 1), 1)
    return counts


def stretch(labels: Sequence[int], f: Mapping[str, int]) -> list[int]:
    """Return labels after a polynomial: classes become the numbers that the function gives.

    Examples
    --------
    >>> stretch([1, 2, 3], {"constant": 0, "linear": 10, "square": 1, "cube": 0})
    [11, 24, 39]
    """
    return [f["constant"] + f["linear"] * x + f["square"] * x**2 + f["cube"] * x**3 for x in labels]


def score_statements() -> pd.DataFrame:
    """Return both scores of the examples of Appendix B and §4.1 by every measure of Table 2, higher being better."""
    pairs = {}
    for name in ("monotonicity", "imbalance"):
        example = APPENDIX[name]
        n_classes = example.get("n_classes", 3)
        pairs[name] = [count_pairs(output, example["gold"], n_classes) for output in example["outputs"]]
    for name in ("invariance", "example"):
        example = APPENDIX[name]
        gold, output = example["gold"], example["output"]
        after = stretch(output, example["f"]), stretch(gold, example["f"])
        n_classes = max(*after[0], *after[1])  # the same scale for both, so that its length has no effect
        pairs[name] = [count_pairs(output, gold, n_classes), count_pairs(*after, n_classes)]
    scored = {
        (name, which): [_score(measure, counts) for measure in MEASURES.values()]
        for name, both in pairs.items()
        for which, counts in zip(("first", "second"), both, strict=True)
    }
    return pd.DataFrame(scored, index=pd.Index(list(MEASURES), name="measure"))


def _score(name: str, counts: np.ndarray) -> float:
    measure = metaeval.measure(name)
    return float(measure.sign * measure.evaluate(counts)[0])


def find_relations(scores: pd.DataFrame, example: str) -> pd.Series[str]:
    """Return "=", ">" or "<" between the two scores of an example, for every measure."""
    gap = scores[example, "first"] - scores[example, "second"]
    return gap.map(lambda one: "=" if abs(one) < 1e-9 else ">" if one > 0 else "<")


def compare_statements(scores: pd.DataFrame) -> list[Cell]:
    """Return whether what Appendix B says of the scores of two examples is so: 1 for yes."""
    cells = []
    for name, wanted in (("monotonicity", "scores are equal"), ("invariance", "scores differ")):
        relations = find_relations(scores, name)
        for row in APPENDIX[name]["rows"]:
            met = (relations[row] == "=") == (wanted == "scores are equal")
            cells.append(cell(f"Appendix B, {name}", row, wanted, 1.0, float(met), data="print"))
    return cells


def tabulate_statements(scores: pd.DataFrame, signature: str) -> metaeval.Table:
    """Return both scores of every example and how they relate; bold where the paper says something else of a measure."""
    examples = {
        "monotonicity": ("(1,2,3)", "(2,3,4)"),
        "invariance": ("(1,2,3)", "f = 10 + x³"),
        "example": ("(1,2,2)", "f = 10x + x²"),
        "imbalance": ("(1,2,2,3)", "(1,1,2,2)"),
    }
    heads = dict(zip(examples, ("monotonicity", "invariance", "§4.1", "imbalance"), strict=True))
    columns = {}
    for name, (first, second) in examples.items():
        columns[heads[name], first] = scores[name, "first"]
        columns[heads[name], second] = scores[name, "second"]
        columns[heads[name], ""] = find_relations(scores, name)
    frame = pd.DataFrame(columns, index=scores.index)
    words = pd.DataFrame("", index=frame.index, columns=frame.columns)
    wrong = [
        ("imbalance", row)
        for row, marks in PRINTED["properties"].items()
        if marks[2] != (frame.loc[row, ("imbalance", "")] == ">")
    ]
    wrong += [(one.item.rpartition(", ")[2], one.row) for one in compare_statements(scores) if not one.reproduced]
    wrong += [
        ("§4.1", row)
        for row, marks in PRINTED["properties"].items()
        if marks[0] and frame.loc[row, ("§4.1", "")] != "="
    ]
    for head, row in wrong:
        words.loc[row, (head, "")] = "bold"
    caption = (
        "The examples of Appendix B and §4.1 by all measures of Table 2, higher being better: a monotonic measure has <, an "
        "invariant one =, one that satisfies imbalance >. Bold: not what Appendix B or Table 2 says of the measure."
    )
    return metaeval.Table(frame, caption, signature, marks=lambda _: words)
