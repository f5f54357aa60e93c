"""Which conclusions about runs change when other judgements take the place of people's?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.agreement import agreement, remark_coverage
from metaeval.analyses.prepare import Within, check_options, prepare
from metaeval.analyses.result import Result, join_names, list_rows, write_ends
from metaeval.data.judged import JudgedRuns
from metaeval.data.labels import find_labels
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_list
from metaeval.measures.base import Measure, find_signs
from metaeval.measures.retrieval import parse_measure, score_rankings
from metaeval.show.cells import bracket_ends
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.table import Table
from metaeval.stats.agreement import parse_statistic
from metaeval.stats.pair_tests import all_pairs_test
from metaeval.stats.run_means import compare_at_same_level
from metaeval.stats.significant_counts import count_changes, name_flips, trials_needed
from metaeval.stats.streams import stream_key

COUNTS = ("kept", "reversed", "new", "lost", "clear")
"""What becomes of conclusions about pairs of runs, and how many changes are significant themselves."""


@dataclass(frozen=True, eq=False)
class QrelsComparison(Result):
    """What other judgements change, compared with those of the reference, the first of the sets; the others are judges.

    `rows`, by judge, the one that ranks runs most like the reference first: tau with low and high, chance and ceiling; of the
    pairs of runs that the reference finds significant how many the judge finds too (kept), reverses and loses; new: only the
    judge finds them; clear: flips of which the change itself is significant. Each count has an error: how far other random
    trials would move it. `flips`, pairs of runs whose conclusion changes: judge, flip (reversed, lost or new), run_1 (ahead by
    the reference, or by the judge if only that is significant) and run_2; their difference by_reference, by_judge and its
    change, each with low and high of simultaneous intervals, and clear: whether that of the change leaves 0 out.

    `differences` are those of judges in tau, and `family` says whether judges favour runs of a model, if that was asked.
    """

    collection: str
    sets: tuple[str, ...]
    measure: Measure
    rows: pd.DataFrame
    flips: pd.DataFrame
    differences: pd.DataFrame
    family: pd.DataFrame
    n_runs: int
    alpha: float
    confidence: float

    called: ClassVar[Mapping[str, str]] = {"rows": "judges"}

    def answer(self) -> str:
        """Say which judge ranks runs most like the reference, and what becomes of conclusions."""
        people, best = self.sets[0], self.rows.iloc[0]
        if np.isnan(best["tau"]):
            return f"The ranking of runs by {people} cannot be compared with any other."
        if best["low"] <= best["chance"] <= best["high"] and not (self.rows["low"] > self.rows["chance"]).any():
            most = f"{best['judge']} τ_b {best['tau']:.2f}"
            return f"No judge is shown to rank runs like {people} better than chance ({most})."
        alike = "like" if best["tau"] >= (1 + best["chance"]) / 2 else "unlike"
        how = "most like" if len(self.sets) > 2 else alike
        ranks = f"{best['judge']} ranks runs {how} {people} (τ_b {best['tau']:.2f}{bracket_ends(best['low'], best['high'])})"
        decided = format_count(int(best[["kept", "reversed", "lost"]].sum()), "conclusion")
        flips = f"it reverses {best['reversed']}, loses {best['lost']}, and finds {best['new']} new"
        return f"{ranks}; of {decided} {flips}; the change itself is significant in {best['clear'] or 'none'} of these."

    def tables(self) -> list[Table]:
        """Return rank correlations and flips, then all that is known of judges."""
        people, rows = self.sets[0], self.rows.set_index("judge")
        written = rows.rename(columns={"tau": "τ_b"}).drop(columns="chance")
        for name in COUNTS:
            counts = zip(rows[name], written.pop(f"{name}_error"), strict=True)
            written[name] = [f"{count:,} ± {error:.1f}" if error else f"{count:,}" for count, error in counts]
        shown = written[["τ_b", "reversed", "lost", "new", "clear"]]
        if rows["low"].notna().any():
            ends = [write_ends(low, high, 2) for low, high in rows[["low", "high"]].to_numpy()]
            shown.insert(1, f"{100 * self.confidence:g} % interval", ends)
        decided = rows[["kept", "reversed", "lost"]].iloc[0].sum()
        cells = shown[["reversed", "lost", "new"]].to_numpy().flat
        moved = "; ±: how far other random trials move it" * any("±" in cell for cell in cells)
        caption = (
            f"{self.measure}: by {people} {decided:,} of {comb(self.n_runs, 2):,} pairs of runs differ significantly; what "
            f"judges reverse, lose, and find besides (new); clear: of these, where the change is significant{moved}."
        )
        legend = (
            f"τ_b: of the rankings of runs, low and high its {100 * self.confidence:g} % interval over topics; "
            f"ceiling: what {people} reaches on topics drawn anew. Where runs differ significantly by {people} (bootstrap-t, α "
            f"= {self.alpha:g}), the judge finds the same (kept), the opposite (reversed), or nothing (lost); new: only the "
            "judge finds it. Clear: how many of reversed, lost and new differ significantly between both. ±: by how much other "
            f"random trials of the test would move a count. {self.no_interval}"
        ).strip()
        what = f"Conclusions about runs, compared with those of {people}."
        return [
            Table(shown, caption, self.signature, at=("short", "paper")),
            Table(written, what, self.signature, legend=legend, at=("all",)),
        ]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the rank correlation of every judge, and which conclusions it loses and adds."""
        rows, ceiling, label = self.rows, self.rows["ceiling"].iloc[0], f"τ_b with {self.sets[0]}"
        levels = [(ceiling, "--")] if np.isfinite(ceiling) else []
        charts = [IntervalChart(list_rows(rows, "tau", name="judge"), label, str(self.measure), levels=levels)]
        lost, both = rows["lost"] + rows["reversed"], rows["kept"] + rows["reversed"]
        for label, part, whole in (
            ("% lost or reversed", lost, both + rows["lost"]),
            ("% the judge's alone", rows["new"], both + rows["new"]),
        ):
            share = 100 * part / whole.clip(lower=1)
            bars = [Row(judge, judge, number) for judge, number in zip(rows["judge"], share.tolist(), strict=True)]
            charts.append(IntervalChart(bars, label, filled=True, limits=(0.0, max(5.0, 1.2 * share.max()))))
        return charts


