"""Scores, the labelled run × topic × measure array that everything here is about; and how runs are scored."""

from __future__ import annotations

import hashlib
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from metaeval.data.columns import CLUSTER
from metaeval.data.labels import Labelled, Repeats, check_shape, choose_measures, find_labels, refuse_first
from metaeval.data.policies import MissingPolicy, describe_total, hint_missing
from metaeval.data.rows import DoubledError, Rows, arrange, split_collections
from metaeval.data.runs import ClassificationRuns, Runs
from metaeval.errors import DataError, MeasureError, UndefinedValueWarning, format_count, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.measures.conformance import find_unlike_alone, list_faults, try_on_cells
from metaeval.measures.directions import Names, drop_contradicted, turn_measures
from metaeval.measures.registry import is_shipped, measures as registered, require_registered
from metaeval.measures.resolve import (
    Choose,
    MeasureLike,
    choose_of_several,
    list_measures,
    measure_of_label,
    resolve_measures,
)
from metaeval.stats.arrays import as_numbers, round_to_digits
from metaeval.stats.resampling import code_clusters, pool_clusters


@dataclass(frozen=True, eq=False)
class Scores(Labelled):
    """The scores of runs on topics according to measures, all of them finite.

    Parameters
    ----------
    values : array_like, shape (run, topic, measure)
    runs, topics : iterable of str
        Unique labels of the first two axes.
    measures : iterable of str, Measure or function
        What the last axis holds. A registered or usual name, such as nDCG@10 or TER, brings its direction. Of other names
        higher is assumed to be better, unless a `Measure` says otherwise: ``Measure("cost", higher_is_better=False)``.
    collection, provenance : str, optional
        Name of the collection, and where the data come from.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of these directions, whatever their names tell; of higher_is_better True is all others.
    clusters : iterable of str, optional
        The cluster of each topic, such as its document: topics of one cluster are drawn together.
    repeats : mapping of str to Repeats, optional
        Of which repeats the scores of a measure are means, by the measure's name.

    Examples
    --------
    >>> scores = Scores([[[0.1], [0.4]], [[0.2], [0.3]]], runs=["a", "b"], topics=["t1", "t2"], measures=["NMD"])
    >>> scores
    Scores: 2 runs × 2 topics × 1 measure
    >>> scores.means()
    measure   NMD
    run
    a        0.25
    b        0.25
    """

    values: np.ndarray
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[Measure, ...]
    collection: str = ""
    provenance: str = ""
    clusters: tuple[str, ...] = ()
    repeats: Mapping[str, Repeats] = field(default_factory=dict)

    _may_have_gaps: ClassVar[bool] = False

    def __init__(
        self,
        values: Any,
        *,
        runs: Iterable[object],
        topics: Iterable[object],
        measures: Iterable[MeasureLike] | MeasureLike,
        collection: str = "",
        provenance: str = "",
        higher_is_better: Names | bool = (),
        lower_is_better: Names = (),
        clusters: Iterable[object] = (),
        repeats: Mapping[str, Repeats] | None = None,
    ) -> None:
        known = tuple(measure_of_label(measure) for measure in list_measures(measures))
        array = as_numbers(values, "scores")
        names = [str(measure) for measure in known]
        expected = self._label(collection, provenance, runs=runs, topics=topics, measures=names)
        check_shape(array, expected, "scores", "run × topic × measure")
        axes = {"run": self.runs, "topic": self.topics, "measure": known}
        wrong = np.isinf(array) if self._may_have_gaps else ~np.isfinite(array)
        refuse_first(wrong, axes, lambda *place: f"the score is {array[place]}{describe_total(int(wrong.sum()))}")
        of_topics = tuple("" if label is None or label != label else str(label) for label in clusters)
        check_shape(np.array(of_topics), (expected[1] if of_topics else 0,), "clusters", "topic")
        blank = np.array([not cluster.strip() for cluster in of_topics], dtype=bool)
        refuse_first(blank, {"topic": self.topics}, "it is in no cluster", hint="give it a cluster of its own")
        (known,) = turn_measures([drop_contradicted(known, array)], higher_is_better, lower_is_better)
        self._set(values=array, measures=known, clusters=of_topics, repeats=dict(repeats or {}))

    def __repr__(self) -> str:
        sizes = zip(self.values.shape, ("run", "topic", "measure"), strict=True)
        shape = " × ".join(format_count(size, what) for size, what in sizes)
        return f"Scores: {shape}{', ' * bool(self.collection)}{self.collection}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        labels = ("runs", "topics", "measures", "collection", "clusters", "repeats")
        return self.named(*labels) == other.named(*labels) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """What signatures call these data: the start of a checksum of labels, directions and scores to about eight digits.

        Processors may round a computed score differently in its last bits; that does not change the fingerprint.
        """
        digest = hashlib.sha256()
        stated = tuple(f"{measure} {measure.higher_is_better}" for measure in self.measures)
        for labels in (self.runs, self.topics, stated, *([self.clusters] if self.clusters else [])):
            digest.update("\0".join((*labels, "\1")).encode("utf-8", "surrogatepass"))  # half a character too
        gaps = np.isnan(self.values)
        digest.update(round_to_digits(np.where(gaps, 0.0, self.values)).tobytes())
        if gaps.any():  # which scores are there
            digest = hashlib.sha256(digest.hexdigest()[:12].encode() + np.packbits(gaps).tobytes())
        return digest.hexdigest()[:12]

    def sel(
        self,
        *,
        runs: Iterable[object] | str | None = None,
        topics: Iterable[object] | str | None = None,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
    ) -> Scores:
        """Return the scores of some runs, topics or measures, in the order asked for; one that is not there is an error."""
        r = find_labels(runs, self.runs, "run")
        t = find_labels(topics, self.topics, "topic")
        names = [str(measure) for measure in self.measures]
        chosen = names if measures is None else choose_measures(measures, names)
        m = find_labels(chosen, names, "measure")
        return replace(
            self,
            values=self.values[np.ix_(r, t, m)],
            runs=tuple(self.runs[i] for i in r),
            topics=tuple(self.topics[i] for i in t),
            measures=tuple(self.measures[i] for i in m),
            clusters=tuple(self.clusters[i] for i in t) if self.clusters else (),
            repeats={name: self.repeats[name] for name in chosen if name in self.repeats},
        )

    def pool_clusters(self, *, sums: bool = False) -> Scores:
        """Return scores with one topic for each cluster, in alphabetical order: pseudo-values or `sums`; means of runs stay."""
        names, codes = code_clusters(self.clusters)
        if len(names) < 2:
            known = f"all topics are in the cluster {names[0]!r}" if names else "the topics have no clusters"
            raise DataError(f"{known}; at least two are needed to draw them", file=self.collection or None)
        return replace(self, values=pool_clusters(self.values, codes, sums=sums), topics=names, clusters=())

    def add_measures(self, other: Scores, *, first: bool = False, overwrite: bool = False) -> Scores:
        """Return these scores with those of further measures on the same runs and topics, in any order, as this collection.

        They come last, or `first`; those of the same name are an error, or with `overwrite` replaced where they stand.
        """
        name = f"the collection {self.collection or 'given'}"
        further = [str(measure) for measure in other.measures]
        for what, mine, theirs in (("run", self.runs, other.runs), ("topic", self.topics, other.topics)):
            if unlike := sorted(set(mine) ^ set(theirs)):
                both = f"the scores of {format_list(further)} and {name} do not have the same {what}s"
                raise DataError(f"{both}: only one of them has {format_list(unlike)}")
        known = sorted({*map(str, self.measures)} & {*further})
        if known and not overwrite:
            raise DataError(f"{name} has a measure {known[0]} already")
        aligned = other.sel(runs=self.runs, topics=self.topics)
        if self.clusters and aligned.clusters and self.clusters != aligned.clusters:
            raise DataError(f"the topics of {name} have two kinds of clusters")
        columns = {
            str(measure): (measure, part.values[..., position], part.repeats.get(str(measure)))
            for part in ((aligned, self) if first else (self, aligned))
            for position, measure in enumerate(part.measures)
        }
        measures, values, repeats = zip(*columns.values(), strict=True)
        return replace(
            self,
            values=np.stack(values, axis=-1),
            measures=measures,
            clusters=self.clusters or aligned.clusters,
            repeats={name: each for name, each in zip(columns, repeats, strict=True) if each is not None},
        )

    def matrix(self, measure: MeasureLike) -> pd.DataFrame:
        """Return the scores of one measure as a frame of runs (rows) × topics (columns)."""
        values = self.sel(measures=measure).values[:, :, 0]
        return pd.DataFrame(values, pd.Index(self.runs, name="run"), pd.Index(self.topics, name="topic"))

    def means(self) -> pd.DataFrame:
        """Return the mean score over topics, a frame of runs (rows) × measures (columns)."""
        names = pd.Index(map(str, self.measures), name="measure")
        return pd.DataFrame(self.values.mean(axis=1), pd.Index(self.runs, name="run"), names)

    def to_frame(self) -> pd.DataFrame:
        """Return the scores in tidy form, one row per score, with columns run, topic, measure, score, and cluster if known."""
        axes = [self.runs, self.topics, [str(measure) for measure in self.measures]]
        frame = pd.MultiIndex.from_product(axes, names=["run", "topic", "measure"]).to_frame(index=False)
        frame["score"] = self.values.ravel()
        if self.clusters:
            of_run = np.repeat(np.array(self.clusters, dtype=object), len(self.measures))
            frame[CLUSTER] = np.tile(of_run, len(self.runs))
        return frame


