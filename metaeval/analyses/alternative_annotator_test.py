"""Can a judge replace people? The alternative annotator test: each person against the judge, compared with the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.checks import check_count, check_seed, check_share
from metaeval.analyses.result import FormerResult
from metaeval.analyses.variation import tabulate_differences
from metaeval.data.annotations import Annotations, choose_class, describe_annotations, remark_few_labels
from metaeval.errors import MetaevalError, format_count, format_list, format_option
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.annotator_wins import (
    Agreement,
    average_advantage,
    find_p_values,
    mean_agreement,
    reject_by,
    shuffle_answers,
    sum_wins,
    tabulate_agreement,
)
from metaeval.stats.intervals import FEWEST_TOPICS, centre_interval
from metaeval.stats.resampling import resampled_topics
from metaeval.stats.streams import stream_key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

PASS = 0.5
"""Share of the people that a judge has to win against."""

FEWEST_ITEMS = 30
"""Items of a person below which the t-test is not made (Calderon et al. 2025)."""

EPSILONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""At which the outcome is shown besides that of the test."""


@dataclass(frozen=True, eq=False)
class AlternativeAnnotatorTest(FormerResult):
    """How each judge does against each person, by agreement with the other people.

    Parameters
    ----------
    annotators : tuple of str
        All of them.
    n_items : ndarray of int, shape (annotator,)
        Items that at least one other person labelled too.
    testable : ndarray of bool, shape (annotator,)
        Whether these are enough.
    advantage : ndarray, shape (judge, annotator)
        Share of a person's items on which the judge agrees with the others as well or better; NaN if not testable.
    p, rejected : ndarray, shape (judge, annotator)
        Of the test that the person does not win more often than the judge by ε or more, and whether it is rejected.
    omega, rho : ndarray, shape (judge,)
        Share of testable people that a judge wins against, and mean of `advantage` over them.
    omega_ends, rho_ends : tuple of (ndarray, ndarray)
        Their intervals over topics; NaN where there is none.
    gap_ends : tuple of (ndarray, ndarray)
        Intervals of the differences in ρ, in the order of `numpy.triu_indices`.
    by_epsilon : ndarray, shape (judge, epsilon)
        ω for each of `EPSILONS`.
    agrees : ndarray, shape (judge,)
        Mean over people and their items: share of the other people with the same label, or minus the mean number of classes
        from them.
    people_agree : float
        The same of the people themselves.
    blind : ndarray of bool, shape (judge,)
        Whether nothing shows that a judge sees the items: it agrees with people no better than if its answers were given to
        the items in random order.
    """

    collection: str
    judges: tuple[str, ...]
    annotators: tuple[str, ...]
    n_items: np.ndarray
    testable: np.ndarray
    advantage: np.ndarray
    p: np.ndarray
    rejected: np.ndarray
    omega: np.ndarray
    rho: np.ndarray
    omega_ends: tuple[np.ndarray, np.ndarray]
    rho_ends: tuple[np.ndarray, np.ndarray]
    gap_ends: tuple[np.ndarray, np.ndarray]
    by_epsilon: np.ndarray
    agrees: np.ndarray
    people_agree: float
    blind: np.ndarray
    agreement: Agreement
    epsilon: float
    alpha: float
    confidence: float
    signature: Signature

    def __repr__(self) -> str:
        judges, people = format_count(len(self.judges), "judge"), format_count(int(self.testable.sum()), "annotator")
        return f"AlternativeAnnotatorTest: {judges} against {people}, {self.collection or 'annotations'}"

    @property
    def passes(self) -> np.ndarray:
        """Whether a judge wins against at least half of the people and is not blind, shape (judge,)."""
        return (self.omega >= PASS) & ~self.blind

    @property
    def _passes_by_epsilon(self) -> np.ndarray:
        return (self.by_epsilon >= PASS) & ~self.blind[:, np.newaxis]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per judge, the one with the largest ρ first.

        Shape (judge, 8): columns judge, rho, rho_low, rho_high, omega, omega_low, omega_high, passes.
        """
        names = ["judge", "rho", "rho_low", "rho_high", "omega", "omega_low", "omega_high", "passes"]
        columns = (self.judges, self.rho, *self.rho_ends, self.omega, *self.omega_ends, self.passes)
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        return frame.iloc[np.lexsort((np.array(self.judges), -self.rho))].reset_index(drop=True)

    def answer(self) -> str:
        """Say how many judges may replace people, and how the best one agrees with them, beside people with each other."""
        best = int(np.nanargmax(np.where(self.blind & ~self.blind.all(), -np.inf, self.agrees)))
        passing = [judge for judge, passes in zip(self.judges, self.passes, strict=True) if passes]
        who = f"{len(passing) or 'None'} of {format_count(len(self.judges), 'judge')} may replace people"
        who += f": {format_list(passing, 3)}" if passing else ""
        judge, people = self._write_agreement(self.agrees[best]), self._write_agreement(self.people_agree)
        if self.agreement == "accuracy":
            return f"{who}. {self.judges[best]} agrees with people on {judge} of labels, people with each other on {people}."
        return f"{who}. On average {self.judges[best]} is {judge} classes from a person, and people {people} from each other."

    def _write_agreement(self, value: float) -> str:
        """Write a share of equal labels, or a mean number of classes."""
        return f"{100 * value:.0f} %" if self.agreement == "accuracy" else f"{abs(value):.2f}"

    def compare_judges(self) -> pd.DataFrame:
        """Return the difference in ρ of every two judges, and which is better if its interval leaves 0 out.

        Shape (pair of judges, 6): columns judge_1, judge_2, difference, low, high, better.
        """
        first, second = np.triu_indices(len(self.judges), 1)
        frame = tabulate_differences(self.judges, self.rho[first] - self.rho[second], *self.gap_ends, "better")
        return frame.rename(columns={"measure_1": "judge_1", "measure_2": "judge_2"})

    def details(self) -> dict[str, pd.DataFrame]:
        """Return every person by judge, ω for several ε, and the differences of judges in ρ."""
        n_people = len(self.annotators)
        people = pd.DataFrame(
            {
                "judge": np.repeat(self.judges, n_people),
                "annotator": np.tile(self.annotators, len(self.judges)),
                "items": np.tile(self.n_items, len(self.judges)),
                "tested": np.tile(self.testable, len(self.judges)),
                "advantage": self.advantage.ravel(),
                "p": self.p.ravel(),
                "wins": self.rejected.ravel(),
            }
        )
        sensitivity = pd.DataFrame(
            {
                "judge": np.repeat(self.judges, len(EPSILONS)),
                "epsilon": np.tile(EPSILONS, len(self.judges)),
                "omega": self.by_epsilon.ravel(),
                "passes": self._passes_by_epsilon.ravel(),
            }
        )
        return {"annotators": people, "sensitivity": sensitivity, "differences": self.compare_judges()}

    def to_table(self) -> Table:
        """Return judges by ρ, with ω, whether they pass, and from which ε on."""
        frame = self.to_frame().set_index("judge")
        position = {judge: j for j, judge in enumerate(self.judges)}
        places = [position[str(judge)] for judge in frame.index]
        passing = [np.flatnonzero(self._passes_by_epsilon[place]) for place in places]
        shown = frame.rename(columns=lambda name: name.replace("rho", "ρ").replace("omega", "ω").replace("_", " "))
        blind = self.blind[places]
        shown["passes"] = np.where(blind, "no, blind", np.where(frame["passes"], "yes", "no"))
        shown["passes from ε"] = [
            f"{EPSILONS[each[0]]:g}" if len(each) else "never" if one else f"above {EPSILONS[-1]:g}"
            for each, one in zip(passing, blind, strict=True)
        ]
        people = format_count(int(self.testable.sum()), "annotator")
        legend = (
            f"ρ: how often a judge agrees with the other people as well as a person or better. ω: the "
            f"share of people it wins against; it passes if that is at least {PASS:g} and it is not blind. Low and high: "
            f"{100 * self.confidence:g} % interval over topics."
        )
        caption = (
            f"Alternative annotator test of {format_count(len(self.judges), 'judge')} against {people}, ε = "
            f"{self.epsilon:g}, agreement {self.agreement}."
        )
        return Table(shown, caption, self.signature, digits=2, legend=legend, joined=True)

    def short_tables(self) -> list[Table]:
        """Return judges by ρ, whether they pass, and how well they and people agree with people."""
        table = self.to_table()
        agrees = dict(zip(self.judges, map(self._write_agreement, self.agrees), strict=True))
        heading = "same labels as people" if self.agreement == "accuracy" else "classes from people"
        frame = table.frame[["ρ", "ω", "passes"]].assign(**{heading: [agrees[str(name)] for name in table.frame.index]})
        people = pd.DataFrame(
            {"ρ": "", "ω": "", "passes": "", heading: self._write_agreement(self.people_agree)}, ["(people)"]
        )
        shown = pd.concat([frame.assign(**{name: frame[name].map("{:.2f}".format) for name in "ρω"}), people])
        return [replace(table, frame=shown.rename_axis("judge"))]

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw ρ of every judge with its interval, and ω by ε."""
        from metaeval.analyses.annotator_figure import draw_judges

        shown = self.signature if signature else None
        curves = (EPSILONS, self.by_epsilon)
        return draw_judges(
            self.judges, self.rho, self.rho_ends, curves, (self.epsilon, PASS), self.collection, shown, ax=ax, size=size
        )


