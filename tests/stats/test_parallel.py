"""The same bits, wherever the work is done."""

import joblib
import numpy as np
import pytest

import metaeval as me

TESTS = ["randomised-tukey-hsd", "max-t", "bootstrap-t"]


@pytest.fixture(scope="module")
def count():
    """Return a function that tests with any number of jobs, and what every test finds with one."""
    values = np.random.default_rng(8).random((9, 30, 3)).round(2)
    labels = {"runs": [f"r{i}" for i in range(9)], "topics": [f"t{i}" for i in range(30)]}
    scores = me.Scores(values, measures=["AP", "RR", "P@10"], collection="c", **labels)
    options = {"n_permutations": 3000, "n_bootstrap": 0}

    def run(n_jobs=1):
        return [me.discriminative_power(scores, test=test, n_jobs=n_jobs, **options).counts for test in TESTS]

    return run, run()


@pytest.mark.parametrize("backend", ["threading", "loky", "sequential"])
def test_every_backend_gives_the_same_counts(count, backend):
    run, expected = count
    with joblib.parallel_config(backend, n_jobs=2):
        assert np.array_equal(run(n_jobs=2), expected)


@pytest.mark.filterwarnings("ignore")  # dask's and tornado's own
def test_an_analysis_on_a_cluster_of_two_workers_gives_the_same_counts(count):
    distributed = pytest.importorskip("dask.distributed", reason="Dask is not installed")
    run, expected = count
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(processes=True, **options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert np.array_equal(run(n_jobs=-1), expected)
