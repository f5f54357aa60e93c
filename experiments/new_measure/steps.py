"""The steps: formulas first, then gold, then one collection after the other, then all together."""

from __future__ import annotations

from pathlib import Path

import metaeval
from experiments.new_measure import findings, formulas
from experiments.new_measure.collection import compute_tables, study_scores
from experiments.new_measure.gold import POPULARITY, UNIFORM, make_baselines, tabulate_gold, tabulate_preferences
from experiments.new_measure.pooled import tabulate_beside, tabulate_consistency, tabulate_contradictions
from experiments.outcome import Outcome, Settings, load_groups, read_toml
from experiments.page import format_list
from experiments.simulate.campaigns import campaign
from metaeval.analyses.study import Study

STUDY = read_toml(Path(__file__).parent / "study.toml")
MEASURES = [*STUDY["established"], *STUDY["new"]]
STAND_IN = "stand-in"
SOURCES = ["", *(name for names in STUDY["campaigns"].values() for name in names), STAND_IN]


def run(settings: Settings) -> list[Outcome]:
    """Meta-evaluate the measures that LQ 2021 leaves to future work, beside the six that it evaluates.

    Parameters
    ----------
    settings : Settings
        ``quick`` leaves out all but two collections, and what needs all of them.

    Returns
    -------
    list of Outcome
    """
    everything = Outcome("new_measure", "")
    everything.tables = {
        "order": formulas.tabulate_order(MEASURES),
        "one_class": formulas.tabulate_one_class(MEASURES),
        "limits": formulas.tabulate_limits(MEASURES),
    }
    missing: list[str] = []
    only = STUDY["quick"]["campaigns"] if settings.quick else None
    campaigns = dict(load_groups(settings, STUDY["campaigns"], missing, only))
    studies = []
    for name, runs in campaigns.items():
        settings.say(f"new measures: {name}")
        studies.append(study_scores(metaeval.score(runs, MEASURES), settings, STUDY))
    outcomes = [everything, *map(compute_tables, studies)]
    if settings.quick:
        everything.lacks = ["all but two collections"]
        return outcomes
    outcomes.append(compute_stand_in(settings))
    gold_only = dict(load_groups(settings, STUDY["gold_only"], missing))
    if missing:
        everything.lacks = missing
        everything.notes.append(f"without {missing[0]}, what needs all collections was left out")
    else:
        _add_together(everything, studies, campaigns, gold_only, settings)
    return outcomes


def compute_stand_in(settings: Settings) -> Outcome:
    """Do the same with simulated campaigns of DialEval-1's shape, whose runs are not public.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Outcome
        Every table names its collections "simulated: …".
    """
    studies = []
    for name in STUDY["stand_in"]["campaigns"]:
        settings.say(f"new measures: simulated {name}")
        studies.append(study_scores(metaeval.score(campaign(name, settings.seed), MEASURES), settings, STUDY))
    pooled = metaeval.pooled_discriminative_power([one.power for one in studies], seed=settings.seed)
    found = Outcome("new_measure", STAND_IN)
    found.tables = {
        "pooled_power": pooled.to_table(),
        "consistency": tabulate_consistency(studies),
        "beside": tabulate_beside(studies, STUDY["new"], STUDY["parent"]),
        "run_pairs": tabulate_contradictions([one.contradictions for one in studies]),
    }
    found.figures["pooled_power"] = pooled.plot
    return found


def _add_together(
    everything: Outcome,
    studies: list[Study],
    campaigns: dict[str, metaeval.QuantificationRuns],
    gold_only: dict[str, metaeval.QuantificationRuns],
    settings: Settings,
) -> None:
    """Add what needs all collections: tables, a figure, and what they say."""
    collections = campaigns | gold_only
    preferences = {
        name: metaeval.baseline_preference(metaeval.score(make_baselines(runs), MEASURES), POPULARITY, UNIFORM)
        for name, runs in collections.items()
    }
    pooled = metaeval.pooled_discriminative_power([one.power for one in studies], seed=settings.seed)
    contradictions = [one.contradictions for one in studies]
    contradictions += [_find_baseline_contradictions(runs, settings) for runs in gold_only.values()]
    everything.tables |= {
        "gold": tabulate_gold(collections),
        "pooled_power": pooled.to_table(),
        "consistency": tabulate_consistency(studies),
        "beside": tabulate_beside(studies, STUDY["new"], STUDY["parent"]),
        "run_pairs": tabulate_contradictions(contradictions),
        "preference": tabulate_preferences(preferences),
    }
    everything.figures["pooled_power"] = pooled.plot
    evidence = findings.Evidence(
        tuple(STUDY["established"]), tuple(STUDY["new"]), STUDY["parent"],
        tuple(studies), pooled, preferences, tuple(contradictions), collections,
    )  # fmt: skip
    everything.texts = describe_findings(evidence)


def describe_findings(evidence: findings.Evidence) -> dict[str, str]:
    """Return what the numbers say, as Markdown by name, for the page.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    dict of str to str
    """
    said = (findings.compare_powers, findings.describe_contradictions, findings.describe_preferences)
    return {
        "short": format_list([*findings.judge_formulas(evidence), *findings.weigh_measures(evidence)]),
        "runs": format_list([line for describe in said for line in describe(evidence)]),
        "mathematics": findings.describe_mathematics(evidence),
        "limits": findings.describe_limits(evidence),
    }


def _find_baseline_contradictions(
    runs: metaeval.QuantificationRuns, settings: Settings
) -> metaeval.SignificanceContradictions:
    """Test the runs of a collection that has next to none, Popularity and Uniform added, for contradictions only."""
    made = make_baselines(runs)
    more = {name: made.estimated[r] for r, name in enumerate(made.runs)}
    scores = metaeval.score(runs.with_runs(more), MEASURES)
    power = metaeval.discriminative_power(
        scores, n_permutations=STUDY["permutations"], alpha=STUDY["alpha"], seed=settings.seed, n_jobs=settings.n_jobs
    )
    return metaeval.significance_contradictions(power)
