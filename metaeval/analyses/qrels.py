"""Which conclusions about runs change when other judgements take the place of people's?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metaeval.analyses.agreement import agreement, remark_coverage
from metaeval.analyses.checks import check_count, check_jobs, check_share
from metaeval.analyses.prepare import prepare
from metaeval.analyses.reference_pairs import count_conclusions, name_flips
from metaeval.analyses.result import Result
from metaeval.data.judged import LARGEST_GRADE, Grades, JudgedRuns
from metaeval.data.labels import find_labels
from metaeval.data.scores import Scores, find_identical_runs
from metaeval.errors import DataError, MetaevalError, format_count, format_list, format_option
from metaeval.measures.agreement import kappa
from metaeval.measures.base import Measure, find_signs
from metaeval.measures.correlation import tau_b
from metaeval.measures.resolve import measure_of_label
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.agreement import parse_statistic
from metaeval.stats.intervals import FEWEST_TOPICS, centre_interval
from metaeval.stats.pair_tests import all_pairs_test, simultaneous_reach
from metaeval.stats.resampling import draw_weights
from metaeval.stats.significant_counts import trials_needed
from metaeval.stats.streams import stream_key

COUNTS = ("kept", "reversed", "new", "lost", "clear")
"""What becomes of conclusions about pairs of runs, and how many changes are significant themselves."""

DEEPEST = 1_000_000
"""Documents that a measure may look at."""


@dataclass(frozen=True, eq=False)
class QrelsComparison(Result):
    """What other judgements change, compared with those of the reference.

    Of the sets of judgements the first is the reference, the others are judges.

    Parameters
    ----------
    rows : DataFrame
        By measure and judge: tau with low and high, chance and ceiling; of the pairs of runs that the reference finds
        significant how many the judge finds too (kept), reverses and loses; new: only the judge finds them; clear: flips of
        which the change itself is significant. Each count has an error: how far other random trials would move it.
    flips : DataFrame
        Pairs of runs whose conclusion changes: measure, judge, flip (reversed, lost or new), run_1 (ahead by the reference,
        or by the judge if only that is significant) and run_2; their difference by_reference, by_judge and its change, each
        with low and high of simultaneous intervals, and clear: whether that of the change leaves 0 out.
    grades, favours : DataFrame
        Whether judges give documents the reference's grades, and whether they favour runs of a model (empty if not asked).
    unjudged : DataFrame
        By measure and set: share of documents down to the measure's cut without a grade, mean cost (what runs would score more
        without such documents), and the run that this changes most.
    differences, runs, topics : DataFrame
        By measure: differences of judges in tau, and ranks of runs and τ_b on topics beside the reference's.
    """

    collection: str
    sets: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: pd.DataFrame
    flips: pd.DataFrame
    grades: pd.DataFrame
    unjudged: pd.DataFrame
    differences: pd.DataFrame
    runs: pd.DataFrame
    topics: pd.DataFrame
    favours: pd.DataFrame
    statistic: str
    n_runs: int
    alpha: float
    confidence: float

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return judges, flips, grades, unjudged documents, differences of judges, runs and topics, and families if any."""
        names = ("flips", "grades", "unjudged", "differences", "runs", "topics")
        frames = {"judges": self.rows.drop(columns="chance")} | {name: getattr(self, name) for name in names}
        return frames | ({"family": self.favours} if len(self.favours) else {})

    def _take(self, measure: Measure) -> pd.DataFrame:
        """Return the rows of one measure, the judge that ranks runs most like the reference first."""
        rows = self.rows[self.rows["measure"] == str(measure)]
        return rows.sort_values("tau", ascending=False, kind="stable")

    def answer(self) -> str:
        """Say which judge ranks runs most like the reference, and whether it reverses conclusions."""
        rows, people = self._take(self.measures[0]), self.sets[0]
        best = rows.iloc[0]
        if np.isnan(best["tau"]):
            return f"The ranking of runs by {people} cannot be compared with any other."
        if best["low"] <= best["chance"] <= best["high"] and not (rows["low"] > rows["chance"]).any():
            most = f"{best['judge']} {self.statistic} {best['tau']:.2f}"
            return f"No judge is shown to rank runs like {people} better than chance ({most})."
        alike = "like" if best["tau"] >= (1 + best["chance"]) / 2 else "unlike"
        how = "most like" if len(self.sets) > 2 else alike
        ranks = f"{best['judge']} ranks runs {how} {people} ({self.statistic} {best['tau']:.2f})"
        turned = int(self.rows.loc[self.rows["judge"] == best["judge"], "reversed"].sum())  # by any measure
        if not turned:
            return f"{ranks} and reverses no conclusion."
        return f"{ranks} {'and' if how == 'unlike' else 'but'} reverses {format_count(turned, 'conclusion')}."

    def tables(self) -> list[Table]:
        """Return rank correlations and flips by each measure, and then with grades and unjudged documents."""
        people, tables = self.sets[0], []
        written = self.rows.set_index("judge").rename(columns={"tau": self.statistic}).drop(columns="chance")
        for name in COUNTS:
            counts = zip(self.rows[name], written.pop(f"{name}_error"), strict=True)
            written[name] = [f"{count:,} ± {error:.1f}" if error else f"{count:,}" for count, error in counts]
        for measure in self.measures:
            rows = self._take(measure).set_index("judge")
            of_measure = written[written["measure"] == str(measure)].loc[rows.index]
            shown = of_measure[[self.statistic, "reversed", "lost", "new"]]
            if rows["low"].notna().any():
                ends = zip(rows["low"], rows["high"], strict=True)
                shown.insert(1, "interval", [f"{low:.2f} – {high:.2f}" for low, high in ends])
            decided = rows.iloc[0][["kept", "reversed", "lost"]].sum()
            caption = (
                f"{measure}: {people} finds {decided:,} of {comb(self.n_runs, 2):,} pairs of runs significant; what judges "
                "reverse or lose of them, and find besides (new); ±: with other random trials."
            )
            tables.append(Table(shown, caption, self.signature, at=("short", "paper")))
        legend = (
            f"{self.statistic}: of the rankings of runs, low and high its {100 * self.confidence:g} % interval over topics; "
            f"ceiling: what {people} reaches on topics drawn anew. Of the pairs of runs that {people} finds "
            f"significant (bootstrap-t, α = {self.alpha:g}), the judge finds the same (kept), the opposite (reversed), or "
            f"nothing (lost); new: only the judge finds it. Clear: flips whose change is significant itself. ±: by how much "
            f"other random trials of the test would move a count. {self.no_interval}"
        )
        caption = f"Conclusions about runs, compared with those of {people}."
        tables.append(Table(written, caption, self.signature, legend=legend.strip(), at=("all",)))
        grades = self.grades.set_index("judge").filter(regex="^(?!.*_(low|high)$)")
        caption = f"Grades of documents, compared with those of {people}."
        tables.append(Table(grades, caption, self.signature, at=("all",)))
        caption = "Documents without a grade, and what they cost runs."
        tables.append(Table(self.unjudged.set_index("judge"), caption, self.signature, at=("all",)))
        return tables

    def charts(self) -> Sequence[IntervalChart]:
        """Return, by the first measure, the rank correlation of every judge, and which conclusions it loses and adds."""
        rows, points = self._take(self.measures[0]), []
        for judge, tau, low, high in rows[["judge", "tau", "low", "high"]].itertuples(index=False):
            points.append(Row(judge, judge, tau, None if np.isnan(low) else (low, high)))
        ceiling = rows["ceiling"].iloc[0]
        levels = [(ceiling, "--")] if np.isfinite(ceiling) else []
        charts = [IntervalChart(points, f"{self.statistic} with {self.sets[0]}", str(self.measures[0]), levels=levels)]
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
    measures: Sequence[str] = ("nDCG@10",),
    statistic: str = "tau_b",
    scales: Mapping[str, Sequence[int]] | None = None,
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
    measures : sequence of str, optional
        As ir_measures writes them: nDCG@10, AP(rel=2), RR@10; may be repeated. A document without a grade is not relevant.
    statistic : str, optional
        How rankings of runs are compared: tau_b, tau_a, tau_ap_b, tau_b@15 and others of runs, as for `agreement`.
    scales : mapping of str to sequence of int, optional
        What the grades 0, 1, 2, … of a judge are on the reference's scale: judge=0,0,1,3. Scores and κ use it; otherwise grades
        are taken as they are.
    family : mapping of str to str, optional
        Which runs are made with which model: run=model, or a file of both. A judge is of the model that its name, or a part of
        it between - and _, names.
    alpha : float, optional
        Significance level of the test of all pairs of runs, bootstrap-t.
    n_permutations : int, optional
        B, the trials of the test of all pairs of runs.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none.
    confidence : float, optional
        Level of the intervals of rank correlations, grades and favours. Those of differences of runs are at 1 − alpha.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional
    n_jobs : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    QrelsComparison

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
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_count("n_permutations", n_permutations, trials_needed(1, alpha))
    check_count("n_bootstrap", n_bootstrap, 0)
    check_jobs(n_jobs)
    which = parse_statistic(statistic)
    if which.of != "runs":
        others = "use tau_b, tau_a, tau_ap_b, tau_gap, spearman, pearson or pairwise_accuracy"
        raise MetaevalError(f"{format_option('statistic', statistic)} does not compare rankings of runs: {others}")
    scales, family = scales or {}, family or {}
    retrieval = parse_measures(measures)
    find_labels(family, tuple(judged.runs), "run")
    sets = map_grades(judged, scales)
    values, condensed = (score_judged(judged, retrieval, sets, condensed=each) for each in (False, True))
    known, labelled = tuple(each.measure for each in retrieval), []
    for measure, array in zip(known, values, strict=True):
        for name, column in zip(judged.sets, np.moveaxis(array, -1, 0), strict=True):
            if not column.any():
                hint = "is it of another scale? --scale says what its grades are"
                raise DataError("every run scores 0 on every topic", file=name, measure=measure, hint=hint)
        judges = [Measure(name, higher_is_better=bool(measure.higher_is_better)) for name in judged.sets]
        labels: dict[str, Any] = {"runs": judged.runs, "topics": judged.topics, "measures": judges}
        labelled.append(Scores(array, **labels, collection=judged.collection, provenance=judged.provenance))
    same = find_identical_runs(*labelled) if distinct_runs else False
    ready = [prepare(each, "compare_qrels", distinct_runs=same, runs=1, topics=1) for each in labelled]
    scored, diagnostics = [each.scores for each in ready], tuple(each.diagnostics for each in ready)
    chosen = {run: model for run, model in family.items() if run in scored[0].runs}

    parts: dict[str, list[pd.DataFrame]] = {}
    for measure, scores in zip(known, scored, strict=True):
        # Judges are measures here, and none is exchanged for another.
        ranked = agreement(
            scores, reference=scores.measures[0], statistics=[statistic], n_permutations=1,
            n_bootstrap=n_bootstrap, confidence=confidence, seed=seed,
        )  # fmt: skip
        flips, counts, errors = list_flips(scores, n_permutations, alpha, seed, n_jobs)
        rows = ranked.to_frame()[["measure", "value", "low", "high", "chance", "ceiling"]]
        rows[list(COUNTS)] = counts
        rows[[f"{name}_error" for name in COUNTS]] = errors
        frames = {"rows": rows.rename(columns={"value": "tau"}), "flips": flips}
        frames |= {name: ranked.frames()[name] for name in ("differences", "runs", "topics")}
        if chosen:
            frames["favours"] = find_favours(scores, chosen, confidence)
        for name, frame in frames.items():
            named = frame.rename(columns=lambda column: column.replace("measure", "judge"))
            named.insert(0, "measure", str(measure))
            parts.setdefault(name, []).append(named.drop(columns=["p_first", "p_second"], errors="ignore"))
    joined = {name: pd.concat(some, ignore_index=True) for name, some in parts.items()}
    favours = joined.pop("favours", pd.DataFrame())

    key = stream_key(seed, judged.collection, "compare_qrels")
    grades = compare_grades(sets, scales, key, n_bootstrap, confidence)
    unjudged = measure_gaps(judged, retrieval, (condensed - values).mean(axis=2))
    settings = {"measures": ", ".join(map(str, known)), "judgements": ", ".join(judged.sets)}
    if scales:
        settings["scale"] = "; ".join(f"{name} {list(each)}" for name, each in scales.items())
    if family:
        settings["family"] = f"{format_count(len(family), 'run')} of {len(set(family.values()))}"
    settings |= {"statistic": statistic, "test": "bootstrap-t"}
    numbers = {"B": n_permutations, "alpha": alpha, "bootstrap": n_bootstrap, "seed": seed}
    remarks = list(_remark(sets, grades, unjudged, favours))
    if n_bootstrap and not ranked.no_interval:
        remarks += remark_coverage([which], len(judged.topics))
    return QrelsComparison(
        judged.collection, judged.sets, known, **joined, grades=grades, unjudged=unjudged, favours=favours,
        statistic=ranked.results[0].title.partition(",")[0], n_runs=len(scored[0].runs), alpha=alpha, confidence=confidence,
        signature=sign("compare_qrels", scored, **settings, **numbers, **diagnostics[0].settings),
        no_interval=ranked.no_interval, diagnostics=diagnostics, remarks=tuple(remarks),
    )  # fmt: skip


