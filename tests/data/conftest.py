"""A store of two collections with the same labels, so that each could be taken for the other."""

import numpy as np
import pytest

from metaeval import Measure, Scores, ScoreStore


def scores_of(seed, collection="c"):
    measures = ["NMD", Measure("cost", higher_is_better=False)]
    labels = {"runs": ["a", "b"], "topics": ["1", "2", "3"], "measures": measures}
    values = np.random.default_rng(seed).random((2, 3, 2))
    return Scores(values, **labels, collection=collection, provenance="somewhere")


def fill(store):
    for seed, name in ((1, "one"), (2, "two")):
        store.add(scores_of(seed, name))
    return store


def file_of(store, collection):
    return next(store.path.glob(f"{collection}.*.parquet"))


def content_of(store):
    return {path.name: path.read_bytes() for path in store.path.glob("[!.]*") if path.is_file()}


@pytest.fixture
def empty(tmp_path):
    return ScoreStore(tmp_path / "store")


@pytest.fixture
def store(empty):
    return fill(empty)
