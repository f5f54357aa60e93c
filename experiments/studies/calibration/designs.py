"""Simulated scores whose true means are known: of every kind one design to choose tests on, and another to check them on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np
from scipy.stats import t

import metaeval
from experiments.paper import read_study
from metaeval.errors import MetaevalWarning
from metaeval.stats.resampling import ScoreModel, fit_scores

STUDY = read_study("calibration")
"""The settings of the study, fixed before anything was computed."""

Half: TypeAlias = Literal["choosing", "checking", "neither"]
Residuals = Callable[[np.random.Generator, tuple[int, int, int]], np.ndarray]
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]

HOPELESS = -4.0
"""The score of the hopeless run on every topic; the others have a mean near 0 and a spread of 1 about their topics."""

NOISE = 0.1
"""Spread of what a precise copy adds to the run that it copies, as a share of that run's spread."""


class Design(NamedTuple):
    """A kind of scores, the half it belongs to, and what is added to a topic's effect and a run's mean: of mean 0.

    Designs of neither half show where the words of the domain end.
    """

    kind: str
    half: Half
    residuals: Residuals


class Simulated(NamedTuple):
    """A batch of studies: scores of shape (run, topic, study), and true means, shape (run, study)."""

    values: np.ndarray
    means: np.ndarray


def simulate_design(
    name: str, n_runs: int, n_topics: int, n_studies: int, *, effects: bool, rng: np.random.Generator
) -> Simulated:
    """Draw a batch of studies of one design."""
    shape = (n_runs, n_topics, n_studies)
    means = draw_shifts(n_runs, n_topics, n_studies, rng) if effects else np.zeros((n_runs, n_studies))
    # Multiples of a power of two: sums of a discrete residual, a topic and a shift are exact, and ties stay ties.
    topics = np.round(8 * rng.standard_normal((n_topics, n_studies))) / 8
    means = np.round(1024 * means) / 1024
    design = DESIGNS[name]
    values = design.residuals(rng, shape) + topics + means[:, np.newaxis]
    if design.kind == "discrete":
        values = np.digitize(values, _CUTS[design.half]).astype(np.float64)
    elif design.kind == "one hopeless run":
        values[0], means[0] = HOPELESS, HOPELESS
    return Simulated(values, means)


def draw_shifts(n_runs: int, n_topics: int, n_studies: int, rng: np.random.Generator) -> np.ndarray:
    """Return true means, shape (run, study): most are 0, the others are given to runs at random."""
    shifts = STUDY["effects"]["shifts"]
    n_shifted = n_runs - round(STUDY["effects"]["equal_share"] * n_runs)
    means = np.zeros((n_runs, n_studies))
    means[:n_shifted] = np.resize(shifts, n_shifted)[:, np.newaxis] * np.sqrt(2 / n_topics)
    return rng.permuted(means, axis=0)


def add_precise_copy(simulated: Simulated, rng: np.random.Generator) -> Simulated:
    """Make the first run a copy of the second with noise, better by what Holm's test finds in half of the studies."""
    values, means = simulated.values.copy(), simulated.means.copy()
    n_runs, n_topics, _ = values.shape
    noise = NOISE * values[1].std(axis=0)
    shift = noise * t.isf(STUDY["alpha"] / (n_runs * (n_runs - 1)), n_topics - 1) / np.sqrt(n_topics)
    values[0] = values[1] + noise * rng.standard_normal(values[1].shape) + shift
    means[0] = means[1] + shift
    return Simulated(values, means)


def _some(n_runs: int, of_22: int) -> int:
    """Return how many runs are as many of 22 runs, at least one."""
    return max(1, round(n_runs * of_22 / 22))


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape)


def _student(df: float) -> Draw:
    return lambda rng, shape: rng.standard_t(df, shape) / np.sqrt(df / (df - 2))


def _gamma(k: float) -> Draw:
    return lambda rng, shape: (rng.standard_gamma(k, shape) - k) / np.sqrt(k)


