"""RNADW and RNOD with gold distances beside the six measures of LQ 2021, which leaves their evaluation to future work."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.old.claims import Answer, NotGiven, Number, claim, list_claims, tabulate_claims, try_claims
from experiments.old.outcome import Outcome, Settings, load_groups, read_toml
from experiments.old.tables import sign_alike
from metaeval.analyses.study import Study, study_collection
from metaeval.datasets import baselines
from metaeval.measures.quantification import gold_distance

STUDY = read_toml(Path(__file__).with_suffix(".toml"))
PARENT, NEW = STUDY["parent"], list(STUDY["new"])
MEASURES = [*STUDY["established"], *NEW]
SOURCES = [""]
QUESTIONS = ("similarity", "consistency", "small_consistency", "power", "overlap", "contradictions")
POPULARITY, UNIFORM = "Popularity", "Uniform"
CLASSES = (2, 3, 5, 7)

SLIVER = 1e-9
"""A share as good as none that still makes its class a gold class: what formulas do just before a class is empty."""

FAVOURED = 0.6
"""Share of the one frequent class where every class has some gold; the others have equal shares of the rest."""

SAME = 1e-9
FEW = 0.05
"""Below which share of significant pairs of runs a collection has next to nothing to say about significance."""


# What follows from the formulas alone: computed over all cases, nothing is sampled.


def list_steps(n_classes: int) -> Iterator[tuple[int, int, int]]:
    """Yield (gold, nearer, farther): every two classes on the same side of every gold class."""
    for gold in range(n_classes):
        for side in (range(gold - 1, -1, -1), range(gold + 1, n_classes)):
            for nearer, farther in itertools.combinations(side, 2):
                yield gold, nearer, farther


def favour_class(gold: int, n_classes: int, share: float) -> np.ndarray:
    """Return the distribution that gives one class a share and the others equal parts of the rest."""
    rest = np.full(n_classes, (1 - share) / (n_classes - 1))
    rest[gold] = share
    return rest


def count_misorders(measure: metaeval.Measure, n_classes: int, share: float) -> tuple[int, int]:
    """How often is a run that answers the farther class scored better than one that answers the nearer, or the same?"""
    answers = np.eye(n_classes)
    gaps = np.array(
        [
            np.diff(measure.score(answers[[nearer, farther]], favour_class(gold, n_classes, share)))[0]
            for gold, nearer, farther in list_steps(n_classes)
        ]
    )
    return int((gaps < -SAME).sum()), int((np.abs(gaps) <= SAME).sum())


def list_extremes(n_classes: int) -> np.ndarray:
    """Return distributions at the corners of what there is: each set of classes evenly, or one class and slivers."""
    corners = []
    for n in range(1, n_classes + 1):
        for chosen in itertools.combinations(range(n_classes), n):
            even = np.zeros(n_classes)
            even[list(chosen)] = 1 / n
            corners.append(even)
            for heavy in chosen if n > 1 else ():
                sliver = np.where(even > 0, SLIVER, 0.0)
                sliver[heavy] = 1 - (n - 1) * SLIVER
                corners.append(sliver)
    return np.array(corners)


def find_largest(measure: metaeval.Measure, n_classes: int) -> float:
    """Return the largest score between any two of the `list_extremes`."""
    corners = list_extremes(n_classes)
    return float(measure.score(corners[:, None], corners).max())


def measure_asymmetry(measure: metaeval.Measure, n_classes: int) -> float:
    """Return by how much a score changes at most when two of the `list_extremes` are exchanged."""
    corners = list_extremes(n_classes)
    scores = measure.score(corners[:, None], corners)
    return float(np.abs(scores - scores.T).max())


def tabulate_order(names: list[str], n_classes: int = 5) -> metaeval.Table:
    """Show how often each measure scores the farther class better than the nearer one, or the same."""
    golds = {"all gold in one class": 1.0, f"{FAVOURED:g} in one class, the rest even": FAVOURED}
    columns = pd.MultiIndex.from_product([list(golds), ["farther better", "same"]])
    rows = [
        [n for share in golds.values() for n in count_misorders(metaeval.measure(name), n_classes, share)]
        for name in names
    ]
    frame = pd.DataFrame(rows, index=pd.Index(names, name="measure"), columns=columns)
    total = sum(1 for _ in list_steps(n_classes))
    caption = (
        f"Does a measure know the order? {n_classes} classes, {total} comparisons of two runs: both put everything "
        "into one class, on the same side of the gold class, one of them farther away. How often the farther one is "
        "scored better, and how often the same. A measure for ordered classes has zeros."
    )
    return metaeval.Table(frame, caption, _sign(f"{n_classes} classes, all {total} cases"))


def tabulate_limits(names: list[str]) -> metaeval.Table:
    """Show the largest value and the asymmetry of every measure."""
    measures = [metaeval.measure(name) for name in names]
    columns: dict[object, list[float]] = {
        ("largest value", f"K = {k}"): [find_largest(measure, k) for measure in measures] for k in CLASSES
    }
    columns["asymmetry", "K = 5"] = [measure_asymmetry(measure, 5) for measure in measures]
    frame = pd.DataFrame(columns, index=pd.Index(names, name="measure"))
    caption = (
        "The largest value, and the largest change when estimate and gold are exchanged, among all distributions that "
        f"are even on some classes or have one class and slivers ({SLIVER:g}) of others; above 1 in bold."
    )

    def marks(shown: pd.DataFrame) -> pd.DataFrame:
        return shown.map(lambda value: "bold" if value > 1 + SAME else "")

    return metaeval.Table(frame, caption, _sign(f"K = {', '.join(map(str, CLASSES))}"), digits=4, marks=marks)


def _sign(what: str) -> str:
    return f"new_measure, formulas | {what} | nothing random | metaeval {metaeval.__version__}"


# What needs gold only.


def make_baselines(runs: metaeval.QuantificationRuns) -> metaeval.QuantificationRuns:
    """Return the two baselines of LQ 2021, §5.2, made from the gold of a collection."""
    return metaeval.QuantificationRuns(
        np.stack([baselines.popularity(runs.gold), baselines.uniform(runs.gold)]), runs.gold, runs=[POPULARITY, UNIFORM],
        topics=runs.topics, classes=runs.classes, collection=runs.collection, provenance=runs.provenance,
    )  # fmt: skip


def describe_gold(collections: Mapping[str, metaeval.QuantificationRuns]) -> pd.DataFrame:
    """Describe the gold of collections by what the new measures depend on: shares of topics in percent."""
    rows = {}
    for name, runs in collections.items():
        empty = runs.gold <= 0
        rows[name] = {
            "empty": 100 * empty.any(axis=-1).mean(),
            "merged": 100 * (empty[:, 1:] & empty[:, :-1]).any(axis=-1).mean(),
            "one class": 100 * (np.sum(~empty, axis=-1) == 1).mean(),
            "ends": float(gold_distance(runs.gold)[:, 0, -1].mean()),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def count_preferences(collections: Mapping[str, metaeval.QuantificationRuns]) -> pd.DataFrame:
    """Count the topics of all collections on which each measure prefers either baseline (LQ 2021, Table 7)."""
    counts = pd.DataFrame(0, index=MEASURES, columns=[POPULARITY, UNIFORM])
    for runs in collections.values():
        scores = metaeval.score(make_baselines(runs), MEASURES)
        frame = metaeval.baseline_preference(scores, POPULARITY, UNIFORM).to_frame()
        counts += frame[[POPULARITY, UNIFORM]].set_axis([str(name) for name in frame.index])
    return counts


# All collections side by side.


def study_scores(scores: metaeval.Scores, settings: Settings, options: Mapping[str, Any]) -> Study:
    """Ask everything of the measures that needs one collection only."""
    study = study_collection(
        scores, questions=QUESTIONS, n_permutations=options["permutations"], n_trials=options["splits"],
        small=options["small"], alpha=options["alpha"], seed=settings.seed, n_jobs=settings.n_jobs,
    )  # fmt: skip
    for question in QUESTIONS:
        study.require(question)
    return study


def tabulate_consistency(studies: Sequence[Study]) -> metaeval.Table:
    """Show the mean τ of every measure on every collection, over halves and over sets of 10 topics."""
    columns = {}
    for study in studies:
        small = study.small_consistency
        for name, result in (("halves", study.consistency), (f"{small.sizes[0]} vs. {small.sizes[1]}", small)):
            columns[study.name, name] = pd.Series(result.means, index=[str(m) for m in result.measures])
    frame = pd.DataFrame(columns).rename_axis("measure")
    caption = "Split-half consistency: mean τ between the rankings of runs on two sets of topics; the best in bold."
    signature = f"{studies[0].consistency.signature}; and 10 vs. 10; the same for {_name_data(studies[1:])}"
    return metaeval.Table(frame, caption, signature, marks=lambda f: (f == f.max()).replace({True: "bold", False: ""}))


def compare_with_parent(studies: Sequence[Study], new: Sequence[str], parent: str) -> pd.DataFrame:
    """Compare each new measure with the one that it is a variant of, collection by collection."""
    rows = {}
    for name in new:
        for study in studies:
            names = [str(m) for m in study.scores.measures]
            n, p = names.index(name), names.index(parent)
            significant = study.power.significant
            both = int((significant[n] & significant[p]).sum())
            mine, theirs = int(significant[n].sum()) - both, int(significant[p].sum()) - both
            union = mine + both + theirs
            verdicts = study.contradictions.verdicts
            rows[name, study.name] = {
                "tau": float(study.similarity.tau[n, p]),
                "a": mine,
                "b": both,
                "c": theirs,
                "sso": 100 * both / union if union else np.nan,
                "contradictions": int((verdicts[n] * verdicts[p] == -1).sum()),
                **_compare_consistency("halves", study.consistency, n, p),
                **_compare_consistency("small", study.small_consistency, n, p),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["measure", "collection"])


def _compare_consistency(name: str, result: metaeval.SplitHalfConsistency, n: int, p: int) -> dict[str, object]:
    gain = float(result.means[n] - result.means[p])
    verdict = "same" if not result.significant[n, p] else "better" if gain > 0 else "worse"
    return {name: gain, f"{name} verdict": verdict}


def tabulate_beside(studies: Sequence[Study], new: Sequence[str], parent: str) -> metaeval.Table:
    """Show `compare_with_parent`."""
    frame = compare_with_parent(studies, new, parent)
    size = studies[0].small_consistency.sizes[0]
    head = {
        "tau": f"τ with {parent}",
        "a": "new only",
        "b": "both",
        "c": f"{parent} only",
        "sso": "SSO %",
        "halves": "gain halves",
        "halves verdict": "halves",
        "small": f"gain {size} vs. {size}",
        "small verdict": f"{size} vs. {size}",
    }
    caption = (
        f"Each new measure beside {parent}: ranking similarity; run pairs significant with the new measure only, with "
        f"both, with {parent} only, and their overlap; contradictions; gain in mean τ of split-half consistency over "
        f"{parent}, and whether that difference is significant."
    )
    signature = f"{studies[0].power.signature}; the same for {_name_data(studies[1:])}"
    return metaeval.Table(frame.rename(columns=head), caption, signature, digits={"SSO %": 1})


def list_contradictions(contradictions: Sequence[metaeval.SignificanceContradictions]) -> pd.DataFrame:
    """List every contradiction, and which measures are on either side (LQ 2021, Table 6)."""
    rows = []
    for result in contradictions:
        first, second = np.triu_indices(len(result.runs), 1)
        names = np.array([str(m) for m in result.measures], dtype=object)
        for pair in np.flatnonzero((result.verdicts == 1).any(axis=0) & (result.verdicts == -1).any(axis=0)):
            sides = result.verdicts[:, pair]
            labels = (result.collection, result.runs[first[pair]], result.runs[second[pair]])
            rows.append((*labels, ", ".join(names[sides == 1]), ", ".join(names[sides == -1])))
    return pd.DataFrame(rows, columns=["collection", "run_1", "run_2", "for_run_1", "for_run_2"])


def tabulate_contradictions(contradictions: Sequence[metaeval.SignificanceContradictions]) -> metaeval.Table:
    """Show `list_contradictions`."""
    caption = (
        "All contradictions: run pairs of which some measures say that run 1 is significantly better, and others that "
        "run 2 is. Measures named on neither side find no significant difference."
    )
    first, *others = contradictions
    frame = list_contradictions(contradictions).set_index("collection")
    signature = sign_alike(first.signature, [result.signature.data[0] for result in others], "; ")
    return metaeval.Table(frame, caption, signature)


def _name_data(studies: Sequence[Study]) -> str:
    return "; ".join(f"{study.scores.collection}@{study.scores.fingerprint}" for study in studies)


# The claims, each tried on every new measure.


@dataclass(frozen=True)
class Facts:
    """What the tables say of one measure, beside its parent."""

    order: pd.Series
    beside: pd.DataFrame | None = None
    preferences: pd.DataFrame | None = None
    name: str = PARENT

    def misorders(self, which: int) -> Number:
        """Return how many comparisons are wrong or undecided: 0, all gold in one class; 1, every class has some."""
        wrong, same = self.order.iloc[2 * which : 2 * which + 2]
        return Number("comparisons wrong or undecided", int(wrong + same))

    def consistency(self, verdict: str) -> Number:
        """Return in how many comparisons (collections × sizes of sets) it is significantly "better", or "worse"."""
        if self.beside is None:
            raise NotGiven("it is the parent")
        columns = [column for column in self.beside if f"gain {column}" in self.beside]
        return Number(f"comparisons in which it is {verdict}", int((self.beside[columns] == verdict).sum().sum()))

    def gain_in_pairs(self) -> Number:
        """Return how many more pairs of runs it finds significant than its parent."""
        if self.beside is None:
            raise NotGiven("it is the parent")
        gain = int((self.beside["new only"] - self.beside[f"{PARENT} only"]).sum())
        return Number(f"significant pairs more than {PARENT}", gain)

    def share_of_uniform(self, name: str) -> Number:
        """Return the share of topics on which a measure prefers Uniform, of those on which it prefers either."""
        if self.preferences is None:
            raise NotGiven("the gold could not be loaded")
        row = self.preferences.loc[name]
        return Number(f"{name} prefers Uniform on a share of", float(row[UNIFORM] / row.sum()))


@claim("asked here", "It keeps the order of classes where all gold is in one class.")
def keeps_order_of_one_class(facts: Facts) -> Answer:
    """In none of the comparisons of tables order.csv the farther class is scored better, or the same."""
    return facts.misorders(0) <= 0


@claim("asked here", "It keeps the order of classes where every class has some gold.")
def keeps_order_of_all_classes(facts: Facts) -> Answer:
    """The same."""
    return facts.misorders(1) <= 0


@claim("asked here", "It is more consistent than RNOD.")
def is_more_consistent(facts: Facts) -> Answer:
    """Of all collections, by halves and small sets, it is significantly better in more comparisons than worse."""
    return facts.consistency("better") > facts.consistency("worse")


@claim("asked here", "It is worth taking instead of RNOD.")
def is_worth_taking(facts: Facts) -> Answer:
    """It is more consistent by the rule above, and finds at least as many significant pairs of runs."""
    return is_more_consistent(facts) & (facts.gain_in_pairs() >= 0)


@claim("asked here", "It prefers Uniform to Popularity on more topics than RNOD does.")
def prefers_uniform_more(facts: Facts) -> Answer:
    """Counted over all topics of all collections with gold; not of the parent itself."""
    if facts.name == PARENT:
        raise NotGiven("it is the parent")
    return facts.share_of_uniform(facts.name) > facts.share_of_uniform(PARENT)


# The steps.


def run(settings: Settings) -> list[Outcome]:
    """Meta-evaluate the measures that LQ 2021 leaves to future work, beside the six that it evaluates."""
    whole = Outcome("new_measure", "")
    whole.tables = {"order": tabulate_order(MEASURES), "limits": tabulate_limits(MEASURES)}
    if settings.quick:
        whole.lacks = ["all collections (--quick leaves them out)"]
        return [whole]
    missing: list[str] = []
    campaigns, gold_only = (dict(load_groups(settings, STUDY[key], missing)) for key in ("campaigns", "gold_only"))
    if missing:
        whole.lacks = missing
        whole.notes.append(f"without {missing[0]}, what needs all collections was left out")
        return [whole]
    studies = []
    for name, runs in campaigns.items():
        settings.say(f"new measures: {name}")
        studies.append(study_scores(metaeval.score(runs, MEASURES), settings, STUDY))
    contradictions = [study.contradictions for study in studies]
    contradictions += [find_baseline_contradictions(runs, settings) for runs in gold_only.values()]
    collections = campaigns | gold_only
    add_collections(whole, studies, contradictions, collections, settings)
    whole.texts = describe_data(studies, collections)
    return [whole]


def add_collections(
    whole: Outcome,
    studies: Sequence[Study],
    contradictions: Sequence[metaeval.SignificanceContradictions],
    collections: Mapping[str, metaeval.QuantificationRuns],
    settings: Settings,
) -> None:
    """Add the tables that need all collections, and what came of the claims."""
    pooled = metaeval.pooled_discriminative_power([study.power for study in studies], seed=settings.seed)
    whole.tables |= {
        "pooled_power": pooled.to_table(),
        "consistency": tabulate_consistency(studies),
        "beside": tabulate_beside(studies, NEW, PARENT),
        "run_pairs": tabulate_contradictions(contradictions),
    }
    order, beside = whole.tables["order"].frame, whole.tables["beside"].frame
    preferences = count_preferences(collections)
    facts = {PARENT: Facts(order.loc[PARENT])}
    facts |= {name: Facts(order.loc[name], beside.loc[name], preferences, name) for name in NEW}
    findings = (finding for finding in try_claims(list_claims(sys.modules[__name__]), facts) if not finding.reason)
    whole.tables["claims"] = tabulate_claims(findings, "What came of the claims.", "new_measure")


def describe_data(studies: Sequence[Study], collections: Mapping[str, metaeval.QuantificationRuns]) -> dict[str, str]:
    """Return what the page says of the collections, by name."""
    gold = describe_gold(collections)
    few = [study for study in studies if study.power.significant.mean() < FEW]
    n_pairs, n_few = (sum(study.power.p_values.shape[1] for study in some) for some in (studies, few))
    seen = max(float(study.scores.sel(measures=[PARENT]).values.max()) for study in studies)
    sizes = (f"{s.name}: {len(s.scores.runs)} runs, {len(s.scores.topics)} topics" for s in studies)
    return {
        "empty": ", ".join(f"{name} {share:.0f} %" for name, share in gold["empty"].items()),
        "single": ", ".join(f"{name} {share:.1f} %" for name, share in gold["one class"].items()),
        "seen": f"{seen:.3f}",
        "sizes": ", ".join(sizes),
        "thin": ", ".join(name for name in collections if name not in {study.name for study in studies}),
        "few": ", ".join(study.name for study in few) or "none",
        "pulled": f"{100 * n_few / n_pairs:.0f} %",
    }


def find_baseline_contradictions(
    runs: metaeval.QuantificationRuns, settings: Settings
) -> metaeval.SignificanceContradictions:
    """Test the runs of a collection that has next to none, Popularity and Uniform added, for contradictions only."""
    made = make_baselines(runs)
    more = {name: made.estimated[r] for r, name in enumerate(made.runs)}
    power = metaeval.discriminative_power(
        metaeval.score(runs.with_runs(more), MEASURES), n_permutations=STUDY["permutations"], alpha=STUDY["alpha"],
        seed=settings.seed, n_jobs=settings.n_jobs,
    )  # fmt: skip
    return metaeval.significance_contradictions(power)


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    return {
        "largest": {name: f"{find_largest(metaeval.measure(name), 5):.3f}" for name in (PARENT, *NEW)},
        "names": [name for key in ("campaigns", "gold_only") for names in STUDY[key].values() for name in names],
    }
