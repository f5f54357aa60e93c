"""Of every analysis: neither the order of labels nor the unit of scores moves a bit, and a result shows and exports itself."""

import json
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.show.drawing import save_figure
from metaeval.stats.arrays import Scaled
from metaeval.stats.pair_tests import PairedTest
from metaeval.stats.uir import count_unanimous
from tests.analyses.made import ask_everything, label


def make_scores(n_runs=10, n_topics=25, collection="c"):
    values = np.random.default_rng(1).normal(0.5, 0.3, (n_runs, n_topics, 4))
    values += np.linspace(0, 0.4, n_runs)[:, None, None]
    labels = {"runs": list("cafebdhgjikl")[:n_runs], "topics": [f"t{topic}" for topic in range(n_topics)]}
    return label(values, ["AP", "RR", "NMD", "ERR@5"], collection, **labels)


def shuffle(scores):
    draw = np.random.default_rng(2).permutation
    labels = {"runs": scores.runs, "topics": scores.topics, "measures": [str(each) for each in scores.measures]}
    return scores.sel(**{name: draw(some).tolist() for name, some in labels.items()})


def turn(scores):
    measures = [replace(one, higher_is_better=one.higher_is_better is False) for one in scores.measures]
    return replace(scores, values=-scores.values, measures=measures)


CHANGES = {
    "another order": shuffle,
    "the other direction": turn,
    "a large unit": lambda scores: replace(scores, values=np.ldexp(scores.values, 520)),
    "a small unit": lambda scores: replace(scores, values=np.ldexp(scores.values, -540)),
}


def as_tasks(scores):
    """AP of two tasks, in the order in which their topics come."""
    tasks = {}
    for topic in scores.topics:
        tasks.setdefault(f"task{int(topic[1:]) % 2}", []).append(topic)
    return [replace(scores.sel(measures=["AP"], topics=some), collection=name) for name, some in tasks.items()]


