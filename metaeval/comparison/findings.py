"""What came out for a new measure: its numbers beside the others', findings by stated rules, and the answer in a few lines.

One frame holds every number (`Facts`), each rule turns it into a sentence, and the first rule that holds makes the headline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import EXCHANGING
from metaeval.analyses.power import pool_over_topics
from metaeval.analyses.ranking_similarity import ALIKE
from metaeval.analyses.reference_pairs import (
    CHANCE,
    CONTRADICTED,
    LIMIT,
    TOLD,
    grade,
    grade_reference,
    rate_consistency,
)
from metaeval.analyses.result import write_range
from metaeval.analyses.study import SMALL, Study
from metaeval.comparison.results import ComparisonResults, find_once, find_position, list_results
from metaeval.errors import format_count, format_list, format_option
from metaeval.measures.properties import PropertyCheck
from metaeval.show.cells import NOTHING, bracket_ends
from metaeval.stats.intervals import FEWEST_RUNS, FEWEST_TOPICS, LIKE, interval_of_pairs

Outcome = Literal["holds", "does not hold", "cannot tell"]
"""What a rule can come to."""

MOST_NAMED = 3  # measures in a sentence

_SLACK = 1e-9  # numbers that are nearer than this are equal but for rounding
_ORDER = ("formula", "similarity", "contradictions", "power", "consistency")
_WITH_REFERENCE = ("agreement", "reference", "formula", "similarity", "power", "consistency", "contradictions")

RULES = {
    "agreement": "Pairwise accuracy: the share of pairs of runs that the measure orders as the reference does. Better and "
    "worse are measures where the simultaneous 95 % intervals of the differences leave out 0. Among the best: none is better, "
    "and at least half of the others are worse.",
    "reference": "The measure contradicts the reference where the 95 % interval of the share of contradicted pairs, of those "
    f"that both find significant, lies above {100 * LIMIT:g} %, and does better than chance where it lies below "
    f"{100 * CHANCE:g} %; otherwise it is undecided.",
    "similarity": "The nearest measure is the one with the highest τ, averaged over collections. The two are alike where the "
    f"whole 95 % interval of that mean lies at or above {ALIKE:g}, and not alike where it lies below; otherwise it cannot be "
    f"told, nor where identical runs keep τ below {ALIKE:g}. Deviations of the ends from their collection's τ are added in "
    "squares, where collections share topics as they are. Contrary: every interval of τ lies below 0.",
    "consistency": "The net share of the other measures that the measure outperforms in split-half consistency, in every "
    "collection and at both sizes of the sets of topics: more stable from 1/3 up, less stable from −1/3 down. The test is over "
    "splits of the same topics, and says nothing of others.",
    "power": "Significant pairs of runs, by the test that is named, are added over collections. The measure finds more, or "
    "fewer, than another where the paired 95 % interval over topics of the difference leaves out 0. More is called right "
    "only where the reference is better than chance at confirming it.",
    "contradictions": "Two measures contradict each other on a pair of runs where both find it significantly different, by the "
    "same test as for power, the one in favour of one run and the other in favour of the other.",
    "formula": "A property fails with one counterexample; it stands where none was found among the cases tried.",
}
"""By key of a finding, how it is reached."""


@dataclass(frozen=True)
class Finding:
    """One thing that came out for a new measure: a `sentence`, its `numbers`, and whether the answer has `told` them."""

    key: str
    sentence: str
    numbers: str
    outcome: Outcome
    told: bool = True

    @property
    def phrase(self) -> str:
        """The sentence with its numbers in brackets."""
        return f"{self.sentence} ({self.numbers})" if self.numbers else self.sentence


class Facts(NamedTuple):
    """The numbers of all measures beside one of them, over collections; a column that there is no analysis for is absent."""

    studies: Sequence[Study]
    measure: str
    frame: pd.DataFrame

    @property
    def others(self) -> pd.DataFrame:
        """The rows of the other measures, those that rank runs most alike first."""
        rest = self.frame.drop(index=self.measure)
        return rest.sort_values("tau", ascending=False, kind="stable") if "tau" in rest else rest

    @property
    def largest_tau(self) -> float:
        """The largest mean τ that is possible, which identical runs lower."""
        return float(np.mean([study.diagnostics.largest_tau_a for study in self.studies]))

    @property
    def ranks_alike(self) -> bool:
        """Whether the nearest measure ranks runs alike, or these runs as it does."""
        near = self.others.iloc[0]
        return bool(near.tau_low >= ALIKE or near.tau > self.largest_tau - _SLACK)

    def say_assumed(self, *others: str) -> str:
        """Say that directions are assumed, where that of the measure or of one of these others is."""
        compared = [each for each in self.studies[0].scores.measures if str(each) in (self.measure, *others)]
        return "; directions are assumed" * any(each.direction_is_assumed for each in compared)

    def name(self, which: pd.Series | None = None) -> str:
        """Name others as a person would: up to three of them and how many more, or every one; by default all."""
        rest = self.others
        return name_some([*(rest if which is None else rest[which]).index], len(rest))


def collect_facts(studies: Sequence[Study], name: str) -> Facts:
    """Return what the analyses say of every measure beside one of them, in numbers with intervals."""
    measures = studies[0].scores.measures
    names = [str(measure) for measure in measures]
    m = names.index(name)
    columns: dict[str, Any] = {}
    if similar := list_results(studies, "similarity"):
        pairs = [each.take_pairs(measures[m])[0].reindex(names) for each in similar]
        tau, low, high = (np.array([frame[what].to_numpy(float) for frame in pairs]) for what in ("tau", "low", "high"))
        topics = Counter(topic for study in studies for topic in study.scores.topics)
        shared = max(topics.values()) > 1  # the same documents, perhaps, of which collections say nothing new
        ends = np.transpose([add_intervals(*each, shared) for each in zip(tau.T, low.T, high.T, strict=True)])
        columns |= {"tau": tau.mean(axis=0), "tau_low": ends[0], "tau_high": ends[1]}
    if splits := list_results(studies, "consistency", "small_consistency"):
        clear = np.array([split.significant[m] * np.sign(split.means - split.means[m]) for split in splits])
        columns["consistency"] = np.mean([split.means for split in splits], axis=0)
        columns |= {"more_consistent": np.sum(clear > 0, axis=0), "less_consistent": np.sum(clear < 0, axis=0)}
    if power := list_results(studies, "power"):
        count = np.sum([each.significant.sum(axis=1) for each in power], axis=0)
        n_pairs = sum(each.p_values.shape[1] for each in power)
        columns |= {"significant": count, "pairs": n_pairs, "difference": (count - count[m]) / n_pairs}
        ends = np.zeros((2, len(names), len(names)))  # of how far each measure is ahead of each other one
        one, other = np.triu_indices(len(names), 1)
        ends[:, one, other] = pool_over_topics(power).find_difference_ends(count / n_pairs)
        columns["difference_low"], columns["difference_high"] = (ends - ends[::-1].transpose(0, 2, 1))[:, :, m]
    if second := list_results(studies, "second_power"):
        columns[f"significant_{second[0].test}"] = np.sum([each.significant.sum(axis=1) for each in second], axis=0)
    if found := list_results(studies, "contradictions"):
        opposite = [(each.verdicts[m] * each.verdicts == -1).sum(axis=1) for each in found]
        columns["contradictions"] = np.sum(opposite, axis=0)
    if references := list_results(studies, "reference"):
        added = sum(each.rows[["confirmed", "contradicted"]].to_numpy() for each in references)
        columns |= {"contradicted": added[:, 1], "decided": added.sum(axis=1)}
    return Facts(studies, name, pd.DataFrame(columns, index=pd.Index(names, name="measure")))


@find_once
def find_facts(comparison: ComparisonResults, name: str) -> Facts:
    """Return what the analyses say of every measure beside a new one, and how well all agree with the reference."""
    facts = collect_facts(comparison.collections, name)
    if comparison.agreement is not None:
        result, names = comparison.agreement.results[0], [str(measure) for measure in comparison.agreement.measures]
        columns = {"agreed": result.values, "agreed_low": result.low, "agreed_high": result.high}
        facts = facts._replace(frame=facts.frame.join(pd.DataFrame(columns, index=names)))
    return facts


@find_once
def find_second_facts(comparison: ComparisonResults, name: str) -> Facts | None:
    """Return the same by the second test; None where it was not tried."""
    if any(study.second_power is None for study in comparison.collections):
        return None
    return collect_facts([study.by_second_test() for study in comparison.collections], name)


def add_intervals(value: np.ndarray, low: np.ndarray, high: np.ndarray, shared: bool) -> tuple[float, float]:
    """Return the interval of a mean: deviations of independent ends are added in squares, of `shared` topics as they are."""
    deviations = np.abs([value - low, high - value])
    below, above = (deviations.sum(axis=1) if shared else np.sqrt((deviations**2).sum(axis=1))) / len(value)
    return round(float(value.mean() - below), 12), round(float(value.mean() + above), 12)


def name_some(names: Sequence[str], n: int) -> str:
    """Name some of n other measures as a person would.

    >>> name_some(["AP"], 1), name_some(["AP", "RR"], 9), name_some(["AP", "RR", "P"], 3)
    ('AP', 'AP and RR', 'every other measure')
    >>> name_some(["AP", "RR", "P", "Q", "S"], 9)
    'AP, RR, P and 2 more of the 9 others'
    """
    if len(names) == n > 2:
        return "every other measure"
    rest = len(names) - MOST_NAMED  # a single one more is named too
    more = [f"{rest} more of the {n} others"] if rest > 1 else names[MOST_NAMED:]
    *first, last = [*names[:MOST_NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last


# Findings, each by a rule


def judge_agreement(comparison: ComparisonResults, name: str) -> tuple[str, Finding] | None:
    """How well does it order runs as the reference does? The headline, empty without intervals, and the finding."""
    if comparison.agreement is None:
        return None
    result, names = comparison.agreement.results[0], [str(measure) for measure in comparison.agreement.measures]
    reference, m, n = str(comparison.agreement.reference), names.index(name), len(names) - 1
    value, low, high = (float(numbers[m]) for numbers in (result.values, result.low, result.high))
    sides = result.better[:, m], result.better[m]
    above, below = (name_some([*compress(names, side)], n) if side.any() else "none" for side in sides)
    behind, ahead = (int(side.sum()) for side in sides)
    pairs = zip(*np.triu_indices(n + 1, 1), result.conclusions, strict=True)
    mine = [word for i, j, word in pairs if m in (i, j)]
    whom = above if behind == n else below if ahead == n else "most measures"
    better = f"{format_count(behind, 'measure')} {'is' if behind == 1 else 'are'} clearly better"
    headline = _find_first(
        (not low <= high, ""),
        (n and all(result.high < result.chance), f"Every measure disagrees with {reference}: is its direction right?"),
        (high < result.chance, f"Ranks runs opposite to {reference}: is the direction right?"),
        (low <= result.chance, f"Not shown to agree with {reference} better than chance"),
        (not n, f"Agrees with {reference} better than chance"),
        (2 * behind > n, f"Agrees with {reference} less than {whom}"),
        (2 * ahead > n and (behind or ahead == n), f"Agrees with {reference} better than {whom}"),
        (behind, f"Not the best at agreeing with {reference}: {better}"),
        (2 * ahead >= n, f"Among the best at agreeing with {reference}"),
        (ahead, f"Agrees with {reference} better than {ahead} of {n} others, worse than none"),
        (all(word == LIKE for word in mine), f"Agrees with {reference} as well as the others"),
        (True, f"Agrees with {reference}; no measure is clearly better"),
    )
    first, last = int((result.values > value).sum()) + 1, int((result.values >= value).sum())
    place = f"{first}–{last}" if last > first else f"{first}"
    sentence = f"Orders {100 * value:.0f} % of run pairs as {reference} does, place {place} of all {n + 1}"
    outcome: Outcome = "holds" if low <= high else "cannot tell"
    beside = f"by paired differences better than it: {above}; worse than it: {below}"
    numbers = f"{100 * low:.0f}–{100 * high:.0f} %; {beside}" if low <= high else "no interval"
    return headline, Finding("agreement", sentence, numbers, outcome)


def judge_reference(facts: Facts) -> Finding | None:
    """Does the measure contradict the reference?"""
    if "decided" not in facts.frame:
        return None
    references = list_results(facts.studies, "reference")
    position = find_position(references[0], facts.measure)
    word = grade_reference(references)[position]
    counts = np.array([each.rows[["contradicted", "confirmed"]].iloc[position] for each in references], dtype=int)
    wrong, decided = int(counts[:, 0].sum()), int(counts.sum())
    low, high = interval_of_pairs(counts[:, 0], counts.sum(axis=1), [each.n_runs for each in references])
    reference = str(references[0].reference)
    many = {CONTRADICTED: "Too many", TOLD: "Few"}.get(word, "Some") if wrong else "None"
    sentence = f"{many} of its significant differences are contradicted by {reference}"
    sentence += ", which may be chance" * (not wrong and word != TOLD)
    if not decided:
        sentence = f"Has no significant difference in common with {reference}"
    elsewhere = f"{100 * low:.0f}–{100 * high:.0f} % with other runs and topics"
    numbers = f"{wrong:,} of the {decided:,} that both find; {elsewhere}" if decided else ""
    outcome: Outcome = "holds" if word == TOLD else "does not hold" if word == CONTRADICTED else "cannot tell"
    return Finding("reference", sentence, numbers, outcome)


def judge_similarity(facts: Facts) -> Finding | None:
    """Which measure does it rank runs like?"""
    if "tau" not in facts.frame:
        return None
    rest, mean = facts.others, "mean τ" if len(list_results(facts.studies, "similarity")) > 1 else "τ"
    near, far, tied, largest = rest.iloc[0], rest.iloc[-1], find_nearest(rest), facts.largest_tau
    title, opposite, contrary = facts.name(tied), is_opposite(far), (rest["tau_high"] < 0).all()
    same, unlike = near.tau > largest - _SLACK, near.tau_high < ALIKE <= largest
    outcome: Outcome = "holds" if near.tau_low >= ALIKE else "does not hold" if unlike else "cannot tell"
    nearest = f"Nearest {'are' if tied.sum() > 1 else 'is'} {title}"
    nearest = "All other measures are equally near" if tied.sum() == len(rest) > 2 else nearest
    ends = bracket_ends(near.tau_low, near.tau_high)
    sides = {"holds": "above", "does not hold": "below", "cannot tell": "on both sides of"}
    place = f"the interval lies {sides[outcome]} {ALIKE:g}, the limit for alike"
    place = f"that of {near.name}, the highest" if contrary else place
    place = place if largest >= ALIKE else f"identical runs allow {largest:.2f} at most"
    numbers = f"{mean} {near.tau:.2f}{f'{ends}: {place}' if ends else ', no interval'}"
    elsewhere = "; on other topics it may differ" * (outcome != "holds" and largest >= ALIKE)
    if outcome == "cannot tell" and (below := int((rest["tau_high"] < ALIKE).sum())) and largest >= ALIKE:
        numbers += f"; for {below} of the {len(rest)} others it lies below"
    sentence = _find_first(
        (same, f"Gives the same ranking of these runs as {title}{elsewhere}"),
        (outcome == "holds", f"Ranks runs like {facts.name(tied | (rest['tau_low'] >= ALIKE))}"),
        (opposite, f"Ranks runs opposite to {far.name}"),
        (contrary, f"Ranks runs contrary to {facts.name()}"),
        (unlike, f"{nearest}, but on these topics the rankings of runs are not alike"),
        (largest < ALIKE, f"{nearest}; with so many identical runs, whether rankings are alike cannot be told"),
        (True, f"{nearest}; whether the rankings of runs are alike cannot be told"),
    )
    numbers += "; identical runs keep it below 1" * bool(same and ALIKE <= largest < 1)
    if unlike and not contrary and (halves := list_results(facts.studies, "consistency")):
        own = np.mean([each.means[find_position(each, facts.measure)] for each in halves])
        numbers += f"; between halves of the topics {facts.measure} has {own:.2f} with itself"
    if opposite:
        against = f"{mean} {far.tau:.2f}{bracket_ends(far.tau_low, far.tau_high)}"
        if facts.ranks_alike:
            sentence, numbers = f"{sentence}, but opposite to {far.name}", f"{numbers}; {against}"
        elif not contrary:
            sentence, numbers = f"{sentence}; {nearest[0].lower()}{nearest[1:]}", f"{against}; {numbers}"
        else:
            numbers = f"{against}{'; τ with every other measure is below 0' * (len(rest) > 1)}"
    if opposite or contrary:
        numbers += facts.say_assumed(str(far.name))
    return Finding("similarity", sentence, numbers, outcome)


def find_nearest(rest: pd.DataFrame) -> pd.Series:
    """Tell which measures are as near as the first one, and alike if it is."""
    near, alike = rest["tau"] > rest["tau"].iloc[0] - _SLACK, rest["tau_low"] >= ALIKE
    return near & (alike == alike.iloc[0])


def is_opposite(far: pd.Series) -> bool:
    """Tell whether the measure that is least alike ranks runs the other way round."""
    return bool(far.tau <= -ALIKE and far.tau_high < 0)


def judge_consistency(facts: Facts) -> Finding | None:
    """Is its ranking more stable between sets of these topics than that of most measures?"""
    if "consistency" not in facts.frame or len(facts.frame) < 2:
        return None
    splits = list_results(facts.studies, "consistency", "small_consistency")
    net = np.array([rate_consistency([each])[find_position(each, facts.measure)] for each in splits])
    word, rest = grade(float(max(net.min(), min(net.max(), 0.0)))), facts.others["consistency"]
    whom = facts.name() if np.abs(net).min() > 1 - _SLACK or len(rest) == 1 else "others on balance"
    words = {"good": f"more stable than that of {whom}", "poor": f"less stable than that of {whom}"}
    others = f"{facts.name() if len(rest) == 1 else 'others'} {write_range(rest.to_numpy())}"
    sets = f"halves{f' and in sets of {SMALL} topics' * all(study.small_consistency for study in facts.studies)}"
    own = facts.frame["consistency"][facts.measure]
    numbers = f"significant by randomised Tukey HSD over splits, in {sets}; mean τ {own:.2f}; {others}"
    outcome: Outcome = {"good": "holds", "poor": "does not hold"}.get(word, "cannot tell")  # type: ignore[assignment]
    # It is not said of what may be wrong that it is stable.
    told = outcome == "does not hold" or (outcome == "holds" and grade_differences(facts) == TOLD)
    sentence = f"Its ranking is {words.get(word, 'about as stable as others')} between random subsets of these topics"
    return Finding("consistency", sentence, numbers, outcome, told)


def judge_power(facts: Facts) -> Finding | None:
    """Does it find more significant pairs of runs than others, or fewer?"""
    if "significant" not in facts.frame:
        return None
    counted, pairs = (int(facts.frame[what][facts.measure]) for what in ("significant", "pairs"))
    test = f"by {list_results(facts.studies, 'power')[0].test}"
    word, whom, beside = _compare_power(facts)
    sentences = {
        "": f"Whether it finds more or fewer differences than others {test} cannot be told",
        "both": f"Is in the middle by how many differences it finds {test}",
    }
    sentence = sentences.get(word, f"Finds {word} differences than {whom} {test}")
    if word == "more" and not ("decided" in facts.frame and grade_differences(facts) in (TOLD, CONTRADICTED)):
        sentence += "; whether they are right, these data do not show"
    outcome: Outcome = "holds" if word else "cannot tell"
    numbers = f"{facts.measure} finds {counted:,} of {pairs:,} pairs of runs different{beside}"
    return Finding("power", sentence, numbers, outcome)


def _compare_power(facts: Facts) -> tuple[str, str, str]:
    """Return whether a measure finds more differences, fewer, or both, than which others; and what stands beside the number."""
    rest = facts.others
    than = {"more": rest["difference_high"] < 0, "fewer": rest["difference_low"] > 0}
    counts = {word: int(which.sum()) for word, which in than.items()}
    word = "more" if counts["more"] > counts["fewer"] else "fewer"
    named = {word: f"; {word} than {facts.name(which)}" for word, which in than.items() if counts[word]}
    if len(named) == 2 and 2 * counts[word] <= len(rest):
        return "both", "", "".join(named.values())
    if not named:
        return "", "", ""
    return word, facts.name(than[word]), "".join(each for key, each in named.items() if key != word)


def grade_differences(facts: Facts) -> str:
    """Grade how right the differences are that a measure finds: by the reference, or else by whether any measure is like it."""
    if pairs := list_results(facts.studies, "reference"):
        return grade_reference(pairs)[find_position(pairs[0], facts.measure)]
    return TOLD if "tau" in facts.frame and facts.others["tau_low"].iloc[0] >= ALIKE else ""


def judge_contradictions(facts: Facts) -> Finding | None:
    """Which measures does it contradict, and how often?"""
    if "contradictions" not in facts.frame:
        return None
    counts = facts.frame["contradictions"].drop(facts.measure).sort_values(ascending=False, kind="stable")
    found = counts[counts > 0]
    if not len(found):
        return Finding("contradictions", "Contradicts no other measure", "", "holds", told=False)
    named, most, least = [*found.index], int(found.iloc[0]), int(found.iloc[-1])
    between = "or" if most == least + 1 else "to"
    pairs = format_count(most, "pair") if most == least else f"{least:,} {between} {most:,} pairs"
    each = " each" * (most == least == 1 < len(found))
    assumed = facts.say_assumed(*map(str, found.index))
    numbers = f"on {pairs} of runs{each}{_describe_pairs(facts, str(found.index[0]))}{assumed}"
    test = list_results(facts.studies, "power")[0].test
    return Finding("contradictions", f"Contradicts {name_some(named, len(counts))} by {test}", numbers, "holds")


def _describe_pairs(facts: Facts, other: str) -> str:
    """Say which run is in all pairs on which a measure contradicts others, and what two measures say of the first pair."""
    counts: Counter[str] = Counter()
    n_pairs, example = 0, ""
    for study in facts.studies:
        if (found := study.contradictions) is None:
            continue
        mine, theirs = (found.verdicts[find_position(found, each)] for each in (facts.measure, other))
        first, second = np.triu_indices(len(found.runs), 1)
        pairs = np.flatnonzero((mine * found.verdicts == -1).any(axis=0))
        counts.update(found.runs[run] for run in (*first[pairs], *second[pairs]))
        n_pairs += len(pairs)
        for pair in np.flatnonzero(mine * theirs == -1)[: not example]:
            runs = found.runs[first[pair]], found.runs[second[pair]]
            better, worse = runs if mine[pair] > 0 else runs[::-1]
            place = f" on {study.name}" * (len(facts.studies) > 1)
            example = f"{better} is better than {worse} by {facts.measure}, worse by {other}{place}"
    (run, n), *_ = counts.most_common(1)
    culprit = f", all with {run}" if n == n_pairs > 1 and list(counts.values()).count(n) == 1 else ""
    return f"{culprit}{': ' if n_pairs == 1 else '; on one of them, '}{example}"


def judge_formula(tried: Mapping[str, Mapping[str, PropertyCheck]], title: str) -> Finding | None:
    """Which of the properties tried does its formula have, and what do others make of the order of classes?"""
    traits = tried.get(title, {})
    marks = "; ".join(f"{trait} {check.mark}" for trait, check in traits.items() if check.mark != NOTHING)
    if not marks:
        return None
    ordinal = traits.get("ordinal")
    if ordinal is None or ordinal.mark == NOTHING or not ordinal.failed:
        return Finding("formula", f"Properties of its formula: {marks}", "", "holds", told=False)
    others = [heed for other, checks in tried.items() if other != title and (heed := heed_order(checks))]
    plural = {"respects": "respect it", "ignores": "ignore it", "does not always respect": "do not always"}
    beside = ", ".join(f"{n} {plural[heed]}" for heed, n in Counter(others).most_common())
    sentence = f"Its formula {heed_order(traits)} the order of the classes; of the {len(others)} others {beside}"
    numbers = f"fails in {ordinal.failed:,} of {ordinal.cases:,} made-up cases, which are not from these runs"
    return Finding("formula", sentence, numbers, "holds")


def heed_order(traits: Mapping[str, PropertyCheck]) -> str:
    """Return what a formula does to the order of the classes; it ignores it if it does so even where all have items."""
    check, mixed = traits.get("ordinal"), traits.get("ordinal with mixed gold")
    if check is None or check.holds is None:
        return ""
    if check.holds:
        return "respects"
    return "ignores" if check.cases == check.failed and not (mixed and mixed.holds) else "does not always respect"


_JUDGES: tuple[Callable[[Facts], Finding | None], ...] = (
    judge_reference, judge_similarity, judge_consistency, judge_power, judge_contradictions,
)  # fmt: skip


@find_once
def find_verdicts(comparison: ComparisonResults, name: str) -> list[Finding]:
    """Return what came out for a new measure, and what of it the second test does not confirm."""
    facts, second = find_facts(comparison, name), find_second_facts(comparison, name)
    findings = [agreed[1]] if (agreed := judge_agreement(comparison, name)) else []
    for judge in _JUDGES:
        if (finding := judge(facts)) is not None:
            findings.append(finding if second is None else _say_both_tests(finding, facts, second))
    if comparison.lacks_intervals:  # nothing is claimed
        findings = [replace(each, outcome="cannot tell", told=False) for each in findings]
    by_formula = judge_formula(comparison.traits, name)
    return [*findings, *([by_formula] if by_formula else [])]


def _say_both_tests(finding: Finding, facts: Facts, second: Facts) -> Finding:
    """Say of contradictions, power, or what a reference contradicts, whether the second test finds it too, or the opposite."""
    first, later = (list_results(each.studies, "power")[0].test for each in (facts, second))
    how, later = "", f"the second test, {later}"
    if finding.key == "reference" and (other := judge_reference(second)) and other.outcome != finding.outcome:
        return replace(finding, numbers=f"{finding.numbers}; by {later}: {other.phrase}")
    if finding.key == "contradictions" and finding.told:
        found, again = (each.frame["contradictions"] > 0 for each in (facts, second))
        n, confirmed = int(found.sum()), int((found & again).sum())
        parts = {n: "confirms", 0: "does not confirm"}
        how = f"which {later}, {parts.get(confirmed, f'confirms for {confirmed} of these {n}')}"
    if finding.key == "power" and finding.outcome == "holds":
        (word, _, _), (opposite, others, _) = map(_compare_power, (facts, second))
        how = "" if opposite else f"which {later}, does not confirm"
        how = f"but {opposite} than {others} by {later}" if {word, opposite} == {"more", "fewer"} else how
    sentence = finding.sentence.replace(f"by {first}", f"by {first}, {how}")
    return replace(finding, sentence=sentence) if how else finding


# The answer


@dataclass(frozen=True)
class Answer:
    """What a reader should leave with: lines of text, the numbers of a finding in brackets at its end."""

    headline: str
    findings: tuple[str, ...]
    before: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The headline with its full stop."""
        return self.headline if self.headline.endswith("?") else f"{self.headline}."

    def to_text(self) -> str:
        """Return the answer as lines."""
        lines = [self.sentence]
        lines += ["", *(f"- {finding}." for finding in self.findings)] if self.findings else []
        lines += ["", "Before you rely on this:", *(f"- {line}" for line in self.before)] if self.before else []
        return "\n".join(lines)


