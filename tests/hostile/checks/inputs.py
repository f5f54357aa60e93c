"""Items 3 and 7: what readers drop, and frames whose cells are no numbers."""

from __future__ import annotations

import datetime

import pandas as pd


def _polarity(case, label, layout):
    import metaeval as me

    if layout == "semeval":
        gold, run = f"NA\tT1\tpositive\nNA\tT2\t{label}\n", "NA\tT1\tpositive\nNA\tT2\tneutral\n"
    else:
        head = "entity_id\ttweet_id\tpolarity\n"
        gold, run = f"{head}E\tT1\tPOSITIVE\nE\tT2\t{label}\n", f"{head}E\tT1\tPOSITIVE\nE\tT2\tNEUTRAL\n"
    (case.folder / "gold.txt").write_text(gold)
    (case.folder / "run.txt").write_text(run)
    found, said = case.call(me.io.read_runs, case.folder / "gold.txt", case.folder / "run.txt", format="polarity")
    if found is not None and found.counts.sum() < 2 and not said:
        return f"a gold item with the label {label!r} is dropped without a word"
    return None


def polarity_drops(case):
    """Gold items without a polarity are refused, or said to be left out."""
    found = [_polarity(case, label, layout) for label in ("", "NULL", "null") for layout in ("semeval", "replab")]
    return next((one for one in found if one), None)


def _frame(case, scores, runs=("a", "b", "c")):
    import metaeval as me

    frame = pd.DataFrame(
        {
            "run": pd.Series(runs, dtype=object),
            "topic": ["t"] * len(runs),
            "measure": ["AP"] * len(runs),
            "score": scores,
        }
    )
    return case.call(me.Scores.from_frame, frame)[0]


def dates_are_no_scores(case):
    """Dates and durations are refused."""
    kinds = {
        "datetime64": pd.date_range("2020-01-01", periods=3),
        "timedelta64": pd.to_timedelta([1, 2, 3], unit="s"),
        "datetime among floats": pd.Series([0.1, datetime.datetime(2020, 1, 1), 0.2], dtype=object),
    }
    wrong = [name for name, scores in kinds.items() if _frame(case, scores) is not None]
    return f"scores of {', '.join(wrong)} are taken" if wrong else None


def complex_are_no_scores(case):
    """Complex numbers are refused, also among others."""
    kinds = {"complex": pd.Series([1j, 1, 2]), "complex among floats": pd.Series([0.1, 1 + 2j, 0.2], dtype=object)}
    wrong = [name for name, scores in kinds.items() if _frame(case, scores) is not None]
    return f"scores that are {', '.join(wrong)} are taken" if wrong else None


def labels_are_not_merged(case):
    """1, 1.0 and True are refused, or three runs."""
    import metaeval as me

    for labels in ([1, 1.0, True], [1, "1", 2], [0, False, "x"]):
        found = _frame(case, [0.1, 0.2, 0.3], labels)
        if found is not None and len(found.runs) < 3:
            return f"the labels {labels} become {found.runs}"
    frame = pd.DataFrame(
        {"run": pd.Series([1, True], dtype=object), "topic": ["t", "u"], "measure": "AP", "score": [1.0, 2.0]}
    )
    found, _ = case.call(me.Scores.from_frame, frame, missing="worst")
    return f"the labels 1 and True become {found.runs}" if found is not None and len(found.runs) < 2 else None


CHECKS = {
    "3 polarity drops gold items in silence": polarity_drops,
    "7 from_frame takes dates": dates_are_no_scores,
    "7 from_frame takes complex numbers": complex_are_no_scores,
    "7 from_frame merges labels": labels_are_not_merged,
}
