"""The fewest moves that turn a verdict, against enumeration."""

import itertools

import numpy as np
import pytest

import metaeval
from metaeval.errors import MeasureError
from metaeval.measures import fewest_moves, moves

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
    winner, loser = (first, second) if base[0] > base[1] else (second, first)
    away = [distance(winner, runs), distance(loser, runs)]
    return min(
        k + n
        for k, n in np.ndindex(away[0].max() + 1, away[1].max() + 1)
        if scores[away[0] == k].min() < scores[away[1] == n].max() - 1e-9
    )


def move_items(moves, first, second):
    runs = np.array([first, second])
    for move in moves:
        runs[move.run, move.gold, move.before] -= 1
        runs[move.run, move.gold, move.after] += 1
    return runs


@pytest.mark.parametrize("name", ["Accuracy", "MAE_mu", "CEM_ORD", "kappa", "F1_M"])
def test_the_fewest_moves_are_those_of_enumeration_and_turn_the_verdict(name, monkeypatch):
    measure, tried = metaeval.measure(name), 0
    while tried < 6:
        gold = RNG.multinomial(6, [0.4, 0.4, 0.2])
        first, second = (np.stack([RNG.multinomial(n, RNG.dirichlet(np.ones(3))) for n in gold]) for _ in range(2))
        scores = measure.evaluate(np.stack([first, second]))[0]
        if abs(scores[0] - scores[1]) < 1e-6:
            continue
        tried += 1
        monkeypatch.setattr(moves, "WIDTH", 10**6)
        found = fewest_moves(measure, first, second)
        assert found.exact
        assert len(found.moves) == found.at_least == fewest_by_enumeration(measure, first, second)
        monkeypatch.setattr(moves, "WIDTH", 3)
        narrow = fewest_moves(measure, first, second)
        assert narrow.at_least <= len(found.moves) <= len(narrow.moves)
        for one in (found, narrow):
            turned = measure.sign * measure.evaluate(move_items(one.moves, first, second))[0]
            assert one.difference * (turned[0] - turned[1]) < 0


REFUSED = [
    ([[2, 0], [0, 2]], "alike"),
    ([[2, 1], [0, 1]], "different numbers of items"),
    ([[2, 0, 0], [0, 2, 0]], r"\(K, K\)"),
    ([[1.5, 0.5], [0, 2]], "whole numbers"),
    ([[np.inf, 0], [0, 2]], "whole numbers"),
]


@pytest.mark.parametrize(("second", "message"), REFUSED)
def test_what_cannot_be_turned_is_refused_and_what_no_few_moves_turn_stays(second, message):
    with pytest.raises(MeasureError, match=message):
        fewest_moves(metaeval.measure("Accuracy"), [[2, 0], [0, 2]], second)
    found = fewest_moves(metaeval.measure("Accuracy"), [[500, 0], [0, 500]], [[0, 500], [500, 0]])
    assert (found.moves, found.exact, found.at_least) == (None, False, moves.MOST + 1)
