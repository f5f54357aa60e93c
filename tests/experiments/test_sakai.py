"""Both papers of Sakai: transcriptions satisfy identities, a user's matrices get pages of their own, claims read tables."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest

from experiments import sakai
from experiments.acl2021 import claims as acl_claims, steps as acl2021
from experiments.check import check_results
from experiments.lq2021 import claims as lq_claims, steps as lq2021
from experiments.paper import Results

ACL, LQ = acl2021.PRINTED, lq2021.PRINTED
SLIPS = {("DQ-A", "full", "RSNOD"), ("DQ-A", "ten", "NMD"), ("DQ-E", "ten", "RSNOD")}
SLIPS |= {("DQ-S", split, "RSNOD") for split in ("full", "ten")}
LQ_SLIPS = {("DialEval-1 DQ-S", "NVD", "RNSS"), ("DialEval-1 DQ-S", "NVD", "JSD")}
TAUS = [(table, name) for table, names in acl2021.SIMILARITY.items() for name in names]
FEW = {"n_permutations": 500, "n_trials": 100, "n_bootstrap": 200}


@pytest.fixture
def write_matrices(tmp_path):
    """Write made matrices of a collection in the layout that the documentation shows."""

    def write(collection, n_runs, n_topics, baselines=("A_BL-popularity", "A_BL-uniform")):
        known, rng = acl2021.COLLECTIONS[collection], np.random.default_rng(1)
        folder = tmp_path / "acl2021" / known["folder"]
        folder.mkdir(parents=True)
        folder.joinpath("runs").write_text("\n".join([*(f"run{k}" for k in range(n_runs - 2)), *baselines, ""]))
        for measure in acl2021.ORDERS[known["kind"]]:
            values = rng.normal(np.linspace(0.3, 0.7, n_runs), 0.15, size=(n_topics, n_runs))
            np.savetxt(folder / measure, values.clip(0, 1), fmt="%.4f")
        return folder

    return write


@pytest.mark.parametrize(("table", "name"), TAUS)
def test_every_printed_tau_is_a_whole_number_of_pairs_of_runs(table, name):
    n = int(ACL["table1"][name][2])
    pairs, whole = n * (n - 1) // 2, {}
    order = acl2021.ORDERS[acl2021.COLLECTIONS[name]["kind"]]
    for pair, text in sakai.pair_up(ACL[table][name], order).items():
        whole[pair] = round(float(text) * pairs)
        assert abs(whole[pair] / pairs - float(text)) <= 0.0005 + 1e-9
        assert (pairs - whole[pair]) % 2 == 0
    distance = {frozenset(pair): (pairs - k) / 2 for pair, k in whole.items()}
    for three in itertools.combinations(order, 3):
        sides = sorted(distance[frozenset(pair)] for pair in itertools.combinations(three, 2))
        assert sides[2] <= sides[0] + sides[1]


def test_mean_taus_fall_and_marks_count_no_more_measures_than_stand_below_but_for_the_slips():
    wrong = set()
    for table, names in acl2021.CONSISTENCY.items():
        for name, split in itertools.product(names, ("full", "ten")):
            rows = [(m, float(row[0]), int(row[1])) for m, row in ACL[table][name][split].items() if m != "V_E2"]
            for (_, upper, mark), (_, lower, less) in itertools.pairwise(rows):
                assert upper >= lower
                assert mark >= less
            below = range(len(rows) - 1, -1, -1)
            wrong |= {(name, split, m) for (m, _, mark), most in zip(rows, below, strict=True) if mark > most}
    assert wrong == SLIPS


def test_effect_sizes_overlaps_and_pooled_numbers_of_print_follow_from_the_numbers_beside_them():
    for table, name, split, better, worse, text in ACL["effect_sizes"]["examples"]:
        part = ACL[table][name][split]
        effect = (float(part[better][0]) - float(part[worse][0])) / float(part["V_E2"]) ** 0.5
        assert abs(effect - float(text)) <= 0.005 + 1e-9
    rows = [row for name, row in LQ["table3"].items() if name != "POOLED"]
    assert [sum(int(row["S_D"][m]) for row in rows) for m in range(6)] == list(map(int, LQ["table3"]["POOLED"]["S_D"]))
    wins = np.array([row for name, row in LQ["table7"].items() if name != "TOTAL"], dtype=int)
    np.testing.assert_array_equal(wins.sum(axis=0), np.array(LQ["table7"]["TOTAL"], dtype=int))
    for name in lq2021.STUDY["collections"]:
        significant = dict(zip(lq2021.MEASURES, map(int, LQ["table3"][name]["S_D"]), strict=True))
        pairs, n_runs = int(LQ["table3"][name]["T_D"]), int(LQ["table2"][name][2])
        assert pairs == n_runs * (n_runs - 1) // 2
        for count, percent in zip(significant.values(), LQ["table3"][name]["percent"], strict=True):
            assert abs(100 * count / pairs - float(percent)) <= 0.05 + 1e-9
        for (first, second), (share, *counts) in sakai.pair_up(LQ["table4"][name], lq2021.MEASURES).items():
            a, b, c = map(int, counts)
            assert ((a + b, b + c) == (significant[first], significant[second])) or (name, first, second) in LQ_SLIPS
            assert abs(100 * b / (a + b + c) - float(share)) <= 0.05 + 1e-9


@pytest.fixture
def compute(tmp_path, monkeypatch, call):
    """Compute papers from the written matrices, with few trials: the folders of their pages, each with what it says."""
    for study, (name, number) in itertools.product((acl2021.STUDY, lq2021.STUDY), FEW.items()):
        monkeypatch.setitem(study, name, number)

    def compute(*papers):
        found = call(*papers, "--matrices", tmp_path, "--out", tmp_path / "mine")
        assert found.exit_code == 0, found.output
        folders = [tmp_path / "mine" / paper for paper in papers]
        assert all(check_results(Results(folder.name), folder).differences == [] for folder in folders)
        return [(folder, (folder / "README.md").read_text("utf-8")) for folder in folders]

    return compute


@pytest.mark.parametrize(
    ("collection", "papers", "drawn"),
    [("Sem16T4C", ["acl2021"], "figure1"), ("Sem16T4E", ["acl2021", "lq2021"], ""), ("DQ-E", ["acl2021", "lq2021"], "figure2")],
)  # fmt: skip
def test_a_single_collection_without_baselines_has_its_page_and_the_pictures_that_it_allows(
    collection, papers, drawn, write_matrices, compute
):
    write_matrices(collection, 12, 12, baselines=("first", "second"))
    for (folder, text), expected in zip(compute(*papers), (drawn, ""), strict=False):
        assert "".join(path.stem for path in folder.glob("*.svg")) == expected
        assert all((f"({name}.svg)" in text) == (name == expected) for name in ("figure1", "figure2", "figure3"))


def test_a_users_matrices_are_compared_with_print_on_a_page_that_speaks_of_them(write_matrices, compute):
    write_matrices("Sem17T4C", 20, 40)
    write_matrices("DQ-A", 22, 60)
    for (folder, text), table in zip(compute("acl2021", "lq2021"), ("Table 6", "Table 3"), strict=True):
        cells = pd.read_csv(folder / "comparison.csv")
        own = cells[(cells["item"] == table) & cells["row"].str.contains("DQ-A") & ~cells["row"].str.startswith("STC")]
        assert own["ours"].notna().all()
        assert set(own["verdict"]) <= {"exact", "matches", "differs"}
        assert "These are not the paper's matrices: " in text
        assert "stand beside yours" in text
        assert "need runs that have to be downloaded" not in text
    ours = cells.set_index(["item", "row", "column"])["ours"]
    power = pd.read_csv(folder / "power.csv").set_index(["collection", "measure"])["S_D"]
    assert ours["Table 3", "DialEval-1 DQ-A", "NMD S_D"] == power["DialEval-1 DQ-A", "NMD"]


def test_a_page_of_given_matrices_speaks_of_no_other_collection_and_says_what_cannot_be_told(write_matrices, compute):
    public = "llmjudge|LLMJudge|semeval2017|waseda|runs of STC-3"
    printed = r"Table 6, DQ-E|DialEval-1 DQ-S|its score matrices|\.\./docs/"
    write_matrices("DQ-A", 8, 12)
    for folder, _ in compute("acl2021", "lq2021"):  # a table of a former folder goes
        listed = json.loads((folder / "tables.json").read_text("utf-8"))
        (folder / "tables.json").write_text(json.dumps(listed | {"former": listed["collections"]}), "utf-8")
        (folder / "former.csv").write_text("x\n", "utf-8")
    for folder, text in compute("acl2021", "lq2021"):
        assert not (folder / "former.csv").exists()
        assert re.findall(f"{public}|{printed}", text) == []
        assert f"python -m experiments {folder.name} --matrices FOLDER" in text
        assert "**cannot tell** (no collection has what it asks for, and 10 runs or more) |" in text
        assert " |  |" not in text.partition("## Headline claims")[2].partition("What words count as")[0]
        assert re.search(r"\n\| (?:runs below which rankings|fewest runs \|)", text)
        cells = pd.read_csv(folder / "comparison.csv")
        noisy = cells[cells["verdict"] == "matches"]
        assert text.partition("## Headline claims")[0].count(" ± ") >= len(noisy) > 0
        assert {"not in your folder"} == set(cells[cells["row"].str.contains("16T4E")]["data"])


def test_measures_that_a_folder_lacks_are_named_with_the_folder(tmp_path, write_matrices, call):
    folder = write_matrices("DQ-A", 12, 12)
    for measure in ("RNSS", "NVD"):
        (folder / measure).unlink()
    found = call("acl2021", "--matrices", tmp_path, "--out", tmp_path / "mine")
    assert found.exit_code == 2
    assert f"{folder} lacks RNSS, NVD: " in found.output


def test_claims_read_tables_as_they_say(tables):
    rows = [(one, "ordinal", 5 * (one in (*acl_claims.NOMINAL, "RSNOD")), 9)
            for one in (*acl_claims.ORDINAL, *acl_claims.NOMINAL, "NMD", "RSNOD", "RNOD")]  # fmt: skip
    made = tables(properties=pd.DataFrame(rows, columns=["measure", "property", "failed", "cases"]))
    answer = acl_claims.order_of_classes.decide(made)
    assert (answer.word, answer.figures[0]) == ("does not hold", "RSNOD: failing of 9 cases 5")
    overlap = {
        "collection": ["x", "y"], "measure_1": ["NMD", "RNOD"], "measure_2": ["RNOD", "NMD"],
        "a": [1, 4], "b": [5, 2], "c": [3, 0],
    }  # fmt: skip
    source = lq_claims.Source(tables(overlap=overlap), ["x", "y"])
    assert source.overlap("NMD", "RNOD") == pytest.approx((5 + 2) / (1 + 5 + 3 + 4 + 2 + 0))
    assert source.counts("NMD", "RNOD").loc["y"].tolist() == [0, 2, 4]
    assert source.counts("RNOD", "NMD").loc["x"].tolist() == [3, 5, 1]


def test_a_measure_is_primary_where_it_is_best_by_one_criterion_and_beaten_by_none(tables):
    measures = ["RNOD", "RSNOD", "NMD"]
    for ahead, word in (
        (["RSNOD NMD", "", "", "", "", ""], "holds"), (["", "RNOD", "", "", "", ""], "does not hold"),
        (["RSNOD", "", "", "", "RNOD", ""], "cannot tell"), (["", "", "", "", "", ""], "cannot tell"),
    ):  # fmt: skip
        made = tables(
            collections={"collection": ["DQ-A"], "relation": "given", "runs": 22, "constant runs": 0},
            facts={"collection": ["DQ-A"], "kind": "quantification", "figure": "x", "value": 0, "low": 0, "high": 0},
            consistency={"collection": "DQ-A", "split": ["full"] * 3 + ["ten"] * 3, "measure": measures * 2, "ahead of": ahead},
            power={"collection": "DQ-A", "measure": measures, "finds more than": ""},
        )  # fmt: skip
        ((name, answer),) = acl_claims.rnod_primary.decide(made)
        assert (name, answer.word) == ("DQ-A", word)
