"""The same bits, wherever the work is done."""

import threading
import time

import joblib
import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError

ENGINES = ("numpy", "numba")


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(8).random((9, 30, 3)).round(2)
    labels = {"runs": [f"r{i}" for i in range(9)], "topics": [f"t{i}" for i in range(30)]}
    return me.Scores(values, measures=["AP", "RR", "P@10"], collection="c", **labels)


@pytest.fixture(params=[{"engine": "numpy"}, {"engine": "numba"}, {"test": "max-t"}, {"test": "bootstrap-t"}], ids=str)
def power(scores, request):
    """Return a function that tests with any number of jobs, and what it finds with one."""

    def run(n_jobs=1):
        options = {"n_permutations": 3000, "n_bootstrap": 0, **request.param}
        return me.discriminative_power(scores, n_jobs=n_jobs, **options).counts

    return run, run()


def test_both_engines_give_the_same_counts(scores):
    one, other = (me.discriminative_power(scores, n_permutations=3000, engine=engine).counts for engine in ENGINES)
    assert np.array_equal(one, other)


@pytest.mark.parametrize("backend", ["threading", "loky", "sequential"])
def test_every_backend_gives_the_same_counts(power, backend):
    run, expected = power
    with joblib.parallel_config(backend, n_jobs=2):
        assert np.array_equal(run(n_jobs=2), expected)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("dask.distributed", reason="the cluster extra is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as started:
        yield started


@pytest.mark.filterwarnings("ignore")  # dask's and tornado's own
class TestOnADaskClusterOfWorkerProcesses:
    def test_the_counts_are_the_same(self, power, cluster):
        run, expected = power
        with me.on_cluster(cluster.scheduler_address):
            assert np.array_equal(run(n_jobs=-1), expected)

    def test_the_command_line_works_on_it(self, scores, cluster, tmp_path):
        import subprocess
        import sys

        me.io.write_scores(scores, tmp_path / "c.csv")
        written = []
        for number, more in enumerate(([], ["--cluster", cluster.scheduler_address])):
            file = tmp_path / f"p{number}.csv"
            words = ["power", tmp_path / "c.csv", "-B", "3000", "--p-values", file, *more]
            subprocess.run([sys.executable, "-m", "metaeval", *words], capture_output=True, text=True, check=True)
            written.append(file.read_text())
        assert written[0] == written[1]
        assert written[0].count("\n") == 1 + 3 * 36

    def test_a_worker_killed_in_the_middle_changes_nothing(self, cluster):
        values = np.random.default_rng(1).random((20, 200, 4)).round(2)
        large = me.Scores(
            values, runs=range(20), topics=range(200), measures=["AP", "RR", "P@10", "nDCG"], collection="large"
        )
        trials = 60_000
        alone = me.discriminative_power(large, n_permutations=trials, engine="numba").counts
        before = {worker.pid for worker in cluster.workers.values()}
        killed = []

        def kill() -> None:
            time.sleep(0.4)
            victim = next(iter(cluster.workers.values()))
            killed.append(victim.pid)
            victim.process.process._process.kill()

        killer = threading.Thread(target=kill)
        with me.on_cluster(cluster.scheduler_address):
            killer.start()
            found = me.discriminative_power(large, n_permutations=trials, n_jobs=-1, engine="numpy").counts
        killer.join()
        assert killed
        assert killed[0] in before
        assert np.array_equal(found, alone)


def test_a_cluster_that_is_not_there_is_a_sentence():
    pytest.importorskip("dask.distributed", reason="the cluster extra is not installed")
    with pytest.raises(MetaevalError, match="does not answer"), me.on_cluster("tcp://127.0.0.1:9", timeout=0.5):
        pass
