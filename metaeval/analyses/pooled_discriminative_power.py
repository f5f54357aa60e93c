"""How many significant differences does a measure find over several collections? (Sakai, LQ 2021, Eq. 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_seed, remark_shared_topics, warn_of_same_data
from metaeval.analyses.power_result import DiscriminativePower, explain_differences, shorten_summary, summary_table
from metaeval.analyses.result import Result
from metaeval.analyses.variation import Variation, say_who_finds_most
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature
from metaeval.show.frames import cross
from metaeval.show.table import Table
from metaeval.stats.collections import FEWEST_COLLECTIONS, explain_too_few, pool, redraw_collections
from metaeval.stats.other_runs import ELSEWHERE
from metaeval.stats.streams import generator


@dataclass(frozen=True, eq=False)
class PooledDiscriminativePower(Result):
    """Significant pairs over all pairs, added up over collections.

    Parameters
    ----------
    collections : tuple of str
    measures : tuple of Measure
    significant : ndarray of int, shape (collection, measure)
        S_D.
    mc_se : ndarray, shape (collection, measure)
        Monte Carlo standard error of S_D; NaN for tests without trials.
    pairs : ndarray of int, shape (collection,)
        T_D.
    over_topics, over_collections : Variation
        What intervals rest on: these collections with other topics, and other collections.
    signature : Signature
    margin : float
        Up to which difference two measures' power is alike.
    """

    collections: tuple[str, ...]
    measures: tuple[Measure, ...]
    significant: np.ndarray
    mc_se: np.ndarray
    pairs: np.ndarray
    over_topics: Variation
    over_collections: Variation
    signature: Signature
    margin: float

    def __repr__(self) -> str:
        return f"PooledDiscriminativePower: {len(self.collections)} collections × {len(self.measures)} measures"

    @property
    def power(self) -> np.ndarray:
        """ΣS_D / ΣT_D, shape (measure,)."""
        return self.significant.sum(axis=0) / self.pairs.sum()

    def to_frame(self) -> pd.DataFrame:
        """Return the pooled power of every measure.

        Of shape (measure, 9), with columns measure, significant, pairs, power; low and high, the interval over topics
        for these collections and runs; collections_low and collections_high, that for other collections of the same
        kind; and mc_se, the Monte Carlo standard error of significant: collections have trials of their own, so that
        its square is the sum of theirs. Intervals are NaN where there are too few topics, runs or collections.
        """
        ends = dict(zip(("low", "high"), self.over_topics.find_power_ends(self.power), strict=True))
        elsewhere = self.over_collections.find_power_ends(self.power)
        ends |= dict(zip(("collections_low", "collections_high"), elsewhere, strict=True))
        counted = {"significant": self.significant.sum(axis=0), "pairs": int(self.pairs.sum()), "power": self.power}
        names = [str(measure) for measure in self.measures]
        return pd.DataFrame({"measure": names, **counted, **ends, "mc_se": self._add_errors()})

    def compare_power(self) -> pd.DataFrame:
        """Does one measure find more than another? The difference of every two, paired over resampled topics.

        Of shape (pair of measures, 9), with columns as of `DiscriminativePower.compare_power`, and collections_low
        and collections_high, the interval of the difference for other collections.
        """
        low, high = self.over_collections.find_difference_ends(self.power)
        frame = self.over_topics.compare(self.measures, self.power, self.margin)
        return frame.assign(collections_low=low, collections_high=high)

    def answer(self) -> str:
        """Say which measure finds most differences in all collections together."""
        return say_who_finds_most(
            self.measures, self.significant.sum(axis=0), int(self.pairs.sum()), self.compare_power()
        )

    def _add_errors(self) -> np.ndarray:
        return np.sqrt(np.square(self.mc_se).sum(axis=0))

    def by_collection(self) -> pd.DataFrame:
        """Return S_D, T_D and S_D / T_D of every collection and measure, and pooled: LQ 2021, Table 3.

        Columns collection, measure, significant, pairs, power, mc_se; the last collection is ``POOLED``.
        """
        result = np.vstack([self.significant, self.significant.sum(axis=0)])
        pairs = np.append(self.pairs, self.pairs.sum())
        names = {"collection": [*self.collections, "POOLED"], "measure": [str(measure) for measure in self.measures]}
        mc_se = np.vstack([self.mc_se, self._add_errors()])
        return cross(names, significant=result, pairs=pairs[:, None], power=result / pairs[:, None], mc_se=mc_se)

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the power by collection and measure, and which measure finds more than which."""
        return {"by_collection": self.by_collection(), "differences": self.compare_power()}

    def to_table(self) -> Table:
        """Return the pooled power with its interval (LQ 2021, Table 3, last row)."""
        frame = self.to_frame()
        ends = ["low", "high", "collections_low", "collections_high"]
        frame[ends] *= 100
        names = ", ".join(self.collections)
        caption = f"Discriminative power pooled over {len(self.collections)} collections ({names})."
        legend, level = "", f"{100 * self.over_topics.confidence:g} %"
        if frame["low"].notna().any():
            legend = f"Low and high: {level} interval {ELSEWHERE[self.over_topics.over]}"
            legend += ", and of other collections." if frame["collections_low"].notna().any() else "."
        legend = " ".join(filter(None, [legend, self.over_topics.no_interval, self.over_collections.no_interval]))
        shown = frame.drop(columns=[end for end in ends if frame[end].isna().all()])
        return summary_table(shown, caption, self.signature, legend)

    def why_no_interval(self) -> str:
        """Return in a sentence why there is no interval, if one was asked for."""
        return self.over_topics.no_interval

    def short_tables(self) -> list[Table]:
        """Return the table without the number of all pairs, which the answer has, and without Monte Carlo errors."""
        return [shorten_summary(self.to_table())]

    def explained_tables(self) -> list[Table]:
        """Return further what is known of the measure that finds most, and every other."""
        more = explain_differences(self.compare_power(), self.to_frame(), self.margin, self.signature)
        return [self.to_table(), *more]

    def charts(self) -> Sequence[Chart]:
        """Return the pooled discriminative power of every measure with its interval."""
        low, high = self.over_topics.find_power_ends(self.power)
        rows = [
            Row(str(measure), measure.title, self.power[m], line=(low[m], high[m]))
            for m, measure in sorted(enumerate(self.measures), key=lambda row: self.power[row[0]])
        ]
        label = f"share of significant run pairs in {len(self.collections)} collections, with interval over topics"
        return [IntervalChart(rows[::-1], label)]