class PartialScores(Scores):
    """Scores of which some are missing: NaN. Only analyses of boards take them, which say what they do about gaps."""

    _may_have_gaps = True


def refuse_gaps(scores: Scores) -> None:
    """Refuse scores with gaps where all of them are needed."""
    if isinstance(scores, PartialScores):
        gaps = int(np.isnan(scores.values).sum())
        problem = f"{format_count(gaps, 'score')} {'is' if gaps == 1 else 'are'} missing"
        raise DataError(problem, file=scores.collection or None, hint=hint_missing())


def hold_scores(values: np.ndarray, **labels: Any) -> Scores:
    """Return the scores that were read, whether all of them are there or gaps were kept."""
    return (PartialScores if np.isnan(values).any() else Scores)(values, **labels)


def state_directions(
    collections: Sequence[Scores], higher_is_better: Names | bool = (), lower_is_better: Names = ()
) -> list[Scores]:
    """Return scores with directions stated of their measures, which win over what names and files tell."""
    turned = turn_measures([scores.measures for scores in collections], higher_is_better, lower_is_better)
    pairs = zip(collections, turned, strict=True)
    return [scores if scores.measures == known else replace(scores, measures=known) for scores, known in pairs]


def choose_measure(rows: Rows, *wanted: str | Measure) -> Rows:
    """Return the rows of some measures, by their labels or by their names as known measures."""
    codes, labels = rows.encode("measure")
    known = {name: label for label in reversed(labels) for name in (str(measure_of_label(label)), label)}
    names = dict.fromkeys(known.get(str(measure), str(measure)) for measure in wanted)
    return rows.keep(np.isin(codes, find_labels(names, labels, "measure")))