def find_answer(comparison: ComparisonResults, measure: str | None = None, *, named: bool = False) -> Answer:
    """Choose what to say of a new measure, by rule; the headline begins with its name if it is `named` or one of several."""
    name = comparison.find_new(measure)
    keys: tuple[str, ...] = _ORDER if comparison.agreement is None else _WITH_REFERENCE
    if (kind := find_kin(comparison, name)[0]) in ("constant", "copy", "linear"):
        keys = () if kind == "constant" else ("similarity",)
    findings = {finding.key: finding.phrase for finding in find_verdicts(comparison, name) if finding.told}
    told, headline = [findings[key] for key in keys if key in findings], find_headline(comparison, name)
    if named or len(comparison.new) > 1:
        headline = f"{name}: {headline[0].lower()}{headline[1:]}"
    return Answer(headline, tuple(told), tuple(list_warnings(comparison)))


_KIN = {
    "constant": "The same for all runs: it separates none",
    "copy": "A copy of {title}: all scores are the same",
    "linear": "A rescaled copy of {title}: scores are a · {title} + b",
    "opposite": "Ranks runs opposite to {title}: is the direction right?",
    "torn": "Ranks runs like {title}: which direction is right?",
    "monotone": "A monotone transform of {title}: it orders single scores alike",
}


