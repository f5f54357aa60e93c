"""Topics in clusters, and predictions of reliability: how often tests err, and how far predictions are off."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from metaeval.stats.pair_tests import FLIPPING, all_pairs_test
from metaeval.stats.resampling import pool_clusters

RUNS, SIZE, B, ALPHA = 22, 10, 400, 0.05
STUDIES, MANY_STUDIES = 1000, 4000
TESTS = ("bootstrap-t", "max-t", "randomised-tukey-hsd")
SPLITS = 20


def draw_sizes(kind: str, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return how many topics each cluster has, about ten on average: equal, mildly or strongly unequal."""
    if kind == "equal":
        return np.full(n_clusters, SIZE)
    if kind == "1 to 19":
        return rng.integers(1, 2 * SIZE, n_clusters)
    shares = rng.lognormal(0, 0.9, n_clusters)
    return np.maximum(1, np.rint(shares / shares.sum() * SIZE * n_clusters)).astype(int)


def simulate(kind: str, n_clusters: int, correlation: float, study: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal scores of runs with the same mean, shape (run, topic, 1), and the cluster of each topic."""
    rng = np.random.default_rng([study, n_clusters, int(100 * correlation), len(kind)])
    clusters = np.repeat(np.arange(n_clusters), draw_sizes(kind, n_clusters, rng))
    shared = rng.normal(size=(RUNS, n_clusters))[:, clusters]
    own = rng.normal(size=shared.shape)
    return (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)[..., np.newaxis], clusters


def count_errors(kind: str, n_clusters: int, correlation: float) -> Iterator[dict[str, object]]:
    """Yield how often each test finds a difference where there is none, with clusters and without."""
    # The recommended test, whose error is near the bound, is tried more often.
    tried = {(TESTS[0], True): MANY_STUDIES if correlation else STUDIES}
    if correlation:
        tried |= {(test, True): STUDIES for test in TESTS[1:]} | {(TESTS[0], False): STUDIES}
    errors = dict.fromkeys(tried, 0)
    for study in range(max(tried.values())):
        scores, clusters = simulate(kind, n_clusters, correlation, study)
        pooled = {sums: pool_clusters(scores, clusters, sums=sums) for sums in (False, True)}
        for test, drawn in [asked for asked, n_studies in tried.items() if study < n_studies]:
            given = pooled[test in FLIPPING] if drawn else scores
            found = all_pairs_test(given, test=test, n_permutations=B, key=study)
            errors[test, drawn] += bool((found.p <= ALPHA).any())
    for (test, drawn), count in errors.items():
        n_studies = tried[test, drawn]
        rate = count / n_studies
        yield {
            "clusters": n_clusters, "sizes": kind, "correlation": correlation, "test": test, "drawn": drawn,
            "studies": n_studies, "error": round(rate, 4), "se": round(float(np.sqrt(rate * (1 - rate) / n_studies)), 4),
        }  # fmt: skip


def list_matrices() -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield collection, measure and scores, shape (run, topic), of the TREC matrices."""
    for data_set in metaeval.datasets.datasets():
        if data_set.name.startswith("trec-"):
            scores = metaeval.load_dataset(data_set.name)
            for m, measure in enumerate(scores.measures):
                yield data_set.name, str(measure), scores.values[..., m]
    for path in sorted(Path(os.environ["METAEVAL_DATA"], "reliability").glob("*.csv")):
        yield path.stem, "AP", pd.read_csv(path).to_numpy(dtype=np.float64).T


def predict_halves(values: np.ndarray, seed: int) -> dict[str, float]:
    """Predict from a random half of the topics what the other half will show, and see; means over splits."""
    n_runs, n_topics = values.shape
    half = n_topics // 2
    rows = []
    for split in range(SPLITS):
        order = np.random.default_rng([seed, split]).permutation(n_topics)
        parts = [values[:, order[:half]], values[:, order[half : 2 * half]]]
        known, other = (
            metaeval.variance_components(metaeval.Scores(
                part[..., np.newaxis], runs=range(n_runs), topics=range(half), measures=["score"]), confidence=0.9)
            for part in parts
        )  # fmt: skip
        means = [part.mean(axis=1) for part in parts]
        agreed = metaeval.stats.rank_correlation.tau(*means)
        rows.append(
            {
                "predicted": known.reliability["Eρ²"].item(),
                "observed": np.corrcoef(*means)[0, 1],
                "predicted_tau": known.reliability["expected_tau"].item(),
                "observed_tau": float(agreed),
                "ratio": (other.reliability["detectable"] / known.reliability["detectable"]).item(),
            }
        )
    frame = pd.DataFrame(rows)
    off = (frame["predicted"] - frame["observed"]).abs().mean()
    off_tau = (frame["predicted_tau"] - frame["observed_tau"]).abs().mean()
    spread = np.exp(np.log(frame["ratio"]).abs().mean()) - 1
    return {**frame.mean().drop("ratio"), "error": off, "error_tau": off_tau, "error_detectable": spread}


def count_clusters() -> pd.DataFrame:
    """How often do tests of equal runs err whose topics are in clusters?"""
    cells = [(kind, n, c) for c in (0.5, 0.0) for kind in ("equal", "1 to 19", "lognormal") for n in (25, 50)]
    return pd.DataFrame(row for cell in cells for row in count_errors(*cell))


def predict_matrices() -> pd.DataFrame:
    """How far off are predictions from half of the topics of the TREC matrices?"""
    return pd.DataFrame(
        {"collection": collection, "measure": measure, "runs": len(values), "topics": values.shape[1] // 2}
        | predict_halves(values, number)
        for number, (collection, measure, values) in enumerate(list_matrices())
    ).round(4)
