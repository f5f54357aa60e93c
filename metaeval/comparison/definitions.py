"""What the columns of a report's tables mean: shown where a heading is pointed at."""

from __future__ import annotations

from metaeval.analyses.ranking_similarity import ALIKE, INTERCHANGEABLE

_WHOLE = {
    "run": "The system whose output was scored.",
    "group": f"Measures in one group rank runs alike: mean τ within a group is at least {ALIKE:g}.",
    "letters": "Two rows without a common letter differ significantly.",
    "mean τ": "Kendall's τ between the rankings of runs on two sets of topics, averaged over the random splits.",
    "mean τ of splits": "Kendall's τ between the rankings on two sets of topics, averaged over splits and collections.",
    "τ": "Kendall's τ between two rankings of the runs: 1 is the same ranking, −1 the reverse.",
    "95 % interval": "Where τ on as many new topics is expected; the intervals of all pairs of measures hold together.",
    "ranks alike": f"like: τ is at least {INTERCHANGEABLE:g}, so that one can stand for the other. differs: τ is below that. "
    "undecided: these topics do not decide.",
    "#sig": "Pairs of runs that differ significantly.",
    "#all": "All pairs of runs.",
    "±": "Monte Carlo standard error of #sig: how far it would vary with other random trials.",
    "%": "Significant pairs in percent of all pairs of runs.",
    "low": "Lower end of the interval.",
    "high": "Upper end of the interval.",
    "collections_low": "Lower end of the interval for other collections of the same kind.",
    "collections_high": "Upper end of the interval for other collections of the same kind.",
    "finds more than": "How many measures find clearly fewer significant pairs.",
    "confirmed": "Significant pairs that the reference finds significant too, in the same direction.",
    "contradicted": "Significant pairs of which the reference finds the opposite significant.",
    "only here": "Significant pairs that the reference does not find significant.",
    "missed": "Pairs that only the reference finds significant.",
    "% contradicted": "Contradicted pairs, in percent of the pairs that both find significant.",
    "overlap, %": "Pairs that both measures find significant, in percent of those that at least one does.",
    "only the new one": "Pairs of runs that only the new measure finds significant.",
    "only the other": "Pairs of runs that only the measure of the row finds significant.",
    "both": "Pairs of runs that both measures find significant.",
    "contradictions": "Pairs of runs on which both are significant, in opposite directions.",
    "coverage": "Spearman's ρ between a measure's improvements and the improvements by all reference measures at once.",
    "reference": "Whether the measure is one of the reference measures.",
    "tied": "Topics on which both baselines have the same score.",
    "rank": "By mean score, 1 is the best.",
    "may be": "The ranks that the significant differences leave possible.",
    "mean": "Mean score over the topics.",
    "property": "What a good measure of this kind should do.",
    "mark": "✓ no counterexample found, ✗ a counterexample found; in brackets the number of cases.",
    "tried, or found": "The cases tried, or the counterexample.",
    "claim": "What the verdict says.",
    "as it is": "What came out with the settings of this report.",
    "measure_2": "The measure that says the opposite.",
    "run_1": "Significantly better by the first measure, significantly worse by the second.",
    "run_2": "Significantly worse by the first measure, significantly better by the second.",
    "differences, %": "Pairs of runs that differ significantly, in percent of all pairs.",
    "more, points": "Share of all pairs of runs that the measure finds significant, less that of the new one.",
    "significant pairs": "Pairs of runs that differ significantly, summed over collections.",
    "contradicted by the reference": "Of the pairs that both find significant, those in the opposite direction.",
}

_BEGINNINGS = {
    "like ": "Pairs of runs that the measure orders as the reference does, in percent, with a 95 % interval.",
    "τ with ": "Kendall's τ between the rankings of runs by the two measures, with a 95 % interval over topics.",
    "consistent against ": "In how many tests over splits the measure is significantly more, or less, consistent.",
    "more than ": "The difference in percent of all pairs of runs, with a 95 % interval over topics.",
    "by ": "Significant pairs by this test.",
    "contradicts ": "Pairs of runs on which both are significant, in opposite directions.",
    "seed ": "What came out with another seed.",
}


def define(label: str) -> str:
    """Return what a column means, by its heading; empty where that is plain."""
    return _WHOLE.get(label) or next((text for start, text in _BEGINNINGS.items() if label.startswith(start)), "")
