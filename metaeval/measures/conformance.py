"""Does a measure keep its word? What is checked before a newly proposed measure is compared with others."""

from __future__ import annotations

import itertools
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np

from metaeval.errors import MeasureError, MetaevalWarning
from metaeval.measures.base import Measure
from metaeval.measures.registry import measure as registered
from metaeval.measures.user import load
from metaeval.stats.streams import generator

_CASES = 24  # matrices, or pairs of distributions, of each kind
_SLACK = 1e-9


@dataclass(frozen=True)
class Conformance:
    """What the checks found out about a measure that passed them.

    Parameters
    ----------
    measure : Measure
        The measure to go on with: where the given one takes a single topic at a time, this one calls it topic
        by topic.
    seconds : float
        Time for one matrix, or pair of distributions, in a batch.
    notes : tuple of str
        What its author may want to know: that it is called topic by topic, for instance.
    """

    measure: Measure
    seconds: float
    notes: tuple[str, ...] = ()


def conformance(measure: Measure, n_classes: int = 5) -> Conformance:
    """Does a measure keep its word: shape, finite values, range, direction, the perfect run best?

    Parameters
    ----------
    measure : Measure
        With a formula.
    n_classes : int, optional
        Classes of the made-up data it is tried on; among them are one-item topics, empty gold classes, constant
        runs, uniform ones and perfect ones.

    Returns
    -------
    Conformance

    Raises
    ------
    MeasureError
        If it does not, in one sentence with an example.

    Examples
    --------
    >>> import metaeval
    >>> conformance(metaeval.measure("NMD")).notes
    ()
    """
    data = _made_up(measure, n_classes)
    measure, notes = _batched(measure, data)
    began = time.perf_counter()
    scores, _ = measure.evaluate(*data)
    seconds = (time.perf_counter() - began) / scores.size
    low, high = measure.range
    _refuse(measure, data, ~np.isfinite(scores), scores, "which is not a finite number")
    beyond = (scores < low - _SLACK) | (scores > high + _SLACK)
    _refuse(measure, data, beyond, scores, f"outside its declared range [{low:g}, {high:g}]")
    best, _ = measure.evaluate(*_perfect(measure, data))
    gain = (scores - best) * (1 if measure.higher_is_better else -1)
    _refuse(measure, data, gain > _SLACK, scores, _direction(measure, best, gain))
    if np.ptp(scores) == 0:
        raise MeasureError(f"{measure} gives {scores.flat[0]:g} to everything it was tried on, perfect runs or not")
    return Conformance(measure, seconds, notes)


def _made_up(measure: Measure, n_classes: int) -> tuple[np.ndarray, ...]:
    """Counts of shape (case, K, K), or distributions of shape (case, K), of every kind that breaks formulas."""
    rng = generator(0, "conformance")
    if measure.kind == "classification":
        shares = rng.dirichlet(np.full(n_classes**2, 0.4), size=_CASES)
        random = rng.multinomial(30, shares).reshape(-1, n_classes, n_classes)
        single = rng.multinomial(1, shares).reshape(-1, n_classes, n_classes)
        constant = np.zeros((n_classes, n_classes, n_classes), dtype=int)
        constant[np.arange(n_classes), :, np.arange(n_classes)] = 1 + np.arange(n_classes)
        return (np.concatenate([random, single, constant]).astype(float),)
    estimated, gold = rng.dirichlet(np.full(n_classes, 0.6), size=(2, _CASES))
    certain = np.eye(n_classes)
    pairs = np.array(list(itertools.product(range(n_classes), repeat=2)))
    uniform = np.full((n_classes, n_classes), 1 / n_classes)
    return (
        np.concatenate([estimated, certain[pairs[:, 0]], uniform]),
        np.concatenate([gold, certain[pairs[:, 1]], certain]),
    )


