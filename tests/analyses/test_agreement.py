"""Agreement with a reference: what it must hold to, whatever the numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from metaeval import agreement
from metaeval.errors import DataError
from metaeval.stats.arrays import scale_scores
from metaeval.stats.topic_agreement import tie_accuracy
from tests.analyses.made import label, relabel

FEW = {"n_permutations": 60, "n_bootstrap": 0}
NAMES = ["MQM", "good", "bad", "cost"]


def make_scores(seed=0, n_runs=11, n_topics=30, collection="pilot"):
    """MQM, a measure that follows it, one that does not, one that turns it round."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(n_runs, 1)) + rng.normal(size=(n_runs, n_topics))
    noise = rng.normal(size=(2, n_runs, n_topics))
    values = np.stack([people, people + noise[0], noise[1], -people], axis=-1)
    return label(values, NAMES, collection, runs=[f"run{r}" for r in range(n_runs)], higher_is_better=True)


def lower_cost(scores):
    """The same scores, where a lower cost is better."""
    return replace(scores, measures=tuple(replace(m, higher_is_better=str(m) != "cost") for m in scores.measures))


@pytest.fixture(scope="module")
def scores():
    return make_scores()


@pytest.fixture(scope="module")
def found(scores):
    return agreement(scores, reference="MQM", n_permutations=200, n_bootstrap=200)


def row(found, statistic, what="values"):
    numbers = getattr(found, what)[found.statistics.index(statistic)]
    return dict(zip(map(str, found.measures), numbers.tolist(), strict=True))


def count_ties(values, reference):
    """acc_t of measures, with the reference as the last one."""
    return tie_accuracy(scale_scores(np.concatenate([values, reference[..., None]], axis=-1)))


