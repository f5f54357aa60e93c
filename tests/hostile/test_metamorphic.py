"""What must not change a result does not: names, directions, other measures; odd arrays are taken or refused."""

import datetime
import itertools
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
import pytest

import metaeval as me
from metaeval.stats.pair_tests import PairedTest
from tests.hostile.case import Refused, by_day_and_night, call, chance, try_inputs

OF_RUNS = ("pairwise_accuracy", "pearson", "spearman", "tau_a", "tau_b", "tau_ap_b", "tau_gap", "tau_b@3", "spearman@4")
OF_CELLS = ("spa", "topic_pearson", "acc_t")


def of_power(analysis):
    return lambda scores, **options: analysis(me.discriminative_power(scores, **options))


POWER = {"test": get_args(PairedTest), "n_permutations": [60], "n_bootstrap": [0, 5]}
QUESTIONS = {  # an analysis, and values of its options
    "similarity": (me.ranking_similarity, {"n_bootstrap": [5], "tau": ["tau_a", "tau_b", "tau_b@3"]}),
    "consistency": (
        me.split_half_consistency,
        {"n_trials": [12], "n_permutations": [20], "tau": ["tau_a", "tau_b"], "size": [None, 2]},
    ),
    "power": (me.discriminative_power, POWER),
    "overlap": (of_power(me.significance_overlap), POWER),
    "contradictions": (of_power(me.significance_contradictions), POWER),
    "pooled power": (of_power(lambda found: me.pooled_discriminative_power([found])), POWER),
    "ranks": (me.run_ranks, {"test": POWER["test"], "n_permutations": [60]}),
    "agreement": (
        me.agreement,
        {
            "statistics": list(itertools.product(OF_RUNS, OF_RUNS, OF_CELLS)),
            "n_permutations": [40], "n_bootstrap": [0, 10], "reference": ["m0"],
        },
    ),
    "robustness": (me.robustness, {}),
    "coverage": (me.coverage, {"reference": [["m0"]], "n_bootstrap": [5]}),
    "sample size": (me.sample_size, {"n_trials": [8], "sizes": [[3, 5]]}),
    "topic-set size": (me.topic_set_size, {"n_bootstrap": [5]}),
    "baselines": (me.baseline_preference, {"first": ["r0"], "second": ["r1"]}),
}  # fmt: skip
OF_OTHERS = {"outperforms", "letters", "cluster", "better_than"}
"""Columns that say how a measure does beside the others, which is another thing beside others."""

OF_SCORES = {"mean", "mean_a", "mean_b", "mean_low", "mean_high", "difference", "low", "high"}
"""Columns of scores themselves, which are multiplied with them (and intervals of them)."""


def make_scores(rng, n_measures=3):
    """Scores with real differences between runs, some of them discrete, of measures of either direction."""
    n_runs, n_topics = rng.randint(4, 6), rng.randint(5, 12)
    values = np.random.default_rng(rng.getrandbits(32)).random((n_runs, n_topics, n_measures))
    values += np.linspace(0, 0.6, n_runs)[:, None, None]
    steps = 4 if chance(rng, 0.4) else 2**20  # sums of these are exact
    measures = [me.Measure(f"m{k}", chance(rng, 0.6)) for k in range(n_measures)]
    runs, topics = [f"r{k}" for k in range(n_runs)], [f"t{k}" for k in range(n_topics)]
    return me.Scores(np.rint(values * steps) / steps, runs=runs, topics=topics, measures=measures, collection="c")


def frame_of(result):
    """The rows of a result; of power those of pairs of runs, which say more."""
    return result.run_pairs() if isinstance(result, me.DiscriminativePower) else result.to_frame()


def numbers(frame, without):
    """What a table says, by labels."""
    frame = frame.reset_index() if frame.index.name else frame
    if "measure" in frame and list(frame.columns[1:]) == frame["measure"].tolist():  # a square of measures
        return {(row["measure"], other): row[other] for row in frame.to_dict("records") for other in frame.columns[1:]}
    found = {}
    for row in frame.to_dict("records"):
        words = {name: value for name, value in row.items() if isinstance(value, str) and name not in OF_OTHERS}
        key = (*sorted(words.items()), row.get("topics") if "mean_tau" in row else None)
        found |= {(key, name): value for name, value in row.items() if name not in words and name not in without}
    return found


def alike(one, other):
    if isinstance(one, str | bool | np.bool_) or one is None:
        return one == other
    return one == other or (one != one and other != other) or abs(one - other) < 1e-9 * max(1.0, abs(one))


def check_same(first, second, without=frozenset()):
    """Two calls must say the same; refused is the same as refused."""
    (one, notes), (other, more) = call(first), call(second)
    assert (one is None) == (other is None), f"refused for one of two that are alike: {(notes or more)[0]}"
    if one is None:
        raise Refused(notes[0])
    one, other = numbers(one, without), numbers(other, without)
    shared = one.keys() & other.keys()
    unlike = [key for key in shared if not alike(one[key], other[key])]
    assert shared, "no label in common"
    assert not unlike, f"{len(unlike)} of {len(shared)}, {unlike[0]}: {one[unlike[0]]} and {other[unlike[0]]}"


def rename(rng, scores):
    """Runs and topics of other names in the same order, in which draws are made."""
    start = rng.choice("abxyz")
    runs, topics = (tuple(start + name for name in names) for names in (scores.runs, scores.topics))
    return replace(scores, runs=runs, topics=topics)


