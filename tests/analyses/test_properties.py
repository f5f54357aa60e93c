"""The search for counterexamples: what it enumerates, what it finds, and the command."""

import itertools
import math
import re

import numpy as np
import pytest

import metaeval
from metaeval.analyses import properties as known
from metaeval.measures import properties as cases

QUICK = {"n_random": 40}


def checks(name, **options):
    found = metaeval.properties([name], **{**QUICK, **options})
    return {one.property.name: one for one in found.checks}


@pytest.mark.parametrize(("n_items", "n_classes"), [(1, 2), (3, 2), (2, 3), (5, 4)])
def test_every_confusion_matrix_is_tried_once(n_items, n_classes):
    matrices = cases.all_matrices(n_items, n_classes)
    assert len(matrices) == math.comb(n_items + n_classes**2 - 1, n_items)
    assert len(np.unique(matrices.reshape(len(matrices), -1), axis=0)) == len(matrices)
    assert (matrices.sum(axis=(1, 2)) == n_items).all()


def test_the_steps_are_those_of_a_loop_over_items():
    def count(gold, predicted):
        counts = np.zeros((3, 3), dtype=np.int64)
        np.add.at(counts, (list(gold), list(predicted)), 1)
        return counts.tobytes()

    expected = set()
    for labels in itertools.product(range(3), repeat=4):
        gold, run = labels[:2], list(labels[2:])
        for item, (g, p) in enumerate(zip(gold, run, strict=True)):
            if p != g:
                better = run.copy()
                better[item] += 1 if p < g else -1
                expected.add((count(gold, run), count(gold, better)))
    far, near = cases.one_step_closer(cases.all_matrices(2, 3))
    assert {(a.tobytes(), b.tobytes()) for a, b in zip(far, near, strict=True)} == expected


def test_stretching_keeps_the_order_of_the_classes_in_use():
    before, after = cases.stretch_scale(cases.all_matrices(3, 4))
    assert len(before)
    for one, two in zip(before, after, strict=True):
        used = (two.sum(axis=0) > 0) | (two.sum(axis=1) > 0)
        n = used.sum()
        np.testing.assert_array_equal(one[:n, :n], two[np.ix_(used, used)])
        assert one.sum() == two.sum() == one[:n, :n].sum()


