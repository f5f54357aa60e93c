"""Rules of ACL 2021's conclusions: each on made-up figures on which it holds, fails, and cannot tell."""

import itertools

import numpy as np
import pandas as pd
import pytest

import metaeval

pytest.importorskip("experiments.acl2021.steps", reason="the experiments are not part of an installed copy")

from experiments.acl2021 import audit, formulas, gold, on_print, verdicts
from experiments.acl2021.classification import ALL, CONSISTENT, GROUP_A, GROUP_B, INCONSISTENT, INDISCRIMINATE
from experiments.acl2021.figures import HALVES, POWER, SMALL, Figures, Split, average_figures, read_study
from experiments.acl2021.judging import tell_at_least
from experiments.acl2021.printed_figures import read_print
from experiments.acl2021.quantification import SIX
from experiments.bounds import BOUNDS
from experiments.verdicts import Views
from metaeval.analyses.study import study_collection
from metaeval.show.verdict import Evidence

CLAIMS = {claim["name"]: claim for claim in verdicts.CLAIMS["claims"]}
KINDS = {"classification": ALL, "quantification": SIX}
LEVELS = np.linspace(0.2, 0.8, 12)


def square(names, default, pairs=()):
    """A symmetric table of τ: one number everywhere but for some groups of measures."""
    table = pd.DataFrame(float(default), index=list(names), columns=list(names))
    for one, two, value in pairs:
        for a, b in itertools.product(one, two):
            if a != b:
                table.loc[a, b] = table.loc[b, a] = value
    return table


def beats(names, *orders):
    """Which measure is ahead of which: all of each first group of all of the second."""
    table = pd.DataFrame(False, index=list(names), columns=list(names))
    for upper, lower in orders:
        for a, b in itertools.product(upper, lower):
            if a != b:
                table.loc[a, b] = True
    return table


def made(kind, *, tau=None, halves=None, small=None, power=None, found=None, **more):
    """Figures without scores, as print has them; consistency and power by who is ahead of whom."""
    names = KINDS[kind]
    splits = {
        label: Split(ahead.sum(axis=1) / 10.0, 0.001, 1000, ahead)
        for label, ahead in ((HALVES, halves), (SMALL, small))
        if ahead is not None
    }
    if power is not None and found is None:
        found = power.sum(axis=1) * 10 + 10
    return Figures("made", tuple(names), tau, splits=splits, found=found, finds_more=power, **more)


def unsure(figures):
    """The same with scores but without any interval: what τ says cannot be told."""
    values = np.random.default_rng(0).random((3, 4, len(figures.measures)))
    scores = metaeval.Scores(values, runs=list("abc"), topics=list("wxyz"), measures=figures.measures)
    return Figures(figures.name, figures.measures, figures.tau, scores=scores)


def by_order(kind, upper, lower, **more):
    """As said, the other way round, and nothing significant, by all criteria."""
    names = KINDS[kind]
    return [
        made(kind, halves=table, small=table, power=table, **more)
        for table in (beats(names, (upper, lower)), beats(names, (lower, upper)), beats(names))
    ]


def others(kind, *out):
    return [name for name in KINDS[kind] if name not in out]


def by_tau(kind, right, wrong):
    return [made(kind, tau=right), made(kind, tau=wrong), unsure(made(kind, tau=right))]


A, B, C, OQ = GROUP_A, GROUP_B, ["CEM_ORD"], "quantification"
OC = "classification"
APART = square(ALL, 0.9, [(A, B, 0.3), (C, A, 0.7), (C, B, 0.4)])
ALIKE = square(ALL, 0.9)
REVERSED = square(ALL, 0.5, [(A, B, 0.9), (C, A, 0.5), (C, B, 0.9)])
OUTLIER = square(SIX, 0.9, [(["NMD"], SIX, 0.5)])
BETWEEN = square(SIX, 0.9, [(["NMD"], SIX, 0.5), (["RSNOD"], SIX, 0.8), (["RSNOD"], ["NMD"], 0.7)])
FLAT = square(SIX, 0.9)
Y = ["RNOD", "NVD", "RNSS", "JSD"]
F1 = ["alpha_ORD", "alpha_INT", "F1_M", "HMPR"]


