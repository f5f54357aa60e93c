"""Tables paste into a paper, and names from files stay names."""

import pandas as pd
import pytest

from metaeval.errors import MetaevalError
from metaeval.show.text import format_cell
from metaeval.show.table import Table, band_marks

NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture
def table():
    columns = pd.MultiIndex.from_tuples([("NMD", "uni"), ("NMD", "pop"), ("J&D_1", "%")])
    index = pd.Index([NASTY, "a|b\\c$"], name="run")
    frame = pd.DataFrame([[0.12345, 7, None], [0.9, 8, 0.5]], index=index, columns=columns)
    return Table(
        frame,
        "Caption with 50 % & α_1",
        "signature | seed 0",
        marks=lambda f: f.map(lambda v: "bold" if v == 8 else ""),
    )


def test_text_is_aligned_and_signed(table):
    lines = table.to_text().splitlines()
    assert lines[0] == table.whole_caption
    assert lines[-1] == "signature | seed 0"
    assert lines[4].endswith("0.123        7        –")
    assert lines[4].startswith(NASTY)


def test_csv_keeps_every_digit_and_nothing_but_numbers(table):
    assert table.to_csv().splitlines()[1] == f"{NASTY},0.12345,7,"


def test_markdown_escapes_names_and_marks_in_bold(table):
    text = table.to_markdown()
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "a\\|b" in text
    assert "**8**" in text
    assert "<sub>signature \\| seed 0</sub>" in text


def test_latex_escapes_names_and_uses_booktabs(table):
    text = table.to_latex()
    assert r"a\textbar{}b\textbackslash{}c\$" in text
    assert r"\toprule" in text
    assert r"\bfseries 8" in text
    assert r"50 \% \& $\alpha$\_1" in text
    assert r"J\&D\_1" in text


def test_the_papers_marks_and_letters_are_latex():
    frame = pd.DataFrame({"x": ["†‡◇♡♣♠♯★"], "Δκ": ["✓ ✗ α–β ≥ ρ √"]}, index=["a"])
    assert Table(frame, "τ … Σ", "s").to_latex().isascii()


def test_json_holds_rows_caption_and_signature(table):
    import json

    again = json.loads(json.dumps(table.to_dict()))
    assert again["rows"][1] == {"run": "a|b\\c$", "NMD uni": 0.9, "NMD pop": 8, "J&D_1 %": 0.5}


def test_bands_are_the_papers():
    frame = pd.DataFrame({"x": [0.8, 0.6, 0.59999, float("nan")]})
    assert band_marks(0.8, 0.6)(frame)["x"].tolist() == ["band high", "band middle", "band low", ""]


def test_bands_colour_latex_cells():
    frame = pd.DataFrame({"x": [0.95]}, index=["a"])
    assert r"{\cellcolor[HTML]{C6E5CF}} 0.950" in Table(frame, "c", "s", marks=band_marks(0.9, 0.8)).to_latex()


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(0.12345, 3, "0.123"), (-0.0001, 3, "0.000"), (7, 3, "7"), (None, 3, "–"), (float("nan"), 1, "–"), ("a", 3, "a")],
)
def test_cells_are_rounded_and_gaps_are_dashes(value, digits, shown):
    assert format_cell(value, digits) == shown


def test_writing_gives_three_files_and_an_unknown_style_is_refused(table, tmp_path):
    assert [path.name for path in table.write(tmp_path / "new", "t")] == ["t.csv", "t.md", "t.tex"]
    with pytest.raises(MetaevalError, match="no format 'pdf'"):
        table.render("pdf")
