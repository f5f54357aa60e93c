"""RepLab 2013's gold with its one system: policies that are stated, and CEM_ORD against the authors' formula."""

import math
import os
from pathlib import Path

import pytest

pytest.importorskip("experiments.amigo2020.replab", reason="the experiments are not part of an installed copy")

import metaeval
from experiments.amigo2020 import replab
from experiments.old.check import compare_csv
from experiments.old.outcome import Settings
from metaeval.io.classification import Labels
from metaeval.measures.closeness import CEM_ORD

RESULTS = Path(__file__).parents[2] / "results"
DATA = os.environ.get("METAEVAL_DATA")
real_data = pytest.mark.skipif(not DATA, reason="needs RepLab's gold: set METAEVAL_DATA")


def settings():
    return Settings(data=Path(DATA), say=lambda line: None)


def published_cem(items):
    """CEM_ORD as Amigó et al. 2020 define it, item by item: items are pairs (gold, answer) of numbers."""
    gold = [one for one, _ in items]

    def closeness(answer, truth):
        between = sum(1 for g in gold if (answer < g <= truth) or (truth <= g < answer))
        return -math.log2((gold.count(answer) / 2 + between) / len(gold))

    known = {(a, g): closeness(a, g) for g, a in set(items)} | {(g, g): closeness(g, g) for g in set(gold)}
    return sum(known[a, g] for g, a in items) / sum(known[g, g] for g in gold)


def spell_items(counts):
    return [(g, p) for g, row in enumerate(counts) for p, n in enumerate(row) for _ in range(n)]


@pytest.mark.parametrize("counts", [[[3, 1, 0], [0, 2, 2], [1, 0, 4]], [[1, 0, 1], [0, 7, 0], [2, 2, 9]]])
def test_the_authors_formula_is_cem_ord(counts):
    assert CEM_ORD(counts) == pytest.approx(published_cem(spell_items(counts)), abs=1e-12)


@real_data
def test_cem_ord_of_the_system_is_what_the_authors_formula_gives_company_by_company():
    found, _ = replab.load_policies(settings())
    for runs in found.values():
        for topic, counts in zip(runs.topics, runs.counts[0], strict=True):
            assert CEM_ORD(counts) == pytest.approx(published_cem(spell_items(counts)), abs=1e-12), topic


@real_data
def test_items_without_an_answer_are_counted_and_leave_with_the_policy_that_says_so():
    found, skipped = replab.load_policies(settings())
    whole, answered = found[replab.FARTHEST], found[replab.LEFT_OUT]
    assert whole.gold.sum() == 70_412
    assert whole.gold.sum() - answered.gold.sum() == 354
    assert whole.topics == answered.topics
    assert "a value that is no number" in skipped[0]


def test_what_has_no_answer_or_one_outside_the_classes_is_left_out():
    gold = Labels("gold", ["a", "a", "b"], ["1", "2", "1"], ["0", "1", "1"], [1, 2, 3])
    run = Labels("run", ["a", "b"], ["1", "1"], ["0", "10"], [1, 2])
    kept = replab.keep_answered(gold, run, ("0", "1"))
    assert (kept.topics, kept.items, kept.lines) == (["a"], ["1"], [1])


def test_the_authors_policy_lowers_the_score_by_what_has_no_answer():
    def runs(counts):
        return metaeval.ClassificationRuns([counts], runs=["s"], topics=["t"], classes=["0", "1"])

    whole, answered = runs([[[2, 1], [0, 3]]]), runs([[[2, 0], [0, 3]]])
    assert replab.score_as_published(whole, whole) == pytest.approx(float(CEM_ORD([[2, 1], [0, 3]])), abs=1e-12)
    assert replab.score_as_published(whole, answered) < replab.score_as_published(whole, whole)


@real_data
def test_results_are_those_committed():
    found = replab.compute_replab(settings())
    folder = RESULTS / found.name
    files = found.format_files()
    assert [
        line for name, text in files.items() for line in compare_csv(text, folder / f"{name}.csv", found.tolerance)
    ] == []
    assert {path.stem for path in folder.glob("*.csv")} == set(files)


def test_without_data_the_source_is_empty_and_says_so(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise metaeval.errors.DatasetError("no network")

    monkeypatch.setattr(replab, "fetch", refuse)
    found = replab.compute_replab(Settings(data=tmp_path, say=lambda line: None))
    assert found.is_empty
    assert "no network" in found.notes[0]
