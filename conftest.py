"""What all tests and examples share: the order in which they are started, and measures that none leaves to the next."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

LONG = (
    "test_browser.py", "test_compare.py", "test_figures_in_print.py", "test_hostile_commands.py", "test_attack_files.py",
    "test_docs.py", "test_page.py", "test_answer.py", "test_parallel.py", "test_terminal.py",
    "test_randomised_tukey.py", "test_messages.py", "test_store_damage.py", "test_store.py", "test_labels_are_no_code.py",
    "test_commands.py",
    "test_metamorphic.py", "test_notebooks.py", "test_analyses.py", "test_compare_qrels.py", "test_architecture.py",
    "test_calibration.py", "test_contributing.py", "test_generated.py",
)  # fmt: skip
"""Files that take long, the longest first: their tests are marked slow."""


def choose_seed() -> int:
    """Return a seed of the commit that is tested, which can be had again; of the clock where there is no commit."""
    git = shutil.which("git")
    words = [git, "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    head = subprocess.run(words, capture_output=True, text=True, check=False).stdout if git else ""  # noqa: S603
    return int(head[:7], 16) if head else time.time_ns() % 10**9


os.environ.setdefault("HOSTILE_SEED", str(choose_seed()))  # processes of one session take it over


def pytest_sessionstart(session):
    """Compile the kernel once for all processes: no test has to expect the note that says so."""
    if not hasattr(session.config, "workerinput"):
        from metaeval.stats._permuted_sums import load_kernel

        load_kernel()


def pytest_report_header():
    """Say with which seed hostile inputs are drawn."""
    return f"hostile inputs: HOSTILE_SEED={os.environ['HOSTILE_SEED']}"


def pytest_collection_modifyitems(items):
    """Start long files first, so that no process is left to wait for one at the end."""
    for item in items:
        if item.path.name in LONG:
            item.add_marker("slow")
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.fixture(autouse=True, scope="module")
def _measures_of_this_file():
    """Forget the measures that a file of tests or examples registered."""
    from metaeval.measures import base

    before = dict(base._MEASURES)
    yield
    for name in set(base._MEASURES) - set(before):
        del base._MEASURES[name]
