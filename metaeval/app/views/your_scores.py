"""Page 4: your own scores. Every analysis is a command of metaeval, which the page shows and runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import streamlit as st

from metaeval.app.answers import P_VALUES, QUESTIONS, show_answer
from metaeval.app.jobs import Job, Visits, Workspace
from metaeval.app.parts import plain, say_errors
from metaeval.errors import MetaevalError, MetaevalWarning, option_names_in_use, shorten, use_option_names
from metaeval.io.formats import READ_FORMATS, parse_columns

FORMATS = ("by name and header", *READ_FORMATS)
MISSING, DOUBLED = ("raise", "drop-topic", "drop-run", "worst"), ("raise", "mean", "latest")
TESTS = ("randomised-tukey-hsd", "max-t", "bootstrap-t")
FIELDS = {
    "format": "Format:",
    "missing": "“Where a run has no score on a topic”:",
    "doubled": "“Where a run has several scores on a topic”:",
    "columns": "“Columns”:",
    "lower_is_better": "“Measures of which lower scores are better”:",
    "collection": "“Name of the collection”:",
}
"""What messages about reading call the options: by the labels of the page's fields."""

TESTED = ("power", "ranks", "overlap", "contradictions")
_SHOWN_SECONDS = 1.0
_LOOK_SECONDS = 15.0


def write_command(
    question: str, source: str, options: dict[str, str], out: str, reading: Sequence[str] = (), p_values: str = P_VALUES
) -> list[str]:
    """Return the words of the command that answers a question.

    >>> " ".join(write_command("ranks", "s.csv", {"test": "max-t", "trials": "100", "seed": "1", "measure": "AP"}, "out"))
    'ranks s.csv --measure=AP --test=max-t -B 100 --seed=1 --out=out'
    """
    seed = f"--seed={options['seed']}"
    if question == "compare":
        named = [f"--measure={options['measure']}", f"--data={source}"]
        return ["compare", *named, "-B", options["trials"], seed, *reading, "-o", out]
    words = [question, source]
    if question == "ranks":
        words.append(f"--measure={options['measure']}")
    if question == "agreement":
        words.append(f"--reference={options['reference']}")
    if question in TESTED:
        words += [f"--test={options['test']}", "-B", options["trials"]]
    if question == "power":
        words.append(f"--p-values={p_values}")
    return [*words, seed, *reading, f"--out={out}"]


def show() -> None:
    """Draw the page."""
    st.title("Your scores")
    st.markdown(
        "Scores of runs on topics by one or more measures: can the measures be trusted? Files stay on the machine that runs "
        "this page, in a temporary folder that goes with your visit."
    )
    if "workspace" not in st.session_state:
        st.session_state["workspace"] = _open_workspace()
    name = st.session_state["workspace"].name_files
    with say_errors(name):
        opened = _choose_source()
        if opened is not None:
            _ask(*opened)
    with say_errors(name):
        _follow()


def _open_workspace() -> Workspace:
    from streamlit.runtime import exists
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    workspace, context = Workspace(), get_script_run_ctx()
    if context is not None and exists():
        _find_visits().add(context.session_id, workspace)
    return workspace


@st.cache_resource(show_spinner=False)
def _find_visits() -> Visits:
    """Return the visits to this server. Streamlit itself forgets one only when the next begins."""
    from streamlit.runtime import get_instance

    visits = Visits(get_instance().is_active_session, float(st.get_option("server.disconnectedSessionTTL")))
    visits.watch(_LOOK_SECONDS)
    return visits


def _choose_source() -> tuple[str, list[str], Any] | None:
    """Return the source's name, the options of reading, and the scores."""
    workspace: Workspace = st.session_state["workspace"]
    left, right = st.columns(2)
    sent = left.file_uploader(
        "A file with scores, or several that belong together (one run or measure each)", accept_multiple_files=True, key="sent"
    )  # fmt: skip
    named = right.selectbox(
        "Or a public data set", _list_data_sets(), index=None, key="data_set", placeholder="Choose a data set"
    )
    with st.expander("How to read it"):
        form = st.selectbox("Format", FORMATS, key="format")
        missing = st.selectbox("Where a run has no score on a topic", MISSING, key="missing")
        doubled = st.selectbox("Where a run has several scores on a topic", DOUBLED, key="doubled")
        columns = st.text_input(
            "Columns whose names do not tell: run=entry,topic=doc+line,collection=task", key="columns"
        )
        lower = st.text_input("Measures of which lower scores are better, with commas", key="lower")
        collection = st.text_input("Name of the collection; draws depend on it", key="collection")
    if not sent and named is None:
        st.caption(
            "Tables with a row per score, a column per measure, or a column per run (CSV, Excel, Parquet, JSON lines); "
            "trec_eval -q; logs of evaluation harnesses."
        )
        return None
    # What a browser sends is any text: a choice that was not offered could name a file of this machine.
    if not sent and named not in _list_data_sets():
        raise MetaevalError(f"there is no data set {shorten(str(named))!r}")
    source = str(named) if not sent else _keep(workspace, sent)
    options: dict[str, Any] = {
        "format": None if form == FORMATS[0] else form,
        "missing": missing,
        "doubled": doubled,
        "columns": parse_columns(columns.strip() or None),
        "lower_is_better": [name.strip() for name in lower.split(",") if name.strip()],
        "collection": collection.strip() or None,
    }
    asked = (source, repr(options), _fingerprint(sent))
    if workspace.opened[0] != asked:
        workspace.opened = (None, None)  # one is enough to hold
        with st.spinner("Reading"):
            read = _read(str(workspace.path / source) if sent else source, options)
        workspace.opened = (asked, read)
    scores = workspace.opened[1]
    st.success(plain(f"{scores!r}"))
    return source, _spell(options, columns), scores