def compare_qrels(
    judged: JudgedRuns,
    *,
    measure: str | Sequence[str] = ("nDCG@10",),
    family: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    n_permutations: int = 2000,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
) -> QrelsComparison:
    """Which conclusions about runs change when models judge in place of people?

    Runs are scored under each set of judgements, of which the first is the reference. Needs pip install "metaeval[ir]".

    Parameters
    ----------
    judged : JudgedRuns
    measure : str, or a sequence of one, optional
        As ir_measures writes it: nDCG@10, AP(rel=2), RR@10. A document without a grade is not relevant.
    family : mapping of str to str, optional
        Which runs are made with which model: run=model. A judge is of the model that its name, or a part of it between - and
        _, names.
    alpha : float, optional
        Significance level of the test of all pairs of runs, bootstrap-t.
    n_permutations : int, optional
        Trials of the test of all pairs of runs.
    confidence : float, optional
        Level of the intervals of rank correlations and favours. Those of differences of runs are at 1 − alpha.
    n_bootstrap, distinct_runs, seed, n_jobs : as for `discriminative_power`

    Examples
    --------
    >>> people = {f"q{t}": {"a": 1, "b": t % 2, "c": 0} for t in range(6)}
    >>> model = {topic: {"a": 1, "b": 1, "c": 0} for topic in people}
    >>> runs = {run: {topic: {d: -i for i, d in enumerate(run)} for topic in people} for run in ("abc", "bac", "cba")}
    >>> compare_qrels(JudgedRuns({"people": people, "model": model}, runs), n_permutations=100).to_frame()[["judge", "tau"]]
       judge       tau
    0  model  0.816497
    """
    if not isinstance(judged, JudgedRuns):
        raise MetaevalError(f"this takes JudgedRuns, not {type(judged).__name__}: see metaeval.io.read_judged_runs")
    check_options(alpha=alpha, confidence=confidence, n_bootstrap=n_bootstrap, n_jobs=n_jobs)
    check_options(n_permutations=Within(n_permutations, trials_needed(1, alpha)))
    names = [measure] if isinstance(measure, str) else list(measure)
    if len(names) != 1:
        raise MetaevalError(f"runs are compared by one measure at a time, not by {format_list(names)}")
    known, parsed = parse_measure(names[0])
    find_labels(family or {}, tuple(judged.runs), "run")
    values = score_rankings(judged.runs, judged.judgements, judged.topics, parsed)
    for name in np.array(judged.sets)[~values.any(axis=(0, 1))]:
        hint = "do its grades begin at 0, and reach what the measure calls relevant?"
        raise DataError("every run scores 0 on every topic", file=name, measure=known, hint=hint)
    judges = [Measure(name, higher_is_better=bool(known.higher_is_better)) for name in judged.sets]
    labels: dict[str, Any] = {"runs": judged.runs, "topics": judged.topics, "measures": judges}
    scored = Scores(values, **labels, collection=judged.collection, provenance=judged.provenance)
    ready = prepare(scored, "compare_qrels", distinct_runs=distinct_runs, topics=1)
    scores, chosen = ready.scores, {run: model for run, model in (family or {}).items() if run in ready.scores.runs}
    # Judges are measures here, and none is exchanged for another.
    ranked = agreement(
        scores, reference=scores.measures[0], statistics=["tau_b"], n_permutations=1,
        n_bootstrap=n_bootstrap, confidence=confidence, seed=seed,
    )  # fmt: skip
    flips, counts, errors = list_flips(scores, n_permutations, alpha, seed, n_jobs)
    rows = ranked.to_frame()[["measure", "value", "low", "high", "chance", "ceiling"]]
    rows = rows.rename(columns={"measure": "judge", "value": "tau"})
    rows[list(COUNTS)] = counts
    rows[[f"{name}_error" for name in COUNTS]] = errors
    differences = ranked.differences().drop(columns=["p_first", "p_second"])
    favours = find_favours(scores, chosen, confidence) if chosen else pd.DataFrame()
    models = {"family": f"{format_count(len(family), 'run')} of {len(set(family.values()))}"} if family else {}
    has_ends = n_bootstrap > 0 and not ranked.no_interval
    few = remark_coverage([parse_statistic("tau_b")], len(judged.topics)) if has_ends else ()
    return QrelsComparison(
        judged.collection, judged.sets, known, rows.sort_values("tau", ascending=False, kind="stable", ignore_index=True),
        flips, differences.rename(columns=lambda column: column.replace("measure", "judge")), favours,
        n_runs=len(scores.runs), alpha=alpha, confidence=confidence,
        signature=ready.sign(
            measure=known, judgements=", ".join(judged.sets), **models, statistic="tau_b", test="bootstrap-t",
            B=n_permutations, alpha=alpha, bootstrap=n_bootstrap, seed=seed,
        ),
        no_interval=ranked.no_interval,
        diagnostics=(replace(ready.diagnostics, collection=f"scores by {join_names(judged.sets)}"),),
        remarks=(*_remark(judged, favours, known, parsed.params.get("cutoff")), *few),
    )  # fmt: skip


