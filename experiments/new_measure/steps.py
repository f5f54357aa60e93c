"""The steps: formulas first, then gold, then one collection after the other, then all together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import metaeval
from experiments.new_measure import formulas
from experiments.new_measure.collection import Studied, outcome, studied
from experiments.new_measure.findings import Evidence, page
from experiments.new_measure.gold import POPULARITY, UNIFORM, baseline_runs, gold_table, preference_table
from experiments.new_measure.pooled import beside_table, consistency_table, run_pairs_table
from experiments.simulate.campaigns import campaign
from experiments.study import Outcome, Settings, read_toml

STUDY = read_toml(Path(__file__).parent / "study.toml")
MEASURES = [*STUDY["established"], *STUDY["new"]]


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
        "order": formulas.order_table(MEASURES),
        "one_class": formulas.one_class_table(MEASURES),
        "limits": formulas.limits_table(MEASURES),
    }
    missing: list[str] = []
    campaigns = dict(_had(settings, STUDY["campaigns"], missing))
    studies = []
    for name, runs in campaigns.items():
        settings.say(f"new measures: {name}")
        studies.append(_studied(runs, settings))
    outcomes = [outcome(one) for one in studies]
    if not settings.quick:
        outcomes.append(stand_in(settings))
    if settings.quick:
        everything.notes.append("quick: what needs all collections was left out")
        return [everything, *outcomes]
    gold_only = dict(_had(settings, STUDY["gold_only"], missing))
    if missing:
        everything.notes.append(f"without {missing[0]}, what needs all collections was left out")
        return [everything, *outcomes]
    _together(everything, studies, campaigns, gold_only, settings)
    return [everything, *outcomes]


def _studied(runs: metaeval.QuantificationRuns, settings: Settings) -> Studied:
    options = {key: STUDY[key] for key in ("permutations", "splits", "small", "alpha")}
    return studied(metaeval.score(runs, MEASURES), settings, **options)


def stand_in(settings: Settings) -> Outcome:
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
        studies.append(_studied(campaign(name, settings.seed), settings))
    pooled = metaeval.pooled_discriminative_power([one.power for one in studies], seed=settings.seed)
    found = Outcome("new_measure", "stand-in", notes=["simulated campaigns of DialEval-1's shape"])
    found.tables = {
        "pooled_power": pooled.to_table(),
        "consistency": consistency_table(studies),
        "beside": beside_table(studies, STUDY["new"], STUDY["parent"]),
        "run_pairs": run_pairs_table([one.contradictions for one in studies]),
    }
    found.figures["pooled_power"] = pooled.plot()
    text = [
        "# Stand-ins: the same measures on simulated campaigns",
        "Nothing here is real: gold and runs are simulated in the shape of DialEval-1 (22 runs × 300 dialogues), whose runs "
        "are not public, by `experiments.simulate.campaigns`. What the real collections say stands in [the page above]"
        "(../README.md); this shows that the analyses work where nothing can be downloaded, and proves nothing about runs.",
        *(found.tables[name].to_markdown() for name in ("beside", "pooled_power", "consistency", "run_pairs")),
        "![Pooled discriminative power, simulated](pooled_power.png)",
    ]
    found.pages["README"] = "\n\n".join(text) + "\n"
    return found


def _had(
    settings: Settings, groups: dict[str, list[str]], missing: list[str]
) -> Iterator[tuple[str, metaeval.QuantificationRuns]]:
    """Yield the collections that can be had; after the first of a group that cannot, the group is left."""
    for names in groups.values():
        for name in names:
            if settings.quick and name not in STUDY["quick"]["campaigns"]:
                continue
            try:
                yield name, settings.load(name)
            except metaeval.MetaevalError as error:
                missing.append(f"{name} ({error})")
                break


def _together(
    everything: Outcome,
    studies: list[Studied],
    campaigns: dict[str, metaeval.QuantificationRuns],
    gold_only: dict[str, metaeval.QuantificationRuns],
    settings: Settings,
) -> None:
    """Add what needs all collections: tables, a figure, and the page of findings."""
    collections = campaigns | gold_only
    preferences = {
        name: metaeval.baseline_preference(metaeval.score(baseline_runs(runs), MEASURES), POPULARITY, UNIFORM)
        for name, runs in collections.items()
    }
    pooled = metaeval.pooled_discriminative_power([one.power for one in studies], seed=settings.seed)
    contradictions = [one.contradictions for one in studies]
    contradictions += [_baselines_contradict(runs, settings) for runs in gold_only.values()]
    everything.tables |= {
        "gold": gold_table(collections),
        "pooled_power": pooled.to_table(),
        "consistency": consistency_table(studies),
        "beside": beside_table(studies, STUDY["new"], STUDY["parent"]),
        "run_pairs": run_pairs_table(contradictions),
        "preference": preference_table(preferences),
    }
    everything.figures["pooled_power"] = pooled.plot()
    evidence = Evidence(
        tuple(STUDY["established"]),
        tuple(STUDY["new"]),
        STUDY["parent"],
        tuple(studies),
        pooled,
        preferences,
        tuple(contradictions),
        collections,
        everything.tables,
    )
    everything.pages["README"] = page(evidence)
    everything.pages["README"] += "\nThe same measures on simulated campaigns: [stand-in](stand-in/README.md).\n"


def _baselines_contradict(runs: metaeval.QuantificationRuns, settings: Settings) -> metaeval.SignificanceContradictions:
    """Test the runs of a collection that has next to none, Popularity and Uniform added, for contradictions only."""
    made = baseline_runs(runs)
    more = {name: made.estimated[r] for r, name in enumerate(made.runs)}
    scores = metaeval.score(runs.with_runs(more), MEASURES)
    power = metaeval.discriminative_power(
        scores, n_permutations=STUDY["permutations"], alpha=STUDY["alpha"], seed=settings.seed, n_jobs=settings.n_jobs
    )
    return metaeval.significance_contradictions(power)
