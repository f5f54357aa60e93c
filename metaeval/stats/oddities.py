"""What looks like something else than scores: like no score at all, like sums of others, or like what describes runs or topics.

It is told by words in names, or by a few of the numbers alone, and may be wrong: whoever finds it can only be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np

from metaeval.stats.arrays import FloatArray

# What a row that sums up a run has instead of a topic, and a column that sums up a topic instead of a run, in lower case.
TOTALS = (
    "all", "mean", "amean", "average", "avg", "overall", "total", "macro", "macro avg", "macro average", "micro", "micro avg",
    "std", "sd", "stdev", "std dev", "variance", "median", "min", "max", "sum", "rank", "avg rank", "mean rank", "best",
    "worst", "count", "average rank", "grand mean", "mittelwert", "durchschnitt", "gesamt", "moyenne", "promedio", "平均", "ø",
)  # fmt: skip
_SUMMARY = re.compile(
    r"\b(ave|avg|average|g?mean|geomean|overall|total|sum|score|best|corpus|params|ci(\d\d)?|p(50|90|95|99)|all|p value"
    r"|std(dev|err)?|sem|iqr|iqm|mdn|medians?|cv|rank(s|ing)?|weighted|friedman|wilcoxon|rang|wins|support|quartile|1st qu"
    r"|3rd qu|pooled|gm|scaled|wtmad|optimality gap|mad|rmsd|kx100|solved|par ?\d+|media"
    r"|combined|null|durchschn|gemiddelde?|totaal|toplam|ortalama|итого|среднее|总分|总体|总计|全体|合計)\b"
)
_STATISTIC = (
    r"(.+_)?(std|stdev|std_?dev|std_?err(or)?|standard_(error|deviation)|ci_?(low|high|lower|upper)|p_?val(ue)?|rank)"
    r"|.+_(sd|se|sem|iqr|lo|hi|t_?stat)|sd|variance|median|min|max|sum|count|lower|upper|\d+%.*|improvement.*|diff(erence)?|delta(_.*)?|[±δ].*|.+__(min|max)"
)


def is_total(label: object) -> bool:
    """Say whether this is the name of a total, and no gap."""
    return re.sub(r"\([^()]*\)|[\s._-]+", " ", str(label).lower()).strip() in TOTALS


def names_summary(label: str) -> bool:
    """Say whether a name has a word of what sums up or compares others, as mean_easy or p-value do."""
    return label in (r"\N", "OA", "AA", "MD") or _SUMMARY.search(re.sub(r"[\W_]+", " ", label.lower())) is not None


def names_statistic(name: object) -> bool:
    """Say whether a column with this name sums up or compares scores, as Std, rank or AP(std) do, and holds none."""
    plain = re.sub(r"[\s(),-]+", "_", str(name).replace(".", "").lower().strip("() ,"))
    return re.fullmatch(_STATISTIC, plain) is not None


SENTINELS = (-9999, -999.9, -999, -99.9, -99, -9, -1, 8, 9, 99, 999, 9999)
"""Numbers that stand for no score in many files."""

FEWEST = 5
"""How many different numbers must be there to say that something is odd about others."""

_SOME, _MOST_RUNS = 20, 12  # numbers by which a row is known for a sum; runs of which two may have a difference


ODDITIES = {
    "no score": "{measure} is {told:g} in some cells, far from all others; if it stands for no score, leave them empty",
    "thousands": "{measure} is read with points for decimals; if they separate thousands, leave them out",
    "scales": "{measure} is at most {told[0]} for {what} {}, and above {told[1]} for others, as {}: are they on one scale?",
    "mixed": "{measure} is below 1 in some cells, and above 10 in all others: are some of them fractions?",
    "total": "{what} {} is the {told} of the others; if it is a total, leave it out",
    "same": "{measure} is the same on all topics of each run; if it describes runs, leave it out",
    "shares": "{measure} sums to 1 over the runs on every topic; if these are shares of classes, they are no scores",
    "constant": "{what} {} has the same score, {told:g}, on every topic; if it describes something else, leave it out",
}
"""What is odd about scores, by its kind: `what` is the axis, and the places on it stand first."""


class Odd(NamedTuple):
    """What is odd about scores: its `kind`, the axis and places on it that it is about, and what tells it."""

    kind: str
    axis: int = 0
    places: tuple[int, ...] = ()
    told: object = None


def find_oddities(scores: FloatArray) -> Iterator[Odd]:
    """Yield what is odd about the scores of one measure, shape (run, topic), NaN where there are none."""
    finite = scores[np.isfinite(scores)]
    low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
    apart = [Odd("no score", told=float(end)) for end in (low, high) if _stands_apart(finite, end)]
    yield from apart
    if 100 < high < 1000 and _may_separate_thousands(finite):
        yield Odd("thousands")
    tiny = np.count_nonzero((finite > 0) & (finite < 1)) if 10 < high <= 100 else 0
    if 0 < 5 * tiny <= finite.size and finite[finite >= 1].min() > 10:
        yield Odd("mixed")
    may_sum = low >= 0 and high <= 1 and scores.shape[0] > 1 and scores.shape[1] > 2
    if (
        may_sum
        and all(np.isclose(part.sum(axis=0), 1).all() for part in (scores[:, :3], scores))
        and (finite % 1).any()
    ):
        yield Odd("shares")
    if max(-low, high) > 1e100:  # sums and squares would overflow
        scores = np.clip(scores, -1e100, 1e100)
    for axis in (0, 1):
        rows = np.moveaxis(scores, axis, 0)
        if not apart and (scales := _find_two_scales(rows, axis)):
            yield scales
        some = rows[:, :_SOME]
        some = some[:, np.isfinite(some).all(axis=0)]
        for place, how in _list_summaries(some, axis) if np.ptp(some, axis=0).any() else ():
            yield Odd("total", axis, (place,), how)
    some = scores[:, :_SOME]
    alike = some.shape[1] > 2 and np.ptp(some[:, 0]) > 0 and not np.ptp(some, axis=1).any()
    if alike and not np.isin(some, (0, 1, 100)).all() and not np.ptp(scores, axis=1).any():
        yield Odd("same")
    if some.shape[1] >= FEWEST and len(some) > 2 and np.isfinite(some).all() and some.min() >= 0 and (some % 1).any():
        constant = (np.ptp(some, axis=1) == 0) & ~np.isin(some[:, 0], (0, 1, 100))
        constant[constant] = np.ptp(scores[constant], axis=1) == 0
        if 0 < constant.sum() <= len(some) / 2:
            yield Odd("constant", 0, (int(constant.argmax()),), float(some[constant.argmax(), 0]))


def _stands_apart(finite: FloatArray, end: float) -> bool:
    """Say whether an extreme, or up to three codes about it, in half of all cells at most, may stand for no score."""
    # Compared as they are, scores need no memory; in nearly every file this tells.
    near = [finite > 0.6 * end if end > 0 else finite < end / 3, *([finite == end] if end in SENTINELS else [])]
    for marked in near if end else ():
        n = int(np.count_nonzero(marked))
        if 0 < 2 * n <= finite.size:
            codes = np.unique(finite[marked])
            few = len(codes) == 1 or (len(codes) <= 3 and not (codes % 1).any())
            if few and _may_be_codes(codes, n, finite[~marked]):
                return True
    return False


def _may_be_codes(codes: FloatArray, n: int, rest: FloatArray) -> bool:
    """Say whether numbers in `n` cells are the only ones below 0, or far above the `rest`, as codes of no score are."""
    end, size, whole = codes[np.abs(codes).argmax()], np.abs(rest).max(), not (rest % 1).any()
    known = bool(np.isin(codes, SENTINELS).any())
    few = (10 if size == 1 and whole else 5) * n <= n + len(rest)
    far = (few or abs(end) > 1e19) and abs(end) > 1000 * size > 0  # as NetCDF fills
    if end < 0 <= rest.min():
        told = known or (not (codes % 1).any() and (n > 1 or not whole))
        return bool(far or (told and size > 0 and (few or len(np.unique(rest)) >= FEWEST)))
    if end < 0 or rest.min() < 0:
        return bool(far or (known and end < 0 and -end > 2 * size > 0))
    if known and size and (few or end > 9):
        return bool(far or 2 * size < end or (end in (8, 9) and whole and size < 7))  # of a scale up to five or six
    return bool(far or (few and size > 0 and 3 * size < end and (n > 1 or (size <= 1 and not whole and end > 10))))


def _may_separate_thousands(finite: FloatArray) -> bool:
    """Say whether 1.5 may be 1,500: fractions of three digits, from 1 on, stand beside many whole numbers up to 999."""
    numbers = np.unique(finite)
    whole = numbers % 1 == 0
    odd = numbers[~whole]
    return bool(
        len(odd) >= FEWEST
        and (whole & ~np.isin(numbers, (0, 100))).sum() >= FEWEST
        and odd.min() >= 1
        and (np.round(odd, 3) == odd).all()
        and 2 * (np.round(odd, 2) != odd).sum() > len(odd)
        and numbers[0] >= 0
    )


def _find_two_scales(rows: FloatArray, axis: int) -> Odd | None:
    """Return a row of fractions, or of scores up to 5, and one of the others, where all of them are far above it."""
    known = np.nan_to_num(rows)
    largest = known.max(axis=1, initial=0)
    if (highest := largest.max(initial=0)) <= 10:
        return None
    percent = highest <= 100
    for most, least in ((1, 10), (5, 40)) if rows.size >= 2 * FEWEST * (1 if percent or axis else 2) else ():
        few = 10 * (known > most).sum(axis=1) <= known.shape[1]  # some word error rates are above 1
        small = few & (largest <= 2 * most) & ((known % 1 > 0).any(axis=1) | (most > 1))
        if small.any() and not small.all() and (percent or most == 1) and highest > least:
            others = largest[~small].min()
            if others > least or (most == 1 and axis == 0 and percent and others > 2):  # weak runs, in percent
                return Odd("scales", axis, (int(small.argmax()), int(largest.argmax())), (most, least))
    return None


SUMMARIES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "mean": lambda rows: np.asarray(rows.mean(axis=0)),
    "sum": lambda rows: np.asarray(rows.sum(axis=0)),
    "largest": lambda rows: np.asarray(rows.max(axis=0)),
    "smallest": lambda rows: np.asarray(rows.min(axis=0)),
    "median": lambda rows: np.asarray(np.median(rows, axis=0)),
    "standard deviation": lambda rows: np.asarray(rows.std(axis=0)),
    "number of wins": lambda rows: np.asarray((rows == rows.max(axis=1, keepdims=True)).sum(axis=0)),
    "number": lambda rows: np.full(rows.shape[1], float(len(rows))),
}
"""What sums up scores of shape (row, other), a number for each other."""


def _list_summaries(rows: FloatArray, axis: int) -> Iterator[tuple[int, str]]:
    """Yield the first or last row if its scores sum up all others as printed, and how; of runs, a difference of two too."""
    near = max(1e-3 * np.abs(rows).max(initial=0.0), 1e-4)
    varied = (np.ptp(rows, axis=0) > FEWEST * near).sum() >= 3
    for place, others in ((len(rows) - 1, rows[:-1]), (0, rows[1:])) if len(rows) > 2 and varied else ():
        mine = rows[place]
        some = len(np.unique(mine)) >= min(FEWEST, len(mine))  # not the best run of all, right or wrong
        some &= not (others == mine).all(axis=1).any()  # not one as easy as another
        for how, sum_up in SUMMARIES.items() if len(others) > 2 else ():
            known = mine[0] > others.max() if how == "number" else np.ptp(mine) > FEWEST * near
            known &= some or how not in ("largest", "smallest", "median")
            if known and (np.abs(sum_up(others) - mine) <= near).all():
                yield place, how
                return
        tried = axis == 0 and some and len(rows) <= _MOST_RUNS and len(mine) >= FEWEST and mine.min() < 0
        pairs = permutations(others, 2) if tried else ()
        if any((np.abs(one - other - mine) <= near).all() for one, other in pairs):
            yield place, "difference of two"


def numbers_rows(values: FloatArray) -> bool:
    """Say whether a first column differs from all others as numbers of topics do: distinct, rising, or on another scale."""
    if not np.isfinite(values[:, 0]).all() or min(values.shape) < 2:
        return False
    whole = np.asarray((values == np.floor(values)).all(axis=0))
    distinct = np.array([len(np.unique(column)) == len(column) and column.max() > 1 for column in values.T]) & whole
    with np.errstate(invalid="ignore", over="ignore"):
        rising = whole & (np.diff(values, axis=0) > 0).all(axis=0) & (len(values) > 2)
    others = np.abs(values[:, 1:][np.isfinite(values[:, 1:])])
    far = others.size > 0 and others.max() > 0 and np.abs(values[:, 0]).min() > 10 * others.max()
    fractions = distinct[0] and 2 * (~whole).sum() >= len(whole)
    return bool(far or fractions or any(flags[0] and flags.sum() == 1 for flags in (distinct, rising)))


def mark_unlike_scores(values: FloatArray, whole: np.ndarray) -> np.ndarray:
    """Mark columns that may describe rows, as lengths do beside shares; `whole` are those that are written as whole numbers.

    They are whole where most others are not, or far above all others.
    """
    if len(values) <= 3 or len(whole) < 2:
        return np.zeros(len(whole), dtype=bool)
    known = np.isfinite(values).all(axis=0)
    binary = np.isin(values, (0, 1, 100)).all(axis=0) & ((np.ptp(values, axis=0) == 0) | (whole.sum() > 1))
    odd = whole & known & ~binary & (2 * (~whole).sum() >= len(whole))
    large = np.asarray((values > 1).all(axis=0))
    odd |= large & (2 * large.sum() < len(large)) & bool((values[:, ~large] <= 1).all())
    largest, smallest = np.nan_to_num(values).max(axis=0), np.nan_to_num(values).min(axis=0)
    for column in np.flatnonzero(known & (smallest > 0)):
        odd[column] |= smallest[column] > 10 * np.delete(largest, column).max() > 0
    return np.asarray(odd)
