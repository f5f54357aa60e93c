"""Tables fit a column of a paper, whatever the names in them; workbooks and notebooks show names as text."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import metaeval
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError
from metaeval.measures.registry import measures
from metaeval.show.colours import shade_marks
from metaeval.show.latex import escape, split_caption
from metaeval.show.names import TITLES
from metaeval.show.table import Table, band_marks, join_latex

NASTY = (
    r"\end{tabular}", "a_b^c & 50 % #1 {x} ~ $y$", "[1em] run", "* star", "模型-7", "Ünïcode Æsir", "=cmd()", "--two--", "«»",
    "x" * 60, "line\nbreak", "<b>bold</b>", "\x1b[31mred",
)  # fmt: skip
OC = ["CEM_ORD", "kappa", "alpha_ORD", "alpha_INT", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR", "OCI(beta=0.75)"]


@pytest.fixture(scope="module")
def results():
    values = np.random.default_rng(3).random((13, 24, 10)) + np.linspace(0, 0.6, 13)[:, None, None]
    scores = Scores(values, runs=NASTY, topics=range(24), measures=OC, collection="a_b & c")
    power = metaeval.discriminative_power(scores, n_permutations=50)
    ranks = power.ranks()
    return [
        power, ranks, metaeval.ranking_similarity(scores, n_bootstrap=20), metaeval.significance_overlap(power),
        metaeval.significance_contradictions(power), metaeval.split_half_consistency(scores, n_trials=5, n_permutations=20),
        metaeval.robustness(scores), metaeval.pooled_discriminative_power([power]),
        metaeval.sample_size(scores, sizes=[5, 10], n_trials=5, n_permutations=20),
        metaeval.topic_set_size(scores, n_bootstrap=0),
        metaeval.baseline_preference(scores, NASTY[0], NASTY[1]),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tables(results):
    words = " ".join(["a long sentence that explains what is in this row, with CEM^ORD in it"] * 2)
    many = pd.DataFrame(np.linspace(-1, 1, 24 * 24).reshape(24, 24), index=[f"measure {n}" for n in range(24)])
    two = pd.MultiIndex.from_tuples([(group, part) for group in ("NMD", "RNOD_2") for part in ("uniform", "popular")])
    own = [
        Table(pd.DataFrame({"what it says": [words] * 3, "value": [0.12345, 2.0, None]}, index=NASTY[:3]), words, "s"),
        Table(many.set_axis([f"measure {n}" for n in range(24)], axis=1), "Many.", "s" * 90, marks=shade_marks()),
        Table(pd.DataFrame(np.eye(4), index=NASTY[4:8], columns=two), "Groups of columns.", "s", marks=band_marks(0.9, 0.8)),
        Table(pd.DataFrame({name: [1.5] for name in NASTY}, index=pd.Index(["a"], name="run_1")), "\n".join(NASTY), "s"),
        Table(pd.DataFrame({"τ_a": [12345.678], "γ ≥ ½": ["✓ ✗"]}, index=["MAE^μ"]), "τ_AP,b … Σ", "s",
              marks=lambda f: f.map(lambda v: "bold, underline")),
        Table(pd.DataFrame({"n": [1]}, index=pd.MultiIndex.from_tuples([("a", "[b")], names=["one", "two"])), "Two.", "s"),
    ]  # fmt: skip
    details = [one for result in results[1:2] for one in result.tables()[1:4]]
    return [*(one.to_table() for one in results), *own, *details]


def find_missing_packages(packages):
    """Return which of these packages the installed LaTeX cannot find."""
    command = shutil.which("kpsewhich")
    names = [re.search(r"\{(.*)\}", package)[1] for package in packages]
    if command is None:
        return names
    return [name for name in names if subprocess.run([command, f"{name}.sty"], capture_output=True).returncode]


def compile_tables(texts, folder):
    """Compile tables in a paper of two columns of 7.7 cm, as in the style of the ACL, and return what LaTeX complains of."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    packages = {
        line.split(maxsplit=2)[2] for text in texts for line in text.splitlines() if line.startswith("% Preamble")
    }
    packages = sorted({package for line in packages for package in line.split()})
    missing = find_missing_packages([r"\usepackage{geometry}", *packages])
    if missing:
        pytest.skip(f"the installed LaTeX lacks {', '.join(missing)}")
    page = r"\usepackage[textwidth=16cm,columnsep=6mm,textheight=24.7cm,a4paper]{geometry}"
    head = [r"\documentclass[twocolumn]{article}", page, *packages, r"\extrafloats{100}", r"\begin{document}"]
    source = "\n".join([*head, "\n\\clearpage\n".join(texts), r"\end{document}"])
    (folder / "tables.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "tables.tex"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    log = (folder / "tables.log").read_text(encoding="utf-8", errors="replace")
    assert ran.returncode == 0, log[-2000:]
    assert "Output written on tables.pdf" in log
    return re.findall(r"Overfull .*|.*Float too large.*|.*multiply defined.*", log)


@pytest.mark.parametrize("width", ["column", "page"])
def test_twenty_tables_compile_without_an_overfull_box(tables, tmp_path, width):
    assert len(tables) == 20
    texts = [one.to_latex(width=width, label=f"tab:{n}") for n, one in enumerate(tables)]
    assert compile_tables([*texts, "See \\ref{tab:0}."], tmp_path) == []


@pytest.mark.parametrize("width", ["column", "page"])
def test_tables_of_34_measures_with_long_names_fit_whatever_they_show(tmp_path, width):
    values = np.random.default_rng(5).random((14, 30, 34)) + np.linspace(0, 0.9, 14)[:, None, None]
    names = [f"{('BLEU', 'docWMT22CometKiwiDA', 'mre-score-labse-regular')[n % 3]}{n}" for n in range(34)]
    own = [metaeval.Measure(name, True) for name in names]
    scores = Scores(values, runs=[f"refA-{n}" for n in range(14)], topics=range(30), measures=own, collection="wmt")
    power = metaeval.discriminative_power(scores, n_permutations=50, n_bootstrap=20)
    found = [
        power, power.ranks(), metaeval.significance_overlap(power), metaeval.significance_contradictions(power),
        metaeval.ranking_similarity(scores, n_bootstrap=0), metaeval.topic_set_size(scores, n_bootstrap=0),
        metaeval.agreement(scores, reference=names[0], n_permutations=50, n_bootstrap=20),
        metaeval.sample_size(scores, sizes=[5, 10], n_trials=5, n_permutations=20),
        metaeval.split_half_consistency(scores, n_trials=20, n_permutations=50),
    ]  # fmt: skip
    texts = [join_latex([*one.at("paper")[:5], *one.at("all")[:5]], width) for one in found]
    assert compile_tables(texts, tmp_path) == []
    summaries = [one.to_latex(width=width) for one in found]
    assert all(text.count(" & ") <= 4 * text.count(r" \\") for text in summaries)


def test_a_table_too_wide_for_a_column_takes_both_and_one_too_large_for_a_page_comes_in_parts():
    def square(n):
        values = np.arange(100, 100 + n * n).reshape(n, n)
        names = [f"measure{k}" for k in range(n)]
        return Table(pd.DataFrame(values, index=names, columns=names), "Too large.", "s")

    assert r"\begin{table}" in square(8).to_latex()
    assert r"\begin{table*}" in square(16).to_latex()
    parts = square(60).to_latex(label="tab:x").split(r"\begin{table*}")[1:]
    assert len(parts) > 2
    assert r"\caption{Too large (1 of" in parts[0]
    assert r"\label{tab:x}" in parts[0]
    assert r"\label{tab:x-part-2}" in parts[1]
    numbers = [int(number) for part in parts for number in re.findall(r"& (\d+)", part)]
    assert sorted(numbers) == list(range(100, 100 + 60 * 60))


def test_a_triangle_in_parts_leaves_out_rows_without_a_number():
    values = np.where(np.triu(np.ones((40, 40), dtype=bool)), 0.123, np.nan)
    names = [f"measure {k}" for k in range(40)]
    first, *others = (
        Table(pd.DataFrame(values, index=names, columns=names), "c", "s").to_latex().split(r"\begin{table*}")[1:]
    )
    assert first.count(r"\\") < others[-1].count(r"\\")
    assert "measure 0 &" in first
    assert "measure 39 &" not in first
    assert "measure 39 &" in others[-1]


def test_a_caption_is_short_and_how_to_read_a_table_stands_below_it(results):
    text = results[0].to_latex()
    caption = re.search(r"\\caption\{(.*)\}\\label", text)[1]
    assert caption.startswith("Significant pairs of runs by ")
    assert caption.endswith("0.05.")
    assert text.index("Monte Carlo") > text.index(r"\bottomrule")
    assert split_caption("Halves (23 vs. 23 topics). A star.") == ("Halves (23 vs. 23 topics).", "A star.")
    head = "How far ranks of 34 runs are real, by bootstrap-t at α = 0.05"
    assert split_caption(f"{head}: the runs that differ from the first, and all others.")[0] == f"{head}."


def test_an_interval_stands_beside_its_number_unless_the_columns_are_measures():
    frame = pd.DataFrame([[12, 0.5, 0.25, 0.1, None]], index=["a"], columns=["#sig", "±", "%", "low", "high"])
    assert "12 & 0.500" in Table(frame, "c", "s").to_latex()
    assert r"12 $\pm$ 0.500 & 0.250 \\" in Table(frame, "c", "s", joined=True).to_latex()
    frame["high"] = -0.2
    assert r"0.250 [0.100, $-$0.200] \\" in Table(frame, "c", "s", joined=True).to_latex()


def test_several_tables_have_different_labels():
    table = Table(pd.DataFrame({"x": [1]}, index=["a"]), "Small.", "s")
    assert re.findall(r"\\label\{(.*)\}", join_latex([table] * 3)) == ["tab:small.", "tab:small.-2", "tab:small.-3"]


def test_titles_are_the_labels_of_the_registry():
    assert {
        str(one): one.label for one in measures() if one.label and one.formula.__module__.startswith("metaeval.")
    } == TITLES


def test_a_table_says_what_it_needs_and_has_a_label(results):
    power = results[0]
    assert power.to_latex().splitlines()[0] == r"% Preamble: \usepackage{booktabs}"
    assert r"\label{tab:discriminative-power-a-b-c}" in power.to_latex(width="column")
    assert r"\label{my-table}" in power.to_latex(label="my }table")
    assert r"\usepackage[table]{xcolor}" in results[2].at("all")[0].to_latex().splitlines()[0]
    assert r"CEM\textsuperscript{ORD}" in power.to_latex()
    assert r"\begin{table*}" in power.to_latex(width="page")
    with pytest.raises(MetaevalError, match="no width 'wide'"):
        power.to_latex(width="wide")


def test_what_fits_keeps_its_digits_and_what_does_not_loses_one():
    small = Table(pd.DataFrame({"x": [0.123]}, index=["a"]), "c", "s")
    assert "0.123" in small.to_latex(width="column")
    wide = Table(pd.DataFrame([[0.126] * 9], index=["a"], columns=[f"name{n}" for n in range(9)]), "c", "s")
    assert "0.126" in wide.to_latex(width="page")
    assert " .13 " in wide.to_latex(width="column")


def test_every_name_is_shown_and_none_is_a_command():
    assert escape("[a]--b|c") == r"[a]-{}-b\textbar{}c"
    assert escape("模") == r"\ifdefined\Umathchar 模\else[U+6A21]\fi{}"
    assert escape("a" * 20, breaks=True) == "a" * 14 + r"\allowbreak{}" + "a" * 6
    for name in NASTY:
        assert not re.search(r"(?<!\\)[&%#]", escape(name).replace(r"\textbackslash{}", ""))


def test_a_notebook_shows_tables_in_which_names_are_text(results):
    for result in results:
        page = result._repr_html_()
        assert page.startswith("<div>")
        assert "<b>bold" not in page
    assert "CEM<sup>ORD</sup>" in results[0]._repr_html_()


def test_a_square_of_text_is_a_power_in_latex():
    assert escape("σ²") == r"$\sigma$$^2$"
