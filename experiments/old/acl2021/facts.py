"""The numbers that claims ask for: of a study, with intervals over topics, or as the paper prints them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pandas as pd

import metaeval
from experiments.acl2021.study import LQ2021, LQ2021_MEASURES, PRINTED, STUDY, read_triangle
from experiments.old.claims import FORMULAS, Answer, NotGiven, Number, Truth
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.analyses.study import Study
from metaeval.data.scores import Scores
from metaeval.measures.base import find_signs
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.rank_correlation import tau_matrix
from metaeval.stats.streams import generator

CONSTANT = "always-"
"""What names of runs that always answer one class hold."""

HALVES, SMALL, POWER = "halves", "small sets", "power"
"""The three criteria of the paper's recommendations."""

N_RESAMPLES = 400
"""Of topics, for the intervals of means and differences of τ."""

PRINTED_CONSTANT = {"Sem16T4C": 1, "Sem17T4C": 5}
"""Constant runs, as §5.2 counts them."""

PRINTED_POWER = {"Sem16T4E": "Sem16T4E", "Sem17T4E": "Sem17T4E", **{f"DQ-{x}": f"DialEval-1 DQ-{x}" for x in "AES"}}
"""Where LQ 2021, Table 3, has the significant pairs of the same collections: Figures 2 and 3 give most as curves only."""

N_STRETCHED = 500
"""Pairs of distributions on which a scale is stretched."""

Tau = Callable[[str, str], np.ndarray]
"""τ of two measures, of whatever shape: one number, or one a resample."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What one collection says of measures; `ahead[criterion].loc[a, b]`: a is more consistent, or finds more, than b."""

    collection: str
    tau: pd.DataFrame
    ahead: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    n_constant: int = 0
    similarity: RankingSimilarity | None = None
    scores: Scores | None = None
    power: DiscriminativePower | None = None
    mean_tau: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def gains(self, measure: str, other: str) -> list[Number]:
        """Return by how much a measure is better than another: power with its interval, or the mean τ's that are printed."""
        if self.power is None:
            return [
                Number(f"{criterion}: mean τ more by", round(means[measure] - means[other], 6))
                for criterion, means in self.mean_tau.items()
            ]
        rows = self.power.differences.set_index(["measure_1", "measure_2"])
        sign, pair = (1, (measure, other)) if (measure, other) in rows.index else (-1, (other, measure))
        gap, *ends = sign * rows.loc[pair, ["difference", "low", "high"]].to_numpy(dtype=float)
        name = "power more by"
        return [Number.unsure(name, gap) if np.isnan(ends[0]) else Number(name, gap, min(ends), max(ends))]

    def average_tau(self, group: Sequence[str], other: Sequence[str] | None = None) -> Number:
        """Return the mean τ of the pairs within a group of measures, or between two."""
        pairs = list(itertools.combinations(group, 2) if other is None else itertools.product(group, other))
        name = f"τ of {' and '.join(pairs[0])}" if len(pairs) == 1 else f"mean τ of {len(pairs)} pairs"
        return self.make_number(name, lambda tau: np.mean([tau(*pair) for pair in pairs], axis=0))

    def make_number(self, name: str, statistic: Callable[[Tau], np.ndarray], *, difference: bool = False) -> Number:
        """Return a number made of τ's with its interval over topics; a difference of τ's reaches from −2 to 2."""
        row = {measure: position for position, measure in enumerate(self.tau.index)}

        def compute(tau: np.ndarray) -> np.ndarray:
            return np.asarray(statistic(lambda first, second: tau[..., row[first], row[second]]))

        value = float(compute(self.tau.to_numpy()))
        if self.scores is None:
            return Number(name, value)
        resampled = None if self.similarity is None else resample_tau(self.similarity, self.scores)
        if resampled is None:
            return Number.unsure(name, value)
        scale, n_runs = 2 if difference else 1, len(self.scores.runs)
        step = 4 / (n_runs * (n_runs - 1))  # one pair of runs the other way round
        ends = centre_interval(value / scale, compute(resampled) / scale, len(self.scores.topics), step=step)
        low, high = (scale * float(end) for end in ends)
        return Number(name, value, low, high)

    def is_ahead(self, measure: str, rivals: Sequence[str]) -> Answer:
        """Is a measure best by one criterion (behind no rival, ahead of one) and beaten by none?

        It is not where it is behind a rival by one criterion and best by none; where criteria disagree, or none tells,
        that stays undecided.
        """
        if not self.ahead:
            raise NotGiven("neither consistency nor power of these measures")
        best = beaten = 0
        numbers = []
        for criterion, table in self.ahead.items():
            ahead, behind = (int(table.loc[measure, rivals].sum()), int(table.loc[rivals, measure].sum()))
            best += bool(ahead) and not behind
            beaten += bool(behind)
            numbers += [Number(f"{criterion}: ahead of", ahead), Number("behind", behind)]
        return Answer(_weigh(best, beaten), tuple(numbers))

    def is_robust(self, measure: str, criterion: str) -> Answer:
        """Is a measure more consistent than more others than are more consistent than it? As many: undecided."""
        if criterion not in self.ahead:
            raise NotGiven(f"consistency over {criterion}")
        table = self.ahead[criterion]
        net = int(table.loc[measure].sum()) - int(table[measure].sum())
        return Answer(
            _weigh(int(net > 0), int(net < 0)), (Number(f"{criterion}: measures behind less those ahead", net),)
        )


