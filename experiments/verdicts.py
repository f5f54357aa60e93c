"""What the verdicts of several papers share: how a rule becomes one verdict per collection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.study import ROBUST_TEST, Study
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict, judge_differences

FEWEST_RUNS = 10
"""With fewer runs than this, rankings and significant pairs of runs say too little."""

Found = tuple[OutcomeWord, tuple[Evidence, ...]]
"""What a rule came to, and the figures that it rests on."""


@dataclass(frozen=True)
class Rule:
    """A claim of a paper, and how it is tried on one collection.

    Parameters
    ----------
    claim, where, text : str
        The sentence, where it stands, and the rule in words.
    decide : callable
        From a study to what came out; None where the study lacks what it takes.
    fewest_runs : int, optional
        With fewer runs the outcome is "cannot tell".
    rests_on_power : bool, optional
        Whether it is about significant pairs of runs, so that it is tried by a second test too.
    """

    claim: str
    where: str
    text: str
    decide: Callable[[Study], Found | None]
    fewest_runs: int = FEWEST_RUNS
    rests_on_power: bool = False

    def apply(self, study: Study, seed: int) -> Verdict | None:
        """Return the verdict on one collection.

        Parameters
        ----------
        study : Study
        seed : int

        Returns
        -------
        Verdict or None
            None where the rule does not apply.
        """
        found = self.decide(study)
        if found is None:
            return None
        word, evidence = found
        reason, n_runs = "", len(study.scores.runs)
        if n_runs < self.fewest_runs:
            word, reason = "cannot tell", f"{n_runs} runs, the rule needs {self.fewest_runs}"
        conditions = [("seed", str(seed)), ("other seeds", "not tried"), ("without baselines", "not tried")]
        second = self.decide(study.by_robust_test()) if self.rests_on_power else None
        if second is not None:
            conditions.append((f"by {ROBUST_TEST}", f"{second[0]} ({', '.join(map(str, second[1]))})"))
        return Verdict(self.claim, self.where, self.text, study.name, word, evidence, tuple(conditions), reason)


def apply_rules(rules: list[Rule], studies: Mapping[str, Study], seed: int) -> list[Verdict]:
    """Return the verdicts of every rule on every collection that it applies to, rule by rule.

    Parameters
    ----------
    rules : list of Rule
    studies : mapping of str to Study
    seed : int

    Returns
    -------
    list of Verdict
    """
    return [one for rule in rules for study in studies.values() if (one := rule.apply(study, seed)) is not None]


def judge_symmetry(study: Study) -> Found | None:
    """Does RSNOD, which is RNOD made symmetric, find fewer significant run pairs? Both papers claim so.

    Parameters
    ----------
    study : Study

    Returns
    -------
    (outcome, evidence) or None
    """
    if study.power is None or not {"RNOD", "RSNOD"} <= {str(one) for one in study.power.measures}:
        return None
    found = study.power.summary().set_index("measure")["significant"]
    gap = find_gap(study.power, "RNOD", "RSNOD")
    evidence = (
        Evidence("significant pairs of RNOD", int(found["RNOD"])),
        Evidence("of RSNOD", int(found["RSNOD"])),
        gap,
    )
    return judge_differences([gap.interval]), evidence


def find_gap(power: DiscriminativePower, first: str, second: str) -> Evidence:
    """Return the power of one measure less that of another, with its interval over topics where there is one.

    Parameters
    ----------
    power : DiscriminativePower
    first, second : str

    Returns
    -------
    Evidence
    """
    frame = power.compare_power()
    row = frame[frame["measure_1"].isin((first, second)) & frame["measure_2"].isin((first, second))].iloc[0]
    turn = 1 if row["measure_1"] == first else -1
    low, high = sorted((float(turn * row["low"]), float(turn * row["high"])))
    interval = (low, high) if low <= high else None
    return Evidence(f"power of {first} less that of {second}", float(turn * row["difference"]), interval)