def test_statistics_are_those_of_scipy(scores, found):
    values, gold = scores.values[..., 1:], scores.values[..., 0]
    means = gold.mean(axis=1)
    for name, of in (("tau_a", kendalltau), ("spearman", spearmanr), ("pearson", pearsonr)):
        expected = [of(values[..., m].mean(axis=1), means).statistic for m in range(3)]
        assert list(row(found, name).values()) == pytest.approx(expected)
    expected = [np.corrcoef(values[..., m].ravel(), gold.ravel())[0, 1] for m in range(3)]
    assert list(row(found, "topic_pearson").values()) == pytest.approx(expected)
    np.testing.assert_allclose(list(row(found, "acc_t").values()), count_ties(values, gold).value)


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_means_over_topics_are_those_of_scipy_over_the_topics_that_the_reference_orders():
    """A measure that ties all runs of a topic has 0 there; a topic that the reference ties does not count."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 5, size=(12, 60, 3)).astype(float)
    values[:, 3, 0], values[:, 4, 1] = 2, 1
    scores = label(values, ["MQM", "a", "b"], higher_is_better=True)
    found = agreement(scores, reference="MQM", n_permutations=100, n_bootstrap=500)
    counted = [topic for topic in range(60) if topic != 3]
    for name, of in (("topic_tau_b", kendalltau), ("topic_spearman", spearmanr)):
        by_topic = np.nan_to_num([[of(values[:, t, 0], values[:, t, m]).statistic for t in counted] for m in (1, 2)])
        assert list(row(found, name).values()) == pytest.approx(by_topic.mean(axis=1).tolist())
        # The interval of a mean over topics is nearly that of the normal distribution.
        width = found.high[found.statistics.index(name)] - found.low[found.statistics.index(name)]
        assert width == pytest.approx(2 * 1.96 * by_topic.std(axis=1, ddof=1) / np.sqrt(59), rel=0.15)
    (note,) = [note for note in found.notes(short=True) if "ties all runs" in note]
    assert note.startswith("topics on which a measure ties all runs count as 0 in topic_tau_b")
    assert note.endswith("a on 1 of 59")


def test_a_measure_that_turns_the_reference_round_is_wrong_throughout_unless_lower_is_better(scores, found):
    expected = {"pairwise_accuracy": 0, "tau_a": -1, "spearman": -1, "pearson": -1, "topic_pearson": -1}
    assert {name: row(found, name)["cost"] for name in expected} == pytest.approx(expected)
    turned = agreement(lower_cost(scores), reference="MQM", **FEW)
    assert turned.values[:, 2] == pytest.approx(1)


def test_the_best_measure_is_first_estimates_lie_in_their_intervals_and_chance_is_below_the_ceiling(found):
    assert " ".join(found.to_frame()) == "statistic measure value low high chance ceiling cluster better_than"
    text = found.to_text()
    assert text.index("good") < text.index("bad") < text.index("(chance)") < text.index("(ceiling)")
    for s, statistic in enumerate(found.statistics):
        clusters, values = row(found, statistic, "clusters"), row(found, statistic)
        assert max(values, key=values.get) == "good", statistic
        assert clusters["good"] == 1
        assert found.p_values[s, 0, 2] < 0.05 < found.p_values[s, 2, 0], statistic
    assert ((found.low <= found.values + 1e-12) & (found.values <= found.high + 1e-12)).all()
    known = np.isfinite(found.ceiling)
    assert (found.chance[known] < found.ceiling[known]).all()
    assert np.array(found.statistics)[~known].tolist() == ["topic_pearson", "topic_tau_b", "topic_spearman", "acc_t"]


@pytest.mark.nightly
def test_chance_is_what_measures_that_know_nothing_reach_on_average(scores):
    noise = np.random.default_rng(1).normal(size=(11, 30, 60))
    names = ["MQM", *(f"noise{m}" for m in range(60))]
    many = relabel(scores, np.dstack([np.round(scores.values[..., :1]), noise]), names, higher_is_better=True)
    found = agreement(many, reference="MQM", n_permutations=100, n_bootstrap=0)
    for s, name in enumerate(found.statistics):
        error = found.values[s].std() / np.sqrt(60)
        allowed = 0.01 if name == "acc_t" else 0  # the best threshold fits noise a little
        assert abs(found.values[s].mean() - found.chance[s]) < 3 * error + allowed, name


def test_a_measure_is_better_where_the_interval_of_the_paired_difference_leaves_0_out(scores, found):
    frame, two = found.differences(), scores.sel(measures=["MQM", "good", "bad"])
    options = {"statistics": ["acc_t"], "n_permutations": 9, "n_bootstrap": 200}
    pair = agreement(two, reference="MQM", **options).differences().iloc[0]  # of three pairs intervals are wider
    by_topic = count_ties(scores.values[..., 1:3], scores.values[..., 0]).by_topic
    gap = by_topic[0] - by_topic[1]
    # The mean of 30 topics: what resampling the topics of both measures together tends to.
    reach = 1.96 * gap.std(ddof=1) / np.sqrt(30)
    assert pair["difference"] == pytest.approx(gap.mean())
    assert [pair["low"], pair["high"]] == pytest.approx([gap.mean() - reach, gap.mean() + reach], abs=0.15 * reach)
    assert pair["better"] == "good"
    same = (frame["low"] <= 0) & (frame["high"] >= 0)
    assert (frame["better"] == "cannot tell").tolist() == same.tolist()
    told = frame[~same]
    rows = found.to_frame().set_index(["statistic", "measure"])["better_than"]
    assert rows[rows > 0].to_dict() == told.groupby(["statistic", "better"]).size().to_dict()
    loser = np.where(told["better"] == told["measure_1"], told["measure_2"], told["measure_1"])
    beaten = pd.Series(found.beaten.ravel(), pd.MultiIndex.from_product([found.statistics, map(str, found.measures)]))
    assert beaten[beaten > 0].to_dict() == told.assign(loser=loser).groupby(["statistic", "loser"]).size().to_dict()


def test_bold_are_the_measures_than_which_none_is_better_and_none_without_intervals(found):
    table = found.at("all")[0]
    words = table.marks(table.frame).iloc[: len(found.measures), : len(found.statistics)]
    told = (found.beaten > 0).any(axis=1)
    assert told.any()  # otherwise only the best is bold, and none at chance: see test_answers
    bold = pd.DataFrame(found.beaten.T == 0, [str(one) for one in found.measures], words.columns).loc[words.index]
    assert ((words == "bold") == bold).loc[:, told].all(axis=None)
    results = tuple(replace(one, gap_ends=np.full_like(one.gap_ends, np.nan)) for one in found.results)
    without = replace(found, results=results).at("all")[0]
    assert (without.marks(without.frame) == "").all(axis=None)


def test_a_statistic_at_its_end_that_moves_over_topics_has_an_interval(scores):
    people = scores.values[..., :1]
    noise = np.random.default_rng(5).normal(size=people.shape)
    near = people + noise - noise.mean(axis=1, keepdims=True)  # the same means, on these topics
    two = relabel(scores, np.dstack([people, near]), ["MQM", "near"], higher_is_better=True)
    found = agreement(two, reference="MQM", statistics=["tau_gap", "tau_ap_b", "tau_a"], n_permutations=9)
    np.testing.assert_allclose(found.values, 1)
    assert (found.low < 0.99).all()


@pytest.mark.parametrize(("measure", "direction", "sign"), [("good", "higher", 1), ("cost", "lower", -1)])
def test_scores_of_whole_runs_stand_for_the_mean_in_statistics_of_runs_only(scores, measure, direction, sign):
    given, stated = np.arange(11.0), {f"{direction}_is_better": measure}
    own = label(given[::-1, None], [measure], runs=scores.runs[::-1], topics=["all"], **stated)
    options = {"reference": "MQM", "run_scores": own, "statistics": ["pearson", "tau_a", "topic_pearson"], **FEW}
    found = agreement(lower_cost(scores), **options)
    values, means = scores.values, scores.values.mean(axis=1)
    assert row(found, "pearson")[measure] == pytest.approx(np.corrcoef(sign * given, means[:, 0])[0, 1])
    assert row(found, "tau_a")[measure] == pytest.approx(kendalltau(sign * given, means[:, 0]).statistic)
    assert row(found, "pearson")["bad"] == pytest.approx(np.corrcoef(means[:, 2], means[:, 0])[0, 1])
    by_topic = np.corrcoef(values[..., NAMES.index(measure)].ravel(), values[..., 0].ravel())[0, 1]
    assert row(found, "topic_pearson")[measure] == pytest.approx(sign * by_topic)
    lacking = own.sel(runs=own.runs[1:])
    for wrong, message in ((lacking, "lack run10"), (scores, "have one topic; pilot have 30")):
        with pytest.raises(DataError, match=message):
            agreement(scores, reference="MQM", run_scores=wrong, **FEW)


def test_statistics_of_given_run_scores_have_no_interval_and_a_note_says_so(scores):
    """Topics that are drawn anew tell how means vary, and nothing of a score that a measure gives a run by itself."""
    whole = {"runs": scores.runs, "topics": ["all"]}
    own, judged = (label(np.arange(11.0)[:, None], [name], **whole) for name in ("good", "MQM"))
    means = label(scores.values.mean(axis=1)[:, None], scores.measures, **whole)
    options = {"statistics": ["pearson", "tau_b", "acc_t"], "n_bootstrap": 200, "n_permutations": 50}
    found, plain, same, without = (
        agreement(scores, reference="MQM", run_scores=each, **options) for each in (own, None, means, judged)
    )
    names = list(map(str, found.measures))
    good, others = names.index("good"), [m for m in range(3) if names[m] != "good"]
    assert np.isnan([found.low[:2, good], found.beaten[:2, good]]).all()
    np.testing.assert_array_equal(found.low[:, others], plain.low[:, others])
    np.testing.assert_array_equal(found.low[2], plain.low[2])
    assert "No interval for pearson, tau_b of good: their run scores are given" in found.to_table().legend
    assert found.notes(short=True)[0].startswith("no interval for pearson, tau_b of good")
    assert "unknown whether others are as good" in found.answer()
    # Where they are the means over topics, nothing is missing; a reference that gives its own leaves none an interval.
    np.testing.assert_allclose(same.low, plain.low)
    assert not same.no_interval
    assert np.isnan(without.low[:2]).all()
    assert not any("nan" in table.to_text() for table in without.at("all"))


def test_several_collections_add_pairs_and_average_the_rest(scores):
    other = make_scores(3, n_runs=6, n_topics=12, collection="second")
    wanted = {"reference": "MQM", "statistics": ["pairwise_accuracy", "acc_t"], **FEW}
    first, second, both = (agreement(each, **wanted) for each in (scores, other, [scores, other]))
    np.testing.assert_allclose(both.values[0], (55 * first.values[0] + 15 * second.values[0]) / 70)
    np.testing.assert_allclose(both.values[1], (first.values[1] + second.values[1]) / 2)
    np.testing.assert_allclose(both.exchanged[1], (first.exchanged[1] + second.exchanged[1]) / 2)
    assert list(both.frames()) == ["rows", "differences"]


def test_the_first_runs_are_those_that_the_reference_puts_first(scores):
    found = agreement(scores, reference="MQM", statistics=["tau_b@4", "tau_b"], **FEW)
    first = np.argsort(-scores.values[..., 0].mean(axis=1))[:4]
    alone = agreement(scores.sel(runs=[scores.runs[r] for r in first]), reference="MQM", statistics=["tau_b"], **FEW)
    np.testing.assert_allclose(found.values[0], alone.values[0])


def test_few_runs_have_no_interval_and_intervals_of_few_topics_are_remarked(scores):
    few = agreement(scores.sel(runs=scores.runs[:5]), reference="MQM", statistics=["tau_a"], n_permutations=50)
    assert np.isnan(few.low).all()
    assert "No interval: it needs 10 runs" in few.to_text()
    assert not any("intervals" in one.caption for one in few.at("all"))
    told = agreement(scores, reference="MQM", statistics=["tau_a"], n_permutations=9, n_bootstrap=20).notes()
    assert any("30 topics are few for intervals of tau_a" in note for note in told)
    assert not agreement(scores, reference="MQM", statistics=["tau_a"], **FEW).remarks
