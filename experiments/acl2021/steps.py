"""ACL 2021: ranking similarity, ranking consistency and discriminative power of every collection that there is."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import metaeval
from experiments import sakai
from experiments.page import Folder
from experiments.paper import Results, Settings, cell, read_study
from metaeval.analyses.reference_pairs import grade, rate_consistency
from metaeval.analyses.study import Study, study_collection
from metaeval.measures.base import find_signs
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.rank_correlation import tau_matrix
from metaeval.stats.streams import generator

STUDY = read_study("acl2021")
PRINTED, ORDERS, COLLECTIONS = STUDY["printed"], STUDY["orders"], STUDY["collections"]
SIMILARITY = {
    "table2": ("Sem16T4C", "Sem17T4C"),
    "table5": ("DQ-A", "DQ-E", "DQ-S"),
    "table8": ("Sem16T4E", "Sem17T4E"),
}
CONSISTENCY = {"table3": SIMILARITY["table2"], "table6": SIMILARITY["table5"], "table9": SIMILARITY["table8"]}
QUESTIONS = ("similarity", "consistency", "small_consistency", "power")

GROUP_A, GROUP_B = ("alpha_ORD", "alpha_INT", "F1_M", "HMPR", "MAE_M", "kappa"), ("MAE_mu", "Accuracy")
OTHERS = ("RSNOD", "RNOD", "NVD", "RNSS", "JSD")
"""Measures of quantification but NMD."""

PROPERTIES = {
    "classification": {
        "(I) order of classes": ("ordinal",),
        "(II) constant runs": ("constant",),
        "(III) imbalance": ("imbalance",),
    },
    "quantification": {
        "(I) order of classes": ("ordinal", "ordinal with mixed gold"),
        "(II) symmetric": ("symmetric",),
    },
}
"""The formal properties that stand for columns of Tables 4 and 7."""

N_RESAMPLES = 400
"""Of topics, for the intervals of means and differences of τ."""

N_STRETCHED = 500
"""Pairs of distributions on which a scale is stretched."""

MARGIN = 0.05
"""Share of significant pairs by which two measures must differ before one of them counts as finding more (Tables 4 and 7)."""

Tau = Callable[[str, str], np.ndarray]


def run(settings: Settings) -> Results:
    """Compute Tables 1 to 9, the curves of Figures 1 to 3, and the figures on which claims rest."""
    results, left = Results("acl2021"), dict[str, str]()
    sources, studies = [], {}
    for source in sakai.find_sources(STUDY, ORDERS, settings, left):
        settings.say(f"acl2021: {source.label}")
        sources.append(source)
        studies[source.label] = study_collection(
            source.scores, questions=QUESTIONS, n_trials=STUDY["n_trials"], n_permutations=STUDY["n_permutations"],
            n_bootstrap=STUDY["n_bootstrap"], alpha=STUDY["alpha"], small=STUDY["size"], seed=settings.seed,
            n_jobs=settings.n_jobs,
        )  # fmt: skip
    results.add(
        "properties", tabulate_properties(settings.seed), "Counterexamples to formal properties, of cases tried."
    )
    if left:  # tables have rows of every collection
        tables = ("collections", "similarity", "consistency", "power", "curves", "facts", "words", "comparison")
        results.left_out = dict.fromkeys(tables, f"needs {', '.join(left)}")
        return results
    how = f"B {STUDY['n_permutations']:,} | {STUDY['n_trials']:,} splits | alpha {STUDY['alpha']:g} | seed {settings.seed}"
    add = partial(results.add, how=how)
    add("collections", sakai.tabulate_collections(sources), "The collections that were computed.")
    add(
        "similarity",
        tabulate_similarity(studies),
        "τ of the rankings of runs by two measures.",
    )
    caption = (
        "Mean τ over splits, how many of the worst measures each significantly outperforms, all that it does, and V_E2."
    )
    add("consistency", sakai.tabulate_consistency(studies), caption)
    add("power", sakai.tabulate_power(studies), "Significant pairs of runs by randomised Tukey HSD.")
    add("curves", sakai.tabulate_curves(studies), "p-values of all pairs of runs, sorted.")
    facts = [row for source in sources for row in list_facts(source, studies[source.label], settings.seed)]
    frame = pd.DataFrame(facts, columns=["collection", "kind", "figure", "value", "low", "high"]).set_index(
        "collection"
    )
    add("facts", frame, "What claims ask for, with 95 % intervals over topics.")
    add("words", tabulate_words(sources, studies), "Tables 4 and 7 in words, from the collections that were computed.")
    results.compare("comparison", list(compare_all(sources, studies)))
    return results


def tabulate_similarity(studies: Mapping[str, Study]) -> pd.DataFrame:
    """Return τ of every two measures on every collection."""
    frames = []
    for name, study in studies.items():
        square = study.similarity.to_frame()
        names = [str(measure) for measure in square.index]
        rows = [(name, *pair, float(square.loc[pair])) for pair in sakai.list_pairs(names)]
        frames.append(pd.DataFrame(rows, columns=["collection", "measure_1", "measure_2", "tau"]))
    return pd.concat(frames).set_index("collection")


def list_facts(source: sakai.Source, study: Study, seed: int) -> Iterator[tuple[object, ...]]:
    """Yield means and differences of τ, and a difference of power, each with its interval."""
    kind = source.about["kind"]

    def average(group: Sequence[str], other: Sequence[str] | None = None) -> Callable[[Tau], np.ndarray]:
        pairs = sakai.list_pairs(group) if other is None else list(itertools.product(group, other))
        return lambda tau: np.mean([tau(*pair) for pair in pairs], axis=0)

    def sort_means(tau: Tau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        measures = ("NMD", *OTHERS)
        means = [np.mean([tau(one, other) for other in measures if other != one], axis=0) for one in measures]
        return means[0], np.min(means[1:], axis=0), np.max(means[1:], axis=0)

    def fall(tau: Tau) -> np.ndarray:
        nmd, low, _ = sort_means(tau)
        return low - nmd

    def fall_farther(tau: Tau) -> np.ndarray:
        nmd, low, high = sort_means(tau)
        return (low - nmd) - (high - low)

    figures: dict[str, tuple[Callable[[Tau], np.ndarray], int]] = {
        "classification": {
            "τ of kappa and alpha_ORD": (average(("kappa", "alpha_ORD")), 1), "mean τ within A": (average(GROUP_A), 1),
            "τ within B": (average(GROUP_B), 1), "mean τ between A and B": (average(GROUP_A, GROUP_B), 1),
        },
        "quantification": {
            "τ of NMD and RNOD": (average(("NMD", "RNOD")), 1), "mean τ of NMD below the next by": (fall, 2),
            "more than the others' range by": (fall_farther, 2),
        },
    }[kind]  # fmt: skip
    tau, resampled = study.similarity.tau, resample_tau(study, seed)
    place = {str(measure): position for position, measure in enumerate(study.similarity.measures)}
    for figure, (statistic, scale) in figures.items():

        def compute(values: np.ndarray, statistic: Callable[[Tau], np.ndarray] = statistic) -> np.ndarray:
            return np.asarray(statistic(lambda first, second: values[..., place[first], place[second]]))

        value, ends = float(compute(tau)), (np.nan, np.nan)
        if resampled is not None:
            n_runs, n_topics = len(study.scores.runs), len(study.scores.topics)
            step = 4 / (n_runs * (n_runs - 1))  # one pair of runs the other way round
            low, high = centre_interval(value / scale, compute(resampled) / scale, n_topics, step=step)
            ends = (scale * float(low), scale * float(high))
        yield source.label, kind, figure, value, *ends
    if kind == "classification":
        rows = study.power.differences.set_index(["measure_1", "measure_2"])
        sign, pair = (
            (1, ("alpha_INT", "alpha_ORD"))
            if ("alpha_INT", "alpha_ORD") in rows.index
            else (-1, ("alpha_ORD", "alpha_INT"))
        )
        gap, *ends = sign * rows.loc[pair, ["difference", "low", "high"]].to_numpy(dtype=float)
        yield source.label, kind, "power of alpha_INT more than that of alpha_ORD by", gap, min(ends), max(ends)


def resample_tau(study: Study, seed: int) -> np.ndarray | None:
    """Return τ on resampled topics, shape (trial, measure, measure); None with too few runs or topics for an interval."""
    scores = study.scores
    n_topics = len(scores.topics)
    if explain_no_interval(len(scores.runs), n_topics):
        return None
    rng = generator(seed, scores.collection, "rules on ranking similarity")
    oriented = scores.values * find_signs(scores.measures)
    weights = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=N_RESAMPLES) / n_topics
    means = np.einsum("bt,rtm->brm", weights, oriented, optimize=True)
    sizes = np.einsum("bt,rtm->brm", weights, np.abs(oriented), optimize=True)
    return tau_matrix(means, variant=study.similarity.variant, tolerance=1e-12 * sizes + 1e-14)


def tabulate_properties(seed: int) -> pd.DataFrame:
    """Return how many counterexamples a search finds to the properties of Tables 4 and 7, and to invariance."""
    rows = []
    for kind, columns in PROPERTIES.items():
        names = [
            *(name for names in columns.values() for name in names),
            *(["ordinal invariance"] * (kind == "classification")),
        ]
        found = metaeval.properties(ORDERS[kind], only=names)
        for measure, name in itertools.product(ORDERS[kind], names):
            check = found.get_check(measure, name)
            if check is not None:
                rows.append((measure, name, check.failed, check.cases))
    for measure in ("RNOD", "NMD"):
        rows.append((measure, "an unused class between two", *count_changes(measure, seed)))
    return pd.DataFrame(rows, columns=["measure", "property", "failed", "cases"]).set_index("measure")


def count_changes(measure: str, seed: int) -> tuple[int, int]:
    """Return in how many cases a class that nobody uses, put between two others, changes a measure of quantification."""
    gold, estimated = np.random.default_rng(seed).dirichlet(np.ones(4), size=(2, N_STRETCHED))

    def score(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
        n_topics, n_classes = gold.shape
        runs = metaeval.QuantificationRuns(
            estimated[None], gold, runs=["run"], topics=range(n_topics), classes=range(n_classes)
        )
        return np.asarray(metaeval.score(runs, [measure]).values[0, :, 0])

    before, gaps = score(estimated, gold), range(1, gold.shape[1])
    after = [score(np.insert(estimated, gap, 0.0, axis=1), np.insert(gold, gap, 0.0, axis=1)) for gap in gaps]
    return int((np.abs(np.array(after) - before) > 1e-9).sum()), len(gaps) * N_STRETCHED


def tabulate_words(sources: Sequence[sakai.Source], studies: Mapping[str, Study]) -> pd.DataFrame:
    """Return Tables 4 and 7 in words by stated rules, from the collections nearest to the paper's, beside the printed words."""
    frames = []
    for table, kind, near in (
        ("table4", "classification", SIMILARITY["table2"]),
        ("table7", "quantification", SIMILARITY["table5"]),
    ):
        own = [source for source in sources if source.about["kind"] == kind]
        chosen = [one for one in own if one.label in near] or [one for one in own if one.label.startswith("stc3-")]
        if not chosen:
            continue
        order, used = ORDERS[kind], [studies[one.label] for one in chosen]
        tau = np.mean([study.similarity.to_frame().loc[order, order] for study in used], axis=0)
        letters = group_measures(tau)
        sizes, names = Counter(letters), STUDY["group_names"][kind]
        groups = [names["alone" if sizes[x] == 1 else "largest" if x == "A" else "second"] for x in letters]
        splits = [
            split for study in used for split in (study.consistency, study.small_consistency) if split is not None
        ]
        columns = {
            "group": dict(zip(order, groups, strict=True)),
            "consistency": {
                str(m): grade(net) for m, net in zip(splits[0].measures, rate_consistency(splits), strict=True)
            },
            "power": grade_power([study.power for study in used]),
        }
        at = len(PROPERTIES[kind])
        frames += [
            pd.DataFrame(
                {"table": f"Table {table[-1]}", "data": ", ".join(one.data for one in chosen), "measure": order,
                 "column": title, "ours": [words[m] for m in order],
                 "printed": [PRINTED[table][m][at + position] for m in order]}
            )
            for position, (title, words) in enumerate(columns.items())
        ]  # fmt: skip
    return pd.concat(frames, ignore_index=True).set_index("table") if frames else pd.DataFrame()


