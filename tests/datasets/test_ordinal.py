"""The collections that are made here: every item predicted once, the same bits again, kept whole or made anew."""

import builtins
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import metaeval
from metaeval.datasets import dataset, fetch, load_dataset, ordinal, ordinal_classifiers
from metaeval.errors import DatasetError, MetaevalWarning, PolicyWarning

pytest.importorskip("skordinal", reason="the ordinal sets come with the package skordinal")

SETS = {  # gold sizes as skordinal 0.2.0 has them
    "ordinal-swd": [32, 352, 399, 217],
    "ordinal-lev": [93, 280, 403, 197, 27],
    "ordinal-esl": [2, 12, 38, 100, 116, 135, 62, 19, 4],
    "ordinal-era": [92, 142, 181, 172, 158, 118, 88, 31, 18],
    "ordinal-balance": [288, 49, 288],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(params=SETS)
def name(request):
    return request.param


def test_every_run_predicts_every_item_once(name, folder):
    runs = load_dataset(name, folder=folder)
    assert runs.collection == name
    assert len(runs.runs) == 22
    assert runs.classes == dataset(name).classes
    np.testing.assert_array_equal(runs.counts.sum(axis=(1, 3)), [SETS[name]] * 22)
    sizes = runs.gold.sum(axis=1)
    assert set(sizes.tolist()) <= {20, 21}
    assert str(len(sizes)) in dataset(name).rows


def test_what_is_kept_is_what_was_made(name, folder):
    kept = load_dataset(name, folder=folder)
    assert ordinal.kept_file(dataset(name), folder).is_file()
    np.testing.assert_array_equal(load_dataset(name, folder=folder).counts, kept.counts)


def test_the_runs_are_neither_all_alike_nor_all_useless(name, folder):
    runs = load_dataset(name, folder=folder)
    pooled = runs.counts.sum(axis=1)
    accuracy = dict(zip(runs.runs, metaeval.measure("Accuracy").score(pooled), strict=True))
    assert len({one.tobytes() for one in pooled}) == 22
    assert accuracy["always-lowest"] == pytest.approx(SETS[name][0] / sum(SETS[name]))
    constant = max(accuracy[run] for run in accuracy if run.startswith("always-"))
    assert sum(value > constant for value in accuracy.values()) >= 11


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    small = replace(dataset("ordinal-esl"), options={**dataset("ordinal-esl").options, "folds": 2})
    first, again = ordinal_classifiers.make(small, progress=False), ordinal_classifiers.make(small, progress=False)
    np.testing.assert_array_equal(first.counts, again.counts)
    other = ordinal_classifiers.make(replace(small, options={**small.options, "seed": 1}), progress=False)
    assert (first.counts != other.counts).any()


def test_folds_have_their_share_of_every_class():
    gold = np.repeat([0, 1, 2], [50, 23, 2])
    fold = ordinal_classifiers.assign_folds(gold, 10, 0, "any")
    assert set(np.bincount(fold)) <= {7, 8}
    for k, size in ((0, 50), (1, 23), (2, 2)):
        share = np.bincount(fold[gold == k], minlength=10)
        assert share.max() - share.min() <= 1
        assert share.max() < size


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """A data set that takes no time, and a count of how often it was made."""
    chosen = dataset("ordinal-balance")
    made = []

    def make(chosen, *, progress=True):
        made.append(chosen.name)
        counts = np.broadcast_to(np.eye(3, dtype=int), (2, 3, 3, 3))
        return metaeval.ClassificationRuns(
            counts, runs=["a", "b"], topics=["1", "2", "3"], classes=chosen.classes, collection=chosen.name
        )

    monkeypatch.setattr(ordinal, "make", make)
    return chosen, tmp_path, made


def test_a_set_is_made_once_and_again_when_recipe_or_packages_are_others(quick, monkeypatch):
    chosen, folder, made = quick
    for _ in range(2):
        ordinal.load(chosen, folder=folder)
    assert len(made) == 1
    monkeypatch.setattr(ordinal, "RECIPE", ordinal.RECIPE + 1)
    ordinal.load(chosen, folder=folder)
    assert len(made) == 2
    monkeypatch.setattr(ordinal, "version", lambda package: "0.1")
    ordinal.load(chosen, folder=folder)
    assert len(made) == 3


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_is_noticed_and_made_again(quick, damage):
    chosen, folder, made = quick
    whole = ordinal.load(chosen, folder=folder)
    path = ordinal.kept_file(chosen, folder)
    path.write_bytes(path.read_bytes()[:-40] if damage is None else damage)
    with pytest.warns(PolicyWarning, match="was damaged and was computed again"):
        again = ordinal.load(chosen, folder=folder)
    np.testing.assert_array_equal(again.counts, whole.counts)
    assert len(made) == 2


def test_where_nothing_can_be_written_the_runs_are_there_all_the_same(quick):
    chosen, folder, _ = quick
    (folder / "ordinal").write_text("a file where the folder should be")
    with pytest.warns(MetaevalWarning, match="will be computed again next time"):
        assert len(ordinal.load(chosen, folder=folder).runs) == 2


def test_fetching_makes_the_set_and_says_where_it_is(quick):
    chosen, folder, made = quick
    assert fetch(chosen, folder=folder) == {chosen.runs: ordinal.kept_file(chosen, folder)}
    assert len(made) == 1


def test_without_the_packages_the_message_has_the_command_and_what_is_kept_is_used(quick, monkeypatch):
    chosen, folder, _ = quick
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.split(".")[0] in ("skordinal", "sklearn"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *rest, **more)

    kept = ordinal.load(chosen, folder=folder)
    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.setattr(ordinal, "_version", lambda package: None)
    np.testing.assert_array_equal(ordinal.load(chosen, folder=folder).counts, kept.counts)
    with pytest.raises(DatasetError, match=r"pip install 'metaeval\[experiments\]'"):
        ordinal_classifiers.ordinal_set("swd")


def test_asking_which_data_sets_there_are_does_not_load_scikit_learn():
    code = "import metaeval.datasets as d, sys; d.dataset('ordinal-swd'); print('sklearn' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "False"