def find_headline(comparison: ComparisonResults, name: str) -> str:
    """Return a judgement in at most twelve words, with at most one number."""
    kind, title = find_kin(comparison, name)
    if kind and (kind != "opposite" or comparison.agreement is None):
        return _KIN[kind].format(title=title)
    if agreed := judge_agreement(comparison, name):
        return agreed[0] or _say_too_few(comparison)
    facts, traits = find_facts(comparison, name), comparison.traits
    if "tau" not in facts.frame:
        return "Nothing to compare with: name other measures too"
    near, rest, alike = facts.others.iloc[0], facts.others, facts.ranks_alike
    tied = find_nearest(rest) | (alike & (rest["tau_low"] >= ALIKE))  # of measures that are alike, all
    title = facts.name(tied)
    heed = {each: heed_order(traits.get(each, {})) for each in [name, *rest.index]}
    respecting = [each for each, does in heed.items() if does == "respects"]
    n, found = len(rest), rest["contradictions"]
    more, fewer, power = rest["difference_high"] < 0, rest["difference_low"] > 0, " and finds more differences"
    like = "Ranks runs like" if near.tau_low >= ALIKE else "Ranks these runs the same as"
    if second := find_second_facts(comparison, name):  # neither is said where the other test finds the opposite
        again = second.frame.loc[rest.index]
        more, fewer = more & ~(again["difference_low"] > 0), fewer & ~(again["difference_high"] < 0)
        power = power if (again["difference_high"] < 0)[tied].all() else "; more differences, by one test"
    contradicted, opposed = int((found > 0).sum()), tied & (found > 0)
    most = format_count(max(map(int, found[opposed]), default=0), "pair")
    respects = name in respecting and all(heed[other] == "ignores" for other in rest.index[tied])
    lead = _say_decided(facts, find_verdicts(comparison, name), found > 0, fewer, more)
    noise = "significant" in facts.frame and not facts.frame["significant"][name]
    return _find_first(
        (heed[name] == "ignores" and respecting,
         f"Its formula ignores the order of the classes, unlike {respecting[0] if respecting else ''}"),
        (not near.tau_low <= near.tau_high, _say_too_few(comparison)),
        (alike and respects, f"{like} {title}, but respects the order of classes"),
        (alike and fewer[tied].all(), f"Not recommended over {title} on this evidence"),
        (alike and more[tied].all(), f"{like} {title}{power}"),
        (alike and opposed.any(),
         f"{like} {title}, but contradicts {facts.name(opposed) if opposed.any() else ''} on "
         f"{'up to ' if opposed.sum() > 1 else ''}{most}"),
        (alike, f"{like} {title}: no reason to prefer one"),
        (lead and near.tau_high >= ALIKE, f"{lead}; similarity to {near.name} undecided"),
        (lead and facts.largest_tau < ALIKE, f"{lead}; identical runs hide similarity to {near.name}"),
        (near.tau_high >= ALIKE, f"Undecided: these topics do not tell whether it ranks like {title}"),
        ((rest["tau_high"] < 0).all(), f"Ranks runs contrary to {facts.name()}: is the direction right?"),
        (near.tau_low <= 0 and noise, "Looks like noise: finds no differences, resembles no other measure"),
        (near.tau_low <= 0, f"Unrelated to {facts.name()}: what does it measure?"),
        (facts.largest_tau < ALIKE, f"Undecided: identical runs hide whether it ranks like {title}"),
        (contradicted == n > 1, f"Ranks runs unlike {facts.name()}, and contradicts {'both' if n == 2 else 'them all'}"),
        (2 * contradicted > n > 2, f"Ranks runs unlike {facts.name()}, and contradicts most"),
        (True, f"Ranks runs unlike {facts.name()} on these topics"),
    )  # fmt: skip


