"""LQ 2021: discriminative power, overlaps, contradictions and baseline preference of every collection that there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments import sakai
from experiments.claims import NotComputed
from experiments.page import Folder
from experiments.paper import Results, Settings, cell, read_study
from metaeval.analyses.study import Study, study_collection
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style
from metaeval.stats.significant_counts import significance_chances

STUDY = read_study("lq2021")
PRINTED, MEASURES, FIGURES = STUDY["printed"], STUDY["measures"], STUDY["printed"]["figures"]
QUESTIONS = ("consistency", "power", "overlap", "contradictions", "preference")
POPULARITY, UNIFORM = STUDY["baselines"]
BASELINES = ("STC-3 DQ-A", "STC-3 DQ-E", "STC-3 DQ-S", "DialEval-1 DQ-A", "DialEval-1 DQ-E", "DialEval-1 DQ-S")
"""The collections that have both baselines: Table 7."""

SHOWN = 2
"""Topics in Figure 3."""


def run(settings: Settings) -> Results:
    """Compute Tables 2 to 7 and what Figures 1 and 3 show."""
    results, left = Results("lq2021"), dict[str, str]()
    sources: list[sakai.Source] = []
    studies: dict[str, Study] = {}
    for source in sakai.find_sources(STUDY, {"": MEASURES}, settings, left):
        settings.say(f"lq2021: {source.label}")
        sources.append(source)
        found = [next((run for run in source.scores.runs if part in run), "") for part in STUDY["baselines"]]
        studies[source.label] = study_collection(
            source.scores, questions=QUESTIONS, n_permutations=STUDY["n_permutations"], alpha=STUDY["alpha"],
            n_trials=STUDY["n_trials"], n_bootstrap=STUDY["n_bootstrap"], baselines=(found[0], found[1]),
            seed=settings.seed, n_jobs=settings.n_jobs,
        )  # fmt: skip
    results.add("table1", tabulate_measures(), "Table 1: in how many cases a measure ignores the order.")
    if left:  # tables have rows of every collection
        tables = (
            "collections",
            "consistency",
            "power",
            "differences",
            "overlap",
            "run_pairs",
            "preference",
            "quadrants",
        )
        results.left_out = dict.fromkeys((*tables, "deltas", "topics", "comparison"), f"needs {', '.join(left)}")
        return results
    how = f"B {STUDY['n_permutations']:,} | alpha {STUDY['alpha']:g} | seed {settings.seed}"
    add = partial(results.add, how=how)
    add("collections", sakai.tabulate_collections(sources), "The collections that were computed.")
    add("consistency", sakai.tabulate_consistency(studies), "Mean τ over halves of the topics.")
    add("power", sakai.tabulate_power(studies), "Significant pairs of runs by randomised Tukey HSD, as in Table 3.")
    differences = {name: study.power.differences.iloc[:, :5] for name, study in studies.items()}
    add(
        "differences",
        pd.concat(differences, names=["collection"]).droplevel(1),
        "Differences of power, with 95 % intervals over topics.",
    )
    add(
        "overlap",
        tabulate_overlap(studies),
        "Overlap of significant pairs (a, b, c and SSO), and contradictions: as Tables 4 and 5.",
    )
    pairs = pd.concat({name: study.contradictions.run_pairs() for name, study in studies.items()}, names=["collection"])
    add(
        "run_pairs",
        pairs.droplevel(1),
        "Contradictions, as Table 6: measure 1 says that run 1 is significantly better, measure 2 the reverse.",
    )
    preferences = {name: study.preference for name, study in studies.items() if study.preference is not None}
    if preferences:
        add(
            "preference",
            tabulate_preference(preferences),
            "Topics on which a measure prefers Uniform, or Popularity, as in Table 7.",
        )
        quadrants = pd.concat({name: one.quadrants() for name, one in preferences.items()}, names=["collection"])
        add(
            "quadrants",
            quadrants.droplevel(1),
            "Topics by quadrant of Δ, Popularity's score less Uniform's, by two measures.",
        )
        deltas = {name: list_deltas(one) for name, one in preferences.items()}
        add(
            "deltas",
            pd.concat(deltas, names=["collection"]).droplevel(1),
            "Δ of every topic, by every measure: Figure 1.",
        )
        add(
            "topics",
            list_topics(sources, preferences),
            "Figure 3: the topics with the smallest d = ΔNMD − ΔRNOD, their shares and Δ.",
        )
    results.compare("comparison", list(compare_all(sources, studies)))
    return results


def tabulate_measures() -> pd.DataFrame:
    """Return in how many cases a farther class does not score worse, gold in one class and gold in every class."""
    found = metaeval.properties(MEASURES, only=["ordinal", "ordinal with mixed gold"])
    rows = {
        str(measure): {
            f"{name}: {what}": getattr(found.get_check(measure, name), what)
            for name in found.names
            for what in ("failed", "cases")
        }
        for measure in found.measures
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")


def tabulate_overlap(studies: Mapping[str, Study]) -> pd.DataFrame:
    """Return a, b, c, SSO and the contradictions of every two measures, with errors of other trials."""
    rows = []
    for name, study in studies.items():
        errors = bound_errors(study.power)
        opposed = study.contradictions.to_frame().set_index(["measure_1", "measure_2"])["contradictions"]
        for row in study.overlap.to_frame().itertuples():
            pair = (row.measure_1, row.measure_2)
            rows.append((name, *pair, row.a, row.b, row.c, row.sso, int(opposed[pair]), *errors[pair]))
    errors_of = [f"error of {what}" for what in ("SSO", "a", "b", "c", "contradictions")]
    columns = ["collection", "measure_1", "measure_2", "a", "b", "c", "SSO", "contradictions", *errors_of]
    return pd.DataFrame(rows, columns=columns).set_index("collection")


def bound_errors(power: metaeval.DiscriminativePower) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return how far SSO, a, b, c and contradictions may move with other trials: standard errors, at most.

    A pair of runs is significant with both measures with the smaller of both chances at most. Standard deviations of the
    pairs are added up, as if all moved together.
    """
    chances = power.significant.astype(float)
    if power.counts is not None:
        order = np.argsort(power.counts, axis=1, kind="stable")
        chances = np.empty(power.counts.shape)
        np.put_along_axis(chances, order, significance_chances(power.counts, power.n_permutations, power.alpha), axis=1)
    names, significant, mc_se = [str(one) for one in power.measures], power.significant, power.rows["mc_se"].to_numpy()
    errors = {}
    for first, second in sakai.list_pairs(names):
        i, j = names.index(first), names.index(second)
        chance = np.minimum(chances[i], chances[j])
        deviation = np.sqrt(chance * (1 - chance))
        b = float(deviation.sum())
        a, c = float(mc_se[i]) + b, float(mc_se[j]) + b
        # SSO moves by 1 / (a + b + c) at most when one of the three moves by 1.
        union = max(1, int((significant[i] | significant[j]).sum()))
        opposed = float(deviation[power.winners[i] * power.winners[j] == -1].sum())
        errors[first, second] = ((a + b + c) / union, a, b, c, opposed)
    return errors


