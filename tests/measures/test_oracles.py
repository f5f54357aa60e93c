"""Every measure against an independent package, or its definition in loops over items; against print; and the fewest moves."""

import functools
import itertools
import math

import numpy as np
import pytest
import scipy.spatial
import scipy.stats

import metaeval
from metaeval.measures import fewest_moves, moves
from metaeval.measures.ordinal import OCI
from metaeval.measures.properties import all_matrices
from metaeval.measures.quantification import distance_weighted_squares
from metaeval.measures.registry import is_shipped


def matrices(n_classes, how_many=12):
    """Random confusion matrices, perfect runs over the same gold, and constant runs."""
    rng = np.random.default_rng((7, n_classes))
    shares = rng.dirichlet(np.full(n_classes**2, 0.4), size=how_many)
    random = rng.multinomial(rng.integers(2, 60, size=how_many), shares).reshape(-1, n_classes, n_classes)
    constant = np.eye(n_classes, dtype=int)[:, None] * 2 * np.arange(n_classes)[:, None]
    return [*random, *(np.diag(counts.sum(axis=1)) for counts in random), *constant]


def labels_of(counts):
    """The items of a confusion matrix as two lists of classes."""
    gold, predicted = np.nonzero(counts)
    times = counts[gold, predicted]
    return np.repeat(gold, times), np.repeat(predicted, times)


def score(name, *data):
    return float(metaeval.measure(name).evaluate(*data)[0])


def package(name):
    return pytest.importorskip(name, reason=f"{name} is an oracle here")


def sklearn(name, **options):
    def oracle(gold, predicted, n_classes):
        chosen = {"labels": sorted(set(gold))} if options.get("average") == "macro" else {}
        return getattr(package("sklearn.metrics"), name)(gold, predicted, **options, **chosen)

    return oracle


def f1(a, b):
    return 2 * a * b / (a + b) if a + b else 0.0


MACRO = {"average": "macro", "zero_division": 0}
precision, recall = sklearn("precision_score", **MACRO), sklearn("recall_score", **MACRO)


def macro_error(gold, predicted, n_classes):
    if set(predicted) - set(gold):  # imbalanced-learn raises
        return np.mean([np.abs(predicted[gold == k] - k).mean() for k in set(gold)])
    return package("imblearn.metrics").macro_averaged_mean_absolute_error(gold, predicted)


def unless_constant(oracle, *, each=False):
    """NaN, where the formula is 0/0: with a single class in all, or in the gold or the run."""

    def checked(gold, predicted, n_classes):
        constant = min(len(set(gold)), len(set(predicted))) == 1 if each else len({*gold, *predicted}) == 1
        return math.nan if constant else oracle(gold, predicted, n_classes)

    return checked


def cohen(weights):
    return unless_constant(lambda g, p, k: sklearn("cohen_kappa_score", weights=weights, labels=range(k))(g, p, k))


def krippendorff(level):
    def oracle(gold, predicted, n_classes):
        data, domain = np.array([gold, predicted], dtype=float), list(range(n_classes))
        return package("krippendorff").alpha(data, value_domain=domain, level_of_measurement=level)

    return unless_constant(oracle)


def scipy_stats(name):
    return unless_constant(lambda g, p, k: getattr(scipy.stats, name)(g, p).statistic, each=True)


def signs_of_pairs(gold, predicted):
    """How gold and run order every two items, shape (item, item) each."""
    return [np.sign(np.subtract.outer(labels, labels)) for labels in (gold, predicted)]


def kendall_a(gold, predicted, n_classes):
    g, p = signs_of_pairs(gold, predicted)
    return (g * p).sum() / (len(gold) * (len(gold) - 1))


def above_alike(part):
    def oracle(gold, predicted, n_classes):
        signs = signs_of_pairs(gold, predicted)
        found = []
        for of, to in (signs[::-1], signs):
            each = [np.mean(to[i][row != 0] == row[row != 0]) for i, row in enumerate(of) if row.any()]
            found.append(np.mean(each) if each else math.nan)
        return {"reliability": found[0], "sensitivity": found[1], "both": f1(*found)}[part]

    return oracle


def common_relation(gold, predicted, n_classes):
    relations = [
        {(u, v) for u, v in itertools.permutations(range(len(labels)), 2) if labels[u] <= labels[v]}
        for labels in (gold, predicted)
    ]
    return -1 + 2 * len(relations[0] & relations[1]) / math.sqrt(math.prod(map(len, relations)))


def purity(groups, classes):
    return sum(max(np.sum(classes[groups == k] == c) for c in set(classes)) for k in set(groups)) / len(groups)