def _say_decided(
    facts: Facts, findings: Sequence[Finding], contradicted: pd.Series, fewer: pd.Series, more: pd.Series
) -> str:
    """Say what holds against the most other measures, the first of equals; nothing if none does against any."""
    rest, n, splits = facts.others, len(fewer), list_results(facts.studies, "consistency", "small_consistency")
    sides = {
        "Contradicts": contradicted,
        "Ranks runs unlike": (rest["tau_high"] < ALIKE) & (facts.largest_tau >= ALIKE),
        "Finds fewer differences than": fewer,
        "Finds more differences than": more,
    }
    if any(each.key == "consistency" and each.outcome == "does not hold" for each in findings):
        sides["Ranks runs less stably than"] = rest["more_consistent"] == len(splits)
    said, whom = max(sides.items(), key=lambda side: side[1].sum())
    held = int(whom.sum())
    few = facts.name(whom) if held in (1, 2, n) else f"{'most' if 2 * held > n else 'some'} other measures"
    return f"{said} {few}" if held else ""


@find_once
def find_kin(comparison: ComparisonResults, name: str) -> tuple[str, str]:
    """Return how a measure's scores follow from those of another one, and which: no kind where they do not."""
    columns = [_read_column(study, name) for study in comparison.collections]
    if all(np.ptp(column, axis=0).max() == 0 for column in columns):
        return "constant", ""
    facts = find_facts(comparison, name)
    if "tau" not in facts.frame:
        return "", ""
    found: dict[str, str] = {}  # by kind, the nearest measure: several may rank runs alike
    for other in facts.others.index:
        pairs = list(zip(columns, (_read_column(study, other) for study in comparison.collections), strict=True))
        if all(np.ptp(column) > 0 for pair in pairs for column in pair):
            kind = next((kind for kind, test in _TESTS.items() if all(test(*pair) for pair in pairs)), "")
            found.setdefault(kind, other)
    near, far = facts.others.iloc[0], facts.others.iloc[-1]
    if is_opposite(far) and near.tau_high < ALIKE:
        found.setdefault("opposite", str(far.name))
    kind = next((kind for kind in _TESTS if kind in found), "")
    if facts.ranks_alike and (kind == "opposite" or (not kind and is_opposite(far))):
        return "torn", f"{near.name} but opposite to {found.get('opposite', far.name)}"
    return kind, found.get(kind, "")