def with_worst_two(names=SIX):
    return beats(names, (Y, ["NMD", "RSNOD"]), (["RSNOD"], ["NMD"]))


THREE = {
    "group_a": by_tau(OC, APART, REVERSED),
    "group_b": by_tau(OC, APART, square(ALL, 0.9, [(B, B, 0.5)])),
    "cem_apart": by_tau(OC, APART, square(ALL, 0.9, [(C, A, 0.85)])),
    "huge_gap": by_tau(OC, APART, ALIKE),
    "official_measures": by_tau(OC, APART, ALIKE),
    "kappa_most_consistent": by_order(OC, ["kappa"], others(OC, "kappa")),
    "most_consistent_three": by_order(OC, CONSISTENT, others(OC, *CONSISTENT)),
    "least_consistent_two": by_order(OC, others(OC, *INCONSISTENT), INCONSISTENT),
    "cem_not_robust": by_order(OC, others(OC, *C), C),
    "least_discriminative_four": by_order(OC, others(OC, *INDISCRIMINATE), INDISCRIMINATE),
    "kappa_discriminates_well": by_order(OC, ["kappa"], F1),
    "kappa_primary": by_order(OC, ["kappa"], others(OC, "kappa")),
    "alpha_ord_primary": by_order(OC, ["alpha_ORD"], others(OC, "alpha_ORD"), n_constant=5),
    "kappa_and_alpha_ord": by_tau(OC, ALIKE, square(ALL, 0.97)),
    "alpha_int_no_gain": by_order(OC, ["alpha_ORD"], ["alpha_INT"]),
    "nmd_outlier": by_tau(OQ, OUTLIER, square(SIX, 0.8, [(["NMD"], SIX, 0.9)])),
    "rnod_rsnod_similar": by_tau(OQ, OUTLIER, square(SIX, 0.5, [(["NMD"], SIX, 0.9)])),
    "rsnod_between": by_tau(OQ, BETWEEN, FLAT),
    "nmd_rsnod_least_consistent": [
        made(OQ, halves=table, small=table)
        for table in (with_worst_two(), beats(SIX, (["NMD"], Y)), beats(SIX))
    ],
    "rnod_best": by_order(OQ, ["RNOD"], ["NMD", "RSNOD"]),
    "symmetry_consistency": by_order(OQ, ["RNOD"], ["RSNOD"]),
    "nmd_extremely_poor": by_order(OQ, others(OQ, "NMD"), ["NMD"]),
    "nmd_power_and_consistency": by_order(OQ, others(OQ, "NMD"), ["NMD"]),
    "rnod_over_rsnod": by_order(OQ, ["RNOD"], ["RSNOD"]),
    "rnod_discriminates_well": by_order(OQ, ["RNOD"], others(OQ, "RNOD")),
    "rnod_primary": by_order(OQ, ["RNOD"], ["RSNOD", "NMD"]),
    "nmd_secondary": by_tau(OQ, OUTLIER, FLAT),
    "nmd_unpredictable": [
        made(OQ, halves=beats(SIX, one), small=beats(SIX, two))
        for one, two in (((["NMD"], Y), (Y, ["NMD"])), ((Y, ["NMD"]), (Y, ["NMD"])), (((), ()), ((), ())))
    ],
    "replace_rsnod": by_order(OQ, ["RNOD"], ["RSNOD"]),
}  # fmt: skip
"""By claim, figures on which it holds, does not hold, and cannot be told."""

OF_RUNS = {
    "kappa_of_constant_runs",
    "alphas_of_constant_runs",
    "rank_ten_at_top",
    "constant_run_ten_at_top",
    "kappa_cannot_distinguish",
    "constant_runs_explain_consistency",
    "constant_runs_explain_power",
}
"""Claims about single runs, which need scores: tried below."""


def decide(name, figures):
    claim = CLAIMS[name]
    judge = getattr(verdicts.MODULES[claim["kind"]], name)
    return judge([figures] if claim.get("together") else figures)


@pytest.mark.parametrize("name", THREE)
def test_every_rule_can_hold_fail_and_be_unable_to_tell(name):
    assert [decide(name, one)[0] for one in THREE[name]] == ["holds", "does not hold", "cannot tell"]


