"""The register of data sets, whose shapes and gold are those of the files; others are read once they are in place."""

import hashlib
import json
import os
import re
import warnings
from functools import cache
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from metaeval import score
from metaeval.data.annotations import Annotations
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.datasets import Dataset, baselines, cache_folder, dataset, datasets, fetch, load_dataset
from metaeval.datasets.open import open_source
from metaeval.errors import DataError, DatasetError, MetaevalError, PolicyWarning
from metaeval.io import read_runs
from tests.io.cases import put

DATA = os.environ.get("METAEVAL_DATA", "").strip()
real_data = pytest.mark.skipif(not DATA, reason="METAEVAL_DATA does not say where the real data are")
CLASSES = ("-2", "-1", "0", "1", "2")

NIGHTLY = ("wmt23-he-en", "wmt23-zh-en")
"""Data sets that take long to read; others of their kind are read in every run of the tests."""
SHAPES = {  # runs, topics and classes of distributions; measures of scores; items of counts; see below for annotations
    "stc3-dq-a": (22, 390, 5), "stc3-dq-e": (22, 390, 5), "stc3-dq-s": (22, 390, 5), "llmjudge-oq": (33, 25, 4),
    "sem16t4e": (6, 100, 5), "sem17t4e": (5, 125, 5),
    "llmjudge": (33, 25, 4423), "sem16t4c": (6, 100, 20632), "sem17t4c": (5, 125, 12379), "semeval2017-runs": (19, 68, 5989),
    "replab2013-cem": (1, 61, 70412),
    "trec-web-2010": (88, 48, 6), "trec-web-2011": (62, 50, 6), "trec-web-2013": (34, 50, 6), "trec-adhoc-5": (61, 50, 3),
    "trec-adhoc-6": (74, 50, 3), "trec-adhoc-7": (103, 50, 3), "trec-robust-2004": (110, 249, 2),
    "wmt23-en-de": (12, 460, 33), "wmt23-en-de-runs": (12, 1, 33), "wmt23-he-en": (13, 820, 33),
    "wmt23-he-en-runs": (13, 1, 33), "wmt23-zh-en": (15, 1177, 33), "wmt23-zh-en-runs": (15, 1, 33), "livebench": (41, 1136, 1),
}  # fmt: skip
ANNOTATIONS = {  # annotators, judges, items, topics, and topics of the runs that follow from them
    "alttest-summeval": (3, 6, 6400, 100, 100),
    "alttest-cebab-stars": (10, 6, 711, 711, 25),
    "alttest-10k-prompts": (13, 6, 1698, 1698, 50),
    "alttest-lesion": (6, 4, 500, 100, 25),
    "alttest-mtbench": (3, 6, 120, 42, 10),
}
WARNINGS = {"livebench": 2, "llmjudge": 1, "llmjudge-oq": 1, "replab2013-cem": 3}
"""Data sets with policies that change data, and how many of them report."""


def count_warnings(name):
    if name.startswith("wmt23"):  # runs that not all files hold, and topics that were not rated
        return 1 if name.endswith("-runs") else 2
    return WARNINGS.get(name, 0)


@cache
def loaded(name):
    """Load a data set; only stated policies may warn."""
    if name == "semeval2017-runs":
        pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        data = load_dataset(name)
    assert [one.category for one in told] == [PolicyWarning] * count_warnings(name)
    assert (data.collection, data.provenance) == (name, dataset(name).provenance)
    return data


def test_every_data_set_that_can_be_downloaded_is_tested_here():
    annotations = {f"{name}{kind}" for name in ANNOTATIONS for kind in ("", "-oq", "-oc")}
    assert {*SHAPES, *annotations} == {one.name for one in datasets() if one.files}


