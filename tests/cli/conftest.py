import json
import re
import shlex
import sys
import warnings

import numpy as np
import pytest

import metaeval as me
from metaeval import cli
from tests.analyses.made import label


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


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty folder, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def score_file(here):
    """tiny.csv: two measures of five runs on twelve topics."""
    values = np.linspace(0.2, 0.8, 5)[:, None, None] + np.random.default_rng(3).normal(0, 0.1, (5, 12, 2))
    scores = label(np.clip(values, 0, 1), ["nDCG@10", "AP"], "tiny", runs=[f"r{i}" for i in range(5)])
    me.io.write_scores(scores, "tiny.csv")
    return here / "tiny.csv"


def make_log(scores, *, model="m", task="t"):
    """A log of Inspect: `scores` holds by item what a measure gives it, by the measure's name."""
    samples = [
        {"id": item, "epoch": 1, "scores": {name: {"value": value} for name, value in given.items()}}
        for item, given in scores.items()
    ]
    return json.dumps({"version": 2, "status": "success", "eval": {"task": task, "model": model}, "samples": samples})


def write_files(folder, files):
    """Write texts and bytes by the names of their files; return the folder, or the only file."""
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder if len(files) > 1 else folder / name
