"""Cardoso and Sousa 2011: what is printed comes out, slips are slips, and Algorithm 1 can be interrupted."""

import importlib.util
import itertools
import json
import math
import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.old.bounds import BOUNDS
from experiments.cardoso2011 import claims, enumeration, expectations, figures, matrices, slips, steps
from experiments.cardoso2011.matrices import PRINTED, STUDY, compute_coefficients, make_tridiagonal
from experiments.cardoso2011.synthetic import BORDERS, synthetic_set
from experiments.old.claims import Truth, list_claims, try_claims
from experiments.old.comparison import read_cells
from experiments.old.outcome import Settings
from metaeval.errors import DatasetError
from metaeval.measures.ordinal_index import OCI

EXTRA = all(importlib.util.find_spec(package) for package in ("sklearn", "skordinal"))
if EXTRA:
    from experiments.cardoso2011 import classifiers, repetitions
    from experiments.cardoso2011.estimators import DataReplication, FrankHall
trained = pytest.mark.skipif(not EXTRA, reason="this needs the packages of pip install 'metaeval[experiments]'")

COMMITTED = Path(__file__).parents[2] / "results" / "cardoso2011"


@pytest.fixture(scope="module")
def in_print():
    return steps.compute_print(Settings(say=lambda line: None))


def test_every_printed_value_of_tables_1_to_5_comes_out_but_for_the_known_slips(in_print):
    tables = [one for one in in_print.cells if one.item.startswith("Table")]
    assert len(tables) == 13 * 7  # thirteen matrices
    wrong = {(one.row, one.column) for one in tables if one.verdict != "exact"}
    assert wrong == {("CM4", "MAE"), *(("CM5", column) for column in STUDY["coefficients"])}


def test_the_mean_absolute_error_of_cm4_was_truncated():
    value = float(compute_coefficients(STUDY["matrices"]["CM4"])["MAE"])
    assert value == pytest.approx(6 / 7)
    assert math.floor(100 * value) / 100 == float(PRINTED["table3"]["CM4"][1])


def test_no_value_of_the_row_cm5_follows_from_the_printed_matrix_and_all_from_the_other_reading(in_print):
    printed = np.array([float(text) for text in PRINTED["table4"]["CM5"]])
    (other,) = STUDY["other_readings"].values()
    as_printed = np.array(list(compute_coefficients(STUDY["matrices"]["CM5"]).values()))
    read = np.array(list(compute_coefficients(other["counts"]).values()))
    assert (abs(as_printed - printed) > 0.03).all()
    assert (abs(read - printed) <= 0.005 + 1e-9).all()
    # The two matrices differ by one item's place in one row.
    assert np.abs(np.array(other["counts"]) - STUDY["matrices"]["CM5"]).sum() == 2


def test_every_printed_number_is_compared_once_and_with_what_is_in_print():
    """By hand: 4 rows in Table 1, 2 each in Tables 2 to 4, 3 in Table 5, of 7 numbers; 7 limits; 30 means and deviations."""
    if not (COMMITTED / "skordinal").is_dir():
        pytest.skip("the committed results are not here")
    cells = [one for name in ("print", "skordinal") for one in read_cells(COMMITTED / name / "comparison.csv")]
    assert len({(one.item, one.row, one.column) for one in cells}) == len(cells) == (4 + 3 * 2 + 3) * 7 + 7 + 30 == 128
    assert {one.row for one in cells if one.item == "Table 4"} == {"CM5", "CM6"}
    verdicts = Counter(one.verdict for one in cells)
    assert verdicts == {"exact": 90, "matches": 18, "differs": 14, "unavailable": 6}


def test_the_matrices_of_a_table_are_of_the_same_items():
    def items(name):
        return np.sum(STUDY["matrices"][name], axis=1)

    for row in "BCD":
        np.testing.assert_array_equal(items("A"), items(row))
    for row in ("CM11", "CM12"):
        np.testing.assert_array_equal(items("CM10"), items(row))
    assert items("CM10").sum() == 0.6 * 400


