"""Which way is better: what the usual names of measures tell, and what users state."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from metaeval.errors import DirectionWarning, MetaevalError, format_list
from metaeval.measures.base import Measure

Names = str | Iterable[str]
"""The names of one measure or of several."""

# Spellings that mean several things are in none of the lists, so that their direction is assumed, and said to be:
# "err" may be an error rate, "p" a p-value, "r" a correlation, "MQM penalty" may be negated or not.

# As trec_eval, ir_measures and ranx write them; between 0 and 1.
_RETRIEVAL = re.compile(
    r"(((ndcg|nerr|ap|map|gm_?map|infap|precision|recall|rr|mrr|recip_rank|rbp|bpref|rprec|r-prec"
    r"|success|hit_rate|judged|iprec_at_recall|iprec|set_p|set_recall|set_f|intap|alpha_n?dcg|nrbp)"
    r"(_cut)?(\([^=)]*=[^)]*\))?([@_][0-9.]+)?(\([^=)]*=[^)]*\))?)"
    r"|(?-i:ERR)|(p|r|(?-i:ERR)|err(?=.\d\d))(\([^=)]*=[^)]*\))?[@_][0-9.]+(\([^=)]*=[^)]*\))?)$",
    re.IGNORECASE,
)
# Of classification, translation and other generated text; between 0 and 1 or between 0 and 100, by habit.
_HIGHER = re.compile(
    r"((balanced[-_ ])?acc(uracy)?|acc_norm|((macro|micro|weighted)[-_ ]?)?f1|exact[-_]match|pass@\d+|auc|auroc"
    r"|(sacre|sp|(sent|sentence|corpus)[-_ ]?)?(bleu([-_@]?[1-4])?|chrf[1-3]?\+{0,2})"
    r"|(unbabel/)?(wmt\d\d-)?x?comet(kiwi)?([-_ ]?(\d\d|da|qe|kiwi|mqm|xx?l))*"
    r"|bleurt(-20(-d\d+)?)?|meteor|rouge([-_]?([1-4]|l|lsum))?|bert[-_ ]?score([-_](p|r|f1?))?)([-_ ]score)?$",
    re.IGNORECASE,
)
_LOWER = re.compile(
    r"((sacre|h)?ter|wer|cer|(word|character)[-_ ]error[-_ ]rate|n?rmse|n?mae|mape|perplexity|ppl)$", re.IGNORECASE
)

LONGEST_USUAL = 200
"""Letters of the longest name that may be a usual one: labels come from files, and longer ones meet no pattern."""

_NEGATED_ERRORS = "error points of MQM as WMT publishes them: negated"
"""MQM counts error points, and some files hold the points and others the points negated, or 100 minus the points.

Points are never above 0 when negated and never below 0 otherwise. So `MQM` is known to be better the higher where no
score is above 0, as in the files of WMT's metrics tasks; anything else is ambiguous, and stays assumed.
"""


def measure_of_usual_name(label: str) -> Measure:
    """Return the measure of which only scores are known, with the direction that its name tells, if any.

    >>> [measure_of_usual_name(name).higher_is_better for name in ("nDCG@20", "BLEU", "TER", "cost")]
    [True, True, False, None]
    """
    if len(label) > LONGEST_USUAL:
        return Measure(label)
    if _RETRIEVAL.match(label):
        return Measure(label, True, (0, 1), description="a retrieval measure, known by its scores")
    if label.lower() == "mqm":
        return Measure(label, True, description=_NEGATED_ERRORS)
    if len(arrows := {*re.findall("[↑↓]", label)}) == 1:  # as tables of papers mark them: WER ↓
        return Measure(label, arrows == {"↑"})
    return Measure(label, True if _HIGHER.match(label) else False if _LOWER.match(label) else None)


def drop_contradicted(measures: Sequence[Measure], values: np.ndarray) -> tuple[Measure, ...]:
    """Return measures, without the directions that names seemed to tell and scores contradict: MQM above 0, an error below."""
    left, names = [], {str(measure).lower() for measure in measures}
    for m, measure in enumerate(measures):
        name, scores, known = str(measure), values[..., m], np.isfinite(values[..., m])
        low, high = scores.min(where=known, initial=np.inf), scores.max(where=known, initial=-np.inf)
        negated = measure.higher_is_better is False and high <= 0 > low
        # P_1 of whole numbers is what person 1 said, ERR above 1 an error, f1 beside f2 a function; P@10 may be in percent.
        people = re.fullmatch(r"[PR]_\d+", name) and (high <= 10 or not (scores % 1).any())
        odd = (high > 1 and (name == "ERR" or people)) or (name.lower() == "f1" and {"f2", "f3"} <= names)
        doubtful = negated or odd or (measure.description == _NEGATED_ERRORS and high > 0)
        by_name = measure == measure_of_usual_name(name) or (negated and measure.formula is not None)
        left.append(Measure(name) if doubtful and by_name else measure)
    return tuple(left)


def turn(measure: Measure, higher_is_better: bool) -> Measure:
    """Return the measure of the same name of which higher scores, or lower ones, are stated to be better.

    >>> turn(Measure("cost"), False).higher_is_better
    False
    """
    known = measure.higher_is_better
    if measure.description == _NEGATED_ERRORS:
        return Measure(str(measure), higher_is_better)
    if known is None or known == higher_is_better:
        return replace(measure, higher_is_better=higher_is_better)
    words = ("lower", "higher")
    warnings.warn(
        f"{measure} is known as a measure of which {words[known]} is better; it was stated that "
        f"{words[higher_is_better]} is, and that is followed",
        DirectionWarning,
        stacklevel=3,
    )
    return replace(measure, higher_is_better=higher_is_better, description="", kind=None, formula=None)


def turn_measures(
    groups: Sequence[Sequence[Measure]], higher_is_better: Names | bool = (), lower_is_better: Names = ()
) -> list[tuple[Measure, ...]]:
    """Return the measures of some collections with the directions that a user states, which always win.

    >>> [[known, lost]] = turn_measures([[Measure("gain"), Measure("loss")]], True, "loss")
    >>> known.higher_is_better, lost.higher_is_better
    (True, False)
    """
    every = higher_is_better is True
    known = {str(measure): measure for group in groups for measure in group}
    stated = dict.fromkeys(known, True) if every else {}
    for direction, names in ((True, () if every else higher_is_better), (False, lower_is_better)):
        if isinstance(names, bool):
            argument = "higher_is_better" if direction else "lower_is_better"
            raise MetaevalError(f"{argument} is {names}: give names of measures, or higher_is_better=True for all")
        for name in [names] if isinstance(names, str) else map(str, names):
            if name not in known:
                problem = (
                    f"there is no measure {name!r} whose direction could be stated (there are {format_list([*known])})"
                )
            elif not every and stated.get(name, direction) != direction:
                problem = f"{name} cannot be both higher-is-better and lower-is-better"
            else:
                stated[name] = direction
                continue
            raise MetaevalError(problem)
    return [tuple(turn(one, stated[str(one)]) if str(one) in stated else one for one in group) for group in groups]
