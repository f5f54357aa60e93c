"""What the tables in the notebooks say: sentences made by rules from what their cells print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.readings import find_output, quote, read_frame

if TYPE_CHECKING:
    from experiments.generated import Printed, Writer


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
    share = power["sharp"][enough]
    return [f"With {enough} topics, `sharp` finds a share of {share:.2f}, and `blunt` with {last} one of {goal:.2f}."]


def read_false_differences(printed: Sequence[Printed]) -> list[str]:
    """Say in which share of collections without true differences each test finds one."""
    lines = find_output(printed, "share_with_a_false_difference(").splitlines()
    shares = dict(re.split(r"\s{2,}", line) for line in lines if not line.startswith("dtype"))
    listed = ", ".join(f"{name} {100 * float(share):.0f} %" for name, share in shares.items())
    return [f"Share of collections with a false difference: {listed}."]


READINGS: dict[str, Writer] = {
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
