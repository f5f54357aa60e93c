"""The page of the study: what the formulas say, what the runs say, and what cannot be concluded."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.new_measure.steps import STAND_IN, STUDY
from experiments.outcome import Outcome
from experiments.page import join_parts, link_tables, show_picture, show_table

PICTURES = {"": ("pooled_power",)}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/new_measure/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    by_source = {one.source: one for one in outcomes}
    whole = by_source[""]
    single = [one for one in outcomes if one.source not in ("", STAND_IN)]
    return join_parts(
        "new_measure",
        f"# {', '.join(STUDY['new'])}: is any of them worth having?",
        "LQ 2021 defines RNADW (Eqs. 7 and 8) and a distance made of gold probabilities (Eq. 11), and leaves their "
        "evaluation, and that of both together, to future work. Here they are, beside the six measures of that paper. "
        "`python -m experiments new_measure` makes this page and everything in this folder; sentences with numbers "
        "are written by rules from the numbers (experiments/new_measure/findings.py).",
        "## In short",
        whole.texts.get("short", ""),
        "## What the formulas say",
        whole.texts.get("mathematics", ""),
        *(show_table(whole, name) for name in ("order", "one_class", "limits", "gold")),
        "## What the runs say",
        whole.texts.get("runs", ""),
        show_table(whole, "pooled_power"),
        show_picture(whole, "pooled_power", "Pooled discriminative power"),
        *(show_table(whole, name) for name in ("consistency", "beside", "run_pairs", "preference")),
        "## What cannot be concluded",
        whole.texts.get("limits", ""),
        "## Collection by collection",
        *(link_tables(one) for one in single),
        *_show_stand_in(by_source.get(STAND_IN)),
    )


def _show_stand_in(found: Outcome | None) -> list[str]:
    if found is None:
        return []
    return [
        "## Stand-ins: the same measures on simulated campaigns",
        "Nothing here is real: gold and runs are simulated in the shape of DialEval-1 (22 runs × 300 dialogues), whose runs "
        "are not public, by `experiments.simulate.campaigns`. This shows that the analyses work where nothing can be "
        "downloaded, and proves nothing about runs.",
        *(show_table(found, name) for name in ("beside", "pooled_power", "consistency", "run_pairs")),
    ]
