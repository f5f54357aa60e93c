"""What the verdicts of several papers share: how a rule becomes one verdict per collection, over several looks at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from experiments.bounds import BOUNDS
from experiments.outcome import Settings
from experiments.page import SIMULATED
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.study import ROBUST_TEST, Study
from metaeval.data.scores import Scores
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict, judge_differences

FEWEST_RUNS = int(BOUNDS["fewest runs"].value)
"""With fewer runs than this, rankings and significant pairs of runs say too little."""

BASELINES = ("BL-", "always-")
"""What names of runs hold that were made from the gold, or answer without looking at the topic."""

PRINT = "print"
"""What the numbers of a paper are called, where a rule is tried on them."""

OPPOSITE: dict[OutcomeWord, OutcomeWord] = {"holds": "does not hold", "does not hold": "holds"}

Found = tuple[OutcomeWord, tuple[Evidence, ...]]
"""What a rule came to, and the figures that it rests on."""

Ask = Callable[[Scores, int], Study]
"""From scores and a seed to what the paper asks of them."""


@dataclass(frozen=True)
class Views:
    """One collection as it is, and looked at in other ways.

    Parameters
    ----------
    study : Study
        With all its runs and the first seed.
    seed : int
    by_seed : mapping of int to Study, optional
        With all runs and other seeds.
    others : mapping of str to (Study or str), optional
        With other runs, by what was done to them; or in words why there is nothing to try.
    """

    study: Study
    seed: int
    by_seed: Mapping[int, Study] = field(default_factory=dict)
    others: Mapping[str, Study | str] = field(default_factory=dict)


def look_at(study: Study, ask: Ask, seed: int, *, simulated: bool = False) -> Views:
    """Study a collection with more seeds, without its baselines, and on distinct runs.

    Parameters
    ----------
    study : Study
        Of all runs, with the first seed.
    ask : callable
        Studies scores again; what no rule looks at need not be asked.
    seed : int
        The first one.
    simulated : bool, optional
        Simulated collections are looked at once: what they say is about measures, not about a campaign.

    Returns
    -------
    Views
    """
    scores = study.scores
    if simulated or len(scores.runs) < FEWEST_RUNS:
        return Views(study, seed)
    seeds = range(seed + 1, seed + int(BOUNDS["seeds"].value))
    kept = [run for run in scores.runs if not any(part in run for part in BASELINES)]
    distinct, _ = choose_runs(scores, True)
    others: dict[str, Study | str] = {}
    for name, runs, same in (
        ("without baselines", kept, "it has none"),
        ("on distinct runs", distinct.runs, "all are distinct"),
    ):
        others[name] = same if len(runs) == len(scores.runs) else ask(scores.sel(runs=list(runs)), seed)
    return Views(study, seed, {one: ask(scores, one) for one in seeds}, others)


def look_at_all(
    scores: Mapping[str, Scores], ask: Callable[..., Study], questions: Sequence[str], settings: Settings
) -> dict[str, Views]:
    """Study every collection, and look at the real ones with more seeds and fewer runs.

    Parameters
    ----------
    scores : mapping of str to Scores
        By the paper's name of the collection in whose place they stand.
    ask : callable
        Studies scores with a seed, by ``questions`` of its own or those given.
    questions : sequence of str
        What the paper asks.
    settings : Settings

    Returns
    -------
    dict of str to Views
    """
    again = partial(ask, questions=[one for one in questions if one != "robust_power"])
    found = {}
    for name, one in scores.items():
        settings.say(f"{one.collection}")
        study = ask(one, settings.seed)
        found[name] = look_at(study, again, settings.seed, simulated=study.name.startswith(SIMULATED))
    return found


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
    random : bool, optional
        Whether what it rests on hangs on the seed.
    in_print : callable, optional
        What the same rule says of the paper's own numbers, by collection.
    """

    claim: str
    where: str
    text: str
    decide: Callable[[Study], Found | None]
    fewest_runs: int = FEWEST_RUNS
    rests_on_power: bool = False
    random: bool = True
    in_print: Callable[[], Mapping[str, Found]] | None = None

    def apply(self, views: Views) -> Verdict | None:
        """Return the verdict on one collection.

        Parameters
        ----------
        views : Views

        Returns
        -------
        Verdict or None
            None where the rule does not apply. "Cannot tell" where seeds disagree, or where without baselines, on distinct
            runs or by the robust test the opposite comes out.
        """
        study = views.study
        found = self._decide(study)
        if found is None:
            return None
        word, evidence, reason = found
        if not self.random:
            conditions = [("seeds", "nothing is random")]
        elif not views.by_seed:
            conditions = [(f"seed {views.seed}", "others not tried")]
        else:
            others = [self._decide(one) for one in views.by_seed.values()]
            tried = Counter([word, *(one[0] for one in others if one is not None)])
            counts = ", ".join(f"{one} {n}" for one, n in tried.items())
            conditions = [(f"seeds {views.seed} to {max(views.by_seed)}", counts)]
            if len(tried) > 1:
                word, reason = "cannot tell", f"seeds disagree: {counts}"
        looks = dict(views.others)
        if self.rests_on_power:
            looks[f"by {ROBUST_TEST}"] = study.by_robust_test()
        turned = []
        for name, other in looks.items():
            conditions.append((name, other if isinstance(other, str) else self._describe(other)))
            if (
                not isinstance(other, str)
                and (there := self._decide(other)) is not None
                and there[0] == OPPOSITE.get(word)
            ):
                turned.append(name)
        if turned:
            reason, word = f"{word} as it is, the opposite {' and '.join(turned)}", "cannot tell"
        return Verdict(self.claim, self.where, self.text, study.name, word, evidence, tuple(conditions), reason)

    def apply_to_print(self) -> Iterator[Verdict]:
        """Yield what the rule says of the paper's own numbers: whether the sentence follows from them by the rule."""
        for name, (word, evidence) in self.in_print().items() if self.in_print else ():
            yield Verdict(self.claim, self.where, self.text, f"{PRINT}: {name}", word, evidence)

    def _decide(self, study: Study) -> tuple[OutcomeWord, tuple[Evidence, ...], str] | None:
        found = self.decide(study)
        if found is None:
            return None
        word, evidence = found
        n_runs = len(study.scores.runs)
        if n_runs < self.fewest_runs:
            return "cannot tell", evidence, f"{n_runs} runs, the rule needs {self.fewest_runs}"
        return word, evidence, ""

    def _describe(self, study: Study) -> str:
        found = self._decide(study)
        if found is None:
            return "does not apply"
        word, evidence, reason = found
        return f"{word} ({', '.join([*map(str, evidence), *([reason] if reason else [])])})"


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
