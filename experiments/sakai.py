"""What both papers of Sakai's share: their collections, from a folder of matrices or public ones, and tables of studies."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.claims import NotComputed
from experiments.page import Folder
from experiments.paper import Settings
from metaeval.analyses.study import Study
from metaeval.errors import DatasetError, MetaevalError
from metaeval.io import read_scores
from metaeval.show.drawing import sign_figure
from metaeval.show.looks import choose_looks
from metaeval.show.style import house_style

CONSTANT = "always-"
"""What names of runs that always answer one class hold."""

ALLOWED = 4 * 2**0.5
"""Standard errors by which two independent sets of trials, the paper's and ours, may differ: four of the difference."""


class Source(NamedTuple):
    """Scores of the paper's own collection (given, or a part of it) or of another one, with its entry in paper.toml."""

    label: str
    data: str
    scores: metaeval.Scores
    runs: Any
    relation: str
    about: Mapping[str, Any]


def find_sources(
    study: Mapping[str, Any], measures: Mapping[str, Sequence[str]], settings: Settings, left: dict[str, str]
) -> Iterator[Source]:
    """Yield the collections of ``--matrices FOLDER``, or else the public ones that can be loaded."""
    if settings.matrices is not None:
        yield from _read_matrices(study["collections"], measures, settings.matrices)
        return
    for name, about in study["public"].items():
        try:
            data = settings.load(name)
        except DatasetError as error:
            left[name] = str(error)
            continue
        chosen = measures[about.get("kind", "")]
        scores = data.sel(measures=chosen) if isinstance(data, metaeval.Scores) else metaeval.score(data, chosen)
        part = about.get("part", "")
        yield Source(part or name, name, scores, data, "part" if part else "other", about)


def _read_matrices(
    collections: Mapping[str, Mapping[str, Any]], measures: Mapping[str, Sequence[str]], folder: Path
) -> Iterator[Source]:
    """Yield the collections that a folder has, each in a folder of its own: runs, and a file a measure."""
    base = folder / "acl2021" if (folder / "acl2021").is_dir() else folder
    found = {name: base / about["folder"] for name, about in collections.items() if (base / about["folder"]).is_dir()}
    if not found:
        folders = ", ".join(str(about["folder"]) for about in collections.values())
        raise MetaevalError(f"{base} has none of the folders {folders} (docs/how-to/reproduce.md shows the layout)")
    for name, path in found.items():
        about = collections[name]
        chosen = measures[about.get("kind", "")]
        if lacking := [measure for measure in ("runs", *chosen) if not (path / measure).is_file()]:
            raise MetaevalError(
                f"{path} lacks {', '.join(lacking)}: a folder has a file called runs, and one for each of {', '.join(chosen)}"
            )
        scores = read_scores(path, format="sakai", collection=name).sel(measures=list(chosen))
        yield Source(name, str(path), scores, None, "given", about)


def say_reason(study: Mapping[str, Any], sources: Iterable[Source]) -> dict[str, str]:
    """Return of each collection of the paper why it is not computed; nothing of those that are."""
    here = {source.label: source.relation for source in sources if source.relation != "other"}
    reason = "not in your folder" if "given" in here.values() else "its score matrices are not public"
    return {name: reason for name in study["collections"] if name not in here}


def describe_given(tables: Folder) -> dict[str, Any]:
    """Return what a page names of matrices that were given: which collections, and those whose size is not the paper's."""
    frame = tables.read("collections") if "collections" in tables.tables else pd.DataFrame({"relation": []})
    own = list(frame[frame["relation"] == "given"].get("collection", []))
    sizes = tables.comparison[tables.comparison["column"].isin(["topics", "runs"])] if own else pd.DataFrame()
    others = list(dict.fromkeys(sizes[sizes["verdict"] == "differs"]["row"])) if own else []
    return {"given": bool(own), "own": own, "others": others}


def pair_up(rows: Mapping[str, Sequence[Any]], order: Sequence[str]) -> dict[tuple[str, str], Any]:
    """Return printed rows of an upper triangle by pair of measures.

    Examples
    --------
    >>> pair_up({"a": ["0.5", "0.2"], "b": ["0.1"]}, ["a", "b", "c"])
    {('a', 'b'): '0.5', ('a', 'c'): '0.2', ('b', 'c'): '0.1'}
    """
    return {
        (first, second): value
        for i, first in enumerate(order[:-1])
        for second, value in zip(order[i + 1 :], rows[first], strict=True)
    }


def tabulate_collections(sources: Sequence[Source]) -> pd.DataFrame:
    """Return what was computed: the paper's own collections, a part of them, or others."""
    rows = [
        (one.label, one.relation, one.data, len(one.scores.topics), len(one.scores.runs),
         sum(CONSTANT in run for run in one.scores.runs))
        for one in sources
    ]  # fmt: skip
    columns = ["collection", "relation", "data", "topics", "runs", "constant runs"]
    return pd.DataFrame(rows, columns=columns).set_index("collection")


