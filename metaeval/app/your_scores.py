"""The page of one's own scores: a question, its answer, charts and tables, and the command that gives the same."""

from __future__ import annotations

import io
import shlex
import shutil
import tempfile
import weakref
import zipfile
from pathlib import Path
from typing import Any

import streamlit as st

import metaeval as me
from metaeval.app.inputs import clean_name
from metaeval.app.parts import plain, say_errors, show_chart
from metaeval.datasets.open import open_scores
from metaeval.datasets.registry import datasets
from metaeval.io.formats import READ_FORMATS, parse_columns

QUESTIONS: dict[str, tuple[str, Any]] = {
    "similarity": ("Do two measures rank the runs alike?", me.ranking_similarity),
    "consistency": ("Does a measure give the same ranking on other topics?", me.split_half_consistency),
    "power": ("How many significant differences does a measure find?", me.discriminative_power),
    "ranks": ("Which ranks of runs are real?", me.run_ranks),
    "overlap": ("Do two measures find the same significant differences?", me.significance_overlap),
    "contradictions": ("Where do two measures contradict each other?", me.significance_contradictions),
    "agreement": ("Which measures agree with a reference?", me.agreement),
    "compare": ("A report on one measure beside the others", me.compare),
}
OF_POWER = ("overlap", "contradictions")
TESTS = ("bootstrap-t", "max-t", "randomised-tukey-hsd")


class Folder:
    """A private folder that holds the files of a visit, and goes with it or with the server."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="metaeval-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def show() -> None:
    """Draw the page."""
    st.title("Your scores")
    st.markdown(
        "Scores of runs on topics by one or more measures: can the measures be trusted? Nothing leaves this machine."
    )
    if "folder" not in st.session_state:
        st.session_state["folder"] = Folder()
    folder = st.session_state["folder"].path
    with say_errors(lambda text: text.replace(f"{folder}/", "").replace(str(folder), "files")):
        source, reading = _choose_source(folder)
        if source is None:
            st.caption(
                "Tables with a row per score, a column per measure, or a column per run; trec_eval -q; logs of harnesses."
            )
            return
        scores = _read(source, reading)
        st.success(plain(f"{scores!r}"))
        question, options = _choose_question(scores)
        given = {name: value for name, value in {**reading, **options}.items() if value}
        words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        st.code(f"metaeval {question} {shlex.join([Path(source).name, *words])}", language=None)
        if st.button("Answer", type="primary", key="start"):
            _answer(question, scores, options)


def _choose_source(folder: Path) -> tuple[str | None, dict[str, str]]:
    """Return what is to be read, files that were sent or a public data set, and how."""
    left, right = st.columns(2)
    sent = left.file_uploader("Files with scores", accept_multiple_files=True, key="sent")
    names = [each.name for each in datasets() if each.kind in ("classification", "quantification", "scores")]
    named = right.selectbox("Or a public data set", names, index=None, key="data_set")
    with st.expander("How to read it"):
        reading = {
            "format": st.selectbox("Format", ["", *READ_FORMATS], key="format"),
            "missing": st.selectbox(
                "Where a run has no score on a topic", ["", "drop-topic", "drop-run"], key="missing"
            ),
            "doubled": st.selectbox("Where a run has several scores on a topic", ["", "mean", "latest"], key="doubled"),
            "columns": st.text_input(
                "Columns whose names do not tell: run=entry,topic=doc+line,collection=task", key="columns"
            ),
            "lower_is_better": st.text_input("Measures of which lower scores are better, with commas", key="lower"),
        }
    if not sent:
        return named, reading
    named_files = [clean_name(file.name) for file in sent]
    for doubled in {name for name in named_files if named_files.count(name) > 1}:
        raise me.MetaevalError(f"two files are called {doubled}: give them different names")
    if st.session_state.get("written") != [file.file_id for file in sent]:
        for old in folder.iterdir():
            old.unlink()
        for name, file in zip(named_files, sent, strict=True):
            (folder / name).write_bytes(file.getvalue())
        st.session_state["written"] = [file.file_id for file in sent]
        st.session_state.pop("opened", None)
    return str(folder if len(sent) > 1 else folder / named_files[0]), reading


def _read(source: str, reading: dict[str, str]) -> Any:
    """Return the scores of a source, read once a visit."""
    asked = (source, *reading.items())
    kept, scores = st.session_state.get("opened", (None, None))
    if kept != asked:
        options: dict[str, Any] = {name: value for name, value in reading.items() if value}
        options["columns"] = parse_columns(options.get("columns"))
        named = (name.strip() for name in options.pop("lower_is_better", "").split(","))
        with st.spinner("Reading"):
            scores = open_scores(source, lower_is_better=[name for name in named if name], **options)
        st.session_state["opened"] = asked, scores
    return scores


def _choose_question(scores: Any) -> tuple[str, dict[str, Any]]:
    names = [str(measure) for measure in scores.measures]
    left, right = st.columns(2)
    question = str(
        left.selectbox("Question", list(QUESTIONS), format_func=lambda key: QUESTIONS[key][0], key="question")
    )
    options: dict[str, Any] = {"seed": int(right.number_input("Seed", 0, key="seed"))}
    if question in ("power", "ranks", *OF_POWER):
        options["test"] = left.selectbox("Test, in place of the usual one", ["", *TESTS], key="test")
    if question in ("ranks", "compare"):
        options["measure"] = left.selectbox("Measure", names, key="which")
    if question == "agreement":
        options["reference"] = left.selectbox("Reference", names, key="reference")
    return question, {name: value for name, value in options.items() if value != ""}


def _answer(question: str, scores: Any, options: dict[str, Any]) -> None:
    """Compute an answer and show it: the sentence, charts, tables, and everything to download."""
    # Measures are taken out of the scores: what is called as a file of Python is a name here, and is never run.
    chosen = {str(measure): measure for measure in scores.measures}
    measure = chosen.get(options.pop("measure", ""))
    options = {name: chosen[value] if name == "reference" else value for name, value in options.items()}
    with st.spinner("Computing"), tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if question == "compare" and measure is not None:
            result = me.compare(measure, scores, **options)
            result.write(folder)
            st.text(result.verdict())
        else:
            given = scores.sel(measures=[str(measure)]) if measure else scores
            if question in OF_POWER:
                given, options = me.discriminative_power(given, **options), {}
            found = QUESTIONS[question][1](given, **options)
            st.header(plain(found.answer()))
            for chart in found.charts():
                show_chart(chart)
            for table in found.at("short"):
                st.html(f'<div class="me-wide">{table.to_html()}</div>')
            for note in found.notes(short=True):
                st.warning(plain(note))
            st.caption(plain(str(found.signature)))
            found.write_tables(folder, question)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(path for path in folder.rglob("*") if path.is_file()):
                archive.write(file, file.relative_to(folder))
    st.download_button("Everything: tables, LaTeX, data (ZIP)", packed.getvalue(), file_name=f"{question}.zip")