def read_collections(
    rows: Rows,
    *,
    measure: str | Measure | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    choose: Choose | None = None,
    **options: Any,
) -> list[Scores]:
    """Return the scores of every collection in rows, or of one; each has those chosen measures that it holds."""
    rows = rows if measure is None else choose_measure(rows, measure)
    if choose is not None:
        choose = choose_of_several(choose, [map(measure_of_label, rows.encode("measure")[1])])
    found: list[Scores] = []
    home: dict[str, str] = {}
    parts = list(split_collections(rows, collection))
    for label, part in parts:
        try:
            found.append(hold_scores(**arrange(part, missing=missing, collection=label, choose=choose, **options)))
        except DoubledError as error:
            raise error.changed(hint=rows.explain(error, missing) if rows.explain else None) from None
        except DataError as error:
            if len(parts) == 1 or error.line is not None or error.file != str(part.file):
                raise
            raise error.changed(file=f"{part.file}, collection {label}" if part.file else label) from None
        for cluster in sorted(set(found[-1].clusters)):
            if home.setdefault(cluster, label) != label:
                problem = f"the cluster {cluster!r} spans the collections {home[cluster]} and {label}"
                hint = f"join two columns, {format_option('clusters', 'COLLECTION+CLUSTER')}, or read one collection"
                raise DataError(problem, file=rows.file, hint=hint)
    return found