@real_data
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in NIGHTLY)) for name in SHAPES]
)
def test_data_have_their_shape_classes_and_directions(name):
    data, described = loaded(name), dataset(name)
    if isinstance(data, QuantificationRuns):
        assert (data.estimated.shape, data.classes) == (SHAPES[name], described.classes)
    elif isinstance(data, ClassificationRuns):
        n_runs, n_topics, n_items = SHAPES[name]
        assert data.counts.shape == (n_runs, n_topics, len(described.classes), len(described.classes))
        np.testing.assert_array_equal(data.counts.sum(axis=(1, 2, 3)), n_items)
    else:
        assert data.values.shape == SHAPES[name]
        bounds = (-np.inf, np.inf) if name.startswith(("wmt23", "livebench")) else (0, 1)
        assert all(one.higher_is_better and one.range == bounds for one in data.measures)
        assert bounds[0] <= data.values.min() <= data.values.max() <= bounds[1]
        counted = zip(SHAPES[name], ("run", "topic", "measure"), strict=True)
        shown = " × ".join(f"{count} {word}{'s' * (count > 1)}" for count, word in counted)
        assert described.rows.replace(",", "") == shown


@real_data
@pytest.mark.parametrize("name", ANNOTATIONS)
def test_labels_of_people_and_judges_have_their_shape_and_so_have_their_runs(name):
    people, judges, items, topics, n_groups = ANNOTATIONS[name]
    labels, oq, oc = loaded(name), loaded(f"{name}-oq"), loaded(f"{name}-oc")
    assert isinstance(labels, Annotations)
    assert (*labels.labels.shape, len(set(labels.topics))) == (people, items, topics)
    assert labels.answers.shape[:2] == oq.estimated.shape[:2] == (judges, items)
    assert oc.counts.shape[:2] == (judges, n_groups)
    assert oc.counts.sum() == judges * items


@real_data
def test_stc3_has_the_baselines_last_and_popularity_knows_the_gold_of_19_votes():
    runs = loaded("stc3-dq-a")
    assert runs.runs[-2:] == ("BL-popularity", "BL-uniform")
    assert "submitted-run0" in runs.runs
    np.testing.assert_array_equal(runs.estimated[-2], baselines.popularity(runs.gold))
    np.testing.assert_array_equal(runs.estimated[-1], 0.2)
    np.testing.assert_allclose(runs.gold * 19, np.rint(runs.gold * 19), atol=1e-9)


@real_data
def test_llmjudge_has_a_topic_without_one_class_and_labels_out_of_range_that_only_a_policy_takes():
    labels, shares = loaded("llmjudge"), loaded("llmjudge-oq")
    assert labels.gold.sum(axis=0).tolist() == [2005, 1233, 808, 377]
    assert (labels.gold == 0).any(axis=1).sum() == 1
    assert shares.runs == labels.runs
    np.testing.assert_array_equal(shares.estimated, labels.to_quantification().estimated)
    files = fetch("llmjudge")
    runs = {name: files[f"llmjudge/runs/{name}.txt"] for name in ("RMITIR-llama70B", "h2oloo-zeroshot2")}
    options = {"format": "judgements", "classes": range(4)}
    with pytest.raises(DataError, match=r"llama70B.txt:2449: run RMITIR-llama70B, topic q0, item p3021: the label"):
        read_runs(files["llmjudge/qrels.txt"], runs, **options)
    with pytest.warns(PolicyWarning, match="3 labels .*: runs RMITIR-llama70B, h2oloo-zeroshot2; topics q0, q2, q30"):
        read_runs(files["llmjudge/qrels.txt"], runs, invalid="clip", **options)


@real_data
@pytest.mark.parametrize(("c", "e"), [("sem16t4c", "sem16t4e"), ("sem17t4c", "sem17t4e")])
def test_the_gold_distributions_of_subtask_e_are_the_labels_of_subtask_c(c, e):
    items, shares = loaded(c), loaded(e)
    assert items.runs == shares.runs
    assert set(items.topics) == set(shares.topics)
    counted = items.to_quantification()
    order = [counted.topics.index(topic) for topic in shares.topics]
    np.testing.assert_allclose(shares.gold, counted.gold[order], atol=1e-9)


