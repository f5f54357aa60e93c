"""Which hostile inputs are tried: others with every commit, the same ones again with the seed that a session names."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GIT = shutil.which("git")
ROOT = Path(__file__).parents[2]


def find_seed(folder, **given):
    """Return the seed that the head of a session in a folder names."""
    environment = {name: value for name, value in os.environ.items() if name != "HOSTILE_SEED"} | given
    words = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", str(folder)]
    head = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout
    return int(re.search(r"^hostile inputs: HOSTILE_SEED=(\d+)$", head, re.MULTILINE)[1])


def commit(folder, message):
    words = [GIT, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", message]
    subprocess.run(words, cwd=folder, check=True)


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_every_commit_tries_other_inputs_and_the_same_commit_the_same(tmp_path):
    shutil.copy(ROOT / "conftest.py", tmp_path)
    subprocess.run([GIT, "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path, "One.")
    first = find_seed(tmp_path)
    assert find_seed(tmp_path) == first
    assert find_seed(tmp_path, HOSTILE_SEED="3") == 3
    commit(tmp_path, "Two.")
    assert find_seed(tmp_path) != first


def test_the_seed_of_this_session_is_the_one_that_cases_are_drawn_with():
    from tests.hostile.case import SEED

    assert os.environ["HOSTILE_SEED"] == str(SEED)
