"""Clusters, repeats and variance on the command line."""

import json

import numpy as np
import pytest


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [
        f"d{doc},d{doc}s{segment},r{run:02},{seed},{run / 6 + shift + rng.normal():.4f},{rng.normal():.4f}"
        for doc in range(26) for segment in range(1 + doc % 3) for run, shift in enumerate(rng.normal(size=12))
        for seed in (1, 2)
    ]  # fmt: skip
    (tmp_path / "s.csv").write_text("doc,segment,system,seed,X,Y\n" + "\n".join(rows))
    return "s.csv"


@pytest.mark.parametrize(
    "words",
    ["power -B 50 --bootstrap 20", "ranks -B 50", "overlap -B 50", "contradictions -B 50", "similarity --bootstrap 20",
     "consistency --trials 20 -B 20", "agreement -r Y -B 20 --bootstrap 20"],
)  # fmt: skip
def test_results_say_what_clusters_and_repeats_are_worth(run, table, words):
    command, *options = words.split()
    status, out, err = run(command, table, *options, "--clusters", "doc", "--repeats", "seed", "--explain")
    assert status == 0, err
    assert "clusters 26 of 51 topics" in " ".join(out.split())
    assert "repeats 2" in " ".join(out.split())
    assert "51 topics come in 26 clusters" in " ".join(err.split())
    assert "scores are means of 2 repeats" in " ".join(err.split())


REFUSED = {
    "robustness s.csv --clusters doc --doubled mean": "takes topics one by one and would ignore their clusters",
    "power s.csv --clusters nowhere": "there is no column 'nowhere' to be the cluster",
    "power s.csv --clusters seed --doubled mean": "in two clusters, '1' and '2'",
    "power s.csv": "'seed' tells them apart: if it holds repeats, say so: --repeats seed",
    "compare -m X --gold g --runs r -l labels --clusters doc": "--clusters and --repeats name columns of score files",
    "variance s.csv": "('seed' tells them apart: repeats, judges or parts of topics? --repeats seed or --judges seed or "
    "--columns topic=segment+seed)",
    "variance ./s.csv": "s.csv:3: run r00, topic d0s0, measure X: there is a second score",
    "variance s.csv --columns topic=segment --columns topic=doc": "topic stands twice",
    "variance s.csv --columns repeat=doc --repeats seed": "--columns repeat=doc and --repeats seed name two columns",
}
PRICES = {
    "--budget 5 --price topic=10": "--budget 5 does not pay for one topic, which takes 10",
    "--budget 5 --price judge=1": "--price judge: the scores tell nothing of judge",
    "--budget 9 --price topic=1 --price topic=2": "--price: topic stands twice, with 1.0 and 2.0",
}
REFUSED |= {f"variance s.csv --repeats seed {words}": message for words, message in PRICES.items()}


@pytest.mark.parametrize(("words", "message"), REFUSED.items())
def test_what_cannot_be_is_refused_in_one_sentence(run, table, words, message):
    status, out, err = run(*words.split())
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_compare_draws_clusters_and_skips_what_takes_topics_one_by_one(run, table):
    words = ["--clusters", "doc", "--doubled", "mean", "-B", "50", "--trials", "20", "-o", "report"]
    status, out, err = run("compare", table, "-m", "X", *words)
    assert status == 0, err
    assert "51 topics come in 26 clusters" in " ".join(out.split())
    with open("report/report.json", encoding="utf-8") as stream:
        text = json.dumps(json.load(stream))
    assert "takes topics one by one, and these come in clusters" in text


def test_variance_says_what_to_buy_and_writes_its_tables(run, table, tmp_path):
    words = ["--repeats", "seed", "--budget", "200", "--price", "topic=4", "--price", "repeat=1", "-m", "X"]
    status, out, err = run("variance", table, *words, "--out", "out")
    assert status == 0, err
    assert out.startswith("For 200, buy ")
    assert {"variance.csv", "variance-designs.csv", "variance.svg"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


def test_a_first_column_of_clusters_is_not_taken_for_topics(run, table, tmp_path):
    (tmp_path / "w_ap.csv").write_text("doc,topic,a,b\nx,1,.1,.2\nx,2,.3,.5\ny,3,.1,.4\nz,4,.2,.2\n")
    status, out, err = run("power", "w_ap.csv", "--clusters", "doc", "-B", "20", "--explain")
    assert status == 0, err
    assert "clusters 3 of 4 topics" in " ".join(out.split())


def test_columns_may_be_given_one_by_one_and_a_price_twice_if_it_is_the_same(run, table):
    words = ["--columns", "topic=segment", "--columns", "run=system", "--repeats", "seed", "-m", "X"]
    status, out, err = run("variance", table, *words, "--budget", "50", "--price", "topic=1", "--price", "topic=1")
    assert status == 0, err
    assert out.startswith("For 50, buy 50 topics")


def test_directions_may_be_stated_though_variance_has_none(run, table):
    plain, stated = (run("variance", table, "--repeats", "seed", *more) for more in ((), ("--all-higher-is-better",)))
    assert plain[:2] == stated[:2]
    status, _, err = run("variance", table, "--repeats", "seed", "--lower-is-better", "Z")
    assert status == 2
    assert "there is no measure 'Z'" in err


def test_topics_of_two_tasks_with_one_name_are_shown_with_file_line_and_remedy(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{run},{item},{task},{len(run + task) + item**2 % 7}" for run in "ab" for task in "xy" for item in (1, 2, 3)
    ]
    (tmp_path / "t.csv").write_text("model,question,kind,score\n" + "\n".join(rows))
    status, out, err = run("variance", "t.csv", "--tasks", "kind")
    assert (status, out) == (2, "")
    assert "t.csv:5: run a, topic 1: it lies in two tasks, 'x' and 'y'" in err
    remedy = "--columns topic=kind+question"
    assert remedy in err
    assert run("variance", "t.csv", "--tasks", "kind", *remedy.split())[0] == 0
