"""What must not change does not: scaled scores, shuffled rows, other measures, batches, directions, formats, threads."""

from __future__ import annotations

import csv
import itertools
from dataclasses import replace

import numpy as np

from tests.hostile.campaign import Finding, Outcome

QUESTIONS = [
    "similarity",
    "consistency",
    "power",
    "overlap",
    "contradictions",
    "robustness",
    "coverage",
    "sample_size",
    "baselines",
]
TESTS = ["randomised-tukey-hsd", "tukey-hsd", "paired-t", "paired-randomisation", "paired-bootstrap"]


def make_scores(rng, n_measures=None, discrete=None):
    """Scores with real differences between runs, some of them discrete, of measures of either direction."""
    import metaeval as me

    n_runs, n_topics = rng.randint(3, 6), rng.randint(5, 12)
    n_measures = n_measures or rng.randint(2, 4)
    generator = np.random.default_rng(rng.getrandbits(32))
    values = generator.random((n_runs, n_topics, n_measures)) + np.linspace(0, 0.6, n_runs)[:, None, None]
    if discrete or (discrete is None and rng.random() < 0.4):
        values = np.round(values * 4) / 4
    values = np.ldexp(np.rint(np.ldexp(values, 20)), -20)  # sums of these are exact
    measures = [me.Measure(f"m{k}", rng.random() < 0.6) for k in range(n_measures)]
    runs, topics = [f"r{k}" for k in range(n_runs)], [f"t{k}" for k in range(n_topics)]
    return me.Scores(values, runs=runs, topics=topics, measures=measures, collection="c")


def ask(rng, question):
    """A question with its options, as a function of scores to numbers by label."""
    import metaeval as me

    test = rng.choice(TESTS)
    power = lambda scores, **more: me.discriminative_power(  # noqa: E731
        scores, n_permutations=300, test=test, engine="numpy", **more
    )
    tau = rng.choice(["tau_a", "tau_b"])
    calls = {
        "similarity": lambda scores: me.ranking_similarity(scores, n_bootstrap=0, tau=tau),
        "consistency": lambda scores, **more: me.split_half_consistency(scores, n_trials=12, n_permutations=20, **more),
        "power": power,
        "overlap": lambda scores: me.significance_overlap(power(scores)),
        "contradictions": lambda scores: me.significance_contradictions(power(scores)),
        "robustness": lambda scores: me.robustness(scores),
        "coverage": lambda scores: me.coverage(scores, reference=[str(scores.measures[0])], n_bootstrap=0),
        "sample_size": lambda scores: me.sample_size(scores, n_trials=8, n_samples=2, n_permutations=20, sizes=[3, 5]),
        "baselines": lambda scores: me.baseline_preference(scores, "r0", "r1"),
    }
    detail = f" by {test}" if question in ("power", "overlap", "contradictions") else ""
    return calls[question], f"{question}{detail}"


def numbers(question, result):
    """What a result says, by labels: independent of the order of runs and measures."""
    if question == "power":
        pairs = itertools.combinations(result.runs, 2)
        return {
            (str(one), frozenset(pair)): p
            for pair, row in zip(pairs, result.p_values.T.tolist(), strict=True)
            for one, p in zip(result.measures, row, strict=True)
        }
    if question == "consistency":
        return {
            (str(one), n): tau
            for one, row in zip(result.measures, result.tau.T.tolist(), strict=True)
            for n, tau in enumerate(row)
        }
    frame = result.to_frame()
    if question == "similarity":
        return {(frozenset((a, b)), a == b): frame.loc[a, b] for a in frame.index for b in frame.columns}
    frame = frame.reset_index() if frame.index.name else frame
    found = {}
    for row in frame.to_dict("records"):
        key = frozenset((name.rstrip("_12"), value) for name, value in row.items() if isinstance(value, str))
        sizes = ("a", "c") if "measure_1" in row and row["measure_1"] > row["measure_2"] else ()
        if sizes and "a" in row:
            row["a"], row["c"] = row["c"], row["a"]
        rest = {name: value for name, value in row.items() if not isinstance(value, (str, bool))}
        found[key, rest.pop("topics", None)] = tuple(rest.items())
    return found


def _check_same(case, question, call, what, scores, other, rename=None, **more):
    first, said = case.call(call, scores)
    second, _ = case.call(call, other, **more)
    if (first is None) != (second is None):
        raise Finding(f"{what}: refused for one of two that are alike", str(said)[:200])
    if first is None:
        return Outcome("refused")
    one, two = numbers(question, first), numbers(question, second)
    unlike = [key for key in one if key in two and not _alike(one[key], two[key])]
    if unlike or not set(one) & set(two):
        raise Finding(
            what,
            f"{len(unlike)} of {len(one)}: {one[unlike[0]]} and {two[unlike[0]]}" if unlike else "no label in common",
        )
    return Outcome("equal")


def _alike(one, two):
    if isinstance(one, tuple):
        return len(one) == len(two) and all(a[0] == b[0] and _alike(a[1], b[1]) for a, b in zip(one, two, strict=True))
    return one == two or (one != one and two != two) or abs(one - two) < 1e-9


def scale(case):
    """Scores of all measures, or of one, times a power of two."""
    rng = case.rng
    scores, question = make_scores(rng), rng.choice(QUESTIONS[:-1])
    power = rng.choice([1, -1, 10, -30, 200, -200, 520, -540, 900, -900])
    factors = np.full(len(scores.measures), float(power))
    if rng.random() < 0.5:
        factors[1:] = 0
    call, named = ask(rng, question)
    scaled = np.ldexp(scores.values, factors.astype(int))
    return _check_same(
        case, question, call, f"{named}: scaled by a power of two", scores, replace(scores, values=scaled)
    )


