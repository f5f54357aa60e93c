"""Uniform permutations within topics, each a pure function of (key, trial, topic)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.streams import trial_keys


def permutations(key: int, trials: npt.ArrayLike, n_topics: int, n_runs: int) -> npt.NDArray[np.intp]:
    """Return the permutations of the runs for each topic and trial, as `randomised_tukey_hsd` uses them.

    Each is uniform over all orders and a pure function of (key, trial, topic, n_runs): it does not depend on which
    other trials and topics are requested.

    Parameters
    ----------
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    trials : array_like of int, shape (n_trials,)
        Trial numbers, from 0, for example `range(100)`.
    n_topics, n_runs : int
        At least 1 topic and 2 runs.

    Returns
    -------
    ndarray of int, shape (trial, topic, column)
        `[b, t, j]` is the run whose score on topic t is in column j in trial b.

    Examples
    --------
    >>> orders = permutations(7, range(3), n_topics=2, n_runs=4)
    >>> orders.shape
    (3, 2, 4)
    >>> np.sort(orders, axis=-1)[0, 0].tolist()
    [0, 1, 2, 3]
    """
    numbers = np.atleast_1d(np.asarray(trials))
    if n_runs < 2:
        raise MetaevalError(f"A permutation needs at least two runs, not {n_runs}.")
    if n_topics < 1:
        raise MetaevalError(f"A permutation needs at least one topic, not {n_topics}.")
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0):
        raise MetaevalError("Trial numbers must be integers from 0.")
    from metaeval.stats._permuted_sums import compute_orders

    return compute_orders(trial_keys(key, numbers), n_topics, n_runs)
