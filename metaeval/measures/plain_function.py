"""A measure from a plain function of arrays: what kind it is and which direction it has, seen by trying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.base import Kind, Measure
from metaeval.measures.calls import find_gold, list_arrays, put_estimated_first
from metaeval.measures.conformance import SLACK, accept_batches, make_perfect_data, make_trial_data

_N_CLASSES = 5


def measure_of_function(function: Callable[..., Any], name: str | None = None) -> tuple[Measure, str]:
    """Return a measure made of an undecorated function, and a sentence that says what was assumed about it.

    A function of one array is a classification measure, a function of two a quantification measure, in which names such
    as `gold` and `predicted` tell the arrays apart; its direction is the one in which the perfect run is best.
    """
    name = name or str(getattr(function, "__name__", type(function).__name__))
    kind = _find_kind(function, name)
    bare = Measure(name, None, kind=kind, formula=put_estimated_first(function))
    data = make_trial_data(bare, _N_CLASSES)
    measure, _ = accept_batches(bare, data)
    gain = measure.evaluate(*data)[0] - measure.evaluate(*make_perfect_data(bare, data))[0]
    if not np.isfinite(gain).all() or ((gain > SLACK).any() and (gain < -SLACK).any()) or not gain.any():
        raise MeasureError(
            f"{name}: the perfect run is neither always best nor always worst, so its direction cannot be seen; "
            f"decorate it with @metaeval.{kind}_measure(higher_is_better=…, range=(…, …))"
        )
    higher = bool((gain <= SLACK).all())
    note = f"{name} is not decorated: taken as a {kind} measure of which {'higher' if higher else 'lower'} is better"
    if kind == "quantification" and find_gold(function) is None:
        note += f", and called as {name}(estimated, gold)"
    return replace(measure, higher_is_better=higher), note


def _find_kind(function: Callable[..., Any], name: str) -> Kind:
    try:
        arrays = list_arrays(function)
    except (TypeError, ValueError):
        raise MeasureError(f"{name} is not a measure: nothing says which arrays it takes") from None
    if len(arrays) not in (1, 2):
        raise MeasureError(
            f"{name} is not a measure: it takes {len(arrays)} arrays, and a measure takes counts (K × K), or estimated "
            "and gold (K each)"
        )
    return "classification" if len(arrays) == 1 else "quantification"
