"""Page 4: your own scores: a question, its answer, charts and tables, and the command that gives the same."""

from __future__ import annotations

import io
import shlex
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import streamlit as st

import metaeval as me
from metaeval.app.charts import show_chart
from metaeval.app.parts import plain, say_errors
from metaeval.datasets.open import open_scores
from metaeval.datasets.registry import datasets
from metaeval.io.formats import READ_FORMATS, parse_columns

QUESTIONS = {
    "similarity": ("Do two measures rank the runs alike?", me.ranking_similarity),
    "consistency": ("Does a measure give the same ranking on other topics?", me.split_half_consistency),
    "power": ("How many significant differences does a measure find?", me.discriminative_power),
    "ranks": ("Which ranks of runs are real?", me.run_ranks),
    "overlap": ("Do two measures find the same significant differences?", me.significance_overlap),
    "contradictions": ("Where do two measures contradict each other?", me.significance_contradictions),
    "agreement": ("Which measures agree with a reference?", me.agreement),
    "compare": ("A report on one measure beside the others", me.compare),
}
TESTED, OF_POWER = ("power", "ranks", "overlap", "contradictions"), ("ranks", "overlap", "contradictions")
TESTS = ("randomised-tukey-hsd", "max-t", "bootstrap-t")


def show() -> None:
    """Draw the page."""
    st.title("Your scores")
    st.markdown(
        "Scores of runs on topics by one or more measures: can the measures be trusted? Nothing leaves this machine."
    )
    with say_errors():
        source, reading = _choose_source()
        if source is None:
            st.caption(
                "Tables with a row per score, a column per measure, or a column per run; trec_eval -q; logs of harnesses."
            )
            return
        scores = _read(source, tuple(sorted(reading.items())))
        st.success(plain(f"{scores!r}"))
        question, options = _choose_question(scores)
        words = [f"--{name.replace('_', '-')}={value}" for name, value in {**reading, **options}.items() if value]
        st.code(f"metaeval {question} {shlex.join([Path(source).name, *words])}", language=None)
        if st.button("Answer", type="primary"):
            _answer(question, scores, options)


def _choose_source() -> tuple[str | None, dict[str, str]]:
    """Return what is to be read, a file that was sent or a public data set, and how."""
    left, right = st.columns(2)
    sent = left.file_uploader("Files with scores", accept_multiple_files=True)
    names = [each.name for each in datasets() if each.kind in ("classification", "quantification", "scores")]
    named = right.selectbox("Or a public data set", names, index=None)
    with st.expander("How to read it"):
        reading = {
            "format": st.selectbox("Format", ["", *READ_FORMATS]),
            "missing": st.selectbox("Where a run has no score on a topic", ["", "drop-topic", "drop-run", "worst"]),
            "doubled": st.selectbox("Where a run has several scores on a topic", ["", "mean", "latest"]),
            "columns": st.text_input("Columns whose names do not tell: run=entry,topic=doc+line,collection=task"),
            "lower_is_better": st.text_input("Measures of which lower scores are better, with commas"),
        }
    if not sent:
        return named, reading
    folder = Path(st.session_state.setdefault("folder", tempfile.TemporaryDirectory(prefix="metaeval-")).name)
    for old in folder.iterdir():
        old.unlink()
    for file in sent:
        (folder / Path(file.name).name).write_bytes(file.getvalue())
    return str(folder if len(sent) > 1 else folder / Path(sent[0].name).name), reading


@st.cache_data(max_entries=2, show_spinner="Reading")
def _read(source: str, reading: tuple[tuple[str, str], ...]) -> Any:
    options: dict[str, Any] = {name: value for name, value in reading if value}
    options["columns"] = parse_columns(options.get("columns"))
    options["lower_is_better"] = [
        name.strip() for name in options.pop("lower_is_better", "").split(",") if name.strip()
    ]
    return open_scores(source, **options)


def _choose_question(scores: Any) -> tuple[str, dict[str, Any]]:
    names = [str(measure) for measure in scores.measures]
    left, right = st.columns(2)
    question = str(left.selectbox("Question", list(QUESTIONS), format_func=lambda key: QUESTIONS[key][0]))
    options: dict[str, Any] = {"seed": int(right.number_input("Seed", 0))}
    if question in TESTED:
        options["test"] = left.selectbox("Test", TESTS)
    if question in ("ranks", "compare"):
        options["measure"] = left.selectbox("Measure", names)
    if question == "agreement":
        options["reference"] = left.selectbox("Reference", names)
    return question, options


def _answer(question: str, scores: Any, options: dict[str, Any]) -> None:
    """Compute an answer and show it: the sentence, charts, tables, and everything to download."""
    measure = options.pop("measure", None)
    with st.spinner("Computing"), tempfile.TemporaryDirectory() as folder:
        if question == "compare":
            me.compare(measure, scores, **options).write(folder)
        else:
            chosen = scores.sel(measures=[measure]) if measure else scores
            given = me.discriminative_power(chosen, **options) if question in OF_POWER else chosen
            result = QUESTIONS[question][1](given, **({} if question in OF_POWER else options))
            st.header(plain(result.answer()))
            for chart in result.charts():
                show_chart(chart, QUESTIONS[question][0])
            for table in result.short_tables():
                st.html(f'<div class="me-wide">{table.to_html()}</div>')
            for note in result.notes(short=True):
                st.warning(plain(note))
            st.caption(plain(str(result.signature)))
            result.write_tables(Path(folder), question)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
                archive.write(file, file.relative_to(folder))
    st.download_button("Everything: tables, LaTeX, data (ZIP)", packed.getvalue(), file_name=f"{question}.zip")
