"""What a command of the page Your scores has found: charts that can be pointed at, tables, and files to download."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.charts import draw_intervals, draw_lines, draw_matrix, show_chart
from metaeval.app.jobs import Job
from metaeval.app.parts import format_score, plain, show_table

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
    """Show the answer to a question, as the command has left it in a folder.

    Parameters
    ----------
    job : Job
    folder : Path
    question : str
        A key of `QUESTIONS`.
    """
    st.header(QUESTIONS[question])
    for note in job.notes():
        st.warning(plain(note))
    if question == "compare":
        _offer_report(folder)
        return
    rows = list(csv.reader(io.StringIO(job.printed())))
    content = read_json(folder)
    if content is not None:
        _draw(question, content)
    if question == "power" and content is not None:
        _draw_power(folder, content)
    if rows:
        head = rows[0][:MOST_COLUMNS]
        body = [[_round(cell) for cell in row[:MOST_COLUMNS]] for row in rows[1 : MOST_ROWS + 1]]
        parts = [
            f"the first {most} of {n:,} {what}"
            for what, n, most in (("rows", len(rows) - 1, MOST_ROWS), ("columns", len(rows[0]), MOST_COLUMNS))
            if n > most
        ]
        more = f"; {' and '.join(parts)}, the file has all" if parts else ""
        show_table(head, body, f"{QUESTIONS[question]}{more}", text=_count_words(body))
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
    """Return what a command has written as JSON; None if it has written none.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict or None
    """
    found = sorted(folder.glob("*.json"))
    if not found:
        return None
    content: dict[str, Any] = json.loads(found[0].read_text(encoding="utf-8"))
    return content


def _group_files(folder: Path) -> dict[str, list[Path]]:
    kinds = {"LaTeX": ".tex", "CSV": ".csv", "Figure": ".svg", "HTML": ".html"}
    return {kind: found for kind, suffix in kinds.items() if (found := sorted(folder.glob(f"*{suffix}")))}


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


def _round(cell: str) -> str:
    """Show a number with four digits behind the point; words and whole numbers as they are."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return cell if number == int(number) and "." not in cell else f"{number:.4f}" if np.isfinite(number) else "–"


