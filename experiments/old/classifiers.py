"""What studies share whose numbers depend on trained classifiers: versions, and what is kept of earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from metaeval.datasets import dataset
from metaeval.datasets.ordinal import kept_file


def describe_versions(made_with: Mapping[str, str]) -> list[str]:
    """Say with which other versions the committed results were made, if so.

    Parameters
    ----------
    made_with : mapping of str to str
        Version by package.

    Returns
    -------
    list of str
        Empty where the same versions are installed.
    """
    installed = {package: find_version(package) for package in made_with}
    if installed == dict(made_with):
        return []
    return [f"made with {installed}, the committed results with {dict(made_with)}"]


def find_version(package: str) -> str | None:
    """Return the installed version of a package, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def is_kept(name: str) -> bool:
    """Tell whether a set of classifiers' runs is in the user's cache folder already.

    Parameters
    ----------
    name : str
        A data set: ``"ordinal-swd"``.

    Returns
    -------
    bool
    """
    return kept_file(dataset(name)).exists()