def _u_shaped(a: float) -> Draw:
    """Beta(a, a), with spread 1."""
    return lambda rng, shape: (rng.beta(a, a, shape) - 0.5) * np.sqrt(4 * (2 * a + 1))


def _wide(residuals: Draw, times: float, of_22: int = 2) -> Residuals:
    """Give some of 22 runs so many times the spread."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        drawn = residuals(rng, shape)
        drawn[: _some(shape[0], of_22)] *= times
        return drawn

    return draw


def _graded(residuals: Draw, times: float) -> Residuals:
    """Let spreads go from 1 to so many times as much."""
    return lambda rng, shape: residuals(rng, shape) * np.linspace(1, times, shape[0])[:, np.newaxis, np.newaxis]


def _clusters(residuals: Draw, size: int, noise: float) -> Residuals:
    """Groups of runs that are one run with noise."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        shared = np.repeat(residuals(rng, (-(-shape[0] // size), *shape[1:])), size, axis=0)[: shape[0]]
        return np.asarray(shared + noise * residuals(rng, shape))

    return draw


def _alike(size: int, alone: float) -> Residuals:
    """Groups of runs that have the same score on all but a share of the topics; six of 22 runs are in none."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        drawn = rng.standard_normal(shape)
        n_alike = round(shape[0] * 16 / 22) // size * size
        shared = np.repeat(rng.standard_normal((n_alike // size, *shape[1:])), size, axis=0)
        drawn[:n_alike] = np.where(rng.random(shared.shape) < alone, drawn[:n_alike], shared)
        return drawn

    return draw


def _lognormal(sigma: float, of_22: int) -> Residuals:
    """Some runs are lognormal among normal ones of spread 1; their spread is that of exp(σ z)."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        drawn = rng.standard_normal(shape)
        some = slice(_some(shape[0], of_22))
        drawn[some] = np.exp(sigma * drawn[some]) - np.exp(sigma**2 / 2)
        return drawn

    return draw


def _betas(a: float, b: float, c: float, d: float) -> Residuals:
    """Beta(a, b) for every other run, and Beta(c, d) for the rest, less their means."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        drawn = rng.beta(a, b, shape) - a / (a + b)
        drawn[1::2] = rng.beta(c, d, drawn[1::2].shape) - c / (c + d)
        return drawn

    return draw


def _binary(rare: float, common: float) -> Residuals:
    """Half of the runs succeed on few of the topics, the others on more of them; scaled to equal means."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        share = np.where(np.arange(shape[0]) < shape[0] // 2, rare, common)[:, np.newaxis, np.newaxis]
        return np.where(rng.random(shape) < share, 1 / share, 0.0) - 1

    return draw


def _mirror(residuals: Residuals) -> Residuals:
    """Let low scores be high: a run that seldom succeeds is one that seldom fails."""
    return lambda rng, shape: -residuals(rng, shape)


def _rare_beside_steady(rare: float, a: float, b: float) -> Residuals:
    """Half of the runs are right on few topics, the others hardly vary; as shares of right answers, less their means."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        drawn = rng.beta(a, b, shape) - a / (a + b)
        half = slice(shape[0] // 2)
        drawn[half] = (rng.random(drawn[half].shape) < rare) - rare
        return drawn

    return draw


def _trios(noise: float, alone: float) -> Residuals:
    """Groups of three runs that are one run with noise, and on a share of the topics each a run by itself."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        near, far = _clusters(_normal, 3, noise)(rng, shape), rng.standard_normal(shape)
        return np.where(rng.random(shape) < alone, far, near)

    return draw


