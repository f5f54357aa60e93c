"""Measures are chosen before gaps are settled: what another measure lacks moves no number, whatever the format."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.cli.opening import open_references
from metaeval.datasets.open import open_collections
from metaeval.errors import DataError, MetaevalWarning, PolicyWarning
from metaeval.io import read_collections
from metaeval.io.partial_scores import read_ratings
from tests.cli.conftest import make_log, write_files

RUNS, TOPICS, MEASURES = ["a", "b", "c"], [str(topic) for topic in range(1, 21)], ["original", "other"]
TABLE = pd.DataFrame(product(RUNS, TOPICS, MEASURES), columns=["run", "topic", "measure"])
TABLE["score"] = np.random.default_rng(7).normal(size=len(TABLE)).round(3)
GAPS = (TABLE["measure"] == "other") & (TABLE["run"] == "b") & (TABLE["topic"].astype(int) > 6)
WITH_NAN = TABLE.assign(score=TABLE["score"].mask(GAPS))
ABSENT = TABLE[~GAPS]
ALONE = TABLE[TABLE["measure"] == "original"]
ORIGINAL = ALONE.pivot(index="run", columns="topic", values="score").loc[RUNS, TOPICS]
MATRICES = {
    name: rows.pivot(index="topic", columns="run", values="score").loc[TOPICS]
    for name, rows in WITH_NAN.groupby("measure")
}
COLUMNS = WITH_NAN.pivot(index=["run", "topic"], columns="measure", values="score").loc[[*product(RUNS, TOPICS)]]
LOGS = {
    run: {topic: dict(zip(each["measure"], each["score"], strict=True)) for topic, each in rows.groupby("topic", sort=False)}
    for run, rows in ABSENT.groupby("run")
}  # fmt: skip


def lay(template, rows=ABSENT):
    return "".join(template.format(**row) for row in rows.to_dict("records"))


def spell(values, separator):
    return "".join(separator.join("nan" if np.isnan(v) else repr(v) for v in row) + "\n" for row in values.tolist())


FORMATS = {
    # the files, of which several are in a folder; or what Python is given
    "tidy": {"s.csv": WITH_NAN.to_csv(index=False)},
    "tidy, rows absent": {"s.csv": ABSENT.to_csv(index=False)},
    "tidy Parquet": {"s.parquet": ABSENT.to_parquet()},
    "a column a measure": {"s.csv": COLUMNS.to_csv()},
    "wide": {f"s_{name}.csv": each.to_csv() for name, each in MATRICES.items()},
    "sakai": {"runs": "\n".join(RUNS), **{name: spell(each[RUNS].to_numpy(), " ") for name, each in MATRICES.items()}},
    "trec_eval": {f"{run}.eval": lay("{measure}\t{topic}\t{score!r}\n", rows) for run, rows in ABSENT.groupby("run")},
    "wmt": {
        f"{name}.seg.score": lay("{run}\t{score}\n", rows.astype({"score": object}).fillna("None"))
        for name, rows in WITH_NAN.groupby("measure")
    },
    "tot": {"s": lay("{run}\t{measure}\tq{topic}\t{score!r}\n")},
    "jsonl": {
        "s.jsonl": lay('{{"run_id": "{run}", "topic_id": "{topic}", "measure": "{measure}", "value": {score}}}\n')
    },
    "inspect": {f"{run}.json": make_log(scores, model=run) for run, scores in LOGS.items()},
    "frame": ABSENT,
    "frame, a column a measure": COLUMNS,
    "frames by measure": MATRICES,
}
STATED = {"tot": "tot", "trec_eval": "trec_eval"}


def make_source(name, folder):
    return FORMATS[name] if "frame" in name else write_files(folder / name, FORMATS[name])


def write(folder, *frames):
    pd.concat(frames).to_csv(folder / "s.csv", index=False)
    return folder / "s.csv"


@pytest.mark.parametrize("name", FORMATS)
def test_a_complete_measure_is_read_whole_whatever_another_one_lacks(name, tmp_path):
    source, stated = make_source(name, tmp_path), STATED.get(name)
    for missing in ("raise", "drop-topic", "drop-run", "worst", "keep"):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "(?!.*columns are read as run(s|,))", PolicyWarning)
            scores = me.open_scores(source, "original", missing=missing, format=stated)
        found = scores.matrix("original").rename(columns=lambda topic: topic.removeprefix("q"))
        pd.testing.assert_frame_equal(found.loc[RUNS, TOPICS], ORIGINAL, check_names=False, check_dtype=False)
        assert (scores.values.size, type(scores)) == (ORIGINAL.size, me.Scores)
    with pytest.raises(DataError, match=r"run b, topic q?\d+, measure other: .*missing=drop-topic"):
        me.open_scores(source, format=stated)
    with pytest.warns(PolicyWarning, match="left out 14 of 20 topics"):
        assert len(me.open_scores(source, "other", missing="drop-topic", format=stated).topics) == 6


def test_each_collection_is_asked_for_its_measures_and_all_of_them_are_named(tmp_path):
    path = write(tmp_path, WITH_NAN.assign(collection="x"), ABSENT.assign(collection="y"))
    found = open_collections(path, "original")
    assert [(scores.collection, scores.values.shape) for scores in found] == [("x", (3, 20, 1)), ("y", (3, 20, 1))]
    with pytest.raises(DataError, match=r"no measure 'orignal' \(did you mean original\? there are original, other\)"):
        open_collections(path, ["orignal", "other"])
    path = write(tmp_path, WITH_NAN.assign(collection="x"), ABSENT[ABSENT["measure"] == "other"].assign(collection="y"))
    with pytest.raises(DataError, match=r"there is no measure 'original' \(there are other\)"):
        open_collections(path, "original")
    with pytest.warns(PolicyWarning, match="left out 14 of 20 topics"):
        found = open_collections(path, ["other", "original"], missing="drop-topic")
    assert [list(map(str, scores.measures)) for scores in found] == [["other", "original"], ["other"]]
    with pytest.raises(DataError, match=r"there is no measure 'orignal' \(did you mean original"):
        open_collections(path, ["orignal", "other"])
    (kept,) = read_collections(ABSENT, choose=lambda names: [name for name in names if name != "other"])
    assert list(map(str, kept.measures)) == ["original"]


def test_runs_and_topics_that_a_measure_does_not_have_at_all_are_named(tmp_path):
    path = write(tmp_path, TABLE, pd.DataFrame([("d", "99", "other", 1.0)], columns=TABLE.columns))
    with pytest.warns(PolicyWarning) as said:
        assert me.open_scores(path, "original").values.shape == (3, 20, 1)
    ends = ("run without any score of original: d", "topic without any score of original: 99")
    assert [str(one.message).partition(": ")[2] for one in said] == [f"left out 1 {end}" for end in ends]


def test_doubles_and_words_of_another_measure_do_not_matter_to_ratings_either(tmp_path):
    second = TABLE[TABLE["measure"] == "other"].head(2).assign(score=["good", 1.0])
    path = write(tmp_path, TABLE.astype({"score": object}), second)
    assert sorted(read_ratings(path, measure="original").frame["score"]) == sorted(ORIGINAL.to_numpy().ravel())
    assert me.open_scores(path, "original").values.size == ORIGINAL.size
    with pytest.raises(DataError, match="line|s.csv:122"):
        read_ratings(path)


@pytest.mark.parametrize("missing", ["raise", "drop-topic", "drop-run"])
def test_a_command_says_of_a_measure_what_it_says_of_a_file_that_holds_nothing_else(missing, ok, tmp_path):
    options = ("--collection", "c", "-B", "50", "--explain")
    expected, _ = ok("ranks", write(tmp_path, ALONE), *options)
    assert "3 runs × 20 topics" in expected
    for name in ("tidy", "a column a measure", "wide", "wmt"):
        source = make_source(name, tmp_path)
        assert ok("ranks", source, "-m", "original", "--missing", missing, *options)[0] == expected


def test_a_comparison_with_named_measures_and_a_reference_of_one_measure_choose_first_too(ok, tmp_path):
    rng = np.random.default_rng(3)
    more = [ALONE.assign(measure=name, score=ALONE["score"] + rng.normal(0, 0.3, 60)) for name in ("new", "people")]
    path, out = write(tmp_path, ABSENT, *more), tmp_path / "report"
    ok("compare", "-m", "new", "--against", "original", path, "--trials", "10", "-B", "50", "--out", out)
    assert "3 runs × 20 topics" in (out / "index.html").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("error", MetaevalWarning)
        reading = {"missing": "drop-topic", "format": None, "columns": None}
        (people,) = open_references([str(path)], reading, measure="people")
    assert people.values.shape == (3, 20, 1)
