"""Classifiers on the ordinal sets of the package skordinal: collections that are trained here, and what is kept of them.

Twenty-two classifiers predict every item of a set once, in ten-fold cross-validation; the items are assigned to topics at
random. That takes a few seconds a set, once: the counts are kept in the user's cache folder. Another version of
scikit-learn may predict a few items differently.
"""

from __future__ import annotations

import functools
import io
import json
import tomllib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from metaeval import ClassificationRuns
from metaeval.datasets import Dataset
from metaeval.errors import DatasetError
from metaeval.files import write_atomically
from metaeval.stats.streams import generator, stream_key

RECIPE = 1
"""Increase it when classifiers, folds or topics change: runs kept of an earlier recipe are computed again."""

PACKAGES = ("scikit-learn", "skordinal")
SEED, FOLDS, ITEMS_PER_TOPIC = 0, 10, 20
_TABLES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def built_folder() -> Path:
    """Return the user's cache folder, for what is computed; METAEVAL_DATA may be shared or read-only."""
    return Path(platformdirs.user_cache_dir("metaeval"))


@functools.cache
def list_sets() -> dict[str, Dataset]:
    """Return what is known of the sets, by the names of their collections."""
    where = "computed on first use from the data in the Python package skordinal (pip install 'metaeval[experiments]')"
    return {
        name: Dataset(
            name,
            table["title"],
            "classification",
            table["rows"],
            tuple(table["classes"]),
            options={"set": table["set"]},
            credits=f"{table['credits']}; {_TABLES['trained_with']}",
            where=where,
        )
        for name, table in _TABLES["sets"].items()
    }


def load(name: str) -> ClassificationRuns:
    """Return the runs of a set: those that are kept, if recipe and packages are the present ones, or else new ones."""
    path, recipe = kept_file(name), {"recipe": RECIPE, "packages": find_versions()}
    if path.is_file():
        with np.load(path) as stored:
            labels = json.loads(str(stored["labels"]))
            if labels.pop("made") == recipe:
                return ClassificationRuns(stored["counts"], **labels)
    runs = train(name)
    labels = {key: getattr(runs, key) for key in ("runs", "topics", "classes", "collection", "provenance")}
    content = io.BytesIO()
    np.savez_compressed(content, counts=runs.counts, labels=json.dumps({**labels, "made": recipe}))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content.getvalue())
    return runs


def kept_file(name: str) -> Path:
    """Return where the runs of a set are kept."""
    return built_folder() / "ordinal" / f"{name}.npz"


def is_kept(name: str) -> bool:
    """Tell whether the runs of a set are there already."""
    return kept_file(name).exists()


def find_versions() -> dict[str, str | None]:
    """Return the installed version of every package, None where it is not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def train(name: str, *, seed: int = SEED, folds: int = FOLDS) -> ClassificationRuns:
    """Train the classifiers of a set and predict all items; the result depends only on skordinal's data and the seed."""
    known = list_sets()[name]
    features, gold = ordinal_set(known.options["set"])
    fold = assign_folds(gold, folds, seed, name)
    n_items, n_topics, K = len(gold), len(gold) // ITEMS_PER_TOPIC, len(known.classes)
    topic = generator(seed, name, "topics").permutation(np.arange(n_items) % n_topics)
    models = classifiers(gold, seed, name)
    counts = np.zeros((len(models), n_topics, K, K), dtype=np.int64)
    for r, model in enumerate(models.values()):
        predicted = np.empty(n_items, dtype=np.int64)
        for k in range(folds):
            model.fit(features[fold != k], gold[fold != k])
            predicted[fold == k] = model.predict(features[fold == k])
        np.add.at(counts[r], (topic, gold, predicted), 1)
    packages = ", ".join(f"{package} {number}" for package, number in find_versions().items())
    return ClassificationRuns(
        counts,
        runs=models,
        topics=[f"group-{t + 1}" for t in range(n_topics)],
        classes=known.classes,
        collection=name,
        provenance=f"made here, recipe {RECIPE}, seed {seed}, {packages}",
    )


def ordinal_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and classes of one of skordinal's data sets."""
    try:
        import skordinal.datasets
    except ImportError as error:
        raise DatasetError(
            f"the ordinal sets need scikit-learn and skordinal ({error}): pip install 'metaeval[experiments]'"
        ) from None
    data = getattr(skordinal.datasets, f"load_{name}")()
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target, dtype=np.int64)


def assign_folds(gold: np.ndarray, folds: int, seed: int, name: str) -> np.ndarray:
    """Assign the items to folds at random, so that each class is spread evenly over the folds.

    A class with at least two items therefore occurs in every training set.

    >>> assign_folds(np.array([0] * 4 + [1] * 2), 2, 0, "an example").tolist().count(0)
    3
    """
    order = generator(seed, name, "folds").permutation(len(gold))
    order = order[np.argsort(gold[order], kind="stable")]
    fold = np.empty(len(gold), dtype=np.int64)
    fold[order] = np.arange(len(gold)) % folds
    return fold


def classifiers(gold: np.ndarray, seed: int, name: str) -> dict[str, Any]:
    """Return the classifiers: baselines, nominal classifiers, rounded regressions, and ordinal classifiers."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier
    from skordinal.classifiers import (
        KDLOR,
        POM,
        LogisticAT,
        LogisticIT,
        ORBoost,
        OrdinalDecomposition,
        RegressorWrapper,
    )

    def scaled(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model)

    def state(run: str) -> dict[str, int]:
        return {"random_state": stream_key(seed, name, run) % 2**32}

    constant = {"lowest": gold.min(), "median": int(np.median(gold)), "highest": gold.max()}
    return {
        **{f"always-{which}": DummyClassifier(strategy="constant", constant=k) for which, k in constant.items()},
        "uniform": DummyClassifier(strategy="uniform", **state("uniform")),
        "stratified": DummyClassifier(strategy="stratified", **state("stratified")),
        "naive-bayes": GaussianNB(),
        "nearest": scaled(KNeighborsClassifier(1)),
        "neighbours": scaled(KNeighborsClassifier(15)),
        "stump": DecisionTreeClassifier(max_depth=1, **state("stump")),
        "tree": DecisionTreeClassifier(max_depth=5, **state("tree")),
        "forest": RandomForestClassifier(30, **state("forest")),
        "boosting": AdaBoostClassifier(n_estimators=30, **state("boosting")),
        "logistic": scaled(LogisticRegression(max_iter=2000)),
        "svm": scaled(SVC()),
        "ridge-rounded": scaled(RegressorWrapper(Ridge())),
        "forest-rounded": RegressorWrapper(RandomForestRegressor(30, **state("forest-rounded"))),
        "frank-hall-trees": OrdinalDecomposition(DecisionTreeClassifier(max_depth=5, **state("frank-hall-trees"))),
        "proportional-odds": scaled(POM()),
        "all-thresholds": scaled(LogisticAT()),
        "immediate-thresholds": scaled(LogisticIT()),
        "kernel-discriminant": scaled(KDLOR()),
        "ordinal-boosting": scaled(ORBoost()),
    }
