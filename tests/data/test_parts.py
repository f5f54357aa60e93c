"""Random parts in place of topics, item by item while reading."""

import numpy as np
import pytest

import metaeval
from metaeval.io import read_runs


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    items = [(f"q{i % 3}", f"d{i}") for i in range(25)]
    gold = rng.integers(3, size=25)
    (tmp_path / "gold.txt").write_text("".join(f"{q} 0 {d} {g}\n" for (q, d), g in zip(items, gold, strict=True)))
    folder = tmp_path / "runs"
    folder.mkdir()
    for run in ("one", "two"):
        order = rng.permutation(25)
        lines = [f"{items[i][0]} 0 {items[i][1]} {rng.integers(3)}\n" for i in order]
        (folder / f"{run}.txt").write_text("".join(lines))
    return tmp_path


def read(files, **options):
    return read_runs(files / "gold.txt", files / "runs", format="judgements", classes=range(3), **options)


def test_items_are_dealt_to_parts_of_equal_size_while_reading(files):
    whole, parts = read(files), read(files, parts=10, seed=2)
    assert len(parts.topics) == 10
    assert sorted(set(parts.gold.sum(axis=1).tolist())) == [2, 3]
    np.testing.assert_array_equal(parts.counts.sum(axis=1), whole.counts.sum(axis=1))


def test_the_order_of_the_lines_plays_no_part(files):
    before = read(files, parts=4)
    lines = (files / "gold.txt").read_text().splitlines(keepends=True)
    (files / "gold.txt").write_text("".join(reversed(lines)))
    after = read(files, parts=4)
    order = [after.topics.index(topic) for topic in before.topics]
    np.testing.assert_array_equal(after.counts[:, order], before.counts)


def test_an_item_that_the_gold_does_not_hold_is_still_named(files):
    with (files / "runs" / "one.txt").open("a") as file:
        file.write("q0 0 d99 1\n")
    with pytest.raises(metaeval.DataError, match="topic q0, item d99: the gold has no such"):
        read(files, parts=4)


@pytest.mark.parametrize("parts", [0, 26])
def test_more_parts_than_items_are_refused(files, parts):
    with pytest.raises(metaeval.DataError, match=f"25 items cannot be split into {parts} parts"):
        read(files, parts=parts)
