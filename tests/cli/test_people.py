"""Scores and labels of people on the command line: references, annotators, judges and corrections; columns of every file."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.analyses import study
from metaeval.comparison.new_measure import Comparison
from tests.analyses.made import label

COMPARE = "compare -m wrong scores.csv -B 100 --trials 20 -o report"
AGREEMENT = "agreement scores.csv -B 50 --bootstrap 0"
CORRECT = "correct judge.csv --trials 200 --people"
JUDGES = "judges people.csv judges.csv"


@pytest.fixture
def files(here, monkeypatch):
    """Scores and a reference, and what their gold is; no report, which takes seconds and has tests of its own."""
    rng, quality = np.random.default_rng(1), np.linspace(0, 1, 12)[:, None]
    means = np.stack([quality, quality, quality[::-1]], axis=-1)
    values = means + rng.normal(0, 0.1, (12, 30, 3))
    scores, second = (
        label(given, ["people", "right", "wrong"], name, higher_is_better=True)
        for name, given in (("made", values), ("two", values[:, ::-1] + 0.01))
    )
    parts = {
        "all": scores,
        "scores": scores.sel(measures=["right", "wrong"]),
        "people": scores.sel(measures="people"),
        "some": scores.sel(measures="people", topics=scores.topics[5:]),
        "two": second.sel(measures=["right", "wrong"]),
        "people2": second.sel(measures="people", runs=second.runs[::-1]),
    }
    for name, part in parts.items():
        me.io.write_scores(part, f"{name}.csv")
    pd.read_csv("scores.csv").rename(columns={"run": "system", "topic": "segment"}).to_csv("named.csv", index=False)
    (here / "gold.csv").write_text("id,gold\n1,0\n2,1\n")
    (here / "a.csv").write_text("id,predicted\n1,0\n2,0\n")
    monkeypatch.setattr(study, "LEAST_TOPICS", 10_000)
    monkeypatch.setattr(Comparison, "write", lambda _, folder, **options: folder / "index.html")


@pytest.mark.usefixtures("files")
def test_a_reference_is_a_file_or_the_name_of_a_measure_and_everything_is_printed_if_asked_for(ok):
    named = COMPARE.replace("scores.csv", "all.csv") + " -r people"
    brief, whole = ok(named)[0], ok(f"{named} --explain")[0]
    assert "wrong: ranks runs opposite to people: is the direction right?" in brief
    out, _ = ok(f"{COMPARE} --reference people.csv")
    assert brief.split("|")[0].splitlines()[:4] == out.split("|")[0].splitlines()[:4]
    assert whole.startswith(brief.partition("\nLike people: ")[0])
    assert "12 runs × 30 topics, trials 20, B (test trials) 100, seed 0" in brief
    assert "made@" not in brief
    for part in ("Every measure beside wrong, over collections;", "compare | made@", "How findings are reached."):
        assert part in whole
        assert part not in brief
    # Topics without a reference are left out if that is asked for.
    assert "12 runs × 25 topics" in ok(f"{COMPARE} --reference some.csv --missing drop-topic")[0]


@pytest.mark.usefixtures("files")
def test_every_collection_has_a_reference_file_of_its_own(ok):
    references = "two.csv --reference people.csv --reference people2.csv"
    assert "wrong: ranks runs opposite to people: is the direction right?" in ok(f"{COMPARE} {references}")[0]
    result = json.loads(ok(f"{AGREEMENT} {references} --statistic tau_a --format json")[0])
    assert {"made@", "two@"} <= {*re.findall(r"\w+@", result["signature"])}
    assert result["rows"][0]["value"] > 0.5 > result["rows"][1]["value"]


GOLD = "compare -m Accuracy --gold gold.csv --runs a.csv -l labels --classes 0,1 -o report"
REFERENCES = {
    f"{COMPARE} --reference some.csv": "--missing drop-topic leaves them out",
    f"{COMPARE} two.csv -r people.csv": "there is 1 for 2 collections; give one each, in the order of the collections",
    f"{COMPARE} two.csv -r people.csv -r lost.csv": "there is no file lost.csv: several references are",
    f"{AGREEMENT} -r people.csv --repeats annotator": "scores.csv: there is no column 'annotator' to be the repeat",
    GOLD: "there is no column 'item'",
    f"{GOLD} --columns item=id": "read ClassificationRuns: 1 run × 1 topic, 2 classes",
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("reference", ["people.csv", "named.csv --reference-measure right"])
def test_columns_are_those_of_the_reference_too(ok, reference):
    words = "--columns run=system,topic=segment --all-higher-is-better"
    out, err = ok(f"{AGREEMENT.replace('scores', 'named')} --reference {reference} {words}")
    assert reference.split()[-1].removesuffix(".csv") in out + err


@pytest.mark.parametrize("reference", ["rows.csv --repeats annotator", "five.csv --annotators"])
def test_people_are_averaged_over_those_who_scored(ok, reference):
    """Scores of three people, a row each; and of five people of whom three scored each."""
    rng = np.random.default_rng(5)
    scores = label(rng.normal(size=(6, 20, 2)), ["X", "Y"])
    me.io.write_scores(scores, "scores.csv")
    cells = scores.matrix("X").stack().index
    people = pd.DataFrame(rng.normal(size=(120, 5)), columns=[f"ann{a}" for a in range(5)], index=cells)
    three = people.iloc[:, :3].rename_axis(columns="annotator")
    three.stack().rename("score").to_csv("rows.csv")
    five = people.where(rng.permuted(np.tile([True, True, True, False, False], (120, 1)), axis=1))
    five.to_csv("five.csv")
    pd.DataFrame({"rows": three.mean(axis=1), "five": five.mean(axis=1)}).to_csv("mean.csv")
    tables = []
    for one in (reference, f"mean.csv --reference-measure {reference.partition('.')[0]}"):
        out, _ = ok(f"{AGREEMENT} --reference {one} --all-higher-is-better --statistic pearson --format csv")
        tables.append([line.split(",")[:3] for line in out.splitlines() if line.startswith("pearson")])
    assert tables[0] == tables[1]
    assert len(tables[0]) == 2


def test_a_reference_of_its_own_is_opened_and_its_direction_stated(ok, refused, here):
    rows = [f"run{r},{t},{r * t}\n" for r in range(3) for t in (1, 2, 3)]
    (here / "M.csv").write_text("".join(["run,topic,M\n", *rows]))
    turned = [f"run{r},{t},{-r * t}\n" for r in range(3) for t in (1, 2, 3) if (r, t) != (2, 3)]
    (here / "E.csv").write_text("".join(["run,topic,E\n", *turned]))
    line = "agreement M.csv --reference E.csv -B 20 --bootstrap 0 --statistic tau_a --format json --higher-is-better M"
    assert "run2, topic 3, measure E: there is no score" in refused(f"{line} --lower-is-better E")
    for option, tau in (("--lower-is-better", 1.0), ("--higher-is-better", -1.0)):
        out, err = ok(f"{line} {option} E --missing drop-topic")
        assert "left out 1 of 3 topics of M, which not all scores have: 3" in err
        assert json.loads(out)["rows"][0]["value"] == tau


@pytest.fixture
def labels(here):
    """A judge that favours run a, and labels of people on 60 of 150 topics; judges and annotators of 40 items."""
    rng, runs, topics = np.random.default_rng(0), ["a", "b", "c", "d"], [f"t{t:03}" for t in range(150)]
    truth = rng.normal(size=150) + rng.normal(0, 0.5, (4, 150)) + np.array([[0], [0], [0.6], [1.2]])
    judge = truth + rng.normal(0, 0.4, truth.shape) + np.array([[0.9], [0], [0], [0]])
    me.io.write_scores(label(judge, ["nDCG"], runs=runs, topics=topics), "judge.csv")
    frame = pd.DataFrame(truth.T, index=pd.Index(topics, name="topic"), columns=runs)
    frame.loc[rng.permutation(topics)[60:]] = np.nan
    frame.to_csv("few.csv")
    frame.dropna().melt(ignore_index=False, var_name="run", value_name="nDCG").to_csv("tidy.csv")
    rng = np.random.default_rng(4)
    best = rng.integers(1, 4, 40)
    noisy = {name: np.clip(best + rng.integers(-1, 2, 40), 1, 3) for name in ("ann", "bo", "cy")}
    for name, columns in {"people.csv": noisy, "judges.csv": {"good": best, "bad": 4 - best}}.items():
        pd.DataFrame(columns).to_csv(name, index_label="item")


@pytest.mark.usefixtures("labels")
def test_a_correction_answers_first_and_labels_may_have_gaps_and_a_direction(ok):
    out, err = ok(f"{CORRECT} tidy.csv")
    assert out.startswith("d is first by nDCG.\n")
    assert "people reverse 1 and leave open 1 of the judge's 6 conclusions." in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert err.count("metaeval: note: ") == 1
    assert ok(f"{CORRECT} few.csv --higher-is-better score")[0].startswith("d is first by score.\n")
    out, _ = ok(f"{CORRECT} few.csv --lower-is-better score")
    assert re.match(r"[ab] is first by score; 1 other run may be as good\.\n", out)


@pytest.mark.usefixtures("labels")
def test_judges_are_shown_best_first_and_written_with_all_details(ok, here):
    out, _ = ok(f"{JUDGES} --classes 1,2,3 --bootstrap 50 --format json --out results")
    assert [row["judge"] for row in json.loads(out)["rows"]] == ["good", "bad"]
    assert set(json.loads(out)["details"]) == {"annotators", "differences"}
    assert (here / "results" / "judges-annotators.csv").exists()


LABELS = {
    f"{CORRECT} none.csv": "none.csv: there is no such file",
    f"{CORRECT} tidy.csv --lower-is-better BLEU": "BLEU",
    "judges people.csv": "name a file of people, one of judges after it, and --classes",
    JUDGES: "and --classes: all of them, in their order",
    f"{JUDGES} --classes 1,2": "is not one of the classes 1, 2",
    f"{JUDGES} --classes 1,2,3 --epsilon 2": "--epsilon is 2.0; it lies from 0 to below 1",
    f"{JUDGES} --classes 1,2,3 --missing worst": "--missing worst: of the answers of judges",
    f"{JUDGES} --classes 1,2,3 --agreement kappa": "there is no agreement 'kappa': use accuracy, squared",
    "judges alttest-lesion --classes 1,2,3": "are for files; a data set has its own",
    "judges nobody": "there is no data set 'nobody'",
}


WRONG = [("files", *each) for each in REFERENCES.items()] + [("labels", *each) for each in LABELS.items()]


@pytest.mark.parametrize(("given", "line", "message"), WRONG)
def test_what_is_wrong_with_a_reference_or_labels_is_said_in_one_sentence(
    refused, request, monkeypatch, given, line, message
):
    def refuse(_, sources, **options):  # in place of a comparison, which takes seconds
        raise me.MetaevalError(f"read {sources[0]!r}")

    request.getfixturevalue(given)
    if line.startswith(GOLD):
        monkeypatch.setattr("metaeval.comparison.new_measure.compare", refuse)
    assert message in refused(line)