@pytest.mark.parametrize("k", [2, 3, 10, 60])
def test_tridiagonal_matrices_have_the_closed_forms(k):
    found = compute_coefficients(make_tridiagonal(k))
    n, off = 3 * k - 2, 2 * (k - 1)
    assert found["MER"] == pytest.approx(off / n)
    assert found["MAE"] == pytest.approx(off / n)
    # A path gains an item with every step off the diagonal where that is worth more than β.
    for name, share in (("OC beta1", 0.25), ("OC beta2", 0.75)):
        beta, gain = share / (n * (k - 1)), 1 / (n + off)
        assert found[name] == pytest.approx(1 - k * gain - (k - 1) * max(0.0, gain - beta))


def test_the_limits_of_section_4_1_are_where_the_curves_go(in_print):
    limits = [one for one in in_print.cells if one.item == "§4.1"]
    assert len(limits) == 7
    assert {one.verdict for one in limits} == {"exact"}


def test_a_single_item_is_wrong_altogether_for_beta_one_half():
    curves = figures.compute_single_item_curves([0.0, 0.5], 6)
    np.testing.assert_allclose(curves["0.5"], [0, 1, 1, 1, 1, 1, 1], atol=1e-15)
    np.testing.assert_allclose(curves["0"], [1 - 1 / (1 + d) for d in range(7)], atol=1e-15)


def test_the_synthetic_set_has_the_gold_sizes_of_the_printed_matrices_and_not_those_of_the_other_reading():
    """Gold of CM10: 0, 57, 98, 50, 35 of 240 test points."""
    _, classes = synthetic_set(0, 100_000)
    shares = np.bincount(classes, minlength=5) / len(classes)
    printed = np.sum(STUDY["matrices"]["CM10"], axis=1)
    error = np.sqrt(240 * shares * (1 - shares))
    assert (abs(printed - 240 * shares) < 3 * error).all()
    points, _ = synthetic_set(0, 100_000)
    other = np.digitize(10 * (points.prod(axis=1) - 0.5), BORDERS)
    assert np.bincount(other, minlength=5)[0] / len(other) > 0.6


def test_every_figure_has_its_signature(in_print):
    assert set(in_print.figures) == {"figures1-3", "figure4", "figure5", "figure6"}
    for draw in in_print.figures.values():
        assert any(text.get_text().startswith("cardoso2011 |") for text in draw().texts)


def test_the_committed_tables_come_out_again(in_print):
    if not (COMMITTED / "print").is_dir():
        pytest.skip("the committed results are not here")
    for name, text in in_print.format_files().items():
        kept = pd.read_csv(COMMITTED / "print" / f"{name}.csv", dtype=str, keep_default_na=False)
        assert len(kept) == len(text.splitlines()) - 1, name


def test_every_slip_is_shown_by_its_computation():
    found = slips.list_slips()
    assert [one.where for one in found if not one.shown] == []
    assert len(found) == 9


def test_the_rule_of_the_synthetic_set_is_expected_to_give_what_drawing_gives():
    _, classes = synthetic_set(0, 100_000)
    drawn = np.bincount(classes, minlength=5) / len(classes)
    np.testing.assert_allclose(slips.expect_sizes(False, 1.0), drawn, atol=0.005)


def try_in_print(in_print, **frames):
    """Return what claims come to, by name, with some tables replaced."""
    tables = {name: table.frame for name, table in in_print.tables.items()} | frames
    facts = {
        "print": claims.Matrices(tables["expectations"]),
        "small": claims.Enumeration(tables["properties"], tables["triples"]),
        **claims.list_printed(),
    }
    return {each.claim.decide.__name__: each.answer.truth for each in try_claims(list_claims(claims), facts)}


