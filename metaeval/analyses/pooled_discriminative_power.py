"""How many significant differences does a measure find over several collections? (Sakai, LQ 2021, Eq. 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_seed, remark_shared_topics, warn_of_same_data
from metaeval.analyses.power_result import DiscriminativePower, PowerRows
from metaeval.analyses.variation import Variation
from metaeval.errors import MetaevalError
from metaeval.show.signature import Signature
from metaeval.show.table import Table, cross
from metaeval.stats.collections import FEWEST_COLLECTIONS, explain_too_few, pool, redraw_collections
from metaeval.stats.streams import generator


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledDiscriminativePower(PowerRows):
    """Significant pairs over all pairs, added up over collections.

    Its rows (`to_frame`) have columns measure, significant, pairs, power (ΣS_D / ΣT_D); low and high, the interval over topics
    for these collections and runs; collections_low and collections_high, that for other collections of the same kind; and
    mc_se, the Monte Carlo standard error of significant: collections have trials of their own, so that its square is the sum
    of theirs. Intervals are NaN where there are too few topics, runs or collections. Its `differences` have columns as those of
    `DiscriminativePower`, and collections_low and collections_high.

    Parameters
    ----------
    collections : tuple of str
    by_collection : DataFrame
        S_D, T_D and S_D / T_D of every collection and measure, and pooled (LQ 2021, Table 3): columns collection, measure,
        significant, pairs, power, mc_se; the last collection is ``POOLED``.
    over_collections : Variation
        What intervals for other collections rest on.
    """

    collections: tuple[str, ...]
    by_collection: pd.DataFrame
    over_collections: Variation

    def __repr__(self) -> str:
        return f"PooledDiscriminativePower: {len(self.collections)} collections × {len(self.measures)} measures"

    @property
    def label(self) -> str:  # type: ignore[override]
        """What the figure shows."""
        return f"share of significant run pairs in {len(self.collections)} collections, with interval over topics"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the pooled power, the power by collection and measure, and which measure finds more than which."""
        rows, *differences = super().frames().items()
        return dict([rows, ("by_collection", self.by_collection), *differences])

    def tables(self) -> list[Table]:
        """Return the pooled power with its interval (LQ 2021, Table 3, last row)."""
        legend = ""
        if self.rows["low"].notna().any():
            legend = f"Low and high: {100 * self.over_topics.confidence:g} % interval on other topics"
            legend += ", and of other collections." if self.rows["collections_low"].notna().any() else "."
        names = ", ".join(self.collections)
        caption = f"Discriminative power pooled over {len(self.collections)} collections ({names})."
        why = filter(None, [legend, self.no_interval, self.over_collections.no_interval])
        return self.tabulate(caption, " ".join(why))


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
    measures, pairs = powers[0].measures, np.array([power.p_values.shape[1] for power in powers])
    significant = np.array([power.significant.sum(axis=1) for power in powers])
    errors = np.array([power.rows["mc_se"] for power in powers])
    found, n_pairs, error = significant.sum(axis=0), int(pairs.sum()), np.sqrt(np.square(errors).sum(axis=0))
    over_topics = pool_over_topics(powers)
    over_collections = _pool_over_collections(labels, powers, over_topics, seed)
    low, high = over_topics.find_power_ends(found / n_pairs)
    collections_low, collections_high = over_collections.find_power_ends(found / n_pairs)
    names = [str(measure) for measure in measures]
    rows = pd.DataFrame(
        {
            "measure": names, "significant": found, "pairs": n_pairs, "power": found / n_pairs, "low": low, "high": high,
            "collections_low": collections_low, "collections_high": collections_high, "mc_se": error,
        }
    )  # fmt: skip
    counts, of_all = np.vstack([significant, found]), np.append(pairs, n_pairs)[:, np.newaxis]
    by_collection = cross(
        {"collection": [*labels, "POOLED"], "measure": names},
        significant=counts, pairs=of_all, power=counts / of_all, mc_se=np.vstack([errors, error]),
    )  # fmt: skip
    differences = over_topics.compare(measures, found / n_pairs, powers[0].margin)
    low, high = over_collections.find_difference_ends(found / n_pairs)
    drawn = len(over_collections.shares) > 0
    return PooledDiscriminativePower(
        measures=measures,
        rows=rows,
        differences=differences.assign(collections_low=low, collections_high=high),
        over_topics=over_topics,
        over_collections=over_collections,
        margin=powers[0].margin,
        collections=labels,
        by_collection=by_collection,
        signature=_sign(powers, seed if drawn else None),
        diagnostics=tuple(part for power in powers for part in power.diagnostics),
        remarks=(
            *dict.fromkeys(remark for power in powers for remark in power.remarks),
            *remark_shared_topics(labels, [power.topics for power in powers]),
        ),
        no_interval=over_topics.no_interval,
    )


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
        for option in ("confidence", "simultaneous"):
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
    return Variation(n_topics, pool(drawn, pairs), steps, first.confidence, why, first.simultaneous)


def _pool_over_collections(
    labels: Sequence[str], powers: Sequence[DiscriminativePower], over_topics: Variation, seed: int
) -> Variation:
    """Return how the pooled power varies where collections might be others, too."""
    pairs, drawn = _list_drawn(powers)
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