def _perfect(measure: Measure, data: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    if measure.kind == "classification":
        sizes = data[0].sum(axis=-1)
        return (sizes[..., None] * np.eye(sizes.shape[-1]),)
    return data[1], data[1]


def _batched(measure: Measure, data: tuple[np.ndarray, ...]) -> tuple[Measure, tuple[str, ...]]:
    """Return a measure that takes leading axes: the given one, or one that calls it topic by topic."""
    one_by_one = _topic_by_topic(measure)
    single, _ = one_by_one.evaluate(*data)
    try:
        together, _ = measure.evaluate(*data)
    except MeasureError:
        together = np.empty(0)
    if together.shape == single.shape and np.allclose(together, single, rtol=1e-9, atol=1e-12, equal_nan=True):
        return measure, ()
    note = (
        f"{measure} takes one topic at a time and is called so; written for leading axes (…, K), with axis=-1, "
        "it would be much faster"
    )
    return one_by_one, (note,)


def _topic_by_topic(measure: Measure) -> Measure:
    formula = measure.formula
    if formula is None:
        raise MeasureError(f"{measure} is known by its scores only, there is no formula to check")
    axes = 2 if measure.kind == "classification" else 1

    def each(*arrays: np.ndarray, **parameters: object) -> np.ndarray:
        shape = np.broadcast_shapes(*(array.shape[:-axes] for array in arrays))
        cases = [np.broadcast_to(array, shape + array.shape[-axes:]) for array in arrays]
        scores = np.empty(shape)
        for index in np.ndindex(shape):
            score = np.asarray(formula(*(case[index] for case in cases), **parameters), dtype=np.float64)
            if score.shape != ():
                raise MeasureError(
                    f"{measure} returned shape {score.shape} for one topic of shape {cases[0][index].shape}: "
                    "it returns one number a topic"
                )
            scores[index] = score
        return scores

    return replace(measure, formula=each)


def _refuse(measure: Measure, data: tuple[np.ndarray, ...], wrong: np.ndarray, scores: np.ndarray, why: str) -> None:
    if wrong.any():
        case = int(np.argmax(wrong))
        if measure.kind == "classification":
            example = f"counts {data[0][case].astype(int).tolist()} (rows gold, columns predicted)"
        else:
            example = f"estimated {data[0][case].round(3).tolist()} and gold {data[1][case].round(3).tolist()}"
        raise MeasureError(f"{measure} gives {scores[case]:.6g} for {example}, {why}")


def _direction(measure: Measure, best: np.ndarray, gain: np.ndarray) -> str:
    case = int(np.argmax(gain))
    stated = "higher" if measure.higher_is_better else "lower"
    turned = gain > _SLACK
    hint = f"; is {stated} really better?" if turned.mean() > 0.5 else ""
    return f"better than the perfect run's {best[case]:.6g}, {stated} being better{hint}"


def plain_measure(function: object, name: str) -> tuple[Measure, str]:
    """Make a measure of an undecorated function, and say what was assumed about it.

    One array to take makes it a classification measure, two a quantification measure; the direction is that in
    which the perfect run is best.

    Parameters
    ----------
    function : callable
        Of ``counts``, or of ``estimated`` and ``gold``, for one topic or with leading axes.
    name : str

    Returns
    -------
    measure : Measure
        Its range is not known.
    note : str

    Raises
    ------
    MeasureError
        If it takes neither one nor two arrays, or the perfect run is best in neither direction.
    """
    import inspect

    if not callable(function):
        raise MeasureError(f"{name} is not a function")
    taken = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(taken) not in (1, 2):
        raise MeasureError(
            f"{name} takes {len(taken)} arrays: a measure takes counts (K × K), or estimated and gold (K each)"
        )
    kind = "classification" if len(taken) == 1 else "quantification"
    bare = Measure(name, None, kind=kind, formula=function)  # type: ignore[arg-type]
    data = _made_up(bare, 5)
    each = _topic_by_topic(bare)
    gain = each.evaluate(*data)[0] - each.evaluate(*_perfect(bare, data))[0]
    if not np.isfinite(gain).all() or ((gain > _SLACK).any() and (gain < -_SLACK).any()) or not gain.any():
        raise MeasureError(
            f"{name}: the perfect run is neither always best nor always worst, so its direction cannot be seen; "
            f"decorate it with @metaeval.{kind}_measure(higher_is_better=…, range=(…, …))"
        )
    higher = bool((gain <= _SLACK).all())
    note = f"{name} is not decorated: taken as a {kind} measure of which {'higher' if higher else 'lower'} is better"
    return replace(bare, higher_is_better=higher), note


def measure_of_file(reference: str) -> Measure:
    """Return the measure that a user's ``FILE.py:FUNCTION`` holds, decorated or plain.

    Parameters
    ----------
    reference : str

    Returns
    -------
    Measure

    Raises
    ------
    MeasureError
        If the file cannot be run, or the function is no measure.

    Warns
    -----
    MetaevalWarning
        What was assumed about a plain function.
    """
    function = load(reference)
    if isinstance(getattr(function, "measure", None), Measure):
        return registered(function)
    measure, note = plain_measure(function, reference.rpartition(":")[2])
    warnings.warn(note, MetaevalWarning, stacklevel=2)
    return measure
