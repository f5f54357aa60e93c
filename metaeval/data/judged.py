"""Runs that rank documents, and several sets of judgements of them: of people, and of models in their place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from metaeval.data.labels import Labelled, refuse_first
from metaeval.data.policies import MissingPolicy, check_policy, find_complete, hint_missing, report_policy
from metaeval.errors import DataError, format_count, format_list, format_option
from metaeval.measures.retrieval import rank_documents

Grades = Mapping[str, Mapping[str, int]]  # of documents by topic
LARGEST_GRADE = 100


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRuns(Labelled):
    """Runs of documents with several sets of judgements; the first set is the reference.

    Parameters
    ----------
    judgements : mapping of name to mapping of topic to mapping of document to grade
        Two sets or more. Grades are whole numbers; above 0 is relevant. A document that has no grade is unjudged.
    runs : mapping of run to mapping of topic to mapping of document to score
        Two runs or more. Documents are ranked as trec_eval does: by the score in four bytes, ties by the last name first.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with a topic of the reference on which a run has no document: worst keeps it, and the run retrieves
        nothing. Topics that another set of judgements lacks are left out with drop-topic, and refused otherwise.
    collection, provenance : str, optional
        Name of the collection, and where the data come from.

    Examples
    --------
    >>> grades = {"people": {"t": {"d": 1, "e": 0}}, "model": {"t": {"d": 1, "e": 1}}}
    >>> JudgedRuns(grades, {"a": {"t": {"d": 2.0, "e": 1.0}}, "b": {"t": {"e": 3.0}}})
    JudgedRuns: 2 runs × 1 topic, judged by people, model
    """

    judgements: Mapping[str, Grades]
    runs: Mapping[str, Mapping[str, Sequence[str]]]
    topics: tuple[str, ...]
    collection: str = ""
    provenance: str = ""

    def __init__(
        self,
        judgements: Mapping[str, Mapping[str, Mapping[str, Any]]],
        runs: Mapping[str, Mapping[str, Mapping[str, float]]],
        *,
        missing: MissingPolicy = "raise",
        collection: str = "",
        provenance: str = "",
    ) -> None:
        check_policy(missing, MissingPolicy)
        for what, given in (("sets of judgements", judgements), ("runs", runs)):
            if len(given) < 2:
                raise DataError(f"at least two {what} are needed to compare anything, not {len(given)}")
        first, *others = judgements
        topics, drop = sorted(judgements[first]), format_option("missing", "drop-topic")
        for name in others:
            if lacking := sorted({*topics} - {*judgements[name]}):
                listed = f"{format_count(len(lacking), 'topic')} of {first}: {format_list(lacking)}"
                topics = sorted({*topics} - {*lacking})
                if missing != "drop-topic" or not topics:
                    hint = f"{drop} leaves them out" if topics else None
                    raise DataError(f"there is no judgement of {listed}", file=name, hint=hint)
                report_policy(f"{drop}: left out {listed}", name)
        named = sorted(runs)
        gaps = np.array([[not runs[run].get(topic) for topic in topics] for run in named])
        if missing == "raise":
            axes, hint = {"run": named, "topic": topics}, f"{hint_missing()}, or worst"
            refuse_first(gaps, axes, "there is no document", hint=hint)
        if missing == "worst" and gaps.any():
            report_policy(f"runs have no document on a topic in {gaps.sum():,} cases, which count as nothing found")
        keep_runs, keep_topics = find_complete(gaps, named, topics, missing)
        topics = [*compress(topics, keep_topics)]
        ranked = {
            run: {topic: rank_documents(runs[run].get(topic, {}), run) for topic in topics}
            for run in compress(named, keep_runs)
        }
        grades: dict[str, Grades] = {}
        for name, by_topic in judgements.items():
            grades[name] = known = {topic: _check_grades(by_topic[topic], name, topic) for topic in topics}
            if not any(grade > 0 for some in known.values() for grade in some.values()):
                raise DataError("no document is relevant: every grade is 0 or less", file=name)
            for run, documents in ranked.items():
                # Such a run would score 0 without a word.
                if all(known[topic].keys().isdisjoint(documents[topic]) for topic in topics):
                    raise DataError(f"{name} judges none of its documents: are their names the same?", run=run)
        self._set(judgements=grades, runs=ranked, topics=tuple(topics), collection=collection, provenance=provenance)

    def __repr__(self) -> str:
        size = f"{format_count(len(self.runs), 'run')} × {format_count(len(self.topics), 'topic')}"
        return f"JudgedRuns: {size}, judged by {format_list(self.sets)}"

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of judgements, the reference first."""
        return tuple(self.judgements)


def _check_grades(grades: Mapping[str, Any], name: str, topic: str) -> dict[str, int]:
    whole: dict[str, int] = {}
    for document, grade in grades.items():
        number = float(grade) if isinstance(grade, int | float | np.number) else math.nan
        if not (number == number // 1 and number <= LARGEST_GRADE):
            problem = f"the grade {grade!r} is no whole number of at most {LARGEST_GRADE}"
            raise DataError(problem, file=name, topic=topic, item=document, hint="round or rescale the grades first")
        whole[document] = int(number)
    return whole
