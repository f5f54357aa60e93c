"""Scores that memory does not hold are read in blocks, and everything comes out as if it held them."""

import errno
import json
import os
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import metaeval as me
from metaeval.cli.output import _Progress
from metaeval.data import scratch
from metaeval.errors import MetaevalError, StoreError
from metaeval.stats import blocks, randomised_tukey, resampled_power
from metaeval.stats.parallel import listen


@contextmanager
def small_blocks(monkeypatch, shape):
    """Take everything for large: blocks of some runs or topics, several passes, resamples one after the other."""
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "LARGE", 100)
        patch.setattr(blocks, "CELLS_A_BLOCK", max(1, int(np.prod(shape)) // 5))
        patch.setattr(randomised_tukey, "SUMS_HELD", 64 * shape[0] * 40)
        patch.setattr(resampled_power, "TRIALS_A_BLOCK", 7)
        yield


@pytest.fixture(scope="module", params=[12, 135], ids=["few runs", "many runs"])
def scores(request):
    """Two identical runs, ties, one measure whose lower scores are better, and labels in no order."""
    rng, n_runs = np.random.default_rng(2), request.param
    values = np.clip(rng.normal(0, 0.1, (n_runs, 1, 3)) + rng.normal(0.5, 0.2, (n_runs, 30, 3)), 0, 1).round(2)
    values[5] = values[3]
    return me.Scores(
        values, runs=[f"r{i}" for i in rng.permutation(n_runs)], topics=rng.permutation(30),
        measures=["AP", "TER", "RR"], collection="c",
    )  # fmt: skip


@pytest.fixture
def store(scores, tmp_path):
    store = me.ScoreStore(tmp_path / "store")
    store.add(scores)
    return store


def test_what_is_read_in_blocks_is_what_was_stored(scores, store, monkeypatch):
    with small_blocks(monkeypatch, scores.values.shape):
        loaded = store.load("c")
        assert isinstance(loaded.values, np.memmap)
        assert (loaded, loaded.sha256) == (scores, scores.sha256)
        assert loaded.means().equals(scores.means())
        one = store.load("c", ["RR", "AP"])
    assert one == scores.sel(measures=["RR", "AP"])


@pytest.mark.parametrize(("engine", "n_jobs"), [("numpy", 1), ("numba", 1), ("numba", 2)])
def test_power_in_blocks_is_power_of_the_whole(scores, store, monkeypatch, engine, n_jobs):
    options = {"n_permutations": 90, "n_bootstrap": 20, "seed": 3}
    whole = me.discriminative_power(scores, engine="numpy", **options)
    heard = []
    with small_blocks(monkeypatch, scores.values.shape), listen(lambda *what: heard.append(what)):
        parts = me.discriminative_power(store.load("c"), engine=engine, n_jobs=n_jobs, **options)
        assert parts.to_dict() == whole.to_dict()
        assert parts.to_frame().equals(whole.to_frame())
    np.testing.assert_array_equal(parts.counts, whole.counts)
    np.testing.assert_allclose(parts.over_topics.shares, whole.over_topics.shares, rtol=1e-12)
    parts = [(done, total) for what, done, total in heard if what == "permuting"]
    topics = [(done, total) for what, done, total in heard if what == "permuting topics"]
    # The compiled engine pads sums of three measures to eight, so that fewer trials are held at once.
    assert parts == ([(40, 90), (80, 90), (90, 90)] if engine == "numba" else [])
    assert n_jobs > 1 or topics[-1] == (30, 30)
    # How much memory is held was stated before.
    stated, begun = (
        next(i for i, one in enumerate(heard) if text in one[0]) for text in ("held in memory", "permuting")
    )
    assert stated < begun


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}], ids=["one thread", "threads"])
@pytest.mark.parametrize("test", ["max-t", "bootstrap-t"])
def test_studentised_power_in_parts_is_power_of_the_whole(scores, store, monkeypatch, test, options):
    options = {"n_permutations": 90, "n_bootstrap": 20, "seed": 3, "test": test, **options}
    whole = me.discriminative_power(scores, **options)
    heard = []
    with small_blocks(monkeypatch, scores.values.shape), listen(lambda *what: heard.append(what)):
        monkeypatch.setattr("metaeval.analyses.variation.NUMBERS_A_BLOCK", 3 * len(scores.topics))
        parts = me.discriminative_power(store.load("c"), **options)
        assert parts.to_dict() == whole.to_dict()
        assert parts.to_frame().equals(whole.to_frame())
    np.testing.assert_array_equal(parts.counts, whole.counts)
    np.testing.assert_allclose(parts.over_topics.shares, whole.over_topics.shares, rtol=1e-12)
    for what, total in ((f"trials of {test}", 3 * 90), ("resampling topics", 3 * 20)):
        done = [one[1:] for one in heard if one[0] == what]
        assert done == sorted(done)
        assert done[-1] == (total, total)


