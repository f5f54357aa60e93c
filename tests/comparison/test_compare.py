"""One call for a newly proposed measure: what it refuses, what it computes, what it writes."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.comparison import report
from metaeval.comparison.new_measure import compare
from metaeval.errors import MetaevalError
from tests.analyses.made import label
from tests.comparison.conftest import add_baselines, make_runs

QUICK = {"n_trials": 40, "n_permutations": 100}


def quantified(n_runs=6, n_topics=24, **options):
    return add_baselines(make_runs(n_runs, n_topics, **{"collection": "oq", **options}))


@pytest.fixture(scope="module")
def result():
    """A comparison on one collection, which nobody changes."""
    return compare("RNADW", quantified(), **QUICK)


def classified(collection="oc"):
    rng = np.random.default_rng(5)
    counts = np.zeros((5, 12, 4, 4), dtype=int)
    for t in range(12):
        gold = rng.integers(0, 4, 25)
        for r in range(5):
            wrong = rng.random(25) < 0.15 * (r + 1)
            predicted = np.where(wrong, rng.integers(0, 4, 25), gold)
            np.add.at(counts[r, t], (gold, predicted), 1)
    return me.ClassificationRuns(counts, runs=list("abcde"), topics=range(12), classes=range(4), collection=collection)


@pytest.mark.parametrize(("test", "second"), [("max-t", "bootstrap-t"), ("bootstrap-t", "randomised-tukey-hsd")])
def test_verdicts_rest_on_the_test_that_is_chosen(test, second):
    result = compare("RNADW", quantified(), test=test, **QUICK)
    study = result.collections[0]
    assert (result.test, study.power.test, study.second_power.test) == (test, test, second)
    assert f"tests {test}, {second}" in str(result.signature)


def test_quantification_runs_get_everything_that_applies(both):
    assert [str(one) for one in both.measures] == ["RNADW", "NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD"]
    study = both.collections[0]
    assert None not in (study.small_consistency, study.sample_size, study.preference)
    assert study.coverage is None
    assert both.pooled is not None
    assert both.traits["NVD"]["ordinal"].mark == "✗ (140 of 140)"
    assert both.traits["NMD"]["ordinal with mixed gold"].mark.startswith("✓ (")
    assert {"similarity", "consistency", "power", "contradictions", "formula"} <= set(both.rules())


def test_classification_runs_get_coverage_and_formal_properties_and_names_are_those_one_types(tmp_path):
    result = compare("MSE_M", classified(), **QUICK)
    study = result.collections[0]
    assert study.coverage is not None
    assert study.small_consistency is None
    assert any("needs 20 topics; there are 12" in sentence for sentence in study.skipped.values())
    assert result.verdict().startswith("MSE_M: ")  # as one types it; pages typeset it
    assert "<h1>MSE<sup>M</sup> beside other measures</h1>" in result.write(tmp_path).read_text("utf-8")
    assert result.traits["MSE_M"]["ordinal monotonicity"].mark.startswith("✓ (")
    marks = {name: check.mark[0] for name, check in result.traits["kappa"].items()}
    assert (marks["imbalance"], marks["symmetric"], marks["constant"]) == ("✗", "✓", "✗")


def test_its_numbers_are_those_of_the_analyses(result):
    scores = me.score(quantified(), ["NMD", "RNADW"])
    alone = me.discriminative_power(scores, test="bootstrap-t", n_permutations=100).run_pairs()
    whole = result.collections[0].power.run_pairs()
    for name in ("NMD", "RNADW"):
        counts = [frame.loc[frame["measure"] == name, "count"].tolist() for frame in (alone, whole)]
        assert counts[0] == counts[1]


def test_only_what_is_new_is_computed_when_the_store_has_the_rest(tmp_path):
    runs, lines = quantified(), []
    compare("RNADW", runs, store=tmp_path / "s", **QUICK)
    first = compare("RNOD(distance=gold)", runs, store=tmp_path / "s", say=lines.append, **QUICK)
    assert not any("established" in line for line in lines)
    again = compare("RNOD(distance=gold)", runs, **QUICK)
    assert first.summary().equals(again.summary())
    assert first.collections[0].scores == again.collections[0].scores
    changed = quantified(n_topics=25)
    compare("RNADW", changed, store=tmp_path / "s", say=lines.append, **QUICK)
    assert any("established" in line for line in lines), "other data under the same name were taken for the same"


def test_score_matrices_are_compared_by_the_names_of_their_measures():
    scores = label(np.random.default_rng(0).random((5, 20, 3)), ["AP", "RR", "nDCG@20"], "ir")
    result = compare("nDCG@20", scores, **QUICK)
    assert [str(one) for one in result.measures] == ["nDCG@20", "AP", "RR"]
    assert {check.mark for checks in result.traits.values() for check in checks.values()} <= {"–"}
    with pytest.raises(MetaevalError, match="the data have no scores of 'ERR@20' .there are AP, RR, nDCG@20"):
        compare("ERR@20", scores, **QUICK)
    with pytest.raises(
        MetaevalError, match="not every collection has scores of 'MRR' .did you mean RR. all have AP, RR"
    ):
        compare("MRR", [scores, scores], **QUICK)


@pytest.mark.filterwarnings("ignore::metaeval.errors.DirectionWarning")
def test_directions_are_those_that_a_user_states(tmp_path):
    good = np.random.default_rng(0).random((5, 20))
    scores = label(np.stack([good, 1 - good], axis=-1), ["AP", "edits"])
    for given, options, tau in (
        ("edits", {}, -1),
        ("edits", {"lower_is_better": "edits"}, 1),
        (me.Measure("edits", False), {}, 1),
        ("edits", {"higher_is_better": True}, -1),
        ("edits", {"higher_is_better": True, "lower_is_better": ["AP"]}, 1),
    ):
        result = compare(given, scores, **options, **QUICK)
        assert result.collections[0].similarity.tau[0, 1] == tau
        assert ("assumed" in str(result.signature)) is (given == "edits" and not options)
    result.write(tmp_path)
    assert json.loads((tmp_path / "report.json").read_text())["directions"] == {"edits": "higher", "AP": "lower"}
    assert "Higher is better: edits. Lower is better: AP." in (tmp_path / "index.html").read_text("utf-8")
    with pytest.raises(MetaevalError, match="there is no measure 'TER'"):
        compare("edits", scores, lower_is_better="TER", **QUICK)


@pytest.mark.parametrize(
    ("new", "runs", "options", "message"),
    [
        ("NMD", lambda: [quantified(), classified()], {}, "different kinds"),
        ("NMD", classified, {}, "NMD is a quantification measure"),
        ([], quantified, {}, "at least one"),
        ("NNMD", quantified, {}, "no measure 'NNMD'"),
        ("RNADW", quantified, {"test": "anova"}, "there is no test 'anova': use randomised-tukey-hsd, max-t"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(new, runs, options, message):
    with pytest.raises(MetaevalError, match=message):
        compare(new, runs(), **options)


NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def both():
    return compare("RNADW", [quantified(), quantified(collection="second", seed=6)], **QUICK)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A whole report on two collections whose names and runs would be code or paths if they were not escaped."""
    runs = quantified(collection="<script>alert(1)</script>")
    nasty = [runs.with_runs({NASTY: runs.gold}), quantified(collection="b/../<i>", seed=6)]
    return compare("RNADW", nasty, against=["NMD", "RNOD"], **QUICK).write(tmp_path_factory.mktemp("report") / "out")


