"""Labels come from files and may be anything: whatever looks at one takes time in proportion to its length, or less."""

import contextlib
import json
import time
import warnings

import pytest

import metaeval as me
from metaeval.app.inputs import clean_name
from metaeval.data.columns import is_index, names_topics, names_trait, plain_name
from metaeval.errors import MetaevalError, suggest_names
from metaeval.io.formats import parse_columns
from metaeval.io.layout import find_layout
from metaeval.io.logs import helm, lm_eval
from metaeval.io.partial_scores import read_partial
from metaeval.io.ratings import read_ratings
from metaeval.io.strict_json import count_values, parse_json
from metaeval.io.table import Table
from metaeval.io.tables import split_stem
from metaeval.measures.resolve import measure_of_label
from metaeval.show.names import shorten_names, to_html, to_latex, to_mathtext
from tests.hostile.case import limit_time, patience

N = 4096
SLACK = 10
"""Four times as long a label takes four times as long; what goes over all pairs of its letters takes 16 times."""

SHAPES = {
    "years": ("comet", "2020", "x"),
    "sizes": ("comet", "xl", "!"),
    "versions": ("comet-kiwi", "-da20", "?"),
    "cuts": ("ndcg", "@5.", "x"),
    "words of a name": ("macro-", "f1 ", "x"),
    "spaces": ("a", " ", "x"),
    "spaces before": ("", " ", "="),
    "tabs": ("a", "\t ", "b"),
    "underscores": ("", "_", "x"),
    "hyphens": ("a", "-", "x"),
    "digits": ("", "1", "x"),
    "numbers": ("p", "_1", "x"),
    "digits alone": ("", "7", ""),
    "open": ("a", "(", ""),
    "open words": ("a", " (", ""),
    "closed": ("ap", "(x)", "@"),
    "parameters": ("a(", "x=1,", ""),
    "dots": ("", ".", "x"),
    "decimals": ("", "1.", "0x"),
    "commas": ("", "1,", "x"),
    "index": ("unnamed:", "1", "x"),
    "counts": ("", "a_count", "x"),
    "stems": ("", "τ_a", ""),
    "dates": ("", "_2024-01-01T", "x"),
    "scripts": ("", "A^M", "^"),
    "accents": ("e", "\u0301", ""),
    "quotes": ("", '"', "\\"),
    "escapes": ('"', '\\"', ""),
    "files": ("", "a.gz", ":f"),
    "letters": ("", "".join(map(chr, range(0x4E00, 0x4E00 + N))), ""),
}


IN_FILES = ("years", "spaces", "digits", "open words", "commas", "quotes", "letters")
"""Shapes that are tried in files by day; the others are tried by night."""


def nasty(shape, n):
    before, again, after = SHAPES[shape]
    return before + (again * (n // len(again) + 1))[:n] + after


def numbered_runs(label):
    return find_layout(Table("", {"system": ("a", "b"), f"{label}1": (0.5, 1.0), f"{label}2": (1.0, 0.25)}, 2))


def rows(label, role):
    places = {"run": ("x", "y"), "topic": ("t", "u"), "measure": ("AP", "BLEU")}
    return [
        {"run": run, "topic": topic, "measure": measure, "score": 0.5}
        for run in ((label, "y") if role == "run" else places["run"])
        for topic in ((label, "u") if role == "topic" else places["topic"])
        for measure in ((label, "BLEU") if role == "measure" else places["measure"])
    ]


def write(folder, name, content):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def lines(label, role):
    return "".join(json.dumps(row) + "\n" for row in rows(label, role))


def wide(label):
    return "topic\t" + "\t".join([f'"{label.replace(chr(34), "").strip()}"', "b"]) + "\nt\t0.5\t1\nu\t1\t0.25\n"


LABELS = {
    "a measure": me.measure,
    "the label of a measure": measure_of_label,
    "topics in columns": numbered_runs,
    "columns": lambda label: (names_trait(label), plain_name(label), is_index(label), names_topics(label)),
    "options of columns": parse_columns,
    "the stem of a file": split_stem,
    "a measure in a file's name": lambda label: split_stem(f"web2013_{label}"),
    "a suggestion for it": lambda label: suggest_names(label, ["nDCG", "web2013", "x" * 40]),
    "a suggestion of it": lambda label: suggest_names(label[::-1], [label, f"{label}b"]),
    "names that are shown": lambda label: (shorten_names([label, f"{label}b"], 20), to_html(label), to_mathtext(label)),
    "LaTeX": lambda label: to_latex(label),
    "a file that was sent": clean_name,
    "a log's name": lambda label: lm_eval._NAME.fullmatch(f"samples_{label}.jsonl"),
    "a statistic of HELM": helm.NO_MEASURE.fullmatch,
    "JSON": lambda label: (parse_json(json.dumps([label]), "a.json"), count_values(f'"{label}' + 300_000 * "[{,")),
}
FILES = {
    "run": lambda folder, label: me.io.read_scores(write(folder, "a.jsonl", lines(label, "run"))),
    "topic": lambda folder, label: me.io.read_scores(write(folder, "a.jsonl", lines(label, "topic"))),
    "measure": lambda folder, label: me.io.read_scores(write(folder, "a.jsonl", lines(label, "measure"))),
    "table": lambda folder, label: me.io.read_scores(write(folder, "a.tsv", wide(label))),
    "any text": lambda folder, label: me.io.read_scores(write(folder, "a.txt", f"{label}\n{label}\n")),
    "inspection": lambda folder, label: me.io.inspect_scores(write(folder, "a.tsv", wide(label))),
    "ratings": lambda folder, label: read_ratings(write(folder, "a.tsv", wide(label))),
    "labels of people": lambda folder, label: read_partial(write(folder, "a.tsv", wide(label))),
    "selection": lambda folder, label: me.io.from_frame(rows(label, "run")).sel(runs=[f"{label}b"]),
}


def seconds(function, *arguments):
    """Return the least time of the processor that a call took, whether it answers or refuses."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        with warnings.catch_warnings(action="ignore"), contextlib.suppress(MetaevalError):
            function(*arguments)
        taken.append(time.process_time() - began)
    return min(taken)


def check_growth(function, shape, *before):
    with limit_time(20 * patience()):  # what grows faster than any power never ends
        once, twice, four_times = (seconds(function, *before, nasty(shape, n)) for n in (N, 2 * N, 4 * N))
    least = 0.02  # no label of this length is worth more words
    assert four_times < max(least, SLACK * once), f"{once:.4f} s, {twice:.4f} s, {four_times:.4f} s"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("entry", LABELS)
def test_a_label_four_times_as_long_takes_about_four_times_as_long(entry, shape):
    check_growth(LABELS[entry], shape)


@pytest.mark.parametrize(
    "shape", [pytest.param(shape, marks=() if shape in IN_FILES else pytest.mark.nightly) for shape in SHAPES]
)
@pytest.mark.parametrize("entry", FILES)
def test_a_file_with_a_label_four_times_as_long_takes_about_four_times_as_long(entry, shape, tmp_path):
    check_growth(FILES[entry], shape, tmp_path)
