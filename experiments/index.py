"""The index of the results, made from the files that are there: printed numbers and conclusions, paper by paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from experiments.bounds import show_bounds
from experiments.comparison import VERDICTS
from experiments.conclusions import (
    BLOG,
    KINDS,
    WORDS,
    Kind,
    Tried,
    count_conclusions,
    explain_words as explain_conclusions,
    list_conclusions,
)
from experiments.page import ALL, OUTCOME_WORDS, explain_words, join_parts
from metaeval.show.table import NOTHING


def write_index(out: Path, papers: Mapping[str, str]) -> str:
    """Return results/README.md: what is there, made from the files that are there.

    Parameters
    ----------
    out : Path
        The results folder.
    papers : mapping of str to str
        One line about each.

    Returns
    -------
    str
        Markdown.
    """
    shown = {name: text for name, text in papers.items() if (out / name / "README.md").exists()}
    claims = show_conclusions({text.partition(":")[0]: out / name for name, text in shown.items()})
    return join_parts(
        "",
        "# Results",
        "One page a paper or question; beside it a CSV for every table, in a folder for each source of data. "
        "`python -m experiments NAME` makes a folder again, `--check` compares it with what is here, `--render OUT` "
        "writes every table as LaTeX and Markdown and every figure as SVG and PDF. How to read the numbers, and how to use "
        "the original score matrices: [docs/how-to/reproduce.md](../docs/how-to/reproduce.md).",
        tabulate_papers(out, shown),
        f"Printed numbers by how they came out, each counted once, by the source that is nearest to the paper's data. "
        f"{explain_words(VERDICTS)}",
        *(["## Conclusions, by rule", explain_conclusions(), *claims] if claims else []),
        "## What words count as" if claims else "",
        show_bounds() if claims else "",
    )


def tabulate_papers(out: Path, papers: Mapping[str, str]) -> str:
    """Return how the printed numbers of every paper came out, as a table in Markdown.

    Parameters
    ----------
    out : Path
        The results folder.
    papers : mapping of str to str
        One line about each.

    Returns
    -------
    str
    """
    lines = [f"| results | what | {' | '.join(VERDICTS)} |", f"| :-- | :-- |{' --: |' * len(VERDICTS)}"]
    for name, text in papers.items():
        counts = count_numbers(out / name)
        numbers = [str(counts[word]) if counts else "" for word in VERDICTS]
        lines.append(f"| [{name}]({name}/README.md) | {text} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def tabulate_reproduction(out: Path, papers: Mapping[str, str], link: str = "") -> str:
    """Return one row per paper that prints numbers: how they and its conclusions came out, in words.

    Parameters
    ----------
    out : Path
        The results folder.
    papers : mapping of str to str
        One line about each: authors and year, then a colon.
    link : str, optional
        What stands before a paper's folder in links.

    Returns
    -------
    str
        A table in Markdown.
    """
    head = ["paper", "printed numbers", *(f"conclusions {KINDS[kind]}" for kind in ("own", "real"))]
    lines = [f"| {' | '.join(head)} |", "| :-- | :-- | :-- | :-- |"]
    for name, text in papers.items():
        counts = count_numbers(out / name)
        if not counts:
            continue
        numbers = ", ".join(f"{counts[word]:,} {word}" for word in VERDICTS if counts[word])
        title = f"[{text.partition(':')[0]}]({link}{name}/README.md)"
        lines.append(" | ".join([f"| {title}", numbers, *_describe_counts(count_conclusions(out / name))]) + " |")
        blog = count_conclusions(out / name, blog=True)
        if any(blog.values()):
            lines.append(" | ".join([f"| {BLOG}, on the same page", NOTHING, *_describe_counts(blog)]) + " |")
    return "\n".join(lines)


def _describe_counts(found: Mapping[Kind, Counter[str]]) -> list[str]:
    return [
        ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word]) or NOTHING for counts in found.values()
    ]


def count_numbers(folder: Path) -> Counter[str]:
    """Return how many printed numbers of a paper came out how, from the total on its page.

    The page counts those too that no source has data for, of which there is no file.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Counter
        By word of `VERDICTS`, each number once; empty where the page has no such table.
    """
    text = (folder / "README.md").read_text(encoding="utf-8")
    total = re.search(rf"^\| {re.escape(ALL)} \| \d+ \| (.+) \|$", text, re.MULTILINE)
    return Counter(dict(zip(VERDICTS, map(int, total[1].split(" | ")), strict=True))) if total else Counter()


def show_conclusions(folders: Mapping[str, Path]) -> list[str]:
    """Return for every paper one row per conclusion: what came of it, and on which data.

    Parameters
    ----------
    folders : mapping of str to Path
        The results of each, by title.

    Returns
    -------
    list of str
        Parts in Markdown.
    """
    parts = []
    for title, folder in folders.items():
        rows = []
        for one in list_conclusions(folder):
            cells = [_describe_kind(one, kind) for kind in KINDS]
            rows.append(f"| {one.claim} ({one.where}) | {' | '.join(cells)} |")
        if rows:
            head = [f"| conclusion | {' | '.join(KINDS.values())} |", f"| :-- |{' :-- |' * len(KINDS)}"]
            parts += [
                f"### {title}",
                f"Rules and figures: [{folder.name}]({folder.name}/README.md).",
                "\n".join([*head, *rows]),
            ]
    return parts


def _describe_kind(one: Tried, kind: Kind) -> str:
    """Say what came of a conclusion on one kind of data, and where it did not."""
    word = one.summarise(kind)
    if word is None:
        return ""
    tried = one.outcomes[one.outcomes["kind"] == kind]
    by_outcome = [(name, tried.loc[tried["outcome"] == name, "data"].tolist()) for name in OUTCOME_WORDS]
    if kind == "real":
        said = "; ".join(f"{name}: {', '.join(data)}" for name, data in by_outcome if data)
    else:  # of simulated data and of print the number of cases says enough
        said = ", ".join(f"{name} {len(data)}" for name, data in by_outcome if data)
    return f"**{word}** ({said})"