def turn(rng, scores):
    """Directions turned round together with the scores."""
    turned = [chance(rng, 0.6) for _ in scores.measures]
    measures = tuple(
        replace(one, higher_is_better=one.higher_is_better != turn)
        for one, turn in zip(scores.measures, turned, strict=True)
    )
    return replace(scores, values=np.where(turned, -scores.values, scores.values), measures=measures)


def beside(rng, scores):
    """Fewer other measures beside the first."""
    return scores.sel(measures=["m0", *rng.sample(["m1", "m2"], 1)])


CHANGES = {  # what is changed, questions that it changes, and columns that it changes (those of scores where runs are tested)
    rename: ({"baselines"}, set(), set()),
    turn: ({"baselines"}, set(), OF_SCORES | {"d", "d_low", "d_high"}),
    beside: (set(), OF_OTHERS | {"reference"}, set()),
}


@by_day_and_night("numbers", 2, 10)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", QUESTIONS)
def test_nothing_changes_that_must_not(name, change, numbers, tmp_path):
    (analysis, options), (unfit, without, of_tests) = QUESTIONS[name], CHANGES[change]
    if name in unfit:
        return

    def part(rng, folder):
        question = partial(analysis, **{option: rng.choice(values) for option, values in options.items()})
        scores = make_scores(rng)
        other = change(rng, scores)

        def answer_renamed():
            frame = frame_of(question(other))
            for column in {"run", "run_a", "run_b"} & set(frame if change is rename else ()):
                frame[column] = frame[column].str[1:]
            return frame

        columns = without | (of_tests if name in ("power", "ranks") else set())
        check_same(lambda: frame_of(question(scores)), answer_renamed, columns)

    try_inputs(part, numbers, tmp_path, name=f"{name} {change.__name__}")


@by_day_and_night("numbers", 20, 40)
def test_nor_do_the_order_of_people_items_and_judges_and_the_names_of_classes(numbers, tmp_path):
    def part(rng, folder):
        generator = np.random.default_rng(rng.getrandbits(32))
        sizes, n_classes = (4, rng.randint(32, 40), 2), rng.randint(2, 4)
        labels = generator.integers(0, n_classes, sizes[:2])
        labels[:, : sizes[1] // 2] = labels[0, : sizes[1] // 2]
        answers = generator.multinomial(2, np.full(n_classes, 1 / n_classes), sizes[:0:-1])
        agreement = rng.choice(["squared-error", "exact"])

        def answer(places, classes):
            people, items, judges = places
            names = [[f"{letter}{k:02}" for k in axis] for letter, axis in zip("pij", places, strict=True)]
            axes = dict(zip(("annotators", "items", "judges"), names, strict=True))
            axes["classes"] = list(classes[:n_classes])
            made = me.Annotations(labels[np.ix_(people, items)], answers[np.ix_(judges, items)], collection="c", **axes)
            return me.alternative_annotator_test(made, agreement=agreement, n_bootstrap=20).to_frame()

        orders = [rng.sample(range(size), size) for size in sizes]
        check_same(lambda: answer(list(map(range, sizes)), "1234"), lambda: answer(orders, "2345"))

    try_inputs(part, numbers, tmp_path, name="judges", least_equal=0.5)


ARRAYS = {
    "floats": lambda plain: plain,
    "float32": lambda plain: plain.astype(np.float32),
    "Fortran": np.asfortranarray,
    "negative strides": lambda plain: plain[::-1],
    "lists": lambda plain: plain.tolist(),
    "whole": lambda plain: (plain * 9).astype(int),
    "objects": lambda plain: plain.astype(object),
    "text": lambda plain: plain.astype(str),
    "truths": lambda plain: plain > 0.5,
}
NO_ARRAYS = {
    "complex": lambda plain: plain + 1j,
    "complex without imaginary part": lambda plain: plain + 0j,
    "dates": lambda plain: np.zeros(plain.shape, "datetime64[s]"),
    "durations": lambda plain: np.zeros(plain.shape, "timedelta64[s]"),
    "masked": lambda plain: np.ma.masked_array(plain, mask=np.ones(plain.shape, bool)),
    "object complex": lambda plain: (plain + 1j).astype(object),
    "object dates": lambda plain: np.full(plain.shape, datetime.datetime(2020, 1, 1), dtype=object),
    "nan": lambda plain: np.where(plain == plain.flat[0], np.nan, plain),
    "infinite": lambda plain: np.where(plain == plain.flat[0], -np.inf, plain),
    "wrong shape": lambda plain: plain[..., None],
    "ragged": lambda plain: [[[1.0], [2.0, 3.0]]],
    "none": lambda plain: None,
    "records": lambda plain: np.zeros(plain.shape, dtype=[("x", float)]),
}


@pytest.mark.parametrize("kind", [*ARRAYS, *NO_ARRAYS])
def test_an_array_of_any_type_is_scores_or_refused(kind):
    for shape in ((1, 1, 1), (3, 2, 2)):
        given = {**ARRAYS, **NO_ARRAYS}[kind](np.random.default_rng(3).random(shape))
        labels = {"runs": list("abc")[: shape[0]], "topics": range(shape[1]), "measures": ["AP", "RR"][: shape[2]]}
        found, _ = call(me.Scores, given, **labels)
        assert found is not None or kind not in ARRAYS or kind in ("text", "truths")
        assert found is None or (kind in ARRAYS and np.array_equal(found.values, np.asarray(given, dtype=float)))