def tabulate_preference(preferences: Mapping[str, metaeval.BaselinePreference]) -> pd.DataFrame:
    """Return on how many topics each measure prefers either baseline, with the totals."""
    rows = [
        (name, measure, int(row[one.second]), int(row[one.first]))
        for name, one in preferences.items()
        for measure, row in one.to_frame().loc[MEASURES].iterrows()
    ]
    return pd.DataFrame(rows, columns=["collection", "measure", "uni", "pop"]).set_index("collection")


def list_deltas(preference: metaeval.BaselinePreference) -> pd.DataFrame:
    """Return Δ, Popularity's score less Uniform's, by every measure, topics numbered in the collection's order."""
    deltas = pd.DataFrame(preference.deltas, columns=[str(measure) for measure in preference.measures])
    deltas.insert(0, "number", np.arange(1, len(deltas) + 1))
    deltas.insert(1, "d", deltas["NMD"] - deltas["RNOD"])
    return deltas


def find_divergent(preference: metaeval.BaselinePreference) -> pd.DataFrame:
    """Return the topics with the smallest d = ΔNMD − ΔRNOD."""
    return list_deltas(preference).sort_values("d", kind="stable")[:SHOWN]


def list_topics(
    sources: Sequence[sakai.Source], preferences: Mapping[str, metaeval.BaselinePreference]
) -> pd.DataFrame:
    """Return the divergent topics with the shares of classes of gold and of both baselines, where these are at hand."""
    rows = []
    for source in sources:
        if source.label not in preferences:
            continue
        for row in find_divergent(preferences[source.label]).to_dict("records"):
            about = (source.label, row["number"], row["d"], row["NMD"], row["RNOD"])
            if not isinstance(source.runs, metaeval.QuantificationRuns):
                rows.append((*about, "", "", np.nan))
                continue
            at, runs = int(row["number"]) - 1, source.runs
            shares = {"gold": runs.gold[at]} | {
                part: runs.estimated[next(r for r, run in enumerate(runs.runs) if part in run), at]
                for part in STUDY["baselines"]
            }
            rows += [
                (*about, what, label, share)
                for what, values in shares.items()
                for label, share in zip(runs.classes, values, strict=True)
            ]
    columns = ["collection", "number", "d", "ΔNMD", "ΔRNOD", "of", "class", "share"]
    return pd.DataFrame(rows, columns=columns).set_index("collection")