def _weigh(pro: int, contra: int) -> Truth:
    """Return what reasons for and against come to: with both, or neither, the claim stays undecided."""
    return Truth.UNKNOWN if bool(pro) == bool(contra) else Truth.YES if pro else Truth.NO


def read_study(collection: str, study: Study) -> Facts:
    """Return the facts of a study, by the paper's name of the collection in whose place it stands."""
    if study.similarity is None:
        raise NotGiven("τ of measures")
    splits = {HALVES: study.consistency, SMALL: study.small_consistency}
    ahead = {
        criterion: _compare_consistency(consistency)
        for criterion, consistency in splits.items()
        if consistency is not None
    }
    if study.power is not None:
        ahead[POWER] = _compare_power(study.power)
    n_constant = sum(CONSTANT in run for run in study.scores.runs)
    return Facts(
        collection, study.similarity.to_frame(), ahead, n_constant, study.similarity, study.scores, study.power
    )


def read_print() -> dict[str, Facts]:
    """Return the facts that the paper prints, by collection."""
    return {name: _read_printed(name, kind) for name, kind in STUDY["collections"].items()}


def _read_printed(name: str, kind: str) -> Facts:
    order = STUDY[f"{kind}_order"]
    similarity, consistency = next(
        (PRINTED[first], PRINTED[second])
        for first, second in (("table2", "table3"), ("table5", "table6"), ("table8", "table9"))
        if name in PRINTED[first]
    )
    tau = pd.DataFrame(np.eye(len(order)), index=order, columns=order)
    for (first, second), value in read_triangle(similarity[name], order).items():
        tau.loc[first, second] = tau.loc[second, first] = value
    parts = ((HALVES, "full"), (SMALL, "ten"))
    ahead = {criterion: read_marks(consistency[name][part]) for criterion, part in parts}
    if name in PRINTED_POWER:  # print has no intervals: the numbers alone decide, as in the claims of LQ 2021
        significant = np.array(LQ2021["table3"][PRINTED_POWER[name]]["S_D"])
        more = significant[:, None] > significant
        ahead[POWER] = pd.DataFrame(more, index=LQ2021_MEASURES, columns=LQ2021_MEASURES)
    mean_tau = {
        criterion: {measure: float(row[0]) for measure, row in consistency[name][part].items() if measure != "V_E2"}
        for criterion, part in parts
    }
    return Facts(name, tau, ahead, PRINTED_CONSTANT.get(name, 0), mean_tau=mean_tau)


