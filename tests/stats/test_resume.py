"""Finished trials are kept in a folder, and a study that was killed goes on from there with the same bits."""

import errno
import io
import os
import stat

import joblib
import numpy as np
import pytest

import metaeval as me
from benchmarks.resume import Study, kill_and_resume
from metaeval.errors import MetaevalError
from metaeval.stats import (
    _max_t_trials as max_t_trials,
    blocks,
    parallel,
    randomised_tukey as tukey,
    split_half,
)
from metaeval.stats.paired_tests import all_pairs_test
from metaeval.stats.parallel import listen, write_entry

VALUES = np.random.default_rng(0).random((5, 12, 2))


def count(**options):
    return tukey.randomised_tukey_hsd(VALUES, key=options.pop("key", 1), n_permutations=2000, **options)


@pytest.fixture
def computed(monkeypatch):
    """Return the blocks of trials that are computed from now on."""
    blocks, compute = [], tukey.trial_ranges

    def note(units, key, trials, *, engine):
        blocks.append(trials)
        return compute(units, key, trials, engine=engine)

    monkeypatch.setattr(tukey, "trial_ranges", note)
    monkeypatch.setattr(tukey, "KEPT_WORK", 1)
    return blocks


def test_what_is_kept_is_not_computed_again_by_any_engine_or_number_of_jobs(computed, tmp_path):
    expected = count()
    computed.clear()
    for options in ({}, {"n_jobs": 2}, {"engine": "numba"}, {"engine": "numpy", "n_jobs": -1}):
        with parallel.resumable(tmp_path / "work"):
            assert (count(**options) == expected).all()
        assert computed == [range(0, 640), range(640, 1280), range(1280, 1920), range(1920, 2000)]


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_blocks_of_topics_are_kept_under_the_names_of_the_whole(engine, computed, tmp_path):
    expected = count()
    computed.clear()

    def count_in_blocks():
        computed.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "LARGE", 0)
            patch.setattr(blocks, "CELLS_A_BLOCK", VALUES.size // 3)
            assert (count(engine=engine) == expected).all()
        return len(computed)

    with parallel.resumable(tmp_path):
        assert count_in_blocks() == 4
        assert count_in_blocks() == 0
        sorted(tmp_path.iterdir())[0].unlink()
        assert count_in_blocks() == 1
        computed.clear()
        assert (count() == expected).all()
        assert not computed


def test_other_scores_seeds_and_trials_are_other_work(computed, tmp_path):
    with parallel.resumable(tmp_path):
        count()
        before = len(computed)
        assert (count(key=2) != count()).any()
        assert len(computed) == 2 * before
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "VALUES", VALUES[:, ::-1])
            count()
        assert len(computed) == 3 * before
        count(first_trial=640)
        assert computed[3 * before :] == [range(1920, 2560), range(2560, 2640)]


def flip_a_bit(paths):
    for number, path in enumerate(paths):
        content = bytearray(path.read_bytes())
        content[-1 - 50 * number] ^= 1
        path.write_bytes(content)


def replace_by_a_pipe(paths):
    paths[0].unlink()
    os.mkfifo(paths[0])


def forge(change):
    """Write what is no result of the task, with its digest."""

    def write(paths):
        for path in paths:
            stream = io.BytesIO()
            np.save(stream, change(np.load(io.BytesIO(path.read_bytes()))), allow_pickle=True)
            write_entry(path, stream.getvalue())

    return write


