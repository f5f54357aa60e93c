"""Random parts in place of topics: of counted runs, and item by item while reading."""

import numpy as np
import pytest

import metaeval
from experiments.amigo2020.real import join_topics
from metaeval.io import read_runs


def runs_of(n_topics=23, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 6, size=(n_topics, 3))
    counts = np.stack(
        [np.stack([[rng.multinomial(n, [0.5, 0.3, 0.2]) for n in topic] for topic in gold]) for _ in range(4)]
    )
    return metaeval.ClassificationRuns(
        counts, runs=range(4), topics=range(n_topics), classes=list("abc"), collection="made"
    )


def test_parts_hold_all_items_and_nearly_as_many_topics_each():
    runs = runs_of()
    parts = join_topics(runs, 10, seed=1)
    assert parts.topics == tuple(f"part-{k}" for k in range(1, 11))
    np.testing.assert_array_equal(parts.counts.sum(axis=1), runs.counts.sum(axis=1))
    ones = metaeval.ClassificationRuns(np.ones((1, 23, 2, 2), int), runs=["a"], topics=range(23), classes=list("ab"))
    sizes = join_topics(ones, 10, seed=0).gold[:, 0]
    assert sorted(set(sizes.tolist())) == [4, 6]


def test_all_runs_are_put_together_alike_and_the_seed_decides_how():
    runs = runs_of()
    for seed in (0, 1):
        whole = join_topics(runs, 5, seed=seed)
        alone = join_topics(runs.sel(runs=["2"]), 5, seed=seed)
        np.testing.assert_array_equal(whole.counts[2], alone.counts[0])
    assert (join_topics(runs, 5, seed=0).counts != join_topics(runs, 5, seed=1).counts).any()


@pytest.mark.parametrize("n_parts", [0, 24])
def test_more_parts_than_topics_are_refused(n_parts):
    with pytest.raises(metaeval.DataError, match="23 topics cannot be put together"):
        join_topics(runs_of(), n_parts, seed=0)


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
