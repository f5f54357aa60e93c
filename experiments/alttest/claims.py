"""Is a judge that never looks worse than all, and does it fail? Asked here."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.claims import Answer, claim, every, is_above
from experiments.page import Folder


@claim("asked here", "By ρ, every judge is better than one that always gives the label that people give most often.")
def every_judge_beats_constant(tables: Folder) -> Iterator[tuple[str, Answer]]:
    """All differences in ρ are above 0."""
    for name, rows in tables.read("leads").groupby("set", sort=False):
        yield str(name), every(is_above(row.judge_1, row.difference, 0, row.low, row.high) for row in rows.itertuples())


@claim("asked here", "A judge that always gives the same label does not pass the test.")
def constant_does_not_pass(tables: Folder) -> Iterator[tuple[str, Answer]]:
    """ω of the judge that always gives the label that people give most often is below ½, with which a judge passes."""
    for _, row in tables.read("constant").iterrows():
        name = f"ω of always-{row['label']}"
        yield row["set"], ~is_above(name, row["ω"], 0.5 - 1e-9, row["ω low"], row["ω high"])
