"""Examples that the papers work out by hand, with the digits that are printed."""

import numpy as np
import pytest

import metaeval
from metaeval.measures.quantification import distance_weighted_squares, order_aware_divergence

UNIFORM = [0.25, 0.25, 0.25, 0.25]
SYSTEMS = {
    # LQ 2021, §3: estimates beside a uniform gold distribution; DW of every class (Eq. 3), and OD (Eq. 2)
    "A": ([0.25, 0.35, 0.15, 0.25], ["0.03", "0.01", "0.01", "0.03"], "0.020"),
    "B": ([0.25, 0.25, 0.35, 0.15], ["0.05", "0.03", "0.01", "0.01"], "0.025"),
}


def prints_as(value, text):
    return abs(value - float(text)) <= 0.5 * 10.0 ** -len(text.partition(".")[2]) + 1e-9


@pytest.mark.parametrize(
    ("counts", "text"),
    [  # Cardoso and Sousa 2011, Table 1: gold classes in rows
        ([[0, 4, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0], [0, 0, 0, 3]], "0.77"),
        ([[0, 0, 4, 0], [0, 0, 6, 0], [0, 0, 0, 0], [0, 0, 0, 3]], "1.08"),
        ([[0, 4, 0, 0], [6, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3]], "0.77"),
    ],
)
def test_mean_absolute_errors_are_those_of_print(counts, text):
    assert prints_as(float(metaeval.measure("MAE_mu").score(counts)), text)


@pytest.mark.parametrize("system", SYSTEMS)
def test_distance_weighted_squares_and_divergences_are_those_of_print(system):
    estimated, squares, divergence = SYSTEMS[system]
    found = distance_weighted_squares(np.array(estimated), np.array(UNIFORM))
    assert all(prints_as(value, text) for value, text in zip(found, squares, strict=True))
    assert prints_as(float(order_aware_divergence(np.array(estimated), np.array(UNIFORM))), divergence)


def test_both_systems_are_considered_equally_effective_in_terms_of_nmd():
    first, second = (metaeval.measure("NMD").score(np.array(one), np.array(UNIFORM)) for one, *_ in SYSTEMS.values())
    assert first == pytest.approx(second)
