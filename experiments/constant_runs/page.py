"""The page of the study: the answer collection by collection, then changes, means and curves."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.answers import list_data, write_answer
from experiments.constant_runs.steps import SOURCES
from experiments.constant_runs.verdicts import STUDY
from experiments.outcome import Outcome
from experiments.page import show_picture, show_table

PICTURES = dict.fromkeys(SOURCES, ("curves",))


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/constant_runs/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    parts = [
        "ACL 2021, §5.2, supposes that such runs are why κ is consistent on one of its collections and not on the other. That "
        "sentence is tried on the page of [acl2021](../acl2021/README.md), by a rule of its own: how many measures κ is more "
        "consistent than, with such runs and without. The question here is another, by what κ loses more than the other "
        "measures do, with an interval over topics, so that the outcomes may differ on the same data.",
        "Splits of the same topics are no independent sample: the interval over splits says how exact the mean is for these "
        "topics, the one over topics, on which the rule rests, what other topics would do to it.",
        "κ gives every constant run the score 0 on every topic, so that these runs are tied. τ_a counts a tied pair against "
        "a measure and τ_b does not: what is lost by τ_a and not by τ_b is lost to ties, and not to rankings that change from "
        "topics to topics.",
    ]
    for one in outcomes:
        if one.tables:
            caption = f"Mean τ by the number of constant runs, {one.source}"
            parts += [f"### {one.source}", show_picture(one, "curves", caption)]
            parts += [show_table(one, name) for name in one.tables]
    title = "κ's consistency with constant runs added and removed"
    return write_answer("constant_runs", title, STUDY, outcomes, parts, list_data(STUDY["sources"], outcomes))
