"""The real half of Table 3 and the robustness of §5.4: the paper's collections where they are there, others in kind."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.study import Outcome, Settings, read_toml
from metaeval.data.parts import join_topics
from metaeval.datasets import dataset
from metaeval.errors import PolicyWarning, UndefinedValueWarning

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")
ROWS = list(STUDY["measures"])
MEASURES = list(STUDY["measures"].values())
KIND = STUDY["in_kind"]
BY_ITEM = ("judgements", "polarity")
"""Readers that deal items to parts themselves."""


def study(settings: Settings) -> list[Outcome]:
    """Compute coverage and robustness on whatever collections can be had.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
        The paper's own collections, of which none can be downloaded, and the ones that stand in for them.
    """
    return [_original(settings), _in_kind(settings)]


def _original(settings: Settings) -> Outcome:
    found: dict[str, metaeval.Scores] = {}
    missing = []
    for column, name in STUDY["collections"].items():
        try:
            found[column] = _scored(settings, name, parts=None if name == "replab2013" else KIND["parts"])
        except metaeval.MetaevalError:
            missing.append(name)
    outcome = Outcome("amigo2020", "original", cells=_cells(found))
    if found:
        outcome.tables["table3"] = _coverages(found)
    if missing:
        outcome.notes = [f"not public, to be put in place by hand: {', '.join(missing)}"]
    return outcome


def _cells(found: Mapping[str, metaeval.Scores]) -> list[Cell]:
    """Compare with the right half of Table 3; the paper's random parts are not known, so that nothing is exact."""
    cells = []
    for c, (column, name) in enumerate(STUDY["collections"].items()):
        got = None
        if column in found:
            got = metaeval.coverage(found[column], reference=STUDY["reference"], n_bootstrap=0).coverage
        for r, row in enumerate(ROWS):
            value = None if got is None else float(got[r])
            cells.append(
                cell("Table 3", row, column, PRINTED["real"][row][c], value, data=name, digits=2, same_data=False)
            )
    return cells


def _in_kind(settings: Settings) -> Outcome:
    outcome = Outcome("amigo2020", "in_kind-quick" if settings.quick else "in_kind", tolerance=0.05)
    found: dict[str, metaeval.Scores] = {}
    wanted = [(name, name, None) for name in KIND["topics"]]
    wanted += [(f"{name} in {KIND['parts']} parts", name, KIND["parts"]) for name in KIND["pooled"]]
    for label, name, parts in wanted[:2] if settings.quick else wanted:
        settings.say(f"coverage in kind: {label}")
        try:
            found[label] = _scored(settings, name, parts=parts)
        except metaeval.MetaevalError as error:
            outcome.notes.append(f"{label} could not be had ({error})")
    if not found:
        return outcome
    if outcome.notes:
        outcome.source += "-partial"  # fewer collections never replace what more of them gave
    outcome.tables["coverage"] = _coverages(found)
    outcome.tables["robustness"], lowest = _robustness(found)
    outcome.notes += lowest
    first, scores = next(iter(found.items()))
    whole = metaeval.coverage(scores, reference=STUDY["reference"], seed=settings.seed)
    sweep = metaeval.coverage_sweep(scores, candidates=KIND["sweep"])
    outcome.tables[f"coverage_{first}"] = whole.to_table()
    outcome.figures[f"coverage_{first}"] = whole.plot()
    outcome.tables[f"sweep_{first}"] = sweep.to_table()
    outcome.figures[f"sweep_{first}"] = sweep.plot()
    outcome.figures[f"robustness_{first}"] = metaeval.robustness(scores).plot()
    outcome.notes.append(
        "computed from other collections than the paper's: LLMJudge with its topics and in random parts, and "
        "classifiers on the ordinal sets, whose topics are random groups of items"
    )
    outcome.notes.append(
        "Spearman counts 1 for a run that always returns one class, as in the synthetic half; where such runs take "
        "part, its coverage collapses, as the printed one does on RepLab 2013 (0.07)"
    )
    return outcome


def _scored(settings: Settings, name: str, *, parts: int | None) -> metaeval.Scores:
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
        return metaeval.score(runs, MEASURES)


def _coverages(found: Mapping[str, metaeval.Scores]) -> metaeval.Table:
    columns = {
        label: metaeval.coverage(scores, reference=STUDY["reference"], n_bootstrap=0).coverage
        for label, scores in found.items()
    }
    frame = pd.DataFrame(columns, index=pd.Index(ROWS, name="measure"))
    words = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for column in frame:
        words.loc[frame[column] >= frame[column].max() - 1e-9, column] = "bold"
    caption = (
        f"Coverage with respect to {', '.join(STUDY['reference'])}, as in the right half of Table 3; the best in bold."
    )
    return metaeval.Table(frame, caption, _signature("coverage", found), digits=2, marks=lambda _: words)


def _robustness(found: Mapping[str, metaeval.Scores]) -> tuple[metaeval.Table, list[str]]:
    columns = {label: metaeval.robustness(scores).to_frame()["mean"].to_numpy() for label, scores in found.items()}
    frame = pd.DataFrame(columns, index=pd.Index(ROWS, name="measure"))
    frame["mean"] = frame.mean(axis=1)
    frame["printed"] = [PRINTED["robustness"].get(row) for row in ROWS]
    caption = (
        "Robustness (§5.4): Spearman's ρ between the rankings of runs on two topics or parts, averaged over pairs; "
        "printed: the values that the text gives for its own six collections."
    )
    mean = frame["mean"]
    note = f"most and least robust here: {mean.idxmax()} ({mean.max():.2f}) and {mean.idxmin()} ({mean.min():.2f})"
    log = f"CEM_ORD {mean['CEM_ORD']:.2f}, without logarithm {mean['CEM_ORD flat']:.2f}"
    return metaeval.Table(frame, caption, _signature("robustness", found), digits=2), [note, log]


def _signature(analysis: str, found: Mapping[str, metaeval.Scores]) -> str:
    signed = metaeval.sign(analysis, list(found.values()))
    return str(signed)
