"""Tables that fit a terminal show every cell, whatever its width."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from rich.cells import cell_len as count_columns

from metaeval.show.cells import Grid, draw_text as fit_cells, wrap_text

LONG = ["docWMT22CometKiwiDA", "XCOMET-QE-Ensemble", "系统一号", "a measure of many words", "e\u0301te"]


def matrix(n_columns, n_rows=4):
    """A wide table of numbers, each of which stands in one cell only."""
    numbers = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
    rows = [[LONG[r % len(LONG)], *(f"{number / 1000:.3f}" for number in row)] for r, row in enumerate(numbers)]
    head = ["measure", *(f"{LONG[c % len(LONG)]} {c}" for c in range(n_columns))]
    return Grid([(label,) for label in head], rows, [True, *[False] * n_columns])


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("n_columns", [1, 3, 12, 24])
def test_no_line_is_longer_than_the_terminal_and_no_number_is_broken_or_lost(width, n_columns):
    cells = matrix(n_columns)
    shown = fit_cells(cells, width)
    assert max(map(count_columns, shown.splitlines())) <= width
    assert sorted(re.findall(r"\d\.\d{3}", shown)) == sorted(cell for row in cells.rows for cell in row[1:])


def test_a_table_that_fits_stays_in_one_block_and_a_wide_one_repeats_its_labels():
    cells = matrix(24)
    assert len(fit_cells(cells, 1000).splitlines()) == 2 + len(cells.rows)
    blocks = fit_cells(cells, 80).split("\n\n")
    assert len(blocks) > 1
    assert all("docWMT22CometKiwiDA" in block for block in blocks)


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=30
)


@settings(max_examples=60, deadline=None)
@given(st.lists(words, min_size=1, max_size=8), st.integers(4, 40))
@example(["_0\u2d97\u2e5e"], 4)  # what follows the joint is too long with the next letter too
def test_wrapping_loses_no_letter_and_keeps_every_line_short(words, width):
    lines = wrap_text(" ".join(words), width)
    assert "".join(lines).replace(" ", "") == "".join(words).replace(" ", "")
    assert all(count_columns(line) <= width for line in lines)
