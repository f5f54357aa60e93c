"""Scores and runs of which is known which is better; reports are opened in a browser, as pages of the playground are."""

import numpy as np

import metaeval as me
from tests.analyses.made import label
from tests.app.serve import browser  # noqa: F401  (a fixture)
from tests.cli.conftest import run  # noqa: F401  (a fixture)


def see(noise, *, n_runs=14, n_topics=40, turned=(), seed=1):
    """Scores of measures that see the quality of runs through noise of a given size; some see it upside down."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0, 1, n_runs)[:, None]
    return {
        name: quality * (1 - 2 * (name in turned)) + rng.normal(0, size, (n_runs, n_topics))
        for name, size in noise.items()
    }


def hold(columns):
    """The scores of measures that were seen."""
    return label(np.stack(list(columns.values()), axis=-1), columns, higher_is_better=True)


def make_runs(n_runs, n_topics, n_classes=5, *, seed=4, lowest=0.2, **labels):
    """Estimates of made distributions, of which every run has a larger share than the one before."""
    rng = np.random.default_rng(seed)
    gold = rng.dirichlet(np.ones(n_classes), n_topics)
    weight = np.linspace(lowest, 0.9, n_runs)[:, None, None]
    estimated = weight * gold + (1 - weight) * rng.dirichlet(np.ones(n_classes), (n_runs, n_topics))
    usual = {"runs": [f"r{i}" for i in range(n_runs)], "topics": range(n_topics), "classes": range(n_classes)}
    return me.QuantificationRuns(estimated, gold, **{**usual, **labels})


def add_baselines(runs):
    shares = {"BL-popularity": np.eye(5)[runs.gold.argmax(axis=1)], "BL-uniform": np.full_like(runs.gold, 0.2)}
    return runs.with_runs(shares)
