"""Which tests of all pairs of runs err too often on scores simulated from these?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from metaeval.analyses.prepare import Within, check_options, prepare
from metaeval.analyses.result import MeasureRows, list_rows
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list
from metaeval.show.charts import IntervalChart
from metaeval.show.table import Table, cross
from metaeval.stats.error_rates import count_study_errors, find_typical_error
from metaeval.stats.intervals import interval_of_share
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest
from metaeval.stats.parallel import run_parts, tell
from metaeval.stats.resampling import fit_scores

TESTS: tuple[PairedTest, ...] = (RECOMMENDED, "randomised-tukey-hsd", "max-t", "paired-t")
"""What is tried by default: the recommended test, that of the papers, sign flips, and paired t tests with Holm's correction."""

BATCH, POWER_STUDIES = 20, 5
"""Studies that share the trials of a test, and of how many studies of runs of equal means there is one of runs that differ."""

STANDARD_ERRORS = 4.0
"""The true difference whose power is stated by default, in standard errors of the difference of a typical pair of runs."""

FEWEST_RUNS, MOST_RUNS, FEWEST_TOPICS = 10, 100, 25
"""Elsewhere the recommended test is outside the domain in which it was checked: docs/concepts/which-test.md."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TestCalibration(MeasureRows):
    """How often each test errs on scores simulated from these, and how many true differences it finds.

    A row (`to_frame`) for every measure and test, with columns measure, test; error, the share of studies of equal runs in
    which some pair was called different, with its interval low and high; errs, whether that is more often than α by more than
    chance, all measures and tests together; difference, in units of the measure, and power, the share of pairs that truly
    differ by it that was found, with its standard error power_se. `outside` says why the scores are outside the domain in
    which the recommended test was checked, so that simulations from them do not vouch for it.
    """

    __test__ = False  # to pytest its name would say that it is one

    collection: str
    tests: tuple[str, ...]
    n_studies: int
    n_topics: int
    alpha: float
    outside: tuple[str, ...] = ()

    number: ClassVar[str] = "error"

    def answer(self) -> str:
        """Say which tests err too often, and which to use: the recommended one, or of the others the one that finds most."""
        by_test = self.rows.groupby("test", sort=False).agg(
            {"errs": "max", "error": "max", "low": "max", "high": "max", "power": "mean"}
        )
        holding, failing = by_test[~by_test["errs"]], by_test[by_test["errs"]]
        kind = f"false alarms in studies with {self.n_topics} topics simulated from these scores"
        numbers = (100 * by_test[["error", "low", "high"]]).itertuples()
        most = "up to " * (len(self.measures) > 1)
        shares = {test: f"{most}{error:.0f} % [{low:.0f}, {high:.0f}]" for test, error, low, high in numbers}
        names = format_list([f"{test} ({shares[test]})" for test in failing.index])
        if holding.empty:
            return f"Every test raises too many {kind}: {names}."
        best = RECOMMENDED if RECOMMENDED in holding.index else str(holding["power"].idxmax())
        verb = "raises" if len(failing) == 1 else "raise"
        erring = f"{names} {verb} too many {kind}" if len(failing) else f"No test is shown to raise too many {kind}"
        doubt = f". Simulations may not show all its errors: {'; '.join(self.outside)}" if self.outside else ""
        return f"{erring}; {100 * self.alpha:g} % are meant. Use {best} ({shares[best]}){doubt}."

    def tables(self) -> list[Table]:
        """Return errors and power in percent, one row a measure and test."""
        rows, names = self.rows, {"error": "error %", "low": "low", "high": "high", "power": "power %"}
        shown = (100 * rows[list(names)].rename(columns=names)).set_index(rows["measure"])
        shown.insert(0, "test", rows["test"].to_numpy())
        of_each = rows.drop_duplicates("measure").itertuples()
        sizes = ", ".join(f"{row.difference:.3g} with {row.measure}" for row in of_each)
        legend = (
            f"Errors should be {100 * self.alpha:g} %. Power: of true differences of {sizes}. Not simulated: near-copies that "
            "differ on a few topics, and failures that these topics do not show."
        )
        caption = (
            "Errors (studies with a false difference; low, high: 95 % interval) and power (true differences found) of tests of "
            f"all pairs of runs, in {self.n_studies} studies simulated from these scores."
        )
        return [Table(shown, caption, self.signature, digits=1, legend=legend, joined=True)]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the error of every measure with its interval, one panel a test; the line is at α."""
        limits = 0.0, float(min(1.0, 1.05 * max(self.rows["high"].max(), 2 * self.alpha)))
        panels, titles = [], {str(measure): measure.title for measure in self.measures}
        for test in self.tests:
            rows = list_rows(self.rows[self.rows["test"] == test], "error", titles)
            what, levels = "studies with a false difference", [(self.alpha, "--")]
            panels.append(IntervalChart(rows, what, test, levels=levels, limits=limits))
        return panels


