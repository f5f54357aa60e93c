"""Runs from files: counts against a plain loop, and what every policy does and says."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import read_scores
from tests.io.cases import read_pair, read_with_notes

FULL = GOLD = "q1 0 a 0\nq1 0 b 3\nq2 0 a 1\nq2 0 b 2\nq3 0 a 1\n"
GAPS = "q2 0 a 1\nq3 0 a 1\nq1 0 a 2\n"  # no q1 b (gold 3), no q2 b (gold 2)
WILD = "q1 0 a -4\nq1 0 b 3\nq2 0 a 1\nq2 0 b 9\nq3 0 a 1\n"


def judged(folder, runs, gold=GOLD, classes=range(4), **policies):
    return read_pair(folder, gold, runs, format="judgements", classes=classes, **policies)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_counts_are_those_of_a_plain_loop_whatever_the_order_of_lines(data, tmp_path):
    items = data.draw(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd")), min_size=1, unique=True))
    labels = st.lists(st.integers(0, 2), min_size=len(items), max_size=len(items))
    given_labels = {name: data.draw(labels) for name in ("gold", "one", "two")}
    rows = {
        name: [f"{topic} 0 {item} {label}" for (topic, item), label in zip(items, said, strict=True)]
        for name, said in given_labels.items()
    }
    shuffled = {name: "\n".join(data.draw(st.permutations(rows[name]))) for name in ("one", "two")}
    runs = judged(tmp_path, shuffled, gold="\n".join(rows["gold"]), classes=range(3))
    expected = np.zeros_like(runs.counts)
    for r, name in enumerate(("one", "two")):
        for (topic, _), g, p in zip(items, given_labels["gold"], given_labels[name], strict=True):
            expected[r, runs.topics.index(topic), g, p] += 1
    np.testing.assert_array_equal(runs.counts, expected)


POLICIES = [
    # the policy and the run that it is for, what is said, what is left, counts by (topic, gold, predicted) of that run
    ({"missing": "worst"}, "gaps", "2 missing labels counted as .* .like missing=worst.: run gaps; topics q1, q2", (2, 3),
     {(0, 3, 0): 1, (1, 2, 0): 1, (0, 0, 2): 1}),  # gold 2 of 0 to 3 is nearer to 3, so class 0
    ({"missing": "drop-topic"}, "gaps", "left out 2 of 3 topics: q1, q2 .*, since .* missing", (2, 1), {(0, 1, 1): 1}),
    ({"missing": "drop-run"}, "gaps", r"left out 1 of 2 runs: gaps \(like missing=drop-run\)", (1, 3), {}),
    ({"invalid": "clip"}, "wild", "2 labels outside the classes moved to .* .like invalid=clip.: run wild; topics q1",
     (2, 3), {(0, 0, 0): 1, (1, 2, 3): 1}),
    ({"invalid": "worst"}, "wild", "2 labels outside the classes moved to the class farthest from the gold .like invalid=worst",
     (2, 3), {(0, 0, 3): 1, (1, 2, 0): 1}),
    ({"invalid": "drop-topic"}, "wild", "left out 2 of 3 topics: q1, q2 .*, since .* invalid", (2, 1), {(0, 1, 1): 1}),
    ({"invalid": "drop-run"}, "wild", r"left out 1 of 2 runs: wild \(like invalid=drop-run\)", (1, 3), {}),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "run", "said", "shape", "counts"), POLICIES)
def test_what_a_policy_does_with_missing_and_odd_labels_is_said(policy, run, said, shape, counts, tmp_path):
    with pytest.warns(PolicyWarning, match=said):
        runs = judged(tmp_path, {"full": FULL, run: {"gaps": GAPS, "wild": WILD}[run]}, **policy)
    assert runs.counts.shape[:2] == shape
    assert {cell: runs.counts[(1, *cell)] for cell in counts} == counts
    assert (runs.counts.sum(axis=(1, 2, 3)) == runs.counts[0].sum()).all()


def test_runs_are_left_out_before_topics_so_that_no_topic_goes_for_a_run_that_goes(tmp_path):
    policies = {"missing": "drop-run", "invalid": "drop-topic"}
    runs, notes = read_with_notes(judged, tmp_path, {"full": FULL, "gaps": GAPS, "wild": WILD}, **policies)
    assert (runs.runs, runs.topics, notes.count("\n")) == (("full", "wild"), ("q3",), 1)
    runs, notes = read_with_notes(judged, tmp_path, {"full": FULL, "both": GAPS.replace("a 2", "a 9")}, **policies)
    assert (runs.runs, runs.topics, "drop-run" in notes) == (("full",), ("q1", "q2", "q3"), True)
    runs, notes = read_with_notes(judged, tmp_path, FULL, missing="worst", invalid="clip")
    assert (runs.counts.shape, notes) == ((1, 3, 4, 4), ""), "these have nothing to do, and say nothing"


GONE = "q1 0 a 0\nq1 0 b 0\n"
BEYOND = "r:4: run r, topic q2, item b: the label '{0}' is not a number beyond"
REFUSED = [
    # gold, a run, policies, what is refused
    (GONE, "q1 0 a 0\n", {"missing": "drop-topic"}, "missing=drop-topic would leave no topic"),
    (GONE, "q1 0 a 0\n", {"missing": "drop-run"}, "missing=drop-run would leave no run"),
    *[(GOLD, FULL.replace("q2 0 b 2", f"q2 0 b {label}"), {"invalid": "clip"}, BEYOND.format(label))
      for label in ("high", "1.5", "inf")],
    ("q 0 a lo\n", "q 0 a 7\n", {"invalid": "clip", "classes": ["lo", "hi"]},
     "not a number beyond an end of the scale lo, hi"),
    (GOLD.replace("a 0", "a 9"), FULL, {"missing": "worst", "invalid": "worst"}, "g:1: topic q1, item a: the label '9'"),
    (GOLD, FULL + "q9 0 a 1\n", {"missing": "worst", "invalid": "worst"},
     "r:6: run r, topic q9, item a: the gold has no such"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "run", "policies", "message"), REFUSED)
def test_no_policy_leaves_nothing_guesses_a_number_or_mends_the_gold(gold, run, policies, message, tmp_path):
    with pytest.raises(DataError, match=message):
        judged(tmp_path, run, gold=gold, **policies)


SHARES = "topic,lo,mid,hi\nt1,1,0,0\nt2,0,0,1\nt3,0.5,0,0.5\n"
ONE = "topic,lo,mid,hi\nt3,0,1,0\n"


def first(shares):
    """Distributions of which the first is another one."""
    return SHARES.replace("1,0,0", shares)


DISTRIBUTIONS = [
    # a run, options, what is read of topics t1, t2 and t3, or what is refused, and what is said
    (ONE, {"missing": "worst"}, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], "worst: 2 missing distributions given "),
    (SHARES.rpartition("t3")[0], {"missing": "worst"}, [[1, 0, 0], [0, 0, 1], [0, 0, 1]], ": run r; topic t3"),
    (ONE, {}, r"r: run r, topic t1: there is no distribution .*there are 2 such cases", ""),
    (ONE, {"missing": "drop-topic"}, [[0, 1, 0]], "left out 2 of 3 topics: t1, t2 (like missing=drop-topic)"),
    (first("2,1,1"), {}, r"probabilities sum to 4, not 1 .rescale with rescale=True", ""),
    (first("2,1,1"), {"rescale": True}, [[0.5, 0.25, 0.25], [0, 0, 1], [0.5, 0, 0.5]], ""),
    (first("0,0,0"), {"rescale": True}, "r:2: run r, topic t1: probabilities sum to 0, not 1", ""),
    (first("1.0000009,0,0"), {}, [[1.0000009, 0, 0], [0, 0, 1], [0.5, 0, 0.5]], ""),  # a millionth is rounding
    (first("0.9999991,0,0"), {}, [[0.9999991, 0, 0], [0, 0, 1], [0.5, 0, 0.5]], ""),
    (first("1.000002,0,0"), {}, "not 1", ""),
]  # fmt: skip


@pytest.mark.parametrize(("run", "options", "found", "said"), DISTRIBUTIONS)
def test_missing_distributions_are_as_far_from_the_gold_as_can_be_and_sums_are_rescaled_on_request(
    run, options, found, said, tmp_path
):
    options = {"format": "probabilities", **options}
    if isinstance(found, str):
        with pytest.raises(DataError, match=found):
            read_pair(tmp_path, SHARES, run, **options)
        return
    runs, notes = read_with_notes(read_pair, tmp_path, SHARES, {"r": run}, **options)
    assert runs.estimated[0].tolist() == found
    assert said in notes if said else not notes


def test_the_gold_of_subtask_e_may_be_the_labels_of_subtask_c(tmp_path):
    gold = "1\tx\t-2\n2\tx\t2\n3\tx\t2\n4\tx\t0\n5\ty\t1\ttext\twith\ttabs\n"
    runs = read_pair(tmp_path, gold, "y\t0\t0\t0\t1\t0\nx\t0.2\t0.2\t0.2\t0.2\t0.2\n", format="semeval-e")
    assert runs.gold.tolist() == [[0.25, 0, 0.25, 0, 0.5], [0, 0, 0, 1, 0]]


def test_line_numbers_stand_for_ids_only_when_the_topics_agree_line_by_line(tmp_path):
    gold, numbered = "77\tx\t0\n77\ty\t2\n\n5\tx\t1\n", "1\tx\t1\n2\ty\t2\n3\tx\t1\n"
    runs = read_pair(tmp_path, gold, numbered, format="semeval-c")
    assert np.argwhere(runs.counts[0, 0]).tolist() == [[2, 3], [3, 3]]
    runs = read_pair(tmp_path, "2\tx\t0\n1\tx\t2\n", "1\tx\t2\n2\tx\t0\n", format="semeval-c")
    assert runs.counts[0, 0].trace() == 2, "ids that are the gold's own are ids"


DOUBLED = pd.DataFrame({
    "model": [*"aaabb"], "question": [*"xxyxy"], "score": [0.5, 0.25, 1, 0, 0.75],
    "tstamp": ["2025-01-01", "2025-03-01", "2025-02-01", "2025-01-01", "2025-01-01"],
})  # fmt: skip


def write_doubled(frame, kind, folder):
    if kind == "frame":
        return frame
    path = folder / f"board.{kind}"
    {"csv": partial(frame.to_csv, index=False), "parquet": frame.to_parquet}[kind](path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(("doubled", "score"), [("mean", 0.375), ("latest", 0.25)])
def test_of_several_scores_the_mean_or_the_latest_is_taken_and_said(kind, doubled, score, tmp_path):
    source = write_doubled(DOUBLED, kind, tmp_path)
    with pytest.warns(PolicyWarning, match=f"1 cell had several scores: the {doubled} was taken"):
        scores = read_scores(source, doubled=doubled)
    assert scores.values[:, :, 0].tolist() == [[score, 1], [0, 0.75]]
    with pytest.raises(DataError, match=r"there is a second score, 0.25 .*the latest, by 'tstamp': doubled=latest"):
        read_scores(source)


def test_a_latest_score_needs_a_time_and_one_latest(tmp_path):
    same = DOUBLED.assign(tstamp=7)
    with pytest.raises(DataError, match="run a, topic x, measure score: two scores are the latest"):
        read_scores(write_doubled(same, "csv", tmp_path), doubled="latest")
    with pytest.raises(DataError, match="no column says when scores were computed.*columns time=NAME"):
        read_scores(DOUBLED.drop(columns="tstamp"), doubled="latest")
    with pytest.raises(DataError, match="'soon' is no time"):
        read_scores(DOUBLED.assign(tstamp=["soon", *DOUBLED["tstamp"][1:]]), doubled="latest")
    again = DOUBLED.assign(score=0.5, tstamp=7)  # the same score twice is the latest either way
    with pytest.warns(PolicyWarning, match="the latest was taken"):
        assert read_scores(again, doubled="latest").values.ravel().tolist() == [0.5] * 4


DATES = [
    # three dates of three scores, and which is the latest, or why none is
    (["2024-11-25T10:00:00Z", "2024-12-01", "2024-12-03"], 2),
    (["20240113", "20240202", "20240203"], 2),
    (["100000", "120000", "90000"], 1),  # counted steps
    (["25/11/2024", "01/12/2024", "03/12/2024"], "'25/11/2024' is no time, or not written as ISO 8601 has it"),
    (["Nov 25, 2024", "Dec 1, 2024", "Dec 3, 2024"], "'Nov 25, 2024' is no time"),
    (["01/02/2024", "02/03/2024", "03/04/2024"], "'01/02/2024' is no time"),  # either way in one order
    (["2024-11-25", "11/26/2024", "2024-12-01"], "'11/26/2024' is no time"),
    (["25/11/24", "01/12/24", "03/12/24"], "'25/11/24' is no time"),
    (["02/02", "03/01", "04/01"], "can be read in several ways"),
    (["13012024", "02022024", "03022024"], "can be read in several ways"),
    (["130124", "220224", "230224"], "can be read in several ways"),
    (["2023.9", "2023.10", "2023.11"], "can be read in several ways"),  # a year and a month
]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(("dates", "latest"), DATES, ids=lambda given: given[0] if isinstance(given, list) else "")
def test_dates_that_do_not_begin_with_the_year_are_refused(kind, dates, latest, tmp_path):
    frame = pd.DataFrame({"run": "a", "topic": "t", "score": [0.0, 1.0, 2.0], "time": dates})
    source = write_doubled(frame, kind, tmp_path)
    if isinstance(latest, str):
        with pytest.raises(DataError, match=f"{latest}.*write dates as 2024-12-31"):
            read_scores(source, doubled="latest")
        return
    with pytest.warns(PolicyWarning, match="the latest was taken"):
        assert read_scores(source, doubled="latest").values.item() == latest
