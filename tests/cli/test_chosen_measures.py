"""Measures are chosen before gaps are settled: what another measure lacks moves no number, whatever the format."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.cli.opening import open_references
from metaeval.datasets.open import open_collections
from metaeval.errors import DataError, MetaevalWarning, PolicyWarning
from metaeval.io import read_collections
from metaeval.io.ratings import read_ratings

RUNS, TOPICS, MEASURES = ["a", "b", "c"], [str(topic) for topic in range(1, 21)], ["original", "other"]
RNG = np.random.default_rng(7)
TABLE = pd.DataFrame(
    [(run, topic, measure, round(RNG.normal(), 3)) for run in RUNS for topic in TOPICS for measure in MEASURES],
    columns=["run", "topic", "measure", "score"],
)
GAPS = (TABLE["measure"] == "other") & (TABLE["run"] == "b") & (TABLE["topic"].astype(int) > 6)
WITH_NAN = TABLE.assign(score=TABLE["score"].mask(GAPS))
ABSENT = TABLE[~GAPS]
ORIGINAL = TABLE[TABLE["measure"] == "original"].pivot(index="run", columns="topic", values="score").loc[RUNS, TOPICS]
MATRICES = {
    name: rows.pivot(index="topic", columns="run", values="score").loc[TOPICS]
    for name, rows in WITH_NAN.groupby("measure")
}


def write_lines(path, template, rows=ABSENT):
    path.write_text("".join(template.format(**row) for row in rows.to_dict("records")))
    return path


def write_csv(frame, path, **options):
    frame.to_csv(path, **{"index": False, **options})
    return path


def write_folder(folder, files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def spell(values, separator):
    return "".join(separator.join("nan" if np.isnan(v) else repr(v) for v in row) + "\n" for row in values.tolist())


def write_logs(folder):
    for run, rows in ABSENT.groupby("run"):
        samples = [
            {"id": topic, "epoch": 1, "scores": {row["measure"]: {"value": row["score"]} for row in each.to_dict("records")}}
            for topic, each in rows.groupby("topic", sort=False)
        ]  # fmt: skip
        log = {"version": 2, "status": "success", "eval": {"task": "arc", "model": run}, "samples": samples}
        (folder / f"{run}.json").write_text(json.dumps(log))
    return folder


def write_parquet(frame, path):
    frame.to_parquet(path)
    return path


COLUMNS = WITH_NAN.pivot(index=["run", "topic"], columns="measure", values="score").loc[
    [(run, topic) for run in RUNS for topic in TOPICS]
]
FORMATS = {
    "tidy": lambda folder: write_csv(WITH_NAN, folder / "s.csv"),
    "tidy, rows absent": lambda folder: write_csv(ABSENT, folder / "s.csv"),
    "tidy Parquet": lambda folder: write_parquet(ABSENT, folder / "s.parquet"),
    "a column a measure": lambda folder: write_csv(COLUMNS.reset_index(), folder / "s.csv"),
    "wide": lambda folder: write_folder(folder / "x", {f"s_{name}.csv": each.to_csv() for name, each in MATRICES.items()}),
    "sakai": lambda folder: write_folder(
        folder / "x",
        {"runs": "\n".join(RUNS), **{name: spell(each[RUNS].to_numpy(), " ") for name, each in MATRICES.items()}},
    ),
    "trec_eval": lambda folder: write_folder(
        folder / "x",
        {f"{run}.eval": "".join(f"{row.measure}\t{row.topic}\t{row.score!r}\n" for row in rows.itertuples())
         for run, rows in ABSENT.groupby("run")},
    ),
    "wmt": lambda folder: write_folder(
        folder / "x",
        {f"{name}.seg.score": "".join(f"{run}\t{'None' if np.isnan(v) else v}\n" for run in RUNS for v in each[run].tolist())
         for name, each in MATRICES.items()},
    ),
    "tot": lambda folder: write_lines(folder / "s", "{run}\t{measure}\tq{topic}\t{score!r}\n"),
    "jsonl": lambda folder: write_lines(
        folder / "s.jsonl", '{{"run_id": "{run}", "topic_id": "{topic}", "measure": "{measure}", "value": {score}}}\n'
    ),
    "inspect": write_logs,
    "frame": lambda folder: ABSENT,
    "frame, a column a measure": lambda folder: COLUMNS,
    "frames by measure": lambda folder: MATRICES,
}  # fmt: skip
STATED = {"tot": "tot", "trec_eval": "trec_eval"}


@pytest.mark.parametrize("name", FORMATS)
def test_a_complete_measure_is_read_whole_whatever_another_one_lacks(name, tmp_path):
    source, stated = FORMATS[name](tmp_path), STATED.get(name)
    for missing in ("raise", "drop-topic", "drop-run", "worst", "keep"):
        with warnings.catch_warnings():
            warnings.simplefilter("error", PolicyWarning)
            scores = me.open_scores(source, "original", missing=missing, format=stated)
        found = scores.matrix("original").rename(columns=lambda topic: topic.removeprefix("q"))
        pd.testing.assert_frame_equal(found.loc[RUNS, TOPICS], ORIGINAL, check_names=False, check_dtype=False)
        assert (scores.values.size, type(scores)) == (ORIGINAL.size, me.Scores)
    with pytest.raises(DataError, match=r"run b, topic q?\d+, measure other: .*missing=drop-topic"):
        me.open_scores(source, format=stated)
    with pytest.warns(PolicyWarning, match="left out 14 of 20 topics"):
        assert len(me.open_scores(source, "other", missing="drop-topic", format=stated).topics) == 6


def test_each_collection_is_asked_for_its_measures_and_all_of_them_are_named(tmp_path):
    path = write_csv(pd.concat([WITH_NAN.assign(collection="x"), ABSENT.assign(collection="y")]), tmp_path / "s.csv")
    found = open_collections(path, "original")
    assert [(scores.collection, scores.values.shape) for scores in found] == [("x", (3, 20, 1)), ("y", (3, 20, 1))]
    with pytest.raises(DataError, match=r"no measure 'orignal' \(did you mean original\? there are original, other\)"):
        open_collections(path, ["orignal", "other"])
    only = write_csv(
        pd.concat([WITH_NAN.assign(collection="x"), ABSENT[ABSENT["measure"] == "other"].assign(collection="y")]),
        tmp_path / "t.csv",
    )
    with pytest.raises(DataError, match=r"there is no measure 'original' \(there are other\)"):
        open_collections(only, "original")
    with pytest.warns(PolicyWarning, match="left out 14 of 20 topics"):
        found = open_collections(only, ["other", "original"], missing="drop-topic")
    assert [list(map(str, scores.measures)) for scores in found] == [["other", "original"], ["other"]]
    with pytest.raises(DataError, match=r"there is no measure 'orignal' \(did you mean original"):
        open_collections(only, ["orignal", "other"])
    (kept,) = read_collections(ABSENT, choose=lambda names: [name for name in names if name != "other"])
    assert list(map(str, kept.measures)) == ["original"]


def test_runs_and_topics_that_a_measure_does_not_have_at_all_are_named(tmp_path):
    rows = pd.concat([TABLE, pd.DataFrame([("d", "99", "other", 1.0)], columns=TABLE.columns)])
    with pytest.warns(PolicyWarning) as said:
        assert me.open_scores(write_csv(rows, tmp_path / "s.csv"), "original").values.shape == (3, 20, 1)
    assert [str(one.message).partition(": ")[2] for one in said] == [
        "left out 1 run without any score of original: d", "left out 1 topic without any score of original: 99",
    ]  # fmt: skip


def test_doubles_and_words_of_another_measure_do_not_matter_to_ratings_either(tmp_path):
    second = TABLE[TABLE["measure"] == "other"].head(2).astype({"score": object})
    second.iloc[0, 3] = "good"
    path = write_csv(pd.concat([TABLE.astype({"score": object}), second]), tmp_path / "s.csv")
    assert sorted(read_ratings(path, measure="original").frame["score"]) == sorted(ORIGINAL.to_numpy().ravel())
    assert me.open_scores(path, "original").values.size == ORIGINAL.size
    with pytest.raises(DataError, match="line|s.csv:122"):
        read_ratings(path)


@pytest.mark.parametrize("missing", ["raise", "drop-topic", "drop-run"])
def test_a_command_says_of_a_measure_what_it_says_of_a_file_that_holds_nothing_else(missing, ok, tmp_path):
    alone = write_csv(TABLE[TABLE["measure"] == "original"], tmp_path / "alone.csv")
    options = ("--collection", "c", "-B", "50", "--explain")
    expected, _ = ok("ranks", alone, *options)
    assert "3 runs × 20 topics" in expected
    for name in ("tidy", "a column a measure", "wide", "wmt"):
        (tmp_path / name).mkdir()
        assert (
            ok("ranks", FORMATS[name](tmp_path / name), "-m", "original", "--missing", missing, *options)[0] == expected
        )


def test_a_comparison_with_named_measures_and_a_reference_of_one_measure_choose_first_too(ok, tmp_path):
    rng = np.random.default_rng(3)
    more = TABLE[TABLE["measure"] == "original"]
    more = [
        more.assign(measure=name, score=more["score"] + rng.normal(0, 0.3, len(more))) for name in ("new", "people")
    ]
    path = write_csv(pd.concat([ABSENT, *more]), tmp_path / "s.csv")
    out = tmp_path / "report"
    ok("compare", "-m", "new", "--against", "original", path, "--trials", "10", "-B", "50", "--out", out)
    assert "3 runs × 20 topics" in (out / "index.html").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("error", MetaevalWarning)
        reading = {"missing": "drop-topic", "format": None, "columns": None}
        (people,) = open_references([str(path)], reading, measure="people")
    assert people.values.shape == (3, 20, 1)