def test_conclusions_that_can_be_checked_by_hand_come_out_as_they_must(in_print):
    truths = try_in_print(in_print)
    assert truths.pop("gamma_changes_nothing") is Truth.NO  # CM4 before CM3 is lost with γ = 2
    assert truths.pop("osvm_never_loses") is Truth.NO  # SWD in Table 6: .49 against .47
    assert truths.pop("ordinal_methods_are_superior") is Truth.UNKNOWN  # means that are equal after rounding
    assert set(truths.values()) == {Truth.YES}
    assert len(list_claims(claims)) <= 12


def test_conclusions_turn_with_the_numbers_that_they_rest_on(in_print, monkeypatch):
    tables = {name: table.frame for name, table in in_print.tables.items()}
    met = tables["expectations"].copy()
    met.loc[:, :] = expectations.MET
    met.iloc[0, met.columns.get_loc("OC β₁")] = expectations.EQUAL
    broken = tables["properties"].assign(exceptions=1)
    triples = tables["triples"].assign(**{"1/(N + 1)": 1})
    monkeypatch.setattr(claims, "find_limit", lambda measure: 0.9)
    truths = try_in_print(in_print, expectations=met, properties=broken, triples=triples)
    for name in (
        "others_have_shortcomings", "the_index_is_useful", "the_range_is_bounded", "the_index_is_symmetric",
        "the_triangle_holds", "limits_are_as_stated",
    ):  # fmt: skip
        assert truths[name] is Truth.NO, name


def test_the_bound_of_appendix_a_is_right():
    """Its three vectors break the triangular inequality just below the stated β, and not just above it."""
    sizes = range(2, enumeration.SIZES["largest_N"] + 1)
    assert {enumeration.check_appendix_bound(n) for n in sizes} == {(True, False)}


def test_the_third_pair_is_as_the_paper_says_in_the_other_reading_only():
    """§4.2: MER and MAE were unable to capture the degradation of performance from CM5 to CM6."""
    worse = {
        reading: [
            expectations.find_margin(expectations.COEFFICIENTS[name], reading, "CM6") > 0 for name in ("MER", "MAE")
        ]
        for reading in ("CM5", *STUDY["other_readings"])
    }
    assert sorted(worse.pop("CM5")) == [False, True]
    assert list(worse.values()) == [[False, False]]


def test_the_order_of_cm3_and_cm4_turns_with_gamma_by_hand():
    """γ = 2: M is √(4 + 4·3 + 2) = √18 for CM3 and √(4 + 1 + 4 + 1) = √10 for CM4."""
    share = 0.25 / (7 * 4)
    cm3 = 1 - 4 / (7 + math.sqrt(18)) + share * (3 * 4)  # down the first column: 1 + 3
    cm3 = min(cm3, 1 - 3 / (7 + math.sqrt(18)) + share * 2)  # by way of the 2 in the last row
    cm4 = 1 - (1 + 2 + 1) / (7 + math.sqrt(10)) + share * 1
    named = expectations.name_oci(0.25, 2)
    assert expectations.score_matrix(named, "CM4") == pytest.approx(cm4)
    assert expectations.score_matrix(named, "CM3") < cm4
    assert expectations.find_turned(0.25, 2) == ["CM3 and CM4"]
    assert expectations.find_turned(0.25, 1) == expectations.find_lost(0.75, 1) == []


def test_all_small_matrices_are_there_once():
    counts = enumeration.list_matrices(3, 4)
    assert len(counts) == math.comb(4 + 8, 8)
    assert len(np.unique(counts.reshape(len(counts), -1), axis=0)) == len(counts)
    assert set(counts.sum(axis=(1, 2))) == {4}


