"""The printed numbers of LQ 2021 against the identities that they must satisfy."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from experiments.old.audits import Check, rounds_to, tabulate_audit
from experiments.old.outcome import Outcome, read_toml

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")
MEASURES: list[str] = STUDY["table_order"]


def compute_audit() -> Outcome:
    """Return the audit: one row per item and identity, results/lq2021/audit.csv."""
    table = tabulate_audit("LQ 2021", find_checks(), "audit of lq2021/printed.toml")
    return Outcome("lq2021", "", {"audit": table})


def find_checks() -> Iterator[Check]:
    """Yield every check of the printed numbers."""
    yield from _table3()
    for collection in PRINTED["table4"]:
        yield from _table4(collection)
    yield from _table5()
    yield from _table7()
    yield from _text()


def read_overlaps(collection: str) -> dict[tuple[str, str], tuple[float, int, int, int]]:
    """Return (SSO in percent, a, b, c) of every pair of measures as printed in Table 4."""
    rows = PRINTED["table4"][collection]
    return {
        (first, second): (float(cell[0]), *map(int, cell[1:]))  # type: ignore[misc]
        for i, first in enumerate(MEASURES[:-1])
        for second, cell in zip(MEASURES[i + 1 :], rows[first], strict=True)
    }


def read_contradictions(collection: str) -> dict[tuple[str, str], int]:
    """Return the contradictions of every pair of measures as printed in Table 5, 0 for a collection that is not there."""
    rows = PRINTED["table5"].get(collection)
    return {
        (first, second): 0 if rows is None else int(rows[first][j])
        for i, first in enumerate(MEASURES[:-1])
        for j, second in enumerate(MEASURES[i + 1 :])
    }


def list_contradictions(collection: str) -> tuple[tuple[str, str, str, str], ...]:
    """Return every contradiction that Table 6 lists: measures 1 and 2, runs 1 and 2.

    A name without language stands for two runs, the Chinese and the English one.
    """
    return tuple(
        (measure_1, measure_2, first, second)
        for entry in PRINTED["table6"].get(collection, [])
        for measure_1, measure_2 in itertools.product(entry["first"], entry["second"])
        for pair in entry["pairs"]
        for first, second in itertools.product(*map(_name_languages, pair))
    )


def _name_languages(run: str) -> list[str]:
    return [run] if run.endswith(("-C", "-E")) else [f"{run}-C", f"{run}-E"]


def count_listed_contradictions(collection: str) -> dict[tuple[str, str], int]:
    """Return the contradictions of every pair of measures counted from the list of Table 6."""
    counts = Counter((first, second) for first, second, _, _ in list_contradictions(collection))
    return {pair: counts[pair] for pair in read_contradictions(collection)}


def _table3() -> Iterator[Check]:
    rows = {name: row for name, row in PRINTED["table3"].items() if name != "POOLED"}
    pooled = PRINTED["table3"]["POOLED"]
    for name, row in rows.items():
        runs = PRINTED["table2"][name][2]
        expected = runs * (runs - 1) // 2
        yield Check(
            "Table 3", "T_D = m(m − 1)/2, m from Table 2", row["T_D"] == expected, name, f"{row['T_D']}, not {expected}"
        )
    total = sum(row["T_D"] for row in rows.values())
    yield Check("Table 3", "pooled T_D = ΣT_D", pooled["T_D"] == total, "POOLED", f"{pooled['T_D']}, not {total}")
    for m, measure in enumerate(MEASURES):
        total = sum(row["S_D"][m] for row in rows.values())
        message = f"{pooled['S_D'][m]}, not {total}"
        yield Check("Table 3", "pooled S_D = ΣS_D (Eq. 9)", pooled["S_D"][m] == total, measure, message)
        for name, row in PRINTED["table3"].items():
            share, printed = 100 * row["S_D"][m] / row["T_D"], row["percent"][m]
            where, message = f"{name}, {measure}", f"{row['S_D'][m]} of {row['T_D']} is {share:.2f}, printed {printed}"
            yield Check("Table 3", "percentage = S_D / T_D", rounds_to(share, printed, 1), where, message)


def _table4(collection: str) -> Iterator[Check]:
    cells = read_overlaps(collection)
    significant = dict(zip(MEASURES, PRINTED["table3"][collection]["S_D"], strict=True))
    for (first, second), (sso, a, b, c) in cells.items():
        where = f"{collection}, {first} and {second}"
        share = 100 * b / (a + b + c)
        message = f"({a}/{b}/{c}) gives {share:.2f}, printed {sso}"
        yield Check("Table 4", "SSO = b / (a + b + c)", rounds_to(share, sso, 1), where, message)
        for name, letters, value in ((first, "a + b", a + b), (second, "b + c", b + c)):
            message = f"{letters} = {value}, Table 3 has {significant[name]} for {name}"
            yield Check("Table 4", "a + b and b + c are Table 3's S_D", value == significant[name], where, message)
    apart = {frozenset(pair): a + c for pair, (_, a, _, c) in cells.items()}
    for three in itertools.combinations(MEASURES, 3):
        sides = sorted(apart[frozenset(pair)] for pair in itertools.combinations(three, 2))
        identity = "a + c of three measures satisfies the triangle inequality"
        yield Check(
            "Table 4", identity, sides[2] <= sides[0] + sides[1], f"{collection}, {', '.join(three)}", str(sides)
        )


def _table5() -> Iterator[Check]:
    for collection in PRINTED["table4"]:
        listed, cells = count_listed_contradictions(collection), read_overlaps(collection)
        for pair, number in read_contradictions(collection).items():
            where = f"{collection}, {pair[0]} and {pair[1]}"
            message = f"{number}, Table 6 lists {listed[pair]}"
            yield Check("Table 5", "the count is that of Table 6's list", number == listed[pair], where, message)
            b = cells[pair][2]
            yield Check("Table 5", "contradictions ≤ b of Table 4", number <= b, where, f"{number} > {b}")


def _table7() -> Iterator[Check]:
    rows = {name: row for name, row in PRINTED["table7"].items() if name != "TOTAL"}
    for m, measure in enumerate(STUDY["measures"]):
        for side, baseline in enumerate(("uni", "pop")):
            total, printed = sum(row[m][side] for row in rows.values()), PRINTED["table7"]["TOTAL"][m][side]
            where = f"{measure} {baseline}"
            yield Check("Table 7", "TOTAL is the sum", total == printed, where, f"{printed}, not {total}")
        for name, row in rows.items():
            topics = PRINTED["table2"][name][1]
            message = f"{row[m]} of {topics}"
            yield Check("Table 7", "uni + pop ≤ topics", sum(row[m]) <= topics, f"{name}, {measure}", message)


def _text() -> Iterator[Check]:
    figures = PRINTED["figures"]
    both = figures["second_NMD_RNOD"] + figures["fourth_NMD_RNOD"]
    message = f"{both}, printed {figures['disagree_NMD_RNOD']}"
    yield Check(
        "§5.3",
        "disagreements are those of both quadrants",
        both == figures["disagree_NMD_RNOD"],
        "Figure 1 (d)",
        message,
    )
    for number, percent in zip(figures["disagree_range"], figures["disagree_percent"], strict=True):
        share = 100 * number / PRINTED["table2"]["DialEval-1 DQ-A"][1]
        yield Check(
            "§5.3",
            "percentages of all topics",
            rounds_to(share, percent, 0),
            f"{number}",
            f"{share:.1f}, printed {percent}",
        )
    low, high = _bound_quadrant("RNOD")
    message = f"{figures['second_NMD_RNOD']}, Table 7 allows {low} to {high}"
    so = low <= figures["second_NMD_RNOD"] <= high
    yield Check("§5.3", "what Table 7 allows in the 2nd quadrant", so, "NMD and RNOD", message)
    for measure in ("NVD", "RNSS", "JSD"):
        low, high = _bound_quadrant(measure)
        fewest, most = figures["disagree_range"]
        message = f"{fewest} to {most}, Table 7 allows {low} to {high}"
        so = low <= most and fewest <= high
        yield Check("§5.3", "what Table 7 allows in the 2nd quadrant", so, f"NMD and {measure}", message)
    for collection, numbers in PRINTED["text"]["power"].items():
        so = numbers == PRINTED["table3"][collection]["S_D"]
        yield Check("§5.1", "the text repeats Table 3", so, collection, str(numbers))
    for collection, first, second, sso, a, b in PRINTED["text"]["overlap"]:
        message = f"{sso}, a = {a}, b = {b}"
        so = read_overlaps(collection)[first, second][:3] == (sso, a, b)
        yield Check("§5.2", "the text repeats Table 4", so, f"{collection}, {first} and {second}", message)
    for topic, nmd, rnod, d in figures["topics"]:
        identity = "d = ΔNMD − ΔRNOD"
        yield Check(
            "Figure 3", identity, rounds_to(nmd - rnod, d, 3), f"topic {topic}", f"{nmd - rnod:.3f}, printed {d}"
        )
    for collection, ties in PRINTED["text"]["ties"].items():
        uni, pop = PRINTED["table7"][collection][0]
        left = PRINTED["table2"][collection][1] - uni - pop
        where = f"{collection}, NMD"
        yield Check("§5.3", "ties = topics − uni − pop", left == ties, where, f"{left}, printed {ties}")
    for collection, first, second, sso in PRINTED["text"]["without_contradictions"]:
        a, b, c = read_overlaps(collection)[first, second][1:]
        left = b - read_contradictions(collection)[first, second]
        share = 100 * left / (a + left + c)
        identity = "SSO without contradictions"
        yield Check("§5.2", identity, rounds_to(share, sso, 1), collection, f"{share:.2f}, printed {sso}")


def find_implications() -> Iterator[str]:
    """Yield what the printed numbers imply beyond right or wrong, and slips in words."""
    for collection in PRINTED["table4"]:
        yield from _find_repeated_cells(collection)
    pooled = dict(zip(MEASURES, PRINTED["table3"]["POOLED"]["S_D"], strict=True))
    order = sorted(MEASURES, key=lambda name: -pooled[name])
    yield f"Pooled significant pairs, most first: {', '.join(f'{name} {pooled[name]}' for name in order)}."
    subset = [
        f"{name}: {', '.join(twos)}"
        for name in PRINTED["table4"]
        if (
            twos := [
                second for (first, second), (_, a, _, _) in read_overlaps(name).items() if first == "NMD" and a == 0
            ]
        )
    ]
    yield f"NMD finds a subset (a = 0) in these cells of Table 4: {'; '.join(subset)}."
    every = [row for collection in PRINTED["table6"] for row in list_contradictions(collection)]
    distinct = {frozenset(row[2:]) for row in every}
    involved = sum(any("popularity" in run for run in pair) for pair in distinct)
    yield (
        f"Table 6 lists {len(every)} contradictions of two measures about {len(distinct)} pairs of runs; {involved} of the "
        "pairs have a Popularity baseline."
    )
    collection = PRINTED["figures"]["collection"]
    for measure in ("NVD", "RNSS", "JSD", "RNOD"):
        low, high = _bound_quadrant(measure)
        yield (
            f"Table 7, {collection}: NMD prefers Popularity and {measure} Uniform on {low} to {high} topics (2nd quadrant of "
            "Figure 1)."
        )
    for slip in PRINTED["slips"]:
        yield f"{slip['where']}: “{slip['printed']}” is to be read “{slip['read']}”: {slip['why']}."


def _find_repeated_cells(collection: str) -> Iterator[str]:
    """Yield where cells of Table 4 do not give Table 3's numbers, and whose cells they repeat."""
    cells = read_overlaps(collection)
    significant = dict(zip(MEASURES, PRINTED["table3"][collection]["S_D"], strict=True))
    sums = [sum(row["S_D"]) for name, row in PRINTED["table3"].items() if name != "POOLED"]
    adds_up = sum(sums) == sum(PRINTED["table3"]["POOLED"]["S_D"])
    for (first, second), cell in cells.items():
        implied = cell[1] + cell[2]
        if implied == significant[first]:
            continue
        same = [name for name in MEASURES if name != first and cells.get((name, second)) == cell]
        repeats = (
            f"; it repeats that of {' and '.join(same)}, for which Table 3 has {significant[same[0]]}" if same else ""
        )
        yield (
            f"Table 4, {collection}: the cell of {first} and {second} implies {implied} significant pairs for {first}, "
            f"Table 3 has {significant[first]}{repeats}. "
            f"With Table 3's numbers its pooled row {'adds up' if adds_up else 'does not add up'}."
        )


def _bound_quadrant(measure: str) -> tuple[int, int]:
    """Return on how few and how many topics NMD can prefer Popularity and a measure Uniform, by Table 7."""
    collection = PRINTED["figures"]["collection"]
    row = dict(zip(STUDY["measures"], PRINTED["table7"][collection], strict=True))
    (_, popularity), (uniform, _) = row["NMD"], row[measure]
    others = PRINTED["table2"][collection][1] - uniform
    return max(0, popularity - others), min(popularity, uniform)