def _read_column(study: Study, name: str) -> np.ndarray:
    """Return the scores of one measure, shape (run, topic), higher being better."""
    position = find_position(study.scores, name)
    return np.asarray(study.scores.values[..., position] * study.scores.measures[position].sign)


def _standardise(values: np.ndarray) -> np.ndarray:
    return np.asarray((values - values.mean()) / values.std())


def _rank(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1]


_TESTS: dict[str, Callable[[np.ndarray, np.ndarray], bool]] = {
    "copy": np.array_equal,
    "linear": lambda mine, other: bool(np.abs(_standardise(mine) - _standardise(other)).max() < _SLACK),
    "monotone": lambda mine, other: np.array_equal(_rank(mine), _rank(other)),
    "opposite": lambda mine, other: bool(np.abs(_standardise(mine) + _standardise(other)).max() < _SLACK),
}
"""Whether scores are those of another measure in some way, the closest first."""


def _find_first(*rules: tuple[Any, str]) -> str:
    """Return the words of the first rule that holds."""
    return next(words for holds, words in rules if holds)


def _say_too_few(comparison: ComparisonResults) -> str:
    """Say what there is too little of for intervals."""
    what = "runs" if min(len(study.diagnostics.runs) for study in comparison.collections) < FEWEST_RUNS else "topics"
    return f"Too few {what} to judge: {FEWEST_RUNS} runs and {FEWEST_TOPICS} topics are needed"


