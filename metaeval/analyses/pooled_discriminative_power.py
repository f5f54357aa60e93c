"""How many significant differences does a measure find over several collections? (Sakai, LQ 2021, Eq. 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_seed, check_share, warn_of_same_data
from metaeval.analyses.power_result import DiscriminativePower, summary_table
from metaeval.analyses.result import Result
from metaeval.data.labels import rank_labels
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature
from metaeval.show.table import Table
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
    low, high : ndarray, shape (measure,)
        Ends of the bootstrap interval of the pooled power.
    confidence : float
    signature : Signature
    """

    collections: tuple[str, ...]
    measures: tuple[Measure, ...]
    significant: np.ndarray
    mc_se: np.ndarray
    pairs: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    signature: Signature

    def __repr__(self) -> str:
        return f"PooledDiscriminativePower: {len(self.collections)} collections × {len(self.measures)} measures"

    @property
    def power(self) -> np.ndarray:
        """ΣS_D / ΣT_D, shape (measure,)."""
        return self.significant.sum(axis=0) / self.pairs.sum()

    def to_frame(self) -> pd.DataFrame:
        """Return the pooled power of every measure.

        Returns
        -------
        DataFrame, shape (measure, 7)
            Columns measure, significant, pairs, power, low, high, and mc_se, the Monte Carlo standard error of
            significant: collections have trials of their own, so that its square is the sum of theirs.
        """
        return pd.DataFrame(
            {
                "measure": [str(measure) for measure in self.measures],
                "significant": self.significant.sum(axis=0),
                "pairs": int(self.pairs.sum()),
                "power": self.power,
                "low": self.low,
                "high": self.high,
                "mc_se": self._add_errors(),
            }
        )

    def _add_errors(self) -> np.ndarray:
        return np.sqrt(np.square(self.mc_se).sum(axis=0))

    def by_collection(self) -> pd.DataFrame:
        """Return S_D, T_D and S_D / T_D of every collection and measure, and pooled: LQ 2021, Table 3.

        Returns
        -------
        DataFrame
            Columns collection, measure, significant, pairs, power, mc_se; the last collection is ``POOLED``.
        """
        result = np.vstack([self.significant, self.significant.sum(axis=0)])
        pairs = np.append(self.pairs, self.pairs.sum())
        names = [str(measure) for measure in self.measures]
        return pd.DataFrame(
            {
                "collection": np.repeat(np.array([*self.collections, "POOLED"], dtype=object), len(names)),
                "measure": names * len(pairs),
                "significant": result.ravel(),
                "pairs": np.repeat(pairs, len(names)),
                "power": (result / pairs[:, None]).ravel(),
                "mc_se": np.vstack([self.mc_se, self._add_errors()]).ravel(),
            }
        )

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the power by collection and measure."""
        return {"by_collection": self.by_collection()}

    def to_table(self) -> Table:
        """Return the pooled power with its interval (LQ 2021, Table 3, last row)."""
        frame = self.to_frame().assign(low=lambda f: 100 * f["low"], high=lambda f: 100 * f["high"])
        names = ", ".join(self.collections)
        caption = f"Discriminative power pooled over {len(self.collections)} collections ({names})."
        return summary_table(frame, caption, self.signature)

    def charts(self) -> Sequence[Chart]:
        """Return the pooled discriminative power of every measure with its interval."""
        rows = [
            Row(str(measure), measure.title, self.power[m], line=(self.low[m], self.high[m]))
            for m, measure in sorted(enumerate(self.measures), key=lambda row: self.power[row[0]])
        ]
        label = f"share of significant run pairs in {len(self.collections)} collections, with interval over runs"
        return [IntervalChart(rows[::-1], label)]


def pooled_discriminative_power(
    powers: Sequence[DiscriminativePower], *, n_bootstrap: int = 1000, confidence: float = 0.95, seed: int = 0
) -> PooledDiscriminativePower:
    """How many significant differences does a measure find over several collections?

    Parameters
    ----------
    powers : sequence of DiscriminativePower
        One a collection, of the same measures, by the same test at the same α.
    n_bootstrap : int, optional
        Resamples for the interval; 0 for none. Runs are drawn with replacement within each collection and
        the pairs of different runs counted, since pairs that share a run are not independent. It says how
        much the pooled power depends on which runs happened to be there.
    confidence : float, optional
        Level of the percentile interval.
    seed : int, optional

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
    check_share("confidence", confidence)
    check_count("n_bootstrap", n_bootstrap, 0)
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
    low, high = _find_interval(labels, powers, n_bootstrap, confidence, seed)
    return PooledDiscriminativePower(
        labels, powers[0].measures, significant, mc_se, pairs, low, high, confidence, _sign(powers, n_bootstrap, seed),
        diagnostics=tuple(part for power in powers for part in power.diagnostics),
        remarks=tuple(dict.fromkeys(remark for power in powers for remark in power.remarks)),
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
        if other.test != first.test:
            raise MetaevalError(f"{other.collection} was tested by {other.test}, {first.collection} by {first.test}")
        if other.alpha != first.alpha:
            raise MetaevalError(
                f"{other.collection} was tested at α = {other.alpha:g}, {first.collection} at {first.alpha:g}"
            )


def _find_interval(
    labels: Sequence[str], powers: Sequence[DiscriminativePower], n_bootstrap: int, confidence: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the bootstrap interval of every measure's pooled power; NaN without resamples."""
    if not n_bootstrap:
        none = np.full(len(powers[0].measures), np.nan)
        return none, none
    # Runs are drawn in the order of the labels of collections and runs.
    rng = generator(seed, *sorted(labels), "pooled_discriminative_power")
    by_label = [power for _, power in sorted(zip(labels, powers, strict=True), key=lambda item: item[0])]
    drawn = np.sum([_resampled(each, n_bootstrap, rng) for each in by_label], axis=0)
    shares = drawn[0] / np.maximum(drawn[1], 1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(shares, [tail, 1 - tail], axis=0)
    return low, high


def _sign(powers: Sequence[DiscriminativePower], n_bootstrap: int, seed: int) -> Signature:
    """Return the settings of the first test, which is that of all, with those of the resampling in place of its own."""
    first = powers[0].signature
    resampling = (("bootstrap", f"{n_bootstrap:,}"), ("seed", str(seed))) if n_bootstrap else ()
    return Signature(
        "pooled_discriminative_power",
        tuple(part for power in powers for part in power.signature.data),
        (*(s for s in first.settings if s[0] not in ("seed", "bootstrap")), *resampling),
        first.version,
    )


def _resampled(power: DiscriminativePower, n_bootstrap: int, rng: np.random.Generator) -> np.ndarray:
    """Return (S, T) of each resample, shape (2, resample, measure): a pair counts as often as its runs were drawn."""
    n_runs = len(power.runs)
    drawn = rng.multinomial(n_runs, np.full(n_runs, 1 / n_runs), size=n_bootstrap)[:, rank_labels(power.runs)]
    first, second = power.pairs
    weights = drawn[:, first] * drawn[:, second]
    result = weights @ power.significant.T.astype(np.int64)
    return np.stack([result, np.broadcast_to(weights.sum(axis=1, keepdims=True), result.shape)])
