"""Which test of all pairs of runs keeps its error rate on scores like these?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_choice, check_count, check_jobs, check_positive, check_seed, check_share
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import MeasureError, MetaevalError, format_count, format_list
from metaeval.measures.base import Measure
from metaeval.measures.user_file import is_reference, load_function
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature, sign
from metaeval.show.frames import cross
from metaeval.show.table import Table
from metaeval.stats.blocks import take_measure
from metaeval.stats.error_rates import Procedure, count_errors, decide
from metaeval.stats.paired_tests import RECOMMENDED, PairedTest
from metaeval.stats.parallel import count_jobs, run_parts, tell
from metaeval.stats.score_model import ScoreModel, fit_scores
from metaeval.stats.streams import generator, stream_key

TESTS = (RECOMMENDED, "randomised-tukey-hsd", "max-t", "paired-t")
"""What is tried by default: the recommended test, that of the papers, sign flips, and paired t tests with Holm's correction."""

BATCH = 20
"""Studies that share the trials of a test."""

TIMED = 10
"""Studies that are tried to say how long all will take."""

STANDARD_ERRORS = 4.0
"""The true difference whose power is stated by default, in standard errors of the difference of a typical pair of runs."""

POWER_STUDIES = 5
"""Of that many studies of runs of equal means there is one of runs that differ."""

Tested: TypeAlias = PairedTest | Procedure


