"""What the abstract and §6 of LQ 2021 conclude, tried on the committed tables, all collections of one source together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from experiments.claims import Answer, bound, claim, every, is_above, is_at_most
from experiments.lq2021.steps import MEASURES, POPULARITY, UNIFORM
from experiments.page import Folder
from experiments.sakai import split_words

FOUR = ("RNOD", "NVD", "RNSS", "JSD")
"""RNOD and the measures that ignore the order of classes: those that NMD is compared with."""

Answers = Iterator[tuple[str, Answer]]
Figure = tuple[str, float, float, float]
"""A name, a value and the ends of its interval."""


class Source(NamedTuple):
    """The tables of several collections together."""

    tables: Folder
    names: list[str]

    def read(self, table: str) -> pd.DataFrame:
        """Return the rows of these collections."""
        frame = self.tables.read(table)
        return frame[frame["collection"].isin(self.names)]

    def gain(self, first: str, second: str) -> Figure:
        """Return the pooled power of one measure less that of another, as a share of all pairs of runs.

        Ends of intervals are weighted by pairs and added up: collections may share their topics, and however they depend on
        each other, the interval is wide enough.
        """
        pairs = self.read("power").drop_duplicates("collection").set_index("collection")["T_D"]
        frame = self.read("differences")
        mine = frame[(frame["measure_1"] == first) & (frame["measure_2"] == second)].assign(sign=1)
        theirs = frame[(frame["measure_1"] == second) & (frame["measure_2"] == first)].assign(sign=-1)
        rows = pd.concat([mine, theirs])
        weights = rows["collection"].map(pairs) / pairs.sum()
        value = float((weights * rows["sign"] * rows["difference"]).sum())
        low, high = (
            float((weights * np.where(rows["sign"] > 0, rows[a], -rows[b])).sum(skipna=False))
            for a, b in (("low", "high"), ("high", "low"))
        )
        return f"power of {first} less that of {second}", value, low, high

    def counts(self, first: str, second: str) -> pd.DataFrame:
        """Return a, b and c of two measures by collection, a of the first."""
        frame = self.read("overlap")
        mine = frame[(frame["measure_1"] == first) & (frame["measure_2"] == second)]
        theirs = frame[(frame["measure_1"] == second) & (frame["measure_2"] == first)].rename(
            columns={"a": "c", "c": "a"}
        )
        return pd.concat([mine, theirs]).set_index("collection")[["a", "b", "c"]]

    def overlap(self, first: str, second: str) -> float:
        """Return SSO = b / (a + b + c) of two measures, pairs added up over collections."""
        counts = self.counts(first, second).sum()
        return float(counts["b"] / counts.sum())

    def popularity_share(self, measure: str) -> Figure:
        """Return on which share of topics that are not tied a measure prefers Popularity to Uniform (Wilson's interval)."""
        rows = self.read("preference").query("measure == @measure")
        uniform, popularity = int(rows["uni"].sum()), int(rows["pop"].sum())
        ends = binomtest(popularity, uniform + popularity).proportion_ci(method="wilson")
        return f"share of {measure}", popularity / (uniform + popularity), float(ends.low), float(ends.high)


def each_source(tables: Folder, needs: str = "") -> Iterator[tuple[str, Source]]:
    """Yield the paper's own collections where they were given, else STC-3's three: all of a source together."""
    frame = tables.read("collections")
    frame = frame[frame["runs"] >= bound("fewest runs")]
    own = frame[frame["relation"] == "given"]
    chosen = own if len(own) else frame[frame["collection"].str.startswith("stc3-")]
    names = [name for name in chosen["collection"] if not needs or name in set(tables.read(needs)["collection"])]
    if names:
        yield ("your matrices" if len(own) else "STC-3"), Source(tables, names)


def tell(figure: Figure, compare: Callable[..., Answer], limit: float) -> Answer:
    """Compare a figure with a bound by its interval; without one it cannot be told."""
    name, value, low, high = figure
    return Answer(None, (f"{name} {value:.3f}",)) if np.isnan(low) else compare(name, value, limit, low, high)


def finds_more(source: Source, first: str, others: Sequence[str]) -> Answer:
    """Does a measure find more significant pairs than each of some others?"""
    return every(tell(source.gain(first, other), is_above, 0) for other in others)


def exceeds(first: Figure, second: Figure) -> Answer:
    """Is one figure above another: do their intervals not meet?"""
    text = tuple(f"{name} {value:.3f} [{low:.3f}, {high:.3f}]" for name, value, low, high in (first, second))
    return Answer(True if first[2] > second[3] else False if first[3] <= second[2] else None, text)


@claim("Abstract", "RNOD is the overall winner among the OQ measures in terms of pooled discriminative power.")
def rnod_wins(tables: Folder) -> Answers:
    """RNOD finds more significant pairs of runs than NMD and than RSNOD: the differences of pooled power are above 0."""
    for name, source in each_source(tables):
        yield name, finds_more(source, "RNOD", ("NMD", "RSNOD"))


@claim("§6", "The most discriminative measures are RNOD and NVD.")
def rnod_and_nvd_find_most(tables: Folder) -> Answers:
    """RNOD and NVD each find more significant pairs than each of the other four."""
    rest = [measure for measure in MEASURES if measure not in ("RNOD", "NVD")]
    for name, source in each_source(tables):
        yield name, every(finds_more(source, first, rest) for first in ("RNOD", "NVD"))


@claim("§5.1", "RSNOD slightly underperforms RNOD, suggesting that making the measure symmetric is not beneficial.")
def symmetry_costs_power(tables: Folder) -> Answers:
    """RSNOD finds fewer significant pairs than RNOD, by at most {slightly less power} of all pairs."""
    for name, source in each_source(tables):
        gap = source.gain("RNOD", "RSNOD")
        yield name, every([tell(gap, is_above, 0), tell(gap, is_at_most, bound("slightly less power"))])


@claim("§6", "The strengths of RNOD are that it is statistically stable, as demonstrated in terms of system ranking "
       "consistency […] and pooled discriminative power.")  # fmt: skip
def rnod_is_stable(tables: Folder) -> Answers:
    """RNOD is more consistent over halves than NMD and RSNOD on some collection and less on none, and finds more pairs."""
    for name, source in each_source(tables):
        frame = source.read("consistency").query("split == 'full'")
        ahead_of = frame.set_index(["collection", "measure"])["ahead of"].map(split_words)
        answers = []
        for rival in ("NMD", "RSNOD"):
            ahead, behind = (
                sum(other in ahead_of[one, first] for one in source.names)
                for first, other in (("RNOD", rival), (rival, "RNOD"))
            )
            text = (f"more consistent than {rival} on {ahead}, less on {behind} of {len(source.names)} collections",)
            answers.append(Answer(None if bool(ahead) == bool(behind) else bool(ahead), text))
        yield name, every([*answers, finds_more(source, "RNOD", ("NMD", "RSNOD"))])


@claim("Abstract", "NMD behaves noticeably differently from RNOD and from measures that cannot handle ordinal classes.")
def nmd_is_apart(tables: Folder) -> Answers:
    """Each SSO of NMD with RNOD, NVD, RNSS and JSD is lower than every SSO among these four."""
    for name, source in each_source(tables):
        farthest = max(source.overlap("NMD", other) for other in FOUR)
        nearest = min(source.overlap(*pair) for pair in itertools.combinations(FOUR, 2))
        text = (f"largest SSO of NMD {farthest:.3f}", f"smallest among the four {nearest:.3f}")
        yield name, Answer(farthest < nearest, text)


@claim("§6", "The sets of statistically significant differences found by NMD are generally not subsets of those found by "
       "other, more discriminative measures like RNOD.")  # fmt: skip
def nmd_is_no_subset(tables: Folder) -> Answers:
    """Of the measures that find more than NMD, over all collections, at least {generally} miss a pair that NMD finds."""
    for name, source in each_source(tables):
        found = source.read("power").set_index(["collection", "measure"])["S_D"]
        cases = [
            bool(source.counts("NMD", other).loc[one, "a"] > 0)
            for one in source.names for other in MEASURES if found[one, other] > found[one, "NMD"]
        ]  # fmt: skip
        share = float(np.mean(cases)) if cases else np.nan
        text = (f"share of {len(cases)} cases {share:.3f}",)
        yield name, Answer(share >= bound("generally") if cases else None, text)


@claim("§6", "NMD sometimes contradicts with RNOD and the nominal quantification measures in statistical terms, by preferring "
       "a Popularity baseline over a Uniform baseline.")  # fmt: skip
def nmd_contradicts_for_popularity(tables: Folder) -> Answers:
    """With each of the four: NMD finds Popularity significantly better than Uniform on some pair, the other the reverse."""
    for name, source in each_source(tables, "preference"):
        answers = []
        for other in FOUR:
            n = 0
            for row in source.read("run_pairs").itertuples():
                ahead, behind = (row.run_1, row.run_2) if row.measure_1 == "NMD" else (row.run_2, row.run_1)
                n += {row.measure_1, row.measure_2} == {"NMD", other} and POPULARITY in ahead and UNIFORM in behind
            answers.append(is_above(f"with {other}", n, 0))
        yield name, every(answers)


@claim("Abstract", "NMD tends to favour a popularity-based baseline (which accesses the gold distributions) over a "
       "uniform-distribution baseline.")  # fmt: skip
def nmd_favours_popularity(tables: Folder) -> Answers:
    """Of the topics that are not tied, NMD prefers Popularity on more than half."""
    for name, source in each_source(tables, "preference"):
        yield name, tell(source.popularity_share("NMD"), is_above, 0.5)


@claim("§5.3", "NMD tends to prefer Popularity over Uniform compared to the other measures.")
def nmd_favours_popularity_most(tables: Folder) -> Answers:
    """NMD prefers Popularity on a larger share of topics than each other measure: their intervals do not meet."""
    for name, source in each_source(tables, "preference"):
        nmd = source.popularity_share("NMD")
        yield name, every(exceeds(nmd, source.popularity_share(other)) for other in MEASURES if other != "NMD")


@claim(
    "Abstract", "As both RNOD and NMD have their merits, we recommend the organisers of OQ tasks to use both of them."
)
def both_have_merits(tables: Folder) -> Answers:
    """Of the reasons: RNOD finds more pairs than NMD, whose mean SSO is the lowest, and which prefers Popularity more."""
    for name, source in each_source(tables, "preference"):
        means = {
            one: float(np.mean([source.overlap(one, other) for other in MEASURES if other != one])) for one in MEASURES
        }
        lowest = min(value for one, value in means.items() if one != "NMD")
        text = (f"mean SSO of NMD {means['NMD']:.3f}", f"the lowest of the others {lowest:.3f}")
        more = exceeds(source.popularity_share("NMD"), source.popularity_share("RNOD"))
        yield name, every([finds_more(source, "RNOD", ("NMD",)), Answer(means["NMD"] < lowest, text), more])