def list_warnings(comparison: ComparisonResults) -> list[str]:
    """Return what to know before relying on the answer, a short sentence each, what matters most first."""
    assumed = [str(each) for each in comparison.all_measures if each.direction_is_assumed]
    lower = format_option("lower_is_better", "NAME")
    warnings = [f"Higher is assumed to be better for {format_list(assumed)}; if not, say {lower}."] if assumed else []
    notes = [note for note in comparison.notes if "is taken as" in note or "left out" in note]
    warnings += [f"{note.replace('left out', 'Left out', 1)}." for note in notes]
    if comparison.reference is None:
        warnings.append("No reference was given: the data do not show which differences are right.")
    studies, copies = comparison.collections, []
    for study in studies:
        noise, d = study.diagnostics.noise, study.diagnostics
        warnings += [f"{study.name}: {note.splitlines()[0]}." for note in (noise.describe() if noise else [])]
        copies += [f"{sum(map(len, d.identical))} in {study.name}"] if d.never_significant else []
    if copies:
        same = f"Some runs have the same scores as another ({format_list(copies)})"
        so = "they tie, so that τ cannot reach 1, and a difference to them counts several times"
        warnings.append(f"{same}: {so}; {format_option('distinct_runs', True)} keeps one of each.")
    if comparison.test not in EXCHANGING:
        return warnings
    for d in [study.diagnostics for study in studies if study.diagnostics.wide.any()]:
        m, r = np.unravel_index(np.where(d.wide, d.spread_ratio, 0.0).argmax(), d.wide.shape)
        more = f"{d.runs[r]} varies {d.spread_ratio[m, r]:.1f} times more than a typical run of {d.collection}"
        warnings.append(f"{more}; the Tukey HSD test may then raise false alarms.")
    if behind := [study.name for study in studies if study.diagnostics.hopeless.any()]:
        warnings.append(f"A few very weak runs of {format_list(behind)} make the Tukey HSD test miss differences.")
    return warnings
