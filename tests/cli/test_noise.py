"""Clusters, repeats and variance on the command line."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def table(here):
    """s.csv: two measures of twelve runs, each twice, on 51 segments of 26 documents."""
    rng = np.random.default_rng(0)
    rows = [
        f"d{doc},d{doc}s{segment},r{run:02},{seed},{run / 6 + shift + rng.normal():.4f},{rng.normal():.4f}"
        for doc in range(26) for segment in range(1 + doc % 3) for run, shift in enumerate(rng.normal(size=12))
        for seed in (1, 2)
    ]  # fmt: skip
    (here / "s.csv").write_text("doc,segment,system,seed,X,Y\n" + "\n".join(rows))
    rows = [f"{run},{i},{task},{len(run + task) + i**2 % 7}" for run in "ab" for task in "xy" for i in (1, 2, 3)]
    (here / "tasks.csv").write_text("model,question,kind,score\n" + "\n".join(rows))
    (here / "w_ap.csv").write_text("doc,topic,a,b\nx,1,.1,.2\nx,2,.3,.5\ny,3,.1,.4\nz,4,.2,.2\n")


@pytest.mark.parametrize(
    "command",
    ["power s.csv -B 50 --bootstrap 20", "ranks s.csv -B 50", "overlap s.csv -B 50", "contradictions s.csv -B 50",
     "similarity s.csv --bootstrap 20", "consistency s.csv --trials 20 -B 20", "agreement s.csv -r Y -B 20 --bootstrap 20"],
)  # fmt: skip
def test_results_say_what_clusters_and_repeats_are_worth(ok, command):
    out, err = (" ".join(text.split()) for text in ok(f"{command} --clusters doc --repeats seed --explain"))
    assert "clusters 26 of 51 topics" in out
    assert "repeats 2" in out
    assert "51 topics come in 26 clusters" in err
    assert "scores are means of 2 repeats" in err


VARIANCE = "variance s.csv --repeats seed"
REFUSED = {
    "robustness s.csv --clusters doc --doubled mean": "takes topics one by one and would ignore their clusters",
    "power w_ap.csv --clusters doc": "give a row per score, as melt of pandas makes them",
    "power s.csv": "'seed' tells them apart: if it holds repeats, say so: --repeats seed",
    "compare -m X --gold g --runs r -l labels --clusters doc": "--clusters and --repeats name columns of score files",
    "variance s.csv": "('seed' tells them apart: repeats, judges or parts of topics? --repeats seed or --judges seed or "
    "--columns topic=segment+seed)",
    "variance ./s.csv": "s.csv:3: run r00, topic d0s0, measure X: there is a second score",
    "variance s.csv --columns topic=segment --columns topic=doc": "topic stands twice",
    "variance s.csv --columns repeat=doc --repeats seed": "--columns repeat=doc and --repeats seed name two columns",
    f"{VARIANCE} --lower-is-better Z": "there is no measure 'Z'",
    "variance tasks.csv --tasks kind": "tasks.csv:5: run a, topic 1: it lies in two tasks, 'x' and 'y'",
    "variance ./tasks.csv --tasks kind": "--columns topic=kind+question",
}


@pytest.mark.parametrize(("line", "message"), REFUSED.items())
def test_what_cannot_be_is_refused_in_one_sentence(refused, line, message):
    assert message in refused(line)


def test_compare_draws_clusters_and_skips_what_takes_topics_one_by_one(ok):
    out, _ = ok("compare s.csv -m X --clusters doc --doubled mean -B 50 --trials 20 -o report")
    assert "51 topics come in 26 clusters" in " ".join(out.split())
    assert "takes topics one by one, and these come in clusters" in Path("report/report.json").read_text("utf-8")


def test_variance_says_what_would_help_and_takes_columns_and_directions_as_they_come(ok):
    assert ok(f"{VARIANCE} -m X --out out")[0].startswith("More ")
    assert {"variance.csv", "variance-reliability.csv", "variance.svg"} <= {path.name for path in Path("out").iterdir()}
    assert "Eρ²" in ok(f"{VARIANCE} --columns topic=segment --columns run=system -m X")[0]
    assert ok(VARIANCE)[0] == ok(f"{VARIANCE} --all-higher-is-better")[0]
    ok("variance tasks.csv --tasks kind --columns topic=kind+question")