def test_no_claim_is_without_figures_to_try_its_rule():
    assert set(THREE) | OF_RUNS == set(CLAIMS)


@pytest.mark.parametrize("name", THREE)
def test_a_rule_says_nothing_of_figures_that_it_cannot_use(name):
    assert decide(name, Figures("empty", ("NMD", "kappa"))) is None


def test_parts_of_a_claim_that_hold_make_it_hold_in_part():
    assert decide("group_b", made(OC, tau=square(ALL, 0.9, [(B, B, 0.85)])))[0] == "holds in part"
    assert decide("cem_apart", made(OC, tau=square(ALL, 0.9, [(C, B, 0.5)])))[0] == "holds in part"
    assert decide("nmd_outlier", made(OQ, tau=square(SIX, 0.9, [(["NMD"], SIX, 0.6), (["JSD"], Y, 0.7)])))[0] == (
        "holds in part"
    )
    split = made(OQ, halves=beats(SIX, (["RNOD"], ["RSNOD"])), small=beats(SIX, (["RSNOD"], ["RNOD"])))
    assert decide("symmetry_consistency", split)[0] == "holds in part"
    most = made(OC, power=beats(ALL, (others(OC, *INDISCRIMINATE), INDISCRIMINATE[:3])))
    assert decide("least_discriminative_four", most)[0] == "holds in part"


def test_a_recommendation_holds_in_part_where_the_measure_is_best_here_and_beaten_there():
    mixed = made(OC, halves=beats(ALL, (["kappa"], ["MAE_M"])), small=beats(ALL, (["alpha_INT"], ["kappa"])))
    word, evidence = decide("kappa_primary", mixed)
    assert word == "holds in part"
    assert [one.value for one in evidence] == [1, 0, 0, 1]
    assert decide("kappa_primary", made(OC, halves=beats(ALL), n_constant=5)) is None
    assert decide("alpha_ord_primary", made(OC, halves=beats(ALL), n_constant=1)) is None


@pytest.mark.parametrize(
    ("interval", "word"),
    [((0.81, 0.9), "holds"), ((0.7, 0.79), "does not hold"), ((0.7, 0.9), "cannot tell"), (None, "cannot tell")],
)
def test_a_bound_inside_the_interval_cannot_be_told(interval, word):
    assert tell_at_least(Evidence("τ", 0.8, interval), BOUNDS["similar"].value) == word


def score_runs(n_constant, n_others=12, n_topics=30, kappa_of_constant=0.0, seed=0, noise=0.08):
    """Runs of graded quality, and constant runs: κ is alike for these, the other measures tell them apart."""
    rng = np.random.default_rng(seed)
    n = n_others + n_constant
    quality = np.concatenate([np.linspace(0.3, 0.9, n_others), np.linspace(0.05, 0.25, n_constant)])
    values = quality[:, None, None] + rng.normal(0, noise, (n, n_topics, len(ALL)))
    at = ALL.index("kappa")
    values[n_others:, :, at] = kappa_of_constant * np.arange(1, n_constant + 1)[:, None]
    for name in ("MAE_M", "MAE_mu"):
        values[..., ALL.index(name)] = 1 - values[..., ALL.index(name)]
    runs = [f"r{r:02d}" for r in range(n_others)] + [f"always-{k}" for k in range(n_constant)]
    return metaeval.Scores(values, runs=runs, topics=range(n_topics), measures=ALL, collection="made")


def ask(scores, **options):
    questions = ("similarity", "consistency", "small_consistency", "power", "robust_power")
    return study_collection(scores, questions=questions, n_trials=60, n_permutations=200, n_bootstrap=60, **options)


@pytest.fixture(scope="module")
def with_constants():
    return ask(score_runs(5))


def test_constant_runs_of_one_kappa_explain_its_inconsistency_and_are_told_apart_by_the_rest(with_constants):
    decided = {name: verdicts.RULES[name].decide(with_constants) for name in OF_RUNS}
    assert decided["kappa_of_constant_runs"][0] == "holds"
    assert decided["alphas_of_constant_runs"][0] == "holds"
    assert decided["kappa_cannot_distinguish"][0] == "holds"
    assert decided["constant_runs_explain_consistency"][0] == "holds"