def hinge(thresholds):
    def oracle(gold, predicted, n_classes):
        total = 0.0
        for g, p in zip(gold, predicted, strict=True):
            for position, threshold in enumerate(np.arange(1, n_classes) * 2.0):  # between classes at 1, 3, 5, …
                if thresholds == "all" or position in (g - 1, g):
                    total += max(0.0, 1 - (2 * p + 1 - threshold) * (1 if position < g else -1))
        return total / len(gold)

    return oracle


CLOSER = {  # Amigó et al. 2020, Definition 1 and the conditions that follow it, item by item
    "NOM": lambda x, a, b: (b == x) | (b != a),
    "ORD": lambda x, a, b: ((b >= x) & (x >= a)) | ((a >= x) & (x >= b)),
    "INT": lambda x, a, b: abs(b - x) <= abs(b - a),
}


def closeness(scale, ties, flat=False):
    def oracle(gold, predicted, n_classes):
        def of(a, b):
            count = np.sum(CLOSER[scale](gold, a, b)) - (np.sum(gold == a) / 2 if ties == "half" else 0)
            part = max(count, 0.5) / len(gold)
            return 1 - part if flat else -np.log2(part)

        perfect = sum(of(g, g) for g in gold)
        return sum(of(p, g) for g, p in zip(gold, predicted, strict=True)) / perfect if perfect else math.nan

    return oracle


@functools.cache
def monotone_paths(n_classes, start=(0, 0)):
    """Every path from an entry to the last one with steps down, to the right, or both."""
    if start == (n_classes - 1, n_classes - 1):
        return [[start]]
    steps = ((start[0] + down, start[1] + right) for down, right in ((1, 1), (1, 0), (0, 1)))
    return [[start, *rest] for step in steps if max(step) < n_classes for rest in monotone_paths(n_classes, step)]


def cost(counts, path, beta, gamma, whole=None, unit=1):
    """Eq. 7 of Cardoso and Sousa 2011 for one path, where distance is in that unit; Eq. 6 when `whole` is N."""
    if whole is None:
        gold, predicted = labels_of(counts)
        apart = np.abs(gold - predicted)
        whole = len(gold) + (apart.max() if gamma == math.inf else np.sum(apart**gamma) ** (1 / gamma))
    deviation = sum(counts[g, p] * (abs(g - p) / unit) ** gamma for g, p in path if counts[g, p]) if beta else 0
    return 1 - sum(counts[entry] for entry in path) / whole + beta * deviation


def cheapest_path(beta, gamma, absolute=False):
    def oracle(gold, predicted, n_classes):
        counts = np.zeros((n_classes, n_classes), dtype=int)
        np.add.at(counts, (gold, predicted), 1)
        price, unit = (beta, 1) if absolute else (beta / len(gold), n_classes - 1)
        return min(cost(counts, path, price, gamma, unit=unit) for path in monotone_paths(n_classes))

    return oracle


CLASSIFICATION = {
    "MAE_mu": sklearn("mean_absolute_error"),
    "MAE_M": macro_error,
    "MSE": sklearn("mean_squared_error"),
    "MSE_M": lambda g, p, k: np.mean([np.mean((p[g == c] - c) ** 2) for c in set(g)]),
    "Accuracy": sklearn("accuracy_score"),
    "Accuracy_within(n=0)": sklearn("accuracy_score"),
    "Accuracy_within(n=1)": lambda g, p, k: np.mean(np.abs(g - p) <= 1),
    "Accuracy_within(n=4)": lambda g, p, k: 1.0,
    "MER": sklearn("zero_one_loss"),
    "MAAC": recall,
    "F1_M": sklearn("f1_score", **MACRO),
    "HMPR": lambda *labels: f1(precision(*labels), recall(*labels)),
    "Rennie_Srebro": hinge("all"),
    "Rennie_Srebro(thresholds=immediate)": hinge("immediate"),
    "kappa": cohen("linear"),
    "kappa(weights=quadratic)": cohen("quadratic"),
    "kappa(weights=nominal)": cohen(None),
    "alpha_ORD": krippendorff("ordinal"),
    "alpha_INT": krippendorff("interval"),
    "CEM_ORD": closeness("ORD", "half"),
    "CEM": closeness("NOM", "all"),
    "CEM(scale=ORD)": closeness("ORD", "half"),
    "CEM(scale=INT)": closeness("INT", "all"),
    **{
        f"CEM(scale={scale}, ties={ties}, flat={flat})": closeness(scale, ties, flat)
        for scale, ties, flat in itertools.product(CLOSER, ("half", "all"), (False, True))
    },
    "OCI": cheapest_path(0.75, 1),
    **{
        f"OCI(beta={beta}, gamma={gamma}, absolute={absolute})": cheapest_path(beta, gamma, absolute)
        for beta, gamma, absolute in itertools.product((0.02, 0.5, 3), (1, 1.5, math.inf), (False, True))
    },
    "Pearson": scipy_stats("pearsonr"),
    "R_s": scipy_stats("spearmanr"),
    "R_s(constant=1)": lambda *labels: np.nan_to_num(scipy_stats("spearmanr")(*labels), nan=1),
    "tau_b": scipy_stats("kendalltau"),
    "tau_a": kendall_a,
    **{f"Reliability_Sensitivity(part={part})": above_alike(part) for part in ("reliability", "sensitivity", "both")},
    "r_int": common_relation,
    "MI": lambda *labels: sklearn("mutual_info_score")(*labels) / np.log(2),
    "Purity": lambda g, p, k: purity(p, g),
    "Inverse_Purity": lambda g, p, k: purity(g, p),
    "Cosine": lambda g, p, k: (g + 1) @ (p + 1) / (np.linalg.norm(g + 1) * np.linalg.norm(p + 1)),
}
"""From the gold and predicted classes of items, from 0, and K; NaN where the formula is 0/0."""


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_measures_of_classification_agree_with_their_oracles(name):
    measure = metaeval.measure(name)
    for n_classes in (2, 3, 5):
        for counts in matrices(n_classes):
            expected = CLASSIFICATION[name](*labels_of(counts), n_classes)
            value, undefined = measure.evaluate(counts)
            assert undefined == np.isnan(expected)
            expected = measure.undefined if undefined else expected
            assert value == pytest.approx(expected, abs=1e-12), counts.tolist()