def pooled_discriminative_power(powers: Sequence[DiscriminativePower], *, seed: int = 0) -> PooledDiscriminativePower:
    """How many significant differences does a measure find over several collections?

    Parameters
    ----------
    powers : sequence of DiscriminativePower
        One a collection, of the same measures, by the same test at the same α. Intervals over topics rest on theirs;
        collections with the same topics have the same topics drawn. For other collections, collections are drawn too.
    seed : int, optional
        Of the draws of collections.

    Returns
    -------
    PooledDiscriminativePower

    Raises
    ------
    MetaevalError
        If there are none, or measures or levels differ.

    Warns
    -----
    MetaevalWarning
        If two collections have the same scores.

    Examples
    --------
    >>> from metaeval.data.scores import Scores
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> powers = [discriminative_power(Scores(values + more, runs=["a", "b", "c"], topics=range(12), measures=["NMD"],
    ...           collection=name), n_permutations=500) for name, more in (("one", 0), ("two", 0.02))]
    >>> pooled_discriminative_power(powers).to_frame()[["significant", "pairs"]]
       significant  pairs
    0            4      6
    """
    check_seed(seed)
    powers = list(powers)
    if not powers:
        raise MetaevalError("pooling needs the discriminative power of at least one collection")
    _check_poolable(powers)
    labels = tuple(power.collection or f"collection {number}" for number, power in enumerate(powers, start=1))
    warn_of_same_data(labels, [power.means for power in powers])
    significant = np.array([power.significant.sum(axis=1) for power in powers])
    mc_se = np.array([power.mc_se for power in powers])
    pairs = np.array([power.p_values.shape[1] for power in powers])
    over_topics, over_collections = pool_over_topics(powers), _pool_over_collections(labels, powers, seed)
    drawn = len(over_collections.shares) > 0
    return PooledDiscriminativePower(
        labels, powers[0].measures, significant, mc_se, pairs, over_topics, over_collections,
        _sign(powers, seed if drawn else None), powers[0].margin,
        diagnostics=tuple(part for power in powers for part in power.diagnostics),
        remarks=(
            *dict.fromkeys(remark for power in powers for remark in power.remarks),
            *remark_shared_topics(labels, [power.over_topics.topics for power in powers]),
        ),
    )  # fmt: skip


