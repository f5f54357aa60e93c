"""What the rules share: a number told from a bound, measures in an order, and parts of a claim joined."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from experiments.acl2021.figures import POWER, Figures, pair_all
from experiments.bounds import BOUNDS
from experiments.verdicts import Found
from metaeval.show.verdict import Evidence, OutcomeWord


def bound(name: str) -> float:
    """Return a number of experiments/bounds.toml."""
    return BOUNDS[name].value


def tell_at_least(number: Evidence, least: float) -> OutcomeWord:
    """Is a number at least as large as a bound? Its interval decides; it cannot tell where this holds the bound.

    Parameters
    ----------
    number : Evidence
    least : float

    Returns
    -------
    {"holds", "does not hold", "cannot tell"}

    Examples
    --------
    >>> [tell_at_least(Evidence("τ", 0.8, ends), 0.8) for ends in ((0.8, 0.9), (0.7, 0.9), (0.6, 0.7), None)]
    ['holds', 'cannot tell', 'does not hold', 'cannot tell']
    """
    if number.interval is None:
        return "cannot tell"
    low, high = number.interval
    return "holds" if low >= least - 1e-12 else "does not hold" if high < least - 1e-12 else "cannot tell"


def tell_below(number: Evidence, most: float) -> OutcomeWord:
    """Is a number below a bound? The reverse of `tell_at_least`."""
    reverse: dict[OutcomeWord, OutcomeWord] = {"holds": "does not hold", "does not hold": "holds"}
    word = tell_at_least(number, most)
    return reverse.get(word, word)


def tell_more(number: Evidence) -> OutcomeWord:
    """Is a difference above 0? A difference of 0 is not, and cannot be told from a little more or less."""
    if number.interval is None:
        return "cannot tell"
    low, high = number.interval
    return "holds" if low > 1e-12 else "does not hold" if high < -1e-12 or low == high else "cannot tell"


def join_parts(words: Sequence[OutcomeWord]) -> OutcomeWord:
    """Return what becomes of a claim whose parts came out so: in part where some hold and some do not.

    Parameters
    ----------
    words : sequence of str

    Returns
    -------
    str

    Examples
    --------
    >>> join_parts(["holds", "holds"]), join_parts(["holds", "cannot tell"]), join_parts(["does not hold", "cannot tell"])
    ('holds', 'holds in part', 'does not hold')
    """
    kinds = set(words)
    if len(kinds) == 1:
        return words[0]
    if kinds & {"holds", "holds in part"}:
        return "holds in part"
    return "does not hold"


def tell_order(ahead: pd.DataFrame, upper: Sequence[str], lower: Sequence[str]) -> tuple[OutcomeWord, int, int, int]:
    """Is each upper measure ahead of each lower one?

    Parameters
    ----------
    ahead : DataFrame of bool, shape (measure, measure)
        Whether the row is significantly ahead of the column.
    upper, lower : sequence of str

    Returns
    -------
    word : {"holds", "holds in part", "does not hold", "cannot tell"}
        In part where most pairs are so and none the other way round; does not hold where one is.
    as_said, reversed, pairs : int
    """
    pairs = [pair for pair in pair_all(upper, lower) if pair[0] != pair[1]]
    as_said = sum(bool(ahead.loc[one, two]) for one, two in pairs)
    wrong = sum(bool(ahead.loc[two, one]) for one, two in pairs)
    word: OutcomeWord = "cannot tell"
    if wrong:
        word = "does not hold"
    elif as_said == len(pairs):
        word = "holds"
    elif as_said > bound("most") * len(pairs):
        word = "holds in part"
    return word, as_said, wrong, len(pairs)


def judge_orders(
    figures: Figures, orders: Sequence[tuple[Sequence[str], Sequence[str]]], labels: Sequence[str]
) -> Found:
    """Are the upper measures ahead of the lower ones by each of some criteria?

    Parameters
    ----------
    figures : Figures
    orders : sequence of (upper measures, lower measures)
        All have to be so.
    labels : sequence of str
        Criteria.

    Returns
    -------
    (outcome, evidence)
    """
    words, evidence = [], []
    for label in labels:
        parts = [tell_order(figures.ahead[label], *order) for order in orders]
        found = [word for word, *_ in parts]
        # An order that is reversed in one place is not that order.
        words.append("does not hold" if "does not hold" in found else join_parts(found))
        evidence += [
            Evidence(
                f"{label}: as said, of {sum(one[3] for one in parts)} pairs of measures", sum(one[1] for one in parts)
            ),
            Evidence("the other way round", sum(one[2] for one in parts)),
            *_name_ends(figures, label),
        ]
    return join_parts(words), tuple(evidence)


def _name_ends(figures: Figures, label: str) -> list[Evidence]:
    """Name the first and the last measure of a criterion."""
    numbers = get_numbers(figures, label)
    most, least = ("most significant pairs", "fewest") if label == POWER else ("largest mean τ", "smallest")
    ends = ((most, max(numbers, key=numbers.__getitem__)), (least, min(numbers, key=numbers.__getitem__)))
    return [Evidence(f"{what} ({name})", numbers[name]) for what, name in ends]


def get_numbers(figures: Figures, label: str) -> dict[str, float]:
    """Return by measure the mean τ over splits, or the number of significant pairs.

    Parameters
    ----------
    figures : Figures
    label : str
        A criterion.

    Returns
    -------
    dict of str to float or int
    """
    numbers = figures.found if label == POWER else figures.splits[label].means
    return {} if numbers is None else dict(zip(map(str, numbers.index), numbers.tolist(), strict=True))


def compare_two(figures: Figures, one: str, two: str) -> dict[str, int]:
    """Return by criterion whether a measure is ahead of another (1), behind it (−1), or neither (0).

    Parameters
    ----------
    figures : Figures
    one, two : str

    Returns
    -------
    dict of str to int
    """
    return {label: int(ahead[two][one]) - int(ahead[one][two]) for label, ahead in figures.ahead.items()}


def judge_against(figures: Figures, own: str, rivals: Sequence[str]) -> Found | None:
    """Is a measure best by one criterion, being behind no rival and ahead of one, and beaten by none?

    Parameters
    ----------
    figures : Figures
    own : str
    rivals : sequence of str

    Returns
    -------
    (outcome, evidence) or None
    """
    if not figures.ahead or not {own, *rivals} <= set(figures.measures):
        return None
    against = {rival: compare_two(figures, own, rival) for rival in rivals}
    best = beaten = 0
    evidence = []
    for label in figures.ahead:
        ahead = [rival for rival in rivals if against[rival][label] > 0]
        behind = [rival for rival in rivals if against[rival][label] < 0]
        best += bool(ahead) and not behind
        beaten += bool(behind)
        evidence += [
            Evidence(f"{label}: rivals behind {own}{_name_all(ahead)}", len(ahead)),
            Evidence(f"ahead of it{_name_all(behind)}", len(behind)),
        ]
    return tell_sides(best, beaten), tuple(evidence)


def judge_two(figures: Figures, better: str, worse: str, labels: Sequence[str] | None = None) -> Found | None:
    """Is a measure ahead of another by one criterion, and behind it by none?

    Parameters
    ----------
    figures : Figures
    better, worse : str
    labels : sequence of str, optional
        Criteria; all that there are by default.

    Returns
    -------
    (outcome, evidence) or None
    """
    if not {better, worse} <= set(figures.measures):
        return None
    signs = {
        label: sign
        for label, sign in compare_two(figures, better, worse).items()
        if labels is None or label in labels
    }  # fmt: skip
    if not signs:
        return None
    words = {1: "ahead", -1: "behind", 0: "neither"}
    evidence = []
    for label, sign in signs.items():
        numbers = get_numbers(figures, label)
        what = "significant pairs" if label == POWER else "mean τ"
        evidence += [
            Evidence(f"{label}: {what} of {better} ({words[sign]})", numbers[better]),
            Evidence(f"of {worse}", numbers[worse]),
        ]
    ahead, behind = (sum(sign == way for sign in signs.values()) for way in (1, -1))
    return tell_sides(ahead, behind), tuple(evidence)


def count_net(ahead: pd.DataFrame, own: str) -> int:
    """Return how many measures one is ahead of, less those that are ahead of it."""
    return int(ahead.loc[own].to_numpy().sum()) - int(ahead[own].to_numpy().sum())


def tell_sides(pro: int, contra: int) -> OutcomeWord:
    """Return what a number of reasons for a claim and of reasons against it come to.

    Examples
    --------
    >>> [tell_sides(*sides) for sides in ((2, 0), (1, 1), (0, 1), (0, 0))]
    ['holds', 'holds in part', 'does not hold', 'cannot tell']
    """
    if pro:
        return "holds in part" if contra else "holds"
    return "does not hold" if contra else "cannot tell"


def _name_all(measures: Sequence[str]) -> str:
    return f" ({', '.join(measures)})" if measures else ""
