"""Residual variance and effect sizes, compact letters, and Pearson's interval."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from metaeval.stats.anova import effect_size, residual_variance
from metaeval.stats.letters import _find_largest_sets, _sweep, compact_letters, letter_groups


def test_residual_variance_is_that_of_statsmodels():
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    matrix = np.random.default_rng(0).random((13, 5)) + np.arange(5) / 7
    rows, columns = np.indices(matrix.shape)
    frame = pd.DataFrame({"score": matrix.ravel(), "row": rows.ravel(), "column": columns.ravel()})
    table = anova_lm(ols("score ~ C(row) + C(column)", data=frame).fit())
    assert residual_variance(matrix) == pytest.approx(table.loc["Residual", "mean_sq"])
    assert table.loc["Residual", "df"] == 12 * 4


def test_residual_variance_takes_leading_axes():
    matrices = np.random.default_rng(0).random((2, 3, 6, 4))
    together = residual_variance(matrices)
    assert together.shape == (2, 3)
    assert together[1, 2] == pytest.approx(residual_variance(matrices[1, 2]))


@pytest.mark.parametrize(
    ("first", "second", "variance", "printed"),
    [
        # Sakai (ACL 2021): the captions of Tables 3, 6 and 9.
        (0.962, 0.806, 0.00211, 3.40),
        (0.909, 0.717, 0.00130, 5.33),
        (0.934, 0.847, 0.00175, 2.08),
    ],
)
def test_effect_sizes_are_those_printed_in_the_paper(first, second, variance, printed):
    assert round(float(effect_size(first, second, variance)), 2) == printed


def test_an_effect_without_variance_is_infinite():
    assert effect_size([0.5, 0.4], 0.4, 0.0) == pytest.approx([np.inf, np.nan], nan_ok=True)


def symmetric(n_groups, pairs):
    different = np.zeros((n_groups, n_groups), dtype=bool)
    for one, two in pairs:
        different[one, two] = different[two, one] = True
    return different


@given(n_groups=st.integers(1, 8), flags=st.lists(st.booleans(), min_size=28, max_size=28))
@settings(max_examples=200, deadline=None)
def test_groups_share_a_letter_exactly_when_they_do_not_differ(n_groups, flags):
    pairs = list(itertools.combinations(range(n_groups), 2))
    different = symmetric(n_groups, [pair for pair, flag in zip(pairs, flags, strict=False) if flag])
    table = letter_groups(different)
    shared = (table.astype(int) @ table.T.astype(int)) > 0
    assert (shared == ~different).all()
    # No letter can be taken away altogether.
    for letter in range(table.shape[1]):
        rest = np.delete(table, letter, axis=1)
        assert ((rest.astype(int) @ rest.T.astype(int) > 0) != ~different).any()


@pytest.mark.parametrize(
    ("n_groups", "pairs", "letters"),
    [
        (3, [], ["a", "a", "a"]),
        (3, [(0, 1), (0, 2), (1, 2)], ["a", "b", "c"]),
        (4, [(0, 2), (0, 3), (1, 3)], ["a", "ab", "bc", "c"]),
        # Insert and absorb alone gives the four groups of a ring four letters, and sweeping takes none away.
        (4, [(0, 2), (1, 3)], ["ab", "ac", "cd", "bd"]),
        # Here the sweep takes two of twelve away: the last group keeps two of its four letters.
        (5, [(0, 3), (1, 2)], ["ab", "ac", "bd", "cd", "ad"]),
        (1, [], ["a"]),
        (0, [], []),
    ],
)
def test_letters_of_small_cases(n_groups, pairs, letters):
    assert compact_letters(symmetric(n_groups, pairs)) == letters


def sweep_one_after_the_other(table):
    """Piepho 2004, step by step: a letter leaves a group that shares another one with all groups that have the letter."""
    swept = table.copy()
    for letter in range(swept.shape[1]):
        for group in np.flatnonzero(swept[:, letter]):
            members = np.flatnonzero(swept[:, letter])
            if ((swept[members].astype(int) @ swept[group].astype(int)) >= 2).all():
                swept[group, letter] = False
    return swept[:, swept.any(axis=0)]


@pytest.mark.parametrize("spread", [0.0, 0.1, 1.0])
def test_sweeping_groups_at_once_is_sweeping_them_one_after_the_other(spread):
    rng = np.random.default_rng(3)
    for n_groups in (6, 15, 60):
        means, deviations = np.sort(rng.normal(size=n_groups)), np.exp(spread * rng.normal(size=n_groups))
        different = np.abs(np.subtract.outer(means, means)) > 0.3 * np.add.outer(deviations, deviations)
        largest = _find_largest_sets(different)
        np.testing.assert_array_equal(_sweep(largest), sweep_one_after_the_other(largest))


def test_letters_go_on_after_the_alphabet():
    letters = compact_letters(~np.eye(54, dtype=bool))
    assert letters[25:28] == ["z", "A", "B"]
    assert letters[51:] == ["Z", "a2", "b2"]
