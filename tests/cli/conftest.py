import re
import shlex
import sys
import warnings

import numpy as np
import pytest

import metaeval as me
from metaeval import cli


@pytest.fixture
def run(capfd, monkeypatch):
    """Run a command, given as a line or as words, in this process and return (status, stdout, stderr)."""

    def _run(*words):
        words = shlex.split(words[0]) if len(words) == 1 else map(str, words)
        monkeypatch.setattr(sys, "argv", ["metaeval", *words])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capfd.readouterr()
        return stopped.value.code, out, err

    return _run


@pytest.fixture
def ok(run):
    """Run a command that works; return what it prints, and what it notes."""

    def _ok(*words):
        status, out, err = run(*words)
        assert status == 0, err
        return out, err

    return _ok


@pytest.fixture
def refused(run):
    """Run a command that prints nothing and ends in one sentence, which is returned."""

    def _refused(*words):
        status, out, err = run(*words)
        assert (status, out) == (2, ""), (out, err)
        of_progress = re.compile("metaeval: (note: |reading )|.* …$")
        said = [line for line in err.splitlines() if not of_progress.match(line)]
        assert len(said) == 1, err
        assert said[0].startswith("metaeval: "), err
        assert not re.search(r"bug|Error:|Traceback|Usage", err)
        return said[0]

    return _refused


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def score_file(here):
    """tiny.csv: two measures of five runs on twelve topics."""
    rng = np.random.default_rng(3)
    values = np.linspace(0.2, 0.8, 5)[:, None, None] + rng.normal(0, 0.1, (5, 12, 2))
    runs, topics = [f"r{i}" for i in range(5)], [f"t{i}" for i in range(12)]
    scores = me.Scores(np.clip(values, 0, 1), runs=runs, topics=topics, measures=["nDCG@10", "AP"], collection="tiny")
    me.io.write_scores(scores, "tiny.csv")
    return here / "tiny.csv"
