"""Claims of LQ 2021 and their verdicts: on every collection, on those of a source together, and on the printed tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.bounds import BOUNDS
from experiments.lq2021 import judge_agreement, judge_baselines, judge_formulas, judge_power
from experiments.lq2021.findings import Findings, pool
from experiments.lq2021.reading import read_print, read_study
from experiments.named_data import limit
from experiments.outcome import read_toml
from experiments.page import SIMULATED
from experiments.sources import find_relation
from experiments.verdicts import FEWEST_RUNS, OPPOSITE, PRINT, Found, Rule, Views
from metaeval.analyses.study import ROBUST_TEST, Study
from metaeval.errors import MetaevalError
from metaeval.show.verdict import Evidence, Verdict

_MODULES = (judge_formulas, judge_power, judge_agreement, judge_baselines)


@dataclass(frozen=True)
class Claim:
    """One entry of claims.toml; its head says what the fields are."""

    rule: str
    claim: str
    where: str
    text: str
    tried: str
    places: Sequence[str] = ("",)
    about: Sequence[str] = ()
    exists: bool = False
    power: bool = False
    overlap: bool = False
    fewest_runs: int = FEWEST_RUNS
    needs: str = ""
    judge: Callable[..., Found | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        values = {name: f"{one.value:g}" for name, one in BOUNDS.items()}
        object.__setattr__(self, "text", self.text.format_map(values))
        object.__setattr__(self, "judge", _find_judge(self.rule) if self.rule else lambda *_: None)

    def choose(self, names: Sequence[str]) -> list[str]:
        """Return the collections that the sentence is about, or those that it is tried on where there are none of them.

        Parameters
        ----------
        names : sequence of str
            As the paper calls collections.
        """
        about = [name for name in names if name in self.about]
        return about or [name for name in names if any(part in name for part in self.places)]

    def decide(self, one: Findings) -> Found | None:
        """Return what the rule says of one collection, or of several together."""
        found = self.judge(one)
        if self.exists and found is not None and found[0] == "does not hold" and len(one.parts) < 2:
            found = "cannot tell", found[1]
        nothing = [name for name, number in one.found.items() if not number] if self.overlap else []
        if found is None or not nothing:
            return found
        return "cannot tell", (Evidence(f"measures that find nothing ({', '.join(nothing)})", len(nothing)),)

    def conclude(
        self, data: str, found: Found | None, conditions: Sequence[tuple[str, str]] = (), reason: str = ""
    ) -> Verdict:
        """Return the verdict; "cannot tell" where there is nothing found, or a reason against telling."""
        word, evidence = found or ("cannot tell", ())
        word = "cannot tell" if reason else word
        return Verdict(self.claim, self.where, self.text, data, word, evidence, tuple(conditions), reason)


def _find_judge(rule: str) -> Callable[..., Found | None]:
    for module in _MODULES:
        if rule in vars(module):
            judge: Callable[..., Found | None] = getattr(module, rule)
            return judge
    raise MetaevalError(f"claims.toml: there is no rule {rule!r}")


CLAIMS = [Claim(**one) for one in read_toml(Path(__file__).with_name("claims.toml"))["claims"]]


def make_rule(claim: Claim, gold: np.ndarray | None = None) -> Rule:
    """Return the rule that tries a claim on a collection.

    Parameters
    ----------
    claim : Claim
    gold : ndarray, shape (topic, class), optional
        The collection's, where it is at hand.

    Returns
    -------
    Rule
    """
    return Rule(
        claim.claim, claim.where, claim.text, lambda study: claim.decide(read_study(study, gold)),
        fewest_runs=claim.fewest_runs, rests_on_power=claim.power, random=claim.power,
    )  # fmt: skip


def judge_source(
    source: str, collections: Mapping[str, Views], golds: Mapping[str, np.ndarray] | None = None
) -> list[Verdict]:
    """Return the verdicts of every claim on the collections of a source, claim by claim.

    Parameters
    ----------
    source : str
    collections : mapping of str to Views
        By the paper's name of the collection in whose place they stand.
    golds : mapping of str to (ndarray, shape (topic, class)), optional
        Likewise.

    Returns
    -------
    list of Verdict
        Real collections each by itself, and those of a source together, if there are several; simulated ones
        only together.
    """
    golds = golds or {}
    verdicts: list[Verdict | None] = []
    for claim in CLAIMS:
        if claim.tried == "collection":
            chosen = {name: collections[name] for name in claim.choose(list(collections))}
            for name, views in chosen.items():
                if len(chosen) == 1 or not views.study.name.startswith(SIMULATED):
                    verdicts.append(_limit(claim, make_rule(claim, golds.get(name)).apply(views), [name], source))
            verdicts.append(_limit(claim, _judge_together(claim, source, chosen, golds), list(chosen), source))
        elif claim.tried == "campaign":
            verdicts.append(_judge_together(claim, source, collections, golds))
    return [one for one in verdicts if one is not None]


def judge_print() -> Iterator[Verdict]:
    """Yield whether every claim follows, by its rule, from the printed numbers or the definitions.

    Yields
    ------
    Verdict
    """
    printed = read_print()
    for claim in CLAIMS:
        if claim.tried == "formulas":
            yield claim.conclude("enumeration", claim.judge())
        elif claim.tried == "nothing":
            yield claim.conclude("nothing at hand", None, reason=f"it takes {claim.needs}")
        else:
            parts = {name: printed[name] for name in claim.choose(list(printed))}
            found = _apply(claim, parts)
            if found is None and claim.tried == "collection":
                # τ of some collections is not printed: those that have all it takes decide.
                parts = {name: one for name, one in parts.items() if claim.decide(one) is not None} or parts
                found = _apply(claim, parts)
            reason = "" if found else "what it needs is not printed"
            alone = [("intervals", "none in print, the numbers alone decide")] if found and claim.power else []
            conditions = [*alone, *_judge_apart(claim, parts)]
            yield claim.conclude(f"{PRINT}: {_name(list(parts))}", found, conditions, reason)


def _limit(claim: Claim, verdict: Verdict | None, places: Sequence[str], source: str) -> Verdict | None:
    return None if verdict is None else limit(verdict, claim.about, places, find_relation(source))


def _judge_together(
    claim: Claim, source: str, collections: Mapping[str, Views], golds: Mapping[str, np.ndarray]
) -> Verdict | None:
    """Return the verdict on several collections together, over the same looks that are taken at each.

    None where there is one only, or one that has too few runs by itself.
    """
    each = list(collections.values())
    if len(each) < 2 or any(len(views.study.scores.runs) < claim.fewest_runs for views in each):
        return None

    def judge(choose: Callable[[Views], Study | str | None]) -> Found | None:
        studies = {name: choose(views) for name, views in collections.items()}
        # Where nothing was changed there is no other study, but words that say so.
        parts = {
            name: read_study(one if isinstance(one, Study) else collections[name].study, golds.get(name))
            for name, one in studies.items()
        }
        return _apply(claim, parts)

    found = judge(lambda views: views.study)
    if found is None:
        return None
    conditions, reason = [], ""
    if claim.power:
        seeds = [judge(lambda views, seed=seed: views.by_seed[seed]) for seed in _find_seeds(each)]  # type: ignore[misc]
        tried = Counter([found[0], *(one[0] for one in seeds if one is not None)])
        counts = ", ".join(f"{word} {n}" for word, n in tried.items())
        conditions.append(
            (f"seeds {each[0].seed} to {each[0].seed + len(seeds)}", counts) if seeds else ("other seeds", "not tried")
        )
        reason = f"seeds disagree: {counts}" if len(tried) > 1 else ""
    else:
        conditions.append(("seeds", "nothing is random"))
    looks = {
        name: judge(lambda views, name=name: views.others.get(name))  # type: ignore[misc]
        for name in dict.fromkeys(name for views in each for name in views.others)
    }
    if claim.power:
        looks[f"by {ROBUST_TEST}"] = judge(lambda views: views.study.by_robust_test())
    conditions += [(name, _describe(one)) for name, one in looks.items()]
    turned = [name for name, one in looks.items() if one is not None and one[0] == OPPOSITE.get(found[0])]
    if turned and not reason:
        reason = f"{found[0]} as it is, the opposite {' and '.join(turned)}"
    parts = {name: read_study(views.study, golds.get(name)) for name, views in collections.items()}
    names = [views.study.name for views in each]
    simulated = SIMULATED if all(name.startswith(SIMULATED) for name in names) else ""
    data = f"{simulated}{len(names)} collections of {source} together"
    return claim.conclude(data, found, [*conditions, *_judge_apart(claim, parts)], reason)


def _apply(claim: Claim, parts: Mapping[str, Findings]) -> Found | None:
    if claim.tried == "campaign":
        return claim.judge(parts)
    return claim.decide(next(iter(parts.values())) if len(parts) == 1 else pool(parts))


def _judge_apart(claim: Claim, parts: Mapping[str, Findings]) -> list[tuple[str, str]]:
    """Return what the rule says of each collection alone, as one condition; none where it compares them."""
    if claim.tried == "campaign" or len(parts) < 2:
        return []
    words: dict[str, list[str]] = {}
    for name, one in parts.items():
        found = claim.decide(one)
        if found is not None:
            words.setdefault(found[0], []).append(name)
    return [("each alone", "; ".join(f"{word}: {', '.join(names)}" for word, names in words.items()))] if words else []


def _find_seeds(views: Sequence[Views]) -> list[int]:
    """Return the seeds with which every collection was studied again."""
    return sorted(set.intersection(*(set(one.by_seed) for one in views)))


def _describe(found: Found | None) -> str:
    return "does not apply" if found is None else f"{found[0]} ({', '.join(map(str, found[1]))})"


def _name(names: Sequence[str]) -> str:
    """Name collections, or count them where they are many."""
    return " and ".join(names) if len(names) < 3 else f"{len(names)} collections"
