"""The conclusions of ACL 2021 as rules: claims.toml says them in words, the functions named there decide them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from experiments.acl2021 import classification, quantification
from experiments.acl2021.audit import STUDY
from experiments.acl2021.figures import CONSTANT, Figures, read_study
from experiments.acl2021.printed_figures import read_print
from experiments.bounds import BOUNDS
from experiments.comparison import Relation
from experiments.named_data import deny, limit, list_named, turn
from experiments.outcome import read_toml
from experiments.verdicts import FEWEST_RUNS, Found, Rule, Views
from metaeval.analyses.discriminative_power import discriminative_power
from metaeval.analyses.study import Study, study_collection
from metaeval.show.verdict import Evidence, Verdict

PAPER = "ACL 2021"
CLAIMS: dict[str, list[dict[str, Any]]] = read_toml(Path(__file__).with_name("claims.toml"))

TOGETHER = (("Sem16T4C", "Sem17T4C"), ("DQ-A", "DQ-E", "DQ-S"), ("Sem16T4E", "Sem17T4E"))
"""Collections over which the paper averages, and those of its appendix."""

MODULES = {"classification": classification, "quantification": quantification}


@dataclass(frozen=True, eq=False, repr=False)
class Together(Study):
    """Several collections of one source: as a study it is the one with the fewest runs.

    Parameters
    ----------
    studies : tuple of Study
        All of them.
    """

    studies: tuple[Study, ...] = ()

    @property
    def name(self) -> str:
        """Names of all collections."""
        return ", ".join(one.name for one in self.studies)

    def by_robust_test(self) -> Study:
        """Return all of them by the robust test."""
        return join_studies([one.by_robust_test() for one in self.studies])


def join_studies(studies: Sequence[Study]) -> Study:
    """Return several studies as one; the only one as it is.

    Parameters
    ----------
    studies : sequence of Study

    Returns
    -------
    Study
    """
    if len(studies) == 1:
        return studies[0]
    smallest = min(studies, key=lambda one: len(one.scores.runs))
    return Together(**{one.name: getattr(smallest, one.name) for one in fields(Study)}, studies=tuple(studies))


def join_views(views: Sequence[Views]) -> Views:
    """Return looks at several collections as looks at all of them.

    Parameters
    ----------
    views : sequence of Views

    Returns
    -------
    Views
        Where a look leaves one collection as it is, that is taken as it is.
    """
    if len(views) == 1:
        return views[0]
    seeds = set.intersection(*(set(one.by_seed) for one in views))
    others: dict[str, Study | str] = {}
    for name in views[0].others:
        found = [one.others.get(name, "") for one in views]
        if all(isinstance(one, str) for one in found):
            others[name] = str(found[0])
        else:
            pairs = zip(views, found, strict=True)
            others[name] = join_studies([one.study if isinstance(other, str) else other for one, other in pairs])
    return Views(
        join_studies([one.study for one in views]),
        views[0].seed,
        {seed: join_studies([one.by_seed[seed] for one in views]) for seed in sorted(seeds)},
        others,
    )


@lru_cache(maxsize=64)
def leave_out_constant_runs(study: Study) -> Study | None:
    """Return a study of the other runs, by the same trials and tests; None where there are too few.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Study or None
    """
    rest = [run for run in study.scores.runs if CONSTANT not in run]
    if len(rest) < FEWEST_RUNS or study.consistency is None:
        return None
    seed = int(dict(study.consistency.signature.settings)["seed"])
    scores = study.scores.sel(runs=rest)
    found = study_collection(
        scores, questions=("consistency", "small_consistency"), n_trials=len(study.consistency.tau),
        n_permutations=STUDY["n_permutations"], alpha=STUDY["alpha"], small=STUDY["size"], seed=seed,
    )  # fmt: skip
    if study.power is None:
        return found
    power = discriminative_power(
        scores, test=study.power.test, n_permutations=study.power.n_permutations, alpha=STUDY["alpha"], seed=seed,
        n_bootstrap=STUDY["n_bootstrap"],
    )  # fmt: skip
    return replace(found, power=power)


def decide_study(name: str, claim: Mapping[str, Any], study: Study) -> Found | None:
    """Decide a claim on a collection, or on several together.

    Parameters
    ----------
    name : str
        Of the function.
    claim : mapping
        Of claims.toml.
    study : Study

    Returns
    -------
    (outcome, evidence) or None
    """
    judge = getattr(MODULES[claim["kind"]], name)
    if claim.get("together"):
        studies = study.studies if isinstance(study, Together) else (study,)
        found: Found | None = judge([read_study(one) for one in studies])
    elif name.startswith("constant_runs_explain"):
        figures = read_study(study)
        if figures.n_constant < 2 or "kappa" not in figures.measures:
            return None
        rest = leave_out_constant_runs(study)
        if rest is None:
            n_rest = len(study.scores.runs) - figures.n_constant
            return "cannot tell", (Evidence(f"other runs, of {FEWEST_RUNS} needed", n_rest),)
        found = judge(figures, read_study(rest))
    else:
        found = judge(read_study(study))
    return found


def decide_print(name: str, claim: Mapping[str, Any]) -> dict[str, Found]:
    """Decide a claim on the paper's own numbers, by collection or collections.

    Parameters
    ----------
    name : str
        Of the function.
    claim : mapping
        Of claims.toml.

    Returns
    -------
    dict of str to (outcome, evidence)
        Where print lacks what it takes, "cannot tell" on what the sentence speaks of.
    """
    there = {place: one for place, one in read_print().items() if STUDY["collections"][place] == claim["kind"]}
    if claim.get("needs"):
        return dict.fromkeys(claim["speaks_of"], ("cannot tell", ()))
    judge: Callable[[Any], Found | None] = getattr(MODULES[claim["kind"]], name)
    tried: dict[str, Figures | list[Figures]] = dict(there)
    if claim.get("together"):
        tried = {
            ", ".join(group): [there[place] for place in group] for group in TOGETHER if set(group) <= set(there)
        }  # fmt: skip
    decided = {place: found for place, one in tried.items() if (found := judge(one)) is not None}
    # What stands for an interval in print is the number itself: it is not shown.
    shown: dict[str, Found] = {
        place: (word, tuple(replace(one, interval=None) for one in seen)) for place, (word, seen) in decided.items()
    }
    return {place: turn(found) if place in claim.get("denies", ()) else found for place, found in shown.items()}


def fill_bounds(text: str) -> str:
    """Return the words of a rule with its bounds in figures.

    Examples
    --------
    >>> fill_bounds("τ is at least {similar}.")
    'τ is at least 0.8.'
    """
    return re.sub(r"\{([^}]+)\}", lambda found: f"{BOUNDS[found[1]].value:g}", text)


def _make_rule(claim: Mapping[str, Any]) -> Rule:
    name = claim["name"]
    return Rule(
        claim["claim"],
        f"{PAPER}, {claim['where']}",
        fill_bounds(claim["rule"]),
        partial(decide_study, name, claim),
        fewest_runs=claim.get("fewest_runs", FEWEST_RUNS),
        rests_on_power=claim.get("power", False),
        random=claim.get("random", True),
        in_print=partial(decide_print, name, claim),
    )


RULES = {claim["name"]: _make_rule(claim) for claim in CLAIMS["claims"]}
"""By name."""


def apply_to_collections(collections: Mapping[str, Views], relation: Relation = "the paper's") -> list[Verdict]:
    """Return the verdicts of every rule on the collections of one source, rule by rule.

    Parameters
    ----------
    collections : mapping of str to Views
        By the paper's name of the collection in whose place they stand.
    relation : str, optional
        How they are related to the paper's, as for `cell`.

    Returns
    -------
    list of Verdict
    """
    groups = [[one for one in group if one in collections] for group in TOGETHER]
    joined = {", ".join(group): join_views([collections[one] for one in group]) for group in groups if group}
    verdicts = []
    for claim in CLAIMS["claims"]:
        for place, views in (joined if claim.get("together") else collections).items():
            rule = RULES[claim["name"]]
            verdict = (deny(rule) if place in claim.get("denies", ()) else rule).apply(views)
            if verdict is not None:
                verdicts.append(limit(verdict, list_named(claim), place.split(", "), relation))
    return verdicts
