"""The real half of Table 3 and the robustness of §5.4: the paper's collections where they are there, others in kind."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.old.classifiers import is_kept
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings, read_toml
from metaeval.data.parts import join_topics
from metaeval.datasets import dataset
from metaeval.errors import PolicyWarning, UndefinedValueWarning

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")
ROWS = list(STUDY["measures"])
BESIDE: dict[str, str] = STUDY["beside"]
"""Rows that print does not have: the same measure with another value for constant runs."""

MEASURES = list(STUDY["measures"].values())
SHOWN = [STUDY["shown"].get(row, row) for row in [*ROWS, *BESIDE]]
KIND = STUDY["in_kind"]
BY_ITEM = ("judgements", "polarity")
"""Readers that deal items to parts themselves."""


def compute_real(settings: Settings) -> tuple[list[Outcome], pd.DataFrame | None]:
    """Return the paper's own collections and those in kind, and differences of coverage on LLMJudge with its topics."""
    original = _compute_original(settings)
    in_kind, gaps = _compute_in_kind(settings)
    return [original, in_kind], gaps


def _compute_original(settings: Settings) -> Outcome:
    scored: dict[str, metaeval.Scores] = {}
    missing = []
    for column, name in STUDY["collections"].items():
        try:
            scored[column] = _score_collection(settings, name, parts=None if name == "replab2013" else KIND["parts"])
        except metaeval.MetaevalError:
            missing.append(name)
    outcome = Outcome("amigo2020", "original", cells=_compare(scored))
    if scored:
        outcome.tables["table3"] = _tabulate_coverages(scored)
    if missing:
        outcome.notes = [f"not public, to be put in place by hand: {', '.join(missing)}"]
        outcome.lacks = missing if scored else []
    return outcome


def cover(scores: metaeval.Scores) -> np.ndarray:
    """Return the coverage of every measure, shape (measure,)."""
    return metaeval.coverage(scores, reference=STUDY["reference"], n_bootstrap=0).rows["coverage"].to_numpy()


def robust(scores: metaeval.Scores) -> np.ndarray:
    """Return the mean robustness of every measure, shape (measure,)."""
    return metaeval.robustness(scores).to_frame()["mean"].to_numpy()


def _compare(found: Mapping[str, metaeval.Scores]) -> list[Cell]:
    """Compare with the right half of Table 3; the paper's random parts are not known, so that nothing is exact."""
    cells = []
    for c, (column, name) in enumerate(STUDY["collections"].items()):
        got = cover(found[column]) if column in found else None
        for r, row in enumerate(ROWS):
            value = None if got is None else float(got[r])
            cells.append(
                cell("Table 3", row, column, PRINTED["real"][row][c], value, data=name, digits=2, relation="in kind")
            )
    return cells


def _compute_in_kind(settings: Settings) -> tuple[Outcome, pd.DataFrame | None]:
    outcome = Outcome("amigo2020", "in_kind", tolerance=KIND["tolerance"])
    scored: dict[str, metaeval.Scores] = {}
    wanted = [(name, name, None) for name in KIND["topics"]]
    wanted += [(f"{name} in {KIND['parts']} parts", name, KIND["parts"]) for name in KIND["pooled"]]
    missing = []
    for label, name, parts in wanted:
        if not settings.full and name.startswith("ordinal-") and (settings.quick or not is_kept(name)):
            missing.append(f"{name} (its classifiers are trained with --full)")
            continue
        settings.say(f"coverage in kind: {label}")
        try:
            scored[label] = _score_collection(settings, name, parts=parts)
        except metaeval.MetaevalError as error:
            missing.append(f"{label} ({error})")
    if missing:  # means over collections are other ones
        outcome.reduced = f"{len(scored)} of {len(wanted)} collections"
        outcome.notes.append(f"without {missing[0]}{' and others' * (len(missing) > 1)}")
    if not scored:
        return outcome, None
    outcome.tables["coverage"] = _tabulate_coverages(scored)
    outcome.tables["robustness"] = _tabulate_robustness(scored)
    first, scores = next(iter(scored.items()))
    whole = metaeval.coverage(scores, reference=STUDY["reference"], seed=settings.seed)
    outcome.tables[f"coverage_{first}"] = whole.to_table()
    outcome.figures[f"coverage_{first}"] = whole.plot
    outcome.figures[f"robustness_{first}"] = metaeval.robustness(scores).plot
    outcome.notes.append(
        "computed from other collections than the paper's: LLMJudge with its topics and in random parts, and "
        "classifiers on the ordinal sets, whose topics are random groups of items"
    )
    outcome.notes.append(describe_constant(outcome.tables["coverage"].frame))
    return outcome, whole.differences if first == KIND["topics"][0] else None


