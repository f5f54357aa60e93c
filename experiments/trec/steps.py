"""The steps: one collection after the other, then pools of those that share measures, then what they say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

import metaeval
from experiments.study import Outcome, Settings, read_toml
from experiments.trec.findings import Studied, best, page

STUDY = read_toml(Path(__file__).parent / "study.toml")


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
    studies: dict[str, Studied] = {}
    missing: list[str] = []
    for names in STUDY["groups"].values():
        for name in names:
            if settings.quick and name not in STUDY["quick"]["collections"]:
                continue
            try:
                scores = settings.load(name)
            except metaeval.MetaevalError as error:
                missing.append(f"{name} ({error})")
                break
            settings.say(f"TREC: {name}")
            studies[name] = studied(scores, settings)
    outcomes = [outcome(one) for one in studies.values()]
    together = Outcome("trec", "")
    if settings.quick:
        together.notes.append("quick: what needs all collections was left out")
    elif missing:
        together.notes.append(f"without {missing[0]}, what needs all collections was left out")
    else:
        _together(together, studies, settings)
    return [together, *outcomes]


def studied(scores: metaeval.Scores, settings: Settings) -> Studied:
    """Test and split one collection.

    Parameters
    ----------
    scores : Scores
    settings : Settings

    Returns
    -------
    Studied
    """
    consistency = metaeval.split_half_consistency(
        scores,
        n_trials=STUDY["splits"],
        n_permutations=STUDY["permutations"],
        alpha=STUDY["alpha"],
        seed=settings.seed,
        n_jobs=settings.n_jobs,
    )
    power = _power(scores, settings)
    return Studied(
        scores,
        consistency,
        power,
        metaeval.significance_overlap(power),
        metaeval.significance_contradictions(power),
    )


def outcome(one: Studied) -> Outcome:
    """Return the tables and the figure of one collection.

    Parameters
    ----------
    one : Studied

    Returns
    -------
    Outcome
    """
    found = Outcome("trec", one.scores.collection)
    found.tables = {
        "consistency": one.consistency.to_table(),
        "power": one.power.to_table(),
        "overlap": one.overlap.to_table(),
        "contradictions": one.contradictions.to_table(),
    }
    found.figures = {"power": one.power.plot()}
    return found


def _power(scores: metaeval.Scores, settings: Settings) -> metaeval.DiscriminativePower:
    return metaeval.discriminative_power(
        scores,
        n_permutations=STUDY["permutations"],
        alpha=STUDY["alpha"],
        seed=settings.seed,
        n_jobs=settings.n_jobs,
    )


def _together(together: Outcome, studies: dict[str, Studied], settings: Settings) -> None:
    """Add what needs all collections: pools, the tables over collections, and the page of findings."""
    pools = {}
    for pool, chosen in STUDY["pools"].items():
        names = [name for group in chosen["groups"] for name in STUDY["groups"][group]]
        settings.say(f"TREC: pool of {len(names)} collections, {', '.join(chosen['measures'])}")
        # The same numbers as with all measures, under a signature that names those that are pooled.
        powers = [_power(studies[name].scores.sel(measures=chosen["measures"]), settings) for name in names]
        pools[pool] = metaeval.pooled_discriminative_power(powers, seed=settings.seed)
        together.tables[f"pooled_{pool}"] = pools[pool].to_table()
        figure = pools[pool].plot()
        figure.axes[0].set_ylim(-0.5, len(chosen["measures"]) - 0.5)  # two measures would lie on the frame
        together.figures[f"pooled_{pool}"] = figure
    together.tables |= {"power": power_table(studies), "consistency": consistency_table(studies)}
    together.pages["README"] = page(list(studies.values()), pools, together.tables)


def power_table(studies: dict[str, Studied]) -> metaeval.Table:
    """Show the percentage of significant run pairs of every measure on every collection.

    Parameters
    ----------
    studies : dict of str to Studied

    Returns
    -------
    Table
    """
    numbers = {name: one.power.summary().set_index("measure")["power"] * 100 for name, one in studies.items()}
    sizes = {name: {"runs": len(one.scores.runs), "topics": len(one.scores.topics)} for name, one in studies.items()}
    caption = "Discriminative power: percentage of run pairs that are significant; the largest of a collection in bold."
    signature = _signature([one.power.signature for one in studies.values()])
    return _by_collection(numbers, sizes, {}, caption, signature, digits=1)


def consistency_table(studies: dict[str, Studied]) -> metaeval.Table:
    """Show the mean τ of every measure on every collection.

    Parameters
    ----------
    studies : dict of str to Studied

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
    alone = {name: {"significantly above all others": best(one) or "none"} for name, one in studies.items()}
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
