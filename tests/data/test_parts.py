"""Random parts in place of topics, item by item while reading."""

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.io import read_runs
from tests.io.cases import put


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    items = [f"q{i % 3} 0 d{i}" for i in range(25)]
    runs = {f"runs/{run}.txt": "".join(f"{items[i]} {rng.integers(3)}\n" for i in rng.permutation(25)) for run in "ab"}
    return put(tmp_path, {"gold.txt": "".join(f"{item} {rng.integers(3)}\n" for item in items), **runs})


def read(files, **options):
    return read_runs(files / "gold.txt", files / "runs", format="judgements", classes=range(3), **options)


def test_items_are_dealt_to_parts_of_equal_size_whatever_the_order_of_the_lines(files):
    whole, parts = read(files), read(files, parts=10, seed=2)
    assert sorted(set(parts.gold.sum(axis=1).tolist())) == [2, 3]
    np.testing.assert_array_equal(parts.counts.sum(axis=1), whole.counts.sum(axis=1))
    lines = (files / "gold.txt").read_text().splitlines(keepends=True)
    (files / "gold.txt").write_text("".join(reversed(lines)))
    after, other = read(files, parts=10, seed=2), read(files, parts=10, seed=3)
    np.testing.assert_array_equal(after.counts[:, [after.topics.index(topic) for topic in parts.topics]], parts.counts)
    assert other.counts.tolist() != after.counts.tolist()


def test_items_without_topics_are_split_when_that_is_asked_for():
    table = pd.DataFrame({"item": range(20), "gold": [0, 1] * 10, "ann": [1] * 20, "bo": [0, 1] * 10})
    runs = read_runs(table, format="labels", classes=[0, 1], parts=5)
    assert runs.gold.sum(axis=-1).tolist() == [4] * 5
    with pytest.raises(me.MetaevalError, match="1 topic; at least 2 are needed.*parts=10"):
        me.split_half_consistency(me.score(read_runs(table, format="labels", classes=[0, 1]), ["Accuracy"]))


def test_an_item_that_the_gold_does_not_hold_is_named_and_more_parts_than_items_are_refused(files):
    for parts in (0, 26):
        with pytest.raises(me.DataError, match=f"25 items cannot be split into {parts} parts"):
            read(files, parts=parts)
    with (files / "runs" / "a.txt").open("a") as file:
        file.write("q0 0 d99 1\n")
    with pytest.raises(me.DataError, match="topic q0, item d99: the gold has no such"):
        read(files, parts=4)
