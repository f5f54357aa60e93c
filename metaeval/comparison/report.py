"""The report of a comparison: one HTML page, every table and figure beside it, and report.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.grades import CONTRADICTED
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.result import Result
from metaeval.analyses.study import ROBUST_POWER, ROBUST_TEST, SMALL, Study
from metaeval.comparison.page import (
    Block,
    Section,
    curves_block,
    heatmap_block,
    page,
    picture_block,
    rules_block,
    table_block,
)
from metaeval.files import write_atomically, write_together
from metaeval.measures.base import Measure
from metaeval.show.drawing import fix_layout, save_figure
from metaeval.show.style import house_style
from metaeval.show.table import Table, to_records
from metaeval.stats.parallel import run_tasks

if TYPE_CHECKING:
    from metaeval.comparison.new_measure import Comparison

_TASKS_A_PROCESS = 6
"""Fewer figures than this are drawn sooner than another process starts."""

_LISTED = 200
"""Contradicting run pairs shown on the page; the file beside it has them all."""

FILES = {
    "small_consistency": f"consistency-{SMALL}",
    "robust_power": f"power-{ROBUST_TEST}",
    "robust_reference": f"reference-{ROBUST_TEST}",
    "sample_size": "topics",
    "preference": "baselines",
}
"""How the file of a question is called where not by its name."""

SECTIONS = {
    "similarity": (
        "Ranking similarity",
        "Do two measures rank the runs alike? Kendall's τ between every two rankings by mean score.",
    ),
    "consistency": (
        "Split-half consistency",
        "Does a measure give the same ranking on other topics? Mean τ between rankings on two random, disjoint sets.",
    ),
    "power": (
        "Discriminative power",
        "How many differences between runs does a measure find significant? Not every discriminative measure is right, "
        "but one that tells nothing apart says nothing. By two tests: the papers' own, which takes runs to differ in "
        f"their means only, and {ROBUST_TEST}, which lets them differ in spread.",
    ),
    "reference": (
        "Against the reference",
        "Are the differences that a measure finds significant right? Of its significant pairs of runs, those that the "
        "reference confirms (finds significant too), contradicts (finds the opposite significant), or does not find, and "
        "those that it misses. A measure that separates many runs and is contradicted is not discriminative but wrong.",
    ),
    "overlap": ("Significance overlap", "Do measures find the same pairs of runs significantly different?"),
    "contradictions": (
        "Contradictions",
        "For which run pairs do two measures reach opposite significant conclusions?",
    ),
    "coverage": (
        "Coverage",
        "Does an improvement by a measure go with improvement by all reference measures at once? Spearman's ρ with the "
        "unanimous improvement ratio; it depends on which reference measures are chosen.",
    ),
    "sample_size": (
        "Number of topics",
        "How many topics does a measure need to rank consistently and to tell runs apart?",
    ),
    "preference": ("Baseline preference", "Which of the two baselines does each measure prefer, topic by topic?"),
}


def write_report(comparison: Comparison, folder: Path) -> Path:
    """Write the report into a folder: whole, in the place of a former one, or not at all.

    Parameters
    ----------
    comparison : Comparison
    folder : Path
        Made if need be. What is in it and not of a former report stays.

    Returns
    -------
    Path
        Of ``index.html``.
    """
    with write_together(folder, instead_of=_find_former(folder)) as where:
        aside = Path(where)
        _write_files(comparison, aside)
        _summary_table(comparison).write(aside / "tables", "summary")
        _traits_table(comparison).write(aside / "tables", "traits")
        files = sorted(str(path.relative_to(aside)) for path in aside.rglob("*/*") if path.is_file())
        description = json.dumps(_described(comparison, files), ensure_ascii=False, indent=1, allow_nan=False)
        write_atomically(aside / "report.json", description)
        write_atomically(aside / "index.html", _page(comparison, aside))
        for path in aside.glob("page-*.png"):  # a part of the page by now
            path.unlink()
    return folder / "index.html"


def _write_files(comparison: Comparison, aside: Path) -> None:
    """Write tables and figures, on all processors: drawing takes longer than computing what is drawn."""
    import joblib

    tasks = [joblib.delayed(_write_result)(result, aside, name) for name, result in _results(comparison)]
    tasks += [
        joblib.delayed(_write_small_panels)(study, comparison.new, aside / f"page-{number}.png")
        for number, study in enumerate(comparison.collections, start=1)
    ]
    tasks.sort(key=lambda task: not _is_large(task))
    n_jobs = min(joblib.cpu_count(), len(tasks) // _TASKS_A_PROCESS) or 1
    run_tasks(tasks, n_jobs=n_jobs)


def _is_large(task: tuple[Any, ...]) -> bool:
    """Figures of many points go first, so that no processor is left with one at the end."""
    return any(isinstance(part, BaselinePreference) for part in task[1]) or task[0] is _write_small_panels


def _find_former(folder: Path) -> set[str]:
    """Return what an earlier report in this folder says it wrote, and nothing outside of it."""
    try:
        listed = json.loads((folder / "report.json").read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = folder.resolve()
    paths = [(folder / name).resolve() for name in listed if isinstance(name, str)]
    return {str(path.relative_to(inside)) for path in paths if inside in path.parents and path.is_file()}


def _results(comparison: Comparison) -> Iterator[tuple[str, Result]]:
    """Go through all results with the names of their files."""
    for number, study in enumerate(comparison.collections, start=1):
        prefix = _prefix(comparison, number)
        for question, result in study.results():
            yield f"{prefix}-{FILES.get(question, question)}", result
    if comparison.pooled is not None:
        yield "pooled-power", comparison.pooled


def _prefix(comparison: Comparison, number: int) -> str:
    """Return how the names of a collection's files begin: its own name may hold anything, theirs may not."""
    name = comparison.collections[number - 1].name
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:60] or "scores"
    return stem if len(comparison.collections) == 1 else f"{number}-{stem}"


