"""Which hostile inputs are tried: others with every commit, the same ones again with the seed that a session names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.case import SEED

GIT = shutil.which("git")


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_every_commit_tries_other_inputs_and_the_same_commit_the_same(tmp_path):
    shutil.copy(Path(__file__).parents[2] / "conftest.py", tmp_path)
    environment = {name: value for name, value in os.environ.items() if name != "HOSTILE_SEED"}
    code = "import conftest, os; print(conftest.pytest_report_header().removeprefix('hostile inputs: HOSTILE_SEED='))"

    def find_seed(**given):
        words = [sys.executable, "-c", code]
        return subprocess.run(words, cwd=tmp_path, env=environment | given, capture_output=True, check=True).stdout

    subprocess.run([GIT, "init", "-q"], cwd=tmp_path, check=True)
    seeds = []
    for message in ("One.", "Two."):
        commit = [GIT, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", message]
        subprocess.run(commit, cwd=tmp_path, check=True)
        seeds.append(find_seed())
        assert find_seed() == seeds[-1]
    assert seeds[0] != seeds[1]
    assert find_seed(HOSTILE_SEED="3") == b"3\n"


def test_the_seed_of_this_session_is_the_one_that_cases_are_drawn_with():
    assert os.environ["HOSTILE_SEED"] == str(SEED)