def group_measures(tau: np.ndarray) -> list[str]:
    """Return the group of every measure, by average linkage of τ: A is the largest one."""
    distance = 1 - (tau + tau.T) / 2
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average")
    numbers = fcluster(tree, 1 - STUDY["group_tau"] + 1e-12, criterion="distance").tolist()
    order = [number for number, _ in Counter(numbers).most_common()]
    return [ascii_uppercase[order.index(number)] for number in numbers]


def grade_power(results: Sequence[Any]) -> dict[str, str]:
    """Return the word for every measure's power that the interval of its net over topics carries, else "cannot tell"."""

    def count_clearly_fewer(shares: np.ndarray) -> np.ndarray:
        mine, others = shares[..., :, np.newaxis], shares[..., np.newaxis, :]
        fewer = (others <= (1 - MARGIN) * mine) & (mine > others)
        return np.asarray((fewer.sum(axis=-1) - fewer.sum(axis=-2)) / max(1, shares.shape[-1] - 1))

    variations = [result.over_topics for result in results]
    # Collections that share their topics had the same ones drawn, so the trials can be put side by side.
    trials = min(len(each.shares) for each in variations)
    net = np.mean([count_clearly_fewer(result.significant.sum(axis=1).astype(float)) for result in results], axis=0)
    resampled = np.mean([count_clearly_fewer(each.shares[:trials]) for each in variations], axis=0)
    step = 2 / (len(results) * max(1, len(net) - 1))
    low, high = centre_interval(net, resampled, min(each.n for each in variations), step=step, student=False)
    words = [
        grade(low) if low <= high and grade(low) == grade(high) else "cannot tell"
        for low, high in zip(low.tolist(), high.tolist(), strict=True)
    ]
    return dict(zip(map(str, results[0].measures), words, strict=True))