def list_flips(
    scores: Scores, n_permutations: int, alpha: float, seed: int, n_jobs: int = 1
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return pairs of runs whose conclusion changes from the reference to a judge, and by judge five counts with their errors.

    Counted are pairs that the judge confirms, contradicts, does not find, and finds alone, and clear flips, shape (judge, 5);
    errors are what other random trials would move them by. Runs and topics are sorted by label, and the reference comes first.
    """
    signed = scores.values * find_signs(scores.measures)
    values = np.concatenate([signed, signed[..., 1:] - signed[..., :1]], axis=-1)
    key = stream_key(seed, scores.collection, "discriminative_power")  # the same trials, and p-values, as there
    result = all_pairs_test(values, test="bootstrap-t", n_permutations=n_permutations, key=key, n_jobs=n_jobs)
    first, second = np.triu_indices(len(scores.runs), 1)
    means, n_sets = values.mean(axis=1).T, len(scores.measures)
    gaps = means[:, first] - means[:, second]
    verdicts, reach, counts, errors = count_changes(result, gaps, n_permutations, alpha)
    kinds = name_flips(verdicts[:1], verdicts[1:])
    judge, pair = np.nonzero(kinds != "")
    people, its_own = verdicts[0, pair], verdicts[1 + judge, pair]
    ahead = np.where(people != 0, people, its_own)
    names, runs = (np.array(list(map(str, each)), dtype=object) for each in (scores.measures, scores.runs))
    ends = runs[first[pair]], runs[second[pair]]
    flips = pd.DataFrame({"judge": names[1 + judge], "flip": kinds[judge, pair].astype(object)})
    flips = flips.assign(run_1=np.where(ahead > 0, *ends), run_2=np.where(ahead > 0, *ends[::-1]))
    places = {"by_reference": np.zeros_like(judge), "by_judge": 1 + judge, "change": n_sets + judge}
    for name, place in places.items():
        middle, wide = ahead * gaps[place, pair], reach[place, pair]
        flips = flips.assign(**{name: middle, f"{name}_low": middle - wide, f"{name}_high": middle + wide})
    flips["clear"] = np.abs(flips["change"]) > wide
    return flips, counts, errors


def _remark(judged: JudgedRuns, favours: pd.DataFrame, measure: Measure, cutoff: int | None) -> Iterator[str]:
    """Yield what is doubtful about judges, whom they favour, and what judgements lack, a note each."""
    sets, unjudged = judged.judgements, {}
    reference, *judges = sets
    for name in judges:
        given = {grade for some in sets[name].values() for grade in some.values()}
        if len(given) == 1:
            yield f"{name} gives every document the grade {given.pop()}: it only tells which documents it judged"
        elif sets[name] == sets[reference]:
            yield f"{name} gives every document the grade of {reference}: was it copied?"
    if len(favours):
        clear, listed = [], []
        for judge, model, runs, value, low, high in favours[favours["own"]].drop(columns="own").itertuples(index=False):
            clear += [f"{judge} scores runs of {model} {value:+.3f}"] * bool(low > 0 or high < 0)
            interval = "" if np.isnan(low) else f" [{low:+.3f}, {high:+.3f}]"
            known = "–" if np.isnan(value) else f"{value:+.3f}{interval}"
            listed.append(f"{judge} {known}, {format_count(runs, 'run')}")
        favoured = "; ".join(clear) or "whether a judge favours runs of its own model cannot be told"
        yield f"{favoured}, compared with other runs of the same score\n{'; '.join(listed)}."
    for name, grades in sets.items():
        unjudged[name] = np.mean([
            np.mean([document not in grades[topic] for topic, listed in topics.items() for document in listed[:cutoff]])
            for topics in judged.runs.values()
        ])  # fmt: skip
    worst = max(unjudged, key=unjudged.__getitem__)
    if unjudged[worst]:
        yield (
            f"{worst} leaves {100 * unjudged[worst]:.1f} % of the documents that {measure} looks at unjudged\n"
            "They count as not relevant."
        )
    counts = {name: sum(max(some.values(), default=0) <= 0 for some in each.values()) for name, each in sets.items()}
    if empty := [f"{name} {format_count(count, 'topic')}" for name, count in counts.items() if count]:
        yield f"topics without a relevant document, on which all runs tie: {', '.join(empty)}"


def find_favours(scores: Scores, family: Mapping[str, str], confidence: float) -> pd.DataFrame:
    """Does a judge favour runs made with its own model, more than other runs to which the reference gives the same score?

    `at_same_score` is how far its runs lie above the line of the others (`compare_at_same_level`), with intervals that hold
    together (Bonferroni).
    """
    models, judges = sorted(set(family.values())), [str(measure) for measure in scores.measures[1:]]
    of_run = np.array([family.get(run, "") for run in scores.runs])
    reference, *means = (scores.values * find_signs(scores.measures)).mean(axis=1).T
    level, rows = 1 - (1 - confidence) / (2 * len(models) * len(judges)), []
    for model in models:
        part, *names = (f"-{name.lower().replace('_', '-')}-" for name in (model, *judges))
        own, problem = of_run == model, ""
        if own.all():
            problem = f"every run is of the model {model}: there is none to compare with"
        if not any(part in name for name in names):
            problem = f"no judge is of the model {model!r}: a judge is of it if its name, or a part of it, is the same"
            problem = f"{problem}; judges are {format_list(judges)}"
        if problem:
            raise MetaevalError(problem)
        for judge, name, scored in zip(judges, names, means, strict=True):
            gap, reach = compare_at_same_level(reference, scored, own, level)
            rows.append((judge, model, int(own.sum()), part in name, gap, gap - reach, gap + reach))
    columns = ["at_same_score", "at_same_score_low", "at_same_score_high"]
    return pd.DataFrame(rows, columns=["judge", "model", "runs", "own", *columns])