@real_data
def test_potts_answers_the_lines_of_the_gold_better_than_at_random():
    """Its ids are line numbers; matched with other lines of the topic it would agree as often as chance has it."""
    runs, shares = loaded("sem16t4c"), loaded("sem16t4e")
    assert runs.runs == ("PotTS", *(f"always-{label}" for label in CLASSES))
    counts = runs.counts[0]
    assert counts.sum(axis=(0, 1)).tolist() == [1349, 3398, 8922, 5024, 1939]
    by_chance = (counts.sum(axis=2) * counts.sum(axis=1)).sum(axis=1) / counts.sum(axis=(1, 2))
    right = np.trace(counts, axis1=1, axis2=2)
    assert (right - by_chance).sum() / counts.sum() > 0.015  # 20,632 items: some five standard errors
    # The team's file of subtask E has the same shares in another order in every topic; it is read as it was submitted.
    order = [runs.topics.index(topic) for topic in shares.topics]
    counted = runs.to_quantification().estimated[0][order]
    np.testing.assert_allclose(np.sort(shares.estimated[0]), np.sort(counted), atol=2e-3)


TABLE_7 = {  # LQ 2021, Table 7: dialogues for which Uniform, Popularity is better
    "stc3-dq-a": [(175, 197), (224, 166), (265, 125), (274, 116), (297, 93), (301, 89)],
    "stc3-dq-e": [(257, 127), (294, 96), (331, 58), (328, 62), (340, 50), (347, 43)],
    "stc3-dq-s": [(109, 268), (177, 213), (229, 161), (224, 166), (257, 133), (255, 135)],
}


@real_data
@pytest.mark.parametrize("name", TABLE_7)
def test_popularity_against_uniform_is_as_in_lq_2021_table_7(name):
    runs = loaded(name).sel(runs=["BL-popularity", "BL-uniform"])
    popularity, uniform = score(runs, ["NMD", "RSNOD", "RNOD", "NVD", "RNSS", "JSD"]).values
    for tie in (1e-15, 5e-5):
        better = (popularity - uniform > tie, uniform - popularity > tie)
        assert [*zip(*(each.sum(axis=0).tolist() for each in better), strict=True)] == TABLE_7[name]


@pytest.mark.parametrize(
    ("gold", "by_hand"),
    [
        ([1, 2, 10, 4, 2], [0, 0, 1, 0, 0]),
        ([7, 5, 7, 0, 0], [1 / 2, 0, 1 / 2, 0, 0]),
        ([5, 5, 5, 4, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0]),
        ([0.1 + 0.2, 0.3, 0.3 - 1e-12], [1 / 3] * 3),  # a tie, however shares are rounded
        ([0.1 + 0.2, 0.3, 0.4], [0, 0, 1]),
        ([[[0.5, 0.5], [0.2, 0.8]], [[1.0, 0.0], [0.0, 1.0]]], [[[0.5, 0.5], [0, 1]], [[1, 0], [0, 1]]]),
    ],
)
def test_popularity_shares_its_mass_evenly_among_the_most_frequent_classes_of_a_topic(gold, by_hand):
    for scaled in (np.array(gold), np.array(gold) / 19):
        np.testing.assert_array_equal(baselines.popularity(scaled), by_hand)
    np.testing.assert_array_equal(baselines.uniform(gold), np.full(np.shape(gold), 1 / np.shape(gold)[-1]))


