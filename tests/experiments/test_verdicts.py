"""Rules of the papers' claims, on collections that are made so that the answer is known."""

import numpy as np

import metaeval
from experiments.acl2021 import verdicts as acl
from experiments.conclusions import count_conclusions
from experiments.verdicts import FEWEST_RUNS, Rule, Views, judge_symmetry, look_at
from metaeval.analyses.study import study_collection

SIX = ["NMD", "RSNOD", "RNOD", "NVD", "RNSS", "JSD"]


def study(values, measures=SIX, runs=None, **options):
    """Ask everything of scores of shape (run, topic, measure), lower being better."""
    values = np.asarray(values, dtype=float)
    runs = runs or [f"r{r:02d}" for r in range(len(values))]
    scores = metaeval.Scores(values, runs=runs, topics=range(values.shape[1]), measures=measures, collection="made")
    return study_collection(
        scores, questions=["similarity", "consistency", "small_consistency", "power", "overlap", "contradictions",
                           "preference"],
        n_trials=30, n_permutations=200, n_bootstrap=100, **options,
    )  # fmt: skip


def graded(n_runs=12, n_topics=30, noise=(0.02,) * 6, backwards=(), seed=0):
    """Runs of graded quality: one noise a measure; measures named backwards turn the order of runs round."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.2, 0.8, n_runs)[:, None, None] * np.ones((1, n_topics, len(SIX)))
    for name in backwards:
        quality[..., SIX.index(name)] = 1 - quality[..., SIX.index(name)]
    return np.clip(quality + rng.normal(0, 1, quality.shape) * np.array(noise), 0, 1)


def test_the_more_consistent_measure_is_said_to_be_so_and_the_less_consistent_not():
    noisy, quiet = 0.6, 0.05
    better = study(graded(noise=(0.1, noisy, quiet, 0.1, 0.1, 0.1)))
    worse = study(graded(noise=(0.1, quiet, noisy, 0.1, 0.1, 0.1)))
    consistency = acl.RULES["symmetry_consistency"].decide
    assert consistency(better)[0] == "holds"
    assert consistency(worse)[0] == "does not hold"
    assert judge_symmetry(better)[0] == "holds"
    assert judge_symmetry(worse)[0] == "does not hold"


def test_with_fewer_runs_than_ten_nothing_is_told_but_what_is_about_single_runs():
    few = study(graded(n_runs=FEWEST_RUNS - 1))
    found = [one for rule in acl.RULES.values() if (one := rule.apply(Views(few, 0))) is not None]
    assert found
    assert {one.outcome for one in found} == {"cannot tell"}
    assert all("9 runs, the rule needs 10" in one.reason for one in found)


def test_an_outcome_on_which_seeds_disagree_cannot_be_told():
    studies = {seed: study(graded(), seed=seed) for seed in range(3)}
    views = Views(studies[0], 0, {1: studies[1], 2: studies[2]})
    agreed = Rule("claim", "where", "rule", lambda one: ("holds", ()))
    turns = iter(["holds", "holds", "does not hold"])
    split = Rule("claim", "where", "rule", lambda _: (next(turns), ()))
    assert agreed.apply(views).outcome == "holds"
    assert ("seeds 0 to 2", "holds 3") in agreed.apply(views).conditions
    found = split.apply(views)
    assert found.outcome == "cannot tell"
    assert found.reason == "seeds disagree: holds 2, does not hold 1"


def test_baselines_and_copies_are_left_out_where_there_are_any():
    values = graded(n_runs=14)
    values[1] = values[2]
    runs = ["BL-uniform", *(f"r{r:02d}" for r in range(13))]
    whole = study(values, runs=runs)
    asked = []

    def ask(scores, seed):
        asked.append((len(scores.runs), seed))
        return whole

    views = look_at(whole, ask, 3)
    assert asked == [(13, 3), (13, 3), (14, 4), (14, 5), (14, 6), (14, 7)]
    assert set(views.others) == {"without baselines", "on distinct runs"}
    plain = look_at(study(graded()), ask, 0)
    assert plain.others == {"without baselines": "it has none", "on distinct runs": "all are distinct"}
    assert look_at(whole, ask, 0, simulated=True) == Views(whole, 0)


def test_rules_on_print_are_verdicts_on_print():
    rule = Rule("claim", "where", "rule", lambda one: None, in_print=lambda: {"DQ-A": ("does not hold", ())})
    (found,) = rule.apply_to_print()
    assert (found.data, found.outcome) == ("print: DQ-A", "does not hold")


def test_an_outcome_that_turns_round_without_some_runs_cannot_be_told():
    whole, fewer = study(graded()), study(graded(), seed=1)
    rule = Rule("claim", "where", "rule", lambda one: ("holds" if one is whole else "does not hold", ()))
    found = rule.apply(Views(whole, 0, {}, {"without baselines": fewer, "on distinct runs": "all are distinct"}))
    assert found.outcome == "cannot tell"
    assert found.reason == "holds as it is, the opposite without baselines"


def test_a_conclusion_is_counted_by_what_it_was_tried_on(tmp_path):
    def write(source, *rows):
        folder = tmp_path / "paper" / source
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f'{claim},"{where}",rule,{data},{outcome},,' for claim, where, data, outcome in rows]
        head = "claim,where,rule,data,outcome,figures,conditions"
        (folder / "verdicts.csv").write_text("\n".join([head, *lines]) + "\n")

    write("", ("A", "P, §1", "print: X", "holds"), ("B", "P, §2", "enumeration", "does not hold"))
    write("stc3", ("A", "P, §1", "a", "does not hold"), ("A", "P, §1", "2 collections together", "cannot tell"),
          ("B", "P, §2", "a", "holds"), ("B", "P, §2", "b", "does not hold"), ("C", "CEM blog", "a", "holds"))  # fmt: skip
    write("stand-in", ("A", "P, §1", "simulated: a", "holds"))
    found = count_conclusions(tmp_path / "paper")
    assert found["own"] == {"hold": 1, "do not hold": 1}
    assert found["real"] == {"cannot tell": 1, "in part": 1}
    assert count_conclusions(tmp_path / "paper", blog=True)["real"] == {"hold": 1}
