"""Tables paste into a paper, fit a terminal and a page, and names from files stay names in every format."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st
from rich.cells import cell_len

from metaeval.errors import MetaevalError
from metaeval.measures.registry import measures
from metaeval.show.cells import Grid, draw_text, wrap_text
from metaeval.show.colours import shade_marks
from metaeval.show.names import TITLES, to_html, to_latex, to_mathtext
from metaeval.show.table import Table, join_latex
from tests.analyses.made import ask_everything, label

NASTY = (
    r"\end{tabular}", "a_b^c & 50 % #1 {x} ~ $y$", "[1em] run", "* star", "模型-7", "Ünïcode Æsir", "=cmd()", "--two--", "«»",
    "x" * 60, "line\nbreak", "<b>bold</b>", "\x1b[31mred",
)  # fmt: skip
OC = ["CEM_ORD", "kappa", "alpha_ORD", "alpha_INT", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR", "OCI(beta=0.75)"]
IMAGE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def table():
    columns = pd.MultiIndex.from_tuples([("NMD", "uni"), ("NMD", "pop"), ("J&D_1", "%")])
    frame = pd.DataFrame([[0.12345, 7, None], [0.9, 8, 0.5]], index=[IMAGE, "a|b\\c$"], columns=columns)
    frame.index.name = "run"
    caption = "Caption with 50 % & α_1"
    return Table(frame, caption, "signature | seed 0", marks=lambda f: f.map(lambda v: "bold" if v == 8 else ""))


def render(table, style):
    return getattr(table, f"to_{style}")()


SHOWN = {
    "text": ["0.123        7        –\n", f"\n{IMAGE}  ", "\n\nsignature | seed 0\n"],
    "csv": [f"{IMAGE},0.12345,7,\n"],
    "markdown": ["&lt;img src=x onerror=alert(1)&gt;", "a\\|b", "**8**", "<sub>signature \\| seed 0</sub>"],
    "latex": [
        r"a\textbar{}b\textbackslash{}c\$", r"\toprule", r"\textbf{8}", r"50 \% \& $\alpha$\_1",
        r"J\&D\_1", "% signature | seed 0\n",
    ],
}  # fmt: skip


@pytest.mark.parametrize("style", SHOWN)
def test_every_format_has_names_as_they_are_and_says_how_it_was_computed(table, style):
    text = render(table, style)
    assert [part for part in SHOWN[style] if part not in text] == []
    assert style == "latex" or (IMAGE in text) is (style in ("text", "csv"))


def test_pages_and_json(table):
    page = table._repr_html_(notes=[IMAGE])
    assert "<img" not in page
    assert 'style="font-weight:bold">8</td>' in page
    again = json.loads(json.dumps(table.to_dict()))
    assert again["rows"][1] == {"run": "a|b\\c$", "NMD uni": 0.9, "NMD pop": 8, "J&D_1 %": 0.5}
    assert table.to_html(strong=[IMAGE]).count('class="new"') == 1
    with pytest.raises(MetaevalError, match="no width 'wide'"):
        table.to_latex(width="wide")


def test_names_that_a_spreadsheet_would_run_are_harmless_in_csv():
    frame = pd.DataFrame({"=SUM(A1)": ["@x", "-0.5"], "n": [-1.5, 2]}, index=pd.Index(["=cmd()", "+1"], name="run"))
    assert Table(frame, "c", "s").to_csv().splitlines() == ["run,'=SUM(A1),n", "'=cmd(),'@x,-1.5", "+1,-0.5,2.0"]


def test_what_marks_mean_is_said_where_they_are_shown(table):
    """A terminal shows none, and neither does a table without any."""
    told = replace(table, legend="How to read it.", marked="Bold: the best.")
    for style in ("markdown", "latex"):
        assert "Bold: the best. How to read it." in render(told, style)
        assert "Bold" not in render(replace(told, marks=lambda frame: frame.map(lambda _: "")), style)
    assert "How to read it." in told.to_text()
    assert "Bold" not in told.to_text()


def test_bold_that_more_than_a_third_of_a_column_would_have_is_left_out_and_texts_of_numbers_stand_right():
    frame = pd.DataFrame({"few": [1, 0, 0], "many": [1, 1, 0]}, index=["a", "b", "c"])
    table = Table(frame, "c", "s", marks=lambda f: f.map(lambda v: "bold" if v else ""), legend="Bold: best.")
    assert [row[1:] for row in table.to_grid().marks] == [["bold", ""], ["", ""], ["", ""]]
    assert table.whole_caption == "c Bold: best. In a column of which more than a third would be bold, nothing is."
    assert replace(table, frame=frame[["few"]]).whole_caption == "c Bold: best."
    frame = pd.DataFrame({"τ": ["0.9 [0.8, 1.0]", "–"], "word": ["like", "–"], "n": [1, 2]}, index=["a", "b"])
    assert Table(frame, "c", "s").to_grid().left == [True, False, True, False]


def test_scripts_in_every_form():
    assert to_latex("τ_AP,b") == r"$\tau_{\mathrm{AP,b}}$"
    assert to_latex("σ²") == r"$\sigma$$^2$"
    for plain in ("my_measure", "P_10", "x^^y", "__", "a^", "F_beta_x", "$x^2$"):
        assert to_html(plain) == plain
        assert to_mathtext(plain) == plain.replace("$", r"\$")
    assert to_html("kappa, MAE_mu.") == "κ, MAE<sup>μ</sup>."
    assert to_latex("by F1_M") == r"by F1\textsuperscript{M}"
    for part in ("my_kappa", "MAE_M.csv", "runs/kappa", "MAE_M2", "BL-kappa", "--tau=tau_a"):
        assert to_html(part) == part
    labels = {str(m): m.label for m in measures() if m.label and m.formula.__module__.startswith("metaeval.")}
    assert labels == TITLES


# LaTeX


@pytest.fixture(scope="module")
def results():
    values = np.random.default_rng(3).random((13, 24, 10)) + np.linspace(0, 0.6, 13)[:, None, None]
    return [*ask_everything(label(values, OC, "a_b & c", runs=NASTY))]


@pytest.fixture(scope="module")
def tables(results):
    words = " ".join(["a long sentence that explains what is in this row, with CEM^ORD in it"] * 2)
    many = pd.DataFrame(np.linspace(-1, 1, 24 * 24).reshape(24, 24), index=[f"measure {n}" for n in range(24)])
    two = pd.MultiIndex.from_tuples([(group, part) for group in ("NMD", "RNOD_2") for part in ("uniform", "popular")])
    own = [
        Table(pd.DataFrame({"what it says": [words] * 3, "value": [0.12345, 2.0, None]}, index=NASTY[:3]), words, "s"),
        Table(many.set_axis([f"measure {n}" for n in range(24)], axis=1), "Many.", "s" * 90, marks=shade_marks),
        Table(pd.DataFrame(np.eye(4), index=NASTY[4:8], columns=two), "Groups of columns.", "s", marks=shade_marks),
        Table(pd.DataFrame({name: [1.5] for name in NASTY}, index=pd.Index(["a"], name="run_1")), "\n".join(NASTY), "s"),
        Table(pd.DataFrame({"τ_a": [12345.678], "γ ≥ ½": ["✓ ✗"]}, index=["MAE^μ"]), "τ_AP,b … Σ", "s",
              marks=lambda f: f.map(lambda v: "bold, underline")),
        Table(pd.DataFrame({"n": [1]}, index=pd.MultiIndex.from_tuples([("a", "[b")], names=["one", "two"])), "Two.", "s"),
    ]  # fmt: skip
    return [*(result.to_table() for result in results), *own, *results[1].tables()[1:4]]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("width", ["column", "page"])
def test_tables_compile_without_an_overfull_box(tables, tmp_path, width):
    """In a paper of two columns of 7.7 cm, as in the style of the ACL."""
    texts = [table.to_latex(width=width, label=f"tab:{n}") for n, table in enumerate(tables)]
    packages = {
        package for text in texts for line in re.findall("^% Preamble: (.*)", text, re.M) for package in line.split()
    }
    page = r"\usepackage[textwidth=16cm,columnsep=6mm,textheight=24.7cm,a4paper]{geometry}"
    head = [r"\documentclass[twocolumn]{article}", page, *sorted(packages), r"\extrafloats{100}", r"\begin{document}"]
    source = "\n".join([*head, "\n\\clearpage\n".join(texts), r"See \ref{tab:0}.", r"\end{document}"])
    (tmp_path / "tables.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "tables.tex"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    log = (tmp_path / "tables.log").read_text(encoding="utf-8", errors="replace")
    if missing := re.search(r"File `(\S+\.sty)' not found", log):
        pytest.skip(f"the installed LaTeX lacks {missing[1]}")
    assert ran.returncode == 0, log[-2000:]
    assert re.findall(r"Overfull .*|.*Float too large.*|.*multiply defined.*", log) == []


def test_every_source_is_balanced_and_its_rows_have_as_many_cells_as_columns(tables):
    """What can be said without LaTeX: braces close, environments end, no row is longer or shorter than its head."""
    for text in (table.to_latex(width=width) for table in tables for width in ("column", "page")):
        text = "\n".join(line for line in text.splitlines() if not line.startswith("% "))
        plain = re.sub(r"\\[{}&%\\]", "", text)
        assert plain.count("{") == plain.count("}")
        assert sorted(re.findall(r"\\begin\{(\w+)", text)) == sorted(re.findall(r"\\end\{(\w+)", text))
        assert r"\allowbreak" not in text
        for body in re.findall(r"\\begin\{tabular\}\{@\{\}(.*)@\{\}\}\n(.*?)\\end\{tabular\}", text, flags=re.DOTALL):
            n = len(re.findall(r"[lr]|p\{[^}]*\}", re.sub(r">\{[^}]*\}", "", body[0])))
            rows = [line for line in body[1].splitlines() if line.endswith(r"\\")]
            assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {n}


def test_a_wide_table_takes_both_columns_and_a_tall_one_comes_in_parts():
    def number(n_rows, n_columns):
        values = np.arange(100, 100 + n_rows * n_columns).reshape(n_rows, n_columns)
        return Table(pd.DataFrame(values).add_prefix("m").add_prefix("measure", axis=0), "Too large.", "s")

    for n, table, resized in ((2, r"\begin{table}", False), (8, r"\begin{table}", True), (16, r"\begin{table*}", True)):
        text = number(n, n).to_latex()
        assert table in text
        assert (r"\resizebox" in text) is resized
    text = number(130, 3).to_latex(label="tab:x")
    captions = [("Too large (1 of 3).", "tab:x"), *((f"Too large ({n} of 3).", f"tab:x-part-{n}") for n in (2, 3))]
    assert re.findall(r"\\caption\{(.*)\}\\label\{(.*)\}", text) == captions
    numbers = [int(number) for number in re.findall(r"& +(\d+)", text)]
    assert sorted(numbers) == list(range(100, 100 + 130 * 3))


def test_a_table_says_what_it_needs_and_how_to_read_it_stands_below(results):
    power = results[0]
    text = power.to_latex()
    assert text.splitlines()[0].startswith(r"% Preamble: \usepackage{booktabs}")
    assert text.splitlines()[1] == f"% {power.signature}"
    caption = re.search(r"\\caption\{(.*)\}\\label\{tab:discriminative-power-a-b-c\}", text)[1]
    assert caption.startswith("Significant pairs of runs by ")
    assert text.index("Monte Carlo") > text.index(r"\bottomrule")
    assert r"CEM\textsuperscript{ORD}" in text
    assert r"\label{my-table}" in power.to_latex(label="my }table")
    assert r"\begin{table*}" in power.to_latex(width="page")
    small = Table(pd.DataFrame({"x": [1]}, index=["a"]), "Small.", "s")
    assert re.findall(r"\\label\{(.*)\}", join_latex([small] * 3)) == ["tab:small.", "tab:small.-2", "tab:small.-3"]


def test_an_interval_stands_beside_its_number_unless_the_columns_are_measures():
    frame = pd.DataFrame([[12, 0.5, 0.25, 0.1, None]], index=["a"], columns=["#sig", "±", "%", "low", "high"])
    assert r"a &    12 & 0.500 & 0.250 & 0.100 &   -- \\" in Table(frame, "c", "s").to_latex()
    assert r"12 $\pm$ 0.500 & 0.250 \\" in re.sub(" +", " ", Table(frame, "c", "s", joined=True).to_latex())
    frame["high"] = -0.2
    assert r"0.250 [0.100, $-$0.200] \\" in Table(frame, "c", "s", joined=True).to_latex()


def test_every_name_is_shown_and_none_is_a_command():
    assert to_latex("[a]--b|c") == r"[a]-{}-b\textbar{}c"
    assert to_latex("模") == r"\ifdefined\Umathchar 模\else[U+6A21]\fi{}"
    for name in NASTY:
        assert not re.search(r"(?<!\\)[&%#]", to_latex(name).replace(r"\textbackslash{}", ""))
    frame = pd.DataFrame({"x": ["†‡◇♡♣♠♯★"], "Δκ": ["✓ ✗ α–β ≥ ρ √"]}, index=["a"])
    assert Table(frame, "τ … Σ", "s").to_latex().isascii()


def test_a_notebook_shows_tables_in_which_names_are_text(results):
    pages = [result._repr_html_() for result in results]
    assert all(page.startswith("<div>") and "<b>bold" not in page for page in pages)
    assert "CEM<sup>ORD</sup>" in pages[0]


# Terminals

LONG = [
    "docWMT22CometKiwiDA",
    "XCOMET-QE-Ensemble",
    "系统一号",
    "long-name-" * 7,
    "a measure of many words",
    "e\u0301te",
]


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("n_columns", [1, 3, 12, 24])
def test_no_line_is_longer_than_the_terminal_and_no_number_is_broken_or_lost(width, n_columns):
    numbers = np.arange(4 * n_columns).reshape(4, n_columns)  # each stands in one cell only
    rows = [[LONG[r], *(f"{number / 1000:.3f}" for number in row)] for r, row in enumerate(numbers)]
    head = ["measure", *(f"{LONG[c % 6]} {c}" for c in range(n_columns))]
    grid = Grid(head, rows, [True, *[False] * n_columns])
    shown = draw_text(grid, width)
    assert max(map(cell_len, shown.splitlines())) <= width
    assert sorted(re.findall(r"\d\.\d{3}", shown)) == sorted(cell for row in grid.rows for cell in row[1:])
    assert len(draw_text(grid).splitlines()) == 2 + len(grid.rows), "what fits stays in one block"
    if (n_columns, width) == (24, 80):
        blocks = shown.split("\n\n")
        assert len(blocks) == sum("docWMT22CometKiwiDA" in block for block in blocks) > 1


LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(LETTERS, min_size=1, max_size=30), min_size=1, max_size=8), st.integers(4, 40))
@example(["_0\u2d97\u2e5e"], 4)  # what follows the joint is too long with the next letter too
def test_wrapping_loses_no_letter_and_keeps_every_line_short(words, width):
    lines = wrap_text(" ".join(words), width)
    assert "".join(lines).replace(" ", "") == "".join(words).replace(" ", "")
    assert all(cell_len(line) <= width for line in lines)
