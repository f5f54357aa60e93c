"""Which way is better, for analyses that have to know."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from metaeval.errors import DirectionWarning, format_list, format_option
from metaeval.measures.base import Measure


def stated_directions(measures: Sequence[Measure]) -> np.ndarray:
    """Return +1 for every measure of which higher is better, −1 otherwise.

    Parameters
    ----------
    measures : sequence of Measure

    Returns
    -------
    ndarray, shape (measure,)

    Warns
    -----
    DirectionWarning
        For measures whose direction nobody stated: higher is then taken to be better.

    Examples
    --------
    >>> import metaeval
    >>> stated_directions([metaeval.measure("NMD"), metaeval.measure("Accuracy")])
    array([-1.,  1.])
    """
    unknown = [str(one) for one in measures if one.higher_is_better is None]
    if unknown:
        way = format_option('Measure("NAME", higher_is_better=…)')
        warnings.warn(
            f"nothing states whether higher {format_list(unknown)} is better: it is taken to be. State it with {way}",
            DirectionWarning,
            stacklevel=4,
        )
    return np.array([-1.0 if one.higher_is_better is False else 1.0 for one in measures])
