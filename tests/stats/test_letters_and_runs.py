"""Residual variance and effect sizes, compact letters, and runs that are irregular."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from metaeval.stats.anova import effect_size, residual_variance
from metaeval.stats.irregular_runs import count_failures, equal_rows, far_behind, residual_spread
from metaeval.stats.letters import letter_groups


def test_residual_variance_is_that_of_statsmodels_and_effect_sizes_are_those_printed():
    matrices = np.random.default_rng(0).random((2, 3, 13, 5)) + np.arange(5) / 7
    rows, columns = np.indices((13, 5))
    frame = pd.DataFrame({"score": matrices[1, 2].ravel(), "row": rows.ravel(), "column": columns.ravel()})
    table = anova_lm(ols("score ~ C(row) + C(column)", data=frame).fit())
    assert residual_variance(matrices)[1, 2] == pytest.approx(table.loc["Residual", "mean_sq"])
    # Sakai (ACL 2021): the captions of Tables 3, 6 and 9.
    found = effect_size([0.962, 0.909, 0.934], [0.806, 0.717, 0.847], [0.00211, 0.00130, 0.00175])
    assert found.round(2).tolist() == [3.40, 5.33, 2.08]
    assert effect_size([0.5, 0.4], 0.4, 0.0) == pytest.approx([np.inf, np.nan], nan_ok=True)


@given(n_groups=st.integers(1, 8), flags=st.lists(st.booleans(), min_size=28, max_size=28))
@settings(max_examples=100, deadline=None)
def test_groups_share_a_letter_exactly_when_they_do_not_differ_and_no_letter_can_be_taken_away(n_groups, flags):
    pairs = list(itertools.combinations(range(n_groups), 2))
    different = np.zeros((n_groups, n_groups), dtype=bool)
    for (one, other), flag in zip(pairs, flags, strict=False):
        different[one, other] = different[other, one] = flag
    table = letter_groups(different).astype(int)
    assert ((table @ table.T > 0) == ~different).all()
    for letter in range(table.shape[1]):
        rest = np.delete(table, letter, axis=1)
        assert ((rest @ rest.T > 0) != ~different).any()


def test_the_ratio_is_that_of_the_residuals_written_out_in_any_unit_and_there_is_none_without_residuals():
    x = np.random.default_rng(1).random((6, 9, 2))
    ratio, _ = residual_spread(x)
    for m in range(2):
        spread = []
        for i in range(6):
            e = [x[i, t, m] - x[i, :, m].mean() - x[:, t, m].mean() + x[:, :, m].mean() for t in range(9)]
            spread.append(np.sqrt(np.mean(np.square(e))))
        assert ratio[m] == pytest.approx(np.array(spread) / np.median(spread))
    for exponent in (-1000, -60, 60, 1020):
        assert (residual_spread(np.ldexp(x, exponent - 3))[0] == ratio).all()
    constant_lead = np.add.outer([0.1, 0.25, 0.7], np.linspace(0, 0.3, 11))[..., None]
    for ratio, wide in map(residual_spread, (constant_lead, x[:2], x[:, :2])):
        assert np.isnan(ratio).all()
        assert not wide.any()


def test_runs_far_behind_equal_ones_and_those_that_fail_outright_are_found():
    for means, behind in [
        ([0.5, 0.52, 0.53, 0.55, 0.56, 0.0, 1.1], [5]),  # the bad end only
        ([-0.5, -0.52, -0.53, -0.55, -0.56, 0.0, -1.1], [6]),
        ([0.5, 0.5, 0.5, 0.5, 0.1], []),  # most are equal
        ([0.5, 0.51, 0.52, 0.0], []),  # few
    ]:
        assert np.flatnonzero(far_behind(np.array(means)[:, None])[0]).tolist() == behind
    x = np.random.default_rng(6).random((5, 3, 2))
    x[3:] = x[1]
    x[4, 2, 1] = np.nextafter(x[4, 2, 1], 2)
    assert equal_rows(x).tolist() == [0, 1, 2, 1, 4]
    rng = np.random.default_rng(8)
    x = rng.normal(0.6, 0.1, (12, 60, 2))
    x[3, [4, 30], 0] = x[9, 11, 0] = 0
    x[5, :20, 0] = 0
    counts = count_failures(x)
    assert {run: int(counts[0, run]) for run in np.flatnonzero(counts[0])} == {3: 2, 9: 1}
    assert not counts[1].any()
    assert not count_failures(np.round(rng.random((12, 60, 1)))).any()
