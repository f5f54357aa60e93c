"""The command that compares measures compares them with a reference, which is a name or a file."""

import json

import numpy as np
import pytest

import metaeval as me
from metaeval.analyses import study
from metaeval.comparison.new_measure import Comparison

QUICK = ("scores.csv", "-B", 100, "--trials", 20, "-o", "report")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Scores and a reference; no report, which takes seconds and has tests of its own."""
    rng = np.random.default_rng(1)
    quality = np.linspace(0, 1, 12)
    means = np.stack([quality, quality, quality[::-1]], axis=-1)[:, np.newaxis]
    values = means + rng.normal(0, 0.1, (12, 30, 3))
    labels = {"runs": [f"r{i:02}" for i in range(12)], "topics": range(30), "measures": ["people", "right", "wrong"]}
    scores = me.Scores(values, **labels, collection="made", higher_is_better=True)
    me.io.write_scores(scores, tmp_path / "all.csv")
    me.io.write_scores(scores.sel(measures=["right", "wrong"]), tmp_path / "scores.csv")
    me.io.write_scores(scores.sel(measures="people"), tmp_path / "people.csv")
    some = scores.sel(measures="people", topics=scores.topics[5:])
    me.io.write_scores(some, tmp_path / "some.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study, "LEAST_TOPICS", 10_000)
    monkeypatch.setattr(Comparison, "write", lambda _, folder, **options: folder / "index.html")


@pytest.mark.usefixtures("files")
def test_a_reference_is_a_file_or_the_name_of_a_measure(run):
    status, out, err = run("compare", "-m", "wrong", *QUICK, "--reference", "people.csv")
    assert status == 0, err
    assert "wrong: ranks runs opposite to people: is the direction right?" in out
    named = run("compare", "-m", "wrong", *QUICK, "all.csv", "-r", "people")
    assert named[0] == 2
    assert "there is no measure 'people'" in named[2]
    words = ("compare", "-m", "wrong", "all.csv", *QUICK[1:], "-r", "people")
    assert run(*words)[1].split("|")[0].splitlines()[:4] == out.split("|")[0].splitlines()[:4]


@pytest.mark.usefixtures("files")
def test_every_number_and_rule_is_printed_if_asked_for(run):
    words = ("compare", "-m", "wrong", "all.csv", *QUICK[1:], "-r", "people")
    brief, whole = run(*words)[1], run(*words, "--explain")[1]
    verdict, _, _ = brief.partition("\nLike people: ")
    assert whole.startswith(verdict)
    assert "12 runs × 30 topics, trials 20, B 100, seed 0" in brief
    assert "made@" not in brief
    for part in ("Every number of the measures beside wrong.", "compare | made@", "How findings are reached."):
        assert part in whole
        assert part not in brief


@pytest.mark.usefixtures("files")
def test_topics_without_a_reference_are_left_out_if_that_is_asked_for(run):
    status, _, err = run("compare", "-m", "wrong", *QUICK, "--reference", "some.csv")
    assert status == 2
    assert "the reference people has no score of 5 topics" in err
    assert "--missing drop-topic leaves them out" in err
    status, out, err = run("compare", "-m", "wrong", *QUICK, "--reference", "some.csv", "--missing", "drop-topic")
    assert status == 0, err
    assert "12 runs × 25 topics" in out


@pytest.mark.usefixtures("files")
def test_every_collection_has_a_reference_file_of_its_own(run, tmp_path):
    both = me.io.read_scores("all.csv")
    other = me.Scores(
        both.values[:, ::-1] + 0.01, runs=both.runs, topics=both.topics, measures=both.measures, collection="two"
    )
    me.io.write_scores(other.sel(measures=["right", "wrong"]), tmp_path / "two.csv")
    me.io.write_scores(other.sel(measures="people", runs=other.runs[::-1]), tmp_path / "people2.csv")
    data = ("scores.csv", "two.csv", *QUICK[1:])
    references = ("--reference", "people.csv", "--reference", "people2.csv")
    status, out, err = run("compare", "-m", "wrong", *data, *references)
    assert status == 0, err
    assert "wrong: ranks runs opposite to people: is the direction right?" in out
    quick = ("-B", 50, "--bootstrap", 0, "--statistic", "tau_a", "--format", "json")
    status, out, err = run("agreement", "scores.csv", "two.csv", *references, *quick)
    assert status == 0, err
    result = json.loads(out)
    assert {row["collection"] for row in result["details"]["collections"]} == {"made", "two"}
    assert result["rows"][0]["value"] > 0.5 > result["rows"][1]["value"]
    for wrong, message in (
        (("--reference", "people.csv"), ""),
        ((*references, "--reference", "some.csv"), "there are 3 for 2 collections; give one each, in the order"),
        (("--reference", "people.csv", "--reference", "lost.csv"), "there is no file lost.csv: several references are"),
    ):
        for command in (("compare", "-m", "wrong", *data), ("agreement", "scores.csv", "two.csv", *quick)):
            status, _, err = run(*command, *wrong)
            if len(wrong) > 2:
                assert (status, message in err) == (2, True), err
            elif command[0] == "compare":
                assert status == 2
                assert "there is 1 for 2 collections; give one each, in the order of the collections" in err