def test_other_analyses_take_them_too(scores, store, monkeypatch):
    whole = me.split_half_consistency(scores, n_trials=20, n_permutations=50)
    with small_blocks(monkeypatch, scores.values.shape):
        parts = me.split_half_consistency(store.load("c"), n_trials=20, n_permutations=50)
    np.testing.assert_array_equal(parts.tau, whole.tau)


@pytest.mark.parametrize(("group", "column"), [(0, "run"), (0, "topic"), (0, "score"), (1, "score"), (2, "score")])
def test_a_damaged_file_is_not_read(scores, store, monkeypatch, group, column):
    (path,) = Path(store.path).glob("c.*")
    chunks = pq.read_metadata(path).row_group(group)
    chunk = next(chunks.column(i) for i in range(4) if chunks.column(i).path_in_schema == column)
    content = bytearray(path.read_bytes())
    content[chunk.data_page_offset + chunk.total_compressed_size // 2] ^= 1
    path.write_bytes(content)
    with small_blocks(monkeypatch, scores.values.shape), pytest.raises(StoreError, match="damaged"):
        store.load("c")


def test_a_full_disk_is_told(scores, store, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 5})())
    with small_blocks(monkeypatch, scores.values.shape), pytest.raises(MetaevalError, match="METAEVAL_SCRATCH"):
        store.load("c")


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system cannot reserve a file's bytes")
def test_a_temporary_file_has_its_bytes_on_the_disk_before_it_is_filled(monkeypatch):
    """Of a file with holes, a process that fills it is killed without a word once others have filled the disk."""
    sizes, reserve = [], os.posix_fallocate
    monkeypatch.setattr("os.posix_fallocate", lambda *what: sizes.append(what[1:]) or reserve(*what))
    assert not scratch.make_array((3, 4, 5)).any()
    assert sizes == [(0, 480)]


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, None], ids=["of this disk", "of this system"])
def test_a_disk_that_reserves_nothing_is_filled_with_zeros(number, monkeypatch):
    def refuse(*_):
        raise OSError(number, "unsupported")

    if number is None:
        monkeypatch.delattr("os.posix_fallocate", raising=False)
    else:
        monkeypatch.setattr("os.posix_fallocate", refuse, raising=False)
    array = scratch.make_array((3, 100, 1000))
    array += 1
    assert array.sum() == 300_000


