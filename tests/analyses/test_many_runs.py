"""What is asked of many runs stays small: nothing grows with the number of pairs unless it is asked for."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import metaeval as me
from metaeval.analyses import power_pairs
from metaeval.show import drawing
from tests.analyses.made import label


@pytest.fixture(scope="module")
def scores():
    """Twelve runs in no order of labels, two measures that disagree."""
    rng = np.random.default_rng(3)
    quality = rng.permutation(np.linspace(0, 1, 12))[:, None]
    values = np.stack([quality, -quality], axis=-1) + rng.normal(0, 0.3, (12, 30, 2))
    return label(values, ["nDCG", "AP"], "c", runs=rng.permutation([f"r{i}" for i in range(12)]))


@pytest.fixture(scope="module")
def power(scores):
    return me.discriminative_power(scores, n_permutations=200, n_bootstrap=50)


def test_the_interval_of_a_pair_is_students_and_missing_with_few_topics(scores, power):
    for row in power.run_pairs().sample(20, random_state=1).itertuples():
        one, other = (scores.sel(runs=run, measures=row.measure).values.ravel() for run in (row.run_a, row.run_b))
        low, high = scipy.stats.ttest_rel(one, other).confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx((low, high))
        assert row.d == pytest.approx((one - other).mean() / (one - other).std(ddof=1))
    few = me.discriminative_power(scores.sel(topics=scores.topics[:24]), n_permutations=10).run_pairs()
    assert few["low"].isna().all()


def test_no_file_grows_with_the_number_of_pairs_unasked(power, tmp_path):
    power.write_tables(tmp_path, "power")
    for text in [json.dumps(power.to_dict()), *(file.read_text() for file in tmp_path.iterdir())]:
        assert "run_a" not in text
    assert len(power.to_dict()["rows"]) == 2


@pytest.mark.parametrize(("most", "drawn", "said"), [(None, 66, ""), (10, 10, "; one of 7 drawn")])
def test_a_long_curve_is_thinned_and_says_so(power, monkeypatch, most, drawn, said):
    monkeypatch.setattr(drawing, "MOST_POINTS", most or drawing.MOST_POINTS)
    axes = power.plot().axes[0]
    assert axes.get_xlabel().endswith(said)
    assert ("drawn" in axes.get_xlabel()) == bool(said)
    assert [len(line.get_xdata()) for line in axes.lines[:2]] == [drawn, drawn]
    assert axes.lines[0].get_xdata()[-1] == 66  # the smallest p is there, and the axis that of all pairs
    assert axes.get_xlim()[1] >= 66


def test_contradictions_beyond_the_first_are_counted_and_written_where_asked(power, monkeypatch):
    found = me.significance_contradictions(power)
    whole = found.run_pairs()
    assert len(whole) == found.to_frame()["contradictions"].sum() > 5
    assert not any("first" in note for note in found.notes())
    monkeypatch.setattr(power_pairs, "MOST_LISTED", 5)
    monkeypatch.setattr(power_pairs, "FEW_LISTED", 5)
    found, said = me.significance_contradictions(power), f"The first 5 of {len(whole)}"
    assert f"{said} contradictions" in found.at("paper")[-1].whole_caption
    assert any(said in note for note in found.notes())
    pd.testing.assert_frame_equal(found.frames()["run_pairs"], whole.head(5))
    assert [len(found.run_pairs(most)) for most in (1, 4, len(whole) + 1)] == [1, 4, len(whole)]


def test_contradictions_that_are_none_have_a_frame_too(scores):
    none = me.significance_contradictions(scores, n_permutations=50, alpha=0.001, test="max-t")
    assert none.run_pairs().empty
    assert list(none.run_pairs()) == ["measure_1", "measure_2", "run_1", "run_2"]
