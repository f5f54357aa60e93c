"""Commands that analyse scores, one for each analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metaeval.cli.output import Style, check_output, show_result, working

if TYPE_CHECKING:
    from metaeval.analyses.discriminative_power import DiscriminativePower
    from metaeval.data.scores import Scores
    from metaeval.stats.rank_correlation import TauVariant

Source = Annotated[str, typer.Argument(help="A score file or folder, a store, or a data set's name")]
MeasureNames = Annotated[list[str] | None, typer.Option("--measure", "-m", help="Which measures; all by default")]
Collection = Annotated[str | None, typer.Option(help="Which collection of a store")]
Lower = Annotated[list[str] | None, typer.Option("--lower-is-better", help="State the direction of a measure")]
Higher = Annotated[list[str] | None, typer.Option("--higher-is-better", help="State the direction of a measure")]
From = Annotated[str | None, typer.Option("--from", help="Format of the file: tidy, wide, sakai, trec_eval or store")]
Missing = Annotated[str, typer.Option(help="Where a score is missing: raise, drop-topic, drop-run or worst")]
Seed = Annotated[int, typer.Option(help="Seed of everything random")]
B = Annotated[int, typer.Option("--permutations", "-B", help="Trials of the randomised test")]
Alpha = Annotated[float, typer.Option(help="Significance level")]
Jobs = Annotated[int, typer.Option(help="Threads; the numbers are the same for any")]
Cluster = Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://HOST:PORT, to work on")]
Tau = Annotated[str, typer.Option(help="tau_a or tau_b")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for table, rows and figure")]
Engine = Annotated[str, typer.Option(help="auto, numpy or numba: the numbers are the same")]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    commands: dict[str, Callable[..., None]] = {
        "similarity": similarity,
        "consistency": consistency,
        "power": power,
        "overlap": overlap,
        "contradictions": contradictions,
        "baselines": baselines,
        "robustness": robustness,
        "sample-size": sample_size,
        "coverage": coverage,
    }
    for name, command in commands.items():
        app.command(name)(command)


def similarity(
    source: Source,
    measure: MeasureNames = None,
    tau: Tau = "tau_a",
    bootstrap: Annotated[
        int, typer.Option(help="Resamples of the topics for the intervals in JSON; 0 for none")
    ] = 1000,
    seed: Seed = 0,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    lower: Lower = None,
    higher: Higher = None,
    style: Style = "text",
    out: Out = None,
) -> None:
    """Do two measures rank the runs alike? Kendall's τ for every pair of measures.

    \b
    Examples:
      metaeval similarity scores.csv
      metaeval similarity trec-web-2013 --tau tau_b --format latex
    """
    from metaeval.analyses.ranking_similarity import ranking_similarity

    check_output(style, out)
    scores = _scores(source, measure, _opening(collection, from_format, missing, lower, higher))
    with working("comparing rankings"):
        result = ranking_similarity(scores, tau=_variant(tau), n_bootstrap=bootstrap, seed=seed)
    show_result(result, style, out, "similarity")


def consistency(
    source: Source,
    measure: MeasureNames = None,
    trials: Annotated[int, typer.Option(help="Random splits")] = 1000,
    size: Annotated[int | None, typer.Option(help="Topics in each of two disjoint sets; halves by default")] = None,
    permutations: B = 5000,
    alpha: Alpha = 0.05,
    tau: Tau = "tau_a",
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    cluster: Cluster = None,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    style: Style = "text",
    out: Out = None,
) -> None:
    """Does a measure give the same ranking on other topics? Mean τ between random halves of the topics.

    \b
    Examples:
      metaeval consistency scores.csv
      metaeval consistency stc3-dq-a --size 10
    """
    from metaeval.analyses.split_half_consistency import split_half_consistency

    check_output(style, out)
    scores = _scores(source, measure, _opening(collection, from_format, missing))
    with working("splitting topics"), _spread(n_jobs, cluster) as n_jobs:
        result = split_half_consistency(
            scores, n_trials=trials, size=size, seed=seed, tau=_variant(tau),
            n_permutations=permutations, alpha=alpha, n_jobs=n_jobs,
        )  # fmt: skip
    show_result(result, style, out, "consistency")


def power(
    source: Annotated[list[str], typer.Argument(help="Score files, stores or data sets; several are pooled too")],
    measure: MeasureNames = None,
    permutations: B = 5000,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    test: Annotated[
        str,
        typer.Option(help="randomised-tukey-hsd, tukey-hsd, paired-t, paired-randomisation or paired-bootstrap"),
    ] = "randomised-tukey-hsd",
    correction: Annotated[
        str, typer.Option(help="For paired tests: none, holm, bonferroni or benjamini-hochberg")
    ] = "auto",
    add_one: Annotated[bool, typer.Option("--p-add-one", help="(count + 1)/(B + 1) in place of count/B")] = False,
    engine: Engine = "auto",
    n_jobs: Jobs = 1,
    cluster: Cluster = None,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    style: Style = "text",
    out: Out = None,
) -> None:
    """How many significant differences does a measure find? Randomised Tukey HSD on every pair of runs.

    \b
    Examples:
      metaeval power scores.csv -B 5000
      metaeval power stc3-dq-a stc3-dq-e stc3-dq-s --out results/
      metaeval power scores.csv --format csv > p-values.csv
    """
    from metaeval.analyses.pooled_discriminative_power import pooled_discriminative_power

    check_output(style, out)
    opening = _opening(collection, from_format, missing)
    settings = {
        "n_permutations": permutations, "alpha": alpha, "seed": seed, "test": test, "correction": correction,
        "p_add_one": add_one, "engine": engine, "n_jobs": n_jobs,
    }  # fmt: skip
    found = [_power(one, measure, opening, cluster, **settings) for one in source]
    pooled = pooled_discriminative_power(found, seed=seed) if len(found) > 1 else None
    for number, one in enumerate(found):
        show_result(one, style, out, "power" if len(found) == 1 else f"power-{_file_name(one.collection, number)}")
    if pooled is not None:
        show_result(pooled, style, out, "pooled-power")


def overlap(
    source: Source,
    measure: MeasureNames = None,
    permutations: B = 5000,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    engine: Engine = "auto",
    n_jobs: Jobs = 1,
    cluster: Cluster = None,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    style: Style = "text",
    out: Out = None,
) -> None:
    """Do measures agree on which runs differ significantly? a, b, c and SSO = b/(a + b + c).

    \b
    Examples:
      metaeval overlap scores.csv
    """
    from metaeval.analyses.significance import significance_overlap

    check_output(style, out)
    settings = {"n_permutations": permutations, "alpha": alpha, "seed": seed, "engine": engine, "n_jobs": n_jobs}
    tested = _power(source, measure, _opening(collection, from_format, missing), cluster, **settings)
    show_result(significance_overlap(tested), style, out, "overlap")


def contradictions(
    source: Source,
    measure: MeasureNames = None,
    permutations: B = 5000,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    engine: Engine = "auto",
    n_jobs: Jobs = 1,
    cluster: Cluster = None,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    lower: Lower = None,
    higher: Higher = None,
    style: Style = "text",
    out: Out = None,
) -> None:
    """Of which runs do two measures say opposite things, both significantly? Counts, and every pair of runs.

    \b
    Examples:
      metaeval contradictions stc3-dq-a
    """
    from metaeval.analyses.significance import significance_contradictions

    check_output(style, out)
    settings = {"n_permutations": permutations, "alpha": alpha, "seed": seed, "engine": engine, "n_jobs": n_jobs}
    opening = _opening(collection, from_format, missing, lower, higher)
    tested = _power(source, measure, opening, cluster, **settings)
    result = significance_contradictions(tested)
    show_result(result, style, out, "contradictions")
    if style in ("text", "md", "latex"):
        for table in result.detail_tables():
            print(f"\n{table.render(style)}", end="")


def baselines(
    source: Source,
    first: Annotated[str, typer.Argument(help="A run")],
    second: Annotated[str, typer.Argument(help="Another run")],
    measure: MeasureNames = None,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    lower: Lower = None,
    higher: Higher = None,
    style: Style = "text",
    out: Out = None,
) -> None:
    """Which of two runs does each measure prefer, topic by topic?

    \b
    Examples:
      metaeval baselines stc3-dq-a BL-popularity BL-uniform
    """
    from metaeval.analyses.baseline_preference import baseline_preference

    check_output(style, out)
    scores = _scores(source, measure, _opening(collection, from_format, missing, lower, higher))
    show_result(baseline_preference(scores, first, second), style, out, "baselines")


def robustness(
    source: Annotated[list[str], typer.Argument(help="One collection (its topics), or several")],
    measure: MeasureNames = None,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    style: Style = "text",
    out: Out = None,
) -> None:
    """How alike are rankings from topic to topic, or from collection to collection? Spearman's ρ.

    \b
    Examples:
      metaeval robustness trec-web-2013
      metaeval robustness stc3-dq-a stc3-dq-e stc3-dq-s
    """
    from metaeval.analyses.robustness import robustness as analysed

    check_output(style, out)
    found = [_scores(one, measure, _opening(collection, from_format, missing)) for one in source]
    with working("correlating rankings"):
        result = analysed(found[0] if len(found) == 1 else found)
    show_result(result, style, out, "robustness")


def sample_size(
    source: Source,
    measure: MeasureNames = None,
    sizes: Annotated[str | None, typer.Option(help="Numbers of topics, with commas: 10,25,50")] = None,
    trials: Annotated[int, typer.Option(help="Random pairs of disjoint sets a size")] = 200,
    samples: Annotated[int, typer.Option(help="Random samples of topics a size")] = 10,
    permutations: B = 1000,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    cluster: Cluster = None,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    style: Style = "text",
    out: Out = None,
) -> None:
    """How many topics does a measure need? Consistency and power against the number of topics.

    \b
    Examples:
      metaeval sample-size stc3-dq-a --sizes 10,50,100,200,390
    """
    from metaeval.analyses.sample_size import sample_size as analysed
    from metaeval.errors import MetaevalError

    try:
        ladder = None if sizes is None else [int(size) for size in sizes.split(",")]
    except ValueError:
        raise MetaevalError(f"--sizes {sizes}: whole numbers with commas, such as 10,25,50") from None
    check_output(style, out)
    scores = _scores(source, measure, _opening(collection, from_format, missing))
    with working("sampling topics"), _spread(n_jobs, cluster) as n_jobs:
        result = analysed(
            scores, sizes=ladder, n_trials=trials, n_samples=samples,
            n_permutations=permutations, alpha=alpha, seed=seed, n_jobs=n_jobs,
        )  # fmt: skip
    show_result(result, style, out, "sample-size")


def coverage(
    source: Source,
    reference: Annotated[list[str], typer.Option("--reference", "-r", help="A reference measure; give several")],
    measure: MeasureNames = None,
    sweep: Annotated[bool, typer.Option("--sweep", help="Take every subset of the reference measures in turn")] = False,
    bootstrap: Annotated[int, typer.Option(help="Resamples of the topics for the intervals; 0 for none")] = 1000,
    seed: Seed = 0,
    collection: Collection = None,
    from_format: From = None,
    missing: Missing = "raise",
    lower: Lower = None,
    higher: Higher = None,
    style: Style = "text",
    out: Out = None,
) -> None:
    """Does a measure capture all that the reference measures stand for? Coverage of unanimous improvement.

    \b
    Examples:
      metaeval coverage llmjudge -r Accuracy -r tau_a -r MI
      metaeval coverage llmjudge -r Accuracy -r tau_a -r MI -r kappa --sweep --out results/
    """
    from metaeval.analyses.coverage import coverage as analysed
    from metaeval.analyses.coverage import coverage_sweep
    from metaeval.cli.scores import wanted_measures

    wanted = measure and list(dict.fromkeys([*measure, *reference]))
    check_output(style, out)
    references = wanted_measures(reference) or []  # a decorated function of a file is registered before runs are scored
    scores = _scores(source, wanted, _opening(collection, from_format, missing, lower, higher))
    with working("comparing runs"):
        if sweep:
            show_result(coverage_sweep(scores, candidates=references), style, out, "coverage-sweep")
        else:
            show_result(
                analysed(scores, reference=references, n_bootstrap=bootstrap, seed=seed), style, out, "coverage"
            )


def _opening(
    collection: str | None,
    from_format: str | None,
    missing: str,
    lower: list[str] | None = None,
    higher: list[str] | None = None,
) -> dict[str, Any]:
    """Return how a source is to be opened, as `open_scores` takes it."""
    return {
        "collection": collection,
        "format": from_format,
        "missing": missing,
        "lower_is_better": lower or (),
        "higher_is_better": higher or (),
    }


def _scores(source: str, measure: list[str] | None, opening: dict[str, Any]) -> Scores:
    from metaeval.cli.scores import wanted_measures
    from metaeval.datasets.open import open_scores

    with working(f"reading {source}"):
        return open_scores(source, wanted_measures(measure), **opening)


def _power(
    source: str, measure: list[str] | None, opening: dict[str, Any], cluster: str | None, **settings: Any
) -> DiscriminativePower:
    from metaeval.analyses.discriminative_power import discriminative_power

    scores = _scores(source, measure, opening)
    pairs = len(scores.runs) * (len(scores.runs) - 1) // 2
    with working(f"testing {pairs} pairs of runs"), _spread(settings.pop("n_jobs"), cluster) as n_jobs:
        return discriminative_power(scores, n_jobs=n_jobs, **settings)


@contextmanager
def _spread(n_jobs: int, cluster: str | None) -> Iterator[int]:
    """Give the number of jobs to ask for: as many threads as the user said, or all that the cluster has."""
    if cluster is None:
        yield n_jobs
        return
    from metaeval.stats.parallel import on_cluster

    with on_cluster(cluster):
        yield -1


def _variant(tau: str) -> TauVariant:
    from metaeval.errors import MetaevalError

    if tau not in ("tau_a", "tau_b"):
        raise MetaevalError(f"there is no τ {tau!r}: use tau_a or tau_b")
    return "tau_a" if tau == "tau_a" else "tau_b"


def _file_name(collection: str, number: int) -> str:
    """A collection's name may hold anything; a file's name may not."""
    safe = "".join(character if character.isalnum() or character in "-_" else "-" for character in collection)
    return safe or str(number + 1)
