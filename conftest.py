"""What all tests and examples share: the order in which they are started, and measures that none leaves to the next."""

import sys

import pytest

LONG = (
    "test_hostile.py", "test_docs.py", "test_compare.py", "test_acl2021.py", "test_notebooks.py", "test_page.py",
    "test_parallel.py", "test_main.py", "test_amigo2020.py", "test_lq2021.py", "test_analyses.py", "test_architecture.py",
    "test_calibration.py", "test_cardoso2011.py", "test_contributing.py", "test_store.py",
)  # fmt: skip
"""Files that take long, the longest first."""


def pytest_collection_modifyitems(items):
    """Start long files first, so that no process is left to wait for one at the end (`pytest -n 2 --dist loadfile`)."""
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.fixture(autouse=True, scope="module")
def _measures_of_this_file():
    """Forget the measures that a file of tests or examples registered, here and in the process of users' code."""
    from metaeval.measures import registry

    before = dict(registry._MEASURES)
    yield
    for name in set(registry._MEASURES) - set(before):
        del registry._MEASURES[name]
    isolation = sys.modules.get("metaeval.measures.isolation")
    if isolation is not None and isolation._child is not None:
        isolation._child.close()