def test_imbalance_compares_one_mistake_of_a_larger_with_one_of_a_smaller_class_around_a_middle():
    for large, small in zip(*cases.misplaced_in_the_middle(np.array([[3, 1, 2, 2], [1, 4, 1, 5]])), strict=True):
        (one,), (three,) = (np.flatnonzero(counts.sum(axis=1) != np.diagonal(counts)) for counts in (large, small))
        sizes = large.sum(axis=1)
        assert sizes.tolist() == small.sum(axis=1).tolist()
        assert sizes[one] > sizes[three]
        assert abs(one - three) == 2
        assert large[one, (one + three) // 2] == small[three, (one + three) // 2] == 1


def test_swaps_constant_runs_and_single_mistakes_are_made_as_stated():
    given, swapped = cases.swap_roles(cases.all_matrices(3, 2))  # once, and never where it changes nothing
    np.testing.assert_array_equal(given.swapaxes(1, 2), swapped)
    assert len({frozenset((a.tobytes(), b.tobytes())) for a, b in zip(given, swapped, strict=True)}) == len(given)
    assert sum((one != one.T).any() for one in cases.all_matrices(3, 2)) == 2 * len(given)

    constant = cases.make_constant_runs(np.array([[3, 1, 2], [2, 2, 2]]))  # of golds that are not even
    assert constant.shape == (1, 3, 3, 3)
    for p, counts in enumerate(constant[0]):
        assert counts.sum(axis=1).tolist() == [3, 1, 2]
        assert np.flatnonzero(counts.sum(axis=0)).tolist() == [p]

    near, far = cases.make_one_mistake(np.array([[1, 2, 1, 3]]))  # two classes on the same side
    assert len(near) == 8
    for one, two in zip(near, far, strict=True):
        (g,) = np.flatnonzero(one.sum(axis=1) != np.diagonal(one))
        (nearer,), (farther,) = (np.flatnonzero(counts[g] * (np.arange(4) != g)) for counts in (one, two))
        assert abs(farther - g) > abs(nearer - g)
        assert (farther - g) * (nearer - g) > 0

    gold = cases.draw_majority_gold(np.random.default_rng(0), 50, 5)
    assert gold.shape == (50, 5, 5)
    assert (gold[:, np.arange(5), np.arange(5)] >= 0.55).all()
    assert (gold > 0).all()
    np.testing.assert_allclose(gold.sum(axis=-1), 1)


MARKED = {  # in the order of the properties: 1 where the table marks the measure
    "Amigó et al. 2020, Table 2": (
        known.PROPERTIES,
        {
            "Accuracy": (1, 0, 0), "MAAC": (1, 0, 1), "F1_M": (1, 0, 1), "MAE_mu": (0, 1, 0), "MAE_M": (0, 1, 1),
            "MSE_M": (0, 1, 1), "tau_a": (1, 0, 0), "Pearson": (0, 0, 0), "CEM(scale=NOM)": (1, 0, 1), "CEM_ORD": (1, 1, 1),
        },
    ),
    "ACL 2021, Table 4: I, order of classes; II, constant runs": (
        (known.ORDINAL, known.CONSTANT),
        {
            "kappa": (1, 0), "alpha_ORD": (1, 1), "alpha_INT": (1, 1), "CEM_ORD": (1, 1), "MAE_M": (1, 1),
            "F1_M": (0, 1), "HMPR": (0, 1), "MAE_mu": (1, 1), "Accuracy": (0, 1),
        },
    ),
    "ACL 2021, Table 7: I, order of classes; II, symmetric": (
        (known.ORDINAL, known.SYMMETRIC),
        {"NMD": (1, 1), "RSNOD": (1, 1), "RNOD": (1, 0), "NVD": (0, 1), "RNSS": (0, 1), "JSD": (0, 1)},
    ),
    "RNOD knows the order where gold is in one class only, NMD wherever it is": (
        (known.ORDINAL, known.ORDINAL_MIXED),
        {"RNOD": (1, 0), "NMD": (1, 1)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("table", MARKED)
def test_printed_tables_are_reproduced_by_trying(table):
    names, marks = MARKED[table]
    found = metaeval.properties(list(marks), only=names, **QUICK)
    assert set(found.names) == set(names)
    order = [found.names.index(name) for name in names]
    assert dict(zip(marks, map(tuple, found.holds()[:, order].astype(int).tolist()), strict=True)) == marks


def test_declared_symmetries_hold():
    declared = [one for one in metaeval.measures.measures() if one.symmetric]
    assert metaeval.properties(declared, only=[known.SYMMETRIC], n_random=20).holds().all()


def test_counterexamples_are_the_smallest_and_break_the_property():
    """MAE^M averages over gold classes: one item off in a class of three weighs 1/3, in a class of one 1."""
    found = checks("MAE_mu")[known.INVARIANCE]
    assert [counts[0].sum() for counts in found.counterexample] == [1, 1]
    assert found.scores == (1.0, 2.0)
    (far,), (near,) = checks("MI")[known.MONOTONICITY].counterexample
    measure = metaeval.measure("MI")
    assert measure.score(far) >= measure.score(near)
    assert far.sum() == 2
    check = checks("MAE_M")[known.SYMMETRIC]
    assert [one[0].tolist() for one in check.counterexample] == [[[2, 1], [0, 0]], [[2, 0], [1, 0]]]
    assert check.scores == (pytest.approx(1 / 3), pytest.approx(1 / 2))


def test_empty_gold_classes_take_monotonicity_from_cem_ord_as_the_paper_says():
    lost = checks("CEM_ORD", empty_classes=True)[known.MONOTONICITY]
    assert not lost.holds
    assert (lost.counterexample[0][0].sum(axis=1) == 0).any()
    assert checks("MAE_M", empty_classes=True)[known.MONOTONICITY].holds


def test_rank_correlations_see_imbalance_the_other_way_round():
    """Table 2 marks τ_b, Spearman and Reliability & Sensitivity; Property 3 as printed fails in every case."""
    large, small = cases.misplaced_in_the_middle(np.array([[3, 2, 2], [2, 1, 1], [5, 3, 1], [4, 1, 3]]))
    for name in ("tau_b", "R_s", "Reliability_Sensitivity"):
        measure = metaeval.measure(name)
        assert (measure.evaluate(large)[0] < measure.evaluate(small)[0]).all()
    for name in ("tau_a", "MI", "Purity"):
        measure = metaeval.measure(name)
        np.testing.assert_allclose(measure.evaluate(large)[0], measure.evaluate(small)[0], atol=1e-12)


@pytest.mark.parametrize("name", ["kappa", "alpha_INT"])
def test_imbalance_is_failed_in_some_cases_where_a_single_matrix_shows_none(name):
    check = checks(name)[known.IMBALANCE]
    assert 0 < check.failed < check.cases
    assert check.mark == f"✗ ({check.failed:,} of {check.cases:,})"
    measure = metaeval.measure(name)
    large, small = (measure.score(*one) for one in check.counterexample)
    assert (large, small) == check.scores
    assert large <= small
    counts = np.array([[[8, 0, 0], [1, 39, 0], [0, 0, 8]], [[7, 1, 0], [0, 40, 0], [0, 0, 8]]])
    assert measure.score(counts[0]) > measure.score(counts[1])


def test_a_users_own_measure_is_searched_too():
    def ends(counts):
        return (counts[..., 0, -1] + counts[..., -1, 0]) / counts.sum(axis=(-2, -1))

    own = metaeval.Measure("ends", False, kind="classification", formula=ends)
    found = metaeval.properties([own, "CEM_ORD"], n_random=20)
    assert found.answer().startswith("2 of 2 measures fail a property: ends (")
    for part in ("CEM_ORD", "✓", "Counterexamples, the smallest that were found", "should score worse than"):
        assert part in "".join(table.to_text() for table in found.at("all"))


def test_a_measure_that_breaks_says_so_and_a_score_that_is_not_a_number_satisfies_nothing():
    def fail(counts):
        raise ValueError("never")

    def give_nothing(counts):
        return np.full(counts.shape[:-2], np.nan)

    broken, undefined = (metaeval.Measure("own", True, kind="classification", formula=f) for f in (fail, give_nothing))
    with pytest.raises(metaeval.MeasureError, match="own cannot be computed: ValueError: never"):
        metaeval.properties([broken])
    assert not metaeval.properties([undefined], **QUICK).holds().any()


def test_the_same_cases_whatever_the_measures_and_pages_show_counterexamples():
    alone, among = (metaeval.properties(names, **QUICK) for names in (["CEM_ORD"], ["Accuracy", "NMD", "CEM_ORD"]))
    of_cem = [one for one in among.checks if str(one.measure) == "CEM_ORD"]
    assert [(one.cases, one.failed) for one in alone.checks] == [(one.cases, one.failed) for one in of_cem]
    row = among.to_frame().set_index(["measure", "property"]).loc[("Accuracy", known.IMBALANCE)]
    assert row["first"] == "[[1,1,0],[0,1,0],[0,0,1]]"
    assert row["failed"] == row["cases"]
    assert len(among.at("all")[1].frame) == sum(one.holds is False for one in among.checks)


def test_marks_of_both_kinds_stand_in_one_table_and_what_is_of_the_other_kind_is_a_dash():
    found = metaeval.properties(["kappa", "NMD", metaeval.Measure("AP", True)], n_random=0)
    table = found.to_table().frame
    assert (table.loc["kappa", known.ORDINAL_MIXED], table.loc["NMD", known.IMBALANCE]) == ("–", "–")
    assert set(table.loc["AP"]) == {"–"}
    assert table.loc["NMD", known.SYMMETRIC].startswith("✓ (")
    assert found.get_check("AP", known.SYMMETRIC).evidence == "only scores are known"
    assert found.get_check("AP", known.SYMMETRIC).holds is None
    assert found.get_check("NMD", known.IMBALANCE) is None
    assert found.plot() is not None
    assert {row["holds"] for row in found.to_dict()["rows"] if row["measure"] == "AP"} == {None}


def test_every_property_says_what_it_is_in_one_sentence_and_one_that_is_not_there_is_named():
    assert all(re.fullmatch(r"((?!\. ).)*\.", one.description) for one in cases.find_properties())
    with pytest.raises(metaeval.MetaevalError, match="there is no property 'order': choose among ordinal, "):
        metaeval.properties("NMD", only=["order"])
    with pytest.raises(metaeval.MetaevalError, match="none of these properties is one of quantification measures"):
        metaeval.properties("NMD", only=[known.IMBALANCE])


def test_many_random_cases_are_made_a_few_at_a_time():
    few, many = (checks("NMD", n_random=n)[known.ORDINAL_MIXED].cases for n in (1, 1200))
    assert many - 140 == 1200 * (few - 140)
