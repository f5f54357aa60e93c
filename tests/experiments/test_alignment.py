"""Alignment with affine gaps: against all alignments of short sequences, and simulated ones of which the truth is known."""

import itertools

import numpy as np
import pytest

pytest.importorskip("experiments.acl2021.alignment", reason="the experiments are not part of an installed copy")

from experiments.acl2021.alignment import GapModel, align, find_certainty

MATCH, SKIP, FOREIGN = range(3)
MODELS = [
    GapModel(skip=0.1, skip_on=0.7, foreign=0.05, foreign_on=0.4, error=0.01),
    GapModel(skip=0.3, skip_on=0.2, foreign=0.2, foreign_on=0.6, error=0.2),
]


def enumerate_alignments(rows, reference, model):
    """Yield the item of every row (−1: foreign) and the probability, alignment by alignment, from the definition."""
    weights = model.weigh(rows, reference)

    def walk(i, j, state, probability, found):
        if i == len(rows) and j == len(reference):
            yield tuple(found), probability
            return
        go = model.transitions[state]
        if i < len(rows) and j < len(reference):
            yield from walk(i + 1, j + 1, MATCH, probability * go[MATCH] * weights[rows[i], j], [*found, j])
        if j < len(reference) and go[SKIP]:
            yield from walk(i, j + 1, SKIP, probability * go[SKIP], found)
        if i < len(rows):
            yield from walk(i + 1, j, FOREIGN, probability * go[FOREIGN], [*found, -1])

    yield from walk(0, 0, MATCH, 1.0, [])


def tiny_sequences():
    rng = np.random.default_rng(1)
    for n, m in itertools.product((1, 3, 4), (1, 4, 6)):
        for model in MODELS:
            yield rng.integers(0, 3, n), rng.integers(0, 3, m), model


@pytest.mark.parametrize(("rows", "reference", "model"), list(tiny_sequences()))
def test_the_alignment_is_the_most_probable_of_all(rows, reference, model):
    every = dict(enumerate_alignments(rows, reference, model))
    found = tuple(align(rows, reference, model).tolist())
    assert every[found] == pytest.approx(max(every.values()), rel=1e-12)


@pytest.mark.parametrize(("rows", "reference", "model"), list(tiny_sequences()))
def test_certainty_is_the_share_of_all_alignments_that_give_the_topic(rows, reference, model):
    topic = np.arange(len(reference)) // 2
    expected = np.zeros((len(rows), topic.max() + 2))
    for items, probability in enumerate_alignments(rows, reference, model):
        for row, item in enumerate(items):
            expected[row, topic[item] if item >= 0 else -1] += probability
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(find_certainty(rows, reference, topic, model), expected, atol=1e-12)


def test_every_alignment_is_one_path():
    rows, reference = np.array([0, 1, 0]), np.array([0, 0, 1, 1])
    every = [items for items, _ in enumerate_alignments(rows, reference, MODELS[0])]
    assert len(every) == len(set(every))


def test_one_long_gap_beats_several_short_ones():
    reference = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    costly = GapModel(skip=0.001, skip_on=0.9, foreign=0.001, foreign_on=0.1, error=0.001)
    found = align(np.array([0, 1, 2, 0, 1, 2]), reference, costly)
    assert (np.diff(found) > 1).sum() <= 1
    assert found.tolist() in ([0, 1, 2, 3, 4, 5], [3, 4, 5, 6, 7, 8], [0, 1, 2, 6, 7, 8])


def test_more_rows_than_are_kept_at_once_change_nothing(monkeypatch):
    import experiments.acl2021.alignment as alignment

    rng = np.random.default_rng(2)
    reference, topic = rng.integers(0, 4, 90), np.arange(90) // 10
    rows = np.delete(reference, np.s_[20:50])
    whole = find_certainty(rows, reference, topic, MODELS[0])
    for block, rest in ((7, 1), (60, 3), (1000, 1000)):
        monkeypatch.setattr(alignment, "BLOCK", block)
        monkeypatch.setattr(alignment, "REST", rest)
        np.testing.assert_allclose(find_certainty(rows, reference, topic, MODELS[0]), whole, atol=1e-12)


def test_topics_come_back_as_often_as_their_certainty_says():
    """Sequences drawn from the model itself: of rows that are said to be right with probability p, about p are."""
    model = GapModel(skip=0.05, skip_on=0.9, foreign=0.05, foreign_on=0.3, error=0.02)
    rng = np.random.default_rng(3)
    certainty, right = [], []
    for _ in range(25):
        reference, topic = rng.integers(0, 5, 200), np.arange(200) // 20
        rows, truth = draw_rows(reference, topic, model, rng)
        found = find_certainty(rows, reference, topic, model)
        certainty.append(found.max(axis=1))
        right.append(found.argmax(axis=1) == truth)
    stated, right = np.concatenate(certainty), np.concatenate(right)
    assert abs(stated.mean() - right.mean()) < 0.02
    for low, high in ((0.3, 0.7), (0.7, 0.95), (0.95, 1.1)):
        inside = (stated >= low) & (stated < high)
        assert inside.sum() > 50
        assert abs(stated[inside].mean() - right[inside].mean()) < 0.06


def draw_rows(reference, topic, model, rng):
    rows, truth, state, j = [], [], MATCH, 0
    while j < len(reference):
        state = rng.choice(3, p=model.transitions[state])
        if state == SKIP:
            j += 1
        elif state == FOREIGN:
            rows.append(rng.integers(5))
            truth.append(topic.max() + 1)
        else:
            rows.append(rng.integers(5) if rng.random() < model.error else reference[j])
            truth.append(topic[j])
            j += 1
    return np.array(rows), np.array(truth)
