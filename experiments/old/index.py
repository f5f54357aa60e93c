"""The index of the results, made from the pages that are there: for each paper in one sentence whether it is reproduced."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.old.bounds import show_bounds
from experiments.old.comparison import ALL, VERDICTS
from experiments.old.page import explain_words, join_parts


@dataclass(frozen=True)
class Summary:
    """What a page says: the sentence at its top, and how many printed numbers came out how, each counted once."""

    folder: str
    title: str
    sentence: str
    counts: Counter[str]


def summarise_papers(out: Path, papers: Mapping[str, str]) -> list[Summary]:
    """Return the summary of every paper that has a page in the results folder.

    The sentence is the first paragraph in bold; a page without one has what `papers` says after the colon.
    """
    summaries = []
    for name, text in papers.items():
        page = out / name / "README.md"
        if not page.exists():
            continue
        content = page.read_text(encoding="utf-8")
        title, _, about = text.partition(":")
        sentence = re.search(r"^\*\*([^*\n]+)\*\*$", content, re.MULTILINE)
        summaries.append(
            Summary(name, title, sentence[1] if sentence else about.strip() or text, count_numbers(content))
        )
    return summaries


def count_numbers(content: str) -> Counter[str]:
    """Return how many printed numbers came out how, from the total on a page; empty where it has no such table.

    The page counts those too that no source has data for, of which there is no file.
    """
    total = re.search(rf"^\| {re.escape(ALL)} \| \d+ \| (.+) \|$", content, re.MULTILINE)
    return Counter(dict(zip(VERDICTS, map(int, total[1].split(" | ")), strict=True))) if total else Counter()


def write_index(out: Path, papers: Mapping[str, str]) -> str:
    """Return results/README.md: what is there, made from the files that are there."""
    lines = [f"| results | is it reproduced? | {' | '.join(VERDICTS)} |", f"| :-- | :-- |{' --: |' * len(VERDICTS)}"]
    for summary in summarise_papers(out, papers):
        numbers = [str(summary.counts[verdict]) if summary.counts else "" for verdict in VERDICTS]
        lines.append(f"| [{summary.title}]({summary.folder}/README.md) | {summary.sentence} | {' | '.join(numbers)} |")
    return join_parts(
        "",
        "# Results",
        "One page a paper or question; beside it a CSV for every table. `python -m experiments NAME` makes a folder again, "
        "`--check` compares it with what is here, `--render OUT` writes every table as LaTeX and Markdown and every figure "
        "as SVG and PDF. How to read the numbers, and how to use the original score matrices: "
        "[docs/how-to/reproduce.md](../docs/how-to/reproduce.md).",
        "\n".join(lines),
        f"Printed numbers by how they came out, each counted once, by the source that is nearest to the paper's data. "
        f"{explain_words(VERDICTS)} Results on other data do not refute a paper: its sentences are about its own.",
        "## What words of claims count as",
        show_bounds(),
    )


def tabulate_reproduction(out: Path, papers: Mapping[str, str]) -> str:
    """Return one row per paper that prints numbers: whether it is reproduced, how its numbers came out, and its page."""
    lines = ["| paper | is it reproduced? | printed numbers |", "| :-- | :-- | :-- |"]
    for summary in summarise_papers(out, papers):
        if summary.counts:
            numbers = ", ".join(
                f"{summary.counts[verdict]:,} {verdict}" for verdict in VERDICTS if summary.counts[verdict]
            )
            page = f"`results/{summary.folder}/README.md`"
            lines.append(f"| {summary.title}: {page} | {summary.sentence} | {numbers} |")
    return "\n".join(lines)
