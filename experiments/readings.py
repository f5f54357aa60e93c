"""What the tables of examples say: sentences made by rules from what a page prints, which a test compares with what runs."""

from __future__ import annotations

import io
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
        f"Between the rankings of runs on two single dialogues ρ is {span(topics, '.2f')} on average, between rankings by "
        f"means over a collection {span(collections, '.2f')}."
    ]


def read_pooled_power(printed: Sequence[Printed]) -> list[str]:
    """Say which measure finds most in each collection, and how wide the interval of the pooled power is."""
    counts = read_frame(printed, "by_collection()").drop(index="POOLED")
    pooled = read_frame(printed, "pooled.to_frame()").set_index("measure")
    first = counts.idxmax(axis=1).value_counts()
    listed = ", ".join(f"`{name}` in {n}" for name, n in first.items())
    best = pooled["power"].idxmax()
    low, high = (100 * pooled.loc[best, ["low", "high"]]).astype(float)
    return [
        f"Most pairs, of {len(counts)} collections: {listed}. With other runs `{best}` might find {low:.0f} to {high:.0f} % of "
        "the pairs."
    ]


def read_coverage(printed: Sequence[Printed]) -> list[str]:
    """Say which measures outside of the reference set cover more than every single one inside."""
    rows = read_frame(printed, ".to_frame().round").set_index("measure")
    inside = rows["reference"].astype(str) == "True"
    above = rows.index[~inside & (rows["coverage"] > rows.loc[inside, "coverage"].max())]
    listed = ", ".join(f"`{name}` {rows['coverage'][name]:.2f}" for name in above) or "none"
    return [
        f"Outside of the reference set, higher than the coverage of every single reference "
        f"({rows.loc[inside, 'coverage'].max():.2f} at most): {listed}."
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
        spread = (rows["max"] - rows["min"]).sort_values(ascending=False)
        most, least = (
            f"`{name}`, {rows['min'][name]:.2f} to {rows['max'][name]:.2f}"
            for name in (spread.index[0], spread.index[-1])
        )
        said += [f"The coverage that depends most on the set is that of {most}; least, that of {least}."]
    return [" ".join(said)]


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
}
"""By the name in the mark."""
