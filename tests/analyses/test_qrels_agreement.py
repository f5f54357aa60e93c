"""Relevance grades of judges compared with those of people: the classification measures are what other programs print."""

import numpy as np
import pytest

import metaeval as me

GRADES = {
    "truth": ("001122330012", "000011230001", "332211000011"),
    "large": ("001123330112", "000012220001", "321211100010"),
    "small": ("110023010203", "000011330001", "213022110301"),
}
"""Of every judge the grades of twelve documents on three topics."""

MEASURES = ("kappa", "alpha_ORD", "binary.py:kappa_2", "binary.py:jaccard")

# What autojudge-evaluate 1.1.0 gives (its command qrel-evaluate, unrounded) for the files below, topic by topic:
# Kappa_w, Kripp_a, and with thresholds of 2 on both sides Kappa and Jaccard.
EXPECTED = {
    "large": [
        [0.8651685393258427, 0.8153846153846154, 0.6923076923076923],
        [0.9339695841092489, 0.9720156106519743, 0.816802753762408],
        [1.0, 0.75, 0.8],
        [1.0, 0.6666666666666666, 0.75],
    ],
    "small": [
        [0.045454545454545525, 0.9154929577464789, 0.0],
        [0.18711583924349884, 0.9957548911037283, 0.14244913928012526],
        [0.47058823529411764, 1.0, 0.11764705882352944],
        [0.5, 1.0, 0.2857142857142857],
    ],
}

BINARY = '''
import numpy as np
import metaeval


def cross(counts, grade=2):
    """Collapse grades: relevant is what has at least this grade."""
    rows = np.stack([counts[..., :grade, :].sum(-2), counts[..., grade:, :].sum(-2)], axis=-2)
    return np.stack([rows[..., :grade].sum(-1), rows[..., grade:].sum(-1)], axis=-1)


@metaeval.register_measure(kind="classification", higher_is_better=True, range=(-1, 1), undefined=1.0)
def kappa_2(counts):
    """Cohen's kappa of relevant or not."""
    two = cross(counts).astype(float)
    n = two.sum((-2, -1))
    observed, gold, run = (two[..., 0, 0] + two[..., 1, 1]) / n, two.sum(-1) / n[..., None], two.sum(-2) / n[..., None]
    expected = (gold * run).sum(-1)
    return (observed - expected) / (1 - expected)


@metaeval.register_measure(kind="classification", higher_is_better=True, range=(0, 1), undefined=1.0)
def jaccard(counts):
    """Documents that both call relevant, of those that either does."""
    two = cross(counts).astype(float)
    return two[..., 1, 1] / (two.sum((-2, -1)) - two[..., 0, 0])
'''


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qrels")
    for name, topics in GRADES.items():
        lines = [f"q{t} 0 d{d:02} {grade}" for t, grades in enumerate(topics, 1) for d, grade in enumerate(grades)]
        (folder / f"{name}.qrels").write_text("\n".join(lines))
    (folder / "binary.py").write_text(BINARY)
    judges = [folder / f"{name}.qrels" for name in ("large", "small")]
    runs = me.io.read_runs(folder / "truth.qrels", judges, format="judgements", classes=range(4))
    return me.score(runs, [*MEASURES[:2], *(f"{folder}/{one}" for one in MEASURES[2:])])


def test_kappa_alpha_and_jaccard_are_those_of_autojudge_evaluate(scores):
    for judge, expected in EXPECTED.items():
        found = scores.sel(runs=judge).values[0].T
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_they_are_also_their_definitions_over_documents(scores):
    for judge in ("large", "small"):
        for t in range(3):
            gold, run = (np.array(list(map(int, GRADES[name][t]))) for name in ("truth", judge))
            kappa, alpha, binary, jaccard = scores.sel(runs=judge).values[0, t]
            chance = np.abs(np.subtract.outer(gold, run)).mean()  # every document of one with every one of the other
            assert kappa == pytest.approx(1 - np.abs(gold - run).mean() / chance)
            pooled = np.concatenate([gold, run])
            sizes = np.bincount(pooled, minlength=4)

            def distance(one, two, sizes=sizes):
                low, high = sorted((one, two))
                return (sizes[low : high + 1].sum() - (sizes[low] + sizes[high]) / 2) ** 2

            of_documents = np.mean([distance(*pair) for pair in zip(gold, run, strict=True)])
            of_pairs = [distance(a, b) for i, a in enumerate(pooled) for j, b in enumerate(pooled) if i != j]
            assert alpha == pytest.approx(1 - of_documents / np.mean(of_pairs))
            one, two = gold >= 2, run >= 2
            agree, by_chance = (one == two).mean(), np.equal.outer(one, two).mean()
            assert binary == pytest.approx((agree - by_chance) / (1 - by_chance))
            assert jaccard == (one & two).sum() / (one | two).sum()