def only_collection(found: Sequence[Scores], file: object = None) -> Scores:
    """Return the scores of the only collection there is."""
    if len(found) > 1:
        names = sorted(scores.collection for scores in found)
        problem = f"it holds several collections: {format_list(names)}"
        hint = f"say which: {format_option('collection', shlex.quote(names[0]))}; a name of your own reads all as one"
        raise DataError(problem, file=file, hint=hint)
    return found[0]


def score(runs: Runs, measures: Iterable[MeasureLike] | MeasureLike | None = None) -> Scores:
    """Score every run on every topic with every measure; where a formula is 0/0, a warning says so.

    A measure that is not metaeval's own is first tried on some topics, in several batches, and some of its scores are
    computed again afterwards: one that depends on other topics, on chance or on earlier calls is refused.

    Parameters
    ----------
    runs : ClassificationRuns or QuantificationRuns
    measures : iterable, optional
        Names, ``"file.py:function"``, `Measure` values, decorated or plain functions (see `metaeval.measure`); by
        default every registered measure of the kind.

    Examples
    --------
    >>> runs = ClassificationRuns([[[[2, 0], [1, 1]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
    >>> score(runs, ["Accuracy", "MAE_mu"]).values.tolist()
    [[[0.75, 0.25]]]
    """
    chosen = registered(runs.kind) if measures is None else resolve_measures(measures)
    for measure in chosen:
        if measure.formula is None:
            require_registered(str(measure))  # says which names are near, if there is no such measure
        elif measure.kind != runs.kind:
            way = f"; {format_option('runs.to_quantification()')} gives their class distributions"
            own = "" if is_shipped(measure) else f"; a measure of class counts is written {measure}(counts)"
            way = f"{way}{own}" if runs.kind == "classification" else ""
            raise MeasureError(f"{measure} is a {measure.kind} measure, the runs are {runs.kind} runs{way}")
    # Counts are converted once for all measures.
    arrays = (runs.counts.astype(np.float64),) if isinstance(runs, ClassificationRuns) else (runs.estimated, runs.gold)
    used, values = list(chosen), np.empty((len(runs.runs), len(runs.topics), len(chosen)))
    undefined: dict[str, list[str]] = {}
    for position, measure in enumerate(chosen):
        if not is_shipped(measure):
            measure = used[position] = try_on_cells(measure, arrays)
        scores, where = _evaluate(measure, arrays, runs)
        values[..., position] = scores
        if where:
            undefined.setdefault(where, []).append(str(measure))
        if not is_shipped(measure) and (unlike := find_unlike_alone(measure, arrays, scores)):
            r, t, alone = unlike
            both = f"{scores[r, t]:.12g} with the others and {alone:.12g} alone"
            place = f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}"
            raise MeasureError(f"{place} scored {both}: a measure must score every topic by itself")
    for where, names in undefined.items():
        what = f"{format_list(names)} {'is' if len(names) == 1 else 'are'} undefined (0/0)"
        warnings.warn(f"{what} for {where}", UndefinedValueWarning, stacklevel=2)
    return Scores(values, measures=used, **runs.named("runs", "topics", "collection", "provenance"))


def _evaluate(measure: Measure, arrays: tuple[np.ndarray, ...], runs: Runs) -> tuple[np.ndarray, str]:
    """Return the scores (run, topic), and where they are undefined; refuse those that the measure must not return."""
    scores, undefined = measure.evaluate(*arrays)
    for wrong, why in list_faults(measure, scores):
        for r, t in np.argwhere(wrong)[:1]:
            place = f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}"
            raise MeasureError(f"{place}: the score is {scores[r, t]:g}, {why}{describe_total(int(wrong.sum()))}")
    cells = [f"run {runs.runs[r]} on topic {runs.topics[t]}" for r, t in np.argwhere(undefined)]
    counted = f"{len(cells)} of {undefined.size} scores and counted as {measure.undefined or 0:g}"
    return scores, f"{counted}: {format_list(cells, most=3)}" if cells else ""
