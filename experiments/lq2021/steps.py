"""The steps of the study: what each computes, in the order of the paper, once for every source of data."""

from __future__ import annotations

import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.lq2021 import audit, figure3
from experiments.rules import handles_order
from experiments.sakai import collections_cells, collections_table, gathered, run_called, runs_or_scores
from experiments.study import Outcome, Settings

STUDY, PRINTED, MEASURES = audit.STUDY, audit.PRINTED, audit.MEASURES


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 2 to 7 and Figures 1 to 3 from every source that can be had, and audit the printed numbers.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    outcomes = [audit.outcome()]
    for source in ("original", "stc3") if settings.quick else STUDY["sources"]:
        settings.say(f"LQ 2021: {source}")
        found = of_source(source, settings)
        if found is None:
            outcomes[0].notes.append(f"{source}: none of its collections could be had")
        else:
            outcomes.append(found)
    return outcomes


def of_source(source: str, settings: Settings) -> Outcome | None:
    """Reproduce what one source has the data for.

    Parameters
    ----------
    source : str
        One of study.toml's.
    settings : Settings

    Returns
    -------
    Outcome or None
        None when none of its collections can be had.
    """
    collections = STUDY["sources"][source]
    scores, missing = gathered(collections, dict.fromkeys(collections, MEASURES), settings)
    if not scores:
        return None
    outcome = study(source, scores, settings)
    for name in (one for one in scores if one.endswith("DQ-A")):
        runs = runs_or_scores(collections[name], settings)
        if isinstance(runs, metaeval.QuantificationRuns):  # distributions cannot be drawn from score matrices
            drawn = figure3.figure(runs, STUDY["popularity"], STUDY["uniform"], n_topics=2)
            if drawn is not None:
                outcome.figures[f"figure3_{name.lower().replace(' ', '-')}"] = drawn
    if missing:
        outcome.notes.append(f"{', '.join(missing)} could not be had ({next(iter(missing.values()))})")
    return outcome


def study(source: str, scores: dict[str, metaeval.Scores], settings: Settings) -> Outcome:
    """Return the tables, figures and comparison of one source.

    Parameters
    ----------
    source : str
    scores : dict of str to Scores
        By the paper's name of the collection in whose place they stand.
    settings : Settings

    Returns
    -------
    Outcome
    """
    powers = {
        name: metaeval.discriminative_power(
            one,
            n_permutations=STUDY["n_permutations"],
            alpha=STUDY["alpha"],
            seed=settings.seed,
            n_jobs=settings.n_jobs,
        )
        for name, one in scores.items()
    }
    outcome = Outcome("lq2021", source)
    if source != "original":
        outcome.notes.append(
            "in place of the paper's: " + ", ".join(f"{n} = {s.collection}" for n, s in scores.items())
        )
    same = source == "original"
    outcome.tables["table1"] = measures_table()
    outcome.tables["table2"] = collections_table(2, scores, PRINTED["table2"])
    outcome.cells += collections_cells(2, scores, PRINTED["table2"], same_data=same)
    _power(outcome, powers)
    _agreement(outcome, powers)
    _baselines(outcome, scores)
    return outcome


def measures_table() -> metaeval.Table:
    """Return Table 1: which measures know the order of classes, seen by trying rather than typed in.

    Returns
    -------
    Table
    """
    found = [metaeval.measure(name) for name in MEASURES]
    rows = [
        ("ordinal" if handles_order(one) else "nominal", one.description.partition(":")[0], one.source) for one in found
    ]
    index = pd.Index([str(one) for one in found], name="measure")
    frame = pd.DataFrame(rows, index=index, columns=["classes", "name", "defined in"])
    caption = "Table 1. The measures; ordinal: with all gold in the first class, an estimate further away is worse."
    return metaeval.Table(frame, caption, f"measures | tried on five classes | metaeval {metaeval.__version__}")


def _power(outcome: Outcome, powers: dict[str, metaeval.DiscriminativePower]) -> None:
    pooled = metaeval.pooled_discriminative_power(list(powers.values()), n_bootstrap=0)
    outcome.tables["table3"] = pooled.to_table()
    rows = {name: (one.significant.sum(axis=1).tolist(), one.signature.data[0]) for name, one in powers.items()}
    of = {name: one.significant.shape[1] for name, one in powers.items()}
    of["POOLED"] = sum(of.values())
    if set(rows) == set(STUDY["collections"]):
        rows["POOLED"] = (pooled.significant.sum(axis=0).tolist(), "all eight collections")
    by_collection = pooled.by_collection().pivot(index="collection", columns="measure", values="significant")
    frame = by_collection.loc[[*pooled.collections, "POOLED"], MEASURES]
    caption = "Table 3 by collection: significant run pairs (S_D) of each measure."
    outcome.tables["table3_collections"] = metaeval.Table(frame, caption, pooled.signature)
    for name, printed in PRINTED["table3"].items():
        got, data = rows.get(name, (None, ""))
        for m, measure in enumerate(MEASURES):
            value = None if got is None else got[m]
            outcome.cells.append(_cell(outcome, "Table 3", name, f"{measure} S_D", printed["S_D"][m], value, data))
            share, column = None if value is None else 100 * value / of[name], f"{measure} percent"
            outcome.cells.append(_cell(outcome, "Table 3", name, column, printed["percent"][m], share, data, digits=1))