def compare_sizes(
    item: str, printed: Mapping[str, Sequence[str]], sources: Sequence[Source]
) -> Iterator[dict[str, Any]]:
    """Yield the numbers of topics and runs for comparison: where, what is printed, and ours."""
    by_name = {one.label: one for one in sources if one.relation != "other"}
    for name, (_, topics, runs) in printed.items():
        own = by_name.get(name)
        for column, text, labels in (
            ("topics", topics, own and own.scores.topics), ("runs", runs, own and own.scores.runs),
        ):  # fmt: skip
            yield {
                "item": item,
                "row": name,
                "column": column,
                "printed": text,
                "ours": labels and len(labels),
                "name": name,
            }


def tabulate_consistency(studies: Mapping[str, Study]) -> pd.DataFrame:
    """Return the mean τ of every measure over both kinds of splits, and the measures that it significantly outperforms."""
    rows = []
    for name, study in studies.items():
        for split, result in (("full", study.consistency), ("ten", study.small_consistency)):
            if result is None:
                continue
            names = [str(measure) for measure in result.measures]
            ahead = result.significant & (result.means[:, None] > result.means)
            # Two means of as many splits each, theirs and ours: four standard errors of their difference.
            error = 4 * float(np.sqrt(2 * result.tau.var(axis=0).max() / len(result.tau)))
            rows += [
                (name, split, measure, mean, int(mark), " ".join(np.array(names)[row]), result.residual_variance,
                 len(result.tau), error)
                for measure, mean, mark, row in zip(names, result.means, result.outperforms, ahead, strict=True)
            ]  # fmt: skip
    columns = ["collection", "split", "measure", "mean τ", "outperforms", "ahead of", "V_E2", "splits", "error"]
    return pd.DataFrame(rows, columns=columns).set_index("collection")


def tabulate_power(studies: Mapping[str, Study]) -> pd.DataFrame:
    """Return the significant pairs of runs of every measure, and the measures of which it clearly finds more."""
    rows = []
    for name, study in studies.items():
        frame = study.power.differences
        for row in study.power.summary().itertuples():
            mine = frame[
                (frame["finds_more"] == row.measure) & frame[["measure_1", "measure_2"]].eq(row.measure).any(axis=1)
            ]
            fewer = [pair.measure_2 if pair.measure_1 == row.measure else pair.measure_1 for pair in mine.itertuples()]
            rows.append((name, row.measure, row.significant, row.pairs, 100 * row.power, row.mc_se, " ".join(fewer)))
    columns = ["collection", "measure", "S_D", "T_D", "percent", "mc_se", "finds more than"]
    return pd.DataFrame(rows, columns=columns).set_index("collection")


def tabulate_curves(studies: Mapping[str, Study]) -> pd.DataFrame:
    """Return the p-values of all pairs of runs, sorted, a column a measure: the curves of discriminative power."""
    frames = []
    for name, study in studies.items():
        sorted_p = np.sort(study.power.p_values, axis=1)[:, ::-1]
        frame = pd.DataFrame(sorted_p.T, columns=[str(measure) for measure in study.power.measures])
        frames.append(frame.assign(collection=name, pair=np.arange(1, len(frame) + 1)))
    return pd.concat(frames, ignore_index=True).set_index(["collection", "pair"])


def draw_curves(tables: Folder, collections: Sequence[str], alpha: float) -> Figure:
    """Draw curves of discriminative power side by side: pairs of runs by falling p-value."""
    frame = tables.read("curves")
    shown = [name for name in collections if name in set(frame["collection"])]
    if not shown:
        raise NotComputed(f"none of {', '.join(collections)} was computed")
    with house_style():
        figure = Figure(figsize=(3.6 * len(shown), 3.2), layout="constrained")
        for axes, name in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
            own = frame[frame["collection"] == name].dropna(axis=1, how="all")
            measures = [column for column in own if column not in ("collection", "pair")]
            for measure, look in choose_looks(measures).items():
                axes.plot(
                    own["pair"],
                    own[measure],
                    label=metaeval.measure(measure).title,
                    markevery=0.15,
                    markersize=4,
                    **look,
                )
            axes.axhline(alpha, linewidth=0.8, color="grey")
            axes.set(title=name, xlabel="pair of runs, by falling p", ylabel="p-value", ylim=(0, 0.15))
            axes.legend(fontsize=6)
        return sign_figure(figure, tables.tables["curves"]["signature"])


def split_words(text: object) -> set[str]:
    """Return the names that a cell of a table lists."""
    return set(text.split()) if isinstance(text, str) else set()


def list_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return every two measures."""
    return list(itertools.combinations(names, 2))
