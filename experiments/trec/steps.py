"""The steps: one collection after the other, then pools of those that share measures, then what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.old.claims import list_claims, tabulate_claims, try_claims
from experiments.old.outcome import Outcome, Settings, load_groups, read_toml
from experiments.trec import claims
from metaeval.analyses.study import Study, study_collection

STUDY = read_toml(Path(__file__).parent / "study.toml")
SOURCES = [""]
PICTURES = {"": tuple(f"pooled_{pool}" for pool in STUDY["pools"])}
QUESTIONS = ("consistency", "power", "overlap", "contradictions")


def run(settings: Settings) -> list[Outcome]:
    """How consistent and how discriminative are AP, nDCG, ERR, P@k and RR? ``quick`` looks at two collections only."""
    studies: dict[str, Study] = {}
    together = Outcome("trec", "")
    only = STUDY["quick"]["collections"] if settings.quick else None
    for name, scores in load_groups(settings, STUDY["groups"], together.lacks, only):
        settings.say(f"TREC: {name}")
        studies[name] = study_scores(scores, settings)
    if together.lacks:
        together.notes.append(f"without {together.lacks[0]}, what needs all collections was left out")
    elif settings.quick:
        together.lacks = ["all but two collections"]
    else:
        _add_pools(together, studies, settings)
    if studies:
        together.tables |= {"power": tabulate_power(studies), "consistency": tabulate_consistency(studies)}
        findings = try_claims(list_claims(claims), {name: claims.Facts(study) for name, study in studies.items()})
        together.tables["claims"] = tabulate_claims(findings, "What came of the claims.", "trec")
    return [together]


def study_scores(scores: metaeval.Scores, settings: Settings) -> Study:
    """Test and split one collection."""
    return study_collection(
        scores, questions=QUESTIONS, n_trials=STUDY["splits"], n_permutations=STUDY["permutations"],
        alpha=STUDY["alpha"], seed=settings.seed, n_jobs=settings.n_jobs,
    )  # fmt: skip


def _add_pools(together: Outcome, studies: dict[str, Study], settings: Settings) -> None:
    """Add the pools of the collections that share measures."""
    pools = {}
    for pool, chosen in STUDY["pools"].items():
        names = [name for group in chosen["groups"] for name in STUDY["groups"][group]]
        settings.say(f"TREC: pool of {len(names)} collections, {', '.join(chosen['measures'])}")
        # The same numbers as with all measures, under a signature that names those that are pooled.
        powers = [
            metaeval.discriminative_power(
                studies[name].scores.sel(measures=chosen["measures"]), n_permutations=STUDY["permutations"],
                alpha=STUDY["alpha"], seed=settings.seed, n_jobs=settings.n_jobs,
            )
            for name in names
        ]  # fmt: skip
        pools[pool] = metaeval.pooled_discriminative_power(powers, seed=settings.seed)
        together.tables[f"pooled_{pool}"] = pools[pool].to_table()
        together.figures[f"pooled_{pool}"] = partial(_draw_pool, pools[pool])


def _draw_pool(pool: metaeval.PooledDiscriminativePower) -> Figure:
    figure = pool.plot()
    figure.axes[0].set_ylim(-0.5, len(pool.measures) - 0.5)  # two measures would lie on the frame
    return figure


def find_best(study: Study) -> str:
    """Return the measure that is significantly more consistent than all others, or nothing."""
    names = [str(measure) for measure in study.scores.measures]
    alone = np.flatnonzero(study.consistency.outperforms == len(names) - 1)
    return names[int(alone[0])] if len(alone) and len(names) > 1 else ""


def tabulate_power(studies: dict[str, Study]) -> metaeval.Table:
    """Show the percentage of significant run pairs of every measure on every collection."""
    numbers = {name: study.power.summary().set_index("measure")["power"] * 100 for name, study in studies.items()}
    sizes = {
        name: {"runs": len(study.scores.runs), "topics": len(study.scores.topics)} for name, study in studies.items()
    }
    caption = "Discriminative power: percentage of run pairs that are significant; the largest of a collection in bold."
    signature = _signature([study.power.signature for study in studies.values()])
    return _by_collection(numbers, sizes, {}, caption, signature, digits=1)


def tabulate_consistency(studies: dict[str, Study]) -> metaeval.Table:
    """Show the mean τ of every measure on every collection."""
    numbers = {
        name: pd.Series(study.consistency.means, index=[str(m) for m in study.consistency.measures])
        for name, study in studies.items()
    }
    sizes = {
        name: {"runs": len(study.scores.runs), "topics": " vs. ".join(map(str, study.consistency.sizes))}
        for name, study in studies.items()
    }
    alone = {name: {"significantly above all others": find_best(study) or "none"} for name, study in studies.items()}
    caption = (
        "Split-half consistency: mean τ between the rankings of runs on two halves of the topics; the largest of a "
        "collection in bold."
    )
    signature = _signature([study.consistency.signature for study in studies.values()])
    return _by_collection(numbers, sizes, alone, caption, signature, digits=3)


def _signature(signatures: list[metaeval.Signature]) -> metaeval.Signature:
    """Sign for several collections, some of which have fewer measures and another size of halves."""
    first = signatures[0]
    settings = tuple((name, value) for name, value in first.settings if name != "split")
    return metaeval.Signature(
        first.analysis, tuple(part for signature in signatures for part in signature.data), settings, first.version
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


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    topics = outcomes[0].tables["power"].frame["topics"]
    return {
        "topics": f"{topics.min()} to {topics.max()}",
        "pools": STUDY["pools"],
        "names": [name for names in STUDY["groups"].values() for name in names],
    }
