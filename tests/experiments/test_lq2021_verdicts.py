"""Rules of LQ 2021's claims on made-up figures where the answer is known, and where the figures are read from."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import metaeval
from metaeval.analyses.study import study_collection

pytest.importorskip("experiments.lq2021.verdicts", reason="the experiments are not part of an installed copy")

from experiments.bounds import BOUNDS
from experiments.flat_gold import verdicts as flat_gold
from experiments.lq2021 import audit, verdicts
from experiments.lq2021.chance import bound_errors
from experiments.lq2021.findings import MEASURES, Findings, Gap, pool
from experiments.lq2021.reading import read_print, read_study
from experiments.verdicts import Views

RULES = {one.rule: one for one in verdicts.CLAIMS}
PAIRS = list(itertools.combinations(MEASURES, 2))
HOLDS, PART, FAILS, UNKNOWN = "holds", "holds in part", "does not hold", "cannot tell"
POP, UNI = "A_BL-popularity", "A_BL-uniform"


def counted(width=0.01, printed=False, both=(), **found):
    """Of 100 run pairs each measure finds 50 or the number given, with intervals of that half-width."""
    found = {**dict.fromkeys(MEASURES, 50), **found}
    shared = {pair: min(found[name] for name in pair) for pair in PAIRS} | dict(both)
    gaps = {(one, two): (found[one] - found[two]) / 100 for one, two in PAIRS}
    return Findings(
        n_pairs=100,
        found=found,
        overlaps={(one, two): (found[one] - b, b, found[two] - b) for (one, two), b in shared.items()},
        gaps={pair: Gap(gap, None if width is None else (gap - width, gap + width)) for pair, gap in gaps.items()},
        contradictions=(),
        printed=printed,
    )


def nmd_apart(shared, **found):
    """NMD shares so many pairs with every other measure, the others share all with each other."""
    return counted(both={("NMD", other): shared for other in MEASURES[1:]}, **found)


def against(*rows, both=50):
    """Contradictions, the measures sharing so many significant pairs."""
    return replace(counted(both=dict.fromkeys(PAIRS, both)), contradictions=rows, wins=won().wins)


def everywhere(first, runs, others=("RNOD", "NVD", "RNSS", "JSD")):
    return [(first, other, *runs) for other in others]


def ranked(one, **taus):
    """τ is 0.9 but for pairs named as NMD_RNOD."""
    named = {tuple(pair.split("_")): tau for pair, tau in taus.items()}
    return replace(one, taus=dict.fromkeys(PAIRS, 0.9) | named)


def won(**shares):
    """Of 1,000 topics, the share on which a measure prefers Popularity; 0.2 by default."""
    shares = {**dict.fromkeys(MEASURES, 0.2), **shares}
    return Findings(wins={name: (round(1000 * (1 - share)), round(1000 * share)) for name, share in shares.items()})


def preferring(deltas, golds=()):
    """Topics with Popularity's score less Uniform's by measure, shape (topic, measure)."""
    deltas = np.asarray(deltas, dtype=float)
    values = np.stack([0.5 + deltas / 2, 0.5 - deltas / 2])
    scores = metaeval.Scores(
        values, runs=[POP, UNI], topics=range(len(deltas)), measures=list(MEASURES), collection="made"
    )
    study = study_collection(scores, questions=["preference"], baselines=(POP, UNI))
    return replace(read_study(study), golds=golds)


def alone(*numbers):
    """Of 300 topics, those on which NMD prefers Popularity, and RNOD, NVD, RNSS and JSD Uniform."""
    names = [("NMD", name) for name in ("RNOD", "NVD", "RNSS", "JSD")]
    return Findings(n_topics=300, quadrants={pair: (number, 0) for pair, number in zip(names, numbers, strict=False)})


def consistent(one, **means):
    means = {**dict.fromkeys(MEASURES, 0.5), **means}
    apart = {pair: abs(means[pair[0]] - means[pair[1]]) > 0.05 for pair in itertools.permutations(MEASURES, 2)}
    return replace(one, consistencies=means, more_consistent=apart)


NOISE = np.random.default_rng(0).normal(0, 0.01, (60, 6))
ENTROPY = np.linspace(0, 1, 60)
GOLD = np.array([np.array([1 - share, *[share / 4] * 4]) for share in np.linspace(0.02, 0.8, 60)])
NMD_FOR_POPULARITY = np.where(np.arange(6) == 0, -0.2, 0.2) + NOISE
TURNING = np.where(np.arange(60) % 2, 0.1, -0.1)[:, None] * np.ones(6)
ALIKE = np.linspace(-0.5, 0.5, 60)[:, None] + NOISE
NMD_RANDOM = np.where(np.arange(6) == 0, np.random.default_rng(1).normal(0, 0.3, (60, 1)), ALIKE)
RNOD_RANDOM = NMD_RANDOM[:, [2, 1, 0, 3, 4, 5]]

CASES = [
    ("rnod_wins_among_ordinal_measures", counted(RNOD=60), HOLDS),
    ("rnod_wins_among_ordinal_measures", counted(NMD=60), FAILS),
    ("rnod_wins_among_ordinal_measures", counted(RNOD=60, width=0.2), UNKNOWN),
    ("rnod_wins_among_ordinal_measures", counted(RNOD=60, width=None), UNKNOWN),
    ("rnod_wins_among_ordinal_measures", counted(RNOD=60, width=None, printed=True), HOLDS),
    ("rnod_and_nvd_find_most", counted(RNOD=60, NVD=58), HOLDS),
    ("rnod_and_nvd_find_most", counted(RNOD=60), UNKNOWN),
    ("rnod_and_nvd_find_most", counted(RNOD=60, NVD=40), FAILS),
    ("nmd_finds_most", counted(NMD=60), HOLDS),
    ("nmd_finds_most", counted(JSD=60), FAILS),
    ("nmd_finds_most", counted(), UNKNOWN),
    ("nmd_finds_fewest", counted(NMD=30), HOLDS),
    ("nmd_finds_fewest", counted(NMD=60), FAILS),
    ("nmd_finds_fewest", counted(NMD=49), UNKNOWN),
    ("nmd_breaks_down", counted(NMD=30), HOLDS),
    ("nmd_breaks_down", counted(NMD=45), PART),
    ("nmd_breaks_down", counted(NMD=50), FAILS),
    ("nmd_breaks_down", counted(NMD=30, width=0.5), UNKNOWN),
    ("rnod_beats_nmd", counted(RNOD=60), HOLDS),
    ("rnod_beats_nmd", counted(NMD=60), FAILS),
    ("rnod_beats_nmd", counted(), UNKNOWN),
    ("symmetry_costs_power", counted(RSNOD=47), HOLDS),
    ("symmetry_costs_power", counted(RSNOD=20), PART),
    ("symmetry_costs_power", counted(RSNOD=60), FAILS),
    ("symmetry_costs_power", counted(), UNKNOWN),
    ("overlap_is_not_always_high", nmd_apart(30), HOLDS),
    ("overlap_is_not_always_high", pool({"a": counted(), "b": counted()}), FAILS),
    ("overlap_is_not_always_high", pool({"a": counted(), "b": nmd_apart(30)}), HOLDS),
    ("overlap_is_not_always_high", counted(), UNKNOWN),
    ("overlap_is_not_always_high", counted(JSD=0), UNKNOWN),
    ("nmd_finds_few_and_others", nmd_apart(20, NMD=30), HOLDS),
    ("nmd_finds_few_and_others", counted(NMD=30, both={("NMD", "JSD"): 20}), PART),
    ("nmd_finds_few_and_others", counted(NMD=30), FAILS),
    ("nmd_is_an_outlier_by_overlap_and_ranking", ranked(nmd_apart(30), NMD_RNOD=0.1, NMD_JSD=0.1), HOLDS),
    ("nmd_is_an_outlier_by_overlap_and_ranking", ranked(nmd_apart(30)), PART),
    ("nmd_is_an_outlier_by_overlap_and_ranking", ranked(counted()), FAILS),
    ("contradictions_are_very_rare", against(("NMD", "JSD", POP, UNI)), HOLDS),
    ("contradictions_are_very_rare", against(), PART),
    ("contradictions_are_very_rare", against(*everywhere("NMD", (POP, UNI)) * 3, both=10), FAILS),
    ("nmd_is_apart_by_overlap", nmd_apart(30), HOLDS),
    ("nmd_is_apart_by_overlap", counted(both={("NMD", "JSD"): 30}), PART),
    ("nmd_is_apart_by_overlap", counted(both={("RNSS", "JSD"): 30}), FAILS),
    ("nmd_is_apart_by_overlap", counted(RNSS=0), UNKNOWN),
    ("nmd_is_no_subset", nmd_apart(20, NMD=30), HOLDS),
    ("nmd_is_no_subset", counted(NMD=30, both={("NMD", "JSD"): 20}), PART),
    ("nmd_is_no_subset", counted(NMD=30), FAILS),
    ("nmd_is_no_subset", counted(NMD=60), UNKNOWN),
    ("nmd_is_an_outlier_by_overlap", nmd_apart(30), HOLDS),
    ("nmd_is_an_outlier_by_overlap", nmd_apart(30, RNSS=20), FAILS),
    ("nmd_is_an_outlier_by_overlap", counted(), FAILS),
    ("nmd_contradicts_over_popularity", against(*everywhere("NMD", (POP, UNI))), HOLDS),
    ("nmd_contradicts_over_popularity", against(("NMD", "JSD", POP, UNI)), PART),
    ("nmd_contradicts_over_popularity", against(*everywhere("NMD", (POP, UNI)), both=5), PART),
    ("nmd_contradicts_over_popularity", against(*everywhere("NMD", (POP, UNI)), ("NMD", "JSD", "a", "b")), FAILS),
    ("nmd_contradicts_over_popularity", against(), UNKNOWN),
    ("contradictions_speak_for_popularity", against(("NMD", "JSD", POP, "a")), HOLDS),
    ("contradictions_speak_for_popularity", against(("RSNOD", "JSD", "a", POP)), FAILS),
    ("contradictions_speak_for_popularity", against(("RNOD", "RSNOD", "a", POP)), HOLDS),
    ("contradictions_speak_for_popularity", against(), UNKNOWN),
    ("no_contradiction_with_symmetry", against(), HOLDS),
    ("no_contradiction_with_symmetry", against(("NMD", "RSNOD", "a", "b")), FAILS),
    ("rsnod_contradicts_as_nmd_does", against(("NMD", "JSD", POP, UNI), ("RSNOD", "JSD", POP, UNI)), HOLDS),
    ("rsnod_contradicts_as_nmd_does", against(*everywhere("NMD", (POP, UNI)), ("RSNOD", "JSD", POP, UNI)), PART),
    ("rsnod_contradicts_as_nmd_does", against(("NMD", "JSD", POP, UNI), ("RSNOD", "JSD", UNI, POP)), FAILS),
    ("rsnod_contradicts_as_nmd_does", against(), UNKNOWN),
    ("rsnod_is_between_by_contradictions", against(("NMD", "RNOD", "a", "b")), HOLDS),
    ("rsnod_is_between_by_contradictions", against(("NMD", "RSNOD", "a", "b")), FAILS),
    ("rsnod_is_between_by_contradictions", against(), UNKNOWN),
    ("rsnod_is_between_by_ranking", ranked(Findings(), NMD_RNOD=0.5), HOLDS),
    ("rsnod_is_between_by_ranking", ranked(Findings(), NMD_RNOD=0.5, NMD_RSNOD=0.4), PART),
    ("rsnod_is_between_by_ranking", ranked(Findings(), NMD_RSNOD=0.4, RSNOD_RNOD=0.4), FAILS),
    ("rsnod_is_between_by_overlap", counted(both={("NMD", "RNOD"): 30}), HOLDS),
    ("rsnod_is_between_by_overlap", counted(both={("NMD", "RNOD"): 30, ("NMD", "RSNOD"): 20}), PART),
    ("rsnod_is_between_by_overlap", counted(both={("NMD", "RSNOD"): 20, ("RSNOD", "RNOD"): 20}), FAILS),
    ("rsnod_is_between_by_overlap", counted(RSNOD=0), UNKNOWN),
    ("symmetry_brings_rnod_to_nmd", ranked(counted(both={("NMD", "RNOD"): 30}), NMD_RNOD=0.5), HOLDS),
    ("symmetry_brings_rnod_to_nmd", ranked(counted(both={("NMD", "RNOD"): 30})), PART),
    ("symmetry_brings_rnod_to_nmd", ranked(counted()), FAILS),
    ("nmd_favours_popularity_against_the_others", against(*everywhere("NMD", (POP, UNI))), HOLDS),
    ("nmd_favours_popularity_against_the_others", against(("NMD", "JSD", POP, UNI)), PART),
    ("nmd_favours_popularity_against_the_others", against(("NMD", "JSD", UNI, POP)), FAILS),
    ("preference_follows_the_gold", preferring(ENTROPY[:, None] - 0.5 + NOISE, (GOLD,)), HOLDS),
    ("preference_follows_the_gold", preferring(0.5 - ENTROPY[:, None] + NOISE, (GOLD,)), FAILS),
    ("preference_follows_the_gold", preferring(TURNING, (GOLD,)), UNKNOWN),
    ("flat_gold_prefers_uniform", preferring(0.2 + NOISE, (GOLD,)), HOLDS),
    ("flat_gold_prefers_uniform", preferring(-0.2 + NOISE, (GOLD,)), FAILS),
    ("flat_gold_prefers_uniform", preferring(NOISE, (np.tile([0.96, 0.01, 0.01, 0.01, 0.01], (60, 1)),)), UNKNOWN),
    ("nmd_correlates_less_with_nominal_measures", preferring(NMD_RANDOM), HOLDS),
    ("nmd_correlates_less_with_nominal_measures", preferring(RNOD_RANDOM), FAILS),
    ("nmd_correlates_less_with_nominal_measures", preferring(ALIKE), UNKNOWN),
    ("nmd_disagrees_more_with_nominal_measures", preferring(NMD_FOR_POPULARITY), HOLDS),
    ("nmd_disagrees_more_with_nominal_measures", preferring(NMD_FOR_POPULARITY[:, [2, 1, 0, 3, 4, 5]]), FAILS),
    ("nmd_disagrees_more_with_nominal_measures", preferring(0.2 + NOISE), UNKNOWN),
    ("nmd_disagrees_for_popularity", preferring(NMD_FOR_POPULARITY), HOLDS),
    ("nmd_disagrees_for_popularity", preferring(NMD_FOR_POPULARITY * np.where(np.arange(60) < 2, -1, 1)[:, None]), PART),
    ("nmd_disagrees_for_popularity", preferring(-NMD_FOR_POPULARITY), FAILS),
    ("nmd_disagrees_for_popularity", preferring(0.2 + NOISE), UNKNOWN),
    ("nmd_and_rnod_disagree_over_popularity", Findings(quadrants={("NMD", "RNOD"): (75, 2)}), HOLDS),
    ("nmd_and_rnod_disagree_over_popularity", Findings(quadrants={("NMD", "RNOD"): (75, 20)}), PART),
    ("nmd_and_rnod_disagree_over_popularity", Findings(quadrants={("NMD", "RNOD"): (2, 75)}), FAILS),
    ("nmd_and_rnod_disagree_over_popularity", Findings(quadrants={("NMD", "RNOD"): (0, 0)}), UNKNOWN),
    ("nmd_alone_prefers_popularity_on_a_fifth_to_a_quarter", alone(62, 78, 75, 63), HOLDS),
    ("nmd_alone_prefers_popularity_on_a_fifth_to_a_quarter", alone(61, 80, 75, 63), PART),
    ("nmd_alone_prefers_popularity_on_a_fifth_to_a_quarter", alone(6, 8, 7, 200), FAILS),
    ("nmd_alone_prefers_popularity_on_a_fifth_to_a_quarter", alone(75), UNKNOWN),
    ("divergent_topics_show_it", preferring(NMD_FOR_POPULARITY), HOLDS),
    ("divergent_topics_show_it", preferring(np.vstack([NMD_FOR_POPULARITY[:1], 0.2 + NOISE])), PART),
    ("divergent_topics_show_it", preferring(0.2 + NOISE), FAILS),
    ("nmd_prefers_popularity_most", won(NMD=0.6), HOLDS),
    ("nmd_prefers_popularity_most", won(JSD=0.6), FAILS),
    ("nmd_prefers_popularity_most", won(NMD=0.22), UNKNOWN),
    ("nmd_prefers_popularity_most", preferring(NMD_FOR_POPULARITY), HOLDS),
    ("nmd_prefers_popularity_most", preferring(NMD_FOR_POPULARITY[:, [1, 0, 2, 3, 4, 5]]), FAILS),
    ("nmd_prefers_popularity_most", preferring(TURNING), UNKNOWN),
    ("nmd_prefers_popularity", won(NMD=0.6), HOLDS),
    ("nmd_prefers_popularity", won(NMD=0.4), FAILS),
    ("nmd_prefers_popularity", won(NMD=0.51), UNKNOWN),
    ("others_prefer_uniform_by_far", won(), HOLDS),
    ("others_prefer_uniform_by_far", won(JSD=0.6), FAILS),
    ("others_prefer_uniform_by_far", won(JSD=0.39), UNKNOWN),
    ("rsnod_is_between_by_preference", won(NMD=0.6, RSNOD=0.4), HOLDS),
    ("rsnod_is_between_by_preference", won(NMD=0.7, RSNOD=0.6), FAILS),
    ("rsnod_is_between_by_preference", won(NMD=0.6, RSNOD=0.49), UNKNOWN),
    ("rnod_is_stable_and_discriminative", consistent(counted(RNOD=60), RNOD=0.8), HOLDS),
    ("rnod_is_stable_and_discriminative", consistent(counted(), RNOD=0.8), PART),
    ("rnod_is_stable_and_discriminative", consistent(counted(), NMD=0.8), FAILS),
    ("rnod_is_stable_and_discriminative", consistent(counted()), UNKNOWN),
    ("both_have_their_merits", replace(nmd_apart(30, RNOD=60), wins=won(NMD=0.6).wins), HOLDS),
    ("both_have_their_merits", replace(nmd_apart(30, NMD=60), wins=won(NMD=0.6).wins), PART),
    ("both_have_their_merits", replace(counted(), wins=won().wins), FAILS),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "one", "word"), CASES, ids=[f"{rule}-{word}" for rule, _, word in CASES])
def test_a_rule_says_what_the_figures_were_made_to_say(rule, one, word):
    assert RULES[rule].decide(one)[0] == word


def test_every_rule_on_collections_is_tried_where_it_holds_and_where_it_fails():
    tried = {(rule, word) for rule, _, word in CASES}
    for one in verdicts.CLAIMS:
        if one.tried == "collection" and one.rule != "contradictions_repeat_themselves":
            assert {(one.rule, HOLDS), (one.rule, FAILS)} <= tried


def test_without_the_results_that_it_needs_a_rule_does_not_apply():
    assert [
        one.rule for one in verdicts.CLAIMS if one.tried == "collection" and one.decide(Findings()) is not None
    ] == []


def test_the_share_of_popularity_is_compared_topic_by_topic_as_on_the_page_of_flat_gold():
    """NMD alone prefers Popularity on 6 of 60 topics, and all do on 30: shares overlap, their differences leave 0 out."""
    deltas = np.where(np.arange(60)[:, None] < 30, -0.2, 0.2) * np.ones(6)
    deltas[30:36, 0] = -0.2
    one = preferring(deltas)
    word, evidence = RULES["nmd_prefers_popularity_most"].decide(one)
    assert (word, evidence[0].value) == (HOLDS, pytest.approx(0.1))
    popular = [flat_gold.find_mean(column < 0) for column in deltas.T]
    gaps = flat_gold.compare_with_others(dict(zip(MEASURES, popular, strict=True)))
    assert np.allclose(sorted(gap.interval for gap in gaps), sorted(gap.interval for gap in evidence))
    assert RULES["nmd_prefers_popularity_most"].decide(Findings(wins=one.wins))[0] == UNKNOWN


def test_contradictions_of_baselines_in_two_languages_count_once_and_the_rule_is_about_no_others():
    rule = RULES["contradictions_repeat_themselves"]
    rows = [("NMD", "JSD", one, two) for one in ("popularity-C", "popularity-E") for two in ("u-C", "u-E")]
    twins = {"popularity-C": "popularity-C", "popularity-E": "popularity-C", "u-C": "u-C", "u-E": "u-C"}
    word, evidence = rule.decide(replace(against(*rows), twins=twins))
    assert (word, evidence[-1].value) == (HOLDS, 1)
    assert rule.decide(replace(against(("NMD", "JSD", "a", "b")), twins=twins))[0] == FAILS
    assert rule.decide(replace(against(), twins=twins))[0] == UNKNOWN
    assert rule.decide(replace(against(*rows), twins={"a": "a", "b": "a"})) is None  # equal, but no baselines


@pytest.mark.parametrize(
    "rule",
    [
        "nmd_favours_popularity_against_the_others",
        "nmd_contradicts_over_popularity",
        "contradictions_speak_for_popularity",
        "both_have_their_merits",
    ],
)
def test_rules_about_baselines_do_not_apply_without_them(rule):
    assert RULES[rule].decide(replace(against(("NMD", "JSD", "a", "b")), wins={})) is None


def test_on_data_of_another_place_a_sentence_about_certain_collections_cannot_be_told(made):
    found = verdicts.judge_source("stc3", {"STC-3 DQ-A": Views(made, 0)})
    told = [one for one in found if one.claim == RULES["nmd_prefers_popularity_most"].claim]
    assert [one.outcome for one in told] == [HOLDS]
    named = {one.claim for one in verdicts.CLAIMS if one.about}
    assert {one.outcome for one in found if one.claim in named} == {UNKNOWN}
    reasons = [one.reason for one in found if one.claim == RULES["divergent_topics_show_it"].claim]
    assert reasons == ["the sentence is about DialEval-1 DQ-A"]


@pytest.mark.parametrize(
    ("rule", "parts", "word"),
    [
        ("nmd_differs_between_venues", {"Sem": counted(NMD=60), "DQ": counted(NMD=40)}, HOLDS),
        ("nmd_differs_between_venues", {"Sem": counted(NMD=50), "DQ": counted(NMD=40)}, PART),
        ("nmd_differs_between_venues", {"Sem": counted(NMD=40), "DQ": counted(NMD=60)}, FAILS),
        ("nmd_differs_between_venues", {"DQ": counted()}, UNKNOWN),
        ("overlap_of_nmd_is_lowest_on_a_and_s", {"DialEval-1 DQ-A": nmd_apart(10), "DialEval-1 DQ-S": nmd_apart(9),
                                                 "other": nmd_apart(40)}, HOLDS),
        ("overlap_of_nmd_is_lowest_on_a_and_s", {"DialEval-1 DQ-A": nmd_apart(10), "DialEval-1 DQ-S": nmd_apart(49),
                                                 "other": nmd_apart(40)}, FAILS),
        ("overlap_of_nmd_is_lowest_on_a_and_s", {"other": counted(), "DialEval-1 DQ-A": counted()}, UNKNOWN),
        ("most_contradictions_on_a", {"DialEval-1 DQ-A": against(("NMD", "JSD", POP, UNI)), "STC-3 DQ-A": against()}, HOLDS),
        ("most_contradictions_on_a", {"DialEval-1 DQ-A": against(), "STC-3 DQ-A": against()}, FAILS),
        ("most_contradictions_on_a", {"STC-3 DQ-A": against()}, UNKNOWN),
        ("larger_sets_are_more_reliable", {"Sem": replace(counted(), widths={"NMD": 0.2}),
                                           "DQ": replace(counted(), widths={"NMD": 0.1})}, HOLDS),
        ("larger_sets_are_more_reliable", {"Sem": replace(counted(), widths={"NMD": 0.1}),
                                           "DQ": replace(counted(), widths={"NMD": 0.2})}, FAILS),
        ("larger_sets_are_more_reliable", {"Sem": counted(), "DQ": counted()}, UNKNOWN),
    ],
)  # fmt: skip
def test_rules_that_compare_collections(rule, parts, word):
    assert RULES[rule].judge(parts)[0] == word


def test_definitions_are_as_the_paper_says_but_that_full_gold_alone_does_not_make_od_symmetric():
    words = {one.rule: one.judge()[0] for one in verdicts.CLAIMS if one.tried == "formulas"}
    assert words.pop("full_gold_makes_divergence_symmetric") == PART
    assert set(words.values()) == {HOLDS}
    gold, estimated = np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.0, 0.0])  # by hand: mean(.17, .29, .59) and .17
    divergence = metaeval.measures.order_aware.order_aware_divergence
    assert divergence(estimated, gold) == pytest.approx(0.35)
    assert divergence(gold, estimated) == pytest.approx(0.17)


def test_collections_together_have_the_sums_of_their_pairs_and_intervals_no_narrower_than_dependence_allows():
    one, two = counted(RNOD=60, width=0.1), counted(RNOD=40, width=0.3)
    both = pool({"a": one, "b": two})
    assert (both.n_pairs, both.found["RNOD"], both.found["NMD"]) == (200, 100, 100)
    gap = both.gaps["NMD", "RNOD"]
    assert gap.value == pytest.approx(0)
    assert gap.interval == pytest.approx((-0.2, 0.2))  # half-widths averaged, as if both moved together
    assert both.overlaps["NMD", "RNOD"] == (10, 90, 10)
    assert pool({"a": one, "b": Findings()}).found == {}


@pytest.fixture(scope="module")
def made():
    """12 runs of graded quality, two of them equal, on 30 topics; NMD turns the baselines round."""
    rng = np.random.default_rng(0)
    values = np.linspace(0.2, 0.8, 12)[:, None, None] + rng.normal(0, 0.15, (12, 30, 6))
    values[9] = values[8]
    values[10], values[11] = 0.9, 0.1
    values[10, :, 0], values[11, :, 0] = 0.1, 0.9
    runs = [f"r{r}" for r in range(10)] + ["BL-popularity", "BL-uniform"]
    scores = metaeval.Scores(values.clip(0, 1), runs=runs, topics=range(30), measures=list(MEASURES), collection="made")
    return study_collection(
        scores, questions=["similarity", "consistency", "power", "robust_power", "overlap", "contradictions", "preference"],
        n_trials=30, n_permutations=200, n_bootstrap=100,
    )  # fmt: skip


def test_figures_of_a_study_are_those_of_its_results(made):
    found = read_study(made)
    assert found.found == {
        name: int(number) for name, number in zip(MEASURES, made.power.significant.sum(1), strict=True)
    }
    row = made.overlap.to_frame().iloc[1]
    assert found.overlaps["NMD", "RNOD"] == (row["a"], row["b"], row["c"])
    assert found.get_tau("RNOD", "NMD") == made.similarity.to_frame().loc["NMD", "RNOD"]
    assert found.wins["NMD"] == (0, 30)
    assert found.wins["JSD"] == (30, 0)
    assert found.twins["r9"] == "r8"
    assert len(found.contradictions) == len(made.contradictions.run_pairs())
    assert read_study(made.by_robust_test()).found.keys() == found.found.keys()


def test_a_source_gives_each_real_collection_a_verdict_and_all_together_one(made):
    views = {
        name: Views(made, 0, {1: made}, {"without baselines": "it has none"}) for name in ("STC-3 DQ-A", "STC-3 DQ-E")
    }
    found = verdicts.judge_source("stc3", views, {name: np.full((30, 5), 0.2) for name in views})
    by_claim = [one for one in found if one.claim == RULES["rnod_beats_nmd"].claim]
    assert [one.data for one in by_claim] == ["made", "made", "2 collections of stc3 together"]
    together = dict(by_claim[-1].conditions)
    assert together["seeds 0 to 1"].endswith(" 2")
    assert "each alone" in together
    preferred = next(one for one in found if one.claim == RULES["flat_gold_prefers_uniform"].claim)
    assert preferred.outcome == FAILS  # the gold is flat, and NMD prefers Popularity
    told = [one for one in found if one.claim == RULES["most_contradictions_on_a"].claim]
    assert [one.outcome for one in told] == [UNKNOWN]


def test_collections_together_that_say_the_opposite_without_baselines_cannot_be_told(made):
    """NMD prefers Popularity; in the other look it prefers Uniform."""
    preference = made.preference
    turned = replace(made, preference=replace(preference, deltas=-preference.deltas))
    rule, places = RULES["nmd_prefers_popularity"], ("STC-3 DQ-A", "STC-3 DQ-E")
    alike, unlike = (
        verdicts._judge_together(
            rule, "stc3", {name: Views(made, 0, {}, {"without baselines": other}) for name in places}, {}
        )
        for other in (made, turned)
    )
    assert (alike.outcome, unlike.outcome) == (HOLDS, UNKNOWN)
    assert unlike.reason == "holds as it is, the opposite without baselines"


def test_simulated_collections_are_judged_together_only(made):
    simulated = replace(made, scores=replace(made.scores, collection="simulated: made"))
    views = {name: Views(simulated, 0) for name in ("STC-3 DQ-A", "STC-3 DQ-E")}
    found = verdicts.judge_source("stand-in", views)
    assert {one.data for one in found} == {
        "simulated: 2 collections of stand-in together", "simulated: made",
    }  # fmt: skip
    alone = {one.claim for one in found if one.data == "simulated: made"}
    assert alone <= {one.claim for one in verdicts.CLAIMS if one.places == ["DQ-A", "DQ-S"]}  # one such place is there


def test_every_claim_has_a_verdict_on_print_and_those_of_the_tables_follow_from_them():
    found = list(verdicts.judge_print())
    assert len(found) == len(verdicts.CLAIMS)
    by_claim = {one.claim: one for one in found}
    for rule in ("rnod_and_nvd_find_most", "nmd_contradicts_over_popularity", "nmd_prefers_popularity"):
        assert by_claim[RULES[rule].claim].outcome == HOLDS
    unprinted = by_claim[RULES["preference_follows_the_gold"].claim]
    assert (unprinted.outcome, unprinted.reason) == (UNKNOWN, "what it needs is not printed")


def test_printed_figures_are_the_tables_and_contradictions_come_from_the_list():
    printed = read_print()["DialEval-1 DQ-A"]
    assert printed.found["NMD"] == 84
    assert printed.count_contradictions("NMD", ["RNOD"]) == 8
    assert printed.get_tau("RNOD", "NMD") == 0.723
    assert sum(len(one.contradictions) for one in read_print().values()) == sum(
        number for name in audit.PRINTED["table5"] for number in audit.read_contradictions(name).values()
    )


def test_chance_moves_counts_by_no_more_than_is_said():
    values = np.linspace(0, 0.5, 8)[:, None, None] + np.random.default_rng(1).normal(0, 0.3, (8, 20, 2))
    scores = metaeval.Scores(values, runs=list("abcdefgh"), topics=range(20), measures=["NMD", "RNOD"])
    powers = [metaeval.discriminative_power(scores, n_permutations=60, seed=seed, n_bootstrap=0) for seed in range(60)]
    found = [metaeval.significance_overlap(one).to_frame().iloc[0] for one in powers]
    said = [bound_errors(one)["NMD", "RNOD"] for one in powers]
    for letter in ("a", "b", "c", "sso"):
        spread = np.std([row[letter] for row in found])
        assert 0 < spread <= 1.1 * np.mean([getattr(one, letter) for one in said])


def test_a_claim_of_a_rule_that_is_not_there_and_bounds_in_words():
    with pytest.raises(metaeval.MetaevalError, match="no rule 'nothing_such'"):
        verdicts.Claim("nothing_such", "c", "w", "t", "collection")
    assert f"below {BOUNDS['low overlap'].value:g}" in RULES["overlap_is_not_always_high"].text


def test_too_few_runs_together_are_left_out(made):
    few = replace(made, scores=SimpleNamespace(runs=("a", "b"), collection="few"))
    views = {name: Views(few, 0) for name in ("Sem16T4E", "Sem17T4E")}
    assert verdicts._judge_together(RULES["rnod_beats_nmd"], "semeval", views, {}) is None
