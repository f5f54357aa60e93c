"""Calling a function that somebody else wrote: it sees copies, changes no setting, and returns real numbers or fails."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import random
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaeval.errors import MeasureError, MetaevalError

GOLD_NAMES = frozenset({"gold", "true", "truth", "target", "reference", "ref", "actual", "human", "label"})
ESTIMATED_NAMES = frozenset({
    "estimated", "estimate", "est", "predicted", "prediction", "pred", "hat", "yhat", "hypothesis", "hyp",
})  # fmt: skip
MAKERS = frozenset({"system", "sys", "run", "model", "output"})
"""What authors call the two distributions, as a word of the argument's name: ``y_true``, ``predDist``, ``labels``; and who
makes an estimate, which ``gold_run`` is not."""

_LONGEST = 300  # letters of somebody else's message
_turns = itertools.count(1)
_lock = threading.RLock()  # settings are the whole process's


def list_arrays(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arrays that a function takes: of its positional arguments without a default.

    A function that is written in C may have no signature, and then none.
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in parameters if one.kind in kinds and one.default is one.empty]


def find_gold(function: Callable[..., Any]) -> int | None:
    """Return which of the two arrays of a function is the gold, by their names; None where these say nothing of it."""
    arrays = list_arrays(function)
    sides = [_tell_side(array) for array in arrays]
    if len(sides) != 2 or not any(sides):
        return None
    if sides[0] == sides[1]:
        raise MeasureError(f"which of {arrays[0]} and {arrays[1]} is the gold? call them gold and estimated")
    return 0 if sides[0] == "gold" or sides[1] == "estimated" else 1


def _tell_side(array: str) -> str | None:
    found = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", array)}
    words = found | {word.removesuffix("s") for word in found}
    if words & ESTIMATED_NAMES:  # predicted_gold is no gold
        return "estimated"
    return "gold" if words & GOLD_NAMES else "estimated" if words & MAKERS else None


def put_estimated_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as one of (estimated, gold), which measures are called with, if its arguments are the other way."""
    if find_gold(function) != 0:
        return function

    @functools.wraps(function)
    def exchanged(estimated: np.ndarray, gold: np.ndarray, **parameters: Any) -> Any:
        return function(gold, estimated, **parameters)

    first, second, *others = inspect.signature(function).parameters.values()
    names = [second.replace(kind=first.kind), first.replace(kind=second.kind), *others]
    exchanged.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
    return exchanged


def call_formula(
    formula: Callable[..., Any], arrays: tuple[np.ndarray, ...], parameters: Mapping[str, Any]
) -> np.ndarray:
    """Return the scores that a function gives for copies of arrays, as float64.

    The message of an error begins with "it", because the function has no name here.
    """
    copies = tuple(np.array(array, dtype=np.float64) for array in arrays)
    for copy in copies:
        copy.flags.writeable = False
    try:
        with keep_settings():
            scores = read_scores(formula(*copies, **parameters))
    except (Exception, SystemExit) as error:
        raise MeasureError(describe_error(error)) from error
    if scores.size > sum(array.size * max(array.shape, default=1) for array in copies):
        raise MeasureError(f"it returned shape {scores.shape}: more numbers than it was given")
    return scores


def read_scores(returned: Any) -> np.ndarray:
    """Return what a function returned as float64; an error where it is masked, complex, a date, text or nothing."""
    masked = isinstance(returned, np.ma.MaskedArray)
    scores = np.asarray(returned)
    if masked or scores.dtype.kind not in "biuf":
        what = "nothing" if returned is None else f"values of type {scores.dtype}"
        raise MeasureError(f"it returned {'a masked array' if masked else what}, not real numbers")
    return scores.astype(np.float64)


def describe_error(error: BaseException) -> str:
    """Return what went wrong in somebody else's code as one short line."""
    if isinstance(error, SystemExit):
        return f"it ends the program with sys.exit({error.code!r})"[:_LONGEST]
    if isinstance(error, MetaevalError):
        return str(error)
    message = " ".join(str(error).split())
    message = f"{message[:_LONGEST]}…" if len(message) > _LONGEST else message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


@contextmanager
def keep_settings() -> Iterator[None]:
    """Restore numpy's error settings, filters of warnings, global random states and the working folder afterwards.

    Inside, what is printed goes to stderr, since stdout holds results. Random states are different each time, and not
    those of the caller: restored alone they would give every call of a random measure the same numbers, and nobody would
    see that it is random.
    """
    with _lock:
        numbers, states = random.getstate(), np.random.get_state()  # noqa: NPY002  (the global state is the point)
        folder = os.getcwd()
        turn = next(_turns)
        random.seed(turn)
        np.random.seed(turn % 2**32)  # noqa: NPY002
        try:
            with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings(), redirect_stdout(sys.stderr):
                yield
        finally:
            random.setstate(numbers)
            np.random.set_state(states)  # noqa: NPY002
            os.chdir(folder)


@dataclass(frozen=True)
class EachTopic:
    """A formula of one topic, of that many axes (2 for counts, 1 for distributions), made one that takes leading axes."""

    formula: Callable[..., Any]
    axes: int

    def __call__(self, *arrays: np.ndarray, **parameters: Any) -> np.ndarray:
        """Return one score a topic, shape (...)."""
        shape = np.broadcast_shapes(*(array.shape[: -self.axes] for array in arrays))
        cases = [np.broadcast_to(array, shape + array.shape[-self.axes :]) for array in arrays]
        scores = np.empty(shape)
        for index in np.ndindex(shape):
            score = read_scores(self.formula(*(case[index] for case in cases), **parameters))
            if score.shape != ():
                raise MeasureError(
                    f"it returned shape {score.shape} for one topic of shape {cases[0][index].shape}: "
                    "it must return one number per topic"
                )
            scores[index] = score
        return scores
