"""The search for counterexamples: what it enumerates, what it finds, and the command."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest

import metaeval
from metaeval.analyses.properties import IMBALANCE, INVARIANCE, MONOTONICITY, PROPERTIES
from metaeval.stats.ordinal_cases import all_matrices, misplaced_in_the_middle, one_step_closer, stretched

QUICK = {"n_random": 40}


def verdicts(name, **options):
    found = metaeval.properties([name], **{**QUICK, **options})
    return {one.property: one for one in found.verdicts}


@pytest.mark.parametrize(("n_items", "n_classes"), [(1, 2), (3, 2), (2, 3), (5, 4)])
def test_every_confusion_matrix_is_tried_once(n_items, n_classes):
    matrices = all_matrices(n_items, n_classes)
    assert len(matrices) == math.comb(n_items + n_classes**2 - 1, n_items)
    assert len(np.unique(matrices.reshape(len(matrices), -1), axis=0)) == len(matrices)
    assert (matrices.sum(axis=(1, 2)) == n_items).all()


def test_the_steps_are_those_of_a_loop_over_items():
    far, near = one_step_closer(all_matrices(2, 3))
    found = {(a.tobytes(), b.tobytes()) for a, b in zip(far, near, strict=True)}
    expected = set()
    for labels in itertools.product(range(3), repeat=4):
        gold, run = labels[:2], list(labels[2:])
        for item, (g, p) in enumerate(zip(gold, run, strict=True)):
            if p != g:
                better = run.copy()
                better[item] += 1 if p < g else -1
                pair = []
                for predicted in (run, better):
                    counts = np.zeros((3, 3), dtype=np.int64)
                    np.add.at(counts, (list(gold), predicted), 1)
                    pair.append(counts.tobytes())
                expected.add(tuple(pair))
    assert found == expected


def test_stretching_keeps_the_order_of_the_classes_in_use():
    before, after = stretched(all_matrices(3, 4))
    assert len(before)
    for one, two in zip(before, after, strict=True):
        used = (two.sum(axis=0) > 0) | (two.sum(axis=1) > 0)
        n = used.sum()
        np.testing.assert_array_equal(one[:n, :n], two[np.ix_(used, used)])
        assert one.sum() == two.sum() == one[:n, :n].sum()


def test_imbalance_compares_one_mistake_of_a_larger_with_one_of_a_smaller_class_around_a_middle():
    for large, small in zip(*misplaced_in_the_middle(np.array([[3, 1, 2, 2], [1, 4, 1, 5]])), strict=True):
        (one,), (three,) = (np.flatnonzero(counts.sum(axis=1) != np.diagonal(counts)) for counts in (large, small))
        assert large.sum(axis=1).tolist() == small.sum(axis=1).tolist()
        assert large.sum(axis=1)[one] > large.sum(axis=1)[three]
        assert abs(one - three) == 2
        assert large[one, (one + three) // 2] == small[three, (one + three) // 2] == 1


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("Accuracy", (True, False, False)),
        ("MAAC", (True, False, True)),
        ("F1_M", (True, False, True)),
        ("MAE_mu", (False, True, False)),
        ("MAE_M", (False, True, True)),
        ("MSE_M", (False, True, True)),
        ("tau_a", (True, False, False)),
        ("Pearson", (False, False, False)),
        ("CEM(scale=NOM)", (True, False, True)),
        ("CEM_ORD", (True, True, True)),
    ],
)
def test_measures_have_the_properties_that_table_2_marks(name, holds):
    found = verdicts(name)
    assert tuple(found[one].holds for one in PROPERTIES) == holds


def test_counterexamples_are_the_smallest_and_break_the_property():
    found = verdicts("MAE_mu")[INVARIANCE]
    before, after = found.counterexample
    assert before.sum() == after.sum() == 1
    assert found.scores == (1.0, 2.0)
    found = verdicts("MI")[MONOTONICITY]
    far, near = found.counterexample
    measure = metaeval.measure("MI")
    assert measure.score(far) >= measure.score(near)
    assert far.sum() == 2


def test_empty_gold_classes_take_monotonicity_from_cem_ord_as_the_paper_says():
    assert verdicts("CEM_ORD")[MONOTONICITY].holds
    lost = verdicts("CEM_ORD", empty_classes=True)[MONOTONICITY]
    assert not lost.holds
    assert (lost.counterexample[0].sum(axis=1) == 0).any()
    assert verdicts("MAE_M", empty_classes=True)[MONOTONICITY].holds


def test_rank_correlations_see_imbalance_the_other_way_round():
    """Table 2 marks τ_b, Spearman and Reliability & Sensitivity; Property 3 as printed fails in every case."""
    gold = np.array([[3, 2, 2], [2, 1, 1], [5, 3, 1], [4, 1, 3]])
    large, small = misplaced_in_the_middle(gold)
    for name in ("tau_b", "R_s", "Reliability_Sensitivity"):
        measure = metaeval.measure(name)
        assert (measure.evaluate(large)[0] < measure.evaluate(small)[0]).all()
    for name in ("tau_a", "MI", "Purity"):
        measure = metaeval.measure(name)
        np.testing.assert_allclose(measure.evaluate(large)[0], measure.evaluate(small)[0], atol=1e-12)


def test_a_users_own_measure_is_searched_too(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import metaeval\n\n"
        "@metaeval.classification_measure(higher_is_better=False, range=(0, 1), source='mine')\n"
        "def ends(counts):\n"
        '    """How many items end up at the wrong end?"""\n'
        "    return (counts[..., 0, -1] + counts[..., -1, 0]) / counts.sum(axis=(-2, -1))\n"
    )
    command = [sys.executable, "-m", "metaeval", "properties", f"{file}:ends", "CEM_ORD", "--random", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "CEM_ORD" in done.stdout
    assert "✓" in done.stdout
    assert "ends, ordinal monotonicity: ✗ [[" in done.stdout
    assert "should be worse than" in done.stdout


@pytest.mark.parametrize("wanted", ["NMD", "nonsense"])
def test_what_is_no_measure_of_classification_is_refused_in_a_sentence(wanted):
    done = subprocess.run(
        [sys.executable, "-m", "metaeval", "properties", wanted], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("metaeval: ")
    assert "Traceback" not in done.stderr


def test_a_measure_that_breaks_says_so(tmp_path):
    @metaeval.classification_measure(higher_is_better=True, range=(0, 1), name="broken_here", source="here")
    def broken(counts):
        """Does this ever work?"""
        raise ValueError("never")

    try:
        with pytest.raises(metaeval.MeasureError, match="broken_here cannot be computed: ValueError: never"):
            metaeval.properties("broken_here")
    finally:
        from metaeval.measures import registry

        registry._MEASURES.pop("broken_here")


def test_a_score_that_is_not_a_number_satisfies_nothing():
    undefined = metaeval.Measure(
        "nothing", True, kind="classification", formula=lambda counts: np.full(counts.shape[:-2], np.nan)
    )
    found = metaeval.properties([undefined], **QUICK)
    assert not found.holds().any()


def test_the_same_cases_whatever_the_measures_and_the_same_seed():
    alone = metaeval.properties(["CEM_ORD"], **QUICK)
    among = metaeval.properties(["Accuracy", "CEM_ORD"], **QUICK)
    assert [one.cases for one in alone.verdicts] == [one.cases for one in among.verdicts[3:]]


def test_results_show_themselves():
    found = metaeval.properties(["CEM_ORD", "Accuracy"], **QUICK)
    text = found.to_text()
    assert str(found.signature) in text
    assert "✗" in text
    assert (
        found.to_frame().set_index(["measure", "property"]).loc[("Accuracy", IMBALANCE), "first"]
        == "[[1,1,0],[0,1,0],[0,0,1]]"
    )
    assert found.plot() is not None
