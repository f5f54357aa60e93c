"""How many significant differences between runs does a measure find? (Sakai 2006; ACL 2021, §5.3; LQ 2021, §5.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd

from metaeval.analyses.checks import (
    check_count,
    check_jobs,
    check_seed,
    check_share,
    check_trials,
    warn_of_constant_measures,
)
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import Result
from metaeval.analyses.variation import TopicVariation, measure_variation, tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.files import PathLike
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table, write_frames
from metaeval.stats.blocks import mean_over_topics
from metaeval.stats.max_t import VARIANCE_OFFSET
from metaeval.stats.paired_tests import (
    FAMILYWISE,
    MAX_T,
    Correction,
    PairedTest,
    all_pairs_test,
)
from metaeval.stats.randomised_tukey import Engine
from metaeval.stats.significant_counts import significant_count_error
from metaeval.stats.streams import stream_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metaeval.analyses.run_ranks import RunRanks
    from metaeval.show.canvas import Axis, Canvas
    from metaeval.show.style import Size

ROWS_A_PART = 200_000
"""P-values held as a frame at once."""

MOST_POINTS = 10_000
"""Points of a curve that a figure draws; of longer ones it draws every k-th, and says so."""


@dataclass(frozen=True, eq=False)
class DiscriminativePower(Result):
    """The p-value of every pair of runs according to every measure.

    Parameters
    ----------
    collection : str
    runs : tuple of str
    measures : tuple of Measure
    means : ndarray, shape (run, measure)
    p_values : ndarray, shape (measure, pair)
        Pairs of runs in the order (0, 1), (0, 2), …, (1, 2), ….
    counts : ndarray of int, shape (measure, pair), or None
        Of how many trials' ranges each difference is exceeded or equalled; None for tests without trials.
    mc_se : ndarray, shape (measure,)
        Monte Carlo standard error of S_D: how much it would vary with other trials; NaN for tests without trials.
    n_permutations : int
        B; of ``test="max-t"`` with up to 16 topics, the number of all sign vectors.
    alpha : float
    test : str
    over_topics : TopicVariation
        What intervals rest on.
    signature : Signature
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    means: np.ndarray
    p_values: np.ndarray
    counts: np.ndarray | None
    mc_se: np.ndarray
    n_permutations: int
    alpha: float
    test: PairedTest
    over_topics: TopicVariation
    signature: Signature

    def __repr__(self) -> str:
        n_pairs = self.p_values.shape[1]
        return (
            f"DiscriminativePower: {n_pairs:,} run pairs × {len(self.measures)} measures, {self.collection or 'scores'}"
        )

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
        signs = find_signs(self.measures)
        won = [
            np.sign((column[first] - column[second]) * sign) for column, sign in zip(self.means.T, signs, strict=True)
        ]
        return np.array(won, dtype=np.int8)

    def to_frame(self) -> pd.DataFrame:
        """Return every p-value, one row per measure and pair of runs.

        Returns
        -------
        DataFrame, shape (measure · pair, 13)
            Columns measure, run_a, run_b, mean_a, mean_b, count (missing for tests without trials), p_value,
            difference (mean_a − mean_b) with the ends low and high of its t interval, and d (the difference over the
            standard deviation of the differences by topic) with d_low and d_high. An interval is for its pair alone,
            and missing with fewer than 25 topics.
        """
        return pd.concat(self.frames(), ignore_index=True)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of `to_frame` in parts, which memory holds one by one.

        Yields
        ------
        DataFrame
            Of one measure.
        """
        runs = np.array(self.runs, dtype=object)
        n_pairs = len(self.runs) * (len(self.runs) - 1) // 2
        for m, measure in enumerate(self.measures):
            start, parts, size = 0, [], 0
            scores = self.over_topics.take_scores(m)
            for run in range(len(self.runs) - 1):
                pairs = slice(start, start + len(self.runs) - run - 1)
                start = pairs.stop
                means = self.means[run, m], self.means[run + 1 :, m]
                counts = np.full(len(means[1]), pd.NA, dtype=object) if self.counts is None else self.counts[m, pairs]
                parts.append(
                    {
                        "measure": np.full(len(means[1]), str(measure), dtype=object),
                        "run_a": np.full(len(means[1]), runs[run], dtype=object),
                        "run_b": runs[run + 1 :],
                        "mean_a": np.full(len(means[1]), means[0]),
                        "mean_b": means[1],
                        "count": counts,
                        "p_value": self.p_values[m, pairs],
                        **self.over_topics.describe_effects(scores, run, means[0] - means[1]),
                    }
                )
                size += len(means[1])
                if size >= ROWS_A_PART or start == n_pairs:
                    yield pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
                    parts, size = [], 0

    def write_p_values(self, path: PathLike) -> Path:
        """Write the rows of `to_frame`, every p-value, to a file; memory does not grow with their number.

        Parameters
        ----------
        path : path
            ``.csv``, or ``.parquet``, which takes a fifth of the room.

        Returns
        -------
        Path

        Raises
        ------
        MetaevalError
            If the name does not tell one of these formats, or the file cannot be written.
        """
        return write_frames(path, self.frames())

    def rows(self) -> pd.DataFrame:
        """Return how many pairs each measure finds significant, with intervals; `write_p_values` writes every p-value."""
        return self.summary().merge(self.intervals())

    def summary(self) -> pd.DataFrame:
        """Return how many pairs each measure finds significant: LQ 2021, Table 3.

        Returns
        -------
        DataFrame, shape (measure, 5)
            Columns measure, significant (S_D), pairs (T_D), power (S_D / T_D) and mc_se, the Monte Carlo standard
            error of S_D (missing for tests without trials).
        """
        found = self.significant.sum(axis=1)
        n_pairs = self.p_values.shape[1]
        names = [str(one) for one in self.measures]
        counted = {"measure": names, "significant": found, "pairs": n_pairs, "power": found / n_pairs}
        return pd.DataFrame({**counted, "mc_se": self.mc_se})

    def intervals(self) -> pd.DataFrame:
        """Return the power of every measure with its interval over topics, for the same runs.

        Returns
        -------
        DataFrame, shape (measure, 4)
            Columns measure, power, low, high: the expected power on as many new topics lies between them. NaN if no
            interval was asked for, or with fewer than 10 runs or 25 topics.
        """
        power = self.significant.mean(axis=1)
        low, high = self.over_topics.find_power_ends(power)
        names = [str(one) for one in self.measures]
        return pd.DataFrame({"measure": names, "power": power, "low": low, "high": high})

    def compare_power(self) -> pd.DataFrame:
        """Does one measure find more than another? The difference of every two, paired over resampled topics.

        Returns
        -------
        DataFrame, shape (pair of measures, 6)
            Columns measure_1, measure_2, difference (of the first's power less the second's), low, high, and
            finds_more: the measure that does if the interval leaves 0 out, and "cannot tell" otherwise.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        power = self.significant.mean(axis=1)
        low, high = self.over_topics.find_difference_ends(power)
        return tabulate_differences(self.measures, power[first] - power[second], low, high, "finds_more")

    def ranks(self) -> RunRanks:
        """Return which ranks of runs are real: `metaeval.run_ranks` of this result."""
        from metaeval.analyses.run_ranks import run_ranks

        return run_ranks(self)

    def curve(self) -> pd.DataFrame:
        """Return the p-values of every measure in descending order: the discriminative power curve.

        Returns
        -------
        DataFrame, shape (pair, measure)
        """
        ordered = -np.sort(-self.p_values, axis=1)
        pairs = pd.RangeIndex(1, ordered.shape[1] + 1, name="pair")
        return pd.DataFrame(ordered.T, index=pairs, columns=[str(one) for one in self.measures])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return which measure finds more than which, with intervals."""
        return {"differences": self.compare_power()}

    def to_table(self) -> Table:
        """Return S_D, T_D and the percentage of significant pairs (LQ 2021, Table 3)."""
        caption = f"Discriminative power at α = {self.alpha:g}: significant run pairs of all run pairs, by {self.test}."
        frame, intervals = self.summary(), self.intervals()
        if intervals["low"].notna().any():
            level = 100 * self.over_topics.confidence
            ends = {name: 100 * intervals[name] for name in ("low", "high")}
            more = self.compare_power()["finds_more"].value_counts()
            frame = frame.assign(**ends, more=[int(more.get(name, 0)) for name in frame["measure"]])
            frame = frame.rename(columns={"more": "finds more than"})
            caption += (
                f" Low and high: {level:g} % interval for the percentage on other topics. Finds more than: how many "
                "measures, where the interval of the difference leaves 0 out."
            )
        return summary_table(frame, f"{caption} {self.over_topics.no_interval}".strip(), self.signature)

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the discriminative power curves: p-values of all run pairs, descending (ACL 2021, Figures 1 to 3)."""
        return draw_power_curves([self], ax=ax, size=size, signature=signature)