def test_runs_are_downloaded_read_and_joined_by_baselines(server, tmp_path):
    def quality(shares):
        return {aspect: dict(zip(CLASSES, shares, strict=True)) for aspect in "AES"}

    votes = [{"quality": {"A": vote, "E": 0, "S": 0}} for vote in (1, 1, 2, 2, 0)]
    gold = [{"id": "d1", "annotations": votes}]
    run = [{"id": "d1", "quality": quality([0.1, 0.2, 0.3, 0.4, 1e-7])}]
    tiny = server.dataset({"gold.json": json.dumps(gold).encode(), "runs/a.json": json.dumps(run).encode()})
    described = Dataset(
        "tiny", kind="quantification", classes=CLASSES, reader="dialogue-quality", gold="gold.json", runs="runs/*.json",
        options={"aspect": "A", "rescale": True}, baselines=("popularity", "uniform", "constant"), files=tiny.files,
    )  # fmt: skip
    runs = load_dataset(described, folder=tmp_path)
    assert runs.runs == ("a", "BL-popularity", "BL-uniform", *(f"always-{label}" for label in CLASSES))
    np.testing.assert_allclose(runs.gold, [[0, 0, 0.2, 0.4, 0.4]])
    np.testing.assert_allclose(runs.estimated[1], [[0, 0, 0, 0.5, 0.5]])
    assert (runs.collection, runs.provenance) == ("tiny", "me/data@0000000")


def test_a_data_set_without_runs_has_its_baselines_only(server, tmp_path):
    tiny = server.dataset({"gold.txt": b"1\tamy\t1\n2\tamy\t-2\n3\tbob\t0\n"})
    described = Dataset(
        "tiny", kind="classification", classes=CLASSES, reader="semeval-c", gold="gold.txt",
        baselines=("constant",), files=tiny.files,
    )  # fmt: skip
    runs = load_dataset(described, folder=tmp_path)
    assert runs.runs == tuple(f"always-{label}" for label in CLASSES)
    assert score(runs, "Accuracy").values[:, :, 0].tolist() == [[0.5, 0], [0, 0], [0, 1], [0.5, 0], [0, 0]]


def test_what_cannot_be_downloaded_is_told_and_read_once_it_is_in_place(tmp_path):
    with pytest.raises(DatasetError) as caught:
        load_dataset("replab2013", folder=tmp_path)
    for part in ("replab2013 cannot be downloaded by a program", "http://nlp.uned.es/replab2013/", str(tmp_path)):
        assert part in str(caught.value)
    assert "replab2013/runs/TEAM.txt" in str(caught.value)
    put(tmp_path / "replab2013", {"gold.txt": "c1 0 t1 -1\nc1 0 t2 1\n", "runs/.hidden": ""})
    with pytest.raises(DatasetError, match="cannot be downloaded by a program"):
        load_dataset("replab2013", folder=tmp_path)
    put(tmp_path / "replab2013" / "runs", {"team.txt": "c1 0 t1 -1\nc1 0 t2 0\n"})
    runs = load_dataset("replab2013", folder=tmp_path)
    assert (runs.runs, runs.counts.tolist()) == (("team",), [[[[1, 0, 0], [0, 0, 0], [0, 1, 0]]]])
    assert "uned" in runs.provenance


def test_sakais_score_matrices_are_read_once_they_are_in_place_and_a_policy_without_effect_is_said(
    tmp_path, monkeypatch
):
    put(tmp_path / "acl2021" / "dq-a", {"NMD": "0.1 0.2\n0.3 0.4\n"})
    with pytest.raises(DataError, match="runs: there is no such file"):
        load_dataset("acl2021-dq-a", folder=tmp_path)
    put(tmp_path / "acl2021" / "dq-a", {"runs": "a\nb\n"})
    scores = load_dataset("acl2021-dq-a", folder=tmp_path)
    assert scores.values[:, :, 0].tolist() == [[0.1, 0.3], [0.2, 0.4]]
    assert (scores.collection, scores.measures[0].higher_is_better) == ("acl2021-dq-a", False)
    monkeypatch.setenv("METAEVAL_DATA", str(tmp_path))
    with pytest.warns(PolicyWarning, match="missing does nothing here"):
        open_source("acl2021-dq-a", missing="drop-run")


