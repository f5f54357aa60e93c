"""Names of columns that are stated once hold for every file of a command."""

import numpy as np
import pandas as pd
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


@pytest.fixture
def rated(tmp_path, monkeypatch):
    """Write scores by two measures; those of three people, a row each; and of five people of whom three scored each."""
    rng = np.random.default_rng(5)
    scores = me.Scores(rng.normal(size=(6, 20, 2)), runs=[*"abcdef"], topics=range(20), measures=["X", "Y"])
    me.io.write_scores(scores, tmp_path / "scores.csv")
    people = pd.DataFrame(
        rng.normal(size=(120, 5)), columns=[f"ann{a}" for a in range(5)], index=scores.matrix("X").stack().index
    )
    people.iloc[:, :3].rename_axis(columns="annotator").stack().rename("score").to_csv(tmp_path / "rows.csv")
    five = people.where(rng.permuted(np.tile([True, True, True, False, False], (120, 1)), axis=1))
    five.to_csv(tmp_path / "five.csv")
    mean = pd.concat([people.iloc[:, :3].mean(axis=1).rename("rows"), five.mean(axis=1).rename("five")], axis=1)
    mean.to_csv(tmp_path / "mean.csv")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("rated")
@pytest.mark.parametrize(
    ("words", "mean"), [(("rows.csv", "--repeats", "annotator"), "rows"), (("five.csv", "--annotators"), "five")]
)
def test_people_are_averaged_over_those_who_scored(run, words, mean):
    options = ("--all-higher-is-better", "--statistic", "pearson", "-B", 50, "--bootstrap", 0, "--format", "csv")
    tables = []
    for reference in (words, ("mean.csv", "--reference-measure", mean)):
        status, out, err = run("agreement", "scores.csv", "--reference", *reference, *options)
        assert status == 0, err
        tables.append([line.split(",")[:3] for line in out.splitlines() if line.startswith("pearson")])
    assert tables[0] == tables[1]
    assert len(tables[0]) == 2


@pytest.mark.usefixtures("rated")
def test_a_column_that_no_file_has_is_refused(run):
    status, _, err = run("agreement", "scores.csv", "--reference", "mean.csv", "--repeats", "annotator")
    assert status != 0
    assert "scores.csv: there is no column 'annotator' to be the repeat" in err


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
