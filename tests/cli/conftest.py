import sys

import numpy as np
import pytest

import metaeval as me
from metaeval import cli


@pytest.fixture
def run(capfd, monkeypatch):
    """Run a command in this process and return (status, stdout, stderr)."""

    def _run(*words):
        monkeypatch.setattr(sys, "argv", ["metaeval", *map(str, words)])
        before = cli.warnings.showwarning
        filters = cli.warnings.filters[:]
        try:
            with pytest.raises(SystemExit) as stopped:
                cli.main()
        finally:
            cli.warnings.showwarning = before
            cli.warnings.filters[:] = filters
        out, err = capfd.readouterr()
        return stopped.value.code, out, err

    return _run


@pytest.fixture
def score_file(tmp_path):
    rng = np.random.default_rng(3)
    values = np.linspace(0.2, 0.8, 5)[:, None, None] + rng.normal(0, 0.1, (5, 12, 2))
    runs, topics = [f"r{i}" for i in range(5)], [f"t{i}" for i in range(12)]
    scores = me.Scores(np.clip(values, 0, 1), runs=runs, topics=topics, measures=["nDCG@10", "AP"], collection="tiny")
    path = tmp_path / "tiny.csv"
    me.io.write_scores(scores, path)
    return path


@pytest.fixture
def other_file(score_file):
    """A second collection: the same runs with other scores and another name."""
    scores = me.io.read_scores(score_file)
    path = score_file.with_name("other.csv")
    squared = me.Scores(
        scores.values**2, runs=scores.runs, topics=scores.topics, measures=scores.measures, collection="other"
    )
    me.io.write_scores(squared, path)
    return path
