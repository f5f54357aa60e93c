"""The synthetic study's generator: what its runs do, and what each choice changes."""

import numpy as np
import pytest

import metaeval
from experiments.simulate.synthetic import MISTAKES, RATIOS, synthetic_runs

RUNS = synthetic_runs(1)


def counts(run, runs=RUNS):
    return runs.counts[runs.runs.index(run)]


def accuracy(run, runs=RUNS):
    return np.trace(counts(run, runs).sum(axis=0)) / counts(run, runs).sum()


def test_there_are_ten_runs_of_each_kind_on_a_hundred_topics_of_200_items_in_eleven_classes():
    assert len(RUNS.runs) == 50
    assert RUNS.counts.shape == (50, 100, 11, 11)
    assert (RUNS.gold.sum(axis=1) == 200).all()
    assert RATIOS == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_gold_is_centred_on_the_fourth_class_and_spreads_from_topic_to_topic():
    classes = np.arange(1, 12)
    mean = RUNS.gold @ classes / 200
    sd = np.sqrt(RUNS.gold @ classes**2 / 200 - mean**2)
    assert mean[:50].mean() == pytest.approx(4, abs=0.05)
    assert sd[:10].mean() == pytest.approx(1.1, abs=0.15)
    assert sd[-10:].mean() > 2 * sd[:10].mean()
    assert RUNS.gold.sum(axis=0).argmax() == 3


def test_every_item_is_a_mistake_with_the_ratio_independently_of_the_others():
    """The number of mistakes on a topic varies as a binomial number does; displaced tags are always mistakes."""
    wrong = 200 - np.trace(counts("tdisp-0.3"), axis1=1, axis2=2)
    assert wrong.mean() == pytest.approx(60, abs=2.5)
    assert wrong.std() == pytest.approx(np.sqrt(200 * 0.3 * 0.7), rel=0.3)


def test_exactly_so_many_mistakes_when_asked_for():
    runs = synthetic_runs(1, mistakes="exact", spread=(0.01, 0.01), kinds=["tdisp"])  # all gold in class 4
    for ratio in RATIOS:
        found = 200 - np.trace(counts(f"tdisp-{ratio:g}", runs), axis1=1, axis2=2)
        assert (found == round(200 * ratio)).all()


def test_the_majority_run_returns_the_fourth_class_and_the_topics_own_when_asked_for():
    assert counts("maj-1").sum(axis=(0, 1)).nonzero()[0].tolist() == [3]
    runs = synthetic_runs(1, majority="topic", kinds=["maj"], ratios=[1.0])
    for topic, gold in zip(runs.counts[0], runs.gold, strict=True):
        assert topic.sum(axis=0)[gold.argmax()] == 200


def test_the_random_run_uses_all_classes_alike_and_never_the_gold_one_when_asked_not_to():
    predicted = counts("rand-1").sum(axis=(0, 1))
    assert predicted / predicted.sum() == pytest.approx(np.full(11, 1 / 11), rel=0.1)  # four standard errors
    assert accuracy("rand-1") == pytest.approx(1 / 11, rel=0.1)
    runs = synthetic_runs(1, random_class="wrong", kinds=["rand"])
    assert accuracy("rand-1", runs) == 0


def test_displaced_tags_are_one_class_up_and_the_last_class_stays():
    g, p = counts("tdisp-1").sum(axis=0).nonzero()
    assert {(a, b) for a, b in zip(g, p, strict=True)} <= {(k, min(k + 1, 10)) for k in range(11)}


@pytest.mark.parametrize(("last_items", "kept"), [("keep", True), ("last", False)])
def test_ordinal_displacement_takes_the_class_of_the_item_twenty_positions_up(last_items, kept):
    runs = synthetic_runs(2, kinds=["odisp"], ratios=[1.0], last_items=last_items)
    for topic, sizes in zip(runs.counts[0], runs.gold, strict=True):
        gold = np.repeat(np.arange(11), sizes)
        expected = np.concatenate([gold[20:], gold[-20:] if kept else np.full(20, gold[-1])])
        by_hand = np.zeros((11, 11), dtype=int)
        np.add.at(by_hand, (gold, expected), 1)
        np.testing.assert_array_equal(topic, by_hand)


def test_proximity_is_nearer_to_the_gold_than_chance():
    error = {kind: float(metaeval.measure("MAE_mu").score(counts(f"{kind}-1").sum(axis=0))) for kind in MISTAKES}
    assert error["prox"] < error["rand"] / 2


def test_a_total_displacement_keeps_the_order_and_misses_every_class():
    assert accuracy("tdisp-1") == pytest.approx(RUNS.gold[:, 10].sum() / RUNS.gold.sum())
    measure = metaeval.measure("tau_b")
    assert measure.score(counts("tdisp-1")[0]) == pytest.approx(1.0, abs=0.02)


def test_a_choice_leaves_the_draws_of_the_others_as_they_are():
    other = synthetic_runs(1, random_class="wrong", last_items="last")
    for run in RUNS.runs:
        if not run.startswith(("rand", "odisp")):
            np.testing.assert_array_equal(counts(run), counts(run, other))
    fewer = synthetic_runs(1, kinds=["prox"])
    np.testing.assert_array_equal(fewer.counts, RUNS.counts[[run.startswith("prox") for run in RUNS.runs]])


def test_the_same_seed_gives_the_same_runs_and_another_one_others():
    np.testing.assert_array_equal(synthetic_runs(1).counts, RUNS.counts)
    assert (synthetic_runs(2).gold != RUNS.gold).any()


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"mistakes": "some"}, "mistakes is 'some'; it is one of independent, exact"),
        ({"kinds": ["nonsense"]}, "kinds is 'nonsense'"),
        ({"last_items": "wrap"}, "last_items is 'wrap'"),
        ({"ratios": [1.2]}, "shares, from 0 to 1"),
        ({"n_items": 0}, "at least one topic"),
        ({"ratios": []}, "at least one topic"),
    ],
)
def test_choices_that_mean_nothing_are_refused(choice, said):
    with pytest.raises(metaeval.MetaevalError, match=said):
        synthetic_runs(**choice)


def test_one_item_and_one_topic_are_enough():
    runs = synthetic_runs(n_topics=1, n_items=1, n_classes=2)
    assert runs.counts.sum() == 50