@pytest.mark.parametrize(("kind", "error"), [("scores", DatasetError), ("classification", MetaevalError)])
def test_a_reader_that_is_not_there_is_refused_with_those_that_are(kind, error, tmp_path):
    (tmp_path / "x_AP.csv").write_text("a,b\n1,2\n")
    described = Dataset("x", kind=kind, reader="pickle", gold="x_AP.csv", runs="x_*.csv", where="here", layout="so")
    with pytest.raises(error, match="'pickle'.*: use "):
        load_dataset(described, folder=tmp_path)
    plain = Dataset("x", kind="scores", reader="wide", runs="x_*.csv", where="here", layout="so")
    assert load_dataset(plain, folder=tmp_path).values[:, 0, 0].tolist() == [1, 2]


DOWNLOADED = [one for one in datasets() if one.files]
BY_HAND = [one for one in datasets() if not one.files]


@pytest.mark.parametrize("one", datasets(), ids=lambda one: one.name)
def test_every_data_set_says_what_it_is_and_where_it_is_from(one):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.name)
    assert one.kind in ("classification", "quantification", "scores", "annotations")
    assert all((one.title, one.rows, one.citation))
    assert (one.kind == "scores") == (one.classes == ())
    assert ("http" in one.where) == bool(one.layout) == (not one.files)
    if one.files:
        assert (one.gold == "") == (one.kind == "scores")
        assert one.gold in {"", *(file.name for file in one.files)}
        assert all(file.licence and file.origin for file in one.files)
        assert one.provenance.count("@") == len({file.origin for file in one.files})


def test_every_file_is_pinned_and_data_sets_that_can_be_downloaded_come_first():
    assert [*DOWNLOADED, *BY_HAND] == list(datasets())
    assert len(DOWNLOADED) == 40
    files = {file.name: file for one in DOWNLOADED for file in one.files}
    assert len(files) == 315
    assert len({file.sha256 for file in files.values()}) == len(files)
    for file in files.values():
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/[\w./%-]+", file.url)
        assert file.bytes > 0


def test_an_unknown_name_brings_the_nearest_ones():
    with pytest.raises(DatasetError, match=r"there is no data set 'stc3-dq' \(did you mean stc3-dq-"):
        dataset("stc3-dq")
    with pytest.raises(DatasetError, match=r"there is no data set 'xyz'; `metaeval data list` lists them"):
        load_dataset("xyz")


def test_downloads_land_where_the_environment_says_else_in_the_cache(monkeypatch):
    monkeypatch.setenv("METAEVAL_DATA", "~/mine")
    assert cache_folder() == Path.home() / "mine"
    for nothing in ("", "  "):
        monkeypatch.setenv("METAEVAL_DATA", nothing)
        assert "metaeval" in cache_folder().parts
    monkeypatch.delenv("METAEVAL_DATA")
    assert "metaeval" in cache_folder().parts


NOT_REGISTERED = {"semeval2017-runs"}
"""Folders of the manifest with files that no data set reads (of semeval2017-runs, a baseline that is made here)."""


@pytest.mark.skipif(not (Path(DATA) / "manifest.json").is_file(), reason="METAEVAL_DATA has no manifest.json")
def test_registered_files_are_those_of_the_manifest_and_the_rest_is_listed():
    entries = json.loads((Path(DATA) / "manifest.json").read_text(encoding="utf-8"))
    manifest = {entry["file"]: entry for entry in entries}
    files = {file.name: file for one in DOWNLOADED for file in one.files}
    livebench = files.pop("evals/livebench/livebench_13012025.parquet")  # which the manifest leaves out
    assert hashlib.sha256((Path(DATA) / livebench.name).read_bytes()).hexdigest() == livebench.sha256
    assert files.keys() <= manifest.keys()
    assert {name.partition("/")[0] for name in manifest.keys() - files.keys()} == NOT_REGISTERED
    for name, file in files.items():
        entry = manifest[name]
        assert (file.sha256, file.bytes, file.licence) == (entry["sha256"], entry["bytes"], entry["licence"])
        address = f"{entry['repository']}/{entry['commit']}/{quote(entry['path'])}"
        assert file.url == f"https://raw.githubusercontent.com/{address}"
        assert file.origin == f"{entry['repository']}@{entry['commit'][:7]}"
