"""The steps: one collection after the other, then pools of those that share measures, then what they say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.outcome import Outcome, Settings, load_groups, read_toml
from experiments.page import format_list
from experiments.trec.findings import describe_findings, find_best
from metaeval.analyses.study import Study, study_collection

STUDY = read_toml(Path(__file__).parent / "study.toml")
SOURCES = ["", *(name for names in STUDY["groups"].values() for name in names)]
QUESTIONS = ("consistency", "power", "overlap", "contradictions")


def run(settings: Settings) -> list[Outcome]:
    """How consistent and how discriminative are AP, nDCG, ERR, P@k and RR?

    Parameters
    ----------
    settings : Settings
        ``quick`` leaves out all but two collections, and what needs all of them.

    Returns
    -------
    list of Outcome
    """
    studies: dict[str, Study] = {}
    missing: list[str] = []
    only = STUDY["quick"]["collections"] if settings.quick else None
    for name, scores in load_groups(settings, STUDY["groups"], missing, only):
        settings.say(f"TREC: {name}")
        studies[name] = study_scores(scores, settings)
    together = Outcome("trec", "")
    if settings.quick:
        together.lacks = ["all but two collections"]
    elif missing:
        together.lacks = missing
        together.notes.append(f"without {missing[0]}, what needs all collections was left out")
    else:
        _add_together(together, studies, settings)
    return [together, *map(compute_tables, studies.values())]


def study_scores(scores: metaeval.Scores, settings: Settings) -> Study:
    """Test and split one collection.

    Parameters
    ----------
    scores : Scores
    settings : Settings

    Returns
    -------
    Study
    """
    return study_collection(
        scores, questions=QUESTIONS, n_trials=STUDY["splits"], n_permutations=STUDY["permutations"],
        alpha=STUDY["alpha"], seed=settings.seed, n_jobs=settings.n_jobs,
    )  # fmt: skip


def compute_tables(study: Study) -> Outcome:
    """Return the tables and the figure of one collection.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Outcome
    """
    found = Outcome("trec", study.name)
    found.tables = {question: result.to_table() for question, result in study.results()}
    found.figures = {"power": study.power.plot}
    return found


def _add_together(together: Outcome, studies: dict[str, Study], settings: Settings) -> None:
    """Add what needs all collections: pools, the tables over collections, and what they say."""
    pools = {}
    for pool, chosen in STUDY["pools"].items():
        names = [name for group in chosen["groups"] for name in STUDY["groups"][group]]
        settings.say(f"TREC: pool of {len(names)} collections, {', '.join(chosen['measures'])}")
        # The same numbers as with all measures, under a signature that names those that are pooled.
        powers = [
            metaeval.discriminative_power(
                studies[name].scores.sel(measures=chosen["measures"]), n_permutations=STUDY["permutations"],
                n_bootstrap=0, alpha=STUDY["alpha"], seed=settings.seed, n_jobs=settings.n_jobs,
            )
            for name in names
        ]  # fmt: skip
        pools[pool] = metaeval.pooled_discriminative_power(powers, seed=settings.seed)
        together.tables[f"pooled_{pool}"] = pools[pool].to_table()
        together.figures[f"pooled_{pool}"] = partial(_draw_pool, pools[pool])
    together.tables |= {"power": tabulate_power(studies), "consistency": tabulate_consistency(studies)}
    together.texts["findings"] = format_list(describe_findings(list(studies.values()), pools))


def _draw_pool(pool: metaeval.PooledDiscriminativePower) -> Figure:
    figure = pool.plot()
    figure.axes[0].set_ylim(-0.5, len(pool.measures) - 0.5)  # two measures would lie on the frame
    return figure


def tabulate_power(studies: dict[str, Study]) -> metaeval.Table:
    """Show the percentage of significant run pairs of every measure on every collection.

    Parameters
    ----------
    studies : dict of str to Study

    Returns
    -------
    Table
    """
    numbers = {name: one.power.summary().set_index("measure")["power"] * 100 for name, one in studies.items()}
    sizes = {name: {"runs": len(one.scores.runs), "topics": len(one.scores.topics)} for name, one in studies.items()}
    caption = "Discriminative power: percentage of run pairs that are significant; the largest of a collection in bold."
    signature = _signature([one.power.signature for one in studies.values()])
    return _by_collection(numbers, sizes, {}, caption, signature, digits=1)


def tabulate_consistency(studies: dict[str, Study]) -> metaeval.Table:
    """Show the mean τ of every measure on every collection.

    Parameters
    ----------
    studies : dict of str to Study

    Returns
    -------
    Table
    """
    numbers = {
        name: pd.Series(one.consistency.means, index=[str(m) for m in one.consistency.measures])
        for name, one in studies.items()
    }
    sizes = {
        name: {"runs": len(one.scores.runs), "topics": " vs. ".join(map(str, one.consistency.sizes))}
        for name, one in studies.items()
    }
    alone = {name: {"significantly above all others": find_best(one) or "none"} for name, one in studies.items()}
    caption = (
        "Split-half consistency: mean τ between the rankings of runs on two halves of the topics; the largest of a "
        "collection in bold."
    )
    signature = _signature([one.consistency.signature for one in studies.values()])
    return _by_collection(numbers, sizes, alone, caption, signature, digits=3)


def _signature(signatures: list[metaeval.Signature]) -> metaeval.Signature:
    """Sign for several collections, some of which have fewer measures and another size of halves."""
    first = signatures[0]
    settings = tuple((name, value) for name, value in first.settings if name != "split")
    return metaeval.Signature(
        first.analysis, tuple(part for one in signatures for part in one.data), settings, first.version
    )


def _by_collection(
    numbers: dict[str, pd.Series],
    before: Mapping[str, Mapping[str, object]],
    after: Mapping[str, Mapping[str, object]],
    caption: str,
    signature: metaeval.Signature,
    digits: int,
) -> metaeval.Table:
    """Lay out one row a collection, one column a measure, in the order of the pool that has them all."""
    measures = [name for name in STUDY["pools"]["web"]["measures"] if any(name in row for row in numbers.values())]
    values = pd.DataFrame(numbers).T[measures]
    parts = [pd.DataFrame(before).T, values, pd.DataFrame(after).T]
    frame = pd.concat([part for part in parts if len(part)], axis=1).rename_axis("collection")
    largest = values.eq(values.max(axis=1), axis=0).replace({True: "bold", False: ""})
    words = largest.reindex(columns=frame.columns, fill_value="")
    return metaeval.Table(frame, caption, signature, digits=digits, marks=lambda _: words)
