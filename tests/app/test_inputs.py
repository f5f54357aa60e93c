"""What people type into the pages, and what is refused in a sentence."""

import json

import numpy as np
import pytest

pytest.importorskip("streamlit")

from metaeval.app.inputs import (
    format_matrix,
    parse_classes,
    parse_items,
    parse_labels,
    parse_matrix,
    parse_numbers,
    parse_shares,
)
from metaeval.app.launch import MOST_MEGABYTES, MOST_UNPACKED
from metaeval.cli.lookup import APP
from metaeval.errors import MetaevalError
from tests.app.serve import ROOT


def test_a_matrix_is_read_in_whatever_way_people_or_we_write_it():
    for text in ("5 1\n2 7", "5, 1\n2, 7", "5;1/2;7", "[[5, 1]\n[2, 7]]", "  5 1 \n\n 2 7\n"):
        assert parse_matrix(text).tolist() == [[5, 1], [2, 7]]
    counts = np.random.default_rng(0).integers(0, 1000, (7, 7))
    assert (parse_matrix(format_matrix(counts)) == counts).all()


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (parse_matrix, "1 2\n3", "line 2: there are 1 numbers"),
        (parse_matrix, "", "there are 0 classes"),
        (parse_matrix, "1 x\n2 3", "'x' is not a number"),
        (parse_matrix, "1 -2\n2 3", "not a number of 0 or more"),
        (parse_matrix, "1 nan\n2 3", "not a number of 0 or more"),
        (parse_matrix, "1 1e400\n2 3", "not a number of 0 or more"),
        (parse_matrix, "1 2.5\n2 3", "not a whole number"),
        (parse_matrix, "1 1e300\n2 3", "not a whole number"),
        (parse_matrix, "0 0\n0 0", "no items"),
        (parse_items, "7", "there are 1 classes"),
        (parse_items, " ".join("1" * 13), "2 to 12"),
        (parse_shares, "0 0", "sum to 0"),
        (parse_shares, "1e308 1e308", "sum to inf"),
        (parse_labels, "1 2", "line 1 has 2 labels"),
        (parse_labels, "", "no labels yet: on each line write"),
        (parse_labels, "classes: a, b\na b c", "'c' is none of the classes a, b"),
        (parse_labels, "classes: a, a\na a a", "named twice"),
        (parse_numbers, "<script>", "is not a number"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(read, text, message):
    with pytest.raises(MetaevalError, match=message):
        read(text)


def test_labels_are_counted_shares_rescaled_and_classes_get_names():
    classes, first, second = parse_labels("classes: low, very high\nlow, low, very high\nvery high, low, very high")
    assert classes == ["low", "very high"]
    assert first.tolist() == [[1, 0], [1, 0]]
    assert second.tolist() == [[0, 1], [0, 1]]
    assert parse_labels("10 2 10\n2 2 2")[0] == ["2", "10"]
    assert parse_shares("2 1 1").tolist() == [0.5, 0.25, 0.25]
    assert parse_classes("a, a", 3) == ["a", "a (2)", "3"]


def test_the_recipe_of_the_image_copies_what_is_there_and_runs_the_command_as_somebody_else_than_root():
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    copied = [name for step, rest in steps if step == "COPY" for name in rest.split()[:-1]]
    assert "metaeval" in copied
    assert all((ROOT / name).exists() for name in copied)
    assert [rest for step, rest in steps if step == "USER"] == ["visitor"]
    assert [step for step, _ in steps][-5:] == ["USER", "WORKDIR", "EXPOSE", "HEALTHCHECK", "CMD"]
    words = json.loads(dict(steps)["CMD"])
    known = {f"--{name}" for name in APP} | {"--no-browser"}
    assert words[:2] == ["metaeval", "app"]
    assert {word for word in words if word.startswith("--")} <= known


def test_the_docs_name_the_largest_file_that_is_taken():
    said = " ".join((ROOT / "docs" / "how-to" / "playground.md").read_text(encoding="utf-8").split())
    assert f"A file may be {MOST_MEGABYTES} MB, and {MOST_UNPACKED >> 30} GiB when it is unpacked" in said