def list_flips(
    scores: Scores, n_permutations: int, alpha: float, seed: int, n_jobs: int = 1
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Which pairs of runs differ significantly by one of two sets of judgements only, or the other way round?

    Intervals of all pairs hold together, those by each set and those of the change from one to the other; a flip is clear if
    the change is. `scores` have runs and topics sorted by label, and the reference first. Of every judge's pairs it is counted,
    shape (judge, 5), how many the reference confirms, contradicts, does not find, and finds alone, and how many flips are
    clear; the last array says how far other random trials would move these counts, as standard errors.
    """
    signed = scores.values * find_signs(scores.measures)
    values = np.concatenate([signed, signed[..., 1:] - signed[..., :1]], axis=-1)
    key = stream_key(seed, scores.collection, "discriminative_power")  # the same trials, and p-values, as there
    result = all_pairs_test(values, test="bootstrap-t", n_permutations=n_permutations, key=key, n_jobs=n_jobs)
    # With other trials the critical value would be that of another share of trials: α, give or take its binomial error.
    step = np.sqrt(alpha * (1 - alpha) / n_permutations)
    levels = (alpha, alpha + step, alpha - step)
    reach, *moved = (simultaneous_reach(result, level) for level in levels)
    first, second = np.triu_indices(len(scores.runs), 1)
    means, n_sets = values.mean(axis=1).T, len(scores.measures)
    gaps = means[:, first] - means[:, second]
    verdicts, more, fewer = (np.where(result.p[:n_sets] <= level, np.sign(gaps[:n_sets]), 0) for level in levels)
    counts = count_conclusions(verdicts[1:], verdicts[0])
    by_reference = count_conclusions(verdicts[1:], more[0]) - count_conclusions(verdicts[1:], fewer[0])
    by_judges = count_conclusions(more[1:], verdicts[0]) - count_conclusions(fewer[1:], verdicts[0])
    runs, frames, clear = np.array(scores.runs, dtype=object), [], []
    for j in range(1, n_sets):
        people, judge = verdicts[0], verdicts[j]
        kinds = name_flips(people, judge)
        at = np.flatnonzero(kinds)
        ahead = np.where(people[at] != 0, people[at], judge[at])
        columns = {
            "judge": str(scores.measures[j]), "flip": kinds[at],
            "run_1": np.where(ahead > 0, runs[first[at]], runs[second[at]]),
            "run_2": np.where(ahead > 0, runs[second[at]], runs[first[at]]),
        }  # fmt: skip
        for name, column in (("by_reference", 0), ("by_judge", j), ("change", n_sets - 1 + j)):
            middle, wide = ahead * gaps[column, at], reach[column, at]
            columns |= {name: middle, f"{name}_low": middle - wide, f"{name}_high": middle + wide}
        frames.append(pd.DataFrame(columns).assign(clear=np.abs(middle) > wide))
        clear.append([np.count_nonzero(np.abs(middle) > each[column, at]) for each in (reach, *moved)])
    number, most, least = np.array(clear).T
    errors = np.column_stack([np.hypot(by_reference, by_judges), most - least]) / 2
    return pd.concat(frames, ignore_index=True), np.column_stack([counts, number]), errors


def _remark(
    sets: Mapping[str, Grades], grades: pd.DataFrame, unjudged: pd.DataFrame, favours: pd.DataFrame
) -> Iterator[str]:
    """Yield what is doubtful about judges, whom they favour by the first measure, and what judgements lack, a note each."""
    reference, *judges = sets
    for name, high in zip(judges, grades["tau_b_high"], strict=True):
        given = {grade for some in sets[name].values() for grade in some.values()}
        if len(given) == 1:
            yield f"{name} gives every document the grade {given.pop()}: it only tells which documents it judged"
        elif sets[name] == sets[reference]:
            yield f"{name} gives every document the grade of {reference}: was it copied?"
        elif high < 0:
            yield f"{name} grades low what {reference} grades high: check its grades"
    if len(favours):
        own = favours[favours["own"] & (favours["measure"] == favours["measure"].iloc[0])]
        clear, listed = [], []
        for judge, model, *numbers in own.drop(columns=["measure", "runs", "own"]).itertuples(index=False):
            value, low, high = numbers
            clear += [f"{judge} scores runs of {model} {value:+.3f}"] * bool(low > 0 or high < 0)
            interval = "" if np.isnan(low) else f" [{low:+.3f}, {high:+.3f}]"
            listed.append(f"{judge} –" if np.isnan(value) else f"{judge} {value:+.3f}{interval}")
        favoured = "; ".join(clear) or "no judge clearly favours runs of its own model"
        yield f"{favoured}, compared with other runs of the same score\nBy {own['measure'].iloc[0]}: {'; '.join(listed)}."
    worst = unjudged.iloc[int(unjudged["unjudged"].to_numpy().argmax())]
    if worst["unjudged"]:
        yield (
            f"{worst['judge']} leaves {100 * worst['unjudged']:.1f} % of the documents that {worst['measure']} looks at "
            "unjudged\n"
            f"Without them runs would score {worst['cost']:+.3f} on average, {worst['run']} {worst['cost_of_run']:+.3f}"
        )
    lacking = [f"{name} {count:,}" for name, count in zip(grades["judge"], grades["lacking"], strict=True) if count]
    if lacking:
        yield f"lines of {reference} that a judge lacks count as unjudged: {', '.join(lacking)}"
    empty = []
    for name, topics in sets.items():
        count = sum(max(some.values(), default=0) <= 0 for some in topics.values())
        empty += [f"{name} {format_count(count, 'topic')}"] * bool(count)
    if empty:
        yield f"topics without a relevant document, on which all runs tie: {', '.join(empty)}"


class RetrievalMeasure(NamedTuple):
    """A measure as ir_measures knows it, and how many documents it looks at, if it says so."""

    measure: Measure
    parsed: Any
    cutoff: int | None


def parse_measures(names: Sequence[str]) -> list[RetrievalMeasure]:
    """Return the measures that are named as ir_measures names them."""
    try:
        import ir_measures
    except ModuleNotFoundError:
        raise MetaevalError('scoring runs needs ir_measures: pip install "metaeval[ir]"') from None
    if not names or isinstance(names, str):
        raise MetaevalError("name at least one measure in a list, such as nDCG@10, AP or RR@10")
    result = []
    for name in dict.fromkeys(names):
        try:
            parsed = ir_measures.parse_measure(name)
            ir_measures.evaluator([parsed], {"topic": {"document": 1}})
        except Exception as error:  # of many kinds, assertions among them
            raise MetaevalError(f"ir_measures cannot compute {name!r}: {error}") from None
        cutoff = parsed.params.get("cutoff")
        if cutoff is not None and not 1 <= cutoff <= DEEPEST:  # trec_eval would end the program
            raise MetaevalError(f"ir_measures cannot compute {name!r}: its cut lies from 1 to {DEEPEST:,}")
        known = measure_of_label(name)
        measure = known if known.higher_is_better is not None else Measure(name, higher_is_better=True)
        result.append(RetrievalMeasure(measure, parsed, cutoff))
    return result


def score_judged(
    judged: JudgedRuns, measures: Sequence[RetrievalMeasure], sets: Mapping[str, Grades], *, condensed: bool = False
) -> np.ndarray:
    """Score all runs under each set of judgements, shape (measure, run, topic, set).

    `condensed`: documents that a set does not judge are taken out of the runs first (Sakai 2007).
    """
    import ir_measures

    position = {each.parsed: m for m, each in enumerate(measures)}
    place = {topic: t for t, topic in enumerate(judged.topics)}
    values = np.zeros((len(measures), len(judged.runs), len(judged.topics), len(sets)))
    for s, grades in enumerate(sets.values()):
        evaluator: Any = ir_measures.evaluator([*position], grades)  # type: ignore[arg-type]
        for r, topics in enumerate(judged.runs.values()):
            # Scores fall by one from rank to rank: every program then ranks documents alike.
            run = {}
            for topic, documents in topics.items():
                listed = [each for each in documents if each in grades[topic]] if condensed else documents
                run[topic] = {document: float(-rank) for rank, document in enumerate(listed)}
            try:
                for metric in evaluator.iter_calc(run):
                    values[position[metric.measure], r, place[metric.query_id], s] = metric.value
            except Exception as error:  # some measures are programs of their own
                names = format_list([str(each.measure) for each in measures])
                raise MetaevalError(f"ir_measures cannot compute {names} of these runs: {error}") from None
    return values


def measure_gaps(judged: JudgedRuns, measures: Sequence[RetrievalMeasure], costs: np.ndarray) -> pd.DataFrame:
    """How many documents down to the cut are unjudged, and how much would runs score without them? A row a measure and set.

    `costs`, shape (measure, run, set), are means over topics.
    """
    runs, rows = list(judged.runs), []
    for each, cost_of_sets in zip(measures, costs, strict=True):
        for (name, grades), cost in zip(judged.judgements.items(), cost_of_sets.T, strict=True):
            seen = [
                [
                    document not in grades[topic]
                    for topic, ranked in topics.items()
                    for document in ranked[: each.cutoff]
                ]
                for topics in judged.runs.values()
            ]
            shares = np.array(list(map(np.mean, seen)))
            worst = int(np.abs(cost).argmax())
            rows.append((str(each.measure), name, shares.mean(), cost.mean(), runs[worst], shares[worst], cost[worst]))
    columns = ["measure", "judge", "unjudged", "cost", "run", "unjudged_of_run", "cost_of_run"]
    return pd.DataFrame(rows, columns=columns)


def map_grades(judged: JudgedRuns, scales: Mapping[str, Sequence[int]]) -> dict[str, Grades]:
    """Return all judgements, those with a stated scale with the grades that it gives for 0, 1, 2, …"""
    find_labels(scales, judged.sets, "set of judgements")
    mapped: dict[str, Grades] = dict(judged.judgements)
    for name, scale in scales.items():
        stated = format_option("scales", f"{name}={','.join(map(str, scale))}")
        if any(not isinstance(grade, int) or not 0 <= grade <= LARGEST_GRADE for grade in scale):
            raise MetaevalError(f"{stated}: grades are whole numbers from 0 to {LARGEST_GRADE}")
        if sorted(scale) != list(scale):
            raise MetaevalError(f"{stated}: grades fall, and a higher grade of a judge never stands for a lower one")
        top = _find_largest(mapped[name])
        if top >= len(scale):
            raise DataError(f"the grade {top} is beyond {stated}", file=name)
        mapped[name] = {
            topic: {document: scale[max(grade, 0)] for document, grade in some.items()}
            for topic, some in mapped[name].items()
        }
    return mapped


def _find_largest(grades: Grades) -> int:
    return max(1, *(grade for some in grades.values() for grade in some.values()))


def compare_grades(
    judgements: Mapping[str, Grades], stated: Mapping[str, Sequence[int]], key: int, n_bootstrap: int, confidence: float
) -> pd.DataFrame:
    """Do judges give documents the grades of the reference? A row a judge, of all documents that both judge.

    τ_b asks for the same order only. κ, with linear weights, and the share of equal grades need one scale: that of a judge is
    the reference's if it is stated, or the largest grades are the same. Grades below 0 count as 0.
    """
    reference, *judges = judgements.values()
    largest, rows = _find_largest(reference), []
    for name, grades in zip(list(judgements)[1:], judges, strict=True):
        top = _find_largest(grades)
        size, lacking, extra = max(largest, top) + 1, 0, 0
        counts = np.zeros((len(reference), size, size))
        for t, (topic, some) in enumerate(reference.items()):
            lacking += len(some.keys() - grades[topic].keys())
            extra += len(grades[topic].keys() - some.keys())
            for document in some.keys() & grades[topic].keys():
                counts[t, max(some[document], 0), max(grades[topic][document], 0)] += 1
        total = counts.sum(axis=0)
        comparable = name in stated or top == largest
        same = float(np.trace(total) / total.sum()) if comparable and total.any() else np.nan
        scale = ",".join(map(str, stated[name])) if name in stated else f"0–{top}"
        order = _estimate(tau_b, counts, key, n_bootstrap, confidence)
        level = _estimate(kappa, counts, key, n_bootstrap, confidence) if comparable else (np.nan,) * 3
        rows.append((name, scale, int(total.sum()), lacking, extra, *order, same, *level))
    columns = ["judge", "scale", "documents", "lacking", "extra", "tau_b", "tau_b_low", "tau_b_high"]
    return pd.DataFrame(rows, columns=[*columns, "same_grade", "kappa", "kappa_low", "kappa_high"])


def _estimate(
    measure: Callable[[np.ndarray], np.ndarray], counts: np.ndarray, key: int, n_bootstrap: int, confidence: float
) -> tuple[float, float, float]:
    """Return a measure of counts, shape (topic, grade, grade), over all topics, with its interval over topics."""
    n_topics, size, _ = counts.shape
    if not counts.any():
        return (np.nan,) * 3
    value, drawn = float(measure(counts.sum(axis=0))), np.empty(0)
    if n_topics >= FEWEST_TOPICS and n_bootstrap:
        weights = draw_weights(key, range(n_bootstrap), n_topics)
        drawn = measure((weights @ counts.reshape(n_topics, -1)).reshape(-1, size, size))
    low, high = centre_interval(value, drawn, max(n_topics, 2), confidence=confidence)
    return value, float(low), float(high)


def find_favours(scores: Scores, family: Mapping[str, str], confidence: float) -> pd.DataFrame:
    """Does a judge favour runs made with its own model? A row a judge and model, better being higher.

    Its runs are compared with other runs to which the reference gives the same score: `at_same_score` is how far they lie above
    the line of least squares from the reference's means to the judge's. Student's intervals are over runs, by how far the
    others are from that line, and hold together (Bonferroni). A judge is of a model if its name is the model's, or a part of it
    between - and _.
    """
    from scipy.special import stdtrit

    models, judges = sorted(set(family.values())), [str(measure) for measure in scores.measures[1:]]
    of_run = np.array([family.get(run, "") for run in scores.runs])
    reference, *means = (scores.values * find_signs(scores.measures)).mean(axis=1).T
    level, rows = 1 - (1 - confidence) / (2 * len(models) * len(judges)), []
    for model in models:
        part, *names = (f"-{name.lower().replace('_', '-')}-" for name in (model, *judges))
        if not any(part in name for name in names):
            problem = f"no judge is of the model {model!r}: a judge is of it if its name, or a part of it, is the same"
            raise MetaevalError(f"{problem}; judges are {format_list(judges)}")
        own = of_run == model
        if own.all():
            raise MetaevalError(f"every run is of the model {model}: there is none to compare with")
        for judge, name, scored in zip(judges, names, means, strict=True):
            gap = reach = np.nan
            x, y = (each[~own] - each[~own].mean() for each in (reference, scored))
            lead, its_lead = (each[own].mean() - each[~own].mean() for each in (reference, scored))
            squares, freedom = float(x @ x), len(x) - 2
            if squares >= 1e-12:
                slope = float(x @ y) / squares
                gap = float(its_lead - slope * lead)
                if freedom > 0:
                    spread = ((y - slope * x) ** 2).sum() / freedom
                    error = np.sqrt(spread * (1 / own.sum() + 1 / len(x) + lead**2 / squares))
                    reach = float(stdtrit(freedom, level) * error)
            rows.append((judge, model, int(own.sum()), part in name, gap, gap - reach, gap + reach))
    columns = ["at_same_score", "at_same_score_low", "at_same_score_high"]
    return pd.DataFrame(rows, columns=["judge", "model", "runs", "own", *columns])
