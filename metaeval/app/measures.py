"""The measures that the pages offer: the registered ones, and those of the file named on the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from metaeval.errors import MeasureError, format_option
from metaeval.measures import Measure, measure, measures
from metaeval.measures.base import Kind
from metaeval.measures.worker import StoppedError, use_time_limit

VARIABLE = "METAEVAL_APP_MEASURES"
"""Environment variable by which the command hands over ``FILE.py:FUNCTION``, as a list: no page runs other code."""

TIME_LIMIT = 5.0
"""Seconds that a measure of the user's may take for one edit of a page."""

_stopped: dict[str, str] = {}
"""Why a measure is not asked again: otherwise every edit of every visitor would wait for it."""


def hand_over(references: Iterable[str]) -> None:
    """State which measures of the user's the pages are to offer."""
    os.environ[VARIABLE] = json.dumps(list(references))


@cache
def _load_users(named: str) -> tuple[Measure, ...]:
    return tuple(measure(reference) for reference in json.loads(named or "[]"))


def find_measures(kind: Kind) -> list[Measure]:
    """Return the measures of a kind, the user's own first."""
    users = [measure for measure in _load_users(os.environ.get(VARIABLE, "")) if measure.kind == kind]
    names = {str(measure) for measure in users}
    return users + [measure for measure in measures() if measure.kind == kind and str(measure) not in names]


def evaluate(measure: Measure, *arrays: Any) -> tuple[np.ndarray, np.ndarray]:
    """Score as `Measure.evaluate` does; a measure that takes too long, or ends its process, is not asked again."""
    name = str(measure)
    if name in _stopped:
        raise MeasureError(_stopped[name])
    try:
        with use_time_limit(TIME_LIMIT):
            return measure.evaluate(*arrays)
    except StoppedError as error:
        why = str(error).replace(f" ({format_option('time_limit')})", "")  # which pages have no field for
        _stopped[name] = f"{why}. {name} is left out until the playground is started again"
        raise MeasureError(_stopped[name]) from None