def compare_all(sources: Sequence[sakai.Source], studies: Mapping[str, Study]) -> Iterator[dict[str, Any]]:
    """Yield every printed number, with ours where the paper's own collection was computed, or its gold decides it."""
    own = {one.label: one for one in sources if one.relation != "other"}
    reasons = sakai.say_reason(STUDY, sources) | dict.fromkeys(("POOLED", "TOTAL"), "needs all collections")

    def compare(
        item: str, name: str, column: str, text: str, ours: float | None, error: float | None = None, row: str = ""
    ) -> dict[str, Any]:
        data = own[name].data if name in own else reasons.get(name, "")
        return cell(item, row or name, column, text, ours, data=data, monte_carlo=error)

    for one in sakai.compare_sizes("Table 2", PRINTED["table2"], sources):
        yield compare(one["item"], one["name"], one["column"], one["printed"], one["ours"])
    powers = {name: studies[name].power for name in own}
    for name, printed in PRINTED["table3"].items():
        rows = powers[name].rows.set_index("measure") if name in powers else None
        if name == "POOLED" and set(powers) == set(STUDY["collections"]):
            rows = metaeval.pooled_discriminative_power(list(powers.values())).to_frame()
            rows = rows.set_index("measure") if "measure" in rows else rows
        for measure, number, share in zip(MEASURES, printed["S_D"], printed["percent"], strict=True):
            ours = error = percent = wide = None
            if rows is not None:
                ours, error = int(rows.loc[measure, "significant"]), sakai.ALLOWED * float(rows.loc[measure, "mc_se"])
                percent, wide = (100 * value / int(rows.loc[measure, "pairs"]) for value in (ours, error))
            yield compare("Table 3", name, f"{measure} S_D", number, ours, error)
            yield compare("Table 3", name, f"{measure} percent", share, percent, wide)
    for name in STUDY["collections"]:
        yield from compare_overlap(name, studies[name] if name in own else None, partial(compare, name=name))
    yield from compare_preference(sources, studies, compare)


def compare_overlap(name: str, study: Study | None, compare: Any) -> Iterator[dict[str, Any]]:
    """Yield Tables 4 and 5 of one collection; one that Table 5 lacks has no contradictions."""
    ours = None if study is None else tabulate_overlap({name: study}).set_index(["measure_1", "measure_2"])
    opposed = PRINTED["table5"].get(name, {first: ["0"] * (len(MEASURES) - 1 - i) for i, first in enumerate(MEASURES)})
    contradictions = sakai.pair_up(opposed, MEASURES)
    for pair, printed in sakai.pair_up(PRINTED["table4"][name], MEASURES).items():
        row = None if ours is None else ours.loc[pair if pair in ours.index else pair[::-1]]
        swapped = ours is not None and pair not in ours.index
        column, columns = " and ".join(pair), ("SSO", *("cba" if swapped else "abc"))
        for title, what, text in zip(("", ", a", ", b", ", c"), columns, printed, strict=True):
            value = error = None
            if row is not None:
                times = 100 if what == "SSO" else 1
                value, error = times * float(row[what]), times * sakai.ALLOWED * float(row[f"error of {what}"])
            yield compare("Table 4", column=f"{column}{title}", text=text, ours=value, error=error)
        value = None if row is None else int(row["contradictions"])
        error = None if row is None else sakai.ALLOWED * float(row["error of contradictions"])
        yield compare("Table 5", column=column, text=contradictions[pair], ours=value, error=error)


