"""How many significant differences between runs does a measure find, in one collection or in several?

Sakai (SIGIR 2006); ACL 2021, §5.3; LQ 2021, §5.1 and, for several collections, Eq. 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import remark_copies
from metaeval.analyses.prepare import (
    Within,
    check_options,
    check_scores,
    check_trials,
    prepare,
    warn_of_constant_measures,
    warn_of_same_data,
)
from metaeval.analyses.result import MeasureRows, tabulate_conclusions, tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import Line, LineChart
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats import intervals
from metaeval.stats.pair_tests import (
    FAMILYWISE,
    FLIPPING,
    LEAST_VARIANCE,
    MAX_T,
    VARIANCE_OFFSET,
    Correction,
    PairedTest,
    all_pairs_test,
    deviate_pairs,
    simultaneous_reach,
)
from metaeval.stats.significant_counts import Variation, pool_variations, significant_count_error, vary_over_topics
from metaeval.stats.streams import stream_key

PAPERS_TEST: PairedTest = "randomised-tukey-hsd"
"""The all-pairs test of ACL 2021 and LQ 2021."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PowerRows(MeasureRows):
    """How many significant pairs each measure finds: intervals rest on `over_topics`, and power is alike up to `margin`."""

    over_topics: Variation
    margin: float = 0.05

    number: ClassVar[str] = "power"

    def answer(self) -> str:
        """Say which measure finds most significant pairs, and than how many others that is clear."""
        counts, n_pairs = self.rows["significant"].to_numpy(), int(self.rows["pairs"].iloc[0])
        best, n_others = int(counts.argmax()), len(counts) - 1
        name, of_all = str(self.measures[best]), f"{counts[best]:,} of {n_pairs:,} pairs of runs"
        if not counts[best]:
            return f"{'No measure finds any' if n_others else f'{name} finds no'} difference between runs ({of_all})."
        if not n_others:
            return f"{name} finds {of_all} significant."
        most = f"{name} finds most differences ({of_all})"
        if self.differences["low"].isna().all():
            return f"{most}; whether clearly more than others is unknown."
        beaten = self.differences.loc[self.differences["finds_more"] == name, ["measure_1", "measure_2"]].to_numpy()
        others = beaten[beaten != name].tolist()
        if not others:
            return f"{most}, but not clearly more than any other measure."
        whom = " and ".join(others) if len(others) <= 2 else f"{len(others)} of the {n_others} other measures"
        whom = "every other measure" if len(others) == n_others > 1 else whom
        return f"{most}, clearly more than {whom}."

    def tabulate(self, caption: str) -> list[Table]:
        """Return counts of significant pairs as the papers head them, #sig, #all and percent, and what is known of the best."""
        legend = self.no_interval
        if self.rows["low"].notna().any():
            caption += f" %: of all pairs, with its {100 * self.over_topics.confidence:g} % interval on other topics."
        names = {"significant": "#sig", "mc_se": "±", "pairs": "#all", "power": "%"}
        shown = self.rows.set_index("measure").rename(columns=names)
        percent = shown.columns.intersection(["%", "low", "high"], sort=False)
        shown[percent] *= 100
        shown = shown[[*names.values(), *percent[1:]]].dropna(axis="columns", how="all")
        if "±" in shown:
            legend = f"{legend} ±: Monte Carlo standard error of #sig."
        known = self.differences["low"].notna().any()
        if known:
            more = self.differences["finds_more"].value_counts()
            shown["finds more than"] = [int(more.get(name, 0)) for name in shown.index]
            caption += " Finds more than: so many measures, by paired intervals of differences that leave 0 out."
        table = Table(shown, caption, self.signature, digits=1, legend=legend.strip(), joined=True, at=("paper",))
        table_by_count = replace(table, frame=shown.sort_values("#sig", ascending=False, kind="stable"), at=("all",))
        brief = table_by_count.frame.drop(columns=["±", "#all"], errors="ignore")
        tables = [replace(table, frame=brief, at=("short",)), table, table_by_count]
        if known:
            best = str(self.rows["measure"][int(self.rows["significant"].argmax())])
            caption = f"Differences of power, as shares of all pairs: alike are measures within {self.margin:g} of each other."
            about = "difference", "difference", caption, self.over_topics.confidence, self.signature, best
            tables.append(tabulate_conclusions(self.differences, *about))
        return tables


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscriminativePower(PowerRows):
    """The p-value of every pair of runs according to every measure.

    Its rows (`to_frame`) have columns measure, significant (S_D), pairs (T_D), power (S_D / T_D), mc_se (the Monte Carlo
    standard error of S_D, NaN for tests without trials), low and high: the expected power of the same runs on as many new
    topics lies between them, NaN if no interval was asked for, or with fewer than 10 runs or 25 topics. Its `differences`
    have columns measure_1, measure_2, difference (of the first's power less the second's), low, high, finds_more (the measure
    that does if the interval leaves 0 out, and "cannot tell" otherwise) and conclusion: whether the power of both is alike up
    to `margin`.

    Arrays by pair have shape (measure, pair), pairs of runs in the order (0, 1), (0, 2), …, (1, 2), …: `p_values`; `counts`,
    how many trials reach a difference, None for tests without trials; `deviations`, the standard deviation over topics of the
    difference; and `reach`, of bootstrap-t, how far intervals of the differences reach that say what the p-values say.
    `means` has shape (run, measure). `n_permutations` is B; of max-t with up to 16 topics, the number of all sign vectors.
    """

    collection: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    means: np.ndarray
    p_values: np.ndarray
    counts: np.ndarray | None
    deviations: np.ndarray
    reach: np.ndarray | None
    n_permutations: int
    alpha: float
    test: PairedTest

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the first and the second run of every pair, each of shape (pair,)."""
        return np.triu_indices(len(self.runs), 1)

    @property
    def significant(self) -> np.ndarray:
        """Whether p ≤ α, shape (measure, pair)."""
        return self.p_values <= self.alpha

    @property
    def winners(self) -> np.ndarray:
        """Which run of a pair has the better mean, shape (measure, pair): +1 the first, −1 the second, 0 neither."""
        first, second = self.pairs
        gaps = (self.means[first] - self.means[second]) * find_signs(self.measures)
        return np.ascontiguousarray(np.sign(gaps).T, dtype=np.int8)

    def summary(self) -> pd.DataFrame:
        """Return how many pairs each measure finds significant, without intervals: LQ 2021, Table 3."""
        return self.rows[["measure", "significant", "pairs", "power", "mc_se"]]

    def run_pairs(self) -> pd.DataFrame:
        """Return every p-value, one row per measure and pair of runs.

        Of shape (measure · pair, 13), with columns measure, run_a, run_b, mean_a, mean_b, count (missing for tests
        without trials), p_value, difference (mean_a − mean_b) with the ends low and high of its t interval, and d
        (the difference over the standard deviation of the differences by topic) with d_low and d_high. An interval is
        for its pair alone, and missing with fewer than 25 topics.
        """
        (first, second), n_topics, n_measures = self.pairs, len(self.topics), len(self.measures)
        one, other = self.means[first].T, self.means[second].T
        confidence = self.over_topics.confidence
        ends = intervals.interval_of_differences(one - other, self.deviations, n_topics, confidence=confidence)
        effects = dict(zip(("low", "high", "d", "d_low", "d_high"), ends, strict=True))
        if n_topics < intervals.FEWEST_TOPICS:
            effects |= {name: np.full(one.shape, np.nan) for name in effects if name != "d"}
        runs, names = np.array(self.runs, dtype=object), [str(measure) for measure in self.measures]
        numbers = {"mean_a": one, "mean_b": other, "count": self.counts, "p_value": self.p_values}
        numbers |= {"difference": one - other, **effects}
        columns = {name: pd.NA if part is None else part.ravel() for name, part in numbers.items()}
        labels = {"run_a": np.tile(runs[first], n_measures), "run_b": np.tile(runs[second], n_measures)}
        return pd.DataFrame({"measure": np.repeat(names, len(first)), **labels, **columns})

    def tables(self) -> list[Table]:
        """Return S_D, T_D and the percentage of significant pairs (LQ 2021, Table 3)."""
        return self.tabulate(f"Significant pairs of runs by {self.test} at α = {self.alpha:g}.")

    def charts(self) -> Sequence[LineChart]:  # type: ignore[override]
        """Return the discriminative power curves: p-values of all run pairs, descending (ACL 2021, Figures 1 to 3)."""
        curves, counts = -np.sort(-self.p_values, axis=1), self.significant.sum(axis=1)
        pairs = np.arange(1, curves.shape[1] + 1)
        lines = [
            Line(str(self.measures[m]), self.measures[m].title, pairs, curves[m], count=int(counts[m]))
            for m in np.argsort(-counts, kind="stable").tolist()
        ]
        return [
            LineChart(
                lines, "run pairs, by p-value from large to small", "p-value", self.collection,
                limits=(0.0, float(min(1.0, max(0.2, 4 * self.alpha)))), level=(self.alpha, f"α = {self.alpha:g}"), marks=5,
                counted="significant pairs",
            )
        ]  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledDiscriminativePower(PowerRows):
    """Significant pairs over all pairs, added up over collections, of which `parts` are the powers.

    Its rows (`to_frame`) have columns measure, significant, pairs, power (ΣS_D / ΣT_D); low and high, the interval over topics
    for these collections and runs, NaN where there are too few; and mc_se, the Monte Carlo standard error of significant.
    Its `differences` have columns as those of `DiscriminativePower`.
    """

    collections: tuple[str, ...]
    parts: tuple[DiscriminativePower, ...]

    @property
    def by_collection(self) -> pd.DataFrame:
        """Columns collection (the last one ``POOLED``), measure, significant, pairs, power, mc_se: LQ 2021, Table 3."""
        columns = ["measure", "significant", "pairs", "power", "mc_se"]
        frames = [result.rows[columns] for result in (*self.parts, self)]
        names = np.repeat([*self.collections, "POOLED"], len(self.rows))
        return pd.concat(frames, ignore_index=True).assign(collection=names)[["collection", *columns]]

    @property
    def label(self) -> str:  # type: ignore[override]
        """What the figure shows."""
        return f"share of significant run pairs in {len(self.collections)} collections, with interval over topics"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the pooled power, the power by collection and measure, and which measure finds more than which."""
        return {"rows": self.rows, "by_collection": self.by_collection, "differences": self.differences}

    def tables(self) -> list[Table]:
        """Return the pooled power with its interval (LQ 2021, Table 3, last row)."""
        first, names = self.parts[0], ", ".join(self.collections)
        return self.tabulate(f"Significant pairs of runs by {first.test} at α = {first.alpha:g}, pooled over {names}.")