def test_a_disk_that_is_filled_in_the_meantime_is_told(scores, store, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", refuse, raising=False)
    with small_blocks(monkeypatch, scores.values.shape), pytest.raises(MetaevalError, match="No space left .*SCRATCH"):
        store.load("c")


def test_an_estimate_of_time_is_of_the_work_that_is_going_on(monkeypatch):
    clock = iter([0.0, 10.0, 20.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    progress = _Progress()
    assert progress.describe() == ""
    progress.hear("permuting", 100, 400)
    progress.hear("permuting", 200, 400)
    assert progress.describe() == "permuting, 200 of 400, about 20 s left"
    progress.hear("resampling", 1, 9)
    assert progress.describe() == "resampling, 1 of 9"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux does")
@pytest.mark.parametrize("test", ["randomised-tukey-hsd", "max-t", "bootstrap-t"])
def test_memory_does_not_grow_with_scores_that_it_does_not_hold(tmp_path, test):
    """Power takes less memory beyond imports than the scores, of which the usual way makes several copies."""
    values = np.random.default_rng(0).integers(0, 4, (40, 40_000, 3)) / 4
    labels = {"runs": [f"{i:02d}" for i in range(40)], "topics": [f"{i:05d}" for i in range(40_000)]}
    me.ScoreStore(tmp_path / "store").add(me.Scores(values, measures=["AP", "P", "RR"], collection="c", **labels))
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        import metaeval as me
        from metaeval.stats import _max_t_trials, blocks, max_t
        _max_t_trials.NUMBERS_A_BLOCK = max_t.NUMBERS_A_BLOCK = 2**16
        blocks.LARGE, blocks.CELLS_A_BLOCK = int(sys.argv[2]), 2**18
        def peak():
            return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
        tiny = me.Scores([[[1.0], [2.0]], [[3.0], [5.0]]], runs=["a", "b"], topics=["t", "u"], measures=["AP"])
        me.discriminative_power(tiny, n_permutations=2, n_bootstrap=0)
        before = peak()
        scores = me.ScoreStore(sys.argv[1]).load("c")
        options = {"n_permutations": 16, "n_bootstrap": 0, "engine": "numpy", "test": sys.argv[3]}
        power = me.discriminative_power(scores, **options)
        print(peak() - before, power.significant.sum())
        """
    )
    grown = {}
    for large in (2**20, 2**40):
        command = [sys.executable, "-c", script, str(tmp_path / "store"), str(large), test]
        # What Arrow's own allocator keeps in reserve is no copy of scores.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        grown[large] = [int(number) for number in found.stdout.split()]
    assert grown[2**20][1] == grown[2**40][1]
    assert grown[2**20][0] < 0.5 * grown[2**40][0]


ASKED = {
    "consistency": "me.split_half_consistency(scores, n_trials=16, n_permutations=20).tau",
    "similarity": "me.ranking_similarity(scores, n_bootstrap=16).low",
    "coverage": "me.coverage(scores, reference=['AP'], n_bootstrap=16).low",
    "uir": "me.uir(scores, reference=['AP', 'RR']).ratio",
    "agreement": "me.agreement(scores, reference='AP', statistics=list(me_statistics), n_permutations=4, n_bootstrap=4).high",
}
"""Analyses of scores that are asked one after the other, with what must come out the same."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux does")
def test_memory_of_other_analyses_does_not_grow_with_them_either(tmp_path):
    values = np.random.default_rng(0).integers(0, 4, (16, 60_000, 3)) / 4
    labels = {"runs": [f"{i:02d}" for i in range(16)], "topics": [f"{i:05d}" for i in range(60_000)]}
    me.ScoreStore(tmp_path / "store").add(me.Scores(values, measures=["AP", "P", "RR"], collection="c", **labels))
    script = textwrap.dedent(
        f"""
        import json, sys, warnings
        from pathlib import Path
        import numpy as np
        import metaeval as me
        from metaeval.stats.agreement_statistics import BY_DEFAULT as me_statistics
        from metaeval.stats import blocks, resampling, tie_accuracy
        warnings.simplefilter("ignore")
        def measure(name):
            return int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0])
        def ask():
            for analysis, question in {ASKED!r}.items():
                Path("/proc/self/clear_refs").write_text("5")  # the peak is that of the next question
                before = measure("VmRSS")
                answer = np.round(eval(question), 9)
                yield analysis, measure("VmHWM") - before, answer.tolist()
        blocks.LARGE = 2**40
        tiny = np.random.default_rng(0).random((12, 30, 3))
        scores = me.Scores(tiny, runs=range(12), topics=range(30), measures=["AP", "P", "RR"])
        list(ask())  # imports
        blocks.LARGE, blocks.CELLS_A_BLOCK, tie_accuracy.LISTED = int(sys.argv[2]), 2**16, 2**16
        resampling.WEIGHTS_HELD = 2**18
        scores = me.ScoreStore(sys.argv[1]).load("c")
        print(json.dumps(list(ask())))
        """
    )
    found = {}
    for large in (2**20, 2**40):
        command = [sys.executable, "-c", script, str(tmp_path / "store"), str(large)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        found[large] = json.loads(said.stdout)
    for (analysis, grown, answer), (_, grown_whole, whole) in zip(found[2**20], found[2**40], strict=True):
        np.testing.assert_allclose(answer, whole, rtol=1e-6, err_msg=analysis)
        assert grown < 0.5 * grown_whole, analysis