def alternative_annotator_test(
    annotations: Annotations,
    *,
    agreement: Agreement = "squared-error",
    epsilon: float = 0.15,
    alpha: float = 0.05,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> AlternativeAnnotatorTest:
    """Which judges agree with people at least as well as people agree with each other?

    For each person: on how many items does the judge agree with the other people at least as well as this person does, and
    the reverse? The judge wins against the person if it is worse by less than ε, significantly. ε is the advantage that it
    gets because it costs less (Calderon, Reichart and Dror 2025). p-values are corrected by Benjamini and Yekutieli. A blind
    judge never passes: one whose answers would agree with people as well in random order.

    Parameters
    ----------
    annotations : Annotations
    agreement : {"accuracy", "squared-error"}, optional
        How agreement is measured: share of the other people with the same label; or minus the mean squared number of
        classes between the labels.
    epsilon : float, optional
        Allowance for the judge: the authors advise 0.2 if people are experts, 0.15 if they are skilled, 0.1 for crowd workers.
    alpha : float, optional
        False discovery rate.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none.
    confidence : float, optional
        Level of the intervals.
    seed : int, optional

    Returns
    -------
    AlternativeAnnotatorTest

    Raises
    ------
    MetaevalError
        If nobody has 30 items that another person labelled too, or an option is wrong.

    Examples
    --------
    >>> labels = np.random.default_rng(1).integers(0, 3, 60) // 2 + np.array([[0], [0], [1]])
    >>> given = Annotations(
    ...     labels, np.eye(3, dtype=int)[labels[:1]], annotators=list("abc"), judges=["j"], items=range(60), classes=range(3)
    ... )
    >>> alternative_annotator_test(given, n_bootstrap=0).to_frame()[["judge", "rho", "omega", "passes"]]
      judge  rho  omega  passes
    0     j  1.0    1.0    True
    """
    if not isinstance(annotations, Annotations):
        raise MetaevalError(
            f"the test takes Annotations, not {type(annotations).__name__}: see metaeval.io.read_annotations"
        )
    if agreement not in get_args(Agreement):
        raise MetaevalError(f"there is no agreement {agreement!r}: use {' or '.join(get_args(Agreement))}")
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number) or not 0 <= epsilon < 1:
        raise MetaevalError(f"{format_option('epsilon')} is {epsilon!r}; it lies from 0 to below 1")
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_seed(seed)
    judged = choose_class(annotations.answers)
    names, topic = np.unique(np.array(annotations.topics, dtype=object), return_inverse=True)
    near = tabulate_agreement(len(annotations.classes), agreement)
    sums = sum_wins(annotations.labels, judged, near, topic)
    n_items = sums[:, 0, :, 0].sum(axis=0).astype(np.int64)
    testable = n_items >= FEWEST_ITEMS
    if not testable.any():
        raise MetaevalError(
            f"{annotations.collection or 'the annotations'}: nobody can be tested: it takes {FEWEST_ITEMS} items of a person "
            f"that another person labelled too; the most are {n_items.max()}"
        )
    sums = sums[:, :, testable]
    n, wins, totals, squares = np.moveaxis(sums.sum(axis=0), -1, 0)
    p = find_p_values(n, totals, squares, epsilon)
    rejected = reject_by(p, alpha)
    omega, advantage = rejected.mean(axis=-1), wins / n
    by_epsilon = np.stack(
        [reject_by(find_p_values(n, totals, squares, e), alpha).mean(axis=-1) for e in EPSILONS], axis=-1
    )
    # Labels are as far apart as the test has it; what is shown is the mean number of classes.
    shown = near if agreement == "accuracy" else -np.sqrt(-near).astype(np.int64)
    blind = shuffle_answers(annotations.labels, judged, near) > alpha
    no_interval = n_bootstrap == 0 or len(names) < FEWEST_TOPICS
    drawn_rho, drawn_omega = (np.empty((0, len(judged))),) * 2
    if not no_interval:
        key = stream_key(seed, annotations.collection, "alternative_annotator_test")
        weights = resampled_topics(key, range(n_bootstrap), len(names)).astype(np.float64)
        drawn = (weights @ sums.reshape(len(sums), -1)).reshape(n_bootstrap, *sums.shape[1:])
        drawn_rho, (n_drawn, _, totals_drawn, squares_drawn) = average_advantage(drawn), np.moveaxis(drawn, -1, 0)
        drawn_omega = reject_by(find_p_values(n_drawn, totals_drawn, squares_drawn, epsilon), alpha).mean(axis=-1)
    rho = advantage.mean(axis=-1)
    step = 1 / testable.sum()
    first, second = np.triu_indices(len(judged), 1)
    few = max(len(names), 2)
    rho_ends = centre_interval(rho, drawn_rho, few, confidence=confidence, scale="share")
    gap_ends = centre_interval(
        rho[first] - rho[second], drawn_rho[:, first] - drawn_rho[:, second], few, confidence=confidence
    )
    omega_ends = centre_interval(
        omega, drawn_omega, few, confidence=confidence, scale="share", step=step, least=step, student=False
    )
    settings = {
        "agreement": agreement, "epsilon": f"{epsilon:g}", "alpha": f"{alpha:g}", "correction": "benjamini-yekutieli",
        **({} if no_interval else {"bootstrap": n_bootstrap, "confidence": f"{confidence:g}", "seed": seed}),
    }  # fmt: skip
    return AlternativeAnnotatorTest(
        annotations.collection, annotations.judges, annotations.annotators, n_items, testable,
        _spread(advantage, testable, np.nan), _spread(p, testable, np.nan), _spread(rejected, testable, False),
        omega, rho, omega_ends, rho_ends, gap_ends, by_epsilon,
        *mean_agreement(annotations.labels, judged, shown), blind, agreement, epsilon, alpha, confidence,
        _sign(annotations, settings),
        remarks=_remark(annotations, n_items, testable, blind, len(names) if no_interval and n_bootstrap else 0),
    )  # fmt: skip