def compare_all(sources: Sequence[sakai.Source], studies: Mapping[str, Study]) -> Iterator[dict[str, Any]]:
    """Yield every printed number, with ours where the paper's own collection, or a part of it, was computed."""
    own = {one.label: one for one in sources if one.relation != "other"}
    reasons = sakai.say_reason(STUDY, sources)

    def compare(
        item: str, name: str, row: str, column: str, text: str, ours: float | None, error: float | None = None
    ) -> dict[str, Any]:
        data = own[name].data if name in own else reasons[name]
        part = name in own and own[name].relation == "part"
        return cell(item, row, column, text, ours, data=data, monte_carlo=error, part=part)

    for one in sakai.compare_sizes("Table 1", PRINTED["table1"], sources):
        yield compare(one["item"], one["name"], one["row"], one["column"], one["printed"], one["ours"])
    for table, names in SIMILARITY.items():
        for name in names:
            square = studies[name].similarity.to_frame() if name in own else None
            for pair, text in sakai.pair_up(PRINTED[table][name], ORDERS[COLLECTIONS[name]["kind"]]).items():
                ours = None if square is None else float(square.loc[pair])
                yield compare(f"Table {table[-1]}", name, name, " and ".join(pair), text, ours)
    for table, names in CONSISTENCY.items():
        for name, (split, question) in itertools.product(
            names, (("full", "consistency"), ("ten", "small_consistency"))
        ):
            yield from compare_consistency(
                table,
                name,
                split,
                getattr(studies[name], question) if name in own else None,
                partial(compare, f"Table {table[-1]}", name),
            )
    for name, texts in PRINTED["figure2"].items():
        power = studies[name].power if name in own else None
        for measure, text in texts.items():
            ours = error = None
            if power is not None:
                row = [str(one) for one in power.measures].index(measure)
                ours, error = int(power.significant[row].sum()), sakai.ALLOWED * float(power.rows["mc_se"].iloc[row])
            yield compare("Figure 2", name, name, measure, text, ours, error)