def _spell(options: dict[str, Any], columns: str) -> list[str]:
    """Return the options of reading as words of a command."""
    words = [] if options["format"] is None else [f"--from={options['format']}"]
    words += [f"--{name}={options[name]}" for name in ("missing", "doubled") if options[name] != "raise"]
    words += [f"--columns={columns.strip()}"] if columns.strip() else []
    words += [f"--lower-is-better={name}" for name in options["lower_is_better"]]
    return words + ([f"--collection={options['collection']}"] if options["collection"] else [])


def _keep(workspace: Workspace, sent: Sequence[Any]) -> str:
    return workspace.keep([(file.name, file.getvalue) for file in sent], _fingerprint(sent))


def _fingerprint(sent: Sequence[Any]) -> str:
    """Return what changes when other files are sent."""
    return " ".join(f"{file.file_id}" for file in sent or ())


@st.cache_data(show_spinner=False)
def _list_data_sets() -> list[str]:
    from metaeval.datasets.registry import datasets

    return [data_set.name for data_set in datasets() if data_set.kind in ("classification", "quantification", "scores")]


def _read(source: str, options: dict[str, Any]) -> Any:
    import warnings

    from metaeval.datasets.open import open_scores

    before = option_names_in_use()
    use_option_names(FIELDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MetaevalWarning)
            return open_scores(source, **options)
    finally:
        use_option_names(before)


def _ask(source: str, reading: list[str], scores: Any) -> None:
    """Offer the questions and start the command that answers one."""
    names = [str(measure) for measure in scores.measures]
    left, right = st.columns(2)
    question = str(
        left.selectbox("Question", list(QUESTIONS), format_func=lambda question: QUESTIONS[question], key="question")
    )
    options = {"seed": str(int(right.number_input("Seed", 0, 2**31, 0, key="seed")))}
    options["trials"] = "5000"
    if question in (*TESTED, "compare"):
        options["trials"] = str(int(right.number_input("B, trials of the test", 100, 1_000_000, 5000, key="trials")))
    if question in TESTED:
        options["test"] = str(left.selectbox("Test", TESTS, key="test"))
    if question in ("ranks", "compare"):
        options["measure"] = str(left.selectbox("Measure", names, key="which"))
    if question == "agreement":
        options["reference"] = str(left.selectbox("Reference", names, key="reference"))
    job: Job | None = st.session_state.get("job")
    busy = job is not None and job.running
    workspace: Workspace = st.session_state["workspace"]
    # What the visitor calls the file, not where it lies here.
    called = workspace.name_files(source)
    shown = write_command(question, called, options, "results", reading)
    st.code(f"metaeval {shlex.join(shown)}", language=None)
    if st.button("Answer", type="primary", disabled=busy, key="start"):
        if question in ("agreement", "similarity", "overlap", "contradictions", "compare") and len(names) < 2:
            raise MetaevalError(f"there is one measure only, {names[0]}; this question compares two or more")
        folder = workspace.new_folder()
        words = write_command(question, source, options, folder.name, reading, f"{folder.name}/{P_VALUES}")
        if workspace.job is not None:
            workspace.job.stop()
        workspace.job = Job(words, workspace.path)
        st.session_state.update(job=workspace.job, folder=folder, asked=question)


def _follow() -> None:
    job: Job | None = st.session_state.get("job")
    if job is None:
        return
    if job.running:
        _watch()
        return
    if job.stopped:
        st.info("Stopped.")
    elif not job.succeeded:
        st.error(plain(job.problem()))
    else:
        show_answer(job, st.session_state["folder"], st.session_state["asked"])


@st.fragment(run_every=_SHOWN_SECONDS)
def _watch() -> None:
    """Show how far the command is, and a button that ends it."""
    job: Job = st.session_state["job"]
    if not job.running:
        st.rerun()
    messages = job.lines()
    st.status(f"Working for {job.seconds:.0f} s{f': {plain(messages[-1])}' if messages else ''}", state="running")
    if st.button("Stop", key="stop"):
        job.stop()
        st.rerun()
