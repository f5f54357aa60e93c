"""RNADW and RNOD with gold distances beside the six measures of LQ 2021, which leaves their evaluation to future work."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.page import Folder
from experiments.paper import Results, Settings, load_groups, read_study
from metaeval.datasets import baselines

STUDY = read_study("new_measure")
PARENT, NEW = STUDY["parent"], list(STUDY["new"])
MEASURES = [*STUDY["established"], *NEW]
POPULARITY, UNIFORM = "Popularity", "Uniform"
CLASSES = (2, 3, 5, 7)

SLIVER = 1e-9
"""A share as good as none that still makes its class a gold class: what formulas do just before a class is empty."""

FAVOURED = 0.6
"""Share of the one frequent class where every class has some gold; the others have equal shares of the rest."""

SAME = 1e-9
FEW = 0.05
"""Below which share of significant pairs of runs a collection has next to nothing to say about significance."""


def run(settings: Settings) -> Results:
    """Meta-evaluate the measures that LQ 2021 leaves to future work, beside the six that it evaluates."""
    results, left = Results("new_measure"), dict[str, str]()
    total = len(list(list_steps(5)))
    results.add(
        "order", tabulate_order(MEASURES, 5),
        f"Does a measure know the order? 5 classes, {total} comparisons of two runs: both put everything into one class, on "
        "the same side of the gold class, one of them farther away. How often the farther one is scored better, and how often "
        "the same. A measure for ordered classes has zeros.", how="formulas: all cases, nothing random",
    )  # fmt: skip
    results.add(
        "limits", tabulate_limits(MEASURES),
        "The largest value, and the largest change when estimate and gold are exchanged, among all distributions that "
        f"are even on some classes or have one class and slivers ({SLIVER:g}) of others.",
        how="formulas: all cases, nothing random",
    )  # fmt: skip
    campaigns, gold_only = (dict(load_groups(settings, STUDY[key], left)) for key in ("campaigns", "gold_only"))
    if left:
        tables = ("pooled_power", "consistency", "beside", "run_pairs", "preferences", "collections")
        results.left_out = dict.fromkeys(tables, f"needs {', '.join(left)}")
        return results
    studies = []
    for name, runs in campaigns.items():
        settings.say(f"new_measure: {name}")
        studies.append(study_scores(metaeval.score(runs, MEASURES), settings, STUDY))
    contradictions = [study.contradictions for study in studies]
    contradictions += [find_baseline_contradictions(runs, settings) for runs in gold_only.values()]
    add_collections(results, studies, contradictions, campaigns | gold_only, settings)
    return results


# What follows from the formulas alone: computed over all cases, nothing is sampled.


def list_steps(n_classes: int) -> Iterator[tuple[int, int, int]]:
    """Yield (gold, nearer, farther): every two classes on the same side of every gold class."""
    for gold in range(n_classes):
        for side in (range(gold - 1, -1, -1), range(gold + 1, n_classes)):
            for nearer, farther in itertools.combinations(side, 2):
                yield gold, nearer, farther


def count_misorders(measure: metaeval.Measure, n_classes: int, share: float) -> tuple[int, int]:
    """How often is a run that answers the farther class scored better than one that answers the nearer, or the same?

    One class has a share of the gold, the others have equal parts of the rest.
    """
    answers, gaps = np.eye(n_classes), []
    for gold, nearer, farther in list_steps(n_classes):
        truth = np.full(n_classes, (1 - share) / (n_classes - 1))
        truth[gold] = share
        gaps.append(np.diff(measure.score(answers[[nearer, farther]], truth))[0])
    return int((np.array(gaps) < -SAME).sum()), int((np.abs(gaps) <= SAME).sum())


def tabulate_order(names: Sequence[str], n_classes: int) -> pd.DataFrame:
    """Return how often each measure scores the farther class better than the nearer one, or the same."""
    golds = {"all gold in one class": 1.0, f"{FAVOURED:g} in one class, the rest even": FAVOURED}
    counts = [
        [n for share in golds.values() for n in count_misorders(metaeval.measure(name), n_classes, share)]
        for name in names
    ]
    columns = [f"{gold} {what}" for gold in golds for what in ("farther better", "same")]
    return pd.DataFrame(counts, index=pd.Index(names, name="measure"), columns=columns)


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


def score_extremes(measure: metaeval.Measure, n_classes: int) -> np.ndarray:
    """Return the scores of all `list_extremes` as estimates (rows) of each other as gold."""
    corners = list_extremes(n_classes)
    return np.asarray(measure.score(corners[:, None], corners))


def tabulate_limits(names: Sequence[str]) -> pd.DataFrame:
    """Return the largest value and the asymmetry of every measure."""
    measures = [metaeval.measure(name) for name in names]
    columns = {f"largest value K = {k}": [score_extremes(m, k).max() for m in measures] for k in CLASSES}
    fives = [score_extremes(m, 5) for m in measures]
    columns["asymmetry K = 5"] = [np.abs(scores - scores.T).max() for scores in fives]
    return pd.DataFrame(columns, index=pd.Index(names, name="measure"))


# All collections side by side.


class Study(NamedTuple):
    """What was asked of one collection."""

    scores: metaeval.Scores
    similarity: metaeval.RankingSimilarity
    halves: metaeval.SplitHalfConsistency
    small: metaeval.SplitHalfConsistency
    power: metaeval.DiscriminativePower
    contradictions: metaeval.SignificanceContradictions


def study_scores(scores: metaeval.Scores, settings: Settings, study: Mapping[str, Any]) -> Study:
    """Ask everything of the measures that needs one collection only."""
    tests = {"n_permutations": study["permutations"], "alpha": study["alpha"]}
    options = {"seed": settings.seed, "n_jobs": settings.n_jobs, **tests}
    power = metaeval.discriminative_power(scores, test="randomised-tukey-hsd", **options)
    return Study(
        scores,
        metaeval.ranking_similarity(scores, n_bootstrap=0, seed=settings.seed),
        metaeval.split_half_consistency(scores, n_trials=study["splits"], **options),
        metaeval.split_half_consistency(scores, n_trials=study["splits"], size=study["small"], **options),
        power,
        metaeval.significance_contradictions(power),
    )


def add_collections(
    results: Results,
    studies: Sequence[Study],
    contradictions: Sequence[metaeval.SignificanceContradictions],
    collections: Mapping[str, metaeval.QuantificationRuns],
    settings: Settings,
) -> None:
    """Add the tables that need all collections."""
    how = f"randomised-tukey-hsd | B {STUDY['permutations']:,} | splits {STUDY['splits']:,} | alpha {STUDY['alpha']:g}"
    how += f" | seed {settings.seed}"
    pooled = metaeval.pooled_discriminative_power([study.power for study in studies])
    caption = (
        f"Discriminative power pooled over {len(studies)} collections. Low and high: 95 % interval on other topics, and of "
        "other collections. ±: Monte Carlo standard error of #sig."
    )
    results.add("pooled_power", pooled.to_table(), caption)
    consistency = {
        f"{study.scores.collection} {name}": pd.Series(result.means, index=[str(m) for m in result.measures])
        for study in studies
        for name, result in (("halves", study.halves), ("{} vs. {}".format(*study.small.sizes), study.small))
    }
    caption = "Split-half consistency: mean τ between the rankings of runs on two sets of topics."
    results.add("consistency", pd.DataFrame(consistency).rename_axis("measure"), caption, how=how)
    results.add(
        "beside", compare_with_parent(studies),
        f"Each new measure beside {PARENT}: ranking similarity; run pairs significant with the new measure only, with both, "
        f"with {PARENT} only, and their overlap; contradictions; gain in mean τ of split-half consistency over {PARENT}, and "
        "whether that difference is significant.", how=how,
    )  # fmt: skip
    results.add(
        "run_pairs", list_contradictions(contradictions).set_index("collection"),
        "All contradictions: run pairs of which some measures say that run 1 is significantly better, and others that "
        "run 2 is. Measures named on neither side find no significant difference.", how=how,
    )  # fmt: skip
    caption = f"Topics of all collections on which a measure prefers either baseline, {POPULARITY} or {UNIFORM}."
    results.add("preferences", count_preferences(collections), caption, how="nothing random")
    caption = (
        "Topics (in percent) with an empty gold class, and with all gold in one class; of submitted runs the share of "
        f"run pairs that are significant, on average over measures, their number, and the largest {PARENT}."
    )
    results.add("collections", describe_collections(collections, studies), caption, how=how)


def compare_with_parent(studies: Sequence[Study]) -> pd.DataFrame:
    """Compare each new measure with the one that it is a variant of, collection by collection."""
    rows = {}
    for name, study in itertools.product(NEW, studies):
        names = [str(m) for m in study.scores.measures]
        n, p = names.index(name), names.index(PARENT)
        mine, theirs = study.power.significant[[n, p]]
        verdicts = study.contradictions.verdicts
        row = rows[name, study.scores.collection] = {
            f"τ with {PARENT}": float(study.similarity.tau[n, p]),
            "new only": int((mine & ~theirs).sum()),
            "both": int((mine & theirs).sum()),
            f"{PARENT} only": int((theirs & ~mine).sum()),
            "SSO %": 100 * (mine & theirs).sum() / (mine | theirs).sum() if (mine | theirs).any() else np.nan,
            "contradictions": int((verdicts[n] * verdicts[p] == -1).sum()),
        }
        for what, result in (("halves", study.halves), ("{} vs. {}".format(*study.small.sizes), study.small)):
            gain = float(result.means[n] - result.means[p])
            row[f"gain {what}"] = gain
            row[what] = "same" if not result.significant[n, p] else "better" if gain > 0 else "worse"
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["measure", "collection"])


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


def make_baselines(runs: metaeval.QuantificationRuns) -> metaeval.QuantificationRuns:
    """Return the two baselines of LQ 2021, §5.2, made from the gold of a collection."""
    return metaeval.QuantificationRuns(
        np.stack([baselines.popularity(runs.gold), baselines.uniform(runs.gold)]), runs.gold, runs=[POPULARITY, UNIFORM],
        topics=runs.topics, classes=runs.classes, collection=runs.collection, provenance=runs.provenance,
    )  # fmt: skip


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


def count_preferences(collections: Mapping[str, metaeval.QuantificationRuns]) -> pd.DataFrame:
    """Count the topics of all collections on which each measure prefers either baseline (LQ 2021, Table 7)."""
    counts = pd.DataFrame(0, index=pd.Index(MEASURES, name="measure"), columns=[POPULARITY, UNIFORM])
    for runs in collections.values():
        frame = metaeval.baseline_preference(
            metaeval.score(make_baselines(runs), MEASURES), POPULARITY, UNIFORM
        ).to_frame()
        counts += frame[[POPULARITY, UNIFORM]].set_axis([str(name) for name in frame.index])
    return counts


def describe_collections(
    collections: Mapping[str, metaeval.QuantificationRuns], studies: Sequence[Study]
) -> pd.DataFrame:
    """Describe the gold of collections by what the new measures depend on, and the runs of those that have some."""
    rows: dict[str, dict[str, float]] = {}
    for name, runs in collections.items():
        empty = runs.gold <= 0
        rows[name] = {
            "topics": len(runs.topics),
            "empty": 100 * empty.any(axis=-1).mean(),
            "one class": 100 * (np.sum(~empty, axis=-1) == 1).mean(),
        }
    for study in studies:
        rows[study.scores.collection] |= {
            "runs": len(study.scores.runs),
            "pairs": study.power.p_values.shape[1],
            "significant": study.power.significant.mean(),
            f"largest {PARENT}": study.scores.sel(measures=[PARENT]).values.max(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def describe(tables: Folder) -> dict[str, Any]:
    """Return what the page says of the collections and of the largest values, by name."""
    data, limits = tables.read("collections"), tables.read("limits").set_index("measure")
    full = data[data["runs"].notna()]
    few = full[full["significant"] < FEW]
    return {
        "largest": {name: f"{limits.loc[name, 'largest value K = 5']:.3f}" for name in (PARENT, *NEW)},
        "names": [name for key in ("campaigns", "gold_only") for names in STUDY[key].values() for name in names],
        "empty": ", ".join(f"{row.collection} {row.empty:.0f} %" for row in data.itertuples()),
        "single": ", ".join(f"{name} {share:.1f} %" for name, share in data.set_index("collection")["one class"].items()),
        "seen": f"{full[f'largest {PARENT}'].max():.3f}",
        "sizes": ", ".join(f"{row.collection}: {row.runs:.0f} runs, {row.topics} topics" for row in full.itertuples()),
        "thin": ", ".join(data.loc[data["runs"].isna(), "collection"]),
        "few": ", ".join(few["collection"]) or "none",
        "pulled": f"{100 * few['pairs'].sum() / full['pairs'].sum():.0f} %",
    }  # fmt: skip