def discriminative_power(
    scores: Scores,
    *,
    n_permutations: int = 5000,
    alpha: float = 0.05,
    seed: int = 0,
    engine: Engine = "auto",
    test: PairedTest = "randomised-tukey-hsd",
    correction: Correction = "auto",
    p_add_one: bool = False,
    step_down: bool = False,
    variance_floor: float | None = None,
    variance_offset: float | None = None,
    distinct_runs: bool = False,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    n_jobs: int = 1,
) -> DiscriminativePower:
    """How many significant differences between runs does a measure find?

    Parameters
    ----------
    scores : Scores
        At least two runs and two topics.
    n_permutations : int, optional
        B, the trials of a randomised or bootstrap test, shared by all measures.
    alpha : float, optional
        Significance level.
    seed : int, optional
    engine : {"auto", "numpy", "numba"}, optional
        Both engines give the same bits; by default the size decides.
    test : str, optional
        ``"randomised-tukey-hsd"``, the papers' test; ``"bootstrap-t"`` or ``"max-t"``, which allow runs to differ
        in spread; or for comparison ``"tukey-hsd"``, ``"paired-t"``, ``"paired-randomisation"``,
        ``"paired-bootstrap"``.
    correction : {"auto", "none", "holm", "bonferroni", "benjamini-hochberg"}, optional
        Of p-values for the number of pairs. By default Holm's for the paired tests, and none for the others, which
        allow for all pairs by themselves.
    p_add_one : bool, optional
        Give (count + 1)/(B + 1) in place of the papers' count/B; bootstrap-t and max-t always do,
        and so does a test whose p-values are corrected, since a p of 0 would survive any correction.
    step_down : bool, optional
        Compare each pair only with the pairs that differ no more than it: finds more; for bootstrap-t and max-t.
    variance_floor : float, optional
        Smallest variance in a sample, as a share of the pair's own; for bootstrap-t, 0 by default.
    variance_offset : float, optional
        Variance added to all, as a share of the median pair's; for bootstrap-t, 0.25 by default.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals of power; 0 for none. The critical value of the test is held.
    confidence : float, optional
        Level of all intervals.
    n_jobs : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    DiscriminativePower

    Raises
    ------
    MetaevalError
        If there are too few runs or topics, an option is out of range, or B is so small that no pair could be
        significant after the correction.

    Warns
    -----
    MetaevalWarning
        If a measure is constant: its p-values are 1.

    Examples
    --------
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["NMD"])
    >>> discriminative_power(scores, n_permutations=1000).summary()
      measure  significant  pairs     power  mc_se
    0     NMD            2      3  0.666667    0.0
    """
    scores, diagnostics = choose_runs(scores, distinct_runs)
    check_share("alpha", alpha)
    check_seed(seed)
    check_jobs(n_jobs)
    check_count("n_permutations", n_permutations, 1)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_share("confidence", confidence)
    for what, value, known in (
        ("test", test, PairedTest),
        ("engine", engine, Engine),
        ("correction", correction, Correction),
    ):
        if value not in get_args(known):
            raise MetaevalError(f"there is no {what} {value!r}: use {', '.join(get_args(known))}")
    if test in FAMILYWISE and correction not in ("auto", "none"):
        raise MetaevalError(f"{test} allows for all pairs by itself; a correction is for the paired tests")
    if not isinstance(p_add_one, bool | np.bool_):
        raise MetaevalError(f"{format_option('p_add_one')} is {p_add_one!r}; it is True or False")
    if correction == "auto":
        correction = "none" if test in FAMILYWISE else "holm"
    n_pairs = len(scores.runs) * (len(scores.runs) - 1) // 2
    remarks = check_trials(test, correction, n_pairs, n_permutations, alpha)
    # A p of 0 would survive any correction.
    add_one = p_add_one or correction != "none"
    constant = warn_of_constant_measures(scores)
    order = sort_labels(scores)
    result = all_pairs_test(
        order.values,
        test=test,
        correction=correction,
        n_permutations=n_permutations,
        key=stream_key(seed, scores.collection, "discriminative_power"),
        engine=engine,
        add_one=add_one,
        step_down=step_down,
        variance_floor=variance_floor,
        variance_offset=variance_offset,
        n_jobs=n_jobs,
    )
    given = np.ix_(order.measures, order.run_pairs)
    counts = None if result.counts is None else result.counts[given]
    add_one = add_one or test in MAX_T
    p = np.where(constant[:, None], 1.0, result.p[given])
    offset = VARIANCE_OFFSET if variance_offset is None else variance_offset
    over_topics = measure_variation(
        order, result, test=test, alpha=alpha, variance_offset=offset, n_bootstrap=n_bootstrap, confidence=confidence,
        key=stream_key(seed, scores.collection, "discriminative_power", "interval"),
    )  # fmt: skip
    settings: dict[str, object] = {"test": test}
    if test not in FAMILYWISE:
        settings["correction"] = correction
    if step_down:
        settings["step_down"] = True
    if test == "bootstrap-t":
        settings["variance_floor"] = variance_floor or 0.0
        settings["variance_offset"] = offset
    mc_se = np.full(len(p), np.nan)
    if result.exact and result.n_trials:
        settings["sign vectors"] = f"all {result.n_trials}"
        mc_se[:] = 0.0
    elif counts is not None:
        settings |= {"B": n_permutations, "seed": seed}
        mc_se = significant_count_error(counts, n_permutations, alpha, correction=correction, add_one=add_one)
    settings["alpha"] = alpha
    if counts is not None and not result.exact and add_one:
        settings["p"] = "(count + 1)/(B + 1)"
    if len(over_topics.shares):
        settings |= {"bootstrap": n_bootstrap, "seed": seed}
    return DiscriminativePower(
        scores.collection,
        scores.runs,
        scores.measures,
        mean_over_topics(order.values)[np.ix_(order.runs, order.measures)],
        p,
        counts,
        mc_se,
        result.n_trials or n_permutations,
        alpha,
        test,
        over_topics,
        sign("discriminative_power", scores, **settings, **diagnostics.settings),
        diagnostics=(diagnostics,),
        remarks=remarks,
    )


