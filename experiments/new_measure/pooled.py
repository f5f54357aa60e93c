"""All collections side by side: consistency, each new measure beside its parent, and who contradicts whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

import metaeval
from experiments.tables import sign_alike
from metaeval.analyses.study import Study


def tabulate_consistency(studies: Sequence[Study]) -> metaeval.Table:
    """Show the mean τ of every measure on every collection, over halves and over sets of 10 topics.

    Parameters
    ----------
    studies : sequence of Study

    Returns
    -------
    Table
    """
    columns = {}
    for one in studies:
        for name, result in (
            ("halves", one.consistency),
            (f"{one.small_consistency.sizes[0]} vs. {one.small_consistency.sizes[1]}", one.small_consistency),
        ):
            columns[one.name, name] = pd.Series(result.means, index=[str(m) for m in result.measures])
    frame = pd.DataFrame(columns).rename_axis("measure")
    caption = "Split-half consistency: mean τ between the rankings of runs on two sets of topics; the best in bold."
    signature = f"{studies[0].consistency.signature}; and 10 vs. 10; the same for {_data(studies[1:])}"
    return metaeval.Table(frame, caption, signature, marks=lambda f: (f == f.max()).replace({True: "bold", False: ""}))


def compare_with_parent(studies: Sequence[Study], new: Sequence[str], parent: str) -> pd.DataFrame:
    """Compare each new measure with the one that it is a variant of, collection by collection.

    Parameters
    ----------
    studies : sequence of Study
    new : sequence of str
    parent : str

    Returns
    -------
    DataFrame
        Indexed by measure and collection. ``tau``: ranking similarity with the parent. ``a``, ``b``, ``c``:
        run pairs significant with the new measure only, with both, with the parent only; ``sso`` in percent.
        ``contradictions`` with the parent. ``halves`` and ``small``: mean τ of the new measure minus that of
        the parent; ``halves verdict`` and ``small verdict``: better, worse or same, by the randomised Tukey
        HSD test over splits.
    """
    rows = {}
    for name in new:
        for one in studies:
            names = [str(m) for m in one.scores.measures]
            n, p = names.index(name), names.index(parent)
            both = int(one.overlap.both[n, p])
            mine, theirs = int(one.overlap.both[n, n]) - both, int(one.overlap.both[p, p]) - both
            union = mine + both + theirs
            verdicts = one.contradictions.verdicts
            rows[name, one.name] = {
                "tau": float(one.similarity.tau[n, p]),
                "a": mine,
                "b": both,
                "c": theirs,
                "sso": 100 * both / union if union else np.nan,
                "contradictions": int((verdicts[n] * verdicts[p] == -1).sum()),
                **_consistency("halves", one.consistency, n, p),
                **_consistency("small", one.small_consistency, n, p),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["measure", "collection"])


def _consistency(name: str, result: metaeval.SplitHalfConsistency, n: int, p: int) -> dict[str, object]:
    gain = float(result.means[n] - result.means[p])
    verdict = "same" if not result.significant[n, p] else "better" if gain > 0 else "worse"
    return {name: gain, f"{name} verdict": verdict}


def tabulate_beside(studies: Sequence[Study], new: Sequence[str], parent: str) -> metaeval.Table:
    """Show `compare_with_parent`.

    Parameters
    ----------
    studies : sequence of Study
    new : sequence of str
    parent : str

    Returns
    -------
    Table
    """
    frame = compare_with_parent(studies, new, parent)
    size = studies[0].small_consistency.sizes[0]
    head = {
        "tau": f"τ with {parent}",
        "a": "new only",
        "b": "both",
        "c": f"{parent} only",
        "sso": "SSO %",
        "halves": "gain halves",
        "halves verdict": "halves",
        "small": f"gain {size} vs. {size}",
        "small verdict": f"{size} vs. {size}",
    }
    caption = (
        f"Each new measure beside {parent}: ranking similarity; run pairs significant with the new measure only, with "
        f"both, with {parent} only, and their overlap; contradictions; gain in mean τ of split-half consistency over "
        f"{parent}, and whether that difference is significant."
    )
    signature = f"{studies[0].power.signature}; the same for {_data(studies[1:])}"
    return metaeval.Table(frame.rename(columns=head), caption, signature, digits={"SSO %": 1})


def list_contradictions(contradictions: Sequence[metaeval.SignificanceContradictions]) -> pd.DataFrame:
    """List every contradiction, and who says what (LQ 2021, Table 6).

    Parameters
    ----------
    contradictions : sequence of SignificanceContradictions
        One a collection.

    Returns
    -------
    DataFrame
        Columns collection, run_1, run_2, for_run_1, for_run_2: the measures according to which run 1
        outperforms run 2 significantly, and the reverse.
    """
    rows = []
    for one in contradictions:
        first, second = np.triu_indices(len(one.runs), 1)
        names = np.array([str(m) for m in one.measures], dtype=object)
        for pair in np.flatnonzero((one.verdicts == 1).any(axis=0) & (one.verdicts == -1).any(axis=0)):
            said = one.verdicts[:, pair]
            rows.append(
                {
                    "collection": one.collection,
                    "run_1": one.runs[first[pair]],
                    "run_2": one.runs[second[pair]],
                    "for_run_1": ", ".join(names[said == 1]),
                    "for_run_2": ", ".join(names[said == -1]),
                }
            )
    return pd.DataFrame(rows, columns=["collection", "run_1", "run_2", "for_run_1", "for_run_2"])


def tabulate_contradictions(contradictions: Sequence[metaeval.SignificanceContradictions]) -> metaeval.Table:
    """Show `list_contradictions`.

    Parameters
    ----------
    contradictions : sequence of SignificanceContradictions

    Returns
    -------
    Table
    """
    caption = (
        "All contradictions: run pairs of which some measures say that run 1 is significantly better, and others that "
        "run 2 is. Measures named on neither side find no significant difference."
    )
    first, *others = contradictions
    frame = list_contradictions(contradictions).set_index("collection")
    signature = sign_alike(first.signature, [one.signature.data[0] for one in others], "; ")
    return metaeval.Table(frame, caption, signature)


def _data(studies: Sequence[Study]) -> str:
    return "; ".join(one.scores.collection + "@" + one.scores.sha256[:12] for one in studies)
