"""A label that was read from data never runs a file, opens a file or becomes an option, whatever it looks like."""

import re
import shlex
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import metaeval as me
from metaeval.comparison.new_measure import Comparison
from metaeval.errors import MeasureError
from metaeval.measures.user_file import LABELS_ONLY

RUNS = "__import__('pathlib').Path('ran').touch()"
"""The name of a run that is a statement of Python too: it makes a file."""

LABELS = ("scores.py:f", "{folder}/scores.py:f", "other.csv", "-", "--help", "@scores.py")
"""Of a measure: a function of the file itself, a file of other scores, standard input, options."""

COMMANDS = (
    "ranks {file} --measure={label} -B 50",
    "similarity {file} --measure={label} --measure=AP",
    "power {file} --measure={label} -B 50",
    "coverage {file} --reference={label}",
    "agreement {file} --reference={label} -B 50",
    "agreement {file} --reference={label} --measure=AP -B 50",
    "compare {file} --measure={label} -B 20 --trials 5 -o report",
    "compare {file} --measure=AP --reference={label} -B 20 --trials 5 -o report",
)


@pytest.fixture
def polyglot(here):
    """Write scores.py, a table of scores with a label, which is a program that makes the file `ran` too."""

    def write(label):
        rng = np.random.default_rng(0)
        rows = ['"run","topic","measure","score"']
        rows += [
            f'{run},"t{topic}","{measure}",{0.2 * level + 0.1 * rng.random():.6f}'
            for level, run in enumerate((RUNS, '"b"', '"c"', '"d"'))
            for topic in range(6)
            for measure in (label, "AP", "RR")
        ]
        (here / "scores.py").write_text("\n".join(rows) + "\n")
        (here / "other.csv").write_text("run,topic,measure,score\nz,t0,other,0.5\n")
        compile("\n".join(rows), "scores.py", "exec")
        return here / "scores.py"

    return write


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_takes_a_label_of_its_data_as_that(line, label, polyglot, ok, monkeypatch):
    if label != LABELS[0]:  # one report is enough, which takes seconds
        monkeypatch.setattr(Comparison, "write", lambda _, folder, **options: folder / "index.html")
    label = label.format(folder=Path.cwd())
    out, _ = ok(*shlex.split(line.format(file=polyglot(label), label=label)))
    assert label in "".join(out.split())
    assert not Path("ran").exists()


@pytest.mark.filterwarnings("ignore:higher scores of")
def test_neither_commands_nor_functions_need_the_code_of_a_measure_that_scores_lack(polyglot, run):
    file = polyglot("scores.py:f")
    scores, store = me.io.read_scores(str(file)), me.ScoreStore("store")
    store.add(scores, collection="sent")
    for line in COMMANDS:
        status, _, err = run(line.format(file=file, label=f"{file}:f"))
        assert status == 2
        assert re.search(r"'f'| f |:f is a function of gold labels", err)
    for label in ("scores.py:f", f"{file}:f", "./scores.py:f"):
        for ask in (
            lambda text: scores.sel(measures=text),
            lambda text: scores.matrix(text),
            lambda text: store.load("sent", text),
            lambda text: me.open_scores(str(file), [text]),
            lambda text: me.coverage(scores, reference=text, n_bootstrap=0),
            lambda text: me.compare(text, scores, n_trials=20, n_permutations=50),
            lambda text: me.compare("AP", scores, reference=text, n_trials=20, n_permutations=50),
        ):
            with nullcontext() if label == "scores.py:f" else pytest.raises(me.MetaevalError, match=r"\bf\b"):
                ask(label)
    assert not Path("ran").exists()


def test_what_a_user_types_may_name_a_file_unless_a_program_says_that_names_are_only_labels(polyglot, run, monkeypatch):
    file = polyglot("other.csv")
    monkeypatch.setenv(LABELS_ONLY, "1")
    for line in (f"properties {file}:f", f"measures {file}:f"):
        assert "measures of files are not run here" in run(line)[2]
    assert re.search("measures of files are not run here|stc3-dq-a", run(f"score stc3-dq-a -m {file}:f")[2])
    assert "there is no measure './other.csv'" in run(f"agreement {file} --reference=./other.csv -B 50")[2]
    assert not Path("ran").exists()
    monkeypatch.delenv(LABELS_ONLY)
    with pytest.raises(MeasureError, match="nothing called 'f'"):
        me.measure(f"{file}:f")
    assert Path("ran").exists()
