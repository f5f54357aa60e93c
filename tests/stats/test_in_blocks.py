"""What is computed of scores in blocks, because memory does not hold them, is what is computed of the whole."""

from contextlib import contextmanager

import joblib
import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalWarning
from metaeval.stats import blocks, randomised_tukey, resampling, split_half, tie_accuracy, uir
from metaeval.stats.blocks import Scaled, find_exponents, scale_scores
from metaeval.stats.parallel import listen, resumable
from metaeval.stats.pearson import StandardCells, standardise
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.resampling import topic_signs
from metaeval.stats.split_half import split_half_tau
from metaeval.stats.streams import stream_key

KEY = stream_key(3, "blocks")


@contextmanager
def small_blocks(monkeypatch, values, cells=7):
    """Take everything for large, and hold little of it at a time."""
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "LARGE", 1)
        patch.setattr(blocks, "CELLS_A_BLOCK", max(1, values.size // cells))
        patch.setattr(split_half, "BYTES_A_PASS", 40 * values.size)
        patch.setattr(split_half, "CELLS_A_PRODUCT", 3 * values.shape[1])
        yield


def make_scores(n_runs=6, n_topics=21, n_measures=3, seed=0):
    """Scores with ties and with either sign, on scales far apart; two runs are equal, one measure is constant."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 5, (n_runs, n_topics, n_measures)) / 10 + rng.integers(0, 2, (n_runs, 1, 1)) / 5
    values[1] = values[0]
    values[..., 0] *= 1e-200
    values[..., -1] = 0.3
    return values


@pytest.mark.parametrize("cells", [1, 4, 9])
def test_exponents_are_those_of_the_whole(monkeypatch, cells):
    rng = np.random.default_rng(1)
    cases = [
        make_scores(),
        np.zeros((3, 4, 2)),
        np.ldexp(rng.normal(size=(5, 9, 4)), rng.integers(-1060, 1000, (5, 9, 4))),
    ]
    cases += [np.full((2, 3, 1), 5e-324), np.where(rng.random((4, 8, 2)) < 0.7, 0.0, 1e308)]
    for values in cases:
        whole = find_exponents(values)
        with small_blocks(monkeypatch, values, cells):
            np.testing.assert_array_equal(find_exponents(values), whole)
            np.testing.assert_array_equal(np.ldexp(values, -whole), scale_scores(values))


@pytest.mark.parametrize("variant", ["tau_a", "tau_b"])
@pytest.mark.parametrize("size", [None, 1, 4, 10])
@pytest.mark.parametrize("n_topics", [21, 24, 67])
@pytest.mark.parametrize("cells", [1, 7, 40])
def test_splits_in_blocks_are_splits_of_the_whole(monkeypatch, variant, size, n_topics, cells):
    values = make_scores(n_topics=n_topics, seed=n_topics)
    options = {"n_trials": 50, "size": size, "key": KEY, "variant": variant}
    whole, heard = split_half_tau(values, **options), []
    with small_blocks(monkeypatch, values, cells), listen(lambda *what: heard.append(what)):
        np.testing.assert_array_equal(split_half_tau(values, **options), whole)
    # Memory is stated before the work begins, which is told to its end.
    assert "held in memory" in heard[0][0]
    assert [one[1:] for one in heard if one[0] == "splits"][-1] == (50, 50)


def test_splits_of_many_runs_in_blocks_are_those_of_the_whole(monkeypatch):
    values = make_scores(n_runs=140, n_topics=15, seed=4)
    whole = split_half_tau(values, n_trials=30, key=KEY)
    with small_blocks(monkeypatch, values):
        np.testing.assert_array_equal(split_half_tau(values, n_trials=30, key=KEY), whole)


@pytest.mark.parametrize("large", [False, True])
def test_splits_that_are_kept_are_not_drawn_again(monkeypatch, tmp_path, large):
    values = make_scores()
    options = {"n_trials": 100, "size": 5, "key": KEY}
    monkeypatch.setattr(split_half, "KEPT_WORK", 30 * values.size)
    if large:
        monkeypatch.setattr(blocks, "LARGE", 1)
        monkeypatch.setattr(blocks, "CELLS_A_BLOCK", 30)
    whole, drawn = split_half_tau(values, **options), []
    splits = split_half.splits

    def count(key, n_trials, *others, first_trial=0):
        drawn.append(range(first_trial, first_trial + n_trials))
        return splits(key, n_trials, *others, first_trial=first_trial)

    monkeypatch.setattr(split_half, "splits", count)
    with resumable(tmp_path):
        np.testing.assert_array_equal(split_half_tau(values, **options), whole)
        kept = sorted(tmp_path.iterdir())
        assert len(kept) == 4
        kept[1].unlink()
        drawn.clear()
        np.testing.assert_array_equal(split_half_tau(values, **options), whole)
        assert sum(map(len, drawn)) < 100
        # Whatever the result depends on is another file: scores, key, size and variant.
        for other in ({"size": 6}, {"size": None}, {"key": KEY + 1}, {"variant": "tau_b"}, {"n_trials": 99}):
            drawn.clear()
            changed = options | other
            found = split_half_tau(values, **changed)
            assert drawn
        np.testing.assert_array_equal(found, whole[:99])
        moved = values.copy()
        moved[2, 3, 1] += 1
        drawn.clear()
        split_half_tau(moved, **options)
        assert sum(map(len, drawn)) == 100


def test_what_was_kept_of_scores_in_memory_serves_scores_in_blocks(monkeypatch, tmp_path):
    values = make_scores()
    with resumable(tmp_path):
        whole = split_half_tau(values, n_trials=20, key=KEY)
        monkeypatch.setattr(split_half, "splits", None)  # none is drawn again
        with small_blocks(monkeypatch, values):
            np.testing.assert_array_equal(split_half_tau(values, n_trials=20, key=KEY), whole)


@pytest.mark.parametrize("tau", ["tau_a", "tau_b", "tau_b@11", "tau_ap", "spearman"])
@pytest.mark.parametrize("cells", [1, 5, 40])
def test_similarity_in_blocks_is_similarity_of_the_whole(monkeypatch, tau, cells):
    values = make_scores(n_runs=12, n_topics=31, n_measures=4, seed=cells)
    labels = {"runs": range(12), "topics": range(31), "measures": ["AP", "TER", "RR", "P"], "collection": "c"}
    scores = me.Scores(values, **labels, higher_is_better="P")
    whole, heard = me.ranking_similarity(scores, tau=tau, n_bootstrap=60), []
    with small_blocks(monkeypatch, values, cells), listen(lambda *what: heard.append(what)):
        monkeypatch.setattr(resampling, "WEIGHTS_HELD", 17 * 31)
        parts = me.ranking_similarity(scores, tau=tau, n_bootstrap=60)
    assert parts.to_dict() == whole.to_dict()
    for name in ("tau", "low", "high"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    stated = [place for place, one in enumerate(heard) if "held in memory" in one[0]]
    assert stated < [place for place, one in enumerate(heard) if one == ("resampling topics", 60, 60)]


def test_topics_drawn_anew_are_those_of_one_call():
    from metaeval.analyses.ranking_similarity import _draw_shares

    parts = _draw_shares(np.random.default_rng(5), 9, 400_000)
    assert np.array_equal(
        parts, np.random.default_rng(5).multinomial(400_000, np.full(400_000, 1 / 400_000), 9) / 400_000
    )


@pytest.mark.parametrize(("engine", "n_jobs"), [("numpy", 1), ("numba", 1), ("numba", 2)])
def test_a_long_test_tells_how_far_it_has_come_and_a_short_one_does_not(monkeypatch, engine, n_jobs):
    values = make_scores()
    options = {"n_permutations": 12_000, "key": KEY, "engine": engine, "n_jobs": n_jobs}
    heard = []
    with listen(lambda *what: heard.append(what)):
        whole = randomised_tukey_hsd(values, **options)
        assert not heard
        work = 700 * 7 * values.size // 3
        monkeypatch.setattr(randomised_tukey, "KEPT_WORK", work * (16 if engine == "numpy" else 1))
        np.testing.assert_array_equal(randomised_tukey_hsd(values, **options), whole)
    done = [one for what, one, total in heard if (what, total) == ("permuting", 12_000)]
    assert len(done) == len(heard) > 3
    assert done == sorted(set(done))
    assert done[-1] == 12_000


def test_a_pool_that_returns_everything_at_its_end_does_for_a_long_test(monkeypatch):
    values = make_scores()
    whole = randomised_tukey_hsd(values, n_permutations=2_000, key=KEY, engine="numpy")
    monkeypatch.setattr(randomised_tukey, "KEPT_WORK", 16 * 700 * 7 * values.size // 3)
    with joblib.parallel_config("multiprocessing"):
        parts = randomised_tukey_hsd(values, n_permutations=2_000, key=KEY, engine="numpy", n_jobs=2)
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("cells", [1, 6, 50])
@pytest.mark.parametrize("reference", [["AP"], ["AP", "TER", "RR"]])
def test_coverage_in_blocks_is_coverage_of_the_whole(monkeypatch, cells, reference):
    values = make_scores(n_runs=13, n_topics=37, n_measures=4, seed=cells)
    labels = {"runs": range(13), "topics": range(37), "measures": ["AP", "TER", "RR", "P"], "collection": "c"}
    scores = me.Scores(values, **labels, higher_is_better="P")
    heard = []
    with pytest.warns(MetaevalWarning, match="P gives all runs"):
        whole = me.coverage(scores, reference=reference, n_bootstrap=60)
    with small_blocks(monkeypatch, values, cells), listen(lambda *what: heard.append(what)):
        monkeypatch.setattr(uir, "WEIGHTS_HELD", 17 * (37 + 78))
        with pytest.warns(MetaevalWarning, match="P gives all runs"):
            parts = me.coverage(scores, reference=reference, n_bootstrap=60)
    np.testing.assert_array_equal(parts.coverage, whole.coverage)
    np.testing.assert_array_equal(parts.resampled, whole.resampled)
    np.testing.assert_array_equal([parts.low, parts.high], [whole.low, whole.high])
    stated = next(place for place, one in enumerate(heard) if "held in memory" in one[0])
    assert stated < heard.index(("comparing runs", 78, 78)) < heard.index(("resampling topics", 60, 60))


@pytest.mark.parametrize("long", [False, True])
def test_resamples_of_many_pairs_of_runs_are_said_to_take_long_before_they_begin(monkeypatch, long):
    values, heard = make_scores(n_runs=13, n_topics=37, n_measures=2), []
    monkeypatch.setattr(uir, "LONG", 78 * 60 - long)
    with listen(lambda *what: heard.append(what)):
        uir.coverage_resampled(Scaled(values), Scaled(values, [0]), lambda trials: np.ones((len(trials), 37)), 60)
    stated = [what for what, _, total in heard if not total]
    assert len(stated) == long
    assert not long or "78 pairs of runs are ranked anew on each of the 60 resamples, which takes long" in heard[0][0]


@pytest.mark.parametrize("cells", [1, 6, 50])
def test_unanimous_improvement_in_blocks_is_that_of_the_whole(monkeypatch, cells):
    scores = me.Scores(make_scores(n_topics=37), runs=range(6), topics=range(37), measures=["AP", "TER", "RR"])
    whole = me.uir(scores, reference=["AP", "TER"])
    with small_blocks(monkeypatch, scores.values, cells):
        np.testing.assert_array_equal(me.uir(scores, reference=["AP", "TER"]).ratio, whole.ratio)


COUNTED = ["pairwise_accuracy", "tau_a", "tau_b", "spearman", "tau_b@11", "acc_t"]
ADDED = ["spa", "topic_pearson", "pearson", "pearson@11", "tau_ap_b", "tau_gap"]
"""Statistics that are made of magnitudes, or of weights: sums in another order round otherwise, means at the ninth digit."""


def make_agreement(seed, n_runs=13, n_topics=37, levels=10):
    """A reference, measures that follow it more or less, one of them constant, two runs equal."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(n_runs, 1)) + rng.normal(size=(n_runs, n_topics))
    noise = rng.normal(size=(4, n_runs, n_topics)) * np.array([0.0, 0.5, 1.0, 3.0])[:, np.newaxis, np.newaxis]
    values = np.round((quality + noise) * levels) / levels
    values[3] *= 1e6
    values = np.concatenate([values, np.full((1, n_runs, n_topics), 0.3)]).transpose(1, 2, 0)
    values[5] = values[7]
    values[..., 2] *= -1  # TER
    labels = {"runs": rng.permutation(n_runs), "topics": rng.permutation(n_topics), "collection": "c"}
    return me.Scores(values, measures=["MQM", "chrF", "TER", "BLEU", "P"], **labels, higher_is_better=["MQM", "P"])


def check_agreement(parts, whole):
    exact = [place for place, name in enumerate(whole.statistics) if name in COUNTED]
    for name in ("values", "low", "high", "chance", "ceiling", "exchanged", "gap_ends"):
        one, other = getattr(parts, name), getattr(whole, name)
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9, err_msg=name)
        np.testing.assert_array_equal(one[exact], other[exact], err_msg=name)
    for name in ("p_values", "clusters"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), err_msg=name)
    for one, other in zip(parts.disagreements, whole.disagreements, strict=True):
        for name in ("run_scores", "ranks", "tau"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cells", [1, 6, 50])
@pytest.mark.parametrize("levels", [1, 10, 10**9])
def test_agreement_in_blocks_is_agreement_of_the_whole(monkeypatch, cells, levels):
    scores = make_agreement(cells, levels=levels)
    options = {"reference": "MQM", "statistics": COUNTED + ADDED, "n_permutations": 70, "n_bootstrap": 40}
    whole, heard = me.agreement(scores, **options), []
    with small_blocks(monkeypatch, scores.values, cells), listen(lambda *what: heard.append(what)):
        monkeypatch.setattr(resampling, "WEIGHTS_HELD", 17 * 400)
        monkeypatch.setattr(resampling, "SIGNS_HELD", 70 * 100)
        monkeypatch.setattr(tie_accuracy, "LISTED", 2**5)
        parts = me.agreement(scores, **options)
    check_agreement(parts, whole)
    stated = next(place for place, one in enumerate(heard) if "held in memory, and scores are read" in one[0])
    assert stated < next(place for place, one in enumerate(heard) if "exchanging" in one[0])


@pytest.mark.parametrize("listed", [1, 2, 4, 100])
@pytest.mark.parametrize("cells", [1, 3, 6])
def test_of_equally_good_tie_thresholds_the_smallest_is_found_in_blocks(monkeypatch, cells, listed):
    # Of runs one above the other, differences of 0.1 and 0.5 are tied in the reference, that of 0.3 is not.
    values = np.array([[0.0, 0.0], [0.1, 0.0], [10.0, 1.0], [10.3, 2.0], [20.0, 3.0], [20.5, 3.0]])[:, np.newaxis]
    whole = tie_accuracy.tie_accuracy(Scaled(values))
    assert whole.threshold == pytest.approx(scale_scores(values)[1, 0, 0] - scale_scores(values)[0, 0, 0])
    with small_blocks(monkeypatch, values, cells):
        monkeypatch.setattr(tie_accuracy, "LISTED", listed)
        found = tie_accuracy.tie_accuracy(Scaled(values))
    np.testing.assert_array_equal([found.value, found.threshold], [whole.value, whole.threshold])


@pytest.mark.filterwarnings("ignore")
def test_a_reference_of_its_own_is_joined_in_blocks(monkeypatch):
    scores = make_agreement(3)
    measures = [str(one) for one in scores.measures if str(one) != "MQM"]
    people = scores.sel(measures="MQM", topics=scores.topics[4:], runs=scores.runs[::-1])
    metrics = scores.sel(measures=measures)
    options = {"reference": people, "statistics": ["tau_b", "acc_t"], "missing": "drop-topic", "n_permutations": 30}
    whole = me.agreement(metrics, **options, n_bootstrap=20)
    with small_blocks(monkeypatch, scores.values):
        parts = me.agreement(metrics, **options, n_bootstrap=20)
        joined = metrics.sel(runs=people.runs, topics=people.topics).add_measures(people)
        assert isinstance(joined.values, np.memmap)
    check_agreement(parts, whole)
    assert joined == metrics.sel(runs=people.runs, topics=people.topics).add_measures(people)
    assert joined == scores.sel(runs=people.runs, topics=people.topics, measures=[*measures, "MQM"])


@pytest.mark.parametrize("cells", [1, 7, 40])
def test_cells_are_standardised_in_blocks_as_a_whole(monkeypatch, cells):
    values = np.random.default_rng(cells).normal(size=(9, 50, 2)) ** 3
    whole = standardise(scale_scores(values).transpose(2, 0, 1).reshape(2, -1))
    with small_blocks(monkeypatch, values, cells):
        standard = StandardCells(Scaled(values)).standardise(scale_scores(values))
    np.testing.assert_allclose(standard.reshape(2, -1), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("first", [0, 1, 63, 64, 100, 640])
def test_signs_of_later_topics_are_those_of_all(first):
    everything = topic_signs(KEY, range(5), 900)
    np.testing.assert_array_equal(topic_signs(KEY, range(5), 200, first=first), everything[:, first : first + 200])


@pytest.mark.filterwarnings("ignore")
def test_agreement_in_memory_tells_how_far_it_has_come():
    heard = []
    statistics = ["tau_b", "spa", "topic_pearson", "acc_t"]
    with listen(lambda what, done, total: heard.append((what, done, total))):
        me.agreement(make_agreement(1), reference="MQM", statistics=statistics, n_permutations=20)
    told = {what: (done, total) for what, done, total in heard}
    runs_and_cells = {"exchanging runs", "exchanging cells", "exchanging cells for soft pairwise accuracy"}
    assert runs_and_cells | {"exchanging pairs of runs", "topics"} <= set(told)
    assert all(done == total for done, total in told.values())
