"""A comparison with a reference: no praise for power that the reference contradicts."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.analyses import study
from metaeval.comparison.new_measure import compare
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from tests.analyses.made import label
from tests.comparison.conftest import make_runs

QUICK = {"n_trials": 20, "n_permutations": 100}
NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(autouse=True, scope="module")
def _few_sizes():
    """The curve over numbers of topics takes longest, and has nothing to do with references."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(study, "LEAST_TOPICS", 10_000)
        yield


def scores_of(reference="people", collection="made", n_topics=30):
    rng = np.random.default_rng(1)
    quality = np.linspace(0, 1, 12)[:, None]
    order = np.random.default_rng(3).permutation(12)
    kinds = {reference: (quality, 0.2), "right": (quality, 0.3), "named": (quality[order], 0.02), "weak": (quality, 2)}
    values = np.stack([mean + rng.normal(0, noise, (12, n_topics)) for mean, noise in kinds.values()], axis=-1)
    return label(values, kinds, collection, higher_is_better=True)


def ask(scores, reference="people", **options):
    return compare("named", scores, reference=reference, **options, **QUICK)


@pytest.fixture(scope="module")
def scores():
    return scores_of()


@pytest.fixture(scope="module")
def others(scores):
    return scores.sel(measures=["named", "right", "weak"])


@pytest.fixture(scope="module")
def found(scores):
    return ask(scores)


def test_power_that_the_reference_contradicts_is_not_praised_and_a_reference_changes_nothing_else(found, others):
    assert list(found.summary().index) == ["named", "right", "weak"]
    assert found.summary()["contradicted"].gt(0).tolist()[:2] == [True, False]
    assert "above 5 %" in found.rules()["reference"]
    assert "reference people of made@" in str(found.signature)
    alone = ask(others, reference=None)
    assert "whether they are right, these data do not show" in alone.verdict()
    pd.testing.assert_frame_equal(found.summary()[alone.summary().columns], alone.summary())
    assert found.collections[0].power.p_values.tolist() == alone.collections[0].power.p_values.tolist()


def test_scores_of_their_own_are_a_reference_as_a_column_is(scores, others, found):
    people = scores.sel(measures="people")
    assert ask(others, people).summary().equals(found.summary())
    some = people.sel(topics=people.topics[5:])
    with pytest.raises(DataError, match="the reference people has no score of 5 topics"):
        ask(others, some)
    with pytest.warns(PolicyWarning, match="which not all scores have"):
        fewer = ask(others, some, missing="drop-topic")
    assert len(fewer.collections[0].scores.topics) == 25


def test_pairs_of_several_collections_are_added(scores):
    found = ask([scores, scores_of(collection="second", n_topics=40)])
    counts = [study.reference.to_frame().set_index("measure").loc["right", "confirmed"] for study in found.collections]
    assert found.summary().loc["right", ["contradicted", "decided"]].tolist() == [0, sum(counts)]


def test_runs_are_scored_with_the_reference():
    runs = make_runs(5, 30, 4, collection="tiny")
    found = compare("RNADW", runs, reference="NMD", **QUICK)
    assert "NMD" not in found.summary().index
    assert str(found.reference) == "NMD"
    people = me.score(runs, ["NMD"]).sel(topics=[str(t) for t in range(25)])
    with pytest.warns(PolicyWarning, match="which not all scores have"):
        compare("RNADW", runs, reference=people, missing="drop-topic", **QUICK)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "named"}, "named is the reference; it is not compared with itself"),
        ({"reference": "people", "against": ["people"]}, "people is the reference"),
        ({"reference": "nobody"}, "there is no measure 'nobody'"),
        ({"reference": scores_of()}, "reference holds 4 measures"),
        ({"reference": [scores_of()] * 2}, "there are 2 for 1 collection"),
        ({"reference": "people", "missing": "no"}, "there is no policy 'no'"),
    ],
)
def test_what_is_no_reference_is_refused(scores, options, message):
    with pytest.raises(MetaevalError, match=message):
        ask(scores, **options)


def test_the_page_and_the_json_have_a_block_and_names_are_text(tmp_path):
    found = ask(scores_of(NASTY), NASTY)
    index = found.write(tmp_path / "out")
    page = index.read_text()
    assert '<h2 id="reference">Against the reference</h2>' in page
    assert NASTY not in page
    description = json.loads((tmp_path / "out" / "report.json").read_text())
    assert description["reference"] == NASTY
    rows = {row["measure"]: row for row in description["results"]["made-reference"]["rows"]}
    assert rows["named"]["contradicted"] > 0
    assert (tmp_path / "out" / "tables" / "made-reference-randomised-tukey-hsd.csv").exists()


@pytest.mark.filterwarnings("ignore:.*gives all runs the same score")
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.random.default_rng(5).normal(size=(12, 30)), "- Has no significant difference in common with people."),
        (0.5, "named: the same for all runs: it separates none."),
    ],
    ids=["noise", "constant"],
)
def test_a_measure_that_shares_no_significant_pair_with_the_reference_has_a_report(scores, tmp_path, values, said):
    changed = scores.values.copy()
    changed[..., list(map(str, scores.measures)).index("named")] = values
    found = ask(replace(scores, values=changed))
    assert found.collections[0].reference.rows[["confirmed", "contradicted"]].to_numpy()[0].sum() == 0
    assert said in found.verdict()
    found.write(tmp_path / "out")
    description = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    about = next(finding for finding in description["verdicts"]["named"]["findings"] if finding["key"] == "reference")
    assert about["outcome"] == "cannot tell"
