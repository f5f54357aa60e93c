"""Which measures are right? Agreement with a reference, such as human scores, an expert's labels, or a trusted measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_inputs import (
    Share,
    check_weights,
    choose_measure,
    find_run_scores,
    join_judges,
    join_reference,
    list_for_each,
    list_measures,
    take_shared,
)
from metaeval.analyses.agreement_statistics import (
    BY_DEFAULT,
    SHARES,
    TITLES,
    Found,
    Held,
    find_statistics,
    pool_statistics,
    split_statistic,
)
from metaeval.analyses.checks import check_count, check_seed, check_share, warn_of_same_data
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.disagreement import Disagreement, find_disagreement
from metaeval.analyses.discriminative_power import DiscriminativePower, discriminative_power
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import Result
from metaeval.data.policies import MissingPolicy, check_policy
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.paired_tests import PairedTest
from metaeval.stats.scale import scale_scores
from metaeval.stats.streams import stream_key
from metaeval.stats.swapping import find_clusters, swap_p_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTS = ("confirmed", "contradicted", "only_here", "missed")
"""What becomes of significant pairs of runs, held against those of the reference."""

_MOST_ROWS, _MOST_COLUMNS = 5, 8  # of what is printed about runs and topics; exports hold everything
_LARGEST_MAP = 16  # measures of which a heat map can show the numbers


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """How measures agree with a reference.

    Parameters
    ----------
    collections : tuple of str
    measures : tuple of Measure
        All but the reference.
    reference : Measure
    statistics : tuple of str
    values : ndarray, shape (statistic, measure)
        Pooled over collections.
    low, high : ndarray, shape (statistic, measure)
        Ends of the interval over topics, for the same runs; NaN where there is none.
    chance : ndarray, shape (statistic,)
        What a measure reaches that knows nothing.
    ceiling : ndarray, shape (statistic,)
        What the reference reaches on topics drawn anew, held against itself on all; NaN where that is not defined.
    p_values : ndarray, shape (statistic, measure, measure)
        ``p_values[s, i, j]``, one-sided: how often exchanging measures i and j at random gives i as large a lead.
    clusters : ndarray of int, shape (statistic, measure)
        Significance clusters, from 1.
    exchanged : ndarray, shape (statistic, trial, measure pair)
        What the p-values rest on: differences of two measures after each exchange.
    by_collection : ndarray, shape (collection, statistic, measure)
    pairs : ndarray of int, shape (measure, 4)
        Significant pairs of runs that the reference confirms, contradicts, or does not find significant, and those that
        only the reference finds.
    n_pairs : int
        All pairs of runs.
    alpha, confidence : float
    signature : Signature
    disagreements : tuple of Disagreement
        Of every collection, where measures and reference differ.
    no_interval : str
        Why there is no interval, if it was asked for.
    """

    collections: tuple[str, ...]
    measures: tuple[Measure, ...]
    reference: Measure
    statistics: tuple[str, ...]
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    chance: np.ndarray
    ceiling: np.ndarray
    p_values: np.ndarray
    clusters: np.ndarray
    exchanged: np.ndarray
    by_collection: np.ndarray
    pairs: np.ndarray
    n_pairs: int
    alpha: float
    confidence: float
    signature: Signature
    disagreements: tuple[Disagreement, ...]
    no_interval: str = ""

    def __repr__(self) -> str:
        where = ", ".join(one for one in self.collections if one) or "scores"
        return f"Agreement: {len(self.measures)} measures with {self.reference}, {where}"

    def to_frame(self) -> pd.DataFrame:
        """Return every statistic of every measure.

        Returns
        -------
        DataFrame, shape (statistic · measure, 8)
            Columns statistic, measure, value, low, high, chance, ceiling, cluster.
        """
        shape = self.values.shape
        names = np.array([str(one) for one in self.measures], dtype=object)
        of_statistic = {"chance": self.chance, "ceiling": self.ceiling}
        repeated = {name: np.repeat(values, shape[1]) for name, values in of_statistic.items()}
        return pd.DataFrame(
            {
                "statistic": np.repeat(np.array(self.statistics, dtype=object), shape[1]),
                "measure": np.tile(names, shape[0]),
                "value": self.values.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
                **repeated,
                "cluster": self.clusters.ravel(),
            }
        )

    def differences(self) -> pd.DataFrame:
        """Return the difference between every two measures, with p-values of the exchange test.

        Returns
        -------
        DataFrame
            Columns statistic, measure_1, measure_2, difference, p_first (one-sided, for the first measure being no
            better) and p_second.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        names = np.array([str(one) for one in self.measures], dtype=object)
        n_statistics = len(self.statistics)
        return pd.DataFrame(
            {
                "statistic": np.repeat(np.array(self.statistics, dtype=object), len(first)),
                "measure_1": np.tile(names[first], n_statistics),
                "measure_2": np.tile(names[second], n_statistics),
                "difference": (self.values[:, first] - self.values[:, second]).ravel(),
                "p_first": self.p_values[:, first, second].ravel(),
                "p_second": self.p_values[:, second, first].ravel(),
            }
        )

    def significant_pairs(self) -> pd.DataFrame:
        """Return what becomes of every measure's significant pairs of runs, held against those of the reference.

        Returns
        -------
        DataFrame, shape (measure, 6)
            Columns measure, confirmed, contradicted (the reference finds the opposite), only_here (the reference finds
            nothing), missed (only the reference finds it) and pairs (all of them).
        """
        names = {"measure": [str(one) for one in self.measures]}
        counts = dict(zip(COUNTS, self.pairs.T, strict=True))
        return pd.DataFrame({**names, **counts, "pairs": self.n_pairs})

    def runs(self) -> pd.DataFrame:
        """Which runs do measures and reference rank differently?

        Returns
        -------
        DataFrame, shape (run · measure, 8)
            Columns collection, run, measure, score, reference_score, rank (from 1, the best), reference_rank and
            difference (above 0: the measure ranks the run worse), the largest differences of a collection first.
        """
        names = [str(one) for one in self.measures]
        return self._join([one.list_runs(names) for one in self.disagreements])

    def topics(self) -> pd.DataFrame:
        """On which topics do measures rank the runs otherwise than the reference does?

        Returns
        -------
        DataFrame, shape (topic · measure, 4)
            Columns collection, topic, measure and tau_b of the runs' scores on that topic, the lowest of a collection
            first; NaN, where the measure or the reference ties all runs, last.
        """
        names = [str(one) for one in self.measures]
        return self._join([one.list_topics(names) for one in self.disagreements])

    def _join(self, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
        named = zip(self.collections, frames, strict=True)
        return pd.concat([frame.assign(collection=name)[["collection", *frame]] for name, frame in named])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return differences between measures, significant pairs of runs, runs, topics, and each of several collections."""
        found = {"differences": self.differences(), "significant_pairs": self.significant_pairs()}
        found |= {"runs": self.runs(), "topics": self.topics()}
        if len(self.collections) > 1:
            shape = self.by_collection.shape
            names = np.array([str(one) for one in self.measures], dtype=object)
            labels = {
                "collection": np.repeat(np.array(self.collections, dtype=object), shape[1] * shape[2]),
                "statistic": np.tile(np.repeat(np.array(self.statistics, dtype=object), shape[2]), shape[0]),
                "measure": np.tile(names, shape[0] * shape[1]),
            }
            found["collections"] = pd.DataFrame({**labels, "value": self.by_collection.ravel()})
        return found

    def to_table(self) -> Table:
        """Return all statistics of all measures, those of the first cluster in bold, with chance and ceiling below."""
        rows = self._rank()
        names = [str(self.measures[m]) for m in rows]
        columns = [name_statistic(one) for one in self.statistics]
        frame = pd.DataFrame(self.values.T[rows], index=pd.Index(names, name="measure"), columns=columns)
        counts = pd.DataFrame(self.pairs[rows], index=frame.index, columns=[one.replace("_", " ") for one in COUNTS])
        below = pd.DataFrame([self.chance, self.ceiling], index=["(chance)", "(ceiling)"], columns=columns)
        frame = pd.concat([pd.concat([frame, counts.astype(object)], axis=1), below]).rename_axis("measure")
        words = frame.astype(str).map(lambda _: "")
        words.iloc[: len(rows), : len(columns)] = np.where(self.clusters.T[rows] == 1, "bold", "")
        caption = (
            f"Agreement with {self.reference}. Bold: not significantly beaten within the first cluster of a column "
            f"(α = {self.alpha:g}). Of {self.n_pairs:,} pairs of runs, those that the measure finds significant and the "
            "reference confirms, contradicts, or does not find; missed: only the reference finds them. "
            f"{self.no_interval}"
        )
        return Table(frame, caption.strip(), self.signature, marks=lambda _: words)

    def detail_tables(self) -> list[Table]:
        """Return what the command line prints below: the intervals, and which runs and topics disagree most."""
        return [*self._tabulate_intervals(), *(self._tabulate_disagreement() if len(self.collections) == 1 else [])]

    def _tabulate_disagreement(self) -> list[Table]:
        names = [str(self.measures[m]) for m in self._rank()[:_MOST_COLUMNS]]
        best = f", the {_MOST_COLUMNS} best measures" if len(names) < len(self.measures) else ""
        runs = self.runs().pivot(index="run", columns="measure", values="difference")[names]
        far = np.argsort(-runs.abs().max(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
        topics = self.topics().pivot(index="topic", columns="measure", values="tau_b")[names]
        low = np.argsort(topics.mean(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
        return [
            Table(
                runs.iloc[far],
                f"Runs that disagree most: rank by the measure less rank by {self.reference}{best}.",
                self.signature,
                digits=1,
            ),
            Table(
                topics.iloc[low],
                f"Topics that disagree most: τ_b of the runs' scores with those of {self.reference}{best}.",
                self.signature,
            ),
        ]

    def _tabulate_intervals(self) -> list[Table]:
        rows = self._rank()
        cells = {
            name_statistic(one): [
                "–" if np.isnan(self.low[s, m]) else f"{self.low[s, m]:.3f} – {self.high[s, m]:.3f}" for m in rows
            ]
            for s, one in enumerate(self.statistics)
        }
        if np.isnan(self.low).all():
            return []
        index = pd.Index([str(self.measures[m]) for m in rows], name="measure")
        caption = f"{100 * self.confidence:g} % intervals over topics, for the same runs."
        return [Table(pd.DataFrame(cells, index=index), caption, self.signature)]

    def plot(self, statistic: str | None = None) -> Figure:
        """Draw the measures in the order of one statistic, with intervals; lines show chance and ceiling.

        Parameters
        ----------
        statistic : str, optional
            By default the first one.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from metaeval.show.drawing import Interval, draw_intervals

        s = self._find(statistic)
        rows = []
        for m in np.argsort(np.nan_to_num(self.values[s], nan=-2.0), kind="stable").tolist():
            ends = None if np.isnan(self.low[s, m]) else (self.low[s, m], self.high[s, m])
            title = f"{self.measures[m].title} ({self.clusters[s, m]})"
            rows.append(Interval(str(self.measures[m]), title, self.values[s, m], line=ends))
        label = (
            f"{name_statistic(self.statistics[s])} with {self.reference.title}; in brackets the significance cluster"
        )
        figure = draw_intervals(rows, label, self.signature, row_height=0.26 if len(rows) > 12 else 0.42)
        for level, style in ((self.chance[s], ":"), (self.ceiling[s], "--")):
            if np.isfinite(level):
                figure.axes[0].axvline(level, color="#888888", linewidth=0.9, linestyle=style, zorder=0)
        return figure

    def plot_differences(self, statistic: str | None = None) -> Figure:
        """Draw a heat map of p-values: is the measure of the row better than that of the column?

        Parameters
        ----------
        statistic : str, optional
            By default the first one.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from metaeval.show.drawing import draw_heatmap

        s = self._find(statistic)
        rows = np.argsort(-np.nan_to_num(self.values[s], nan=-2.0), kind="stable")
        few = len(rows) <= _LARGEST_MAP
        return draw_heatmap(
            self.p_values[s][np.ix_(rows, rows)], [self.measures[m].title for m in rows],
            f"p, {name_statistic(self.statistics[s])}", self.signature, limits=(0, 1), colours="cividis",
            is_dark=lambda p: p < 0.55, write=lambda p: f"{p:.3f}" if few and not np.isnan(p) else "", diagonal=False,
        )  # fmt: skip

    def _rank(self) -> list[int]:
        """Return the measures, best first by the first statistic."""
        return np.argsort(-np.nan_to_num(self.values[0], nan=-2.0), kind="stable").tolist()

    def _find(self, statistic: str | None) -> int:
        if statistic is not None and statistic not in self.statistics:
            raise MetaevalError(f"{statistic!r} was not computed; there are {format_list(list(self.statistics))}")
        return 0 if statistic is None else self.statistics.index(statistic)


def agreement(
    scores: Scores | Sequence[Scores],
    *,
    reference: str | Measure | Scores | Sequence[Scores],
    run_scores: Scores | Sequence[Scores] | None = None,
    reference_measure: str | None = None,
    statistics: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
    missing: MissingPolicy = "raise",
    runs: Share = "all",
    topics: Share = "all",
    test: PairedTest = "randomised-tukey-hsd",
    n_permutations: int = 1000,
    n_bootstrap: int = 1000,
    alpha: float = 0.05,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
) -> Agreement:
    """Which measures agree best with a reference?

    Parameters
    ----------
    scores : Scores or sequence of Scores
        At least two runs and two topics; several collections with the same measures are pooled. Several with one
        reference of its own are judges of the same runs instead, which become measures called as their collections.
    reference : str, Measure, Scores or sequence of Scores
        A measure of the scores, or scores of one measure on their own, which may have further runs and topics.
    run_scores : Scores or sequence of Scores, optional
        Scores of whole runs, with one topic, for measures that do not sum up a run by the mean over its topics. They
        replace the mean in statistics of runs; measures that are not in them keep it.
    reference_measure : str, optional
        Which measure of a reference of its own, if it has several.
    statistics : sequence of str, optional
        By default pairwise_accuracy, spa, pearson, spearman, tau_a, tau_b, topic_pearson and acc_t; besides there are
        tau_ap_b and tau_gap, which weigh the head of the ranking. Those of runs can be of the runs that the reference
        puts first: tau_b@15.
    weights : sequence of float, optional
        Weights of the collections; 1 each by default. Pairwise accuracy adds pairs of runs, other statistics are
        averaged.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with topics, or runs, of which scores of their own of the reference have none: leave them out, or
        raise. No worst value can stand for a reference.
    runs, topics : {"all", "shared"}, optional
        Whether all runs, or topics, of the scores need a reference, or only those count that all judges and a
        reference of its own share; what is left out is said.
    test : str, optional
        Which pairs of runs are significant: as for `discriminative_power`.
    n_permutations : int, optional
        Trials of the exchange tests between measures, of the sign flips of spa, and of the test of pairs of runs.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none. With fewer than 10 runs or 25 topics there is none.
    alpha : float, optional
        Significance level.
    confidence : float, optional
        Level of the intervals.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional
    n_jobs : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    Agreement

    Raises
    ------
    MetaevalError
        If there is no such reference or statistic, the reference has no score where it must have one, or an option is
        out of range.

    Warns
    -----
    PolicyWarning
        Which runs and topics are left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(12, 1)) + rng.normal(size=(12, 40))
    >>> values = np.stack([people, people + rng.normal(size=(12, 40)), rng.normal(size=(12, 40))], axis=-1)
    >>> labels = {"runs": range(12), "topics": range(40), "measures": ["MQM", "good", "bad"]}
    >>> scores = Scores(values, **labels, higher_is_better=True)
    >>> found = agreement(scores, reference="MQM", statistics=["tau_a", "acc_t"], n_permutations=200, n_bootstrap=0)
    >>> found.to_frame()[["statistic", "measure", "value", "cluster"]].round(2)
      statistic measure  value  cluster
    0     tau_a    good   0.88        1
    1     tau_a     bad  -0.39        2
    2     acc_t    good   0.80        1
    3     acc_t     bad   0.48        2
    """
    check_seed(seed)
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_count("n_permutations", n_permutations, 1)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_policy(missing, MissingPolicy)
    wanted = tuple(dict.fromkeys(BY_DEFAULT if statistics is None else statistics))
    if not wanted:
        raise MetaevalError(f"no statistic was asked for: use {', '.join(TITLES)}")
    for statistic in wanted:
        split_statistic(statistic)
    given = [scores] if isinstance(scores, Scores) else list(scores)
    if not given:
        raise MetaevalError("there are no scores")
    reference = choose_measure(reference, reference_measure)
    if isinstance(reference, Scores):
        *given, reference = take_shared([*given, reference], runs, topics)
        given = [join_judges(given, reference)] if len(given) > 1 else given
    elif "shared" in (runs, topics):
        option = format_option("runs" if runs == "shared" else "topics", "shared")
        raise MetaevalError(f"{option} is for a reference of its own: a measure has the runs and topics of the others")
    references = list_for_each(reference, given, "reference")
    whole = list_for_each(run_scores, given, "run_scores")
    share = check_weights(weights, len(given))
    joined = [join_reference(*pair, missing) for pair in zip(given, references, strict=True)]
    held_against = joined[0][1]
    if any(str(one) != str(held_against) for _, one in joined):
        names = sorted({str(one) for _, one in joined})
        raise MetaevalError(f"the collections are held against different measures: {format_list(names)}")
    chosen = [choose_runs(one, distinct_runs, measures=2) for one, _ in joined]
    collections = [one for one, _ in chosen]
    measures = list_measures(collections, held_against)
    titles = [one.collection or str(number) for number, one in enumerate(collections, start=1)]
    warn_of_same_data(titles, [one.values for one in collections])
    found, powers, disagreements, no_interval = [], [], [], ""
    for one, own in zip(collections, whole, strict=True):
        why = explain_no_interval(len(one.runs), len(one.topics)) if n_bootstrap else ""
        no_interval = no_interval or why
        trials = (n_permutations, 0 if why else n_bootstrap)
        held = _hold(one, own, held_against, measures, trials, seed)
        found.append(find_statistics(held, wanted))
        disagreements.append(_disagree(one, own, held, [*measures, held_against]))
        powers.append(
            discriminative_power(
                one, test=test, n_permutations=n_permutations, n_bootstrap=0, alpha=alpha, seed=seed, n_jobs=n_jobs
            )
        )
    pooled = pool_statistics(found, share)
    n_topics = min(len(one.topics) for one in collections)
    ends = [_find_ends(name, one, n_topics, confidence) for name, one in pooled.items()]
    p_values = np.array([swap_p_values(one.observed, one.exchanged) for one in pooled.values()])
    values = np.array([one.value for one in pooled.values()])
    settings: dict[str, object] = {"reference": held_against, "statistics": ", ".join(wanted), "test": test}
    settings |= {"B": n_permutations, "seed": seed, "alpha": alpha}
    settings |= {"bootstrap": n_bootstrap} if n_bootstrap else {}
    settings |= {"weights": ", ".join(f"{one:g}" for one in share)} if len(share) > 1 else {}
    own_scores = [f"{one.collection or 'scores'}@{one.sha256[:12]}" for one in whole if one is not None]
    settings |= {"run scores": "; ".join(own_scores)} if own_scores else {}
    return Agreement(
        tuple(one.collection for one in collections),
        measures,
        held_against,
        wanted,
        values,
        np.array([low for low, _ in ends]),
        np.array([high for _, high in ends]),
        np.array([one.chance for one in pooled.values()]),
        np.array([one.ceiling for one in pooled.values()]),
        p_values,
        np.array([find_clusters(*pair, alpha) for pair in zip(values, p_values, strict=True)]),
        np.array([one.exchanged for one in pooled.values()]),
        np.array([[one.value for one in each.values()] for each in found]),
        np.sum([count_confirmed(power, held_against, measures) for power in powers], axis=0),
        sum(power.p_values.shape[1] for power in powers),
        alpha,
        confidence,
        sign("agreement", collections, **settings, **chosen[0][1].settings),
        tuple(disagreements),
        no_interval,
        diagnostics=tuple(diagnostics for _, diagnostics in chosen),
    )


def _disagree(scores: Scores, own: Scores | None, held: Held, measures: Sequence[Measure]) -> Disagreement:
    """Compare run by run and topic by topic, with run scores as the measures give them; the last is the reference."""
    runs, topics = tuple(sorted(scores.runs)), tuple(sorted(scores.topics))
    names, signs = [str(one) for one in measures], find_signs(measures)
    oriented = scores.sel(runs=runs, topics=topics, measures=names).values * signs
    run_scores = find_run_scores(oriented, scores, own, names)
    return find_disagreement(runs, topics, held.values, held.reference, run_scores, signs)


def count_confirmed(power: DiscriminativePower, reference: Measure, measures: Sequence[Measure]) -> np.ndarray:
    """What becomes of the significant pairs of runs, held against those of the reference?

    Parameters
    ----------
    power : DiscriminativePower
        Of the measures and the reference.
    reference : Measure
    measures : sequence of Measure

    Returns
    -------
    ndarray of int, shape (measure, 4)
        Pairs that the reference confirms, contradicts, does not find significant, and that it alone finds.
    """
    names = [str(one) for one in power.measures]
    conclusions = np.where(power.significant, power.winners, 0)
    return count_conclusions(
        conclusions[[names.index(str(one)) for one in measures]], conclusions[names.index(str(reference))]
    )


def count_conclusions(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Count what becomes of conclusions about pairs of runs, held against those of the reference.

    Parameters
    ----------
    found : ndarray of int, shape (measure, pair)
        +1 where the first run of a pair is significantly better, −1 where the second is, 0 otherwise.
    wanted : ndarray of int, shape (pair,)
        Those of the reference.

    Returns
    -------
    ndarray of int, shape (measure, 4)
        As in `COUNTS`.
    """
    both = found * wanted
    counted = [both > 0, both < 0, (found != 0) & (wanted == 0), (found == 0) & (wanted != 0)]
    return np.stack([one.sum(axis=1) for one in counted], axis=1)


