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

# What autojudge-evaluate 1.1.0 gives (its command qrel-evaluate, unrounded) for these files: Kappa_w and Kripp_a by topic.
EXPECTED = {
    "large": {
        "kappa": [0.8651685393258427, 0.8153846153846154, 0.6923076923076923],
        "alpha_ORD": [0.9339695841092489, 0.9720156106519743, 0.816802753762408],
    },
    "small": {
        "kappa": [0.045454545454545525, 0.9154929577464789, 0.0],
        "alpha_ORD": [0.18711583924349884, 0.9957548911037283, 0.14244913928012526],
    },
}


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qrels")
    for name, topics in GRADES.items():
        lines = [f"q{t} 0 d{d:02} {grade}" for t, grades in enumerate(topics, 1) for d, grade in enumerate(grades)]
        (folder / f"{name}.qrels").write_text("\n".join(lines))
    judges = [folder / f"{name}.qrels" for name in ("large", "small")]
    return me.score(
        me.io.read_runs(folder / "truth.qrels", judges, format="judgements", classes=range(4)), ["kappa", "alpha_ORD"]
    )


@pytest.mark.parametrize("judge", EXPECTED)
def test_kappa_and_alpha_are_those_of_autojudge_evaluate(scores, judge):
    for measure, expected in EXPECTED[judge].items():
        found = scores.sel(runs=judge, measures=measure).values.ravel()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
