"""Which test when? Every sentence is made from the rates, by the rule that it states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from experiments.calibration.rates import ALPHA, CELL, CONFIDENCE, SIZES, TOO_MUCH
from experiments.calibration.study import STUDY
from metaeval.errors import format_count

FEW_RUNS = 10
"""With fewer runs there are other conclusions: what a test borrows from other pairs is then from few of them."""

STEPS_DOWN = ", step-down"
"""What the name of a test that steps down has more than the name of its single step."""

RULE = (
    f"A test *holds* if its family-wise error, the share of studies with at least one false difference, is in no cell "
    f"above {ALPHA:g} by more than chance (lower limit of a {100 * CONFIDENCE:.0f} % interval for all cells of the test "
    f"together) and nowhere estimated above {TOO_MUCH:g}. Of the tests that hold, the one that finds the largest share of "
    "true differences, on average over the cells that have some, is recommended. Benjamini–Hochberg's correction bounds "
    "another error, the share of false ones among the differences found, and is no candidate; nor are variants and tests "
    "that were not tried in all cells."
)


@dataclass(frozen=True)
class Conclusion:
    """Which tests hold, best first, and so on the first is recommended.

    Parameters
    ----------
    n_cells : int
        Cells on which every candidate was tried.
    n_power : int
        Those with true differences.
    holding : tuple of str
        Tests that hold in all of them.
    closest : str
        The test that fails in the fewest cells; the more powerful one of several.
    failed : DataFrame
        The rates of those cells.
    few_runs : tuple of str, or None
        Tests that hold in all cells with fewer than `FEW_RUNS` runs; None where none were tried.
    by_size : dict of int to tuple of str
        Tests that hold in all cells of more runs with so many topics.
    by_kind : DataFrame
        One row a kind of scores, one column a number of topics: the test that is recommended there for more runs, "none",
        or nothing where no cell was tried.
    power : dict of str to float
        Mean share of true differences found, by candidate.
    """

    n_cells: int
    n_power: int
    holding: tuple[str, ...]
    closest: str
    failed: pd.DataFrame
    few_runs: tuple[str, ...] | None
    by_size: dict[int, tuple[str, ...]]
    by_kind: pd.DataFrame
    power: dict[str, float]


def list_candidates(tests: Iterable[str]) -> list[str]:
    """Return the tests that can be recommended: no variants, none too slow for all cells, none that bounds another error."""
    return [
        one
        for one in dict.fromkeys(tests)
        if not (STUDY["tests"][one].get("variant") or STUDY["tests"][one].get("slow") or _bounds_discoveries(one))
    ]


def _bounds_discoveries(test: str) -> bool:
    """Tell whether a test bounds the false discovery rate instead of the family-wise error."""
    return bool(STUDY["tests"][test]["options"].get("correction") == "benjamini-hochberg")


def complete_rates(rates: pd.DataFrame) -> pd.DataFrame:
    """Add the cells on which stepping down need not be tried: with equal means it errs exactly where its single step does.

    Parameters
    ----------
    rates : DataFrame

    Returns
    -------
    DataFrame
    """
    parts = [rates]
    for test in rates["test"].unique():
        if test.endswith(STEPS_DOWN):
            single = rates[(rates["test"] == test.removesuffix(STEPS_DOWN)) & ~rates["effects"]]
            own = pd.MultiIndex.from_frame(rates.loc[rates["test"] == test, CELL])
            parts.append(single[~pd.MultiIndex.from_frame(single[CELL]).isin(own)].assign(test=test))
    return pd.concat(parts, ignore_index=True)


def conclude(rates: pd.DataFrame) -> Conclusion:
    """Apply the rule.

    Parameters
    ----------
    rates : DataFrame
        As `experiments.calibration.rates.compute_rates` returns it.

    Returns
    -------
    Conclusion
    """
    whole = complete_rates(rates)
    candidates = list_candidates(whole["test"])
    whole = whole[whole["test"].isin(candidates)]
    tried = whole.groupby(CELL)["test"].transform("nunique") == len(candidates)
    whole = whole[tried]
    power = whole[whole["effects"]].groupby("test")["power"].mean().reindex(candidates)
    kinds = list(dict.fromkeys(whole["kind"]))
    few = whole["runs"] < FEW_RUNS
    sizes = {size: own for size in SIZES if not (own := whole[(whole["size"] == size) & ~few]).empty}
    failures = (~whole["holds"]).groupby(whole["test"]).sum().reindex(power.sort_values(ascending=False).index)
    closest = str(failures.idxmin())
    table = {
        size: [_recommend(_find_holding(own[own["kind"] == kind], power)) for kind in kinds]
        for size, own in sizes.items()
    }
    return Conclusion(
        n_cells=len(whole[CELL].drop_duplicates()),
        n_power=len(whole.loc[whole["effects"], CELL].drop_duplicates()),
        holding=_find_holding(whole, power) or (),
        closest=closest,
        failed=whole[(whole["test"] == closest) & ~whole["holds"]],
        few_runs=_find_holding(whole[few], power),
        by_size={size: _find_holding(own, power) or () for size, own in sizes.items()},
        by_kind=pd.DataFrame(table, index=pd.Index(kinds, name="scores")),
        power={str(test): float(value) for test, value in power.items()},
    )


def _find_holding(rates: pd.DataFrame, power: pd.Series) -> tuple[str, ...] | None:
    """Return the tests that hold in all rows, the most powerful there first; None where there are no rows."""
    if rates.empty:
        return None
    holds = rates.groupby("test")["holds"].all()
    if rates["effects"].any():  # elsewhere the power in all cells decides
        power = rates[rates["effects"]].groupby("test")["power"].mean()
    names = [str(test) for test in power.sort_values(ascending=False, kind="stable").index if holds.get(test, False)]
    return tuple(names)


def _recommend(holding: tuple[str, ...] | None) -> str:
    return "" if holding is None else holding[0] if holding else "none"


def describe_tests(rates: pd.DataFrame) -> dict[str, list[str]]:
    """Return all sentences about the tests, by the names with which pages ask for them.

    Parameters
    ----------
    rates : DataFrame

    Returns
    -------
    dict of str to list of str
        "rule"; "conclusion"; "progress", empty once the study is done; "tests", one sentence each; and that sentence
        under the name of each test.
    """
    found = conclude(rates)
    sentences = {str(test): [describe_test(rates, str(test))] for test in rates["test"].unique()}
    progress = describe_progress(rates)
    return {
        "rule": [RULE],
        "conclusion": [*describe_conclusion(found), *describe_recommended(rates, found)],
        "progress": [progress] if progress else [],
        "tests": [line for lines in sentences.values() for line in lines],
        **sentences,
    }


def describe_conclusion(found: Conclusion) -> list[str]:
    """Say which test to use.

    Parameters
    ----------
    found : Conclusion

    Returns
    -------
    list of str
        Sentences; they are for one of three cases: some test holds everywhere, some hold from a number of topics on or
        for some numbers, or none holds for any.
    """
    if found.holding:
        best, *others = found.holding
        said = [
            f"**Use {best}.** It holds in all {found.n_cells} cells, and finds {_percent(found.power[best])} of the true "
            f"differences on average over {format_count(found.n_power, 'cell')} that have some."
        ]
        also = [f"{name} ({_percent(found.power[name])})" for name in others]
        return said + [
            f"{_join(also)} {'hold' if len(also) > 1 else 'holds'} everywhere, too, with less power."
        ] * bool(also)
    cells = [
        f"{name_cell(row)} ({row['error']:.3f} [{row['error_low']:.3f}, {row['error_high']:.3f}])"
        for _, row in found.failed.iterrows()
    ]
    closest = f"{found.closest} comes closest; it fails in {len(cells)}: {_join(cells)}."
    said = [f"**No test holds in all {found.n_cells} cells.** {closest}"]
    groups: dict[tuple[str, ...], list[str]] = {}
    for size, holding in found.by_size.items():
        groups.setdefault(holding, []).append(f"{size:,}")
    for holding, sizes in groups.items():
        said.append(f"With {_join(sizes)} topics and {FEW_RUNS} runs or more {_advise(holding)}.")
    return said + [f"With fewer than {FEW_RUNS} runs {_advise(found.few_runs or ())}."] * (found.few_runs is not None)


def _advise(holding: Sequence[str]) -> str:
    if not holding:
        return "no test holds on all kinds of scores"
    best, *others = holding
    also = f"; {_join(others)} {'hold' if len(others) > 1 else 'holds'}, too, with less power" if others else ""
    return f"use **{best}**{also}"


def describe_test(rates: pd.DataFrame, test: str) -> str:
    """Say where a test fails worst, or how far its errors go where it holds.

    Parameters
    ----------
    rates : DataFrame
    test : str

    Returns
    -------
    str
        One or two sentences.
    """
    whole = complete_rates(rates)
    own = whole[whole["test"] == test]
    worst = own.loc[own["error"].idxmax()]
    figure = f"{worst['error']:.3f} [{worst['error_low']:.3f}, {worst['error_high']:.3f}], {name_cell(worst)}"
    failed = own[~own["holds"]]
    if failed.empty:
        said = f"holds in all {len(own)} cells where it was tried; the largest family-wise error is {figure}."
    else:
        said = (
            f"does not hold in {len(failed)} of {len(own)} cells; the largest family-wise error is {figure}. "
            f"Kinds of scores on which it fails: {_join(list(dict.fromkeys(failed['kind'])))}."
        )
    if _bounds_discoveries(test):
        most = own.loc[own["fdr"].idxmax()]
        said += (
            " It is meant to bound the false discovery rate, not this error: the largest is "
            f"{most['fdr']:.3f} [{most['fdr_low']:.3f}, {most['fdr_high']:.3f}], {name_cell(most)}."
        )
    return f"**{test}** {said}"


def describe_recommended(rates: pd.DataFrame, found: Conclusion) -> list[str]:
    """Say how far the errors of what is recommended go, and how much it finds beside the papers' test.

    Parameters
    ----------
    rates : DataFrame
    found : Conclusion

    Returns
    -------
    list of str
    """
    papers = "randomised-tukey-hsd"
    if found.closest == papers or papers not in found.power:
        return []
    best, hsd = found.power[found.closest], found.power[papers]
    return [
        describe_test(rates, found.closest),
        f"The papers' test, {papers}, finds {_percent(hsd)} of the true differences on average, {found.closest} "
        f"{_percent(best)}{'; it does so at the price of its errors' * (hsd > best)}.",
    ]


def describe_progress(rates: pd.DataFrame) -> str:
    """Say what is missing of the study as it was planned; nothing if it is all there.

    Parameters
    ----------
    rates : DataFrame

    Returns
    -------
    str
    """
    short = rates[rates["studies"] < rates["planned"]]
    if short.empty:
        return ""
    return (
        f"{len(short)} of {len(rates)} tests on cells have fewer studies than planned: the simulation was not finished."
    )


def name_cell(row: pd.Series) -> str:
    """Return what a cell is called in a sentence."""
    design = row["design"] if ": " in row["design"] else f"“{row['design']}”"
    return f"{design}, {row['runs']} runs, {row['topics']:,} topics{', some runs differ' * bool(row['effects'])}"


def describe_reliability(means: pd.DataFrame) -> list[str]:
    """Say how much the ranking of measures by discriminative power changes, one sentence a kind of change.

    Parameters
    ----------
    means : DataFrame
        As `experiments.calibration.reliability.average_collections` returns it.

    Returns
    -------
    list of str
    """
    said = []
    for changed, group in means.groupby(level="changed", sort=False):
        parts = [
            f"{row['τ_b']:.2f}{_plus_minus(row['its error'], 2)} by {test}, with another measure at the top in "
            f"{_percent(row['other top'], 0)}{_plus_minus(100 * row['error of that'], 0)} of cases"
            for (_, test), row in group.iterrows()
        ]
        n = int(group["collections"].max())
        said.append(f"{str(changed).capitalize()}: mean τ_b {'; '.join(parts)} ({format_count(n, 'collection')}).")
    return said


def describe_intervals(coverage: pd.DataFrame) -> list[str]:
    """Say of each kind of interval whether it holds what it claims.

    Parameters
    ----------
    coverage : DataFrame
        As `experiments.calibration.intervals.measure_coverage` returns it.

    Returns
    -------
    list of str
    """
    low, high = STUDY["coverage"]["limits"]
    limits = f"{_percent(low, 0)} and {_percent(high, 0)}"
    who = "n_runs" if "n_runs" in coverage else "annotators"
    said = [f"An interval does what it claims if in every cell between {limits} of them hold the true value."]
    for kind, own in coverage.groupby("interval", sort=False):
        outside = own[(own["coverage"] < low) | (own["coverage"] > high)]
        figures = f"{_percent(own['coverage'].min())} to {_percent(own['coverage'].max())} in {format_count(len(own), 'cell')}"
        cells = [
            f"{row['population']}, {row[who]} {who.removeprefix('n_')}, {row['n_topics']} topics ({_percent(row['coverage'])})"
            for _, row in outside.iterrows()
        ]
        verdict = f"does not in {len(cells)}: {_join(cells)}" if cells else "does"
        said.append(f"{kind}: {verdict}; {figures}.")
    return said


def describe_predictions(predictions: pd.DataFrame) -> list[str]:
    """Say how far predictions of expected τ were off, and how often their intervals held it.

    Parameters
    ----------
    predictions : DataFrame
        As `experiments.calibration.predictions.measure_predictions` returns it.

    Returns
    -------
    list of str
    """
    low, high = STUDY["coverage"]["limits"]
    limits = f"{_percent(low, 0)} to {_percent(high, 0)}"
    named = ", ".join(one for one in predictions["population"].unique() if one != "normal")
    cells, topics = predictions.groupby(["population", "n_topics"], sort=False), predictions["n_topics"]
    said = [
        f"Expected τ was predicted from studies of {topics.min()} to {topics.max()} topics, drawn from {named} and normal "
        f"scores ({format_count(cells.ngroups, 'cell')} with {format_count(predictions['measure'].nunique(), 'measure')})."
    ]
    for ratio, own in predictions.groupby((predictions["topics"] / topics).round(1)):
        held = own.groupby(["population", "n_topics"], sort=False)["coverage"].mean()
        outside = [
            f"{name}, {n} topics ({_percent(share)})" for (name, n), share in held[~held.between(low, high)].items()
        ]
        verdict = (
            f"outside of {limits} in {len(outside)}: {_join(outside)}" if outside else f"within {limits} in all cells"
        )
        bias = own["bias"]
        said.append(
            f"{ratio:g} × as many topics: the mean error was {bias.min():+.3f} to {bias.max():+.3f}, {bias.abs().mean():.3f} "
            f"in size on average; intervals held the true value in {_percent(held.min())} to {_percent(held.max())} of the "
            f"studies of a cell, {verdict}."
        )
    return said


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _plus_minus(error: float, digits: int) -> str:
    return "" if pd.isna(error) else f" ± {error:.{digits}f}"


def _join(names: Sequence[str]) -> str:
    """Return names as part of a sentence, all of them."""
    *others, last = names
    between = "; " if any("," in name for name in names) else ", "
    return f"{between.join(others)} and {last}" if others else last
