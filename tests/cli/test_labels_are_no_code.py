"""A label that was read from data never runs a file, opens a file or becomes an option, whatever it looks like."""

from contextlib import nullcontext

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MeasureError
from metaeval.measures.user_file import LABELS_ONLY

RUNS = "__import__('pathlib').Path('ran').touch()"
"""The name of a run that is a statement of Python too: it makes a file."""

LABELS = ("scores.py:f", "{folder}/scores.py:f", "other.csv", "-", "--help", "@scores.py")
"""Of a measure: a function of the file itself, a file of other scores, standard input, options."""

COMMANDS = {
    "ranks": ["ranks", "{file}", "--measure={label}", "-B", "50"],
    "similarity": ["similarity", "{file}", "--measure={label}", "--measure=AP"],
    "power": ["power", "{file}", "--measure={label}", "-B", "50"],
    "coverage": ["coverage", "{file}", "--reference={label}"],
    "agreement": ["agreement", "{file}", "--reference={label}", "-B", "50"],
    "agreement of one measure": ["agreement", "{file}", "--reference={label}", "--measure=AP", "-B", "50"],
    "compare": ["compare", "{file}", "--measure={label}", "-B", "50", "--trials", "20", "-o", "report"],
    "compare with a reference": [
        "compare", "{file}", "--measure=AP", "--reference={label}", "-B", "50", "--trials", "20", "-o", "report"
    ],
}  # fmt: skip


@pytest.fixture
def polyglot(tmp_path, monkeypatch):
    """Write scores.py, a table of scores with a label, which is a program that makes the file `ran` too."""

    def write(label):
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(0)
        rows = [
            f'{run},"t{topic}","{measure}",{0.2 * level + 0.1 * rng.random():.6f}'
            for level, run in enumerate((RUNS, '"b"', '"c"', '"d"'))
            for topic in range(6)
            for measure in (label.format(folder=tmp_path), "AP", "RR")
        ]
        text = "\n".join(['"run","topic","measure","score"', *rows])
        (tmp_path / "scores.py").write_text(text + "\n")
        (tmp_path / "other.csv").write_text("run,topic,measure,score\nz,t0,other,0.5\n")
        compile(text, "scores.py", "exec")
        return tmp_path / "scores.py"

    return write


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_takes_a_label_of_its_data_as_that(words, label, polyglot, run):
    file = polyglot(label)
    label = label.format(folder=file.parent)
    status, out, err = run(*(word.format(file=file, label=label) for word in words))
    assert status == 0, err
    assert label in "".join(out.split())
    assert not (file.parent / "ran").exists()


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_scores_never_need_the_code_of_a_measure_that_they_lack(words, polyglot, run):
    file = polyglot("RNOD")
    label = f"{file}:f"
    status, _, err = run(*(word.format(file=file, label=label) for word in words))
    assert status == 2, err
    assert "'f'" in err or " f " in err or ":f is a function of gold labels" in err
    assert not (file.parent / "ran").exists()


@pytest.mark.filterwarnings("ignore:higher scores of")
def test_selecting_resolving_and_storing_run_nothing(polyglot):
    file = polyglot("scores.py:f")
    scores = me.io.read_scores(str(file))
    for label in ("scores.py:f", f"{file}:f", "./scores.py:f"):
        for ask in (
            lambda text: scores.sel(measures=text),
            lambda text: scores.matrix(text),
            lambda text: me.open_scores(str(file), [text]),
            lambda text: me.coverage(scores, reference=text, n_bootstrap=0),
            lambda text: me.compare(text, scores, n_trials=20, n_permutations=50),
            lambda text: me.compare("AP", scores, reference=text, n_trials=20, n_permutations=50),
        ):
            with nullcontext() if label == "scores.py:f" else pytest.raises(me.MetaevalError, match=r"\bf\b"):
                ask(label)
    store = me.ScoreStore(file.parent / "store")
    store.add(scores, collection="sent")
    assert str(store.load("sent", "scores.py:f").measures[0]) == "scores.py:f"
    with pytest.raises(me.MetaevalError, match="no measure 'f'"):
        store.load("sent", [f"{file}:f"])
    assert not (file.parent / "ran").exists()


def test_what_a_user_types_may_name_a_file(polyglot):
    file = polyglot("AQ")
    with pytest.raises(MeasureError, match="nothing called 'f'"):
        me.measure(f"{file}:f")
    assert (file.parent / "ran").exists()


def test_names_are_only_labels_where_a_program_says_so(polyglot, run, monkeypatch):
    monkeypatch.setenv(LABELS_ONLY, "1")
    file = polyglot("other.csv")
    for words in (["properties", f"{file}:f"], ["measures", f"{file}:f"], ["score", "stc3-dq-a", "-m", f"{file}:f"]):
        status, _, err = run(*words)
        assert status == 2
        assert "measures of files are not run here" in err or "stc3-dq-a" in err
    status, _, err = run("agreement", file, "--reference=./other.csv", "-B", "50")
    assert status == 2
    assert "there is no measure './other.csv'" in err
    assert not (file.parent / "ran").exists()
