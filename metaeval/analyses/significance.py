"""Do measures agree on which runs differ significantly? (Sakai, LQ 2021, §5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.result import Result
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.signature import Signature


@dataclass(frozen=True, eq=False)
class SignificanceOverlap(Result):
    """How the significant differences found by two measures overlap.

    Parameters
    ----------
    collection : str
    measures : tuple of Measure
    both : ndarray of int, shape (measure, measure)
        ``both[i, j]`` is b, the number of run pairs significant with both measures; the diagonal holds S_D.
    signature : Signature
    """

    collection: str
    measures: tuple[Measure, ...]
    both: np.ndarray
    signature: Signature

    def __repr__(self) -> str:
        return f"SignificanceOverlap: {len(self.measures)} measures, {self.collection or 'scores'}"

    def to_frame(self) -> pd.DataFrame:
        """Return a, b, c and SSO = b / (a + b + c) of every pair of measures: LQ 2021, Table 4.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, a (significant with measure 1 only), b (with both), c (with measure
            2 only), sso; sso is NaN where neither measure finds anything.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        names = np.array([str(one) for one in self.measures], dtype=object)
        found = np.diagonal(self.both)
        b = self.both[first, second]
        a, c = found[first] - b, found[second] - b
        union = a + b + c
        sso = np.divide(b, union, out=np.full(len(b), np.nan), where=union > 0)
        return pd.DataFrame({"measure_1": names[first], "measure_2": names[second], "a": a, "b": b, "c": c, "sso": sso})


def significance_overlap(power: DiscriminativePower) -> SignificanceOverlap:
    """Do two measures find the same pairs of runs significantly different?

    Parameters
    ----------
    power : DiscriminativePower
        Of two measures or more; nothing is tested again.

    Returns
    -------
    SignificanceOverlap

    Raises
    ------
    MetaevalError
        If there is one measure only.

    Examples
    --------
    >>> from metaeval.scores import Scores
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None] ** [1, 2]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["NMD", "RNOD"])
    >>> significance_overlap(discriminative_power(scores, n_permutations=500)).to_frame()
      measure_1 measure_2  a  b  c  sso
    0       NMD      RNOD  0  2  0  1.0
    """
    _several_measures(power)
    found = power.significant.astype(np.int64)
    signature = _follows(power, "significance_overlap")
    return SignificanceOverlap(power.collection, power.measures, found @ found.T, signature)


@dataclass(frozen=True, eq=False)
class SignificanceContradictions(Result):
    """Pairs of runs of which two measures say opposite things, both significantly.

    Parameters
    ----------
    collection : str
    runs : tuple of str
    measures : tuple of Measure
    verdicts : ndarray of int, shape (measure, pair)
        +1 where the first run of a pair is significantly better, −1 where the second is, 0 otherwise.
    signature : Signature
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    verdicts: np.ndarray
    signature: Signature

    def __repr__(self) -> str:
        return f"SignificanceContradictions: {len(self.measures)} measures, {self.collection or 'scores'}"

    def to_frame(self) -> pd.DataFrame:
        """Return the number of contradictions of every pair of measures: LQ 2021, Table 5.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, contradictions.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        names = np.array([str(one) for one in self.measures], dtype=object)
        counts = (self.verdicts[first] * self.verdicts[second] == -1).sum(axis=1)
        return pd.DataFrame({"measure_1": names[first], "measure_2": names[second], "contradictions": counts})

    def run_pairs(self) -> pd.DataFrame:
        """Return the exhaustive list of contradictions, and who says what: LQ 2021, Table 6.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, run_1, run_2: measure 1 says that run 1 significantly outperforms
            run 2, measure 2 says the reverse.
        """
        pair_a, pair_b = np.triu_indices(len(self.runs), 1)
        rows = []
        for i, j in zip(*np.triu_indices(len(self.measures), 1), strict=True):
            for pair in np.flatnonzero(self.verdicts[i] * self.verdicts[j] == -1):
                ahead, behind = (pair_a[pair], pair_b[pair])[:: self.verdicts[i, pair]]
                rows.append((str(self.measures[i]), str(self.measures[j]), self.runs[ahead], self.runs[behind]))
        return pd.DataFrame(rows, columns=["measure_1", "measure_2", "run_1", "run_2"])


def significance_contradictions(power: DiscriminativePower) -> SignificanceContradictions:
    """Of which pairs of runs do two measures say opposite things, both significantly?

    Parameters
    ----------
    power : DiscriminativePower
        Of two measures or more; nothing is tested again.

    Returns
    -------
    SignificanceContradictions

    Raises
    ------
    MetaevalError
        If there is one measure only.

    Examples
    --------
    >>> from metaeval.scores import Scores
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> up = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> scores = Scores(np.concatenate([up, up], axis=-1), runs=["a", "b", "c"], topics=range(12),
    ...                 measures=["NMD", "Accuracy"])
    >>> significance_contradictions(discriminative_power(scores, n_permutations=500)).run_pairs()
      measure_1 measure_2 run_1 run_2
    0       NMD  Accuracy     a     c
    1       NMD  Accuracy     b     c
    """
    _several_measures(power)
    verdicts = np.where(power.significant, power.winners, 0)
    signature = _follows(power, "significance_contradictions")
    return SignificanceContradictions(power.collection, power.runs, power.measures, verdicts, signature)


def _several_measures(power: DiscriminativePower) -> None:
    if len(power.measures) < 2:
        raise MetaevalError(f"agreement needs two measures or more; there is {power.measures[0]} only")


def _follows(power: DiscriminativePower, analysis: str) -> Signature:
    """The signature of what follows from a test is the test's own, under the analysis's name."""
    return Signature(analysis, power.signature.data, power.signature.settings, power.signature.version)