def test_the_listing_in_print_gives_oc():
    """Listing 1, line by line, with γ as a parameter."""

    def listing(matrix, k, gamma):
        n = matrix.sum()
        beta = 0.75 / (n * (k - 1) ** gamma)
        weighed = np.array([[matrix[r, c] * abs(r - c) ** gamma for c in range(k)] for r in range(k)])
        gain = matrix / (weighed.sum() ** (1 / gamma) + n)
        error = np.zeros((k, k))
        error[0, 0] = 1 - gain[0, 0] + beta * weighed[0, 0]
        for r in range(1, k):
            error[r, 0] = error[r - 1, 0] - gain[r, 0] + beta * weighed[r, 0]
        for c in range(1, k):
            error[0, c] = error[0, c - 1] - gain[0, c] + beta * weighed[0, c]
        for c, r in itertools.product(range(1, k), range(1, k)):
            best = min(error[r - 1, c], error[r, c - 1], error[r - 1, c - 1])
            error[r, c] = best - gain[r, c] + beta * weighed[r, c]
        return error[-1, -1]

    for gamma in (1, 2):
        for counts in enumeration.list_matrices(3, 3):
            assert float(OCI(counts, gamma=gamma)) == pytest.approx(listing(counts, 3, gamma), abs=1e-12)


def test_triples_that_break_the_inequality_are_counted_one_by_one():
    rng = np.random.default_rng(0)
    distances = rng.random((6, 6))
    counted = sum(
        distances[a, b] + distances[b, c] < distances[a, c] for a, b, c in itertools.product(range(6), repeat=3)
    )
    assert enumeration.count_broken(distances) == counted > 0
    found = enumeration.find_distances(2, 2, 0.25, 1.0)
    assert found[0, 3] == pytest.approx(float(OCI([[0, 2], [0, 0]], beta=0.25)))


def test_the_counterexample_to_the_lemma_is_one_and_no_smaller_one_exists():
    one, two = enumeration.find_lemma_counterexample()
    for metric in (one, two):
        assert 2 * max(metric) <= sum(metric)
    assert all(x <= y for x, y in zip(one, two, strict=True))
    ab, bc, ac = (Fraction(x, 1 + y) for x, y in zip(one, two, strict=True))
    assert ab + bc < ac
    # Distances of 1 and 2 only: nothing breaks.
    small = [d for d in itertools.product((1, 2), repeat=3) if 2 * max(d) <= sum(d)]
    for d1, d2 in itertools.product(small, small):
        if all(x <= y for x, y in zip(d1, d2, strict=True)):
            shares = [Fraction(x, 1 + y) for x, y in zip(d1, d2, strict=True)]
            assert 2 * max(shares) <= sum(shares)
    assert "1/3 + 1/4 < 2/3" in slips.describe_lemma((one, two))


def test_the_share_of_errors_to_which_the_lemma_is_applied_is_no_metric_by_hand():
    """One item of classes 1, 5 and 2: 1/(1 + 4) + 1/(1 + 3) < 1/(1 + 1)."""
    assert enumeration.find_share_counterexample() == (5, 1, [(1,), (5,), (2,)])


def test_a_property_that_fails_is_counted(monkeypatch):
    monkeypatch.setitem(enumeration.PROPERTIES, "range", ("never", lambda c, b, g: np.ones(len(c), dtype=bool)))
    frame = enumeration.tabulate_properties().frame
    assert frame.loc["range", "exceptions"] == frame.loc["range", "tried"] > 0
    assert frame["exceptions"].drop("range").sum() == 0


def test_inputs_and_bounds_say_where_they_are_from():
    names = {one["name"]: one for one in STUDY["inputs"]}
    assert names["β of Table 6"]["provenance"] == "derived"
    assert names["grid of C"]["provenance"] == "assumed"
    for name in ("almost alike", "clearly apart", "same Monte Carlo"):
        assert BOUNDS[name].reason == "post hoc"
    assert {float(part.strip(" ,")) for part in names["grid of C"]["value"].split(",")} == set(STUDY["table6"]["costs"])
    assert names["β of Table 6"]["value"].startswith(f"{STUDY['table6']['fitted_beta']:g} ")


def splits(ends):
    """Differences of OCI on two sets, the same on both: (oSVM, Frank and Hall, one from the other), with their intervals."""
    pairs = (("oSVM", "Conventional"), ("Frank and Hall", "Conventional"), ("oSVM", "Frank and Hall"))
    rows = [
        (name, *pair, (low + high) / 2, low, high)
        for name in ("near", "far")
        for pair, (low, high) in zip(pairs, ends, strict=True)
    ]
    return claims.Splits(pd.DataFrame(rows, columns=["set", "method", "less", "difference", "low", "high"]))