def weighted(p, q, distance):
    """DW_i of Sakai 2021, Eq. 12, class by class."""
    return [sum(distance(q)[i][j] * (p[j] - q[j]) ** 2 for j in range(5)) for i in range(5)]


def steps(q):
    return [[abs(i - j) for j in range(5)] for i in range(5)]


def in_between(q):
    """LQ 2021, Eq. 11, with its sums written out."""
    return [[q[min(i, j) : max(i, j) + 1].sum() - (q[i] + q[j]) / 2 for j in range(5)] for i in range(5)]


def over_support(p, q, distance=steps):
    return np.mean([square for square, share in zip(weighted(p, q, distance), q, strict=True) if share > 0])


def by_quapy(p, q):
    return pytest.importorskip("quapy.error", reason="QuaPy is the oracle here").nmd(q, p)


QUANTIFICATION = [
    ("NMD", lambda p, q: scipy.stats.wasserstein_distance(range(5), range(5), p, q) / 4),
    ("NMD", by_quapy),
    ("JSD", lambda p, q: scipy.spatial.distance.jensenshannon(p, q, base=2) ** 2),
    ("NVD", lambda p, q: np.abs(p - q).mean() * 5 / 2),
    ("RNSS", lambda p, q: np.linalg.norm(p - q) / math.sqrt(2)),
    ("RNOD", lambda p, q: math.sqrt(over_support(p, q) / 4)),
    ("RSNOD", lambda p, q: math.sqrt((over_support(p, q) + over_support(q, p)) / 8)),
    ("RNADW", lambda p, q: math.sqrt(np.mean(weighted(p, q, steps)) / 4)),
    ("RNOD(distance=gold)", lambda p, q: math.sqrt(over_support(p, q, in_between) / 4)),
    ("RNADW(distance=gold)", lambda p, q: math.sqrt(np.mean(weighted(p, q, in_between)) / 4)),
]


@pytest.mark.parametrize(("name", "oracle"), QUANTIFICATION)
def test_measures_of_quantification_agree_with_their_oracles(name, oracle):
    pairs = np.random.default_rng(20210801).dirichlet(np.full(5, 0.6), size=(40, 2))
    for p, q in [*pairs, np.array([[1, 0, 0, 0, 0], [0, 0.5, 0.5, 0, 0]])]:
        assert score(name, p, q) == pytest.approx(oracle(p, q))


def test_every_shipped_measure_has_an_oracle():
    compared = {name.partition("(")[0] for name in [*CLASSIFICATION, *(name for name, _ in QUANTIFICATION)]}
    assert {one.name for one in metaeval.measures.measures() if is_shipped(one)} == compared


def test_the_worked_examples_of_lq_2021_come_out():
    """Section 3, whose OD stands in the documentation; examples of other papers are compared by the experiments."""
    for shares, printed in (
        ([0.25, 0.35, 0.15, 0.25], [0.03, 0.01, 0.01, 0.03]),
        ([0.25, 0.25, 0.35, 0.15], [0.05, 0.03, 0.01, 0.01]),
    ):
        np.testing.assert_allclose(distance_weighted_squares(np.array(shares), np.full(4, 0.25)), printed)
    # Above 1, whatever its name.
    assert score("RNOD", np.eye(5)[0], np.array([0, 0.98, 0, 0.01, 0.01])) == pytest.approx(1.0329, abs=5e-5)


