"""Can a judge replace people? The alternative annotator test: each person against the judge, compared with the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.prepare import Within, check_options
from metaeval.analyses.result import Result, join_names, list_rows, tabulate_differences
from metaeval.data.annotations import Annotations
from metaeval.errors import MetaevalError, format_count, format_list, format_option
from metaeval.show.cells import bracket_ends
from metaeval.show.charts import Chart, IntervalChart
from metaeval.show.signature import Signature
from metaeval.show.table import Table, cross
from metaeval.stats.annotator_wins import (
    Agreement,
    choose_class,
    compare_with_people,
    mean_agreement,
    shuffle_answers,
    sum_wins,
    tabulate_agreement,
    vary_rates,
)
from metaeval.stats.intervals import FEWEST_TOPICS
from metaeval.stats.resampling import draw_weights
from metaeval.stats.streams import generator, rank_labels, stream_key

PASS = 0.5
"""Share of the people that a judge has to win against."""

FEWEST_ITEMS = 30
"""Items of a person below which the t-test is not made (Calderon et al. 2025)."""

N_SHUFFLES, BLIND_P = 499, 0.01
"""How often a judge's answers are shuffled, and the share of shuffles that agree as well from which on it is blind."""

EPSILONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""From the smallest of these on it is said that a judge passes."""


@dataclass(frozen=True, eq=False)
class AlternativeAnnotatorTest(Result):
    """How each judge does against each person, by agreement with the other people.

    `rows`, by judge, the largest ρ first, have columns judge; rho, the share of a person's items on which it agrees with the
    others as well or better, averaged over people; omega, the share of testable people that it wins against; both with low and
    high over topics; passes; passes_from, the smallest of some ε with which it does, if any; blind, whether it agrees with
    people no better than its answers would in random order; and agrees, the mean share of other people with the same label, or
    minus the mean number of classes from them, which is `people_agree` of the people themselves. `people`, by judge and
    annotator: items, whether they are enough to be tested, the judge's advantage, p, and whether it wins. `differences` are
    those in ρ of every two judges.
    """

    collection: str
    judges: tuple[str, ...]
    rows: pd.DataFrame
    people: pd.DataFrame
    differences: pd.DataFrame
    people_agree: float
    agreement: Agreement
    epsilon: float
    confidence: float

    called: ClassVar[Mapping[str, str]] = {"rows": "judges", "people": "annotators"}

    def answer(self) -> str:
        """Say how many judges may replace people, against how many people the best one wins, and whose interval goes below."""
        rows = self.rows.set_index("judge")
        seeing = rows if rows["blind"].all() else rows[~rows["blind"]]
        best, passing = seeing.iloc[int(seeing["omega"].argmax())], rows.index[rows["passes"]].tolist()
        who = f"{len(passing)} of {format_count(len(rows), 'judge')} may replace people: {format_list(passing, 3)}"
        if not passing:
            blind = ": none does better than chance" * bool(rows["blind"].all())
            who = f"None of {format_count(len(rows), 'judge')} is shown to be fit to replace people{blind}"
        share, low, high = (f"{100 * best[name]:.0f}" for name in ("omega", "omega_low", "omega_high"))
        interval = "" if np.isnan(best["omega_low"]) else f" [{low}, {high}]"
        loose = rows.index[rows["passes"] & (rows["omega_low"] < PASS)].tolist()
        doubt = f", which {join_names(loose)} may miss on other items" if loose else ""
        return f"{who}. {best.name} wins against {share} % of people{interval}; {100 * PASS:.0f} % are needed{doubt}."

    def _write_agreement(self, value: float) -> str:
        """Write a share of equal labels, or a mean number of classes."""
        return f"{100 * value:.0f} %" if self.agreement == "accuracy" else f"{abs(value):.2f}"

    def tables(self) -> list[Table]:
        """Return judges by ρ: whether they pass, and how well they agree with people; then all rates with their intervals."""
        rows = self.rows.set_index("judge")
        passes = np.where(rows["blind"], "no, blind", np.where(rows["passes"], "yes", "no"))
        full = rows.drop(columns=["blind", "agrees", "passes_from"]).assign(passes=passes)
        full = full.rename(columns=lambda name: name.replace("rho", "ρ").replace("omega", "ω").replace("_", " "))
        short = full[["ρ", "ω"]].map("{:.2f}".format).assign(passes=passes)
        short["ω"] += list(map(bracket_ends, full["ω low"], full["ω high"]))
        short.loc["(people)"] = ""
        heading = "same labels as people" if self.agreement == "accuracy" else "classes from people"
        short[heading] = list(map(self._write_agreement, [*rows["agrees"], self.people_agree]))
        never = np.where(rows["blind"], "never", f"above {EPSILONS[-1]:g}")
        full["passes from ε"] = np.where(rows["passes_from"].isna(), never, rows["passes_from"].map("{:g}".format))
        full = full.reindex(short.index).assign(**{heading: short[heading]})
        people = format_count(int(self.people["tested"].sum()) // len(rows), "annotator")
        level = f"{100 * self.confidence:g} % interval"
        caption = (
            f"Alternative annotator test of {format_count(len(rows), 'judge')} against {people}, agreement {self.agreement}. "
            "ρ: how often a judge agrees with the others as well as a person or better. It wins against a person where a test "
            f"shows it to be less than ε = {self.epsilon:g} worse than this person. ω: share of people that it wins against"
            f"{f' [{level}]' * bool(rows['omega_low'].notna().any())}; {PASS:g} is needed."
        )
        squared = "The test squares distances, these are means. " * (self.agreement == "squared-error")
        legend = f"{heading.capitalize()}: on average; (people): with each other. {squared}Low and high: {level} over topics."
        return [
            Table(short, caption, self.signature, at=("short",)),
            Table(full, caption, self.signature, digits=2, legend=legend, joined=True, at=("paper", "all")),
        ]

    def charts(self) -> Sequence[Chart]:
        """Return ρ of every judge with its interval."""
        rows = list_rows(self.rows.rename(columns={"rho_low": "low", "rho_high": "high"}), "rho", name="judge")
        return [IntervalChart(rows, "advantage probability ρ", self.collection)]


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
    the reverse? The judge wins against the person if it is better, or worse by significantly less than an allowance that it
    gets because it costs less (ε of Calderon, Reichart and Dror 2025). p-values are corrected by Benjamini and Yekutieli. No
    judge passes whose answers in random order agree with people as well in more than 1 % of 499 shuffles.

    Parameters
    ----------
    annotations : Annotations
    agreement : {"accuracy", "squared-error"}, optional
        How agreement is measured: share of the other people with the same label; or minus the mean squared number of
        classes between the labels.
    epsilon : float, optional
        By how much a judge may be worse than a person, as a share of items: 0.2 is advised if people are experts, 0.15 if they
        are skilled, 0.1 for crowd workers.
    alpha : float, optional
        Share of false wins among all wins that is accepted (false discovery rate).
    n_bootstrap, confidence, seed : as for `discriminative_power`

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
        kind = type(annotations).__name__
        raise MetaevalError(f"the test takes Annotations, not {kind}: see metaeval.io.read_annotations")
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number) or not 0 <= epsilon < 1:
        raise MetaevalError(f"{format_option('epsilon')} is {epsilon!r}; it lies from 0 to below 1")
    check_options(
        agreement=Within(agreement, Agreement), alpha=alpha, confidence=confidence, n_bootstrap=n_bootstrap, seed=seed
    )
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
    whole = sums.sum(axis=0)
    advantage = whole[..., 1] / whole[..., 0]
    p, rejected = compare_with_people(whole, epsilon, alpha)
    rho, omega = advantage.mean(axis=-1), rejected.mean(axis=-1)
    order, rng = np.argsort(rank_labels(annotations.items)), generator(seed, annotations.collection, "shuffled answers")
    blind = shuffle_answers(annotations.labels[:, order], judged[:, order], near, N_SHUFFLES, rng) > BLIND_P
    passing = np.array([compare_with_people(whole, each, alpha)[1].mean(axis=-1) >= PASS for each in EPSILONS]) & ~blind
    passes_from = np.where(passing.any(axis=0), np.array(EPSILONS)[passing.argmax(axis=0)], np.nan)
    # Labels are as far apart as the test has it; what is shown is the mean number of classes.
    shown = near if agreement == "accuracy" else -np.sqrt(-near).astype(np.int64)
    agrees, people_agree = mean_agreement(annotations.labels, judged, shown)

    no_interval, weights, n_topics = "", np.empty((0, len(names))), len(names)
    if n_topics < FEWEST_TOPICS:
        no_interval = f"No interval: it needs {FEWEST_TOPICS} topics; there are {n_topics}."
    elif n_bootstrap:
        key = stream_key(seed, annotations.collection, "alternative_annotator_test")
        weights = draw_weights(key, range(n_bootstrap), n_topics)
    rho_ends, omega_ends, gaps, gap_ends = vary_rates(sums, weights, rho, omega, epsilon, alpha, confidence)

    rows = pd.DataFrame({"judge": annotations.judges})
    for name, value, ends in (("rho", rho, rho_ends), ("omega", omega, omega_ends)):
        rows[[name, f"{name}_low", f"{name}_high"]] = np.column_stack([value, *ends])
    rows = rows.assign(passes=(omega >= PASS) & ~blind, passes_from=passes_from, blind=blind, agrees=agrees)
    outcome = np.full((3, len(judged), len(n_items)), np.nan)
    outcome[..., testable] = advantage, p, rejected
    people = cross(
        {"judge": annotations.judges, "annotator": annotations.annotators},
        items=n_items, tested=testable, advantage=outcome[0], p=outcome[1], wins=outcome[2] == 1,
    )  # fmt: skip
    differences = tabulate_differences(annotations.judges, gaps, *gap_ends, "better")
    grouped = f" in {format_count(n_topics, 'topic')}" if n_topics < len(annotations.items) else ""
    data = f"{annotations.collection or 'annotations'}@{annotations.fingerprint} {annotations.size}{grouped}"
    settings = {"agreement": agreement, "epsilon": epsilon, "alpha": alpha, "correction": "benjamini-yekutieli"}
    settings |= {"shuffles": N_SHUFFLES, "bootstrap": len(weights), "confidence": confidence, "seed": seed}
    signed = tuple((name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in settings.items())
    return AlternativeAnnotatorTest(
        annotations.collection, annotations.judges,
        rows.sort_values(["rho", "judge"], ascending=[False, True], ignore_index=True), people,
        differences.rename(columns={"measure_1": "judge_1", "measure_2": "judge_2"}),
        people_agree, agreement, epsilon, confidence,
        signature=Signature("alternative_annotator_test", (data,), signed, metaeval.__version__),
        remarks=tuple(_remark(annotations, n_items, blind)), no_interval=no_interval if n_bootstrap else "",
    )  # fmt: skip


def _remark(annotations: Annotations, n_items: np.ndarray, blind: np.ndarray) -> Iterator[str]:
    """Yield which judges are blind and which people cannot be tested, a note each."""
    if blind.any():
        named = [judge for judge, is_blind in zip(annotations.judges, blind, strict=True) if is_blind]
        yield (
            f"{format_list(named)}: the same answers in random order would agree with people as well, and cannot replace them\n"
            "That is so of a judge that always gives one label, of one that does not see the items, and of one whose scale is "
            "turned round."
        )
    if (n_items < FEWEST_ITEMS).any():
        few = [f"{annotations.annotators[a]} ({n_items[a]} items)" for a in np.flatnonzero(n_items < FEWEST_ITEMS)]
        yield f"not testable, with fewer than {FEWEST_ITEMS} items that others labelled too: {format_list(few)}"
    single = int(((annotations.labels >= 0).sum(axis=0) == 1).sum())
    if single:
        yield f"{format_count(single, 'item')} with the label of one person only: left out"
