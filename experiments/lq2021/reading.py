"""Where the figures that rules look at are read from: a study of a collection, or the printed tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

import metaeval
from experiments.acl2021 import audit as acl2021
from experiments.lq2021 import audit
from experiments.lq2021.chance import bound_errors
from experiments.lq2021.findings import MEASURES, Findings, Gap, Pair
from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.analyses.study import Study


def read_study(study: Study, gold: np.ndarray | None = None) -> Findings:
    """Return the figures of a study.

    Parameters
    ----------
    study : Study
    gold : ndarray, shape (topic, class), optional

    Returns
    -------
    Findings
    """
    found = Findings() if study.power is None else _read_power(study.power)
    if study.power is not None:
        found = replace(found, twins=find_twins(study.scores))
    if study.similarity is not None:
        found = replace(found, taus=_read_similarity(study.similarity))
    if study.consistency is not None:
        means, apart = _read_consistency(study.consistency)
        found = replace(found, consistencies=means, more_consistent=apart)
    if study.preference is not None:
        wins, quadrants = _read_preference(study.preference)
        golds = () if gold is None else (gold,)
        found = replace(
            found, wins=wins, quadrants=quadrants, preferences=(study.preference,), golds=golds,
            n_topics=len(study.preference.topics),
        )  # fmt: skip
    return found


# Every rule reads the same results again, also those of a study that shares some with another: each is read once.


@lru_cache(maxsize=128)
def _read_power(power: DiscriminativePower) -> Findings:
    summary, ends = power.summary().set_index("measure"), power.intervals().set_index("measure")
    widths = ends["high"] - ends["low"]
    return Findings(
        n_pairs=power.p_values.shape[1],
        found={name: int(summary["significant"][name]) for name in MEASURES},
        overlaps={
            (r.measure_1, r.measure_2): (r.a, r.b, r.c)
            for r in metaeval.significance_overlap(power).to_frame().itertuples()
        },
        gaps={
            (r.measure_1, r.measure_2): Gap(r.difference, None if np.isnan(r.low) else (r.low, r.high))
            for r in power.compare_power().itertuples()
        },
        contradictions=tuple(
            metaeval.significance_contradictions(power).run_pairs().itertuples(index=False, name=None)
        ),
        widths={} if widths.isna().any() else {name: float(widths[name]) for name in MEASURES},
        uncertain=sum(one.contradictions for one in bound_errors(power).values()),
    )


@lru_cache(maxsize=128)
def _read_similarity(similarity: RankingSimilarity) -> dict[Pair, float]:
    frame = similarity.to_frame()
    return {(one, two): float(frame.loc[one, two]) for one, two in itertools.combinations(MEASURES, 2)}  # type: ignore[arg-type]


@lru_cache(maxsize=128)
def _read_consistency(consistency: SplitHalfConsistency) -> tuple[dict[str, float], dict[Pair, bool]]:
    places = {str(one): m for m, one in enumerate(consistency.measures)}
    apart = {
        (one, two): bool(consistency.significant[places[one], places[two]])
        for one, two in itertools.permutations(MEASURES, 2)
    }
    return {name: float(consistency.means[places[name]]) for name in MEASURES}, apart


@lru_cache(maxsize=128)
def _read_preference(
    preference: BaselinePreference,
) -> tuple[dict[str, tuple[int, int]], dict[Pair, tuple[int, int]]]:
    wins = preference.to_frame().loc[list(MEASURES), [preference.second, preference.first]]
    rows = preference.quadrants().itertuples()
    return (
        {name: (int(row.iloc[0]), int(row.iloc[1])) for name, row in wins.iterrows()},  # type: ignore[misc]
        {(r.measure_1, r.measure_2): (r.second, r.fourth) for r in rows},
    )


def read_print() -> dict[str, Findings]:
    """Return the printed figures of every collection: Tables 3 to 7, and what ACL 2021 prints of the same collection.

    Returns
    -------
    dict of str to Findings
    """
    tables, pairs = audit.PRINTED, list(itertools.combinations(MEASURES, 2))
    found = {}
    for name in audit.STUDY["collections"]:
        row, wins = tables["table3"][name], tables["table7"].get(name, [])
        numbers = dict(zip(MEASURES, row["S_D"], strict=True))
        found[name] = Findings(
            n_pairs=row["T_D"],
            n_topics=tables["table2"][name][1],
            found=numbers,
            overlaps={pair: cell[1:] for pair, cell in audit.read_overlaps(name).items()},
            gaps={(one, two): Gap((numbers[one] - numbers[two]) / row["T_D"]) for one, two in pairs},
            contradictions=audit.list_contradictions(name),
            printed=True,
            twins=audit.list_twins(name),
            taus=_read_taus(name),
            wins={m: (uni, pop) for m, (uni, pop) in zip(audit.STUDY["measures"], wins, strict=False)},
            consistencies=_read_consistencies(name),
            quadrants=_read_quadrants(name),
        )
    return found


def _read_taus(name: str) -> dict[Pair, float]:
    """Return τ by pair of measures as ACL 2021, Tables 5 and 8, print it; nothing for STC-3, which is not there."""
    rows = next((acl2021.PRINTED[t][short] for t, short in _find_in_acl(name, "table5", "table8")), None)
    return {} if rows is None else acl2021.read_triangle(rows, acl2021.STUDY["quantification_order"])


def _read_consistencies(name: str) -> dict[str, float]:
    """Return the mean τ over halves as ACL 2021, Tables 6 and 9, print it."""
    rows = next((acl2021.PRINTED[t][short] for t, short in _find_in_acl(name, "table6", "table9")), None)
    return {} if rows is None else {measure: rows["full"][measure][0] for measure in MEASURES}


def _read_quadrants(name: str) -> dict[Pair, tuple[int, int]]:
    """Return what §5.3 says of Figure 1 (d); the other panels' numbers are in the picture only."""
    figures = audit.PRINTED["figures"]
    if name != figures["collection"]:
        return {}
    return {("NMD", "RNOD"): (figures["second_NMD_RNOD"], figures["fourth_NMD_RNOD"])}


def _find_in_acl(name: str, *tables: str) -> Sequence[tuple[str, str]]:
    short = name.removeprefix("DialEval-1 ")
    return [(table, short) for table in tables if short in acl2021.PRINTED[table]]


@lru_cache(maxsize=128)
def find_twins(scores: metaeval.Scores) -> dict[str, str]:
    """Return, by run, the first run in the order of labels that has the same scores on every topic and measure.

    Parameters
    ----------
    scores : Scores

    Returns
    -------
    dict of str to str
    """
    firsts: dict[bytes, str] = {}
    values = dict(zip(scores.runs, scores.values, strict=True))
    return {run: firsts.setdefault(values[run].tobytes(), run) for run in sorted(values)}
