"""Algorithm 1: split, choose parameters by OCI in cross-validation, train, test; again and again, each kept once done.

A finished repetition is a small JSON file in the cache folder, so that a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from experiments.cardoso2011.estimators import DataReplication, FrankHall
from experiments.cardoso2011.matrices import STUDY
from experiments.cardoso2011.synthetic import synthetic_set
from metaeval.datasets import built_folder
from metaeval.datasets.ordinal_classifiers import ordinal_set
from metaeval.files import write_atomically
from metaeval.measures.ordinal_index import OCI
from metaeval.stats.streams import generator

SETTINGS = STUDY["table6"]
SYNTHETIC = "synthetic"
RECIPE = 1
"""Goes up when methods or splits change: what is kept from an earlier recipe is not used."""

Maker = Callable[[float], Any]


def methods(name: str) -> dict[str, tuple[Maker, Sequence[float]]]:
    """Return how each method of a set makes a classifier from its parameter, and the values to choose from."""

    def machine(cost: float) -> SVC:
        return SVC(kernel="linear", C=cost)

    def network(decay: float) -> MLPClassifier:
        return MLPClassifier((5,), activation="tanh", solver="lbfgs", alpha=decay, max_iter=150, random_state=0)

    costs, decays = SETTINGS["costs"], SETTINGS["decays"]
    if name == SYNTHETIC:

        def products(model: Any) -> Any:
            return make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler(), model)

        return {
            "oSVM": (lambda cost: products(DataReplication(machine(cost))), costs),
            "oNN": (lambda decay: make_pipeline(StandardScaler(), DataReplication(network(decay))), decays),
            "Frank and Hall": (lambda cost: products(FrankHall(machine(cost))), costs),
        }
    return {
        "oSVM": (lambda cost: make_pipeline(StandardScaler(), DataReplication(machine(cost))), costs),
        "Frank and Hall": (lambda cost: make_pipeline(StandardScaler(), FrankHall(machine(cost))), costs),
        "Conventional": (lambda cost: make_pipeline(StandardScaler(), machine(cost)), costs),
    }


def load_data(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes, from 0, of a set of Table 6 or of the synthetic one."""
    return synthetic_set(seed) if name == SYNTHETIC else ordinal_set(SETTINGS["sets"][name])


def repeat_once(name: str, repetition: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Do Algorithm 1 once: the same split and folds for all methods.

    Where the algorithm as printed looks for the largest value, the smallest is meant: OCI is an error.
    """
    features, gold = load_data(name, seed)
    n_classes = int(gold.max()) + 1
    order = generator(seed, f"cardoso2011-{name}", "split", str(repetition)).permutation(len(gold))
    n_train = round(SETTINGS["training_share"] * len(gold))
    train, test = order[:n_train], order[n_train:]
    fold = np.arange(n_train) % SETTINGS["folds"]

    def confusion(model: Any, learnt: np.ndarray, asked: np.ndarray) -> np.ndarray:
        predicted = model.fit(features[learnt], gold[learnt]).predict(features[asked])
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        np.add.at(counts, (gold[asked], predicted), 1)
        return counts

    found: dict[str, list[dict[str, Any]]] = {}
    with warnings.catch_warnings():
        # A network that is stopped early is one of those to choose from.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for method, (make, grid) in methods(name).items():
            inner = np.array(
                [
                    [confusion(make(value), train[fold != k], train[fold == k]) for k in range(SETTINGS["folds"])]
                    for value in grid
                ],
                dtype=np.float64,
            )
            tested: dict[float, list[list[int]]] = {}
            found[method] = []
            for beta in SETTINGS["betas"]:
                value = grid[int(OCI(inner, beta=beta).mean(axis=1).argmin())]
                if value not in tested:
                    tested[value] = confusion(make(value), train, test).tolist()
                found[method].append({"beta": beta, "parameter": value, "counts": tested[value]})
    return found


def find_folder(seed: int, root: Path | None = None) -> Path:
    """Return where finished repetitions are kept: a folder for every set of settings, packages and seed."""
    fixed = {key: SETTINGS[key] for key in ("training_share", "folds", "betas", "costs", "decays", "sets")}
    packages = {name: version(name) for name in ("scikit-learn", "skordinal")}
    text = json.dumps([RECIPE, seed, fixed, packages], sort_keys=True)
    return (root or built_folder()) / "cardoso2011" / hashlib.sha256(text.encode()).hexdigest()[:12]


def repetitions(name: str, n: int, *, seed: int, n_jobs: int = 1, root: Path | None = None) -> list[dict[str, Any]]:
    """Return n repetitions of Algorithm 1, of which only those are computed that are not kept yet."""
    folder = find_folder(seed, root)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}-{repetition}.json" for repetition in range(n)]
    missing = [repetition for repetition, path in enumerate(paths) if _kept(path) is None]
    joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(_do)(paths[r], name, r, seed) for r in missing)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def count_kept(names: Iterable[str], n: int, *, seed: int, root: Path | None = None) -> int:
    """Return how many of the first n repetitions are kept for each of several sets, at least."""
    folder = find_folder(seed, root)
    missing = (next((r for r in range(n) if _kept(folder / f"{name}-{r}.json") is None), n) for name in names)
    return min(missing, default=n)


def _do(path: Path, name: str, repetition: int, seed: int) -> None:
    write_atomically(path, json.dumps(repeat_once(name, repetition, seed)))


def _kept(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
