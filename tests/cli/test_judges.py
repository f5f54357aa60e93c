"""The command judges: two files, or a data set with the labels of several people."""

import json

import numpy as np
import pytest


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 4, 40)
    noisy = {name: np.clip(truth + rng.integers(-1, 2, 40), 1, 3) for name in ("ann", "bo", "cy")}
    tables = {"people.csv": noisy, "judges.csv": {"good": truth, "bad": 4 - truth}}
    for file, columns in tables.items():
        rows = zip(range(40), *columns.values(), strict=True)
        lines = [",".join(["item", *columns]), *(",".join(map(str, row)) for row in rows)]
        (tmp_path / file).write_text("\n".join(lines) + "\n")
    return tmp_path


def test_judges_are_shown_best_first_and_written_with_all_details(run, files):
    words = ("judges", files / "people.csv", files / "judges.csv", "--classes", "1,2,3", "--bootstrap", 50)
    status, out, _ = run(*words, "--format", "json", "--out", files / "results")
    printed = json.loads(out)
    assert status == 0
    assert [row["judge"] for row in printed["rows"]] == ["good", "bad"]
    assert set(printed["details"]) == {"annotators", "differences"}
    assert (files / "results" / "judges-annotators.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("people.csv", "people.csv is a file: name the file of the judges after it, and --classes"),
        ("people.csv judges.csv", "two files need --classes"),
        ("people.csv judges.csv --classes 1,2", "is not one of the classes 1, 2"),
        ("people.csv judges.csv --classes 1,2,3 --epsilon 2", "--epsilon is 2.0; it lies from 0 to below 1"),
        ("people.csv judges.csv --classes 1,2,3 --missing worst", "--missing worst: of the answers of judges"),
        (
            "people.csv judges.csv --classes 1,2,3 --agreement kappa",
            "there is no agreement 'kappa': use accuracy, squared",
        ),
        ("alttest-lesion --classes 1,2,3", "are for files; a data set has its own"),
        ("nobody", "there is no data set 'nobody'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(run, files, monkeypatch, words, message):
    monkeypatch.chdir(files)
    status, out, err = run("judges", *words.split())
    assert (status, out) == (2, "")
    assert message in err