def test_the_ordinal_index_of_a_single_item_is_that_of_section_3_2_and_beta_may_differ():
    for distance, beta in itertools.product(range(8), [0, 0.05, 0.25, 0.5, 2]):
        counts = np.zeros((8, 8))
        counts[0, distance] = 1
        assert OCI(counts, beta=beta, absolute=True) == pytest.approx(min(1, 1 - 1 / (1 + distance) + beta * distance))
    counts, betas = np.array(matrices(4)[:3]), np.array([0.1, 0.5, 0.9])
    each = [float(OCI(one, beta=beta)) for one, beta in zip(counts, betas, strict=True)]
    np.testing.assert_array_equal(OCI(counts, beta=betas), each)
    np.testing.assert_array_equal(OCI(counts[0], beta=betas), [OCI(counts[0], beta=beta) for beta in betas])


@pytest.mark.parametrize("name", ["Pearson", "R_s", "tau_b"])
def test_large_topics_lose_no_precision(name):
    assert score(name, [[0, 10**7, 0], [0, 0, 10**7], [0, 0, 0]]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("weights", [[[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 1, 5], [2, 0, 1], [9, 3, 0]]])
def test_kappa_takes_any_penalties(weights):
    kappa = metaeval.measures.agreement.kappa
    counts = matrices(3)[0]
    gold, predicted = labels_of(counts)
    by_chance = np.mean([weights[g][p] for g, p in itertools.product(gold, predicted)])
    observed = np.mean([weights[g][p] for g, p in zip(gold, predicted, strict=True)])
    assert kappa(counts, weights=weights) == pytest.approx(1 - observed / by_chance)
    with pytest.raises(metaeval.MeasureError, match="shape"):
        kappa(counts, weights=[[0, 1], [1, 0]])


REFUSED = {
    "CEM(scale=ratio)": "scale is one of NOM, ORD, INT, not 'ratio'",
    "CEM(ties=some)": "ties is one of paper, half, all, not 'some'",
    "kappa(weights=cubic)": "weights is one of linear, quadratic, nominal, not 'cubic'",
    "Accuracy_within(n=-1)": "whole number of at least 0",
    "Accuracy_within(n=0.5)": "whole number of at least 0",
    "R_s(constant=2)": "from -1 to 1",
    "Rennie_Srebro(thresholds=none)": "one of all, immediate",
    "Reliability_Sensitivity(part=half)": "one of both, reliability, sensitivity",
    "OCI(beta=-1)": "OCI.* beta is a finite number, 0 or more",
    "OCI(beta=nan)": "OCI.* beta is a finite number",
    "OCI(gamma=0.5)": "OCI.* gamma 1 or more",
    "OCI(beta=much)": "OCI",
}


@pytest.mark.parametrize("text", REFUSED)
def test_parameters_that_mean_nothing_are_refused(text):
    with pytest.raises(metaeval.MeasureError, match=REFUSED[text]):
        metaeval.measure(text).score([[1, 2], [3, 4]])


def fewest_by_enumeration(measure, first, second):
    runs = all_matrices(first.sum(), len(first))
    runs = runs[(runs.sum(axis=2) == first.sum(axis=1)).all(axis=1)]  # every run over this gold
    scores = measure.sign * measure.evaluate(runs)[0]
    base = measure.sign * measure.evaluate(np.stack([first, second]))[0]
    ordered = (first, second) if base[0] > base[1] else (second, first)  # winner and loser
    away = [np.abs(runs - run).sum(axis=(1, 2)) // 2 for run in ordered]  # predictions that differ, at least
    steps = np.ndindex(away[0].max() + 1, away[1].max() + 1)
    return min(k + n for k, n in steps if scores[away[0] == k].min() < scores[away[1] == n].max() - 1e-9)


@pytest.mark.parametrize("name", ["Accuracy", "MAE_mu", "CEM_ORD", "kappa", "F1_M"])
def test_the_fewest_moves_are_those_of_enumeration_and_turn_the_verdict(name, monkeypatch):
    measure, rng, tried = metaeval.measure(name), np.random.default_rng(3), 0
    while tried < 6:
        gold = rng.multinomial(6, [0.4, 0.4, 0.2])
        first, second = (np.stack([rng.multinomial(n, rng.dirichlet(np.ones(3))) for n in gold]) for _ in range(2))
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
            runs = np.array([first, second])
            for move in one.moves:
                runs[move.run, move.gold, [move.before, move.after]] += [-1, 1]
            turned = measure.sign * measure.evaluate(runs)[0]
            assert one.difference * (turned[0] - turned[1]) < 0
