"""The index of the results, made from the files that are there: printed numbers and conclusions, paper by paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from experiments.bounds import show_bounds
from experiments.comparison import VERDICTS
from experiments.outcome import VERDICTS as VERDICTS_FILE
from experiments.page import ALL, OUTCOME_WORDS, SIMULATED, explain_words, join_parts
from experiments.verdicts import PRINT
from metaeval.show.table import NOTHING

SUMMARIES = {
    "hold": "on all real data on which they can be told",
    "hold on some": "of these data or in part only",
    "do not hold": "on any of these data",
    "cannot tell": "on no real data can they be told",
}
"""What came of a conclusion over all data that are not simulated."""


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
    claims = _show_claims([out / name for name in shown])
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
        "## Conclusions, by rule" if claims else "",
        claims,
        "## What words count as" if claims else "",
        show_bounds() if claims else "",
    )


def tabulate_papers(out: Path, papers: Mapping[str, str], link: str = "") -> str:
    """Return how the printed numbers and the conclusions of every paper came out, as a table in Markdown.

    Parameters
    ----------
    out : Path
        The results folder.
    papers : mapping of str to str
        One line about each.
    link : str, optional
        What stands before a paper's folder in links.

    Returns
    -------
    str
    """
    lines = [
        f"| results | what | {' | '.join(VERDICTS)} | conclusions: {' | '.join(SUMMARIES)} |",
        f"| :-- | :-- |{' --: |' * (len(VERDICTS) + len(SUMMARIES))}",
    ]
    for name, text in papers.items():
        counts, claims = count_numbers(out / name), summarise_claims(out / name)
        numbers = [str(counts[word]) if counts else "" for word in VERDICTS]
        numbers += [str(claims[word]) if claims else "" for word in SUMMARIES]
        lines.append(f"| [{name}]({link}{name}/README.md) | {text} | {' | '.join(numbers)} |")
    return "\n".join([*lines, "", explain_summaries()])


def explain_summaries() -> str:
    """Return what the words for conclusions mean, in one sentence."""
    meanings = ", ".join(f"*{word}* {meaning}" for word, meaning in SUMMARIES.items())
    return f"Conclusions by rule, each tried on every collection at hand: {meanings}."


def tabulate_reproduction(out: Path, papers: Mapping[str, str], link: str = "") -> str:
    """Return one row per paper that prints numbers: how they came out, and its conclusions, in words.

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
    lines = ["| paper | printed numbers | conclusions |", "| :-- | :-- | :-- |"]
    for name, text in papers.items():
        counts = count_numbers(out / name)
        if not counts:
            continue
        claims = summarise_claims(out / name)
        numbers = ", ".join(f"{counts[word]:,} {word}" for word in VERDICTS if counts[word])
        words = ", ".join(f"{claims[word]} {word}" for word in SUMMARIES if claims[word])
        lines.append(f"| [{text.partition(':')[0]}]({link}{name}/README.md) | {numbers} | {words or NOTHING} |")
    return "\n".join(lines)


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


def summarise_claims(folder: Path) -> Counter[str]:
    """Return how many conclusions of a paper came out how over all real collections that can tell.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Counter
        By word of `SUMMARIES`.
    """
    paths = sorted(folder.rglob(f"{VERDICTS_FILE}.csv"))
    if not paths:
        return Counter()
    frame = pd.concat([pd.read_csv(path) for path in paths])
    found: Counter[str] = Counter()
    for _, tried in frame.groupby(["where", "claim"], sort=False):
        real = [not name.startswith((SIMULATED, PRINT)) for name in tried["data"].astype(str)]
        words = set(tried.loc[real, "outcome"]) - {"cannot tell"}
        if words == {"holds"}:
            found["hold"] += 1
        elif words & {"holds", "holds in part"}:
            found["hold on some"] += 1
        else:
            found["do not hold" if words else "cannot tell"] += 1
    return found


def _show_claims(folders: Sequence[Path]) -> str:
    """Return one row per claim, with the collections on which it came out how."""
    paths = [path for folder in folders for path in sorted(folder.rglob(f"{VERDICTS_FILE}.csv"))]
    if not paths:
        return ""
    frame = pd.concat([pd.read_csv(path) for path in paths])
    lines = [f"| claim | {' | '.join(OUTCOME_WORDS)} |", f"| :-- |{' :-- |' * len(OUTCOME_WORDS)}"]
    for (where, claim), tried in frame.groupby(["where", "claim"], sort=False):
        cells = [_name_collections(tried.loc[tried["outcome"] == word, "data"]) for word in OUTCOME_WORDS]
        lines.append(f"| {claim} ({where}) | {' | '.join(cells)} |")
    lines += [
        "",
        "Rules and figures, and what comes out with other seeds, without baselines, on distinct runs and by another test, "
        "are on the pages of the papers.",
    ]
    return "\n".join(lines)


def _name_collections(data: Iterable[str]) -> str:
    """Name real collections, and count simulated ones."""
    names = list(dict.fromkeys(map(str, data)))
    real = [name for name in names if not name.startswith(SIMULATED)]
    return ", ".join(real + [f"{len(names) - len(real)} simulated"] * (len(names) > len(real)))