def _score_collection(settings: Settings, name: str, *, parts: int | None) -> metaeval.Scores:
    with warnings.catch_warnings():
        # Documented values of constant runs, and the three labels of LLMJudge outside its scale, are expected here.
        warnings.simplefilter("ignore", UndefinedValueWarning)
        warnings.simplefilter("ignore", PolicyWarning)
        chosen = dataset(name)
        if parts is None:
            runs = settings.load(name)
        elif chosen.reader in BY_ITEM:
            dealt = replace(chosen, options={**chosen.options, "parts": parts, "seed": settings.seed})
            runs = metaeval.load_dataset(dealt, folder=settings.data)
        else:
            runs = join_topics(settings.load(name), parts, seed=settings.seed)
        return metaeval.score(runs, [*MEASURES, *BESIDE.values()])


def _tabulate_coverages(found: Mapping[str, metaeval.Scores]) -> metaeval.Table:
    columns = {label: cover(scores) for label, scores in found.items()}
    frame = pd.DataFrame(columns, index=pd.Index(SHOWN, name="measure"))
    words = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for column in frame:
        words.loc[frame[column] >= frame[column].max() - 1e-9, column] = "bold"
    caption = f"Coverage with respect to {', '.join(STUDY['reference'])}, as in Table 3, right; the best in bold."
    return metaeval.Table(frame, caption, _sign("coverage", found), digits=2, marks=lambda _: words)


def _tabulate_robustness(found: Mapping[str, metaeval.Scores]) -> metaeval.Table:
    columns = {label: robust(scores) for label, scores in found.items()}
    frame = pd.DataFrame(columns, index=pd.Index(SHOWN, name="measure"))
    frame["mean"] = frame.mean(axis=1)
    frame["printed"] = [PRINTED["robustness"].get(row) for row in [*ROWS, *BESIDE]]
    caption = (
        "Robustness (§5.4): Spearman's ρ between the rankings of runs on two topics or parts, averaged over pairs; "
        "printed: the values that the text gives for its own six collections."
    )
    return metaeval.Table(frame, caption, _sign("robustness", found), digits=2)


def describe_constant(frame: pd.DataFrame) -> str:
    """Say what Spearman's value for constant runs does to its coverage, from the table of coverages."""
    one, zero = (frame.loc[row].to_numpy(dtype=float) for row in (STUDY["shown"]["Spearman"], next(iter(BESIDE))))
    gap = zero - one
    return (
        "Spearman counts 1 for a run that always returns one class, as in the synthetic half, which is an artefact of that "
        f"reading; the row beside it counts 0. With 0 its coverage is higher in {int((gap > 1e-9).sum())}, the same in "
        f"{int((np.abs(gap) <= 1e-9).sum())} and lower in {int((gap < -1e-9).sum())} of {len(gap)} collections, by up to "
        f"{np.abs(gap).max():.2f}"
    )


def _sign(analysis: str, found: Mapping[str, metaeval.Scores]) -> str:
    signed = metaeval.sign(analysis, list(found.values()))
    return str(signed)
