"""Scoring, the store and the command line's start."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import metaeval as me
from benchmarks.tukey import fastest, row


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure scoring against a loop over runs and topics, the store against pickle and CSV, and ``metaeval --help``.

    Parameters
    ----------
    quick : bool
        Fewer repeats.

    Returns
    -------
    list of dict
        Rows of name, seconds, peer seconds, ratio and demand.
    """
    repeats = 3 if quick else 10
    return [*_scoring(repeats), *_store(repeats), _start(repeats)]


def _scoring(repeats: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(5), size=(23, 390))
    labels: dict[str, Any] = {"runs": range(22), "topics": range(390), "classes": range(5)}
    distributions = me.QuantificationRuns(shares[:22], shares[22], **labels)
    oq = ["NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD"]

    gold = rng.multinomial(100, np.full(5, 0.2), size=125)
    counts = np.empty((20, 125, 5, 5), dtype=int)
    for t, sizes in enumerate(gold):
        for g, size in enumerate(sizes):
            counts[:, t, g] = rng.multinomial(size, np.full(5, 0.2), size=20)
    confusions = me.ClassificationRuns(counts, runs=range(20), topics=range(125), classes=range(5))
    oc = ["CEM_ORD", "kappa", "alpha_ORD", "alpha_INT", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR"]

    def by_wasserstein() -> None:
        from scipy.stats import wasserstein_distance

        classes = np.arange(5)
        for r in range(22):
            for t in range(390):
                wasserstein_distance(classes, classes, shares[r, t], shares[22, t])

    def one_by_one(names: list[str], cases: Callable[[], Any]) -> None:
        for case in cases():
            for name in names:
                me.measure(name).evaluate(*case)

    all_oq = fastest(lambda: me.score(distributions, oq), repeats)
    matrices = rng.integers(0, 9, (100_000, 5, 5)).astype(float)
    index = me.measure("OCI")
    each = fastest(lambda: one_by_one(oc, lambda: ((one,) for one in counts.reshape(-1, 5, 5))), 1)
    return [
        row("22 runs × 390 topics × 6 OQ measures", all_oq, None, "≤ 50 ms"),
        row("NMD alone; peer: scipy's wasserstein_distance in a loop",
            fastest(lambda: me.score(distributions, "NMD"), repeats), fastest(by_wasserstein, 1), ""),
        row("20 runs × 125 topics × 9 OC measures; peer: ours one by one",
            fastest(lambda: me.score(confusions, oc), repeats), each, "≤ 50 ms"),
        row("OCI of 100,000 confusion matrices of 5 classes",
            fastest(lambda: index.evaluate(matrices), repeats), None, "≤ 0.5 s"),
        row("OCI of one confusion matrix", fastest(lambda: index.evaluate(matrices[0]), 50), None, "≤ 1 ms"),
    ]  # fmt: skip


def _store(repeats: int) -> list[dict[str, Any]]:
    values = np.random.default_rng(0).random((100, 300, 10))
    names = [f"m{number}" for number in range(10)]
    scores = me.Scores(values, runs=range(100), topics=range(300), measures=names, collection="c")
    with tempfile.TemporaryDirectory() as folder:
        store = me.ScoreStore(f"{folder}/store")
        frame = scores.to_frame()
        csv = fastest(lambda: frame.to_csv(f"{folder}/peer.csv"), 1)
        written = fastest(lambda: store.add(scores, replace=True), repeats)
        loaded = fastest(lambda: store.load("c"), repeats)
        one = fastest(lambda: store.load("c", ["m3"]), repeats)
    return [
        row("store: write 300,000 scores; peer: pandas to_csv", written, csv, "≤ 0.2 s"),
        row("store: load them all", loaded, None, "≤ 0.1 s"),
        row("store: load one measure of ten", one, None, ""),
    ]


def _start(repeats: int) -> dict[str, Any]:
    def start(*words: str) -> None:
        subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)  # noqa: S603

    bare = fastest(lambda: start("-c", "pass"), repeats)
    helped = fastest(lambda: start("-m", "metaeval", "--help"), repeats)
    return row("metaeval --help, whole process; peer: python -c pass", helped, bare, "≤ 0.3 s")