def _agreement(outcome: Outcome, powers: dict[str, metaeval.DiscriminativePower]) -> None:
    for name in STUDY["collections"]:
        power = powers.get(name)
        sso: dict[tuple[str, str], float] = {}
        parts: dict[tuple[str, str], tuple[int, int, int]] = {}
        counts: dict[tuple[str, str], int] = {}
        data = "" if power is None else power.signature.data[0]
        if power is not None:
            overlap, against = metaeval.significance_overlap(power), metaeval.significance_contradictions(power)
            slug = name.lower().replace(" ", "-")
            outcome.tables[f"table4_{slug}"] = overlap.to_table()
            outcome.tables[f"table5_{slug}"] = against.to_table()
            pairs = against.run_pairs()
            if len(pairs):
                caption = (
                    f"Table 6, in place of {name}: measure 1 says run 1 is significantly better, measure 2 the reverse."
                )
                outcome.tables[f"table6_{slug}"] = metaeval.Table(
                    pairs.set_index("measure_1"), caption, against.signature
                )
            frame = overlap.to_frame()
            sso = {(r.measure_1, r.measure_2): 100 * r.sso for r in frame.itertuples() if pd.notna(r.sso)}
            parts = {(r.measure_1, r.measure_2): (int(r.a), int(r.b), int(r.c)) for r in frame.itertuples()}
            counts = {(r.measure_1, r.measure_2): int(r.contradictions) for r in against.to_frame().itertuples()}
        for pair, printed in audit.overlaps(name).items():
            column = f"{pair[0]} and {pair[1]}"
            outcome.cells.append(_cell(outcome, "Table 4", name, column, printed[0], sso.get(pair), data, digits=1))
            for position, letter in enumerate("abc"):
                part = parts[pair][position] if pair in parts else None
                where = f"{column}, {letter}"
                outcome.cells.append(_cell(outcome, "Table 4", name, where, printed[1 + position], part, data))
        for pair, number in audit.contradictions(name).items():
            column = f"{pair[0]} and {pair[1]}"
            outcome.cells.append(_cell(outcome, "Table 5", name, column, number, counts.get(pair), data))


def _baselines(outcome: Outcome, scores: dict[str, metaeval.Scores]) -> None:
    wins: dict[str, list[tuple[int, int]]] = {}
    signatures = []
    for name, one in scores.items():
        popularity, uniform = (run_called(one.runs, STUDY[which]) for which in ("popularity", "uniform"))
        if popularity is None or uniform is None:
            continue
        preference = metaeval.baseline_preference(one, popularity, uniform)
        frame = preference.to_frame().loc[STUDY["measures"]]
        wins[name] = [(int(u), int(p)) for u, p in zip(frame[uniform], frame[popularity], strict=True)]
        signatures.append(preference.signature)
        if name.endswith("DQ-A"):
            slug = name.lower().replace(" ", "-")
            for number in (1, 2):
                pairs = [(x, y) for x, y in STUDY[f"figure{number}"]]
                outcome.figures[f"figure{number}_{slug}"] = preference.plot(pairs)
    complete = set(wins) == set(STUDY["baseline_collections"])
    total = [tuple(map(sum, zip(*column, strict=True))) for column in zip(*wins.values(), strict=True)]
    for name in PRINTED["table7"]:
        got = total if name == "TOTAL" and complete else wins.get(name)
        data = "" if got is None else "all six collections" if name == "TOTAL" else scores[name].collection
        # The gold and both baselines of STC-3 are the paper's own, whatever the other runs.
        same = outcome.source in ("original", "stc3")
        for m, measure in enumerate(STUDY["measures"]):
            for side, baseline in enumerate(("uni", "pop")):
                printed, value = PRINTED["table7"][name][m][side], None if got is None else got[m][side]
                column = f"{measure} {baseline}"
                outcome.cells.append(cell("Table 7", name, column, printed, value, data=data, same_data=same))
    if wins:
        columns = pd.MultiIndex.from_product([STUDY["measures"], ["uni", "pop"]])
        rows = {name: [number for pair in got for number in pair] for name, got in wins.items()}
        rows["TOTAL" if complete else f"TOTAL of {len(wins)}"] = [number for pair in total for number in pair]
        frame = pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="collection"), columns=columns)
        caption = (
            "Table 7. Topics on which each measure prefers the Uniform baseline (uni) and the Popularity baseline "
            "(pop); the larger number of the two in bold, ties counted for neither."
        )
        others = ", ".join(one.data[0] for one in signatures[1:])
        signature = f"{signatures[0]}; the same for {others}" if others else str(signatures[0])
        outcome.tables["table7"] = metaeval.Table(frame, caption, signature, marks=_larger)


def _cell(
    outcome: Outcome, item: str, row: str, column: str, printed: float, value: float | None, data: str, digits: int = 0
) -> Cell:
    same = outcome.source == "original"
    return cell(item, row, column, printed, value, data=data, digits=digits, same_data=same)


def _larger(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark the larger number of each pair in bold, as the paper does."""
    words = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for measure in dict.fromkeys(frame.columns.get_level_values(0)):
        uni, pop = frame[(measure, "uni")], frame[(measure, "pop")]
        for row in frame.index:
            if uni[row] != pop[row]:
                words.loc[row, (measure, "uni" if uni[row] > pop[row] else "pop")] = "bold"
    return words