def name_statistic(statistic: str) -> str:
    """Return what tables call a statistic.

    Examples
    --------
    >>> name_statistic("tau_b@15"), name_statistic("acc_t")
    ('τ_b, first 15 runs', 'acc-t, topics')
    """
    name, first = split_statistic(statistic)
    return TITLES[name] if first is None else f"{TITLES[name].removesuffix(', runs')}, first {first} runs"


def _find_ends(statistic: str, found: Found, n_topics: int, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval; a correlation r is a share (r + 1)/2, whose ends next to 1 stay near it."""
    base, size = (0.0, 1.0) if split_statistic(statistic)[0] in SHARES else (-1.0, 2.0)
    low, high = centre_interval(
        (found.value - base) / size, (found.drawn - base) / size, n_topics, confidence=confidence, scale="share",
        step=found.step / size, student=False,
    )  # fmt: skip
    return base + size * low, base + size * high


def _hold(
    scores: Scores, own: Scores | None, reference: Measure, measures: Sequence[Measure], trials: tuple[int, int],
    seed: int,
) -> Held:  # fmt: skip
    """Return one collection in the order of labels, with the measures in the order given."""
    order = sort_labels(scores, signs=find_signs(scores.measures))
    names = [str(one) for one in scores.measures]
    # Measures stay in their order: nothing is drawn for them, and the same pairs of them are pooled.
    places = [order.measures[names.index(str(one))] for one in (*measures, reference)]
    values = np.ascontiguousarray(scale_scores(order.values)[..., places])
    run_scores = find_run_scores(values, scores, own, [str(one) for one in (*measures, reference)])

    def key(purpose: str) -> int:
        return stream_key(seed, scores.collection, "agreement", purpose)

    return Held(values[..., :-1], values[..., -1], run_scores, key, *trials)