SPOILT = {
    "a bit is flipped": (flip_a_bit, 4),
    "a file stands in the place of another": (lambda paths: paths[1].write_bytes(paths[0].read_bytes()), 1),
    "killed before a file was written": (lambda paths: paths[1].unlink(), 1),
    "a pipe is not waited for": (replace_by_a_pipe, 1),
    "no array": (lambda paths: [write_entry(path, b"no array") for path in paths], 4),
    "cut": (forge(lambda array: array[:-1]), 4),
    "fewer axes": (forge(lambda array: array[:, 0]), 4),
    "other numbers": (forge(lambda array: array * np.nan), 4),
    "texts": (forge(lambda array: array.astype(str)), 4),
    "objects": (forge(lambda _: np.array([print], dtype=object)), 4),
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_no_result_of_the_task_is_computed_again(how, computed, tmp_path):
    spoil, n_blocks = SPOILT[how]
    if spoil is replace_by_a_pipe and not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes with names")
    expected = count()
    with parallel.resumable(tmp_path):
        count()
        spoil(sorted(tmp_path.iterdir()))
        computed.clear()
        assert (count() == expected).all()
    assert len(computed) == n_blocks


def test_progress_and_time_left_are_of_what_is_computed_and_not_of_what_is_found(computed, tmp_path):
    heard = []
    with parallel.resumable(tmp_path), listen(lambda *what: heard.append(what)):
        count()
        whole = [("permuting", stop, 2000) for stop in (640, 1280, 1920, 2000)]
        assert [one for one in heard if one[2]] == whole
        # Blocks 0 to 640 and 1280 to 1920 are found.
        for path in tmp_path.iterdir():
            if path.stem.endswith(("-640-1280", "-1920-2000")):
                path.unlink()
        heard.clear()
        count()
    assert [one for one in heard if one[2]] == [("permuting", 640, 720), ("permuting", 720, 720)]


def test_splits_in_parts_are_counted_of_all_splits(tmp_path, monkeypatch):
    monkeypatch.setattr(split_half, "KEPT_WORK", 1)
    heard = []
    with parallel.resumable(tmp_path), listen(lambda *what: heard.append(what)):
        split_half.split_half_tau(VALUES, n_trials=40, key=1)
    assert heard == [("splits", 16, 40), ("splits", 32, 40), ("splits", 40, 40)]


def test_what_another_user_put_into_the_folder_is_not_read(computed, tmp_path, monkeypatch):
    describe = os.fstat

    def describe_as_anothers(handle):
        about = list(describe(handle))
        about[stat.ST_UID] = 65534
        return os.stat_result(about)

    with parallel.resumable(tmp_path):
        expected = count()
        computed.clear()
        monkeypatch.setattr("os.fstat", describe_as_anothers)
        assert (count() == expected).all()
    assert len(computed) == 4


def test_processes_keep_their_work_too(tmp_path, monkeypatch):
    monkeypatch.setattr(tukey, "KEPT_WORK", 1)
    with parallel.resumable(tmp_path), joblib.parallel_config("loky"):
        found = count(n_jobs=2)
    assert len(list(tmp_path.iterdir())) == 4
    assert (found == count()).all()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(MetaevalError, match="finished work cannot be kept there"), me.resumable(tmp_path / "file"):
        pass


def test_a_folder_that_is_read_only_is_told_before_work_begins(tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(MetaevalError, match="cannot be kept there: Read-only"), me.resumable(tmp_path):
        pass


MAX_T = [
    {"test": test, **more}
    for test, more in (("max-t", {}), ("bootstrap-t", {}), ("bootstrap-t", {"variance_offset": 0.5}))
]


def is_large():
    return VALUES.nbytes > blocks.LARGE


@pytest.fixture(params=["together", "one measure at a time"])
def run_max_t(monkeypatch, request):
    """Return a function that tests, and notes the blocks of trials that it computes."""
    computed, compute = [], max_t_trials.run_trials

    def note(statistics, test, trials, **options):
        computed.append(trials)
        return compute(statistics, test, trials, **options)

    def run(values=VALUES, **options):
        del computed[:]
        result = all_pairs_test(values, **{"n_permutations": 250, "key": 1, **options})
        return result.counts, list(computed)

    monkeypatch.setattr(max_t_trials, "run_trials", note)
    monkeypatch.setattr(max_t_trials, "TRIALS_A_BLOCK", 50)
    monkeypatch.setattr(max_t_trials, "KEPT_WORK", 1)
    monkeypatch.setattr(max_t_trials, "FEWEST_TRIALS", 1)
    monkeypatch.setattr("metaeval.stats.max_t.ENUMERATED_TOPICS", 2)
    if request.param != "together":
        monkeypatch.setattr(blocks, "LARGE", 0)
    return run


@pytest.mark.parametrize("options", MAX_T)
def test_max_t_finds_what_is_kept_again_with_any_number_of_jobs(options, run_max_t, tmp_path):
    expected, whole = run_max_t(**options)
    n_blocks = len(whole)
    assert n_blocks == 5 * (1 + is_large())
    with parallel.resumable(tmp_path / "work"):
        assert (run_max_t(**options)[0] == expected).all()
        files = sorted((tmp_path / "work").iterdir())
        assert len(files) == n_blocks
        for n_jobs in (2, 1):
            again, computed = run_max_t(n_jobs=n_jobs, **options)
            assert (again == expected).all()
            assert not computed
        # A file is missing, and another one is damaged: only these are computed again.
        files[1].unlink()
        files[3].write_bytes(files[3].read_bytes()[:-1])
        again, computed = run_max_t(**options)
        assert (again == expected).all()
        assert len(computed) == 2
        # What was computed serves more trials too.
        assert len(run_max_t(**options | {"n_permutations": 300})[1]) == n_blocks // 5
    # Kept blocks may be larger than those that are held at once.
    with parallel.resumable(tmp_path / "larger"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(max_t_trials, "KEPT_WORK", 10**6)
        again, computed = run_max_t(**options)
        assert (again == expected).all()
        assert len(computed) == n_blocks // 5
        assert not run_max_t(**options)[1]


def test_progress_of_max_t_counts_what_is_computed(run_max_t, tmp_path):
    heard = []
    with parallel.resumable(tmp_path), listen(lambda _, done, total: heard.append((done, total)) if total else None):
        run_max_t(test="max-t")
        assert heard[-1][0] == heard[-1][1] >= 250
        heard.clear()
        run_max_t(test="max-t")
        assert not heard
        next(path for path in tmp_path.iterdir() if path.stem.endswith("-0-50")).unlink()
        run_max_t(test="max-t")
    ((done, total),) = heard
    assert done == 50
    assert total in (50, 300)  # what is kept of a later measure is not known yet


def test_other_settings_of_max_t_are_other_work(run_max_t, tmp_path):
    other = VALUES + np.eye(5, 12)[..., np.newaxis]
    settings = [*MAX_T, {"test": "bootstrap-t", "variance_offset": 0.0}]
    settings += [{**one, "key": 2} for one in MAX_T] + [{**one, "values": other} for one in MAX_T]
    for one in settings:
        expected, whole = run_max_t(**one)
        with parallel.resumable(tmp_path):
            found, computed = run_max_t(**one)
        assert len(computed) == len(whole), one
        assert (found == expected).all()


def test_a_measure_of_large_scores_is_found_again_among_others(run_max_t, tmp_path):
    with parallel.resumable(tmp_path):
        both = run_max_t(test="bootstrap-t")[0]
        alone, computed = run_max_t(VALUES[..., 1:], test="bootstrap-t")
    assert (alone[0] == both[1]).all()
    assert (not computed) == is_large()


def test_all_sign_vectors_are_kept_whatever_the_seed(run_max_t, tmp_path, monkeypatch):
    monkeypatch.setattr("metaeval.stats.max_t.ENUMERATED_TOPICS", 16)
    with parallel.resumable(tmp_path):
        first = run_max_t(test="max-t")[0]
        second, computed = run_max_t(test="max-t", key=9)
    assert (first == second).all()
    assert not computed


@pytest.mark.parametrize(
    "study",
    [
        Study("randomised-tukey-hsd", 3, n_runs=6, n_topics=20, n_measures=2, n_permutations=6400, tasks=10),
        Study(
            "randomised-tukey-hsd", 3, n_runs=6, n_topics=20, n_measures=2, n_permutations=6400, tasks=10, in_parts=1
        ),
        Study("bootstrap-t", 3, n_runs=12, n_topics=200, n_measures=2, n_permutations=6400, tasks=10),
        Study("max-t", 2, n_runs=30, n_topics=400, n_measures=2, n_permutations=6400, tasks=10, in_parts=1),
    ],
    ids=["HSD", "HSD in blocks", "bootstrap-t", "max-t, one measure at a time"],
)
def test_a_driver_killed_at_random_points_computes_little_again_and_the_same(study):
    begun, same = kill_and_resume(study, kills=2, n_jobs=1)
    assert same
    # Each kill loses the task that was under way, or done and not yet written.
    assert 0 <= begun - study.n_tasks <= 2


@pytest.mark.parametrize("test", ["randomised-tukey-hsd", "max-t", "bootstrap-t"])
def test_a_command_goes_on_where_it_was(test, tmp_path, capsys, monkeypatch):
    from metaeval import cli

    for name in ("one", "two"):
        values = np.random.default_rng(len(name) + ord(name[0])).random((4, 30, 2))
        labels = {"runs": list("abcd"), "topics": range(30), "measures": ["AP", "RR"], "collection": name}
        me.io.write_scores(me.Scores(values, **labels), tmp_path / f"{name}.csv")
    sources = [str(tmp_path / f"{name}.csv") for name in ("one", "two")]
    printed = []
    for more in ([], ["--resume", str(tmp_path / "work")], ["--resume", str(tmp_path / "work")]):
        monkeypatch.setattr("sys.argv", ["metaeval", "power", *sources, "--test", test, *more])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 0
        printed.append(capsys.readouterr().out)
        if more:
            # Nothing is left to compute.
            monkeypatch.setattr(tukey, "trial_ranges", lambda *_, **__: pytest.fail("trials are computed again"))
            monkeypatch.setattr(max_t_trials, "run_trials", lambda *_, **__: pytest.fail("trials are computed again"))
    assert printed[0] == printed[1] == printed[2]
    assert len(list((tmp_path / "work").iterdir())) == 2


def test_tasks_give_the_same_on_ray():
    pytest.importorskip("ray", reason="Ray is not installed")
    from ray.util.joblib import register_ray

    register_ray()
    expected = count()
    with joblib.parallel_config("ray"):
        assert (count(n_jobs=2) == expected).all()


def test_a_cluster_without_an_address_is_a_sentence():
    with pytest.raises(MetaevalError, match="address of its scheduler: tcp://HOST:PORT"), me.on_cluster(" "):
        pass
