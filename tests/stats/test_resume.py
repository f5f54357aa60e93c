"""Finished trials are kept in a folder, and a study that was killed goes on from there with the same bits."""

import joblib
import numpy as np
import pytest

import metaeval as me
from benchmarks.resume import Study, kill_and_resume
from metaeval.errors import MetaevalError
from metaeval.stats import parallel, randomised_tukey as tukey

VALUES = np.random.default_rng(0).random((5, 12, 2))


def count(**options):
    return tukey.randomised_tukey_hsd(VALUES, key=options.pop("key", 1), n_permutations=2000, **options)


@pytest.fixture
def computed(monkeypatch):
    """Return the blocks of trials that are computed from now on."""
    blocks, compute = [], tukey.trial_ranges

    def note(units, key, trials, engine):
        blocks.append(trials)
        return compute(units, key, trials, engine)

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


def test_a_damaged_file_is_computed_again(computed, tmp_path):
    with parallel.resumable(tmp_path):
        expected = count()
        for number, path in enumerate(sorted(tmp_path.iterdir())):
            content = bytearray(path.read_bytes())
            content[-1 - 50 * number] ^= 1
            path.write_bytes(content)
        computed.clear()
        assert (count() == expected).all()
    assert len(computed) == 4


def test_only_the_rest_is_computed_after_a_kill(computed, tmp_path):
    with parallel.resumable(tmp_path):
        count()
        sorted(tmp_path.iterdir())[1].unlink()
        computed.clear()
        count()
    assert len(computed) == 1


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


def test_a_driver_killed_at_random_points_computes_little_again_and_the_same():
    study = Study(collections=3, n_runs=6, n_topics=20, n_measures=2, n_permutations=6400, tasks=10)
    begun, same = kill_and_resume(study, kills=2, n_jobs=1)
    assert same
    # Each kill loses the task that was under way, or done and not yet written.
    assert 0 <= begun - study.collections * study.tasks <= 2


def test_a_command_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    from metaeval import cli

    for name in ("one", "two"):
        values = np.random.default_rng(len(name) + ord(name[0])).random((4, 30, 2))
        labels = {"runs": list("abcd"), "topics": range(30), "measures": ["AP", "RR"], "collection": name}
        me.io.write_scores(me.Scores(values, **labels), tmp_path / f"{name}.csv")
    sources = [str(tmp_path / f"{name}.csv") for name in ("one", "two")]
    printed = []
    for more in ([], ["--resume", str(tmp_path / "work")], ["--resume", str(tmp_path / "work")]):
        monkeypatch.setattr("sys.argv", ["metaeval", "power", *sources, *more])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 0
        printed.append(capsys.readouterr().out)
        if more:
            monkeypatch.setattr(tukey, "trial_ranges", None)  # nothing is left to compute
    assert printed[0] == printed[1] == printed[2]
    assert len(list((tmp_path / "work").iterdir())) == 2


def test_tasks_give_the_same_on_ray():
    pytest.importorskip("ray", reason="Ray is not installed")
    from ray.util.joblib import register_ray

    register_ray()
    expected = count()
    with joblib.parallel_config("ray"):
        assert (count(n_jobs=2) == expected).all()
