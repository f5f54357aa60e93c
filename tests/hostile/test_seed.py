"""Which hostile inputs are tried: others with every commit, the same ones again with the seed that a session names."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import conftest
from tests.hostile.case import SEED

GIT = shutil.which("git")


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_every_commit_tries_other_inputs_and_the_same_commit_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(conftest, "__file__", str(tmp_path / "conftest.py"))
    git = [GIT, "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    seeds = []
    for message in ("One.", "Two."):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
        seeds.append(conftest.choose_seed())
        assert conftest.choose_seed() == seeds[-1]
    assert seeds[0] != seeds[1]


def test_the_seed_of_this_session_is_named_and_ci_fixes_one_while_every_night_has_another():
    assert os.environ["HOSTILE_SEED"] == str(SEED)
    assert conftest.pytest_report_header() == f"hostile inputs: HOSTILE_SEED={SEED}"
    scripts = Path(__file__).parents[2] / ".ci"
    assert "export HOSTILE_SEED=11\n" in (scripts / "run").read_text("utf-8")
    assert 'HOSTILE_SEED="${HOSTILE_SEED:-$(date +%s)}"' in (scripts / "nightly").read_text("utf-8")