class Testing(TypedDict, total=False):
    """How runs are tested, besides by which test: options of `discriminative_power`, which says what they mean."""

    n_permutations: int
    alpha: float
    seed: int
    correction: Correction
    p_add_one: bool
    variance_offset: float | None
    distinct_runs: bool
    n_jobs: int


class _Options(Testing, total=False):
    test: PairedTest
    n_bootstrap: int
    confidence: float
    margin: float


@overload
def discriminative_power(scores: Scores, **options: Unpack[_Options]) -> DiscriminativePower: ...


@overload
def discriminative_power(scores: Sequence[Scores], **options: Unpack[_Options]) -> PooledDiscriminativePower: ...


def discriminative_power(
    scores: Scores | Sequence[Scores],
    *,
    n_permutations: int = 5000,
    alpha: float = 0.05,
    seed: int = 0,
    test: PairedTest = PAPERS_TEST,
    correction: Correction = "auto",
    p_add_one: bool = False,
    variance_offset: float | None = None,
    distinct_runs: bool = False,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    margin: float = 0.05,
    n_jobs: int = 1,
) -> DiscriminativePower | PooledDiscriminativePower:
    """How many significant differences between runs does a measure find?

    Parameters
    ----------
    scores : Scores or sequence of Scores
        At least two runs and two topics; p-values of a constant measure are 1. Several collections of the same measures are
        pooled, see `pooled_discriminative_power`.
    n_permutations : int, optional
        Trials of a test that draws at random (B in papers), the same for all measures.
    alpha : float, optional
        Significance level.
    seed : int, optional
    test : str, optional
        ``"randomised-tukey-hsd"``, as Sakai's papers; ``"bootstrap-t"`` or ``"max-t"``, which allow some runs to vary
        more than others; or for comparison ``"tukey-hsd"``, ``"paired-t"``, ``"paired-randomisation"``,
        ``"paired-bootstrap"``.
    correction : {"auto", "none", "holm", "bonferroni", "benjamini-hochberg"}, optional
        Correction of the p-values for the number of pairs. By default Holm's for the paired tests, and none for the
        others, which allow for all pairs by themselves.
    p_add_one : bool, optional
        Compute p-values as (count + 1)/(B + 1) in place of the papers' count/B. Bootstrap-t, max-t and tests whose
        p-values are corrected always do, since a p of 0 would survive any correction.
    variance_offset : float, optional
        Variance added to that of every pair, as a share of the median pair's; for bootstrap-t, 0.25 by default.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none. The test is not repeated on them.
    confidence : float, optional
        Level of all intervals.
    margin : float, optional
        Two measures find about as many differences if their shares of significant pairs differ by at most this.
    n_jobs : int, optional
        Threads; any number gives the same results.

    Examples
    --------
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["NMD"])
    >>> discriminative_power(scores, n_permutations=1000).summary()
      measure  significant  pairs     power  mc_se
    0     NMD            2      3  0.666667    0.0
    """
    if isinstance(scores, Sequence) and not isinstance(scores, str):
        options = {name: value for name, value in locals().items() if name != "scores"}
        return pooled_discriminative_power([discriminative_power(each, **options) for each in scores])
    check_options(
        margin=margin, alpha=alpha, n_jobs=n_jobs, n_permutations=n_permutations, n_bootstrap=n_bootstrap,
        confidence=confidence, test=Within(test, PairedTest), correction=Within(correction, Correction),
    )  # fmt: skip
    if test in FAMILYWISE and correction not in ("auto", "none"):
        raise MetaevalError(f"{test} allows for all pairs by itself; a correction is for the paired tests")
    if not isinstance(p_add_one, bool | np.bool_):
        raise MetaevalError(f"{format_option('p_add_one')} is {p_add_one!r}; it is True or False")
    if correction == "auto":
        correction = "none" if test in FAMILYWISE else "holm"
    ready = prepare(
        scores, "discriminative_power", seed=seed, distinct_runs=distinct_runs,
        clusters="sum" if test in FLIPPING else "pool",
    )  # fmt: skip
    scores, values = ready.scores, ready.values
    n_pairs = len(scores.runs) * (len(scores.runs) - 1) // 2
    remarks = check_trials(test, correction, n_pairs, n_permutations, alpha) + remark_copies(scores)
    # A p of 0 would survive any correction.
    add_one = p_add_one or correction != "none"
    constant = warn_of_constant_measures(scores)
    result = all_pairs_test(
        values, test=test, correction=correction, n_permutations=n_permutations, key=ready.key(),
        add_one=add_one, variance_offset=variance_offset, n_jobs=n_jobs,
    )  # fmt: skip
    reach = simultaneous_reach(result, alpha) if test == "bootstrap-t" else None
    p_values = np.where(constant[:, np.newaxis], 1.0, ready.restore(result.p, "measure", "run pair"))
    counts, reach = (
        None if array is None else ready.restore(array, "measure", "run pair") for array in (result.counts, reach)
    )
    exact, drawn = bool(result.exact and result.n_trials), counts is not None and not result.exact
    errors, add_one = np.full(len(p_values), 0.0 if exact else np.nan), add_one or test in MAX_T
    if counts is not None and drawn:
        errors = significant_count_error(counts, n_permutations, alpha, correction=correction, add_one=add_one)
    # Collections that share topics have the same ones drawn.
    key = stream_key(seed, *sorted(scores.topics), "discriminative_power", "interval")
    over_topics = vary_over_topics(
        values, result, test, key=key, alpha=alpha, n_trials=n_bootstrap, confidence=confidence
    )
    shares, steps = (ready.restore(each, "measure") for each in (over_topics.shares, over_topics.steps))
    over_topics = replace(over_topics, shares=shares, steps=steps)
    rows = pd.DataFrame({"measure": list(map(str, scores.measures)), "significant": (p_values <= alpha).sum(axis=1)})
    power = (rows["significant"] / n_pairs).to_numpy()
    low, high = over_topics.find_power_ends(power)
    settings: dict[str, object] = {"test": test} | ({} if test in FAMILYWISE else {"correction": correction})
    if test == "bootstrap-t":
        settings["variance_offset"] = VARIANCE_OFFSET if variance_offset is None else variance_offset
        settings["least_variance"] = LEAST_VARIANCE
    settings |= {"sign vectors": f"all {result.n_trials}"} if exact else {}
    settings |= ({"B": n_permutations, "seed": seed} if drawn else {}) | {"alpha": alpha}
    settings |= {"p": "(count + 1)/(B + 1)"} if drawn and add_one else {}
    if len(over_topics.shares):
        settings |= {"bootstrap": n_bootstrap, "seed": seed} | ({"margin": margin} if margin != 0.05 else {})
    return DiscriminativePower(
        measures=scores.measures, rows=rows.assign(pairs=n_pairs, power=power, mc_se=errors, low=low, high=high),
        differences=_compare(scores.measures, power, over_topics, margin), over_topics=over_topics, margin=margin,
        collection=scores.collection, runs=scores.runs, topics=tuple(sorted(scores.topics)),
        means=ready.restore(values.mean(axis=1), "run", "measure"), p_values=p_values, counts=counts,
        deviations=ready.restore(deviate_pairs(values), "measure", "run pair"), reach=reach,
        n_permutations=result.n_trials or n_permutations, alpha=alpha, test=test, signature=ready.sign(**settings),
        diagnostics=(ready.diagnostics,), remarks=remarks, no_interval=over_topics.no_interval,
    )  # fmt: skip