@pytest.mark.parametrize(
    ("ends", "truth"),
    [
        ([(-0.3, -0.1), (-0.2, -0.1), (-0.1, -0.01)], Truth.YES),
        ([(-0.3, -0.1), (-0.2, 0.1), (-0.1, 0.1)], Truth.UNKNOWN),
        ([(0.1, 0.3), (-0.2, -0.1), (0.1, 0.2)], Truth.NO),
    ],
)
def test_superiority_needs_intervals_that_exclude_nothing(ends, truth):
    assert claims.ordinal_methods_are_superior(splits(ends)).truth is truth
    assert claims.osvm_never_loses(splits(ends)).truth is truth


def test_claims_on_trained_classifiers_are_of_the_beta_that_table_6_is_nearest_to():
    if not (COMMITTED / "skordinal").is_dir():
        pytest.skip("the committed results are not here")
    frame = pd.read_csv(COMMITTED / "skordinal" / "table6-differences.csv")
    facts = claims.list_splits(frame)
    assert list(facts) == ["SWD, LEV, ESL, Balance, ERA"]
    assert {float(beta) for each in facts.values() for beta in each.frame["β"]} == {STUDY["table6"]["fitted_beta"]}


@pytest.mark.parametrize("statement", [claims.ordinal_methods_are_superior, claims.osvm_never_loses])
def test_a_claim_on_every_set_fails_where_one_set_in_the_middle_denies_it(statement):
    better, worse = (-0.3, -0.2, -0.1), (0.1, 0.2, 0.3)
    pairs = (("oSVM", "Conventional"), ("Frank and Hall", "Conventional"), ("oSVM", "Frank and Hall"))
    rows = [
        ("0.75", name, *pair, mean, low, high)
        for name, (low, mean, high) in (("SWD", better), ("LEV", worse), ("ESL", better))
        for pair in pairs
    ]
    frame = pd.DataFrame(rows, columns=["β", "set", "method", "less", "difference", "low", "high"])
    (found,) = try_claims([statement], claims.list_splits(frame))
    assert found.answer.truth is Truth.NO
    assert "LEV: " in found.figures