def _zero_inflated(least: float, most: float) -> Residuals:
    """Exponential scores on a share of the topics and 0 on the others, from run to run more often; of equal means."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        share = np.linspace(least, most, shape[0])[:, np.newaxis, np.newaxis]
        return np.where(rng.random(shape) < share, rng.standard_exponential(shape) / share, 0.0) - 1

    return draw


_CUTS = {"choosing": (-1.5, -0.5, 0.5, 1.5), "checking": (-0.7, 0.7)}
"""Where discrete scores go up by one."""

DESIGNS: dict[str, Design] = {
    "normal": Design("equal", "choosing", _normal),
    "Student's t of 10": Design("equal", "checking", _student(10)),
    "normal, two 1.5x": Design("spread 1.5", "choosing", _wide(_normal, 1.5)),
    "normal, two 2x": Design("spread 2", "choosing", _wide(_normal, 2)),
    "normal, two 3x": Design("spread", "choosing", _wide(_normal, 3)),
    "normal, three 4x": Design("spread", "checking", _wide(_normal, 4, 3)),
    "normal, 1x to 5x": Design("graded", "choosing", _graded(_normal, 5)),
    "Student's t of 5, 1x to 5x": Design("graded", "checking", _graded(_student(5), 5)),
    "Student's t of 3": Design("heavy", "choosing", _student(3)),
    "Student's t of 3, clusters": Design("heavy", "checking", _clusters(_student(3), 3, 0.7)),
    "Student's t of 3, two 5x": Design("heavy, spread", "choosing", _wide(_student(3), 5)),
    "Student's t of 3, 1x to 5x": Design("heavy, spread", "checking", _graded(_student(3), 5)),
    "exponential": Design("skewed", "choosing", _gamma(1)),
    "gamma(1.5)": Design("skewed", "checking", _gamma(1.5)),
    "exponential, two 3x": Design("skewed, spread", "choosing", _wide(_gamma(1), 3)),
    "gamma(2), three 4x": Design("skewed, spread", "checking", _wide(_gamma(2), 4, 3)),
    "beta(.3, .3)": Design("U-shaped", "choosing", _u_shaped(0.3)),
    "beta(.5, .5)": Design("U-shaped", "checking", _u_shaped(0.5)),
    "groups of four, noise of 1/5": Design("clusters", "choosing", _clusters(_normal, 4, 0.2)),
    "groups of three, noise of 1/10": Design("clusters", "checking", _clusters(_student(5), 3, 0.1)),
    "groups of four, exponential": Design("clusters, skewed", "choosing", _clusters(_gamma(1), 4, 0.2)),
    "groups of six, gamma(1.5)": Design("clusters, skewed", "checking", _clusters(_gamma(1.5), 6, 0.3)),
    "groups of four, a tenth differs": Design("near-identical", "choosing", _alike(4, 0.1)),
    "groups of three, a twentieth differs": Design("near-identical", "checking", _alike(3, 0.05)),
    "five values": Design("discrete", "choosing", _normal),
    "three values": Design("discrete", "checking", _normal),
    "normal, one hopeless": Design("one hopeless run", "choosing", _normal),
    "Student's t of 5, one hopeless": Design("one hopeless run", "checking", _student(5)),
    "beta(1, 9) and beta(9, 1)": Design("unlike skew", "choosing", _betas(1, 9, 9, 1)),
    "beta(2, 10) and beta(10, 2)": Design("unlike skew", "checking", _betas(2, 10, 10, 2)),
    "four lognormal(.5)": Design("slightly lognormal", "choosing", _lognormal(0.5, 4)),
    "six lognormal(.4)": Design("slightly lognormal", "checking", _lognormal(0.4, 6)),
    "one lognormal(1.5)": Design("one very skewed run", "choosing", _lognormal(1.5, 1)),
    "one lognormal(1.3)": Design("one very skewed run", "checking", _lognormal(1.3, 1)),
    "binary .3 and .5": Design("binary", "choosing", _binary(0.3, 0.5)),
    "binary .35 and .6": Design("binary", "checking", _binary(0.35, 0.6)),
    "binary .1 and .5": Design("rare successes", "choosing", _binary(0.1, 0.5)),
    "binary .08 and .4": Design("rare successes", "checking", _binary(0.08, 0.4)),
    "beta(.05, .45) and beta(5, 45)": Design("rare and steady", "choosing", _betas(0.05, 0.45, 5, 45)),
    "beta(.1, .9) and beta(4, 36)": Design("rare and steady", "checking", _betas(0.1, 0.9, 4, 36)),
    "zeros, .6 to .2": Design("zeros", "choosing", _zero_inflated(0.4, 0.8)),
    "zeros, .5 to .1": Design("zeros", "checking", _zero_inflated(0.5, 0.9)),
    "zeros, .9 to .4": Design("many zeros", "choosing", _zero_inflated(0.1, 0.6)),
    "zeros, .88 to .5": Design("many zeros", "checking", _zero_inflated(0.12, 0.5)),
    "binary .92 and .6": Design("rare failures", "neither", _binary(0.92, 0.6)),
    "failures .08 and .4": Design("rare failures", "neither", _mirror(_binary(0.08, 0.4))),
    "binary .3 and .7": Design("binary", "neither", _binary(0.3, 0.7)),
    "failures .3 and .7": Design("binary", "neither", _mirror(_binary(0.3, 0.7))),
    "binary .15 and .25": Design("seldom successes", "neither", _binary(0.15, 0.25)),
    "binary .15 and .5": Design("seldom successes", "neither", _binary(0.15, 0.5)),
    "binary .2 and .5": Design("seldom successes", "neither", _binary(0.2, 0.5)),
    "one lognormal(.7)": Design("one skewed run", "neither", _lognormal(0.7, 1)),
    "one lognormal(.85)": Design("one skewed run", "neither", _lognormal(0.85, 1)),
    "one lognormal(1)": Design("one skewed run", "neither", _lognormal(1.0, 1)),
    "binary .1 and beta(5, 45)": Design("rare beside steady", "neither", _rare_beside_steady(0.1, 5, 45)),
    "trios, a fiftieth differs": Design("trios", "neither", _alike(3, 0.02)),
    "trios, noise of 1/20": Design("trios", "neither", _clusters(_normal, 3, 0.05)),
    "trios, noise of 1/20, a fiftieth differs": Design("trios", "neither", _trios(0.05, 0.02)),
    "trios, exponential": Design("trios", "neither", _clusters(_gamma(1), 3, 0.2)),
}
"""Of every kind a design for each half, by its name; and what lies beside both."""


@lru_cache
def load_columns(collection: str) -> metaeval.Scores:
    """Return the scores of a real collection under the measures that the study names, or raise why they cannot be loaded."""
    return load_scores(
        collection, next(some[collection] for some in STUDY["collections"].values() if collection in some)
    )


def load_scores(name: str, measures: Sequence[str]) -> metaeval.Scores:
    """Return a real matrix, or runs scored, under some measures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)  # what loading does with odd labels is said elsewhere
        data = metaeval.load_dataset(name)
    if isinstance(data, metaeval.Scores):
        return data.sel(measures=list(measures))
    return metaeval.score(cast("metaeval.ClassificationRuns | metaeval.QuantificationRuns", data), list(measures))