@dataclass(frozen=True, eq=False)
class TestCalibration(Result):
    """How often each test errs on scores like these, and how many true differences it finds.

    Parameters
    ----------
    collection : str
    measures : tuple of Measure
    tests : tuple of str
    error : ndarray, shape (measure, test)
        Family-wise error: the share of studies of equal runs in which some pair was called different.
    power : ndarray, shape (measure, test, 2)
        The share of pairs that truly differ by `difference` that was found, and its standard error.
    seconds : ndarray, shape (test,)
        Time of one test of one study.
    difference : ndarray, shape (measure,)
        In units of the measure.
    n_studies, n_topics, n_permutations : int
    alpha : float
    signature : Signature
    """

    __test__ = False  # to pytest its name would say that it is one

    collection: str
    measures: tuple[Measure, ...]
    tests: tuple[str, ...]
    error: np.ndarray
    power: np.ndarray
    seconds: np.ndarray
    difference: np.ndarray
    n_studies: int
    n_topics: int
    n_permutations: int
    alpha: float
    signature: Signature

    def __repr__(self) -> str:
        size = f"{len(self.tests)} tests × {len(self.measures)} measures"
        return f"TestCalibration: {size}, {self.n_studies} studies each"

    def error_ends(self, outside: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of the interval of every error, Clopper and Pearson's, each of shape (measure, test)."""
        from scipy.stats import beta

        n, wrong = self.n_studies, np.rint(self.error * self.n_studies)
        low = beta.ppf(outside / 2, np.maximum(wrong, 0.5), n - wrong + 1)
        high = beta.isf(outside / 2, wrong + 1, np.maximum(n - wrong, 0.5))
        return np.where(wrong > 0, low, 0.0), np.where(wrong < n, high, 1.0)

    @property
    def errs(self) -> np.ndarray:
        """Whether a test errs more often than α by more than chance, all measures and tests together, shape (measure, test)."""
        low, _ = self.error_ends(2 * 0.05 / self.error.size)
        return np.asarray(np.greater(low, self.alpha))

    def answer(self) -> str:
        """Return `advice`."""
        return self.advice()

    def advice(self) -> str:
        """Return in one sentence which test to use.

        The recommended test, unless it errs more often than α by more than chance under some measure; then, of the others
        that do not, the one that finds most; all measures and tests count as one family of comparisons.
        """
        fails, power = self.errs.max(axis=0), self.power[..., 0].mean(axis=0)
        holding = [t for t in range(len(self.tests)) if not fails[t]]
        kind = f"studies with {self.n_topics} topics of scores like these"
        failing = [f"{self.tests[t]} ({100 * self.error[:, t].max():.0f} %)" for t in np.flatnonzero(fails).tolist()]
        rest = f"; too many by {format_list(failing)}" if failing else ""
        if not holding:
            return f"Every test raises too many false alarms in {kind}: {format_list(failing)}."
        best = next((t for t in holding if self.tests[t] == RECOMMENDED), max(holding, key=lambda t: power[t]))
        return f"Use {self.tests[best]}: false alarms in {100 * self.error[:, best].max():.0f} % of {kind}{rest}."

    def to_frame(self) -> pd.DataFrame:
        """Return errors and power, one row a measure and test.

        Of shape (measure · test, 9), with columns measure, test, error with its interval low and high, errs (more
        often than α by more than chance), difference, power and power_se. Times are no result, and stand in the table
        alone.
        """
        low, high = self.error_ends()
        return cross(
            {"measure": [str(measure) for measure in self.measures], "test": self.tests},
            error=self.error, low=low, high=high, errs=self.errs, difference=self.difference[:, np.newaxis],
            power=self.power[..., 0], power_se=self.power[..., 1],
        )  # fmt: skip

    def to_table(self) -> Table:
        """Return errors and power in percent, one row a measure and test."""
        frame = self.to_frame()
        shown = pd.DataFrame(
            {
                "test": frame["test"],
                "error %": 100 * frame["error"],
                "low": 100 * frame["low"],
                "high": 100 * frame["high"],
                "power %": 100 * frame["power"],
                "ms": [f"{1000 * seconds:.2g}" for seconds in self.seconds] * len(self.measures),
            }
        ).set_index(frame["measure"])
        sizes = ", ".join(f"{d:.3g} with {m}" for d, m in zip(self.difference, self.measures, strict=True))
        legend = (
            f"{self.advice()} Error: in how many of {self.n_studies} simulated studies of equal runs some pair is called "
            f"different, with its 95 % interval; it should be {100 * self.alpha:g} %. Power: the share of true differences "
            f"found ({sizes}). ms: time of one test."
        )
        caption = "False alarms and power of tests of all pairs of runs, in simulations from these scores."
        return Table(shown, caption, self.signature, digits=1, legend=legend, joined=True)

    def charts(self) -> Sequence[Chart]:
        """Return the error of every measure with its interval, one panel a test; the line is at α."""
        low, high = self.error_ends()
        top = float(min(1.0, 1.05 * max(high.max(), 2 * self.alpha)))
        return [
            IntervalChart(
                [
                    Row(str(measure), measure.title, float(self.error[m, t]), (float(low[m, t]), float(high[m, t])))
                    for m, measure in enumerate(self.measures)
                ],
                "studies with a false difference", test, levels=[(self.alpha, "--")], limits=(0.0, top),
            )
            for t, test in enumerate(self.tests)
        ]  # fmt: skip


def calibrate_tests(
    scores: Scores,
    *,
    tests: Sequence[str | Procedure] | None = None,
    n_studies: int = 400,
    n_topics: int | None = None,
    difference: float | None = None,
    n_permutations: int = 1000,
    alpha: float = 0.05,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = -1,
) -> TestCalibration:
    """Which test of all pairs of runs keeps its error rate on scores like these?

    Studies are simulated from the scores: new topics for the same runs, correlated as observed and each with its own
    distribution of scores, but with equal means (a Gaussian copula, after Urbano and Nagler, SIGIR 2018). Whatever a test
    then calls different is a false difference.

    Parameters
    ----------
    scores : Scores
        At least two runs and 10 topics.
    tests : sequence of str or function, optional
        A test of ``metaeval power`` (paired tests with Holm's correction), or ``"file.py:function"``; by default bootstrap-t,
        randomised-tukey-hsd, max-t and paired-t. A function of your own takes an array of shape (run, topic) and returns
        the p-value of every pair (0, 1), (0, 2), …, (1, 2), ….
    n_studies : int, optional
        Simulated studies with equal runs, for each measure; a fifth as many are simulated with runs that differ.
    n_topics : int, optional
        Topics in each study; by default as many as the scores have.
    difference : float, optional
        True difference for which power is computed, in units of the measures; by default four standard errors of a typical
        pair.
        A random half of the runs is better by this much.
    n_permutations : int, optional
        B of tests that resample; raised where a correction needs more.
    alpha : float, optional
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional
    n_jobs : int, optional
        Processes; any number gives the same rates.

    Returns
    -------
    TestCalibration

    Raises
    ------
    MetaevalError
        If there are too few runs or topics, an option is out of range, or a test of your own returns no p-values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> spread = np.array([1, 1, 1, 1, 1, 6])[:, None, None]
    >>> scores = Scores(spread * rng.normal(size=(6, 40, 1)), runs=list("abcdef"), topics=range(40), measures=["X"])
    >>> result = calibrate_tests(scores, tests=["bootstrap-t", "randomised-tukey-hsd"], n_permutations=200, n_jobs=1)
    >>> result.to_frame()[["test", "errs"]]
                       test   errs
    0           bootstrap-t  False
    1  randomised-tukey-hsd   True
    """
    scores, diagnostics = choose_runs(scores, distinct_runs, topics=10)
    tried = _list_tests(tests)
    for name, value, least in (("n_studies", n_studies, BATCH), ("n_permutations", n_permutations, 1)):
        check_count(name, value, least)
    check_share("alpha", alpha)
    check_seed(seed)
    check_jobs(n_jobs)
    size = len(scores.topics) if n_topics is None else n_topics
    check_count("n_topics", size, 2)
    if difference is not None:
        check_positive("difference", difference)
    order = sort_labels(scores)
    by_measure = [take_measure(order.values, m) for m in order.measures.tolist()]
    models = [fit_scores(of_measure) for of_measure in by_measure]
    steps = np.array([STANDARD_ERRORS * _find_typical_error(of_measure, size) for of_measure in by_measure])
    shifts = steps if difference is None else np.full(len(models), float(difference))
    plan = Plan(size, n_studies, n_permutations, alpha, (seed, scores.collection))
    counts = _run_studies(models, shifts, tried, plan, n_jobs)
    equal, differ = counts[:, :, :n_studies], counts[:, :, n_studies:]
    shares = differ[..., 1]
    error = shares.std(axis=2, ddof=1) / np.sqrt(shares.shape[2])
    names = tuple(tried)
    signature = sign(
        "calibrate_tests", scores, tests=", ".join(names), studies=n_studies, topics=size, B=n_permutations, alpha=alpha,
        seed=seed, **diagnostics.settings,
    )  # fmt: skip
    return TestCalibration(
        scores.collection, scores.measures, names, (equal[..., 0] > 0).mean(axis=2),
        np.stack([shares.mean(axis=2), error], axis=-1), np.median(counts[..., 2], axis=(0, 2)), shifts, n_studies, size,
        n_permutations, alpha, signature, diagnostics=(diagnostics,),
    )  # fmt: skip


def _list_tests(tests: Sequence[str | Procedure] | None) -> dict[str, Tested]:
    """Return what is tried by name: tests of metaeval, and procedures, imported where a file is named."""
    tried: dict[str, Tested] = {}
    for test in TESTS if tests is None else [tests] if isinstance(tests, str) or callable(tests) else tests:
        if callable(test):
            tried[getattr(test, "__name__", "procedure")] = test
        elif is_reference(test):
            function = load_function(test)
            if isinstance(function, Measure):
                raise MetaevalError(
                    f"{test} is a measure; a test takes scores of shape (run, topic) and returns p-values"
                )
            tried[test.rpartition(":")[2]] = _name_failures(test, function)
        else:
            check_choice("test", test, PairedTest)
            tried[test] = cast(PairedTest, test)
    if not tried:
        raise MetaevalError("name at least one test")
    return tried


def _name_failures(reference: str, function: Procedure) -> Procedure:
    """Return a test of a file whose failures say which test failed."""

    def test(scores: np.ndarray) -> np.ndarray:
        try:
            return function(scores)
        except MeasureError as error:
            raise MetaevalError(f"{reference}: {error}") from None

    test.__name__ = reference.rpartition(":")[2]
    return test


def _find_typical_error(scores: np.ndarray, n_topics: int) -> float:
    """Return the standard error of the mean difference of the median pair of runs, of those whose differences vary."""
    scale = np.ldexp(1.0, np.frexp(np.abs(scores).max())[1])  # so that squares are neither too large nor too small
    covariances = np.cov(scores / scale)
    spreads = np.diagonal(covariances)
    variances = (spreads[:, np.newaxis] + spreads - 2 * covariances)[np.triu_indices(len(scores), 1)]
    varying = variances[variances > 1e-12 * spreads.max(initial=0.0)]
    return float(np.sqrt(np.median(varying) / n_topics) * scale) if len(varying) else 0.0


class Plan(NamedTuple):
    """What all studies have in common; those from `n_equal` on are of runs that differ. `stream` is a seed and a collection."""

    n_topics: int
    n_equal: int
    n_permutations: int
    alpha: float
    stream: tuple[int, str]

    @property
    def n_studies(self) -> int:
        """Of equal runs and of runs that differ."""
        return self.n_equal + max(BATCH, self.n_equal // POWER_STUDIES)

    def list_parts(self) -> list[range]:
        """Return the studies in batches, none of them of both kinds."""
        kinds = (range(self.n_equal), range(self.n_equal, self.n_studies))
        return [kind[start : start + BATCH] for kind in kinds for start in range(0, len(kind), BATCH)]


def _run_studies(
    models: Sequence[ScoreModel], shifts: np.ndarray, tests: dict[str, Tested], plan: Plan, n_jobs: int
) -> np.ndarray:
    """Return what `study_errors` returns of every study, shape (measure, test, study, 3)."""
    parts, n_all = plan.list_parts(), plan.n_studies
    counts = np.empty((len(models), len(tests), n_all, 3))
    total, done = len(models) * len(tests) * n_all, 0
    tell(_describe_time(models, tests, plan, n_jobs))
    for m, (model, shift) in enumerate(zip(models, shifts.tolist(), strict=True)):
        for t, (name, test) in enumerate(tests.items()):
            compute = partial(study_errors, model, test, plan, shift)
            before = done

            def say(finished: int, _: int, before: int = before, name: str = name) -> None:
                tell(f"studies by {name}", before + finished, total)

            if callable(test):
                # Runs where it was defined; what it did is not kept, since its name does not tell its code.
                counts[m, t] = np.concatenate([compute(part) for part in parts])
                say(n_all, n_all)
            else:
                of_parts = run_parts(
                    compute, parts, name=partial(_name_studies, model, name, plan, shift), shape=(None, 3),
                    dtype="float64", n_jobs=n_jobs, sharing={"prefer": "processes"}, say=say,
                )  # fmt: skip
                counts[m, t] = np.concatenate(list(of_parts))
            done += n_all
    return counts


def study_errors(model: ScoreModel, test: Tested, plan: Plan, shift: float, studies: range) -> np.ndarray:
    """Return false differences, the share of true ones found, and seconds, of each study, shape (study, 3)."""
    place = (*plan.stream, "calibration", str(studies.start))
    rng = generator(*place)
    values = model.draw(plan.n_topics, len(studies), rng)
    means = np.zeros((len(values), len(studies)))
    if studies.start >= plan.n_equal:
        means[: len(means) // 2] = shift
        means = rng.permuted(means, axis=0)[model.copy_of]
        values += means[:, np.newaxis]
    begun = time.perf_counter()
    options = {"n_permutations": plan.n_permutations}
    significant = decide(test, values, alpha=plan.alpha, key=stream_key(*place, "trials"), options=options)
    seconds = (time.perf_counter() - begun) / len(studies)
    errors = count_errors(significant, means)
    found = np.divide(errors.found, errors.differing, out=np.zeros(len(studies)), where=errors.differing > 0)
    return np.stack([errors.false, found, np.full(len(studies), seconds)], axis=1)


def _describe_time(models: Sequence[ScoreModel], tests: dict[str, Tested], plan: Plan, n_jobs: int) -> str:
    """Try every test on a few studies of equal runs, and say how long all studies will take."""
    seconds, n_all = 0.0, plan.n_studies
    for test in tests.values():
        begun = time.perf_counter()
        study_errors(models[0], test, plan, 0.0, range(TIMED))
        jobs = 1 if callable(test) else count_jobs(n_jobs)
        seconds += (time.perf_counter() - begun) / TIMED * n_all * len(models) / jobs
    how_long = f"{seconds / 60:.0f} minutes" if seconds >= 90 else format_count(max(round(seconds), 1), "second")
    tried = f"{format_count(len(models), 'measure')} and {format_count(len(tests), 'test')}"
    return f"{n_all} simulated studies, some of runs that differ, by {tried}: about {how_long}"


def _name_studies(model: ScoreModel, name: str, plan: Plan, shift: float) -> str:
    """Return a name made of everything that the outcome of a study depends on."""
    digest = sha256(repr((name, plan, shift)).encode())
    for array in model:
        digest.update(np.ascontiguousarray(array).data)
    return f"calibrate-{digest.hexdigest()[:32]}"