def _check_poolable(powers: Sequence[DiscriminativePower]) -> None:
    """Refuse a collection that is there twice, and powers of different measures, or by different tests or levels."""
    first = powers[0]
    for number, other in enumerate(powers):
        if other.signature.data in [power.signature.data for power in powers[:number]]:
            raise MetaevalError(
                f"the collection {other.collection or number + 1} is there twice: it would count double"
            )
    names = [str(measure) for measure in first.measures]
    for other in powers[1:]:
        if [str(measure) for measure in other.measures] != names:
            raise MetaevalError(
                f"{other.collection or 'a collection'} has measures {', '.join(map(str, other.measures))}, "
                f"{first.collection or 'the first'} has {', '.join(names)}: they can only be pooled for the same ones"
            )
        for option in ("confidence", "simultaneous", "over"):
            if getattr(other.over_topics, option) != getattr(first.over_topics, option):
                raise MetaevalError(
                    f"{other.collection} and {first.collection} were tested with other {option} of intervals"
                )
        for how, name in (("by", "test"), ("at α =", "alpha"), ("with the margin", "margin")):
            own, usual = getattr(other, name), getattr(first, name)
            if own != usual:
                raise MetaevalError(f"{other.collection} was tested {how} {own}, {first.collection} {how} {usual}")


def pool_over_topics(powers: Sequence[DiscriminativePower]) -> Variation:
    """Return how the pooled power varies over topics."""
    parts, (pairs, drawn) = [power.over_topics for power in powers], _list_drawn(powers)
    steps = pool([part.steps for part in parts], pairs) / len(parts)  # a step of one collection alone
    why = next((part.no_interval for part in parts if part.no_interval), "")
    n_topics, first = min(part.n for part in parts), parts[0]
    return Variation(n_topics, pool(drawn, pairs), steps, first.confidence, why, first.simultaneous, over=first.over)


def _pool_over_collections(labels: Sequence[str], powers: Sequence[DiscriminativePower], seed: int) -> Variation:
    """Return how the pooled power varies where collections might be others, too."""
    pairs, drawn = _list_drawn(powers)
    over_topics = pool_over_topics(powers)
    shares, why = over_topics.shares[:0], explain_too_few(len(powers)) if len(over_topics.shares) else ""
    if len(over_topics.shares) and len(powers) >= FEWEST_COLLECTIONS:
        # Collections are drawn in the order of their labels.
        order = np.argsort(np.array(labels, dtype=object), kind="stable")
        rng = generator(seed, *sorted(labels), "pooled_discriminative_power")
        shares = redraw_collections([drawn[number] for number in order], pairs[order], rng)
    return replace(over_topics, n=max(len(powers), 2), shares=shares, no_interval=why, few=True)


def _list_drawn(powers: Sequence[DiscriminativePower]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return pairs of runs of every collection, and power on resampled topics, as many trials of each."""
    n_trials = min(len(power.over_topics.shares) for power in powers)
    pairs = np.array([power.p_values.shape[1] for power in powers], dtype=np.float64)
    return pairs, [power.over_topics.shares[:n_trials] for power in powers]


def _sign(powers: Sequence[DiscriminativePower], seed: int | None) -> Signature:
    """Return the settings of the first test, which is that of all, and the seed of draws of collections."""
    first = powers[0].signature
    resampling = () if seed is None else (("collections", "drawn"), ("seed", str(seed)))
    return Signature(
        "pooled_discriminative_power",
        tuple(part for power in powers for part in power.signature.data),
        (*(s for s in first.settings if seed is None or s[0] != "seed"), *resampling),
        first.version,
    )
