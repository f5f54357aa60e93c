"""Files of a report: every table and chart is written once, and the page links to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from metaeval.analyses.result import Result
from metaeval.analyses.study import SMALL
from metaeval.comparison.page import Block, table_block
from metaeval.comparison.results import ComparisonResults
from metaeval.show.screen import make_file
from metaeval.show.signature import Signature
from metaeval.show.table import Table, flat_label, format_csv, to_records, write_frames

FILES = {
    "small_consistency": f"consistency-{SMALL}",
    "sample_size": "topics",
    "preference": "baselines",
}
"""How the file of a question is called where not by its name, or that of its test."""


@dataclass
class ReportFiles:
    """The folder of a report while it is written."""

    folder: Path
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def put_table(
        self,
        table: Table,
        name: str,
        *,
        frame: pd.DataFrame | None = None,
        details: Mapping[str, pd.DataFrame] | None = None,
        links: Mapping[str, str] | None = None,
        highlight: Sequence[str] = (),
        folded: str = "",
        definitions: Mapping[str, str] | None = None,
    ) -> Block:
        """Write a table as CSV and LaTeX, and return it with links to both."""
        block = table_block(table, links=links, highlight=highlight, folded=folded, definitions=definitions)
        return block.link(*self.write_table(table, name, frame=frame, details=details))

    def write_table(
        self,
        table: Table,
        name: str,
        *,
        frame: pd.DataFrame | None = None,
        details: Mapping[str, pd.DataFrame] | None = None,
    ) -> list[tuple[str, str]]:
        """Write a table as CSV and LaTeX, and return what links to them say, and where they lead."""
        rows = table.frame if frame is None else frame
        links = [
            ("CSV", self._write("tables", f"{name}.csv", format_csv(rows))),
            ("LaTeX", self._write("tables", f"{name}.tex", table.to_latex())),
        ]
        more = details or {}
        for detail, detail_rows in more.items():
            title = detail.replace("_", " ")
            links.append((f"CSV: {title}", self.write_frame(detail_rows, f"{name}-{detail.replace('_', '-')}")))
        self.results[name] = {
            "caption": table.whole_caption,
            "signature": str(table.signature),
            "rows": _to_rows(rows),
            **({"details": {detail: _to_rows(detail_rows) for detail, detail_rows in more.items()}} if more else {}),
        }
        return links

    def write_frame(self, frame: pd.DataFrame, name: str) -> str:
        """Write rows as CSV only, and return where they are."""
        return self._write("tables", f"{name}.csv", format_csv(frame))

    def write_parts(self, frames: Iterable[pd.DataFrame], name: str) -> str:
        """Write rows that come in parts as CSV only, and return where they are; memory holds one part."""
        (self.folder / "tables").mkdir(parents=True, exist_ok=True)
        write_frames(self.folder / "tables" / f"{name}.csv", frames)
        return f"tables/{name}.csv"

    def put_charts(self, block: Block, charts: Mapping[str, str], signature: Signature | str) -> Block:
        """Write charts as SVG, and return the block that shows them with links to the files."""
        label = "SVG" if len(charts) == 1 else "SVG {}"
        paths = [self._write("figures", f"{name}.svg", make_file(svg, str(signature))) for name, svg in charts.items()]
        return block.link(*((label.format(number), path) for number, path in enumerate(paths, start=1)))

    def _write(self, folder: str, name: str, text: str) -> str:
        (self.folder / folder).mkdir(parents=True, exist_ok=True)
        # The folder takes its place as a whole, once everything in it is on the disk.
        (self.folder / folder / name).write_bytes(text.encode())
        return f"{folder}/{name}"


def _to_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return to_records(frame.set_axis([flat_label(column) for column in frame.columns], axis=1))


def name_results(comparison: ComparisonResults) -> Iterator[tuple[str, Result]]:
    """Go through all results with the names of their files."""
    for number, study in enumerate(comparison.collections, start=1):
        for question, result in study.results():
            yield name_file(comparison, number, question), result
    if comparison.pooled is not None:
        yield "pooled-power", comparison.pooled


def name_file(comparison: ComparisonResults, number: int, question: str) -> str:
    """Return the name of a result's files, without suffix: a collection's own name may hold anything, theirs may not."""
    study = comparison.collections[number - 1]
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in study.name)[:60] or "scores"
    test = comparison.second_test
    by_test = {"second_power": f"power-{test}", "second_reference": f"reference-{test}"}
    prefix = stem if len(comparison.collections) == 1 else f"{number}-{stem}"
    return f"{prefix}-{(FILES | by_test).get(question, question)}"