def _count_words(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first columns hold words."""

    def is_number(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return cell in ("", "–")
        return True

    width = len(rows[0]) if rows else 1
    return next((column for column in range(width) if all(is_number(row[column]) for row in rows)), width)


def _draw(question: str, content: dict[str, Any]) -> None:
    """Draw an answer so that it can be pointed at."""
    rows = content["rows"]
    if question == "similarity":
        names = [str(row["measure"]) for row in rows]
        values = np.array([[_number(row.get(name)) for name in names] for row in rows])
        _draw_square(values, names, "τ")
    elif question in ("overlap", "contradictions"):
        key = "sso" if question == "overlap" else "contradictions"
        names = list(dict.fromkeys(str(row[side]) for row in rows for side in ("measure_1", "measure_2")))
        values = np.full((len(names), len(names)), np.nan)
        for row in rows:
            i, j = names.index(str(row["measure_1"])), names.index(str(row["measure_2"]))
            values[i, j] = values[j, i] = _number(row[key])
        _draw_square(values, names, "SSO" if question == "overlap" else "contradictions")
    elif question == "consistency":
        dots = [{"name": f"{row['measure']} ({row['letters']})", "value": row["mean_tau"]} for row in rows]
        _draw_dots(dots, "mean τ between two sets of topics; measures that share a letter are not told apart")
    elif question == "power":
        dots = [
            {"name": row["measure"], "value": row["power"], "low": row.get("low"), "high": row.get("high")}
            for row in sorted(rows, key=lambda row: -_number(row["power"]))
        ]
        _draw_dots(dots, "share of pairs of runs that differ significantly, with its interval over topics")
    elif question == "ranks":
        dots = [
            {"name": f"{row['run']} ({row['letters']})", "value": row["rank"], "low": row["low"], "high": row["high"]}
            for row in rows[:60]
        ]
        _draw_dots(
            dots, "rank, and the ranks that the test leaves possible; runs that share a letter are not told apart"
        )
    elif question == "agreement":
        statistics = list(dict.fromkeys(row["statistic"] for row in rows))
        chosen = st.selectbox("Statistic", statistics, key="statistic")
        dots = [
            {"name": row["measure"], "value": row["value"], "low": row["low"], "high": row["high"]}
            for row in sorted(rows, key=lambda row: -_number(row["value"]))
            if row["statistic"] == chosen
        ]
        _draw_dots(dots, f"{chosen} with the reference, with its interval")


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _draw_square(values: np.ndarray, names: list[str], what: str) -> None:
    if len(names) <= 30 and np.isfinite(values).any():
        show_chart(
            draw_matrix(values, names, names, ("measure", "other measure", what), digits=0 if what == "contradictions" else 2),
            f"Heat map of {what} between every two measures; the table below has the numbers.", height=60 + 28 * len(names),
        )  # fmt: skip


def _draw_dots(dots: list[dict[str, Any]], title: str) -> None:
    if dots:
        # Above the chart, where it is broken into lines as the window needs it; a title of an axis would be cut off.
        st.caption(f"{title[0].upper()}{title[1:]}.")
        show_chart(draw_intervals(dots, ""), f"Dots with intervals: {title}.", height=50 + 24 * len(dots))


def read_curves(path: Path) -> dict[str, np.ndarray]:
    """Return the p-values of every measure in descending order, from the file that the command writes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to ndarray, shape (pair,)
    """
    found: dict[str, list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["measure"], []).append(float(row["p_value"]))
    return {name: -np.sort(-np.array(values)) for name, values in found.items()}


def _draw_power(folder: Path, content: dict[str, Any]) -> None:
    """Draw the discriminative power curves, where pairs come near to being significant (ACL 2021, Figures 1 to 3)."""
    alpha = float(content["settings"]["alpha"])
    ceiling = min(1.0, max(0.2, 4 * alpha))
    curves, labels = {}, {}
    for name, values in read_curves(folder / P_VALUES).items():
        pairs = np.flatnonzero(values <= ceiling)
        pairs = pairs[np.unique(np.linspace(0, len(pairs) - 1, MOST_POINTS).astype(int))] if len(pairs) else pairs
        curves[name] = (pairs + 1.0, values[pairs])
        labels[name] = f"{name} ({(values <= alpha).sum()})"
    titles = ("pairs of runs, by p-value from large to small", "p-value")
    ordered = dict(sorted(curves.items(), key=lambda one: -len(one[1][0])))
    spec = draw_lines(ordered, titles, level=alpha, labels=labels, marks=6)
    for layer in spec["layer"][:2]:
        layer["encoding"]["x"] = {**layer["encoding"]["x"], "axis": {"tickMinStep": 1}}  # pairs are counted
    show_chart(
        spec,
        f"Curves of every measure: p-values of all pairs of runs in descending order, with a line at {alpha:g}. A curve that "
        "is lower finds more pairs significant; their number is in brackets.",
        height=340,
    )
    st.caption(f"p-values up to {ceiling:g}, and α = {alpha:g}. In brackets: how many pairs are significant.")


def _show_differences(content: dict[str, Any]) -> None:
    """Show by how much one measure finds more than another, the widest difference on top."""
    rows = sorted(content.get("details", {}).get("differences", []), key=lambda row: -abs(_number(row["difference"])))
    if rows:
        more = f"; the first {MOST_ROWS} of {len(rows):,}, the file has all" if len(rows) > MOST_ROWS else ""
        show_table(
            ["measure", "other measure", "finds more", "difference", "low", "high"],
            [
                [str(row["measure_1"]), str(row["measure_2"]), str(row["finds_more"])]
                + [format_score(100 * _number(row[key]), 1, sign=True) for key in ("difference", "low", "high")]
                for row in rows[:MOST_ROWS]
            ],
            f"Which of two measures finds more, in % of the pairs of runs, with the interval of the difference{more}",
            text=3,
        )
