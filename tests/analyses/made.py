"""Names for made-up scores, so that a test states its numbers only."""

import numpy as np

import metaeval as me


def label(values, measures=("a", "b", "c"), collection="made", **labels):
    """Return scores of an array of run × topic (× measure), of which runs and topics are numbered."""
    values = np.atleast_3d(np.asarray(values, dtype=float))
    n_runs, n_topics, n_measures = values.shape
    numbered = {"runs": [f"r{run:02}" for run in range(n_runs)], "topics": range(n_topics)}
    return me.Scores(values, measures=list(measures)[:n_measures], collection=collection, **{**numbered, **labels})


def draw_graded(n_runs, n_topics, noise, seed=0, best=1.0):
    """Return an array of runs that are the better the later, of a measure for each size of noise."""
    quality = np.linspace(0, best, n_runs)[:, None, None]
    return quality + np.random.default_rng(seed).normal(size=(n_runs, n_topics, len(noise))) * noise


def relabel(scores, values, measures=None, **labels):
    """Return other scores of the same runs and topics."""
    names = scores.measures if measures is None else measures
    same = {"runs": scores.runs, "topics": scores.topics, "collection": scores.collection}
    return label(values, names, **{**same, **labels})


def ask_everything(scores):
    """Yield a result of every analysis that these scores allow."""
    power = me.discriminative_power(scores, n_permutations=50, n_bootstrap=20)
    yield power
    yield me.run_ranks(power)
    yield me.pooled_discriminative_power([power])
    yield me.robustness(scores)
    yield me.split_half_consistency(scores, n_trials=10, n_permutations=50)
    yield me.sample_size(scores, sizes=[5, 10, 40], n_trials=3)
    yield me.topic_set_size(scores, n_bootstrap=20)
    yield me.variance_components(scores)
    yield me.baseline_preference(scores, *scores.runs[:2])
    yield me.calibrate_tests(scores, tests=["bootstrap-t", "paired-t"], n_studies=20, n_permutations=20, n_jobs=1)
    if len(scores.measures) > 1:
        yield me.ranking_similarity(scores, n_bootstrap=20)
        yield me.significance_overlap(power)
        yield me.significance_contradictions(power)
        yield me.agreement(scores, reference=str(scores.measures[0]), n_permutations=10, n_bootstrap=20)
        yield me.coverage(scores, reference=str(scores.measures[0]), n_bootstrap=20)