def test_constant_runs_that_kappa_tells_apart_explain_nothing():
    study = ask(score_runs(5, kappa_of_constant=0.05))
    figures = read_study(study)
    assert verdicts.RULES["kappa_of_constant_runs"].decide(study)[0] == "does not hold"
    assert verdicts.RULES["kappa_cannot_distinguish"].decide(study)[0] == "does not hold"
    same = verdicts.MODULES[OC].constant_runs_explain_consistency(figures, figures)
    assert same[0] == "cannot tell"
    ahead, behind = (
        made(OC, halves=table, small=table, power=table, n_constant=5)
        for table in (beats(ALL, (["kappa"], F1)), beats(ALL, (F1, ["kappa"])))
    )
    for name in ("constant_runs_explain_consistency", "constant_runs_explain_power"):
        judge = getattr(verdicts.MODULES[OC], name)
        assert judge(behind, ahead)[0] == "holds"
        assert judge(ahead, behind)[0] == "does not hold"


def test_constant_runs_with_equal_alphas_refute_that_alphas_can_evaluate_them():
    scores = score_runs(3)
    values = scores.values.copy()
    values[12:, :, ALL.index("alpha_ORD")] = values[12:, :, ALL.index("alpha_INT")] = 0.1
    flat = metaeval.Scores(values, runs=scores.runs, topics=scores.topics, measures=ALL)
    figures = Figures("made", ALL, scores=flat, n_constant=3)
    assert decide("alphas_of_constant_runs", figures)[0] == "does not hold"


def test_too_few_other_runs_cannot_tell_what_constant_runs_explain():
    study = ask(score_runs(3, n_others=9))
    word, evidence = verdicts.RULES["constant_runs_explain_consistency"].decide(study)
    assert (word, evidence[0].value) == ("cannot tell", 9)
    assert verdicts.RULES["constant_runs_explain_consistency"].decide(ask(score_runs(0))) is None


@pytest.mark.parametrize(("place", "word"), [(11, "holds"), (7, "holds in part"), (0, "does not hold")])
def test_the_best_run_by_mae_mu_is_far_from_the_top_by_mae_m_or_not(place, word):
    values = np.tile(LEVELS[:, None, None], (1, 5, len(ALL)))
    values[place, :, ALL.index("MAE_mu")] = 0.0
    scores = metaeval.Scores(values, runs=range(12), topics=range(5), measures=ALL)
    found, evidence = decide("rank_ten_at_top", Figures("made", ALL, scores=scores))
    assert (found, evidence[1].value) == (word, place + 1)


@pytest.mark.parametrize(("place", "word"), [(11, "holds"), (7, "holds in part"), (0, "does not hold")])
def test_the_constant_run_that_is_best_by_mae_mu_is_far_from_the_top_by_mae_m_or_not(place, word):
    values = np.tile(LEVELS[:, None, None], (1, 5, len(ALL)))
    values[place, :, ALL.index("MAE_mu")] = 0.0
    runs = ["always-0" if one == place else f"r{one:02d}" for one in range(12)]
    scores = metaeval.Scores(values, runs=runs, topics=range(5), measures=ALL)
    assert decide("constant_run_ten_at_top", Figures("made", ALL, scores=scores, n_constant=1))[0] == word
    scores = metaeval.Scores(
        values, runs=["always-0" if r == 5 else f"r{r:02d}" for r in range(12)], topics=range(5), measures=ALL
    )
    assert decide("constant_run_ten_at_top", Figures("made", ALL, scores=scores, n_constant=1))[0] == "does not hold"
    assert decide("constant_run_ten_at_top", Figures("made", ALL, scores=scores)) is None


def test_one_topic_with_an_empty_gold_class_is_enough():
    def collect(*topics):
        counts = [[np.diag(sizes).tolist() for sizes in topics]]
        return metaeval.ClassificationRuns(
            counts, runs=["a"], topics=range(len(topics)), classes=["no", "yes"], collection="made"
        )

    full, empty = collect([2, 3], [1, 1]), collect([2, 3], [0, 1])
    assert [one.outcome for one in gold.judge_gold({"Sem16T4C": full})] == ["does not hold"]
    found = gold.judge_gold({"Sem16T4C": full, "Sem17T4C": empty})[0]
    assert (found.outcome, [one.value for one in found.evidence]) == ("holds", [0, 1])
    assert gold.judge_gold({}) == []


