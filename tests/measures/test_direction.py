"""A direction has one sense: nobody stated it means that higher is assumed to be better, everywhere, and it is shown."""

import copy
import dataclasses

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.data.scores import state_directions
from metaeval.errors import DirectionWarning, MetaevalError
from metaeval.measures.base import Measure, find_signs
from metaeval.measures.resolve import measure_of_label


def one_score(measures, score=0.5, **stated):
    return me.Scores([[[score] * np.size(measures)]], runs=["a"], topics=["t"], measures=measures, **stated)


@pytest.mark.parametrize(
    ("stated", "sign", "assumed", "ends", "title"),
    [(True, 1, False, (0, 1), "m"), (False, -1, False, (1, 0), "m"), (None, 1, True, (0, 1), "m (higher?)")],
)
def test_the_sign_turns_scores_so_that_more_is_better_and_what_is_assumed_is_marked(stated, sign, assumed, ends, title):
    measure = Measure("m", stated, (0, 1))
    assert (str(measure), measure.title) == ("m", title)
    assert measure.full_name == ("m (assumed: higher is better)" if assumed else "m")
    assert (measure.sign, measure.direction_is_assumed, (measure.worst, measure.best)) == (sign, assumed, ends)


def test_what_is_assumed_is_warned_of_once_and_what_contradicts_a_registered_measure_is_not_computed_by_it():
    with pytest.warns(DirectionWarning) as caught:
        signs = find_signs([Measure("cost"), Measure("time"), Measure("AP", True), Measure("loss", False)])
    assert signs.tolist() == [1, 1, 1, -1]
    (said,) = (str(one.message) for one in caught)
    assert "scores of cost, time are assumed to be better" in said
    assert "lower_is_better=NAME" in said
    with pytest.warns(DirectionWarning, match="NMD is known"):
        scores = one_score("NMD", higher_is_better="NMD")
    assert scores.measures[0].formula is None
    assert copy.deepcopy(scores) == scores, "worker processes get what was stated"


@pytest.mark.filterwarnings("ignore::metaeval.errors.DirectionWarning")
@pytest.mark.parametrize("stated", [None, False])
def test_analyses_take_higher_as_better_and_say_so_in_signature_and_json_unless_a_direction_is_stated(stated):
    good = np.linspace(0.1, 0.9, 6)[:, None] + np.random.default_rng(0).normal(0, 0.02, (6, 30))
    labels = {"runs": list("abcdef"), "topics": range(30), "collection": "c"}
    scores = me.Scores(np.stack([good, -good], axis=-1), measures=["AP", Measure("turned", stated)], **labels)
    similarity = me.ranking_similarity(scores, n_bootstrap=0)
    found = me.significance_contradictions(me.discriminative_power(scores, n_permutations=200))
    assert similarity.tau[0, 1] == (1 if stated is False else -1)
    assert found.run_pairs().empty == (stated is False)
    for one in (similarity, found):
        assert ("turned (assumed: higher is better)" in str(one.signature)) == (stated is None)
        assert ("| measures AP, turned | lower is better turned |" in str(one.signature)) == (stated is False)
    directions = {"AP": "higher", "turned": "assumed: higher" if stated is None else "lower"}
    assert similarity.to_dict()["directions"] == directions


KNOWN = {
    True: "BLEU sacreBLEU BLEU-4 spBLEU chrF chrF++ chrF2 COMET COMET-22 wmt22-comet-da CometKiwi XCOMET-XL BLEURT BLEURT-20 "
    "ROUGE-L METEOR BERTScore AP MAP nDCG@10 ERR ERR@20 err@20 RBP P@5 P_10 Recall MRR bpref MQM",
    False: "TER ter HTER WER CER RMSE NRMSE MAE MAPE perplexity PPL",
    None: "err p r P X cost comet-hter 1-TER TER_inverted -TER neg_BLEU score MQM-penalty mqm_errors DCG@10 error",
}


@pytest.mark.parametrize(("direction", "name"), [(way, name) for way, names in KNOWN.items() for name in names.split()])
def test_directions_of_usual_names_are_known_and_ambiguous_ones_are_not(direction, name):
    assert measure_of_label(name).higher_is_better is direction


def test_scores_of_mqm_tell_whether_they_are_negated_error_points():
    known = lambda score, **stated: one_score("MQM", score, **stated).measures[0]  # noqa: E731
    assert [known(score).higher_is_better for score in (-3, 0, 3)] == [True, True, None]
    assert [known(score, lower_is_better="MQM").higher_is_better for score in (-3, 3)] == [False, False]
    assert known(3, higher_is_better="MQM") == Measure("MQM", True)


def of(names, **stated):
    return {str(one): one.higher_is_better for one in one_score(names, **stated).measures}


def test_directions_can_be_stated_of_one_or_of_all_in_scores_frames_and_several_collections():
    assert of(["cost", "AP"]) == {"cost": None, "AP": True}
    assert of(["cost", "AP"], lower_is_better="cost") == {"cost": False, "AP": True}
    assert dataclasses.replace(one_score("cost"), lower_is_better="cost").measures == (Measure("cost", False),)
    assert of(["gain", "AP"], higher_is_better=["gain"]) == {"gain": True, "AP": True}
    assert of(["cost", "gain"], higher_is_better=True, lower_is_better=["cost"]) == {"cost": False, "gain": True}
    with pytest.warns(DirectionWarning, match="TER is known as a measure of which lower is better"):
        assert of(["TER", "gain"], higher_is_better=True) == {"TER": True, "gain": True}
    both = state_directions([one_score("cost"), one_score("gain")], (), "cost")  # one of them at least
    assert [scores.measures[0].direction for scores in both] == ["lower", "assumed: higher"]
    frame = pd.DataFrame({"run": list("aaabbb"), "topic": "t", "measure": ["cost", "AP", "gain"] * 2, "score": 0.5})
    frame = frame.assign(higher_is_better=[False, np.nan, True] * 2)
    for read in (me.io.from_frame, me.io.read_scores):
        assert [one.higher_is_better for one in read(frame).measures] == [False, True, True]
        with pytest.warns(DirectionWarning, match="cost is known as"):
            assert read(frame, higher_is_better="cost").measures[0].higher_is_better is True


REFUSED = [
    ({"lower_is_better": "nothing"}, "there is no measure 'nothing' whose direction"),
    ({"higher_is_better": "cost", "lower_is_better": "cost"}, "cost cannot be both"),
    ({"lower_is_better": True}, "lower_is_better is True: give names of measures"),
]


@pytest.mark.parametrize(("stated", "message"), REFUSED)
def test_a_direction_that_cannot_be_is_refused(stated, message):
    with pytest.raises(MetaevalError, match=message):
        of(["cost", "AP", "TER"], **stated)