def _write_small_panels(study: Study, new: tuple[str, ...], path: Path) -> None:
    """Draw the deltas of new measures against those of others, small enough to be a part of the page."""
    if study.preference is None:
        return
    names = [str(one) for one in study.preference.measures]
    pairs = [(other, one) for one in names if one in new for other in names if other not in new][:8]
    if pairs:
        figure = study.preference.plot(pairs)
        with house_style():
            figure.savefig(path, dpi=80, bbox_inches=fix_layout(figure), metadata={"Software": None})


def _write_result(result: Result, folder: Path, name: str) -> None:
    result.write_tables(folder / "tables", name)
    save_figure(result.plot(), folder / "figures", name)


def _described(comparison: Comparison, files: list[str]) -> dict[str, Any]:
    """Return the whole comparison as plain data."""
    return {
        "title": _title(comparison),
        "new": list(comparison.new),
        "signature": str(comparison.signature),
        "reference": None if comparison.reference is None else str(comparison.reference),
        "directions": {str(one): one.direction for one in _list_measures(comparison)},
        "notes": list(comparison.notes),
        "diagnostics": [
            {"notes": one.diagnostics.describe(), **one.diagnostics.to_dict()} for one in comparison.collections
        ],
        "rules": comparison.rules(),
        "summary": to_records(comparison.to_frame()),
        "traits": {
            measure: {name: {"mark": trait.mark, "evidence": trait.evidence} for name, trait in found.items()}
            for measure, found in comparison.traits.items()
        },
        "results": {name: result.to_dict() for name, result in _results(comparison)},
        "skipped": {one.name: one.skipped or {} for one in comparison.collections},
        "files": files,
    }


def _title(comparison: Comparison) -> str:
    return f"{', '.join(comparison.new)} beside the established measures"


def _page(comparison: Comparison, aside: Path) -> str:
    n_runs = " and ".join(
        f"{len(one.scores.runs)} runs × {len(one.scores.topics)} topics ({one.name})" for one in comparison.collections
    )
    sections = [_summary(comparison), _runs(comparison), _traits(comparison)]
    sections += [_by_collection(comparison, key, aside) for key in SECTIONS]
    sections.append(_skipped(comparison))
    shown = [section for section in sections if section.blocks or section.parts or section.text]
    return page(_title(comparison), f"{n_runs}.", shown, str(comparison.signature))


def _summary_table(comparison: Comparison) -> Table:
    def marks(frame: pd.DataFrame) -> pd.DataFrame:
        bands = {"good": "band high", "fair": "band middle", "poor": "band low", CONTRADICTED: "band low"}
        return frame.map(lambda mark: bands.get(mark.partition(" (")[0], ""))

    caption = "Summary, like Tables 4 and 7 of Sakai (ACL 2021). Every mark is reached by the rule stated below it."
    return Table(comparison.to_frame(), caption, comparison.signature, marks=marks)


def _summary(comparison: Comparison) -> Section:
    links = dict.fromkeys((name for found in comparison.traits.values() for name in found), "traits")
    links |= {name: name for name in ("similarity", "consistency", "power", "reference")} | {ROBUST_POWER: "power"}
    table = table_block(_summary_table(comparison), links=links, highlight=comparison.new)
    text = (*comparison.notes, _tell_directions(comparison))
    return Section("summary", "Summary", text, (table, rules_block(comparison.rules())))


def _runs(comparison: Comparison) -> Section:
    """Return what is irregular about the runs of each collection, which bears on every result below."""
    notes = tuple(note for one in comparison.collections for note in one.diagnostics.describe())
    return Section("runs", "Runs that distort results", notes)


def _list_measures(comparison: Comparison) -> list[Measure]:
    """Return all measures, and what they are held against."""
    return [*comparison.measures, *([] if comparison.reference is None else [comparison.reference])]