def test_nothing_in_it_grows_with_the_number_of_pairs(tmp_path, monkeypatch):
    def refuse(_):
        raise AssertionError("a row for every pair and measure is made")

    monkeypatch.setattr(me.DiscriminativePower, "run_pairs", refuse)
    longest, size = {}, {}
    for n in (6, 40):
        index = compare("RNADW", make_runs(n, 24), **QUICK).write(tmp_path / str(n))
        longest[n] = max(path.read_text("utf-8").count("\n") for path in index.parent.glob("tables/*.csv"))
        size[n] = len((index.parent / "report.json").read_text("utf-8"))
    assert longest[6] == longest[40]
    assert size[40] < 1.2 * size[6]


def test_everything_is_written_named_in_report_json_and_names_from_data_are_text(written):
    folder = written.parent
    description = json.loads((folder / "report.json").read_text())
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {*description["files"], "index.html", "report.json"}
    assert description["new"] == ["RNADW"]
    for kind in ("similarity", "power", "overlap", "contradictions", "consistency", "sample_size", "preference"):
        for suffix in ("csv", "tex"):
            assert list((folder / "tables").glob(f"1-*-{kind}.{suffix}"))
    for kind in ("power-1", "sample_size-1"):
        chart, *_ = (folder / "figures").glob(f"1-*-{kind}.svg")
        assert ElementTree.parse(chart).getroot().tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 (our own file)
    assert [path.name for path in folder.parent.iterdir()] == ["out"]
    page = written.read_text()
    assert "<script>alert" not in page
    assert NASTY not in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)  # nothing is asked from outside
    assert len(page) < 400_000