@trained
@pytest.mark.parametrize("name", ["FrankHall", "DataReplication"])
def test_the_estimators_pass_scikit_learns_checks(name):
    from sklearn.utils.estimator_checks import check_estimator

    estimator = {"FrankHall": FrankHall, "DataReplication": DataReplication}[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a check skips, it says in a warning
        check_estimator(estimator)


@trained
@pytest.mark.parametrize("name", ["FrankHall", "DataReplication"])
def test_ordered_classes_on_a_line_are_told_apart_and_keep_their_labels(name):
    x = np.linspace(0, 1, 60)[:, None]
    classes = np.array(["a-low", "b-middle", "c-high"])[(x[:, 0] > 0.3).astype(int) + (x[:, 0] > 0.7)]
    from sklearn.svm import SVC

    machine = SVC(kernel="linear", C=1e4)
    model = {"FrankHall": FrankHall, "DataReplication": DataReplication}[name](machine)
    assert (model.fit(x, classes).predict(x) == classes).all()


@trained
def test_data_replication_has_parallel_borders_in_the_order_of_classes():
    from sklearn.svm import SVC

    rng = np.random.default_rng(0)
    x = rng.random((300, 3))
    y = np.digitize(x @ [1.0, 2.0, -1.0] + rng.normal(0, 0.1, 300), [0.2, 0.8, 1.4])
    model = DataReplication(SVC(kernel="linear", C=10)).fit(x, y)
    # One direction for all borders, and a shift for each that only the extra features make.
    weights = model.estimator_.coef_[0]
    shifts = np.array([0.0, *weights[3:]])
    assert (np.diff(shifts) < 0).all()
    decided = x @ weights[:3] + model.estimator_.intercept_[0]
    np.testing.assert_array_equal(model.predict(x), (decided[:, None] + shifts > 0).sum(axis=1))
    assert (model.predict(x) == y).mean() > 0.8


@trained
def test_data_replication_with_s_1_looks_at_the_two_classes_next_to_a_border_only():
    seen = []

    class Recorder:
        def __init__(self):
            from sklearn.svm import SVC

            self.model = SVC(kernel="linear")

        def fit(self, X, y):
            seen.append((X, y))
            self.model.fit(X, y)
            return self

        def predict(self, X):
            return self.model.predict(X)

        def get_params(self, deep=True):
            return {}

        def set_params(self, **params):
            return self

    x, y = np.arange(8.0)[:, None], np.repeat([0, 1, 2, 3], 2)
    DataReplication(Recorder(), s=1).fit(x, y)
    ((replicas, labels),) = seen
    assert replicas.shape == (3 * 4, 1 + 2)
    np.testing.assert_array_equal(labels, [False, False, True, True] * 3)
    np.testing.assert_array_equal(replicas[:, 1:].sum(axis=1), [0] * 4 + [1] * 8)
    for wrong in ({"h": 0}, {"s": 0}):
        with pytest.raises(ValueError, match="replicas|border"):
            DataReplication(Recorder(), **wrong).fit(x, y)


@pytest.fixture
def short(monkeypatch):
    if not EXTRA:
        pytest.skip("scikit-learn is not here")
    monkeypatch.setitem(repetitions.SETTINGS, "costs", [0.1, 1.0])


@trained
def test_finished_repetitions_are_not_done_again_and_damaged_ones_are(short, tmp_path, monkeypatch):
    first = repetitions.repetitions("balance", 2, seed=0, root=tmp_path)
    kept = sorted(repetitions.find_folder(0, tmp_path).iterdir())
    assert [path.name for path in kept] == ["balance-0.json", "balance-1.json"]
    done = []
    real = repetitions.repeat_once

    def counted(name, repetition, seed):
        done.append(repetition)
        return real(name, repetition, seed)

    monkeypatch.setattr(repetitions, "repeat_once", counted)
    kept[1].write_text('{"oSVM": [')  # as if power had failed
    again = repetitions.repetitions("balance", 3, seed=0, root=tmp_path)
    assert done == [1, 2]
    assert again[:2] == first


@trained
def test_a_repetition_tests_on_the_other_items_and_all_methods_on_the_same(short):
    found = repetitions.repeat_once("balance", 0, 0)
    gold = {tuple(np.sum(one["counts"], axis=1)) for each in found.values() for one in each}
    assert len(gold) == 1
    assert sum(gold.pop()) == round(0.6 * 625)
    assert found == repetitions.repeat_once("balance", 0, 0)
    assert found != repetitions.repeat_once("balance", 1, 0)
    assert json.loads(json.dumps(found)) == found


@trained
def test_other_settings_are_kept_elsewhere(short, tmp_path):
    here = repetitions.find_folder(0, tmp_path)
    assert repetitions.find_folder(1, tmp_path) != here
    repetitions.SETTINGS["costs"].append(100.0)
    assert repetitions.find_folder(0, tmp_path) != here


def done_with(oSVM, frank_hall, conventional, n=20):
    """Repetitions in which each method has so many of 100 items right, give or take a few."""
    rng = np.random.default_rng(0)

    def one(right, wobble):
        counts = [[right + wobble, 100 - right - wobble, 0], [0, 0, 0], [0, 0, 0]]
        return [{"beta": beta, "parameter": 1.0, "counts": counts} for beta in (0.25, 0.75)]

    rows = []
    for wobble in rng.integers(-3, 4, n):
        each = rng.integers(0, 2, 3)
        names = ("oSVM", "Frank and Hall", "Conventional")
        rights = (oSVM, frank_hall, conventional)
        rows.append({m: one(r, int(wobble + e)) for m, r, e in zip(names, rights, each, strict=True)})
    return rows


@trained
def test_a_method_that_is_worse_on_all_splits_is_named():
    found = {"swd": done_with(80, 60, 70)}
    table = classifiers.compare_methods(found, classifiers.PAIRS, [0.25, 0.75], 0)
    sentence = classifiers.describe_methods(table.frame)
    frame = table.frame.reset_index().set_index(["β", "method", "less"])
    assert frame.loc[("0.75", "oSVM", "Conventional"), "high"].item() < 0
    assert frame.loc[("0.75", "Frank and Hall", "Conventional"), "low"].item() > 0
    assert frame.loc[("0.75", "oSVM", "Frank and Hall"), "high"].item() < 0
    assert "2 are significantly better and 2 significantly worse" in sentence
    assert "Frank and Hall on SWD" in sentence


@trained
def test_intervals_have_the_corrected_variance():
    found = {"swd": done_with(80, 60, 70)}
    row = classifiers.compare_methods(found, [("oSVM", "Conventional")], [0.75], 0).frame.iloc[0]
    gaps = classifiers.indices(found["swd"], "oSVM", 0.75) - classifiers.indices(found["swd"], "Conventional", 0.75)
    error = math.sqrt((1 / len(gaps) + 0.6 / 0.4) * gaps.var(ddof=1))
    assert row["standard error"] == pytest.approx(error)
    assert row["high"] - row["low"] == pytest.approx(2 * 2.093 * error, rel=1e-3)  # t of 19 degrees of freedom


@trained
def test_a_random_number_is_never_called_exact_and_matches_within_both_standard_errors():
    cells = classifiers.compare_table6({"swd": done_with(80, 60, 70)}, 0.75)
    assert {one.verdict for one in cells} <= {"matches", "differs", "unavailable"}
    values = classifiers.indices(done_with(80, 60, 70), "oSVM", 0.75)
    error = math.sqrt(values.var(ddof=1) / 20 + 0.02**2 / 50)  # SWD, oSVM: printed 0.49 (0.02)
    (first,) = [one for one in cells if one.row == "SWD" and one.column == "oSVM"]
    assert first.tolerance == pytest.approx(0.005 + 2 * error)


@trained
def test_table_6_holds_means_over_splits_and_says_what_is_unavailable():
    found = {"swd": done_with(80, 60, 70)}
    frame = classifiers.tabulate_table6(found, 0.75, 0).frame
    wanted = [float(OCI(np.array(each["oSVM"][1]["counts"]), beta=0.75)) for each in found["swd"]]
    assert frame.loc["SWD", ("oSVM", "mean")] == pytest.approx(np.mean(wanted))
    assert np.isnan(frame.loc["BCCT", ("oSVM", "mean")])
    verdicts = {(one.row, one.verdict) for one in classifiers.compare_table6(found, 0.75)}
    assert ("BCCT", "unavailable") in verdicts
    assert ("SWD", "unavailable") not in verdicts


@trained
def test_a_small_study_has_all_tables_and_says_what_can_be_concluded(short, monkeypatch, tmp_path):
    for key, value in {"decays": [0.1], "repetitions": 2, "sets": {"balance": "balance_scale"}}.items():
        monkeypatch.setitem(repetitions.SETTINGS, key, value)
        monkeypatch.setitem(steps.SETTINGS, key, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    outcome = steps.compute_trained(Settings(full=True, say=lambda line: None))
    assert outcome.is_whole
    by_split = {"table6-beta0.25", "table6-beta0.75", "table6-which-beta", "table6-differences", "synthetic"}
    by_split.add("synthetic-differences")
    assert set(outcome.tables) == {*by_split, "model-sizes"}
    assert all("2 splits" in outcome.tables[name].signature for name in by_split)
    assert list(outcome.tables["synthetic"].frame.index) == ["oSVM", "oNN", "Frank and Hall"]
    assert "significantly worse" in classifiers.describe_methods(outcome.tables["table6-differences"].frame)
    assert "nearer to β" in classifiers.describe_betas(outcome.tables["table6-which-beta"].frame)
    assert sum(one.verdict == "unavailable" for one in outcome.cells) == 4 * 6  # four sets of five


@trained
def test_without_full_few_repetitions_are_made_and_said_unless_all_are_kept(short, monkeypatch, tmp_path):
    asked = []

    def recorded(name, n, **_):
        asked.append((name, n))
        return done_with(80, 60, 70, n)

    monkeypatch.setattr(repetitions, "repetitions", recorded)
    monkeypatch.setattr(repetitions, "count_kept", lambda names, n, seed: 49)
    few = steps.compute_trained(Settings(say=lambda line: None))
    assert asked == [(name, 2) for name in ("swd", "lev", "esl", "balance")]
    assert few.reduced == "2 of 50 repetitions on 4 of 6 sets"
    assert "synthetic" not in few.tables


@trained
def test_kept_repetitions_are_counted_without_gaps(short, tmp_path):
    repetitions.repetitions("balance", 2, seed=0, root=tmp_path)
    assert repetitions.count_kept(["balance"], 2, seed=0, root=tmp_path) == 2
    assert repetitions.count_kept(["balance"], 3, seed=0, root=tmp_path) == 2
    assert repetitions.count_kept(["balance", "swd"], 2, seed=0, root=tmp_path) == 0


def test_the_committed_means_of_table_6_tell_one_beta_from_the_other():
    """The printed means are nearer to those with 0.75 / (N (K − 1)), in every cell that can be computed."""
    if not (COMMITTED / "skordinal").is_dir():
        pytest.skip("the committed results are not here")
    fit = pd.read_csv(COMMITTED / "skordinal" / "table6-which-beta.csv", index_col=0)
    assert fit["root mean square"].idxmin() == STUDY["table6"]["fitted_beta"]
    assert fit.loc[0.75, "root mean square"] < 0.5 * fit.loc[0.25, "root mean square"]
    kept = pd.read_csv(COMMITTED / "skordinal" / "comparison.csv")
    assert set(kept.loc[kept["row"] == "BCCT", "verdict"]) == {"unavailable"}
    assert set(kept.loc[kept["item"] == "Table 6", "verdict"]) == {"matches", "differs", "unavailable"}


def test_without_the_packages_what_needs_no_data_is_there_and_the_rest_is_explained(monkeypatch, in_print):
    def missing(name):
        raise DatasetError("the ordinal sets need scikit-learn and skordinal")

    monkeypatch.setattr(steps, "ordinal_set", missing)
    monkeypatch.setattr(steps, "compute_print", lambda settings: replace(in_print, notes=[]))
    together, only = steps.run(Settings(say=lambda line: None))
    assert only.source == "print"
    assert together.lacks == ["all repetitions of Algorithm 1"]
    assert "the ordinal sets need scikit-learn and skordinal" in only.notes[-1]


def test_every_printed_row_of_table_6_has_three_methods():
    assert all(len(row) == 3 for row in PRINTED["table6"].values())
    assert set(PRINTED["table6"]) <= set(STUDY["table6"]["shown"])
    assert set(matrices.CAPTIONS) < set(PRINTED)


def test_a_coefficient_that_is_0_by_0_is_not_perfect():
    """Of one item r_int is 0/0 and 1 by convention: 2 matrices of two classes, 6 of three, 12 of four are off the diagonal."""
    by_convention = [
        int((enumeration.score_quietly("r_int", counts) == 1).sum() - np.trace(counts, axis1=1, axis2=2).sum())
        for counts in (enumeration.list_matrices(k, 1) for k in (2, 3, 4))
    ]
    assert by_convention == [2, 6, 12]
    for k in (2, 3, 4):
        assert np.isnan(enumeration.score_defined("r_int", enumeration.list_matrices(k, 1))).all()
