"""Mutated files of every format: equal to an independent reading, or refused in one sentence; and the seed of what is tried."""

import ast
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import conftest
from tests.hostile.case import SEED, Refused, by_day_and_night, call, chance, try_inputs
from tests.hostile.formats import FORMATS
from tests.hostile.truth import Unreadable


def check_format(name, rng, folder):
    """Write files, most often one of them mutated; what metaeval reads is one of the readings that can be defended."""
    form = FORMATS[name]
    files, options = form.make(rng)
    right = not options.pop("excused", False)
    if chance(rng, form.mutated):
        victim, right = rng.choice(list(files)), False
        files[victim] = form.mutate(rng, files[victim])
    for file, content in files.items():
        (folder / file).write_bytes(content)
    try:
        expected = form.expect(files, options)
    except Unreadable:
        expected = []
    found, said = call(form.read, folder, files, options)
    if found is None:
        assert not (right and expected), f"right files are refused: {said[0]}"
        raise Refused(said[0])
    assert expected, f"what cannot be read is accepted: {options}"
    cells = form.cells(found)
    reading = next((each for each in expected if agree(cells, each)), None)
    assert reading, f"other values than the files hold: {options}, {difference(cells, expected[0].cells)}"
    for measure in found.measures if reading.directions else ():
        word = reading.directions.get(str(measure), "")
        assert word in ("", str(measure.higher_is_better).lower()), f"another direction than the file states: {measure}"


def agree(cells, reading):
    """Whether cells are those of a reading; blanks around a label may be left out, and shares are of floats."""
    cells, right = strip(cells), strip(reading.cells)
    return cells.keys() == right.keys() and all(alike(cells[key], right[key]) for key in right)


def strip(cells):
    short = {tuple(part and part.strip() for part in key): value for key, value in cells.items()}
    return short if len(short) == len(cells) else cells


def alike(one, other):
    if isinstance(one, list) and not isinstance(one[0], str):
        return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=0, atol=1e-12)
    return one == other


def difference(cells, expected):
    key = next((key for key in {**cells, **expected} if cells.get(key) != expected.get(key)), None)
    return f"{key!r:.80}: {cells.get(key)} for {expected.get(key)}"


@by_day_and_night("numbers", 100, 200)
@pytest.mark.parametrize("name", FORMATS)
def test_a_mutated_file_is_read_right_or_refused_in_a_sentence(name, numbers, tmp_path):
    try_inputs(partial(check_format, name), numbers, tmp_path, name=name)


def test_expected_values_come_from_code_that_imports_nothing_of_metaeval():
    known = {"csv", "io", "re", "json", "math", "itertools", "contextlib", "dataclasses"}
    for node in ast.walk(ast.parse(Path(__file__).with_name("truth.py").read_text("utf-8"))):
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        assert set(names) <= known


def test_the_seed_of_this_session_is_named_and_ci_fixes_one_while_every_night_has_another():
    assert os.environ["HOSTILE_SEED"] == str(SEED)
    assert conftest.pytest_report_header() == f"hostile inputs: HOSTILE_SEED={SEED}"
    scripts = Path(__file__).parents[2] / ".ci"
    assert "export HOSTILE_SEED=11\n" in (scripts / "run").read_text("utf-8")
    assert 'HOSTILE_SEED="${HOSTILE_SEED:-$(date +%s)}"' in (scripts / "nightly").read_text("utf-8")