def take_tests(
    scores: Scores | DiscriminativePower, test: PairedTest, usual: PairedTest, least: int = 1, **options: Any
) -> DiscriminativePower:
    """Return the tests of all pairs of runs by at least so many measures: those made, or those of scores, without intervals."""
    if len(getattr(scores, "measures", ())) == 1 < least:
        raise MetaevalError(f"two measures or more are compared with each other; there is {scores.measures[0]} only")
    if not isinstance(scores, DiscriminativePower):
        check_scores(scores)
        return discriminative_power(scores, test=test, n_bootstrap=0, **options)
    if stated := [*([] if test in (usual, scores.test) else ["test"]), *options]:
        raise MetaevalError(f"{', '.join(stated)}: nothing is tested again; options of tests are for scores")
    return scores


def pooled_discriminative_power(powers: Sequence[DiscriminativePower]) -> PooledDiscriminativePower:
    """How many significant differences does a measure find over several collections?

    Parameters
    ----------
    powers : sequence of DiscriminativePower
        One a collection, of the same measures, by the same test at the same α. Intervals rest on theirs; collections with
        the same topics have the same topics drawn.

    Examples
    --------
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> powers = [discriminative_power(Scores(values + more, runs=["a", "b", "c"], topics=range(12), measures=["NMD"],
    ...           collection=name), n_permutations=500) for name, more in (("one", 0), ("two", 0.02))]
    >>> pooled_discriminative_power(powers).to_frame()[["significant", "pairs"]]
       significant  pairs
    0            4      6
    """
    powers = list(powers)
    if not powers:
        raise MetaevalError("pooling needs the discriminative power of at least one collection")
    first, measures, data = powers[0], powers[0].measures, [power.signature.data for power in powers]
    for number, other in enumerate(powers):
        name = other.collection or f"collection {number + 1}"
        if data[number] in data[:number]:
            raise MetaevalError(f"the collection {name} is there twice: it would count double")
        for option in ("measures", "test", "alpha", "confidence", "margin"):
            its, usual = (getattr(p if hasattr(p, option) else p.over_topics, option) for p in (other, first))
            if its != usual:
                its, usual = (", ".join(map(str, each)) if option == "measures" else each for each in (its, usual))
                both = f"{name} has {option} {its}, the first collection {usual}"
                raise MetaevalError(f"{both}: only like is pooled with like")
    labels = tuple(power.collection or f"collection {number}" for number, power in enumerate(powers, start=1))
    warn_of_same_data(labels, [power.means for power in powers])
    found, n_pairs = (np.sum([power.rows[column] for power in powers], axis=0) for column in ("significant", "pairs"))
    share, over_topics = found / n_pairs, pool_over_topics(powers)
    low, high = over_topics.find_power_ends(share)
    rows = pd.DataFrame({"measure": list(map(str, measures)), "significant": found, "pairs": n_pairs, "power": share})
    errors = np.sqrt(sum(np.square(power.rows["mc_se"].to_numpy()) for power in powers))
    return PooledDiscriminativePower(
        measures=measures, rows=rows.assign(low=low, high=high, mc_se=errors),
        differences=_compare(measures, share, over_topics, first.margin), over_topics=over_topics, margin=first.margin,
        collections=labels, parts=tuple(powers),
        signature=Signature("pooled_discriminative_power", sum(data, ()), first.signature.settings, first.signature.version),
        diagnostics=tuple(part for power in powers for part in power.diagnostics),
        remarks=tuple(dict.fromkeys(remark for power in powers for remark in power.remarks)),
        no_interval=over_topics.no_interval,
    )  # fmt: skip


def pool_over_topics(powers: Sequence[DiscriminativePower]) -> Variation:
    """Return how the pooled power varies over topics."""
    pairs = np.array([power.p_values.shape[1] for power in powers], dtype=np.float64)
    return pool_variations([power.over_topics for power in powers], pairs)


def _compare(measures: Sequence[Measure], power: np.ndarray, over_topics: Variation, margin: float) -> pd.DataFrame:
    """Return the difference in power of every two measures, with its interval and what is known of it."""
    gap, ends, words = over_topics.judge_differences(power, margin)
    return tabulate_differences(measures, gap, *ends, "finds_more").assign(conclusion=words)
