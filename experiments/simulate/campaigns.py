"""Simulated campaigns of the shapes of ACL 2021's Table 1 and LQ 2021's Table 2, for when the real ones cannot be loaded.

Gold is drawn from the models of `experiments.simulate.gold`. A run sees where the votes of a topic lie, and how wide,
through noise of its own that differs from topic to topic; better runs see more and err less, and every run leans a
little to one side. Nothing here knows a measure: whatever measures then say of each other comes out by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.simulate.gold import FITTED, GoldModel
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.datasets import baselines
from metaeval.errors import MetaevalError, format_list
from metaeval.stats.streams import generator

CLASSES = ("-2", "-1", "0", "1", "2")


@dataclass(frozen=True)
class Campaign:
    """The shape of a campaign."""

    kind: str
    gold: str
    topics: int
    languages: tuple[tuple[str, int], ...]
    constant: tuple[int, ...] = ()
    baselines: bool = False

    @property
    def n_runs(self) -> int:
        """Number of runs, baselines among them."""
        return sum(n for _, n in self.languages) + len(self.constant) + 2 * self.baselines * len(self.languages)


CAMPAIGNS = {
    "sem16t4c": Campaign("classification", "sem16t4c", 100, (("", 11),), constant=(2,)),
    "sem17t4c": Campaign("classification", "sem17t4c", 125, (("", 15),), constant=(0, 1, 2, 3, 4)),
    "sem16t4e": Campaign("quantification", "sem16t4c", 100, (("", 11),), constant=(3,)),
    "sem17t4e": Campaign("quantification", "sem17t4c", 125, (("", 12),), constant=(2, 3)),
} | {
    f"{task}-dq-{score}": Campaign("quantification", f"stc3-dq-{score}", topics, languages, baselines=True)
    for score in "aes"
    for task, topics, languages in (("stc3", 390, (("C", 8), ("E", 7))), ("dialeval1", 300, (("C", 11), ("E", 7))))
}
"""By name. Runs and topics are those of the papers' tables; the papers say of SemEval's classification tasks which runs
are constant, of its quantification tasks only that a few are. DialEval-1's gold is drawn as STC-3's."""


def campaign(name: str, seed: int = 0) -> ClassificationRuns | QuantificationRuns:
    """Simulate gold and runs of a campaign of the papers."""
    if name not in CAMPAIGNS:
        raise MetaevalError(f"there is no campaign {name!r} to simulate (there are {format_list([*CAMPAIGNS])})")
    shape = CAMPAIGNS[name]
    model = FITTED[shape.gold]
    rng = generator(seed, name, "simulate", "gold")
    location = model.location_sd * rng.standard_normal(shape.topics)
    width = np.exp(model.width_sd * rng.standard_normal(shape.topics))
    sizes = np.exp(model.items[0] + model.items[1] * rng.standard_normal(shape.topics))
    sizes = np.maximum(np.rint(sizes), model.fewest).astype(int)
    mixed = generator(seed, name, "simulate", "runs")
    quality = _qualities(shape, mixed)
    simulate = _classification if shape.kind == "classification" else _quantification
    return simulate(name, shape, model, (location, width, sizes), quality, rng, mixed)


def _qualities(shape: Campaign, rng: np.random.Generator) -> dict[str, float]:
    """Give every run that is no baseline a quality from 0.1 to 0.95, evenly graded, in random order of languages."""
    names = [
        f"run{number:02d}{'-' * bool(language)}{language}"
        for language, n in shape.languages
        for number in range(1, n + 1)
    ]
    graded = np.linspace(0.95, 0.1, len(names))
    return dict(zip(names, rng.permutation(graded).tolist(), strict=True))


def _quantification(
    name: str,
    shape: Campaign,
    model: GoldModel,
    topics: tuple[np.ndarray, np.ndarray, np.ndarray],
    quality: dict[str, float],
    gold_rng: np.random.Generator,
    rng: np.random.Generator,
) -> QuantificationRuns:
    location, width, sizes = topics
    gold = gold_rng.multinomial(sizes, model.shares(location, width)) / sizes[:, None]
    estimated = {}
    for run, q in quality.items():
        # A weak run sees little of the topic and stays near the mean; its errors differ from topic to topic.
        seen = q * location + 0.5 * (1 - q) * model.location_sd * rng.standard_normal(len(location))
        bias = (1 - q) * 0.5 * rng.standard_normal()
        spread = np.exp(0.3 * rng.standard_normal() * (1 - q) + q * np.log(width))
        estimated[run] = model.shares(seen + bias, spread)
    for k in shape.constant:
        estimated[f"always-{CLASSES[k]}"] = baselines.constant_class(gold, k)
    for language, _ in shape.languages * shape.baselines:
        estimated[f"BL-popularity-{language}"] = baselines.popularity(gold)
        estimated[f"BL-uniform-{language}"] = baselines.uniform(gold)
    return QuantificationRuns(
        np.stack([*estimated.values()]), gold, runs=estimated, topics=_numbers(shape), classes=CLASSES,
        collection=f"simulated: {name}", provenance=f"simulated by experiments.simulate.campaigns, gold model {shape.gold}",
    )  # fmt: skip


def _classification(
    name: str,
    shape: Campaign,
    model: GoldModel,
    topics: tuple[np.ndarray, np.ndarray, np.ndarray],
    quality: dict[str, float],
    gold_rng: np.random.Generator,
    rng: np.random.Generator,
) -> ClassificationRuns:
    location, width, sizes = topics
    topic = np.repeat(np.arange(shape.topics), sizes)
    latent = location[topic] + width[topic] * gold_rng.standard_normal(len(topic))
    gold = np.searchsorted(model.thresholds, latent)
    counts = {}
    for run, q in quality.items():
        # What the run makes of an item: the item itself and noise, on a scale that the run stretches and shifts.
        sight = np.clip(q + 0.1 * rng.standard_normal(shape.topics), 0, 1)[topic]
        heard = sight * latent + np.sqrt(1 - sight**2) * rng.standard_normal(len(topic))
        stretched = np.exp(0.35 * rng.standard_normal()) * heard + 0.35 * rng.standard_normal()
        counts[run] = _confusions(topic, gold, np.searchsorted(model.thresholds, stretched), shape.topics)
    classes = np.zeros((shape.topics, len(CLASSES)), dtype=np.int64)
    np.add.at(classes, (topic, gold), 1)
    for k in shape.constant:
        counts[f"always-{CLASSES[k]}"] = baselines.constant_class_counts(classes, k)
    return ClassificationRuns(
        np.stack([*counts.values()]), runs=counts, topics=_numbers(shape), classes=CLASSES,
        collection=f"simulated: {name}", provenance=f"simulated by experiments.simulate.campaigns, gold model {shape.gold}",
    )  # fmt: skip


def _confusions(topic: np.ndarray, gold: np.ndarray, predicted: np.ndarray, n_topics: int) -> np.ndarray:
    k = len(CLASSES)
    cells = (topic * k + gold) * k + predicted
    counts: np.ndarray = np.bincount(cells, minlength=n_topics * k * k).reshape(n_topics, k, k)
    return counts


def _numbers(shape: Campaign) -> list[str]:
    return [str(number) for number in range(1, shape.topics + 1)]