def calibrate_tests(
    scores: Scores,
    *,
    tests: Sequence[PairedTest] | PairedTest = TESTS,
    n_studies: int = 400,
    n_topics: int | None = None,
    difference: float | None = None,
    n_permutations: int = 1000,
    alpha: float = 0.05,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = -1,
) -> TestCalibration:
    """Which tests of all pairs of runs err too often on scores simulated from these?

    Studies are simulated from the scores: new topics for the same runs, whose scores are spread and go together as observed,
    but have equal means (with a Gaussian copula: Urbano and Nagler, SIGIR 2018). Whatever a test then calls different is a
    false difference. That a test errs here warns of it. That it does not is no proof: near-copies
    that differ on a few topics, and failures that the scores do not show, are not simulated.

    Parameters
    ----------
    scores : Scores
        At least two runs and 10 topics.
    tests : sequence of str, optional
        Tests of ``metaeval power``, paired ones with Holm's correction.
    n_studies : int, optional
        Simulated studies with equal runs, for each measure; a fifth as many are simulated with runs that differ.
    n_topics : int, optional
        Topics in each study; by default as many as the scores have.
    difference : float, optional
        True difference for which power is computed, in units of the measures: a random half of the runs is better by this much.
        By default four standard errors of a typical pair.
    n_permutations : int, optional
        Trials of a test that draws at random; raised where a correction needs more.
    alpha, distinct_runs, seed : as for `discriminative_power`
    n_jobs : int, optional
        Processes; any number gives the same rates.

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
    ready = prepare(scores, "calibrate_tests", seed=seed, distinct_runs=distinct_runs, topics=10)
    tests = (tests,) if isinstance(tests, str) else tuple(dict.fromkeys(tests))
    if not tests:
        raise MetaevalError("name at least one test")
    n_topics = len(ready.scores.topics) if n_topics is None else n_topics
    for test in tests:
        check_options(test=Within(test, PairedTest))
    check_options(
        n_studies=Within(n_studies, BATCH), n_permutations=n_permutations, n_topics=Within(n_topics, 2), alpha=alpha,
        n_jobs=n_jobs, difference=1.0 if difference is None else difference,
    )  # fmt: skip
    place = (seed, ready.scores.collection, "calibration")
    n_all = n_studies + max(BATCH, n_studies // POWER_STUDIES)
    starts = [*range(0, n_studies, BATCH), *range(n_studies, n_all, BATCH), n_all]
    parts = list(map(range, starts, starts[1:]))
    sizes, shifts, done = (n_studies, n_topics, n_permutations), [], 0
    counts = np.empty((len(ready.scores.measures), len(tests), n_all, 2))
    for m, of_measure in zip(ready.places[2], counts, strict=True):
        column = np.ascontiguousarray(ready.values[..., m])
        model, step = fit_scores(column), STANDARD_ERRORS * find_typical_error(column, n_topics)
        shifts.append(step if difference is None else float(difference))
        for test, of_test in zip(tests, of_measure, strict=True):
            compute = partial(count_study_errors, model, test, sizes, alpha, shifts[-1], place)
            arrays = run_parts(compute, parts, n_jobs=n_jobs, sharing={"prefer": "processes"})
            for part, array in zip(parts, arrays, strict=True):
                of_test[part], done = array, done + len(part)
                tell(f"studies by {test}", done, counts[..., 0].size)
    wrong, found = (counts[:, :, :n_studies, 0] > 0).sum(axis=2), counts[:, :, n_studies:, 1]
    low, high = interval_of_share(wrong, n_studies)
    rows = cross(
        {"measure": list(map(str, ready.scores.measures)), "test": list(tests)},
        error=wrong / n_studies, low=low, high=high,
        errs=interval_of_share(wrong, n_studies, confidence=1 - 2 * 0.05 / wrong.size)[0] > alpha,
        difference=np.array(shifts)[:, np.newaxis], power=found.mean(axis=2),
        power_se=found.std(axis=2, ddof=1) / np.sqrt(found.shape[2]),
    )  # fmt: skip
    # What matters to the recommended test besides what is said of all results.
    about_pairs = [note for note in ready.diagnostics.describe(RECOMMENDED) if note not in ready.diagnostics.describe()]
    n_runs = len(ready.values)
    outside = [f"{n_runs} runs, fewer than {FEWEST_RUNS}"] if n_runs < FEWEST_RUNS else []
    outside += [f"{n_runs:,} runs, more than {MOST_RUNS}"] if n_runs > MOST_RUNS else []
    outside += [f"{n_topics} topics, fewer than {FEWEST_TOPICS}"] if n_topics < FEWEST_TOPICS else []
    why = "Simulations from such scores may not show how often it errs: docs/concepts/which-test.md says where it was checked."
    remarks = [f"outside the domain of {RECOMMENDED}: {' and '.join(outside)}\n{why}"] if outside else []
    settings = {"tests": ", ".join(tests), "studies": n_studies, "topics": n_topics, "B": n_permutations}
    return TestCalibration(
        collection=ready.scores.collection, measures=ready.scores.measures, rows=rows, tests=tests,
        n_studies=n_studies, n_topics=n_topics, alpha=alpha,
        signature=ready.sign(**settings, alpha=alpha, seed=seed), diagnostics=(ready.diagnostics,),
        remarks=(*remarks, *about_pairs), outside=(*outside, *(["see the notes on runs"] if about_pairs else [])),
    )  # fmt: skip
