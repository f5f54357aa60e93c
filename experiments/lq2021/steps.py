"""The steps of the study: what each computes, in the order of the paper."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.study import Outcome, Settings, read_toml



HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Table 7 from the gold of STC-3; the gold of DialEval-1 is not public.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    found: dict[str, metaeval.BaselinePreference] = {}
    missing: dict[str, str] = {}
    for paper_name, dataset in STUDY["collections"].items():
        settings.say(f"Table 7: {paper_name}")
        try:
            runs = settings.load(dataset)
        except metaeval.MetaevalError as error:
            missing[paper_name] = str(error)
            continue
        scores = metaeval.score(runs, STUDY["measures"])
        found[paper_name] = metaeval.baseline_preference(scores, STUDY["popularity"], STUDY["uniform"])
    notes = [f"{', '.join(missing)} could not be had ({next(iter(missing.values()))})"] if missing else []
    return [table7(found, notes)]


def table7(found: dict[str, metaeval.BaselinePreference], notes: list[str]) -> Outcome:
    """Return Table 7: on how many topics does each measure prefer Uniform, and on how many Popularity?

    Parameters
    ----------
    found : dict of str to BaselinePreference
        By the paper's name of the collection; what is not in it could not be had.
    notes : list of str

    Returns
    -------
    Outcome
    """
    wins: dict[str, list[tuple[int, int]]] = {}
    for name, preference in found.items():
        frame = preference.to_frame()
        wins[name] = [(int(u), int(p)) for u, p in zip(frame[STUDY["uniform"]], frame[STUDY["popularity"]], strict=True)]
    columns = pd.MultiIndex.from_product([STUDY["measures"], ["uni", "pop"]])
    cells, rows = [], {}
    for name in STUDY["collections"]:
        got = wins.get(name)
        rows[name] = [None] * len(columns) if got is None else [number for pair in got for number in pair]
        cells += _compared(name, got, data=STUDY["collections"][name])
    complete = len(wins) == len(STUDY["collections"])
    total = [tuple(map(sum, zip(*column, strict=True))) for column in zip(*wins.values(), strict=True)]
    cells += _compared("TOTAL", total if complete else None, data="all six collections")
    if wins:
        label = "TOTAL" if complete else f"TOTAL of {len(wins)}"
        rows[label] = [number for pair in total for number in pair]
    frame = pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="collection"), columns=columns, dtype=object)
    outcome = Outcome("lq2021", "stc3" if not complete else "original", cells=cells, notes=notes)
    if wins:
        caption = (
            "Table 7. Topics on which each measure prefers the Uniform baseline (uni) and the Popularity baseline "
            "(pop); the larger number of the two in bold, ties counted for neither. A dash: the gold is not public."
        )
        signature = "; ".join(str(one.signature) for one in list(found.values())[:1])
        others = ", ".join(one.signature.data[0] for one in list(found.values())[1:])
        outcome.tables["table7"] = metaeval.Table(frame, caption, f"{signature}; the same for {others}" if others else signature, marks=_larger)
    return outcome


def _compared(row: str, got: list[tuple[int, int]] | None, data: str) -> list[Cell]:
    cells = []
    for m, measure in enumerate(STUDY["measures"]):
        for side, baseline in enumerate(("uni", "pop")):
            printed = PRINTED["table7"][row][m][side]
            reproduced = None if got is None else got[m][side]
            cells.append(cell("Table 7", row, f"{measure} {baseline}", printed, reproduced, data=data))
    return cells


def _larger(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark the larger number of each pair in bold, as the paper does."""
    words = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for measure in dict.fromkeys(frame.columns.get_level_values(0)):
        uni, pop = frame[(measure, "uni")], frame[(measure, "pop")]
        for row in frame.index:
            if uni[row] is not None and uni[row] != pop[row]:
                words.loc[row, (measure, "uni" if uni[row] > pop[row] else "pop")] = "bold"
    return words