def shuffle(case):
    """Rows of a tidy file in another order."""
    import metaeval as me

    rng = case.rng
    scores, question = make_scores(rng), rng.choice(QUESTIONS)
    rows = list(scores.to_frame().itertuples(index=False))
    word = {str(one): str(one.higher_is_better).lower() for one in scores.measures}
    read = []
    for name in ("one", "two"):
        path = case.folder / name / "c.csv"
        path.parent.mkdir()
        with open(path, "w", newline="", encoding="utf-8") as stream:
            table = csv.writer(stream)
            table.writerow(["run", "topic", "measure", "score", "higher_is_better"])
            table.writerows([r, t, m, repr(float(v)), word[m]] for r, t, m, v in rows)
        read.append(me.io.read_scores(path, collection="c"))
        rng.shuffle(rows)
    call, named = ask(rng, question)
    if question == "coverage":
        call = lambda scores: me.coverage(scores, reference=["m0"], n_bootstrap=0)  # noqa: E731
    return _check_same(case, question, call, f"{named}: rows shuffled", *read)


def subset(case):
    """Some of the measures, in another order."""
    rng = case.rng
    scores, question = make_scores(rng, rng.randint(3, 4)), rng.choice(QUESTIONS)
    names = [str(one) for one in scores.measures]
    first = names[:1] if question == "coverage" else []
    rest = [name for name in names if name not in first]
    kept = first + rng.sample(rest, rng.randint(2 - len(first), len(rest)))
    call, named = ask(rng, question)
    return _check_same(case, question, call, f"{named}: other measures beside it", scores, scores.sel(measures=kept))


def turn(case):
    """Directions turned round together with the scores."""
    rng = case.rng
    scores, question = make_scores(rng), rng.choice(QUESTIONS)
    turned = [rng.random() < 0.6 for _ in scores.measures]
    measures = tuple(
        replace(one, higher_is_better=not one.higher_is_better) if flip else one
        for one, flip in zip(scores.measures, turned, strict=True)
    )
    values = np.where(turned, -scores.values, scores.values)
    call, named = ask(rng, question)
    return _check_same(
        case, question, call, f"{named}: directions turned", scores, replace(scores, values=values, measures=measures)
    )


def spread(case):
    """Two threads, or the other order of asking."""
    rng = case.rng
    scores, question = make_scores(rng), rng.choice(["consistency", "power"])
    call, named = ask(rng, question)
    return _check_same(case, question, call, f"{named}: two threads", scores, scores, n_jobs=2)


def batch(case):
    """Every measure of metaeval scores a run and topic alike, alone and among others."""
    import metaeval as me

    rng = case.rng
    kind = rng.choice(["classification", "quantification"])
    generator = np.random.default_rng(rng.getrandbits(32))
    n_runs, n_topics, K = rng.randint(2, 4), rng.randint(2, 5), rng.randint(2, 5)
    labels = {
        "runs": [f"r{k}" for k in range(n_runs)],
        "topics": range(n_topics),
        "classes": [str(k) for k in range(K)],
    }
    if kind == "classification":
        gold = generator.integers(0, 4, (n_topics, K))
        gold[:, 0] += 1
        counts = np.array(
            [[[generator.multinomial(n, np.full(K, 1 / K)) for n in topic] for topic in gold] for _ in range(n_runs)]
        )
        runs = me.ClassificationRuns(counts, **labels)
    else:
        shares = generator.dirichlet(np.full(K, 0.5), (n_runs + 1, n_topics))
        runs = me.QuantificationRuns(shares[1:], shares[0], **labels, rescale=True)
    whole, said = case.call(me.score, runs)
    if whole is None:
        raise Finding("a measure of metaeval refuses right runs", said[0])
    kept_runs, kept_topics = (rng.sample(list(each), rng.randint(1, len(each))) for each in (runs.runs, runs.topics))
    part, _ = case.call(me.score, runs.sel(runs=kept_runs, topics=kept_topics))
    expected = whole.sel(runs=kept_runs, topics=kept_topics)
    wrong = np.abs(part.values - expected.values).max(axis=(0, 1)) > 1e-9
    if wrong.any():
        raise Finding("a measure depends on its batch", str(whole.measures[int(np.argmax(wrong))]))
    return Outcome("equal")


def convert(case):
    """Scores written in any format and read again, bit for bit."""
    import metaeval as me

    rng = case.rng
    scores = make_scores(rng)
    values = scores.values * 2.0 ** rng.choice([0, -1070, 1000, -3])
    values = np.where(rng.random() < 0.5, values, -values) / 3
    scores = replace(scores, values=values)
    format = rng.choice(["tidy", "tidy", "wide", "sakai", "trec_eval", "store"])
    target = case.folder / rng.choice(["c.csv", "c.tsv", "c.parquet"]) if format == "tidy" else case.folder / "c"
    if format == "store":
        store = me.ScoreStore(target)
        case.call(store.add, scores)
        found, said = case.call(store.load, "c")
    else:
        case.call(me.io.write_scores, scores, target, format=format)
        found, said = case.call(me.io.read_scores, target, format=format, collection="c")
    if found is None:
        raise Finding(f"{format}: what was written is refused", said[0])
    again = found.sel(runs=scores.runs, topics=scores.topics, measures=[str(one) for one in scores.measures])
    if again.values.tobytes() != scores.values.tobytes():
        raise Finding(f"{format}: other bits than were written")
    if format in ("tidy", "store") and [m.higher_is_better for m in again.measures] != [
        m.higher_is_better for m in scores.measures
    ]:
        raise Finding(f"{format}: a direction is lost")
    return Outcome("equal")
