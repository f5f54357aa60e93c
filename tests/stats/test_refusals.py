"""What cannot be computed is refused with a sentence that says why; what researchers call shows an example."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from metaeval.errors import MetaevalError
from metaeval.stats.pair_tests import all_pairs_test
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.rank_correlation import tau
from metaeval.stats.split_half import split_half_tau
from metaeval.stats.weighted_correlation import correlate, parse_rank_correlation

VALUES = np.random.default_rng(0).random((4, 10, 2))
NOT_A_NUMBER = np.where(VALUES[1, 2, 0] == VALUES, np.nan, VALUES)
TWO = [1, 2]
ACCOUNTED = "already accounts for all pairs"
KEY = {"key": 1, "n_permutations": 10}
REFUSED = [
    (randomised_tukey_hsd, [NOT_A_NUMBER], KEY, "run 1 on topic 2 by measure 0 is nan"),
    (all_pairs_test, [VALUES], KEY | {"correction": "holm"}, ACCOUNTED),
    (all_pairs_test, [VALUES], KEY | {"test": "tukey-hsd", "correction": "bonferroni"}, ACCOUNTED),
    (all_pairs_test, [VALUES], KEY | {"test": "bootstrap-t", "correction": "holm"}, ACCOUNTED),
    (all_pairs_test, [VALUES], KEY | {"test": "max-t", "variance_offset": 0.0}, "variance_offset is for bootstrap-t"),
    (all_pairs_test, [VALUES], KEY | {"test": "bootstrap-t", "variance_offset": -1.0}, "at least 0"),
    (all_pairs_test, [VALUES], KEY | {"test": "bootstrap-t", "variance_offset": float("nan")}, "at least 0"),
    (split_half_tau, [VALUES], {"key": 1, "size": 6}, "between 1 and 5"),
    (split_half_tau, [VALUES], {"key": 1, "size": 0}, "between 1 and 5"),
    (tau, [[1, np.nan], TWO], {}, "finite"),
    (tau, [TWO, TWO], {"tolerance": -1}, "negative"),
    (tau, [TWO, [1, 2, 3]], {}, "shape"),
    (parse_rank_correlation, ["tau-ap"], {}, "did you mean tau_ap"),
    (parse_rank_correlation, ["tau_c"], {}, "did you mean"),
    (parse_rank_correlation, ["pearson's"], {}, "use tau_a, tau_b"),
    (parse_rank_correlation, ["tau_b@"], {}, "whole number"),
    (parse_rank_correlation, ["tau_b@1"], {}, "at least 2"),
    (parse_rank_correlation, ["tau_b@" + "9" * 5000], {}, "whole number"),
    (parse_rank_correlation, ["@3"], {}, "rank correlation ''"),
    (correlate, [[1, 2, 3], [1, 2, 3], "tau_b@5"], {}, "tau_b@5: there are only 3 runs"),
]


@pytest.mark.parametrize(("function", "arguments", "options", "complaint"), REFUSED)
def test_what_cannot_be_computed_is_refused(function, arguments, options, complaint):
    with pytest.raises(ValueError, match=complaint) as refused:
        function(*arguments, **options)
    if "shape" not in complaint:  # of arrays, NumPy says so itself
        assert isinstance(refused.value, MetaevalError)


PAGE = Path(__file__).parents[2] / "docs/reference/stats.md"


def test_the_page_of_kernels_lists_functions_that_show_an_example_of_what_they_take():
    if not PAGE.exists():
        pytest.skip("the source tree is not here")
    listed = re.findall(r"^% functions: metaeval\.stats\.(\w+) (.*)", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(listed) > 5
    for module, names in listed:
        for name in names.split():
            text = getattr(importlib.import_module(f"metaeval.stats.{module}"), name).__doc__
            assert "shape (" in text, name
            assert ">>>" in text, name