def test_every_rule_that_applies_is_tried_on_a_collection_with_both_tests_and_all_looks(with_constants):
    views = {"Sem17T4C": Views(with_constants, 0, {}, {"without baselines": with_constants})}
    found = {one.claim: one for one in verdicts.apply_to_collections(views)}
    expected = {claim["claim"] for claim in CLAIMS.values() if claim["kind"] == OC and claim["name"] != "kappa_primary"}
    assert set(found) == expected
    power = found[CLAIMS["least_discriminative_four"]["claim"]]
    assert [name for name, _ in power.conditions] == ["seed 0", "without baselines", "by bootstrap-t"]


def test_collections_are_tried_together_where_a_sentence_speaks_of_averages():
    studies = [ask(score_runs(0, seed=seed)) for seed in (1, 2)]
    views = dict(zip(("Sem16T4C", "Sem17T4C"), (Views(one, 0, {1: one}) for one in studies), strict=True))
    found = verdicts.apply_to_collections(views)
    by_claim = {name: [one.data for one in found if one.claim == claim["claim"]] for name, claim in CLAIMS.items()}
    assert by_claim["most_consistent_three"] == ["made, made"]
    assert by_claim["kappa_most_consistent"] == ["made", "made"]
    assert by_claim["nmd_outlier"] == []


def test_a_sentence_that_denies_something_of_a_place_is_right_where_its_rule_does_not_hold_there():
    """On these data RSNOD is not between: of DQ-A and DQ-S the sentence says that it is, of DQ-E that it is not."""
    values = np.linspace(0.2, 0.8, 12)[:, None, None] + np.random.default_rng(0).normal(0, 0.01, (12, 30, len(SIX)))
    values[:, :, SIX.index("RSNOD")] = values[::-1, :, SIX.index("RSNOD")]
    scores = metaeval.Scores(values.clip(0, 1), runs=range(12), topics=range(30), measures=SIX, collection="made")
    views = dict.fromkeys(("DQ-A", "DQ-E", "DQ-S"), Views(study_collection(scores, questions=["similarity"]), 0))
    for relation, elsewhere in (("the paper's", "does not hold"), ("in kind", "cannot tell")):
        found = [
            one
            for one in verdicts.apply_to_collections(views, relation)
            if one.claim == CLAIMS["rsnod_between"]["claim"]
        ]
        assert [one.outcome for one in found] == [elsewhere, "holds", elsewhere]


def test_averages_over_collections_are_tested_as_one_collection_would_be():
    """With the same trials everywhere, V_E2 of the mean of two is half, so that smaller differences are found."""
    study = ask(score_runs(0))
    one = read_study(study)
    both = average_figures([one, one])
    for label in (HALVES, SMALL):
        assert np.allclose(both.splits[label].means, one.splits[label].means)
        assert both.splits[label].variance == pytest.approx(one.splits[label].variance / 2)
        assert not (one.splits[label].ahead & ~both.splits[label].ahead).to_numpy().any()
    assert average_figures([one]) is one


def test_intervals_of_tau_are_about_as_wide_as_those_of_the_analysis():
    study = study_collection(score_runs(0, noise=0.8), questions=["similarity"])
    for row in study.similarity.intervals().itertuples():
        low, high = read_study(study).weigh("τ", lambda tau, row=row: tau(row.measure_1, row.measure_2)).interval
        assert high - low == pytest.approx(row.high - row.low, rel=0.25)