PAIR, QUICK = ["measure_1", "measure_2"], {"n_trials": 20, "n_permutations": 50}
LABELS = {*PAIR, "measure", "run", "run_a", "run_b", "topics", "statistic", "test"}
RANKS = ["run", "rank", "low", "high", "letters", "near_first"]
ANALYSES = {  # of scores and a number of jobs: labels and all that belongs to them
    "similarity": lambda scores, _: me.ranking_similarity(scores, n_bootstrap=50).pairs,
    "consistency": lambda scores, n: me.split_half_consistency(scores, n_jobs=n, **QUICK).to_frame(),
    "compared consistency": lambda scores, n: (
        me.split_half_consistency(scores, n_jobs=n, **QUICK).frames()["comparisons"][[*PAIR, "p_value", "significant"]]
    ),
    "robustness": lambda scores, _: me.robustness(scores).rows,
    "coverage": lambda scores, _: me.coverage(scores, reference=["AP", "NMD"], n_bootstrap=50).rows,
    "sample size": lambda scores, _: me.sample_size(scores, sizes=[4, 6, 13], n_trials=20).to_frame(),
    "agreement": lambda scores, _: me.agreement(scores, reference="AP", n_permutations=20).to_frame(),
    "baselines": lambda scores, _: me.baseline_preference(scores, "a", "b").to_frame().reset_index()[["measure", "a", "b"]],
    "ranks": lambda scores, _: me.run_ranks(scores, n_permutations=250).to_frame()[["measure", *RANKS]],
    "boards": lambda scores, _: me.board_ranks(as_tasks(scores), n_bootstrap=100).to_frame()[RANKS],
    "boards by wins": lambda scores, _: me.board_ranks(as_tasks(scores), aggregate="borda", n_bootstrap=100).to_frame(),
    "calibration": lambda scores, n: me.calibrate_tests(
        scores.sel(measures=["AP"]), tests=["bootstrap-t", "paired-t"], n_studies=20, n_permutations=20, n_jobs=n
    ).to_frame().drop(columns="difference"),
    **{
        test: lambda scores, n, test=test: (
            me.discriminative_power(scores, test=test, n_permutations=1000, n_jobs=n)
            .run_pairs()[["measure", "run_a", "run_b", "p_value"]]
        )
        for test in get_args(PairedTest)
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def answers():
    """Numbers by label of every analysis that was asked for, one job each."""
    return {}


def read(analysis, scores, n_jobs):
    frame = ANALYSES[analysis](scores, n_jobs)
    labels = frame[[name for name in frame if name in LABELS]].itertuples(index=False, name=None)
    numbers = frame[[name for name in frame if name not in LABELS]].to_numpy().tolist()
    return dict(zip(map(frozenset, labels), map(str, numbers), strict=True))


SIMULATED = ("calibration", "the other direction")  # of scores turned round other studies are drawn


@pytest.mark.parametrize(("analysis", "change"), [each for each in product(ANALYSES, CHANGES) if each != SIMULATED])
def test_numbers_belong_to_labels_whatever_the_order_the_direction_the_unit_and_the_jobs(answers, analysis, change):
    expected = answers[analysis] = answers.get(analysis) or read(analysis, make_scores(), 1)
    assert read(analysis, CHANGES[change](make_scores()), 2 if change == "another order" else 1) == expected
    assert len(set(expected.values())) > 1


def test_pooled_power_is_of_all_pairs_and_belongs_to_labels():
    scores = make_scores()
    other = shuffle(scores).sel(measures=list(map(str, scores.measures)))
    one, two, second = (
        me.discriminative_power(each, n_permutations=50) for each in (scores, other, make_scores(12, 30, "b"))
    )
    pooled, again, turned = (
        me.pooled_discriminative_power(powers).to_frame() for powers in ([one, second], [two, second], [second, one])
    )
    assert pooled["significant"].tolist() == (one.rows["significant"] + second.rows["significant"]).tolist()
    assert pooled["power"].tolist() == (pooled["significant"] / (45 + 66)).tolist()
    assert pooled["low"].notna().all()
    pd.testing.assert_frame_equal(pooled, again, check_exact=True)
    pd.testing.assert_frame_equal(pooled, turned, rtol=1e-12)


@pytest.fixture
def scores():
    values = np.random.default_rng(1).random((5, 12, 3)) + np.linspace(0, 0.5, 5)[:, None, None]
    return label(values, ["AP", "NMD", me.Measure("own", higher_is_better=True)])


def enlarge(scores, huge):
    values = scores.values.copy()
    values[0, 0] = huge
    return replace(scores, values=values)


@pytest.mark.parametrize("huge", [1e13, -1e13, 1e300])
def test_a_huge_score_ties_no_other_runs(scores, huge):
    other, rest = enlarge(scores, huge), scores.sel(runs=scores.runs[1:])
    tau, expected = (me.ranking_similarity(each, n_bootstrap=0).tau for each in (other, rest))
    # The run with the huge score is above or below all four others, for all measures: four of ten pairs agree.
    signs = np.array([1, -1, 1])
    assert tau == pytest.approx((6 * expected + 4 * np.outer(signs, signs)) / 10)
    assert me.coverage(other, reference=["AP"], n_bootstrap=0).rows["coverage"].notna().all()
    counts = [count_unanimous(Scaled(each.values[..., :1]))[4:] for each in (scores, other)]
    assert counts[0].tolist() == counts[1].tolist()
    mixed = enlarge(scores, [huge, -huge, huge])
    assert np.isfinite(me.agreement(mixed, reference="AP", n_permutations=20).values).all()


@pytest.mark.parametrize("test", ["paired-t", "paired-bootstrap"])
def test_a_huge_score_changes_the_tests_of_no_other_pairs(scores, test):
    options = {"test": test, "correction": "none", "n_permutations": 50}
    one, other = (me.discriminative_power(each, **options).p_values[:, 4:] for each in (scores, enlarge(scores, 1e300)))
    assert one.tolist() == other.tolist()


EXPORTED = {
    "RankingSimilarity": {"intervals": [*PAIR, "tau", "low", "high"]},
    "SplitHalfConsistency": {
        "comparisons": [*PAIR, "difference", "effect_size", "p_value", "significant"], "trials": ["trial"],
    },
    "DiscriminativePower": {"differences": [*PAIR, "difference", "low", "high", "finds_more"]},
    "PooledDiscriminativePower": {
        "by_collection": ["collection", "measure", "significant", "pairs", "power"],
        "differences": [*PAIR, "difference", "low", "high", "finds_more"],
    },
    "SignificanceContradictions": {"run_pairs": [*PAIR, "run_1", "run_2"]},
    "BaselinePreference": {"deltas": ["topic"], "quadrants": [*PAIR, "second", "fourth"]},
    "BoardRanks": {"summary": [], "tasks": ["task"]},
}  # fmt: skip
"""What CSV files and JSON hold besides `rows`."""


def ask_all():
    scores = make_scores(12)
    yield from ask_everything(scores)
    yield me.board_ranks(as_tasks(scores), n_bootstrap=100)
    yield me.ranking_similarity(scores, n_bootstrap=20, confidence=0.8, tau="tau_ap@10")


def test_every_result_says_what_it_is_shows_and_exports_itself_and_is_the_same_on_every_run(tmp_path):
    for number, (result, again) in enumerate(zip(ask_all(), ask_all(), strict=True)):
        name = type(result).__name__
        assert repr(result).startswith(name)
        assert str(result.signature) in result.to_text()
        assert "tabular" in result.to_latex()
        assert result.to_table().to_markdown().count("|") > 8
        assert result.to_dict() == again.to_dict()
        assert "metaeval" in result.plot().texts[-1].get_text()
        exported = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert exported["result"] == name
        details = EXPORTED.get(name, dict.fromkeys(exported.get("details", ()), ()))
        assert set(exported.get("details", ())) == set(details)
        result.write_tables(tmp_path, name)
        for detail, columns in details.items():
            frame = pd.read_csv(tmp_path / f"{name}-{detail.replace('_', '-')}.csv")
            assert list(frame.columns)[: len(columns)] == list(columns)
            rows = pd.DataFrame(exported["details"][detail], columns=frame.columns)
            pd.testing.assert_frame_equal(rows, frame, check_dtype=False, check_exact=True)
        if name in (
            "DiscriminativePower",
            "RunRanks",
            "RankingSimilarity",
            "BaselinePreference",
        ):  # a kind of chart each
            suffixes = (".pdf", ".png", ".svg") if number == 0 else (".svg",)
            drawn = [
                [path.read_bytes() for path in save_figure(one.plot(), tmp_path / folder, name, suffixes)]
                for folder, one in (("a", result), ("b", again))
            ]
            assert drawn[0] == drawn[1], f"the figure of {name} is not the same twice"
    assert result.to_dict()["settings"]["confidence"] == 0.8
