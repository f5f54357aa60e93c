"""The measures that the pages offer: the registered ones, and those of the file named on the command line."""

from __future__ import annotations

import os
from functools import cache

from metaeval.measures import Measure, measure, measures
from metaeval.measures.base import Kind

VARIABLE = "METAEVAL_APP_MEASURES"
"""Environment variable by which the command hands over ``FILE.py:FUNCTION``, one a line: no page runs other code."""


@cache
def _own(named: str) -> tuple[Measure, ...]:
    return tuple(measure(one) for one in named.splitlines() if one)


def find_measures(kind: Kind) -> list[Measure]:
    """Return the measures of a kind, the user's own first.

    Parameters
    ----------
    kind : {"classification", "quantification"}

    Returns
    -------
    list of Measure
    """
    own = [one for one in _own(os.environ.get(VARIABLE, "")) if one.kind == kind]
    names = {str(one) for one in own}
    return own + [one for one in measures() if one.kind == kind and str(one) not in names]