def test_a_new_report_takes_the_old_ones_place_and_leaves_other_files_alone(both, tmp_path):
    out, notes = tmp_path / "out", tmp_path / "out" / "notes.txt"
    both.write(out)
    assert list(tmp_path.rglob("2-second*"))
    notes.write_text("mine")
    replace(both, collections=both.collections[:1]).write(out)
    assert not list(tmp_path.rglob("2-second*"))
    # That of a stranger cannot have files outside deleted.
    (tmp_path / "precious").write_text("x")
    (out / "report.json").write_text(json.dumps({"files": ["../precious", "/etc/hostname", 3]}))
    both.write(out)
    assert (notes.read_text(), (tmp_path / "precious").read_text()) == ("mine", "x")


def test_a_writer_that_is_stopped_leaves_the_old_report_whole(result, tmp_path, monkeypatch):
    index = result.write(tmp_path / "out")
    before = index.read_text()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "_describe", stop)
    with pytest.raises(KeyboardInterrupt):
        result.write(tmp_path / "out")
    assert index.read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


OWN = """
import numpy as np, metaeval
@metaeval.register_measure(kind="quantification", higher_is_better=False, range=(0, 1))
def {name}(estimated, gold):
    "Largest gap."
    return {body}
"""


@pytest.mark.parametrize(
    ("name", "body", "status", "said"),
    [
        ("own", "np.abs(estimated - gold).max(axis=-1)", 0, "writing the report"),
        ("turned", "1 - np.abs(estimated - gold).max(axis=-1)", 2, "is lower really better"),
    ],
)
def test_a_users_measure_becomes_a_report_and_a_bad_one_a_sentence(
    run, tmp_path, monkeypatch, name, body, status, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN.format(name=name, body=body))
    (tmp_path / "runs").mkdir()
    runs = quantified()
    files = {f"runs/{run}": shares for run, shares in zip(runs.runs, runs.estimated, strict=True)}
    for file, shares in {"gold": runs.gold, **files}.items():
        frame = pd.DataFrame(shares, columns=list(map(str, runs.classes))).assign(topic=runs.topics)
        frame.to_csv(f"{file}.csv", index=False)
    line = f"compare -m own.py:{name} --gold gold.csv --runs runs --layout probabilities --against NMD --against RNOD"
    found, out, err = run(f"{line} -B 100 --trials 40 -o report")
    assert found == status, err
    assert (name in out) is (status == 0)
    assert said in err
    assert "Traceback" not in err
    for file in ("index.html", "scores/manifest.json"):
        assert (tmp_path / "report" / file).exists() is (status == 0)
