"""The fewest moves that turn a verdict, and the pair of runs on which two measures disagree most."""

import itertools

import numpy as np
import pytest

import metaeval
from metaeval.errors import MeasureError
from metaeval.measures import fewest_moves, widest_disagreement

RNG = np.random.default_rng(3)


def all_runs(gold, n_classes):
    """Every confusion matrix over a gold, by brute force."""
    rows = []
    for n_items in gold:
        ways = itertools.combinations_with_replacement(range(n_classes), n_items)
        rows.append([np.bincount(way, minlength=n_classes) for way in ways])
    return np.array([np.stack(chosen) for chosen in itertools.product(*rows)])


def distance(run, others):
    """Predictions that differ, at least: half of the cells' differences."""
    return np.abs(others - run).sum(axis=(1, 2)) // 2


def fewest_by_enumeration(measure, first, second):
    runs = all_runs(first.sum(axis=1), len(first))
    scores = measure.sign * measure.evaluate(runs)[0]
    base = measure.sign * measure.evaluate(np.stack([first, second]))[0]
    winner, loser, ahead = (first, second, 1) if base[0] > base[1] else (second, first, -1)
    del ahead
    away = [distance(winner, runs), distance(loser, runs)]
    best = np.inf
    for k in range(away[0].max() + 1):
        lowest = scores[away[0] == k].min()
        for n in range(away[1].max() + 1):
            if lowest < scores[away[1] == n].max() - 1e-9:
                best = min(best, k + n)
    return best


@pytest.mark.parametrize("name", ["Accuracy", "MAE_mu", "CEM_ORD", "kappa", "F1_M"])
def test_the_fewest_moves_are_those_of_enumeration(name):
    measure, tried = metaeval.measure(name), 0
    while tried < 6:
        gold = RNG.multinomial(6, [0.4, 0.4, 0.2])
        first, second = (np.stack([RNG.multinomial(n, RNG.dirichlet(np.ones(3))) for n in gold]) for _ in range(2))
        scores = measure.evaluate(np.stack([first, second]))[0]
        if abs(scores[0] - scores[1]) < 1e-6:
            continue
        tried += 1
        found = fewest_moves(measure, first, second, width=10**6)
        assert found.exact
        assert len(found.moves) == found.at_least == fewest_by_enumeration(measure, first, second)
        assert found.difference * found.turned < 0
        narrow = fewest_moves(measure, first, second, width=3)
        assert narrow.at_least <= len(found.moves) <= len(narrow.moves)


def test_the_moves_lead_to_the_matrices_that_are_returned():
    first, second = [[5, 1, 4], [5, 50, 5], [7, 8, 15]], [[7, 1, 2], [12, 45, 3], [4, 8, 18]]
    found = fewest_moves(metaeval.measure("CEM_ORD"), first, second)
    runs = [np.array(first), np.array(second)]
    for move in found.moves:
        runs[move.run][move.gold, move.before] -= 1
        runs[move.run][move.gold, move.after] += 1
    assert (runs[0] == found.first).all()
    assert (runs[1] == found.second).all()
    assert not found.exact or found.at_least == len(found.moves)


def test_a_verdict_that_no_few_moves_turn_stays():
    found = fewest_moves(metaeval.measure("Accuracy"), [[500, 0], [0, 500]], [[0, 500], [500, 0]], most=2)
    assert found.moves is None
    assert found.at_least == 3
    assert found.turned == found.difference


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([[2, 0], [0, 2]], "alike"),
        ([[2, 1], [0, 1]], "different numbers of items"),
        ([[2, 0, 0], [0, 2, 0]], r"\(K, K\)"),
        ([[1.5, 0.5], [0, 2]], "whole numbers"),
        ([[0, 0], [0, 0]], "without items"),
    ],
)
def test_what_cannot_be_turned_is_refused(second, message):
    with pytest.raises(MeasureError, match=message):
        fewest_moves(metaeval.measure("Accuracy"), [[2, 0], [0, 2]], second)


@pytest.mark.parametrize(
    ("one", "other"), [("Accuracy", "MAE_mu"), ("kappa", "CEM_ORD"), ("NMD", "JSD"), ("RNOD", "NMD")]
)
def test_two_measures_prefer_different_runs_of_the_pair_that_is_found(one, other):
    first, second = metaeval.measure(one), metaeval.measure(other)
    found = widest_disagreement(first, second, n_classes=4, n_items=15, n_tried=3000, seed=2)
    total = found.gold / 15
    for position, measure in enumerate((first, second)):
        if measure.kind == "classification":
            assert (found.first.sum(axis=1) == found.gold).all()
            scores = [float(measure.score(run)) for run in (found.first, found.second)]
        else:
            scores = [float(measure.score(run / 15, total)) for run in (found.first, found.second)]
        assert measure.sign * (scores[0] - scores[1]) == pytest.approx(found.differences[position])
    assert found.differences[0] > 0 > found.differences[1]
    assert 0 < found.n_disagree < found.n_tried
    again = widest_disagreement(first, second, n_classes=4, n_items=15, n_tried=3000, seed=2)
    assert (again.first == found.first).all()


def test_a_measure_agrees_with_itself_on_every_pair():
    one = metaeval.measure("Accuracy")
    assert widest_disagreement(one, one, n_tried=500) is None


def test_measures_of_different_kinds_are_not_compared():
    with pytest.raises(MeasureError, match="one kind"):
        widest_disagreement(metaeval.measure("NMD"), metaeval.measure("Accuracy"))