def compare_preference(
    sources: Sequence[sakai.Source], studies: Mapping[str, Study], compare: Any
) -> Iterator[dict[str, Any]]:
    """Yield Table 7, which gold decides, and what §5.3 says of Figures 1 and 3."""
    of = {one.about.get("gold", one.label): one for one in sources}
    preferences = {name: studies[of[name].label].preference for name in BASELINES if name in of}
    wins = {name: one.to_frame().loc[MEASURES] for name, one in preferences.items() if one is not None}
    counted = {name: [(int(row[preferences[name].second]), int(row[preferences[name].first])) for _, row in frame.iterrows()]
               for name, frame in wins.items()}  # fmt: skip
    if set(counted) == set(BASELINES):
        counted["TOTAL"] = [tuple(map(sum, zip(*each, strict=True))) for each in zip(*counted.values(), strict=True)]  # type: ignore[misc]
    for name, printed in PRINTED["table7"].items():
        data = of[name].data if name in counted and name in of else "its gold or its runs are not at hand"
        for m, measure in enumerate(MEASURES):
            for side, title in enumerate(("uni", "pop")):
                ours = counted[name][m][side] if name in counted else None
                yield cell("Table 7", name, f"{measure} {title}", printed[m][side], ours, data=data)
    name = FIGURES["collection"]
    preference = preferences.get(name) if name in of and of[name].label == name else None
    texts = {
        "NMD and RNOD, 2nd quadrant": FIGURES["second_NMD_RNOD"],
        "NMD and RNOD, 4th quadrant": FIGURES["fourth_NMD_RNOD"],
        "NMD and RNOD, disagreements": FIGURES["disagree_NMD_RNOD"],
        "2nd quadrant of NMD, fewest": FIGURES["disagree_range"][0],
        "2nd quadrant of NMD, most": FIGURES["disagree_range"][1],
        "fewest, percent": FIGURES["disagree_percent"][0],
        "most, percent": FIGURES["disagree_percent"][1],
    }
    numbers: list[float | None] = [None] * len(texts)
    topics: list[dict[str, float]] = [{}] * len(FIGURES["topics"])
    if preference is not None:
        rows = preference.quadrants()
        rows = rows[rows["measure_1"].eq("NMD") & rows["measure_2"].isin(STUDY["figure1"])].set_index("measure_2")
        second, fourth = int(rows["second"]["RNOD"]), int(rows["fourth"]["RNOD"])
        ends = [int(rows["second"].min()), int(rows["second"].max())]
        shares = [float(round(100 * end / len(preference.topics))) for end in ends]  # printed without digits
        numbers, topics = (
            [second, fourth, second + fourth, *ends, *shares],
            find_divergent(preference).to_dict("records"),
        )
    for (column, text), number in zip(texts.items(), numbers, strict=True):
        yield compare("Figure 1", name, column, text, number)
    for place, (printed, row) in enumerate(zip(FIGURES["topics"], topics, strict=True), start=1):
        for column, key, text in zip(
            ("number", "ΔNMD", "ΔRNOD", "d"), ("number", "NMD", "RNOD", "d"), printed, strict=True
        ):
            digits = text if column == "number" else f"{float(text):.3f}"
            yield compare("Figure 3", name, column, digits, row.get(key), row=f"topic {place}")


def draw_deltas(tables: Folder) -> Figure:
    """Draw Δ of NMD against Δ of other measures, topic by topic: Figure 1, of the first collection that has baselines."""
    frame = tables.read("deltas")
    name = frame["collection"].iloc[0]
    own, others = frame[frame["collection"] == name], STUDY["figure1"]
    with house_style():
        figure = Figure(figsize=(2.6 * len(others), 2.8), layout="constrained")
        for axes, other in zip(figure.subplots(1, len(others), sharey=True), others, strict=True):
            axes.axhline(0, color="grey", linewidth=0.8)
            axes.axvline(0, color="grey", linewidth=0.8)
            axes.scatter(own["NMD"], own[other], s=6, alpha=0.5, color="#0072B2", rasterized=True)
            r = float(np.corrcoef(own["NMD"], own[other])[0, 1])
            axes.set(xlabel="ΔNMD", ylabel=f"Δ{other}", title=f"r = {r:.3f}")
        figure.suptitle(f"{name}: Popularity less Uniform; below 0 Popularity is preferred", fontsize=9)
        return sign_figure(figure, tables.tables["deltas"]["signature"])


def draw_topics(tables: Folder) -> Figure:
    """Draw gold, Popularity and Uniform on the divergent topics of the first collection whose shares are known: Figure 3."""
    frame = tables.read("topics").dropna(subset=["share"])
    if not len(frame):
        raise NotComputed("no shares of classes were given")
    own = frame[frame["collection"] == frame["collection"].iloc[0]]
    looks = {"gold": ("#333333", ""), POPULARITY: ("#D55E00", "/"), UNIFORM: ("#56B4E9", "")}
    with house_style():
        figure = Figure(figsize=(4.6 * SHOWN, 3.4), layout="constrained")
        for axes, (number, rows) in zip(
            figure.subplots(1, SHOWN, squeeze=False)[0], own.groupby("number", sort=False), strict=False
        ):
            for position, (what, (colour, hatch)) in enumerate(looks.items()):
                shares = rows[rows["of"] == what]
                place = np.arange(len(shares)) + (position - 1) * 0.27
                axes.bar(place, shares["share"], 0.27, label=what, color=colour, hatch=hatch, edgecolor="white")
                axes.set_xticks(range(len(shares)), shares["class"].astype(str))
            first = rows.iloc[0]
            axes.set_title(f"{first['collection']}, topic {number:.0f}, d = {first['d']:+.3f}", fontsize=8)
            axes.set(ylim=(0, 1.02), ylabel="probability", xlabel="class")
            axes.legend(fontsize=6)
        return sign_figure(figure, tables.tables["topics"]["signature"])


PICTURES = {"figure1": draw_deltas, "figure3": draw_topics}


def describe(tables: Folder) -> dict[str, Any]:
    """Return what the page names."""
    return {**sakai.describe_given(tables), "names": list(STUDY["public"]), "measures": MEASURES}