def summary_table(frame: pd.DataFrame, caption: str, signature: Signature) -> Table:
    """Return counts of significant pairs as the papers head them: #sig, #all and percent.

    Parameters
    ----------
    frame : DataFrame
        Columns measure, significant, pairs, power (a share), mc_se, and whatever else is shown.
    caption : str
    signature : Signature

    Returns
    -------
    Table
    """
    shown = frame.assign(power=100 * frame["power"]).set_index("measure")
    if shown["mc_se"].isna().all():
        shown = shown.drop(columns="mc_se")
    else:
        shown.insert(1, "±", shown.pop("mc_se"))
        caption += " ±: Monte Carlo standard error of #sig."
    shown = shown.rename(columns={"significant": "#sig", "pairs": "#all", "power": "%"})
    return Table(shown, caption, signature, digits=1)


_NAMED_ABOVE = 10  # measures that have room above a figure for their names


def draw_power_curves(
    powers: Sequence[DiscriminativePower],
    titles: Sequence[str] | None = None,
    *,
    ax: Axis = None,
    size: Size = None,
    signature: bool = True,
) -> Figure:
    """Draw the curves of one collection, or of several side by side, as in ACL 2021, Figure 2.

    Parameters
    ----------
    powers : sequence of DiscriminativePower
    titles : sequence of str, optional
        By default the collections' names.
    ax, size, signature
        As for `DiscriminativePower.plot`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from metaeval.show.canvas import open_canvas

    titles = titles if titles is not None else [one.collection for one in powers]
    stacked = size == "column"
    shape = (len(powers), 1) if stacked else (1, len(powers))
    # Many names do not fit above the curves and stand in a legend beside them.
    most = max(len(one.measures) for one in powers)
    legend = 1.7 if most > _NAMED_ABOVE else 0
    across = 6.4 + legend if len(powers) == 1 else (4.6 + legend) * shape[1]
    down = max(4.2, 0.21 * min(24, most) + 0.9) * shape[0] + 0.2 * most * (size == "column")
    said = "; ".join(str(one.signature) for one in powers) if signature else None
    with open_canvas(ax, size, said, width=across, height=down, shape=shape) as canvas:
        for axes, power, title in zip(canvas.panels, powers, titles, strict=False):
            _draw_curves(canvas, axes, power, title)
    return canvas.figure


def _draw_curves(canvas: Canvas, axes: Axes, power: DiscriminativePower, title: str) -> None:
    from metaeval.show.labels import End, label_top, place_legend
    from metaeval.show.style import GREY, choose_looks, choose_markers

    curve = power.curve()
    values = curve.to_numpy()
    shown = choose_looks(list(curve.columns))
    found = (values <= power.alpha).sum(axis=0)
    # The last pair, which has the smallest p, is always drawn.
    step = -(-len(curve) // MOST_POINTS)
    curve = curve.iloc[(len(curve) - 1) % step :: step]
    values = curve.to_numpy()
    pairs = curve.index.to_numpy()
    thinned = f"; one of {step:,} drawn" if step > 1 else ""
    ceiling = float(min(1.0, max(0.2, 4 * power.alpha)))
    ends = []
    for rank, position in enumerate(np.argsort(-found, kind="stable").tolist()):
        name, p, title_of = curve.columns[position], values[:, position], power.measures[position].title
        marked = choose_markers(np.flatnonzero((p < ceiling) & (p > 0)), rank)
        axes.plot(pairs, p, markevery=marked, label=f"{title_of} ({found[position]})", **shown[name])
        inside = np.flatnonzero(p <= ceiling)
        start = int(inside[0]) if len(inside) else len(p) - 1
        ends.append(End(float(pairs[start]), ceiling, f"{title_of}\n{found[position]}", shown[name]["color"]))
    axes.axhline(power.alpha, color=GREY, linewidth=0.8)
    axes.annotate(
        f"α = {power.alpha:g}",
        (1, power.alpha),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize=canvas.font_size - 1.5,
    )
    axes.set(
        ylim=(-0.01 * ceiling, ceiling), xlabel=f"run pairs, by p-value from large to small{thinned}", ylabel="p-value"
    )
    first = np.flatnonzero((values <= ceiling).any(axis=1))
    axes.set_xlim(left=max(0, (pairs[first[0]] - 1 if len(first) else 0) - 1), right=power.p_values.shape[1] + 1)
    many = len(ends) > _NAMED_ABOVE
    if many or canvas.is_narrow or not label_top(axes, ends, canvas.font_size - 1.5, "significant\npairs"):
        axes.set_title(title)
        place_legend(canvas, axes, "significant pairs in brackets")
    else:
        axes.set_title(title, pad=4.2 * canvas.font_size)