@lru_cache
def fit_collection(collection: str, measure: str) -> ScoreModel:
    """Return the model of the distinct runs of a real collection."""
    scores = load_columns(collection)
    column = [str(one) for one in scores.measures].index(measure)
    return fit_scores(np.unique(scores.values[..., column], axis=0))


def simulate_collection(
    name: str, n_runs: int, n_topics: int, n_studies: int, *, effects: bool, rng: np.random.Generator
) -> Simulated:
    """Draw a batch of studies like a real collection (“collection: measure”), each of other runs where it has more."""
    model = fit_collection(*name.split(": "))
    n_runs = min(n_runs, len(model.copy_of))
    chosen = rng.permuted(np.tile(np.arange(len(model.copy_of)), (n_studies, 1)), axis=1)[:, :n_runs]
    values = np.empty((n_runs, n_topics, n_studies))
    for study, runs in enumerate(chosen):
        some = ScoreModel(model.ordered[runs], model.normal[runs], np.arange(n_runs))
        values[..., study] = some.draw(n_topics, 1, rng)[..., 0]
    means = np.zeros((n_runs, n_studies))
    if effects:
        means = draw_shifts(n_runs, n_topics, n_studies, rng) * values.std(axis=(0, 1))
        values += means[:, np.newaxis]
    return Simulated(values, means)