def compare_consistency(
    table: str, name: str, split: str, result: Any, compare: Callable[..., dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield mean τ's, marks, V_E2 and the effect sizes of captions of one collection and kind of splits."""
    printed, row = PRINTED[table][name][split], f"{name}, {split}"
    mean, marks, error, variance, relative, names = {}, {}, 0.0, None, 0.0, []
    if result is not None:
        names = [str(measure) for measure in result.measures]
        # Two means of as many splits each, theirs and ours: four standard errors of their difference.
        error = 4 * float(np.sqrt(2 * result.tau.var(axis=0).max() / len(result.tau)))
        mean, marks = (dict(zip(names, values.tolist(), strict=True)) for values in (result.means, result.outperforms))
        variance = float(result.residual_variance)
        # Relative standard error of a variance: √(2 / degrees of freedom); four of the difference of two, theirs and ours.
        relative = float(8 / np.sqrt((len(result.tau) - 1) * (len(names) - 1)))
    for measure in (label for label in printed if label != "V_E2"):
        yield compare(row, measure, printed[measure][0], mean.get(measure), error)
        yield compare(row, f"{measure} outperforms the worst", printed[measure][1], marks.get(measure), 0.0)
    yield compare(row, "V_E2", printed["V_E2"], variance, relative * (variance or 0.0))
    for where, collection, part, better, worse, text in PRINTED["effect_sizes"]["examples"]:
        if (where, collection, part) == (table, name, split):
            effect, wide = None, 0.0
            if result is not None:
                effect = float(result.effect_sizes[names.index(better), names.index(worse)])
                wide = float(8 / np.sqrt(len(result.tau)) + relative / 2 * abs(effect))
            yield compare(row, f"effect size of {better} over {worse}", text, effect, wide)


DIALOGUES = ("DQ-A", "DQ-E", "DQ-S", "stc3-dq-a", "stc3-dq-e", "stc3-dq-s")
PICTURES = {
    name: partial(sakai.draw_curves, collections=shown, alpha=STUDY["alpha"])
    for name, shown in (("figure1", SIMILARITY["table2"]), ("figure2", DIALOGUES))
}


def describe(tables: Folder) -> dict[str, Any]:
    """Return what the page names: how near the numbers of Table 2 come to print, and the data sets."""
    cells = tables.comparison
    near = cells[(cells["item"] == "Table 2") & cells["ours"].notna()] if len(cells) else cells
    pairs = near[["printed", "ours"]].astype(float) if len(near) else pd.DataFrame({"printed": [], "ours": []})
    return {
        **sakai.describe_given(tables), "names": list(STUDY["public"]), "pearson": pairs["printed"].corr(pairs["ours"]),
        "difference": (pairs["printed"] - pairs["ours"]).abs().mean(),
    }  # fmt: skip
