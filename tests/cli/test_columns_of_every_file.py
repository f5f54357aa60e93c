"""Names of columns that are stated once hold for every file of a command."""

import numpy as np
import pytest

import metaeval as me


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    values = np.linspace(0, 1, 6)[:, None, None] + rng.normal(0, 0.2, (6, 25, 3))
    scores = me.Scores(values, runs=[*"abcdef"], topics=range(25), measures=["AP", "RR", "people"])
    names = {"run": "system", "topic": "segment"}
    for name, measures in (("measures.csv", ["AP", "RR"]), ("people.csv", ["people"])):
        scores.sel(measures=measures).to_frame().rename(columns=names).to_csv(tmp_path / name, index=False)
    me.io.write_scores(scores.sel(measures=["people"]), tmp_path / "usual.csv")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("reference", ["people.csv", "usual.csv"])
def test_columns_are_those_of_the_reference_too(run, reference):
    words = ("agreement", "measures.csv", "--reference", reference, "--columns", "run=system,topic=segment", "-B", 50)
    status, out, err = run(*words, "--bootstrap", 0, "--all-higher-is-better")
    assert status == 0, err
    assert "people" in out + err


def refuse(_, sources, **options):
    """Stand in for the comparison, which takes seconds."""
    raise me.MetaevalError(f"read {sources[0]!r}")


def test_columns_are_those_of_gold_and_runs_where_measures_are_compared(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("metaeval.comparison.new_measure.compare", refuse)
    (tmp_path / "gold.csv").write_text("id,gold\n1,0\n2,1\n")
    (tmp_path / "a.csv").write_text("id,predicted\n1,0\n2,0\n")
    words = ("compare", "-m", "Accuracy", "--gold", "gold.csv", "--runs", "a.csv", "-l", "labels", "--classes", "0,1")
    _, _, err = run(*words, "-o", "report")
    assert "there is no column 'item'" in err
    _, _, err = run(*words, "-o", "report", "--columns", "item=id")
    assert "read ClassificationRuns: 1 run × 1 topic, 2 classes" in err
