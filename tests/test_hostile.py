"""Hostile inputs: equal to an independent reading, or refused in one sentence. The whole: ``python -m tests.hostile``."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import share
from tests.hostile.parts import PARTS, choose_parts, share_inputs

HERE = Path(__file__).parent
QUICK = [name for name in share.MENDED if name not in share.SLOW]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the campaign forks and kills processes")


def run(*words, seconds):
    command = [sys.executable, "-m", "tests.hostile", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=HERE.parent, timeout=seconds, encoding="utf-8"
    )


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", sorted(HERE.glob("hostile/truth/*.py")), ids=lambda path: path.stem)
def test_expected_values_come_from_code_that_imports_nothing_of_metaeval(path):
    known = {"csv", "io", "json", "math", "itertools", "fractions", "dataclasses", "pandas"}
    for name in imported(path):
        assert name.split(".")[0] in known or name.startswith("tests.hostile.truth"), name


def test_the_independent_readings_load_without_metaeval():
    names = [path.stem for path in HERE.glob("hostile/truth/*.py") if path.stem != "__init__"]
    code = "import sys\n" + "".join(f"import tests.hostile.truth.{name}\n" for name in names)
    code += "import tests.hostile.made, tests.hostile.mutate\nprint('metaeval' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HERE.parent)
    assert done.stdout == "False\n"


def test_every_part_and_every_defect_is_switched_on_or_said_to_be_off():
    from tests.hostile.defects import DEFECTS

    assert sorted((*share.CLEAN, *share.PARTS_NOT_YET)) == sorted(PARTS)
    assert sorted((*share.MENDED, *share.DEFECTS_NOT_YET)) == sorted(DEFECTS)
    assert set(share.SLOW) <= set(DEFECTS)


def test_inputs_are_shared_among_all_parts():
    shares = share_inputs(choose_parts(["files", "store/kills"]), 1000)
    assert set(shares) == {name for name in PARTS if name.startswith("files")} | {"store/kills"}
    assert sum(shares.values()) == pytest.approx(1000, abs=10)


def test_the_same_seed_gives_the_same_campaign():
    words = ["--kinds", "files/tidy,files/judgements,api/frames", "--inputs", "60", "--seed", "3"]
    first, second = (run(*words, seconds=100).stdout for _ in range(2))
    cut = lambda text: [line[:66] for line in text.splitlines()]  # noqa: E731  (without the seconds)
    assert cut(first) == cut(second)
    assert "tried" in first


def test_hostile_inputs_are_read_right_or_refused_in_a_sentence():
    inputs = sum(share_inputs(PARTS, share.INPUTS)[name] for name in share.CLEAN)
    words = ["--kinds", ",".join(share.CLEAN), "--inputs", str(inputs), "--seed", str(share.SEED)]
    done = run(*words, "--seconds", str(share.SECONDS), seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def defects():
    """What the checks of mended defects say, by name."""
    done = run("--defects", ";".join(QUICK), seconds=400)
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return {rest.strip().partition(" | ")[0]: (word, rest) for word, _, rest in lines}


@pytest.mark.parametrize("name", QUICK)
def test_a_defect_that_was_mended_stays_away(defects, name):
    word, said = defects[name]
    assert word == "gone", said