def _spread(values: np.ndarray, testable: np.ndarray, empty: float | bool) -> np.ndarray:
    """Return values of testable people among those of all."""
    full = np.full((len(values), len(testable)), empty)
    full[:, testable] = values
    return full


def _remark(
    annotations: Annotations, n_items: np.ndarray, testable: np.ndarray, blind: np.ndarray, few_topics: int
) -> tuple[str, ...]:
    remarks = []
    if blind.any():
        named = [judge for judge, one in zip(annotations.judges, blind, strict=True) if one]
        remarks.append(
            f"{format_list(named)}: the same answers in random order would agree with people as well, and cannot replace them\n"
            "That is so of a judge that always gives one label, of one that does not see the items, and of one whose scale is "
            "turned round."
        )
    if not testable.all():
        left = [f"{annotations.annotators[a]} ({n_items[a]} items)" for a in np.flatnonzero(~testable)]
        remarks.append(
            f"not testable, with fewer than {FEWEST_ITEMS} items that others labelled too: {format_list(left)}"
        )
    remarks += remark_few_labels(annotations)
    if few_topics:
        remarks.append(f"no interval: it needs {FEWEST_TOPICS} topics; there are {few_topics}")
    return tuple(remarks)


def _sign(annotations: Annotations, settings: dict[str, object]) -> Signature:
    shown = tuple((name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in settings.items())
    return Signature("alternative_annotator_test", (describe_annotations(annotations),), shown, metaeval.__version__)
