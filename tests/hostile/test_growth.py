"""Labels come from files and may be anything: whatever looks at one takes time in proportion to its length, or less."""

import contextlib
import itertools
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

LETTERS = "".join(map(chr, range(0x4E00, 0x4E00 + N)))
IN_FILES = [
    ("comet", "2020", "x"), ("a", " ", "x"), ("", "1", "x"), ("a", " (", ""), ("", "1,", "x"),
    ("", '"', "\\"), ("", LETTERS, ""),
]  # fmt: skip
"""How a label begins, what is repeated in it, and how it ends: these are tried in files by day, the others by night."""

SHAPES = [
    *IN_FILES,
    ("comet", "xl", "!"), ("comet-kiwi", "-da20", "?"), ("ndcg", "@5.", "x"), ("macro-", "f1 ", "x"), ("", " ", "="),
    ("a", "\t ", "b"), ("", "_", "x"), ("a", "-", "x"), ("p", "_1", "x"), ("", "7", ""), ("a", "(", ""), ("ap", "(x)", "@"),
    ("a(", "x=1,", ""), ("", ".", "x"), ("", "1.", "0x"), ("unnamed:", "1", "x"), ("", "a_count", "x"), ("", "τ_a", ""),
    ("", "_2024-01-01T", "x"), ("", "A^M", "^"), ("e", "\u0301", ""), ('"', '\\"', ""), ("", "a.gz", ":f"),
]  # fmt: skip


def nasty(shape, n):
    before, again, after = shape
    return before + (again * (n // len(again) + 1))[:n] + after


def rows(label, role):
    usual = {"run": ("x", "y"), "topic": ("t", "u"), "measure": ("AP", "BLEU")}
    axes = ((label, names[1]) if name == role else names for name, names in usual.items())
    return [dict(zip((*usual, "score"), (*key, 0.5), strict=True)) for key in itertools.product(*axes)]


def lines(role):
    return lambda label: "".join(json.dumps(row) + "\n" for row in rows(label, role))


def wide(label):
    return f'topic\t"{label.replace(chr(34), "").strip()}"\tb\nt\t0.5\t1\nu\t1\t0.25\n'


LABELS = {
    "a measure": me.measure,
    "the label of a measure": measure_of_label,
    "topics in columns": lambda label: find_layout(
        Table("", {"system": ("a", "b"), f"{label}1": (0.5, 1.0), f"{label}2": (1.0, 0.25)}, 2)
    ),
    "columns": lambda label: (names_trait(label), plain_name(label), is_index(label), names_topics(label)),
    "options of columns": parse_columns,
    "the stem of a file": split_stem,
    "a measure in a file's name": lambda label: split_stem(f"web2013_{label}"),
    "a suggestion for it": lambda label: suggest_names(label, ["nDCG", "web2013", "x" * 40]),
    "a suggestion of it": lambda label: suggest_names(label[::-1], [label, f"{label}b"]),
    "names that are shown": lambda label: (shorten_names([label, f"{label}b"], 20), to_html(label), to_mathtext(label)),
    "LaTeX": to_latex,
    "a file that was sent": clean_name,
    "a log's name": lambda label: lm_eval._NAME.fullmatch(f"samples_{label}.jsonl"),
    "a statistic of HELM": helm.NO_MEASURE.fullmatch,
    "JSON": lambda label: (parse_json(json.dumps([label]), "a.json"), count_values(f'"{label}' + 300_000 * "[{,")),
    "a selection": lambda label: me.io.from_frame(rows(label, "run")).sel(runs=[f"{label}b"]),
}
FILES = {  # how it is read, its name and its text
    **{role: (me.io.read_scores, "a.jsonl", lines(role)) for role in ("run", "topic", "measure")},
    "any text": (me.io.read_scores, "a.txt", lambda label: f"{label}\n{label}\n"),
    "table": (me.io.read_scores, "a.tsv", wide), "inspection": (me.io.inspect_scores, "a.tsv", wide),
    "ratings": (read_ratings, "a.tsv", wide), "labels of people": (read_partial, "a.tsv", wide),
}  # fmt: skip


def check_growth(function, shape):
    def seconds(label):
        """Return the least time of the processor that a call took, whether it answers or refuses."""
        taken = []
        for _ in range(3):
            began = time.process_time()
            with warnings.catch_warnings(action="ignore"), contextlib.suppress(MetaevalError):
                function(label)
            taken.append(time.process_time() - began)
        return min(taken)

    with limit_time(20 * patience()):  # what grows faster than any power never ends
        once, twice, four_times = (seconds(nasty(shape, n)) for n in (N, 2 * N, 4 * N))
    least = 0.02  # no label of this length is worth more words
    assert four_times < max(least, SLACK * once), f"{shape}: {once:.4f} s, {twice:.4f} s, {four_times:.4f} s"


@pytest.mark.parametrize("entry", LABELS)
def test_a_label_four_times_as_long_takes_about_four_times_as_long(entry):
    for shape in SHAPES:
        check_growth(LABELS[entry], shape)


@pytest.mark.parametrize("shapes", [IN_FILES, pytest.param(SHAPES, marks=pytest.mark.nightly)], ids=["day", "night"])
@pytest.mark.parametrize("entry", FILES)
def test_a_file_with_a_label_four_times_as_long_takes_about_four_times_as_long(entry, shapes, tmp_path):
    read, name, write = FILES[entry]

    def write_and_read(label):
        (tmp_path / name).write_text(write(label), encoding="utf-8")
        read(tmp_path / name)

    for shape in shapes:
        check_growth(write_and_read, shape)
