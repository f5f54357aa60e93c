"""Ten classifiers predict every item of five ordinal sets once; nine measures score them on groups of items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import metaeval
from experiments.study import Outcome, Settings, read_toml

STUDY = read_toml(Path(__file__).parent / "study.toml")


def run(settings: Settings) -> list[Outcome]:
    """Predict, score, and show the mean scores of every set.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    try:
        import skordinal  # noqa: F401  (only whether it is there)
        from sklearn.exceptions import ConvergenceWarning  # noqa: F401
    except ModuleNotFoundError:
        raise metaeval.MetaevalError(
            'the ordinal sets need scikit-learn and skordinal: pip install ".[experiments]"'
        ) from None
    outcome = Outcome("ordinal_sets", "skordinal", tolerance=STUDY["tolerance"])
    for name in STUDY["quick_sets"] if settings.quick else STUDY["sets"]:
        settings.say(f"ordinal sets: {name}")
        runs = predicted_runs(name, settings)
        scores = metaeval.score(runs, STUDY["measures"])
        caption = (
            f"Mean scores of {len(runs.runs)} runs on {name}: {len(runs.topics)} topics of about "
            f"{STUDY['items_per_topic']} items each, {len(runs.classes)} ordered classes."
        )
        signature = f"{metaeval.sign('score', scores, folds=STUDY['folds'], seed=settings.seed)}"
        outcome.tables[name] = metaeval.Table(scores.means(), caption, signature)
    outcome.notes.append("computed here, without any download, from the ordinal sets of the package skordinal")
    return [outcome]


def classifiers(classes: np.ndarray) -> dict[str, Any]:
    """Return what predicts: one constant run a class, two random ones, and five that learn.

    Parameters
    ----------
    classes : ndarray of int, shape (K,)

    Returns
    -------
    dict of str to scikit-learn estimator
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    constant = {f"always-{k}": DummyClassifier(strategy="constant", constant=k) for k in classes}
    return constant | {
        "uniform": DummyClassifier(strategy="uniform", random_state=0),
        "stratified": DummyClassifier(strategy="stratified", random_state=0),
        "bayes": GaussianNB(),
        "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(7)),
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
        "forest": RandomForestClassifier(50, random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    }


def predicted_runs(name: str, settings: Settings) -> metaeval.ClassificationRuns:
    """Return the runs of all classifiers on one set, items grouped at random into topics.

    Parameters
    ----------
    name : str
        ``"swd"``, ``"lev"``, …
    settings : Settings

    Returns
    -------
    ClassificationRuns
    """
    import skordinal.datasets
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    data = getattr(skordinal.datasets, f"load_{name}")()
    features, gold = np.asarray(data.data, dtype=float), np.asarray(data.target)
    rng = np.random.default_rng(settings.seed)
    order = rng.permutation(len(gold))
    features, gold = features[order], gold[order]
    classes = np.arange(data.n_classes)
    labels, sizes = np.unique(gold, return_counts=True)
    folds = StratifiedKFold(min(STUDY["folds"], max(2, sizes.min())), shuffle=True, random_state=settings.seed)
    keep = np.isin(gold, labels[sizes >= 2])  # a class of one item cannot be both learnt and predicted
    features, gold = features[keep], gold[keep]
    topic = np.arange(len(gold)) % max(2, len(gold) // STUDY["items_per_topic"])
    models = classifiers(np.unique(gold))
    counts = np.zeros((len(models), topic.max() + 1, len(classes), len(classes)), dtype=int)
    for r, model in enumerate(models.values()):
        predicted = cross_val_predict(model, features, gold, cv=folds, n_jobs=settings.n_jobs)
        np.add.at(counts[r], (topic, gold, predicted), 1)
    return metaeval.ClassificationRuns(
        counts,
        runs=list(models),
        topics=[f"group{t + 1}" for t in range(topic.max() + 1)],
        classes=[str(k) for k in classes],
        collection=f"ordinal-{name.replace('_', '-')}",
        provenance=f"skordinal {skordinal.__version__}, {len(gold)} items",
    )
