"""The established measures: what a new one is compared with, and what runs are scored with by default."""

from __future__ import annotations

from metaeval.measures.base import Kind, Measure
from metaeval.measures.resolve import resolve_measures

ESTABLISHED: dict[Kind, tuple[str, ...]] = {
    "classification": ("CEM_ORD", "kappa", "alpha_ORD", "alpha_INT", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR"),
    "quantification": ("NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD"),
}
"""The nine measures of ordinal classification and the six of ordinal quantification of Sakai (ACL 2021, §2)."""


def established_measures(kind: Kind) -> tuple[Measure, ...]:
    """Return the papers' measures of a kind.

    Parameters
    ----------
    kind : {"classification", "quantification"}

    Returns
    -------
    tuple of Measure

    Examples
    --------
    >>> import metaeval
    >>> [str(one) for one in established_measures("quantification")]
    ['NMD', 'RNOD', 'RSNOD', 'NVD', 'RNSS', 'JSD']
    """
    return resolve_measures(ESTABLISHED[kind])
