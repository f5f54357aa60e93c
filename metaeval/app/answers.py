"""What a command of the page Your scores has found: charts that can be pointed at, tables, and files to download."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.charts import show_chart
from metaeval.app.jobs import Job
from metaeval.app.parts import plain, show_table
from metaeval.show.cells import format_cell
from metaeval.show.charts import HeatMap, IntervalChart, Line, LineChart, Row, thin_chart

QUESTIONS = {
    "similarity": "Do two measures rank the runs alike?",
    "consistency": "Does a measure give the same ranking on other topics?",
    "power": "How many significant differences does a measure find?",
    "ranks": "Which ranks of runs are real?",
    "overlap": "Do two measures find the same significant differences?",
    "contradictions": "Where do two measures contradict each other?",
    "agreement": "Which measures agree with a reference?",
    "compare": "A report on one measure beside the others",
}
P_VALUES = "p-values.csv"
"""The file with the p-values of power, for its curve."""
MOST_ROWS, MOST_COLUMNS, MOST_POINTS = 200, 60, 300


def show_answer(job: Job, folder: Path, question: str) -> None:
    """Show the answer to a question, as the command has left it in a folder."""
    if question == "compare":
        st.header(QUESTIONS[question])
        _offer_report(folder)
        return
    # The command answers first.
    st.header(plain(" ".join(job.printed().partition("\n\n")[0].split())))
    for note in job.notes():
        st.warning(plain(note))
    content = read_json(folder)
    if content is not None:
        _draw(question, content)
    if question == "power" and content is not None:
        _draw_power(folder, content)
    _show_first_table(folder, QUESTIONS[question])
    if question == "power" and content is not None:
        _show_differences(content)
    if content is not None:
        st.caption(plain(content["signature"]))
    st.markdown("**Download**")
    for column, (kind, files) in zip(st.columns(4), _group_files(folder).items(), strict=False):
        for file in files:
            column.download_button(
                f"{kind}: {file.name}", file.read_bytes(), file_name=file.name, key=f"get-{file.name}"
            )


def read_json(folder: Path) -> dict[str, Any] | None:
    """Return what a command has written as JSON; None if it has written none."""
    files = sorted(folder.glob("*.json"))
    if not files:
        return None
    content: dict[str, Any] = json.loads(files[0].read_text(encoding="utf-8"))
    return content


def _group_files(folder: Path) -> dict[str, list[Path]]:
    kinds = {"LaTeX": ".tex", "CSV": ".csv", "Figure": ".svg", "HTML": ".html"}
    return {kind: matching for kind, suffix in kinds.items() if (matching := sorted(folder.glob(f"*{suffix}")))}


def _offer_report(folder: Path) -> None:
    page = folder / "index.html"
    st.download_button(
        "The report as a page (HTML)", page.read_bytes(), file_name="index.html", mime="text/html", key="get-report"
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    st.download_button("Report, tables and scores (ZIP)", packed.getvalue(), file_name="report.zip", key="get-zip")


def _show_first_table(folder: Path, caption: str) -> None:
    """Show the numbers as the command prints them, from the table that it writes for people."""
    for file in sorted(folder.glob("*.md")):
        lines = file.read_text(encoding="utf-8").splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("|"))
        table = itertools.takewhile(lambda line: line.startswith("|"), lines[first:])
        # A line within a cell is escaped, so that one between blanks parts two cells; bold names stand between stars.
        head, rule, *rows = [
            [
                html.unescape(cell.replace("\\|", "|")).removeprefix("**").removesuffix("**")
                for cell in line[2:-2].split(" | ")
            ]
            for line in table
        ]
        words = next((column for column, mark in enumerate(rule) if mark == "--:"), len(rule))
        parts = [
            f"the first {most} of {n:,} {what}"
            for what, n, most in (("rows", len(rows), MOST_ROWS), ("columns", len(head), MOST_COLUMNS))
            if n > most
        ]
        more = f"; {' and '.join(parts)}, the file has all" if parts else ""
        show_table(
            head[:MOST_COLUMNS], [row[:MOST_COLUMNS] for row in rows[:MOST_ROWS]], f"{caption}{more}", text=words
        )


PAIRED = {"overlap": ("sso", "SSO"), "contradictions": ("contradictions", "contradictions")}
"""Questions that are answered for every two measures: the column of the number, and what it is called."""


def _draw(question: str, content: dict[str, Any]) -> None:
    """Draw an answer so that it can be pointed at."""
    rows = content["rows"]
    if question == "similarity":
        names = [str(row["measure"]) for row in rows]
        _draw_square(np.array([[_number(row.get(name)) for name in names] for row in rows]), names, "τ")
    elif question in PAIRED:
        key, title = PAIRED[question]
        names = list(dict.fromkeys(str(row[side]) for row in rows for side in ("measure_1", "measure_2")))
        values = np.full((len(names), len(names)), np.nan)
        for row in rows:
            i, j = names.index(str(row["measure_1"])), names.index(str(row["measure_2"]))
            values[i, j] = values[j, i] = _number(row[key])
        _draw_square(values, names, title)
    else:
        _draw_dots(*_list_dots(question, rows))


def _list_dots(question: str, rows: list[dict[str, Any]]) -> tuple[list[Row], str]:
    """Return the rows of a chart of intervals, and what they are."""
    if question == "consistency":
        dots = [Row(row["measure"], f"{row['measure']} ({row['letters']})", _number(row["mean_tau"])) for row in rows]
        return dots, "mean τ between two sets of topics; measures that share a letter do not differ significantly"
    if question == "power":
        dots = [_make_row(row, "power", "measure") for row in sorted(rows, key=lambda row: -_number(row["power"]))]
        return dots, "share of pairs of runs that differ significantly, with its interval over topics"
    if question == "ranks":
        dots = [replace(_make_row(row, "rank"), title=f"{row['run']} ({row['letters']})") for row in rows[:60]]
        possible = "rank, and the ranks that the test leaves possible"
        return dots, f"{possible}; runs that share a letter do not differ significantly"
    statistic = st.selectbox("Statistic", list(dict.fromkeys(row["statistic"] for row in rows)), key="statistic")
    ordered = sorted(rows, key=lambda row: -_number(row["value"]))
    dots = [_make_row(row, "value", "measure") for row in ordered if row["statistic"] == statistic]
    return dots, f"{statistic} with the reference, with its interval"


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _make_row(row: dict[str, Any], key: str, label: str = "") -> Row:
    """Return a row of a chart with its interval, if it has one; what has no label of a measure looks like all others."""
    ends = _number(row.get("low")), _number(row.get("high"))
    name = str(row[label]) if label else ""
    return Row(name, name, _number(row[key]), line=ends if np.isfinite(ends).all() else None)


def _draw_square(values: np.ndarray, names: list[str], what: str) -> None:
    counted = what == "contradictions"
    if len(names) <= 30 and np.isfinite(values).any():
        show_chart(
            HeatMap(
                values, names, names, f"{what} of every two measures", partial(format_cell, digits=0 if counted else 2),
                highest=max(1.0, float(np.nanmax(values))) if counted else 1.0, diagonal=False,
            ),
            f"Heat map of {what} between every two measures; the table below has the numbers.",
        )  # fmt: skip


def _draw_dots(dots: list[Row], title: str) -> None:
    if dots:
        # Above the chart, where it is broken into lines as the window needs it; a title of an axis would be cut off.
        st.caption(f"{title[0].upper()}{title[1:]}.")
        show_chart(IntervalChart(dots, ""), f"Dots with intervals: {title}.")


def read_curves(path: Path) -> dict[str, np.ndarray]:
    """Return the p-values of every measure in descending order, from the file that the command writes."""
    curves: dict[str, list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            curves.setdefault(row["measure"], []).append(float(row["p_value"]))
    return {name: -np.sort(-np.array(values)) for name, values in curves.items()}


def make_power_chart(curves: dict[str, np.ndarray], alpha: float) -> LineChart:
    """Return the curves where pairs come near to being significant, as `DiscriminativePower.charts` has them."""
    lines = [
        Line(name, name, np.arange(1, len(values) + 1), values, count=int((values <= alpha).sum()))
        for name, values in curves.items()
    ]
    lines.sort(key=lambda line: -(line.count or 0))
    chart = LineChart(
        lines, "run pairs, by p-value from large to small", "p-value", limits=(0.0, min(1.0, max(0.2, 4 * alpha))),
        level=(alpha, f"α = {alpha:g}"), marks=5, counted="significant pairs",
    )  # fmt: skip
    return thin_chart(chart, MOST_POINTS)[0]


def _draw_power(folder: Path, content: dict[str, Any]) -> None:
    """Draw the discriminative power curves (ACL 2021, Figures 1 to 3)."""
    chart = make_power_chart(read_curves(folder / P_VALUES), float(content["settings"]["alpha"]))
    show_chart(
        chart,
        "Curves of every measure: p-values of all pairs of runs in descending order, with a line at α. A curve that "
        "is lower finds more pairs significant; their number is in brackets.",
        width=640,
    )
    st.caption(f"p-values up to {chart.limits[1]:g}. In brackets: how many pairs are significant.")


def _show_differences(content: dict[str, Any]) -> None:
    """Show by how much one measure finds more than another, the widest difference on top."""
    rows = sorted(content.get("details", {}).get("differences", []), key=lambda row: -abs(_number(row["difference"])))
    if rows:
        more = f"; the first {MOST_ROWS} of {len(rows):,}, the file has all" if len(rows) > MOST_ROWS else ""
        show_table(
            ["measure", "other measure", "finds more", "difference", "low", "high"],
            [
                [str(row["measure_1"]), str(row["measure_2"]), str(row["finds_more"])]
                + [format_cell(100 * _number(row[key]), 1) for key in ("difference", "low", "high")]
                for row in rows[:MOST_ROWS]
            ],
            f"Which of two measures finds more, in % of the pairs of runs, with the interval of the difference{more}",
            text=3,
        )
