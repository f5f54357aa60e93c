"""The runs of the ordinal collections: data sets of skordinal, folds, and the classifiers that predict the items."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from metaeval.data.runs import ClassificationRuns
from metaeval.datasets.registry import Dataset
from metaeval.errors import DatasetError
from metaeval.stats.streams import generator, stream_key

RECIPE = 1
"""Increase it when classifiers, folds or topics change: runs stored with an earlier recipe are computed again."""
PACKAGES = ("scikit-learn", "skordinal")


def make(data_set: Dataset, *, progress: bool = True) -> ClassificationRuns:
    """Train the classifiers of a set and predict all items; the result depends only on skordinal's data and the seed."""
    from rich.console import Console
    from rich.progress import track

    options = data_set.options
    features, gold = ordinal_set(options["set"])
    seed, n_items = options["seed"], len(gold)
    fold = assign_folds(gold, options["folds"], seed, data_set.name)
    n_topics = n_items // options["items_per_topic"]
    topic = generator(seed, data_set.name, "topics").permutation(np.arange(n_items) % n_topics)
    models = classifiers(gold, seed, data_set.name)
    counts = np.zeros((len(models), n_topics, len(data_set.classes), len(data_set.classes)), dtype=np.int64)
    console = Console(stderr=True)
    shown: Any = {"console": console, "transient": True, "disable": not (progress and console.is_terminal)}
    for r, model in enumerate(track(models.values(), f"{data_set.name}: classifiers", **shown)):
        predicted = np.empty(n_items, dtype=np.int64)
        for k in range(options["folds"]):
            model.fit(features[fold != k], gold[fold != k])
            predicted[fold == k] = model.predict(features[fold == k])
        np.add.at(counts[r], (topic, gold, predicted), 1)
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return ClassificationRuns(
        counts,
        runs=models,
        topics=[f"group-{t + 1}" for t in range(n_topics)],
        classes=data_set.classes,
        collection=data_set.name,
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
