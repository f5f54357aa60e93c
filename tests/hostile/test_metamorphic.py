"""What must not change a result does not: scale, order, names, directions, other measures, threads."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import metaeval as me
from tests.hostile.case import Finding, Refused, run_cases

MULTIPLE = ("randomised-tukey-hsd", "max-t", "bootstrap-t")
PAIRED = ("tukey-hsd", "paired-t", "paired-randomisation", "paired-bootstrap")
OF_RUNS = ("pairwise_accuracy", "pearson", "spearman", "tau_a", "tau_b", "tau_ap_b", "tau_gap", "tau_b@3", "spearman@4")
OF_CELLS = ("spa", "topic_pearson", "acc_t")


def power(rng):
    test = rng.choice(MULTIPLE + PAIRED)
    options = {
        "test": test,
        "n_permutations": 60,
        "n_bootstrap": rng.choice([0, 5]),
    }
    return lambda scores, **more: me.discriminative_power(scores, **options, **more)


def of_power(analysis):
    def choose(rng):
        test = power(rng)
        return lambda scores, **more: analysis(test(scores, **more))

    return choose


def ranks(rng):
    options = {"test": rng.choice(MULTIPLE + PAIRED), "n_permutations": 60}
    return lambda scores, **more: me.run_ranks(scores, **options, **more)


def agreement(rng):
    statistics = [rng.choice(OF_RUNS), rng.choice(OF_RUNS), rng.choice(OF_CELLS)]
    options = {"statistics": statistics, "n_permutations": 40, "n_bootstrap": rng.choice([0, 10]), "reference": "m0"}
    return lambda scores, **more: me.agreement(scores, **options, **more)


def consistency(rng):
    options = {
        "n_trials": 12,
        "n_permutations": 20,
        "tau": rng.choice(["tau_a", "tau_b"]),
        "size": rng.choice([None, 2]),
    }
    return lambda scores, **more: me.split_half_consistency(scores, **options, **more)


def plain(function, **options):
    return lambda rng: lambda scores: function(scores, **options)


QUESTIONS = {
    "similarity": lambda rng: plain(
        me.ranking_similarity, n_bootstrap=5, tau=rng.choice(["tau_a", "tau_b", "tau_b@3"])
    )(rng),
    "consistency": consistency,
    "power": power,
    "overlap": of_power(me.significance_overlap),
    "contradictions": of_power(me.significance_contradictions),
    "ranks": ranks,
    "pooled power": of_power(lambda found: me.pooled_discriminative_power([found])),
    "agreement": agreement,
    "robustness": plain(me.robustness),
    "coverage": plain(me.coverage, reference=["m0"], n_bootstrap=5),
    "sample size": plain(me.sample_size, n_trials=8, sizes=[3, 5]),
    "topic-set size": plain(me.topic_set_size, n_bootstrap=5),
    "baselines": plain(me.baseline_preference, first="r0", second="r1"),
}
THREADED = ("consistency", "power", "overlap", "contradictions", "ranks", "pooled power")

OF_OTHERS = {"outperforms", "letters", "cluster", "better_than"}
"""Columns that say how a measure does beside the others, which is another thing beside others."""

SCALE_FREE = {"mean", "mean_a", "mean_b", "mean_low", "mean_high", "difference", "low", "high"}
"""Columns of scores themselves, which are multiplied with them (and intervals of them)."""


def make_scores(rng, n_measures=3, *, discrete=None, name="c"):
    """Scores with real differences between runs, some of them discrete, of measures of either direction."""
    n_runs, n_topics = rng.randint(4, 6), rng.randint(5, 12)
    generator = np.random.default_rng(rng.getrandbits(32))
    values = generator.random((n_runs, n_topics, n_measures)) + np.linspace(0, 0.6, n_runs)[:, None, None]
    if discrete or (discrete is None and rng.random() < 0.4):
        values = np.round(values * 4) / 4
    values = np.ldexp(np.rint(np.ldexp(values, 20)), -20)  # sums of these are exact
    measures = [me.Measure(f"m{k}", rng.random() < 0.6) for k in range(n_measures)]
    runs, topics = [f"r{k}" for k in range(n_runs)], [f"t{k}" for k in range(n_topics)]
    return me.Scores(values, runs=runs, topics=topics, measures=measures, collection=name)


def frame_of(result):
    """The rows of a result; of power those of pairs of runs, which say more."""
    return result.run_pairs() if isinstance(result, me.DiscriminativePower) else result.to_frame()


def numbers(result, without=frozenset()):
    """What a result says, by labels: independent of the order of runs and measures."""
    frame = frame_of(result)
    frame = frame.reset_index() if frame.index.name else frame
    if list(frame.columns[1:]) == frame["measure"].tolist() if "measure" in frame else False:  # a square of measures
        return {
            (row["measure"], other): row[other]  # tau_b@3 is about the best of the first: it has a direction
            for row in frame.to_dict("records")
            for other in frame.columns[1:]
        }
    return dict(item for row in frame.to_dict("records") for item in _numbers_of_row(row, without))


def _numbers_of_row(row, without):
    for first, second in (("run_a", "run_b"), ("measure_1", "measure_2")):
        if first in row and row[first] > row[second]:
            _turn_round(row, first, second)
    words = {name: value for name, value in row.items() if isinstance(value, str) and name not in OF_OTHERS}
    key = (*sorted(words.items()), row.get("topics") if "mean_tau" in row else None)
    for name, value in row.items():
        if name not in words and name not in without:
            yield (key, name), value


def _turn_round(row, first, second):
    row[first], row[second] = row[second], row[first]
    for one, other in (("mean_a", "mean_b"), ("a", "c")):
        if one in row and other in row:
            row[one], row[other] = row[other], row[one]
    for name in ("difference", "d"):
        if name in row:
            row[name] = -row[name]
    for low, high in (("low", "high"), ("d_low", "d_high")):
        if low in row:
            row[low], row[high] = -row[high], -row[low]


def check_same(case, first, second, what, without=frozenset()):
    """Two calls that must say the same; refused is the same as refused."""
    (one, notes), (other, more) = case.call(first), case.call(second)
    if (one is None) != (other is None):
        raise Finding(f"{what}: refused for one of two that are alike: {(notes or more)[0][:200]}")
    if one is None:
        raise Refused(notes[0])
    one, other = numbers(one, without), numbers(other, without)
    shared = set(one) & set(other)
    if not shared:
        raise Finding(f"{what}: no label in common")
    unlike = [key for key in one if key in other and not alike(one[key], other[key])]
    if unlike:
        raise Finding(f"{what}: {len(unlike)} of {len(shared)}, {unlike[0]}: {one[unlike[0]]} and {other[unlike[0]]}")


def alike(one, other):
    if isinstance(one, str | bool | np.bool_) or one is None:
        return one == other
    return one == other or (one != one and other != other) or abs(one - other) < 1e-9 * max(1.0, abs(one))


def choose(case, names=tuple(QUESTIONS)):
    name = case.rng.choice(names)
    return name, QUESTIONS[name](case.rng)


def scale(case):
    """All scores, or those of all measures but the first, times a power of two."""
    # Topic-set size takes a difference in units of scores; means and intervals of them grow with the scores.
    name, ask = choose(case, [name for name in QUESTIONS if name not in ("topic-set size", "baselines")])
    scores = make_scores(case.rng)
    exponents = np.full(3, case.rng.choice([1, -1, 10, -30, 200, -200, 520, -540, 900, -900]))
    if case.rng.random() < 0.5:
        exponents[1:] = 0
    other = replace(scores, values=np.ldexp(scores.values, exponents))
    without = SCALE_FREE if name in ("power", "ranks") else frozenset()
    check_same(case, lambda: ask(scores), lambda: ask(other), f"{name} of scores times powers of two", without)


def order(case):
    """Runs, topics and measures in another order."""
    name, ask = choose(case)
    scores = make_scores(case.rng)
    shuffled = [
        case.rng.sample(labels, len(labels)) for labels in (scores.runs, scores.topics, list(map(str, scores.measures)))
    ]
    other = scores.sel(runs=shuffled[0], topics=shuffled[1], measures=shuffled[2])
    check_same(case, lambda: ask(scores), lambda: ask(other), f"{name} of shuffled scores", OF_OTHERS - {"cluster"})


def names(case):
    """Runs and topics of other names in the same order, in which draws are made."""
    name, ask = choose(case, [name for name in QUESTIONS if name != "baselines"])
    scores = make_scores(case.rng)
    start = case.rng.choice("abxyz")
    other = replace(
        scores,
        runs=tuple(f"{start}{run}" for run in scores.runs),
        topics=tuple(f"{start}{each}" for each in scores.topics),
    )

    def renamed():
        frame = frame_of(ask(other))
        for column in ("run", "run_a", "run_b"):
            if column in frame:
                frame[column] = frame[column].str[1:]
        return type("Renamed", (), {"to_frame": lambda self: frame})()

    check_same(case, lambda: ask(scores), renamed, f"{name} of renamed runs and topics")


def max_t_names(case):
    """P-values of discrete scores, where statistics tie, do not depend on which run has which name."""
    scores = make_scores(case.rng, 1, discrete=True)
    test = case.rng.choice(["max-t", "bootstrap-t"])
    result = case.result_of(me.discriminative_power, scores, test=test, n_permutations=60, n_bootstrap=0)
    frame = result.run_pairs()
    by_statistic = {}
    for row in frame.to_dict("records"):
        pair = [scores.values[scores.runs.index(row[name]), :, 0] for name in ("run_a", "run_b")]
        gaps = tuple(sorted(np.abs(pair[0] - pair[1]))), abs(round(float((pair[0] - pair[1]).mean()), 12))
        signed = tuple(sorted(pair[0] - pair[1])), tuple(sorted(pair[1] - pair[0]))
        by_statistic.setdefault((gaps, frozenset(signed)), set()).add(row["p_value"])
    for p_values in by_statistic.values():
        if len(p_values) > 1:
            raise Finding(f"{test}: pairs with the same differences have p-values {sorted(p_values)}")


def directions(case):
    """Directions turned round together with the scores."""
    name, ask = choose(case, [name for name in QUESTIONS if name != "baselines"])
    scores = make_scores(case.rng)
    turned = [case.rng.random() < 0.6 for _ in scores.measures]
    measures = tuple(
        replace(measure, higher_is_better=not measure.higher_is_better) if turn else measure
        for measure, turn in zip(scores.measures, turned, strict=True)
    )
    other = replace(scores, values=np.where(turned, -scores.values, scores.values), measures=measures)
    without = SCALE_FREE | {"d", "d_low", "d_high"} if name in ("power", "ranks") else frozenset()
    check_same(case, lambda: ask(scores), lambda: ask(other), f"{name} with directions turned round", without)


def run_scores(case):
    """Scores of whole runs in place of means are turned with their direction, and means given as such change nothing."""
    scores = make_scores(case.rng)
    options = {"statistics": [case.rng.choice(OF_RUNS)], "n_permutations": 20, "n_bootstrap": 0, "reference": "m0"}
    means = me.Scores(
        scores.values.mean(axis=1, keepdims=True), runs=scores.runs, topics=["all"], measures=scores.measures
    )
    mirrored = replace(
        means,
        values=-means.values,
        measures=[replace(m, higher_is_better=not m.higher_is_better) for m in means.measures],
    )
    for other in (means, mirrored) if case.rng.random() < 0.5 else (mirrored, means):
        given = lambda other=other: me.agreement(scores, run_scores=other, **options)  # noqa: E731
        check_same(case, lambda: me.agreement(scores, **options), given, "agreement with means as scores of runs")


def beside(case):
    """Other measures beside those that are looked at."""
    name, ask = choose(case)
    scores = make_scores(case.rng, 4)
    rest = case.rng.sample(["m1", "m2", "m3"], case.rng.randint(1, 2))
    other = scores.sel(measures=["m0", *rest])
    check_same(
        case, lambda: ask(scores), lambda: ask(other), f"{name} beside other measures", OF_OTHERS | {"reference"}
    )


def threads(case):
    """Two threads."""
    name, ask = choose(case, THREADED)
    scores = make_scores(case.rng)
    check_same(case, lambda: ask(scores), lambda: ask(scores, n_jobs=2), f"{name} on two threads")


def letters(case):
    """Two runs share no letter if and only if they differ significantly."""
    scores = make_scores(case.rng, 2)
    test = case.rng.choice(MULTIPLE)
    result = case.result_of(me.discriminative_power, scores, test=test, n_permutations=60, n_bootstrap=0, alpha=0.3)
    significant = {
        (row["measure"], frozenset((row["run_a"], row["run_b"]))): row["p_value"] <= 0.3
        for row in result.run_pairs().to_dict("records")
    }
    ranks = me.run_ranks(result).to_frame()
    held = {(row["measure"], row["run"]): set(row["letters"]) for row in ranks.to_dict("records")}
    for (measure, pair), apart in significant.items():
        first, second = pair
        if apart == bool(held[measure, first] & held[measure, second]):
            raise Finding(f"{test}, {measure}: {sorted(pair)} {'differ' if apart else 'do not differ'}, letters {held}")


def judges(case):
    """People, items and judges in another order, and classes of other names."""
    rng, generator = case.rng, np.random.default_rng(case.rng.getrandbits(32))
    n_people, n_items, n_judges, n_classes = 4, rng.randint(32, 40), 2, rng.randint(2, 4)
    labels = generator.integers(0, n_classes, (n_people, n_items))
    labels[:, : n_items // 2] = labels[0, : n_items // 2]
    answers = generator.multinomial(2, np.full(n_classes, 1 / n_classes), (n_judges, n_items))
    people, items = [f"p{k}" for k in range(n_people)], [f"i{k:02}" for k in range(n_items)]
    options = {"agreement": rng.choice(["squared-error", "exact"]), "n_bootstrap": 20}
    made = lambda p, i, j, classes: me.Annotations(  # noqa: E731
        labels[np.ix_(p, i)], answers[np.ix_(j, i)], annotators=[people[k] for k in p], items=[items[k] for k in i],
        judges=[f"j{k}" for k in j], classes=list(classes[:n_classes]), collection="c",
    )  # fmt: skip
    plain_order = made(range(n_people), range(n_items), range(n_judges), "1234")
    shuffled = made(rng.sample(range(n_people), n_people), rng.sample(range(n_items), n_items), [1, 0], "2345")
    check_same(
        case, lambda: me.alternative_annotator_test(plain_order, **options),
        lambda: me.alternative_annotator_test(shuffled, **options), "judges in another order",
    )  # fmt: skip


def formats(case):
    """Scores written in any format and read again, bit for bit."""
    rng, scores = case.rng, make_scores(case.rng)
    scores = replace(scores, values=scores.values * 2.0 ** rng.choice([0, -1070, 1000, -3]) / rng.choice([3, -3]))
    format = rng.choice(["tidy", "tidy", "wide", "sakai", "trec_eval", "store"])
    target = case.folder / (rng.choice(["c.csv", "c.tsv", "c.parquet"]) if format == "tidy" else "c")
    if format == "store":
        case.result_of(lambda: me.ScoreStore(target).add(scores) or True)
        again = case.result_of(me.ScoreStore(target).load, "c")
    else:
        case.call(me.io.write_scores, scores, target, format=format)
        again = case.result_of(me.io.read_scores, target, format=format, collection="c")
    again = again.sel(runs=scores.runs, topics=scores.topics, measures=[str(each) for each in scores.measures])
    if again.values.tobytes() != scores.values.tobytes():
        raise Finding(f"{format}: other bits than were written")
    same = [a.higher_is_better is b.higher_is_better for a, b in zip(again.measures, scores.measures, strict=True)]
    if format in ("tidy", "store") and not all(same):
        raise Finding(f"{format}: a direction is lost")


def batch(case):
    """Every measure of metaeval scores a run and topic alike, alone and among others."""
    rng, generator = case.rng, np.random.default_rng(case.rng.getrandbits(32))
    n_runs, n_topics, K = rng.randint(2, 4), rng.randint(2, 5), rng.randint(2, 5)
    labels = {"runs": [f"r{k}" for k in range(n_runs)], "topics": range(n_topics), "classes": list("01234"[:K])}
    if rng.random() < 0.5:
        gold = generator.integers(0, 4, (n_topics, K))
        gold[:, 0] += 1
        counts = [
            [[generator.multinomial(n, np.full(K, 1 / K)) for n in topic] for topic in gold] for _ in range(n_runs)
        ]
        runs = me.ClassificationRuns(np.array(counts), **labels)
    else:
        shares = generator.dirichlet(np.full(K, 0.5), (n_runs + 1, n_topics))
        runs = me.QuantificationRuns(shares[1:], shares[0], **labels, rescale=True)
    whole, part_runs = case.result_of(me.score, runs), rng.sample(runs.runs, rng.randint(1, n_runs))
    part_topics = rng.sample(runs.topics, rng.randint(1, n_topics))
    part = case.result_of(me.score, runs.sel(runs=part_runs, topics=part_topics))
    wrong = np.abs(part.values - whole.sel(runs=part_runs, topics=part_topics).values).max(axis=(0, 1)) > 1e-9
    if wrong.any():
        raise Finding(f"{whole.measures[int(np.argmax(wrong))]} depends on its batch")


def gaps_between_runs(case):
    """Pairwise accuracy, τ and acc@k of means are what counting pairs by hand gives."""
    scores = make_scores(case.rng, 3)
    signs = np.array([1 if measure.higher_is_better else -1 for measure in scores.measures])
    means = scores.values.mean(axis=1) * signs
    result = case.result_of(me.agreement, scores, reference="m0", statistics=["pairwise_accuracy", "tau_a"], n_permutations=9,
                            n_bootstrap=0)  # fmt: skip
    frame = result.to_frame().set_index(["statistic", "measure"])["value"]
    pairs = list(itertools.combinations(range(len(means)), 2))
    for m in (1, 2):
        sign = lambda k, i, j: np.sign(round(means[i, k] - means[j, k], 12))  # noqa: E731
        products = [sign(m, i, j) * sign(0, i, j) for i, j in pairs]
        right = np.mean([sign(m, i, j) == sign(0, i, j) for i, j in pairs])
        for name, expected in (("tau_a", np.mean(products)), ("pairwise_accuracy", right)):
            if abs(frame[name, f"m{m}"] - expected) > 1e-9:
                raise Finding(f"{name} of m{m} is {frame[name, f'm{m}']}, not {expected}")


PARTS = {
    scale: 30, order: 40, names: 30, max_t_names: 40, directions: 30, run_scores: 15, beside: 40, threads: 15,
    letters: 25, judges: 10, formats: 30, batch: 20, gaps_between_runs: 20,
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_nothing_changes_that_must_not(part, tmp_path):
    run_cases(part, PARTS[part], tmp_path, least_equal=0.5)
