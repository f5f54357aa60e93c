"""A measure looks the same in every figure."""

import matplotlib as mpl

from metaeval.show.style import choose_looks, choose_markers, house_style


def test_a_measure_keeps_its_look_whatever_stands_beside_it():
    alone, together = choose_looks(["NMD"]), choose_looks(["RNOD", "NMD", "mine"])
    assert alone["NMD"] == together["NMD"]
    assert choose_looks(["mine", "RNOD", "NMD"])["mine"] == together["mine"]


def test_a_measure_of_ones_own_gets_a_colour_that_is_free():
    for name in ("mine", "chebyshev", "other", "x", "y", "z"):
        found = choose_looks(["NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD", name])
        assert found[name]["color"] not in {look["color"] for other, look in found.items() if other != name}


def test_the_papers_measures_are_all_told_apart():
    for names in (
        ["NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD", "RNADW"],
        ["kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR"],
    ):
        found = choose_looks(names)
        assert len({look["color"] for look in found.values()}) == len(names)
        assert len({look["marker"] for look in found.values()}) == len(names)


def test_many_own_measures_are_told_apart_too():
    names = [f"own{number}" for number in range(30)]
    found = choose_looks(names)
    assert len({(look["color"], look["linestyle"]) for look in found.values()}) == 30


def test_the_users_own_settings_come_back():
    before = dict(mpl.rcParams)
    with house_style():
        assert mpl.rcParams["font.size"] == 9
    assert dict(mpl.rcParams) == before


def test_markers_are_few():
    import numpy as np

    assert len(choose_markers(np.arange(100), 3)) <= 5
    assert choose_markers(np.arange(0), 3) == []
