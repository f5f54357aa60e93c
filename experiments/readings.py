"""What the tables of examples say: sentences made by rules from what a page prints, which a test compares with what runs."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.errors import DataError

if TYPE_CHECKING:
    from experiments.generated import Printed, Writer


def find_output(printed: Sequence[Printed], code: str) -> str:
    """Return what the first example prints whose code contains this.

    Parameters
    ----------
    printed : sequence of Printed
    code : str

    Returns
    -------
    str
    """
    for one in printed:
        if code in one.source and one.output.strip():
            return one.output
    raise DataError(f"the page has no example with {code!r} that prints something")


def read_frame(printed: Sequence[Printed], code: str) -> pd.DataFrame:
    """Return the frame that an example prints.

    Parameters
    ----------
    printed : sequence of Printed
    code : str
        Part of the example's code.

    Returns
    -------
    DataFrame
        With its index; values without spaces only.
    """
    lines = [line for line in find_output(printed, code).splitlines() if line.strip()]
    if len(lines[1].split()) == 1:  # the name of the index has a line of its own
        del lines[1]
    frame = pd.read_csv(io.StringIO("\n".join(lines)), sep=r"\s+")
    # Above a pivoted table stands the name of its columns, where others leave a gap.
    return frame if len(lines[0].split()) < len(lines[1].split()) else frame.set_index(frame.columns[0])


def quote(names: Iterable[object]) -> str:
    """Return names as code, as part of a sentence."""
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def span(values: pd.Series | pd.DataFrame | np.ndarray, form: str = "") -> str:
    """Return the smallest and the largest of some values."""
    low, high = np.min(values), np.max(values)
    return f"{low:{form}} to {high:{form}}" if low < high else f"{low:{form}}"


def read_power(printed: Sequence[Printed]) -> list[str]:
    """Say which measures find most and fewest pairs, in a summary of discriminative power."""
    found = read_frame(printed, "power.summary()").sort_values("significant", ascending=False, kind="stable")
    best, worst, pairs = found.iloc[0], found.iloc[-1], found["pairs"].iloc[0]
    return [
        f"Of {pairs} pairs of runs, `{best['measure']}` finds most significantly different, {best['significant']}, and "
        f"`{worst['measure']}` fewest, {worst['significant']}."
    ]


def read_similarity(printed: Sequence[Printed]) -> list[str]:
    """Say which measure ranks runs least like the others, and how far."""
    tau = read_frame(printed, "imilarity")
    others = tau.mask(np.eye(len(tau), dtype=bool))
    odd = others.mean().idxmin()
    rest = others.drop(index=odd, columns=odd).stack().dropna()
    return [
        f"`{odd}` ranks runs least like the others: its τ with them is {span(others[odd].dropna(), '.2f')}, and that of two "
        f"others {span(rest, '.2f')}."
    ]


def read_places(printed: Sequence[Printed]) -> list[str]:
    """Say which measure changes its place most when consistency is asked of ten topics instead of halves."""
    halves, ten = (
        pd.Series(range(1, 1 + len(frame)), index=frame["measure"])
        for frame in (read_frame(printed, "split_half_consistency(scores, seed"), read_frame(printed, "size=10"))
    )
    moves = (halves - ten).abs()
    most = [name for name in halves.index if moves[name] == moves.max()]
    places = "; ".join(
        f"`{name}` is on place {halves[name]} with halves and on place {ten[name]} with ten" for name in most
    )
    return [f"The order can depend on the number of topics. Here, of {len(halves)} measures, {places}."]


def read_overlap(printed: Sequence[Printed]) -> list[str]:
    """Say which measures find nearly the same pairs, and which finds all that another finds."""
    rows = read_frame(printed, "significance_overlap")
    top = rows.loc[rows["sso"].idxmax()]
    more = [(row.measure_1, row.measure_2, row.a) for row in rows.itertuples() if row.c == 0]
    more += [(row.measure_2, row.measure_1, row.c) for row in rows.itertuples() if row.a == 0]
    listed = "; ".join(f"`{name}` all of `{other}` and {n} more" for name, other, n in more)
    return [
        f"`{top['measure_1']}` and `{top['measure_2']}` overlap most: {top['a'] + top['c']} pairs are significant with one of "
        f"them only. Where a or c is 0, one measure finds every pair that the other finds: {listed}."
    ]


def read_contradictions(printed: Sequence[Printed]) -> list[str]:
    """Say which measures contradict each other, and on how many pairs of runs."""
    rows = read_frame(printed, "run_pairs()")
    said = [
        f"by `{row.measure_1}`, {row.run_1} is significantly better than {row.run_2}, and by `{row.measure_2}` the reverse"
        for row in rows.itertuples()
    ]
    pairs = {frozenset((row.run_1, row.run_2)) for row in rows.itertuples()}
    same = (
        "All rows are about the same pair of runs."
        if len(pairs) == 1
        else f"The rows are about {len(pairs)} pairs of runs."
    )
    return [f"The first row says: {said[0]}. {same}"]


def read_preference(printed: Sequence[Printed]) -> list[str]:
    """Say which measures prefer which baseline on most topics."""
    counts = read_frame(printed, "preference.to_frame()")
    first, second = counts.columns[:2]
    by_winner = {
        first: counts.index[counts[first] > counts[second]], second: counts.index[counts[first] < counts[second]]
    }  # fmt: skip
    said = [
        f"{quote(names)} prefer{'s' * (len(names) == 1)} {winner} on most topics"
        for winner, names in by_winner.items()
        if len(names)
    ]
    return [f"One row per measure; the columns count topics. Here {', '.join(said)}."]


def read_quadrants(printed: Sequence[Printed]) -> list[str]:
    """Say on how many topics two measures prefer different baselines."""
    row = read_frame(printed, "quadrants()").iloc[-1]
    one, other = row["measure_1"], row["measure_2"]
    return [
        f"The last row says: on {row['second']} topics `{one}` prefers popularity and `{other}` prefers uniform; on "
        f"{row['fourth']} topics it is the reverse."
    ]


def read_sample_sizes(printed: Sequence[Printed]) -> list[str]:
    """Say how power grows with topics, and which measure needs fewer of them than another."""
    power = read_frame(printed, 'values="power"')
    before, last = power.index[-2:]
    rising = power.columns[power.loc[last] > power.loc[before]]
    fewer = [
        (one, other)
        for one in power
        for other in power
        if one != other and power.loc[before, one] > power.loc[last, other]
    ]
    said = [
        f"With {power.index[0]} topics, {100 * power.iloc[0].min():.0f} to {100 * power.iloc[0].max():.0f} % of the run pairs "
        f"differ significantly. From {before} to {last} topics power still grows for {len(rising)} of {len(power.columns)} "
        "measures."
    ]
    said += [
        f"With {before} topics `{one}` reaches more power than `{other}` with {last}: to compare measures, compare the numbers "
        "of topics that they need."
        for one, other in fewer[:1]
    ]
    return [" ".join(said)]


def read_robustness(printed: Sequence[Printed]) -> list[str]:
    """Say how similar rankings are on two topics, and on two collections."""
    topics, collections = (
        read_frame(printed, code)["mean"] for code in ("robustness(scores[0])", "robustness(scores)")
    )
    return [
        f"Between the rankings of runs on two single dialogues ρ is {span(topics, '.2f')} on average, between rankings by means "
        f"over a collection {span(collections, '.2f')}."
    ]


def read_pooled_power(printed: Sequence[Printed]) -> list[str]:
    """Say which measure finds most in each collection, and how wide the interval of the pooled power is."""
    counts = read_frame(printed, "by_collection()").drop(index="POOLED")
    pooled = read_frame(printed, "pooled.to_frame()").set_index("measure")
    first = counts.idxmax(axis=1).value_counts()
    listed = ", ".join(f"`{name}` in {n}" for name, n in first.items())
    best = pooled["power"].idxmax()
    return [
        f"Most pairs, of {len(counts)} collections: {listed}. With other runs `{best}` might find {100 * pooled['low'][best]:.0f} "
        f"to {100 * pooled['high'][best]:.0f} % of the pairs."
    ]


def read_coverage(printed: Sequence[Printed]) -> list[str]:
    """Say which measures outside of the reference set cover more than every single one inside."""
    rows = read_frame(printed, ".to_frame().round").set_index("measure")
    inside = rows["reference"].astype(str) == "True"
    above = rows.index[~inside & (rows["coverage"] > rows.loc[inside, "coverage"].max())]
    who = quote(above) if len(above) else "No other measure"
    return [
        f"{who} agree{'s' * (len(above) < 2)} with the references together better than any single reference does "
        f"(at most {rows.loc[inside, 'coverage'].max():.2f})."
    ]


def read_sweep(printed: Sequence[Printed]) -> list[str]:
    """Say for which share of the reference sets each measure is on top, and how far coverage depends on the set."""
    rows = read_frame(printed, "sweep.to_frame()").set_index("measure")
    top = ", ".join(
        f"`{name}` {share:.2f}" for name, share in rows["on_top"].sort_values(ascending=False).items() if share
    )
    outside = rows.index[rows["on_top_outside"] > 0]
    who = quote(outside) if len(outside) else "none"
    said = [
        f"Here the shares above 0 are: {top}; among the sets that do not contain the measure, on top of some: {who}."
    ]
    if "min" in rows:
        wide, narrow = (rows["max"] - rows["min"]).idxmax(), (rows["max"] - rows["min"]).idxmin()
        said += [
            f"The coverage that depends most on the set is that of `{wide}`, between {rows['min'][wide]:.2f} and "
            f"{rows['max'][wide]:.2f}; least, that of `{narrow}`, between {rows['min'][narrow]:.2f} and {rows['max'][narrow]:.2f}."
        ]
    return [" ".join(said)]


def read_left_out_kinds(printed: Sequence[Printed]) -> list[str]:
    """Say which measure has the highest coverage without each kind of run."""
    text = find_output(printed, 'f"without {kind}"').replace("without ", "without_")
    rows = read_frame([printed[0]._replace(source="kinds", output=text)], "kinds")
    best = rows.idxmax(axis=1)
    listed = ", ".join(f"`{best[name]}` without `{name.removeprefix('without_')}`" for name in rows.index)
    orders = {tuple(row.sort_values(ascending=False, kind="stable").index) for _, row in rows.iterrows()}
    return [f"Highest coverage: {listed}. The {len(rows)} rows have {len(orders)} different orders of the measures."]


def read_half_wrong(printed: Sequence[Printed]) -> list[str]:
    """Say which run each measure likes least."""
    rows = read_frame(printed, "scores.sel(runs=half_wrong)")
    worst = {name: (rows[name].idxmax() if name == "MAE_mu" else rows[name].idxmin()) for name in rows}
    by_run: dict[str, list[str]] = {}
    for name, run in worst.items():
        by_run.setdefault(run.partition("-")[0], []).append(name)
    listed = "; ".join(f"`{run}` by {quote(names)}" for run, names in by_run.items())
    return [f"Which of these runs is worst? {listed}."]


def read_adversary(printed: Sequence[Printed]) -> list[str]:
    """Say by which measures the adversarial run is the best, and by which the worst."""
    means = read_frame(printed, "scores.means()")
    best = [name for name in means if means[name].idxmin() == "both-ends"]
    worst = [name for name in means if means[name].idxmax() == "both-ends"]
    return [
        f"Lower is better for all measures. Look at the last row: the adversarial run is the best of all by {quote(best)}, and "
        f"the worst of all by {quote(worst)}."
    ]


def read_stability(printed: Sequence[Printed]) -> list[str]:
    """Say on which places the new measure is, by consistency and by power."""
    consistency = list(read_frame(printed, "split_half_consistency")["measure"])
    power = read_frame(printed, "power.summary()").set_index("measure")["significant"]
    name = "mean_gap"
    return [
        f"Of {len(consistency)} measures, `{name}` is on place {1 + consistency.index(name)} by consistency; by discriminative "
        f"power, those that find more pairs than it are {(power > power[name]).sum()}, as many "
        f"{(power == power[name]).sum() - 1}, fewer {(power < power[name]).sum()}."
    ]


def read_contradicted_runs(printed: Sequence[Printed]) -> list[str]:
    """Say how many pairs of runs are contradicted, and whether all have one run in common."""
    rows = read_frame(printed, 'contradictions[["run_1", "run_2"]]')
    common = set.intersection(*({row.run_1, row.run_2} for row in rows.itertuples()))
    pairs = read_frame(printed, "power.summary()")["pairs"].iloc[0]
    run = f"All of them contain {quote(sorted(common))}." if common else "They have no run in common."
    return [
        f"For {len(rows)} of {pairs} pairs of runs, two measures reach opposite significant conclusions: these are worth "
        f"inspecting. {run}"
    ]


def read_ends(printed: Sequence[Printed]) -> list[str]:
    """Say on how many topics the measures prefer the adversarial run to the best team."""
    rows = read_frame(printed, '"both-ends", "team10"')
    listed = ", ".join(f"`{name}` on {row['both-ends']}" for name, row in rows.iterrows())
    return [
        f"Of {int(rows.iloc[0].sum())} topics, the run that uses only the two extreme classes is preferred by {listed}."
    ]


def read_bias(printed: Sequence[Printed]) -> list[str]:
    """Say how many pairs the sensitive, the noisy and the biased measure find."""
    found = read_frame(printed, "power.summary()").set_index("measure")
    listed = ", ".join(f"`{name}` {n}" for name, n in found["significant"].items())
    return [f"Significant differences, of {found['pairs'].iloc[0]} pairs: {listed}."]


def read_truth(printed: Sequence[Printed]) -> list[str]:
    """Say how often each measure is significantly wrong."""
    rows = read_frame(printed, '"wrong":')
    listed = ", ".join(f"`{name}` {n}" for name, n in rows["wrong"].items())
    return [f"Significant differences in the wrong direction: {listed}."]


def read_shared_pairs(printed: Sequence[Printed]) -> list[str]:
    """Say how much the sharp and the biased measure overlap."""
    rows = read_frame(printed, "significance_overlap(power)")
    row = rows[(rows["measure_1"] == "sharp") & (rows["measure_2"] == "partial")].iloc[0]
    return [f"Of the pairs that `sharp` or `partial` finds, they share {row['b']} of {row['a'] + row['b'] + row['c']}."]


def read_needed_topics(printed: Sequence[Printed]) -> list[str]:
    """Say with how many topics the sensitive measure finds as much as the noisy one with all of them."""
    power = read_frame(printed, 'values="power"')
    goal, last = power["blunt"].iloc[-1], power.index[-1]
    enough = power.index[power["sharp"] >= goal][0]
    return [
        f"With {enough} topics, `sharp` finds a share of {power['sharp'][enough]:.2f}, and `blunt` with {last} one of {goal:.2f}."
    ]


def read_false_differences(printed: Sequence[Printed]) -> list[str]:
    """Say in which share of collections without true differences each test finds one."""
    lines = find_output(printed, "share_with_a_false_difference(").splitlines()
    shares = dict(re.split(r"\s{2,}", line) for line in lines if not line.startswith("dtype"))
    listed = ", ".join(f"{name} {100 * float(share):.0f} %" for name, share in shares.items())
    return [f"Share of collections with a false difference: {listed}."]


READINGS: dict[str, Writer] = {
    "reads: power": read_power,
    "reads: similarity": read_similarity,
    "reads: places": read_places,
    "reads: overlap": read_overlap,
    "reads: contradictions": read_contradictions,
    "reads: preference": read_preference,
    "reads: quadrants": read_quadrants,
    "reads: sample sizes": read_sample_sizes,
    "reads: robustness": read_robustness,
    "reads: pooled power": read_pooled_power,
    "reads: coverage": read_coverage,
    "reads: sweep": read_sweep,
    "reads: left out kinds": read_left_out_kinds,
    "reads: half wrong": read_half_wrong,
    "reads: adversary": read_adversary,
    "reads: stability": read_stability,
    "reads: contradicted runs": read_contradicted_runs,
    "reads: ends": read_ends,
    "reads: bias": read_bias,
    "reads: truth": read_truth,
    "reads: shared pairs": read_shared_pairs,
    "reads: needed topics": read_needed_topics,
    "reads: false differences": read_false_differences,
}
"""By the name in the mark."""