def read_marks(part: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Return which measure significantly outperforms which, from printed mean τ's and marks, measures in their order."""
    names = [name for name in part if name != "V_E2"]
    ahead = pd.DataFrame(False, index=names, columns=names)
    for row, name in enumerate(names):
        # A mark that counts more measures than stand below is a slip; a measure is not ahead of itself.
        n_below = min(int(part[name][1]), len(names) - 1 - row)
        ahead.loc[name, names[len(names) - n_below :]] = True
    return ahead


@lru_cache(maxsize=64)
def resample_tau(similarity: RankingSimilarity, scores: Scores) -> np.ndarray | None:
    """Return τ on resampled topics, shape (trial, measure, measure); None with too few runs or topics for an interval."""
    if explain_no_interval(len(scores.runs), len(scores.topics)):
        return None
    seed = int(dict(similarity.signature.settings).get("seed", STUDY["seed"]))
    rng = generator(seed, scores.collection, "rules on ranking similarity")
    oriented = scores.values * find_signs(scores.measures)
    n_topics = len(scores.topics)
    weights = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=N_RESAMPLES) / n_topics
    means = np.einsum("bt,rtm->brm", weights, oriented, optimize=True)
    sizes = np.einsum("bt,rtm->brm", weights, np.abs(oriented), optimize=True)
    return tau_matrix(means, variant=similarity.variant, tolerance=1e-12 * sizes + 1e-14)


def _compare_consistency(consistency: SplitHalfConsistency) -> pd.DataFrame:
    names = [str(measure) for measure in consistency.measures]
    return pd.DataFrame(
        consistency.significant & (consistency.means[:, None] > consistency.means), index=names, columns=names
    )


def _compare_power(power: DiscriminativePower) -> pd.DataFrame:
    names = [str(measure) for measure in power.measures]
    ahead = pd.DataFrame(False, index=names, columns=names)
    for first, second, more in power.differences[["measure_1", "measure_2", "finds_more"]].itertuples(index=False):
        if more in (first, second):
            ahead.loc[more, second if more == first else first] = True
    return ahead


class Formulas:
    """What a search for counterexamples says of the measures, whatever the data."""

    collection = FORMULAS

    def fails(self, measure: str, *properties: str) -> Number:
        """Return in how many cases a measure lacks one of some properties (see `metaeval.properties`)."""
        failed = tried = 0
        for name in properties:
            check = search_properties(name).get_check(measure, name)
            if check is not None:
                failed, tried = failed + check.failed, tried + check.cases
        if not tried:
            raise NotGiven(f"{', '.join(properties)} of {measure}")
        return Number(f"{measure}: failing of {tried:,} cases", failed)

    def changes_when_stretched(self, measure: str) -> Number:
        """Return in how many cases a class that nobody uses, put between two others, changes a measure of quantification."""
        rng = np.random.default_rng(STUDY["seed"])
        gold, estimated = rng.dirichlet(np.ones(4), size=(2, N_STRETCHED))
        before, gaps = _score(estimated, gold, measure), range(1, gold.shape[1])
        changed = 0
        for gap in gaps:
            after = _score(np.insert(estimated, gap, 0.0, axis=1), np.insert(gold, gap, 0.0, axis=1), measure)
            changed += int((np.abs(after - before) > 1e-9).sum())
        return Number(f"{measure}: failing of {len(gaps) * N_STRETCHED:,} cases", changed)


def _score(estimated: np.ndarray, gold: np.ndarray, measure: str) -> np.ndarray:
    """Return scores of shape (topic,)."""
    n_topics, n_classes = gold.shape
    runs = metaeval.QuantificationRuns(
        estimated[None], gold, runs=["run"], topics=range(n_topics), classes=range(n_classes)
    )
    values: np.ndarray = metaeval.score(runs, [measure]).values[0, :, 0]
    return values


@lru_cache
def search_properties(name: str) -> metaeval.Properties:
    """Search for counterexamples to a property, once for all measures of the paper."""
    return metaeval.properties([*STUDY["classification_order"], *STUDY["quantification_order"]], only=[name])