def _tell_directions(comparison: Comparison) -> str:
    """Return in sentences of which measures higher or lower scores are better, and of which that is assumed."""
    words = {
        "higher": "Higher is better",
        "lower": "Lower is better",
        "assumed: higher": "Assumed, because nobody stated it, that higher is better",
    }
    measures = _list_measures(comparison)
    named = {way: [str(one) for one in measures if one.direction == way] for way in words}
    return " ".join(f"{words[way]}: {', '.join(names)}." for way, names in named.items() if names)


def _traits_table(comparison: Comparison) -> Table:
    rows = [
        (measure, name, trait.mark, trait.evidence)
        for measure, found in comparison.traits.items()
        for name, trait in found.items()
    ]
    frame = pd.DataFrame(rows, columns=["measure", "trait", "mark", "tried, or found"]).set_index("measure")
    caption = "Each trait is tried on made-up data: how many cases, or the case that speaks against it."
    return Table(frame, caption, comparison.signature)


def _traits(comparison: Comparison) -> Section:
    block = table_block(_traits_table(comparison), highlight=comparison.new)
    return Section("traits", "What kind of measure", (), (block,))


def _by_collection(comparison: Comparison, key: str, aside: Path) -> Section:
    title, question = SECTIONS[key]
    parts = []
    for number, study in enumerate(comparison.collections, start=1):
        blocks = [*_blocks(study, key, comparison.new), *_pictures(comparison, key, number, aside)]
        if blocks:
            parts.append(Section(f"{key}-{number}", study.name, (), tuple(blocks)))
    pooled: tuple[Block, ...] = ()
    if key == "power" and comparison.pooled is not None:
        pooled = (table_block(comparison.pooled.to_table(), highlight=comparison.new),)
    if not parts:
        return Section(key, title)
    return Section(key, title, (question,), pooled, tuple(parts))


def _blocks(study: Study, key: str, new: tuple[str, ...]) -> list[Block]:
    """Return what a section shows of one collection: tables, and what can be pointed at."""
    if key == "similarity":
        return [] if study.similarity is None else [_similarity_block(study.similarity, study.name)]
    if key == "sample_size":
        return []  # the curves are a picture, and their numbers are in the files
    together = {
        "consistency": ("consistency", "small_consistency"),
        "power": ("power", "robust_power"),
        "reference": ("reference", "robust_reference"),
    }
    keys = together.get(key, (key,))
    blocks = [table_block(getattr(study, k).to_table(), highlight=new) for k in keys if getattr(study, k) is not None]
    if key == "power" and study.power is not None:
        blocks.insert(0, curves_block(study.power, new))
    if key == "contradictions" and study.contradictions is not None:
        blocks += [_run_pairs_block(table, new) for table in study.contradictions.detail_tables()]
    return blocks


def _similarity_block(found: RankingSimilarity, name: str) -> Block:
    names = [one.title for one in found.measures]
    square = pd.DataFrame(found.tau, index=names, columns=names)
    tips = {
        (i, j): f"{names[i]} and {names[j]}\nτ = {found.tau[i, j]:.3f}\n"
        f"{found.confidence:.0%} interval over topics: {found.low[i, j]:.3f} to {found.high[i, j]:.3f}"
        for i, j in np.ndindex(found.tau.shape)
        if i != j
    }
    return heatmap_block(square, f"τ between rankings, {name}", str(found.signature), tips)


def _run_pairs_block(table: Table, new: tuple[str, ...]) -> Block:
    """Show the first contradicting run pairs; the file beside the page has them all."""
    if len(table.frame) > _LISTED:
        caption = f"{table.caption} The first {_LISTED} of {len(table.frame):,}."
        table = replace(table, frame=table.frame.head(_LISTED), caption=caption)
    return table_block(table, highlight=new)


def _pictures(comparison: Comparison, key: str, number: int, aside: Path) -> list[Block]:
    """Return the figures of a section that are there, as they were written beside the page."""
    name = comparison.collections[number - 1].name
    figures = aside / "figures" / _prefix(comparison, number)
    there = {
        "consistency": (Path(f"{figures}-consistency.svg"), f"Distribution of τ over splits of {name}."),
        "sample_size": (
            Path(f"{figures}-topics.svg"),
            f"Consistency and discriminative power against the number of topics of {name}; the numbers are in tables/.",
        ),
        "preference": (
            aside / f"page-{number}.png",
            f"Score deltas of the new measure against those of others, {name}.",
        ),
    }
    if key not in there or not there[key][0].exists():
        return []
    return [picture_block(*there[key])]


def _skipped(comparison: Comparison) -> Section:
    lines = tuple(
        f"{one.name}: {sentence}" for one in comparison.collections for sentence in (one.skipped or {}).values()
    )
    return Section("skipped", "What does not apply", lines)