def test_on_its_own_numbers_most_sentences_follow_by_their_rules_and_the_rest_are_listed():
    found = list(on_print.apply_to_print())
    said = [one for one in found if dict(one.conditions)[on_print.SPEAKS] == "yes" and not one.reason]
    denied = [one for one in found if dict(one.conditions)[on_print.SPEAKS] == "yes, it denies it"]
    unlike = [one for one in said if one.outcome != "holds"]
    assert {one.outcome for one in denied} == {"holds"}
    assert len(said) + len(denied) == 53
    assert {(one.where.split()[2].rstrip(","), one.data) for one in unlike} == {
        ("§5.4", "print: Sem17T4C"),
        ("§6.4", "print: DQ-E"),
    }
    assert all(one.reason.startswith("print does not have") for one in found if not one.evidence)
    first, *rest = on_print.find_implications()
    assert first.startswith(f"The rules on the paper's own numbers: in {53 - len(unlike)} of 53 places")
    assert sum(line.startswith("There it does not") for line in rest) == len(unlike)


def test_printed_marks_follow_from_mean_taus_but_for_the_five_that_cannot_be_right():
    lines = [line for line in on_print.find_implications() if "marks follow" in line]
    assert [line.partition(" marks")[0] for line in lines] == [
        "Table 3: 36 of 36",
        "Table 6: 31 of 36",
        "Table 9: 24 of 24",
    ]


def test_print_is_read_as_it_stands():
    figures = read_print()["Sem16T4C"]
    assert figures.tau.loc["kappa", "CEM_ORD"] == figures.tau.loc["CEM_ORD", "kappa"] == 0.667
    assert figures.splits[HALVES].ahead.loc["kappa"].sum() == 8
    assert figures.splits[SMALL].ahead.loc["kappa", "MAE_M"]
    assert not figures.splits[SMALL].ahead.loc["kappa", "alpha_INT"]
    assert POWER not in figures.ahead
    power = read_print()["DQ-A"].ahead[POWER]
    assert power.loc["RNOD", "RSNOD"]
    assert read_print()["DQ-E"].ahead[POWER].loc["RNOD", "NMD"]  # 117 against 116: without intervals the numbers decide


def test_claims_about_formulas_hold_where_the_right_measures_fail():
    tried = {"a": (0, 9), "b": (3, 9), "c": (0, 9)}
    assert formulas.judge_cases(tried, fails=["b"])[0] == "holds"
    assert formulas.judge_cases(tried, fails=["a"])[0] == "does not hold"
    assert formulas.judge_cases(tried, fails=[])[0] == "holds in part"
    sizes = {"Sem16T4E": [5, 10, 10], "DQ-A": [5, 100, 10]}
    assert formulas.judge_sizes(sizes)[0] == "holds"
    assert formulas.judge_sizes({**sizes, "Sem16T4E": [5, 90, 10]})[0] == "holds in part"
    assert formulas.judge_sizes({**sizes, "Sem16T4E": [5, 900, 10]})[0] == "does not hold"


def test_effect_sizes_that_do_not_follow_refute_the_captions():
    part = {"RNOD": [0.909, 5], "NMD": [0.717, 0], "V_E2": 0.0013}
    for size, word in ((5.33, "holds"), (5.43, "does not hold")):
        numbers = {
            "table6": {"DQ-A": {"full": part}},
            "effect_sizes": {"examples": [["table6", "DQ-A", "full", "RNOD", "NMD", size]]},
        }
        assert formulas.judge_effects(numbers)[0] == word


def test_what_cannot_be_tried_says_what_it_would_take():
    found = formulas.list_untried()
    assert len(found) == len(verdicts.CLAIMS["untried"])
    assert all(one.outcome == "cannot tell" and one.reason.startswith("it would take") for one in found)


def test_formulas_are_as_the_paper_says_but_for_imbalance_order_and_what_nmd_assumes():
    found = {
        claim["name"]: one for claim, one in zip(verdicts.CLAIMS["formulas"], formulas.decide_formulas(), strict=True)
    }
    assert {name for name, one in found.items() if one.outcome != "holds"} == {
        "order_heeded",
        "imbalance",
        "equidistance",
    }
    assert dict(formulas.try_stretching())["NMD"][0] > 0


def test_rules_have_their_bounds_from_the_table_and_their_collections_from_the_paper():
    for rule in verdicts.RULES.values():
        assert "{" not in rule.text
    for claim in CLAIMS.values():
        assert set(claim["speaks_of"]) | set(claim.get("denies", ())) <= set(audit.STUDY["collections"])
