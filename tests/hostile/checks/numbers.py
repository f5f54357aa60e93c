"""Items 4, 5 and 6: ties, scale, order of rows, names of collections, and what is compared."""

from __future__ import annotations

import csv
import random
import warnings
from functools import partial

import numpy as np

from tests.hostile import metamorphic
from tests.hostile.campaign import Finding
from tests.hostile.forks import run_command

SCALED = [
    ("power", "tukey-hsd"),
    ("power", "paired-t"),
    ("power", "paired-bootstrap"),
    ("power", "randomised-tukey-hsd"),
    ("power", "paired-randomisation"),
    ("similarity", ""),
    ("consistency", ""),
    ("robustness", ""),
    ("coverage", ""),
    ("sample_size", ""),
    ("contradictions", "tukey-hsd"),
]


def tau_ties_pair_by_pair(case):
    """One large value ties no others."""
    from metaeval.stats.rank_correlation import tau

    found = float(tau([1, 2, 3, 4, 1e13], [1, 2, 3, 4, 5]))
    if found != 1:
        return f"τ is {found}, not 1"
    return None if float(tau([0.1 + 0.2, 0.3, 0.4], [1, 1, 2])) == 2 / 3 else "0.1 + 0.2 is no longer tied with 0.3"


class _Fixed(random.Random):
    """Chooses the test that is wanted."""

    wanted = ""

    def choice(self, seq):
        return self.wanted if self.wanted in seq else super().choice(seq)


def scale_changes_nothing(question, test, case):
    """Scores times 2**520 and 2**-540."""
    from dataclasses import replace

    rng = _Fixed(1)
    rng.wanted = test
    scores = metamorphic.make_scores(random.Random(5), 3, discrete=False)
    call, _ = metamorphic.ask(rng, question)
    for power in (520, -540):
        try:
            other = replace(scores, values=np.ldexp(scores.values, power))
            metamorphic._check_same(case, question, call, f"times 2**{power}", scores, other)
        except Finding as finding:
            return f"{finding.what}: {finding.detail}"
    return None


def order_of_rows(case):
    """p-values are those of the labels, not of the order of rows."""
    import metaeval as me

    values = np.random.default_rng(1).random((5, 9, 2)) + np.linspace(0, 0.4, 5)[:, None, None]
    scores = me.Scores(values, runs=list("abcde"), topics=range(9), measures=["AP", "RR"], collection="c")
    turned = scores.sel(runs=list("ebdac"), topics=[str(t) for t in (3, 1, 8, 0, 7, 2, 6, 4, 5)])
    for test in metamorphic.TESTS:
        found = [
            metamorphic.numbers("power", me.discriminative_power(one, n_permutations=200, test=test))
            for one in (scores, turned)
        ]
        largest = max(abs(found[0][key] - found[1][key]) for key in found[0])
        if largest > 1e-9:
            return f"{test}: p-values move by up to {largest:.3f}"
    return None


def collection_travels(case):
    """A CSV file that metaeval wrote keeps the collection's name, and so gives the same p-values."""
    import metaeval as me

    rng = random.Random(0)
    gold = [(f"t{t}", str(i), rng.choice("abc")) for t in range(6) for i in range(5)]
    for name in ("gold", "run1", "run2", "run3"):
        with open(case.folder / f"{name}.csv", "w", newline="", encoding="utf-8") as stream:
            table = csv.writer(stream)
            table.writerow(["topic", "item", "label"])
            table.writerows(
                (t, i, said if name == "gold" or rng.random() < 0.6 else rng.choice("abc")) for t, i, said in gold
            )
    words = [
        "score",
        "gold.csv",
        "run1.csv",
        "run2.csv",
        "run3.csv",
        "-l",
        "labels",
        "--classes",
        "a,b,c",
        "--collection",
        "mine",
        "-m",
        "Accuracy",
    ]
    run_command(case.folder, *words, "-o", "scores.csv", limit=90).check(may_fail=False)
    runs = me.io.read_runs(
        case.folder / "gold.csv",
        [case.folder / f"run{k}.csv" for k in (1, 2, 3)],
        format="labels",
        classes="abc" and list("abc"),
        collection="mine",
    )
    direct = me.discriminative_power(me.score(runs, ["Accuracy"]), n_permutations=300)
    through = me.discriminative_power(me.io.read_scores(case.folder / "scores.csv"), n_permutations=300)
    if through.collection != "mine":
        return f"the collection mine is called {through.collection} when it is read again"
    return None if np.array_equal(direct.p_values, through.p_values) else "p-values through a file are others"


def _two(runs_b, collection_b="B"):
    import metaeval as me

    values = np.random.default_rng(1).random((5, 9, 2)) + np.linspace(0, 0.4, 5)[:, None, None]
    make = lambda runs, name: me.Scores(values, runs=runs, topics=range(9), measures=["AP", "RR"], collection=name)  # noqa: E731
    return make(list("abcde"), "A"), make(runs_b, collection_b)


def robustness_says_what_it_compares(case):
    """Runs that only one collection has are named, or refused."""
    import metaeval as me

    found, said = case.call(me.robustness, list(_two(list("abcxy"))))
    if found is None or any("run" in sentence for sentence in said):
        return None
    text = found.to_text()
    return None if "3 runs" in text or "3 shared" in text else "two of five runs are left out without a word"


def same_data_is_not_pooled(case):
    """The same scores under two names do not count twice."""
    import metaeval as me

    same = _two(list("abcde"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        powers = [me.discriminative_power(one, n_permutations=50) for one in same]
    found, said = case.call(me.pooled_discriminative_power, powers, n_bootstrap=5)
    if found is not None and not said:
        return "the same data under two names are pooled"
    found, said = case.call(me.robustness, list(same))
    return "robustness compares the same data under two names" if found is not None and not said else None


CHECKS = {
    "4 tau ties by the largest value": tau_ties_pair_by_pair,
    **{
        f"4 scale changes {question} {test}".rstrip(): partial(scale_changes_nothing, question, test)
        for question, test in SCALED
    },
    "5 order of rows moves p-values": order_of_rows,
    "5 a file loses its collection": collection_travels,
    "6 robustness leaves runs out in silence": robustness_says_what_it_compares,
    "6 the same data count twice": same_data_is_not_pooled,
}
