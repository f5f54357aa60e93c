"""Item 1: which way is better, wherever it is stated."""

from __future__ import annotations

import csv
import json

from tests.hostile.forks import run_command

HIGHER = ["BLEU", "chrF", "COMET", "BLEURT", "AP", "nDCG@10"]
LOWER = ["TER", "WER", "CER", "RMSE", "MAE", "perplexity"]


def write_two(folder, name="edits"):
    """A file of AP and of a measure that says the opposite with high scores."""
    with open(folder / "mt.csv", "w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["run", "topic", "measure", "score"])
        for r in range(5):
            for t in range(8):
                good = r / 8 + (t * 7 % 5) / 64
                table.writerow([f"r{r}", f"t{t}", "AP", good])
                table.writerow([f"r{r}", f"t{t}", name, 1 - good])


def _tau(case, *words):
    done = run_command(case.folder, *words, limit=120)
    if done.status != 0:
        return None, f"status {done.status}: {done.err.decode('utf-8', 'replace').strip()[-200:]}"
    return done, ""


def compare_states_directions(case):
    """``compare -s --lower-is-better NAME`` turns the measure round."""
    write_two(case.folder)
    done, why = _tau(
        case,
        "compare",
        "-m",
        "edits",
        "-s",
        "mt.csv",
        "--lower-is-better",
        "edits",
        "-o",
        "rep",
        "--trials",
        "10",
        "-B",
        "20",
    )
    if done is None:
        return f"compare does not take --lower-is-better NAME: {why}"
    found = json.loads((case.folder / "rep" / "report.json").read_text(encoding="utf-8"))["results"]
    rows = next(one["rows"] for name, one in found.items() if name.endswith("similarity"))
    tau = next(row["tau"] for row in rows if {row["measure_1"], row["measure_2"]} == {"edits", "AP"})
    return None if tau == 1 else f"τ of a measure turned round is {tau}, not 1"


def compare_refuses_flags_without_effect(case):
    """A direction for a measure that is not there is refused."""
    write_two(case.folder)
    done, _ = _tau(
        case,
        "compare",
        "-m",
        "edits",
        "-s",
        "mt.csv",
        "--lower-is-better",
        "nothing",
        "-o",
        "rep",
        "--trials",
        "10",
        "-B",
        "20",
    )
    bare, _ = _tau(
        case,
        "compare",
        "-m",
        "edits",
        "-s",
        "mt.csv",
        "--lower-is-better",
        "edits",
        "-o",
        "rep2",
        "--trials",
        "10",
        "-B",
        "20",
    )
    return (
        None if done is None and bare is not None else "--lower-is-better of an unknown measure is taken, or no name is"
    )


def every_command_takes_directions(case):
    """Analyses, score and convert take ``--lower-is-better NAME``."""
    write_two(case.folder)
    (case.folder / "gold.csv").write_text("topic,item,label\nt,1,a\nt,2,b\nu,1,a\nu,2,b\n")
    (case.folder / "run.csv").write_text("topic,item,label\nt,1,a\nt,2,a\nu,1,b\nu,2,b\n")
    commands = {
        "similarity": ["similarity", "mt.csv", "--bootstrap", "0", "--lower-is-better", "edits"],
        "convert": ["convert", "mt.csv", "out.csv", "--lower-is-better", "edits"],
    }
    for name, words in commands.items():
        done, why = _tau(case, *words)
        if done is None:
            return f"{name} does not take --lower-is-better: {why}"
    with open(case.folder / "out.csv", newline="", encoding="utf-8") as stream:
        stated = {row["measure"]: row.get("higher_is_better") for row in csv.DictReader(stream)}
    if (stated["edits"] or "").lower() != "false":
        return "convert loses the direction that was stated"
    if "--lower-is-better" not in run_command(case.folder, "score", "--help", limit=60).out.decode():
        return "score does not take --lower-is-better"
    return None


def assumed_directions_are_said(case):
    """A direction that nobody stated is called assumed in JSON, and a stated one changes the signature."""
    write_two(case.folder)
    plain, why = _tau(case, "similarity", "mt.csv", "--bootstrap", "0", "-f", "json")
    turned, _ = _tau(case, "similarity", "mt.csv", "--bootstrap", "0", "-f", "json", "--lower-is-better", "edits")
    if plain is None or turned is None:
        return why
    if "assumed" not in plain.out.decode():
        return "JSON does not say that a direction is assumed"
    signatures = [json.loads(one.out)["signature"].split("@")[1].partition(" ")[2] for one in (plain, turned)]
    return None if signatures[0] != signatures[1] else "the signature is the same whatever the direction"


def directions_are_known_by_name(case):
    """The usual measures of translation and regression have their direction."""
    import metaeval as me

    for name in (*HIGHER, *LOWER, "MQM"):
        scores = me.Scores([[[0.5]]], runs=["a"], topics=["t"], measures=[name])
        higher = scores.measures[0].higher_is_better
        if higher is None or (name != "MQM" and higher is not (name in HIGHER)):
            return f"higher {name} is better: {higher}"
    return None


def a_statement_wins(case):
    """What a user states of a name that is known stands."""
    write_two(case.folder, "BLEU")
    done, why = _tau(case, "similarity", "mt.csv", "--bootstrap", "0", "-f", "json", "--lower-is-better", "BLEU")
    if done is None:
        return why
    row = next(row for row in json.loads(done.out)["rows"] if row["measure"] == "AP")
    return None if row["BLEU"] == 1 else f"τ is {row['BLEU']}, not 1"


CHECKS = {
    "1 compare ignores --lower-is-better with -s": compare_states_directions,
    "1 compare takes a flag that does nothing": compare_refuses_flags_without_effect,
    "1 commands without --lower-is-better": every_command_takes_directions,
    "1 assumed directions are not said": assumed_directions_are_said,
    "1 directions not known by name": directions_are_known_by_name,
    "1 a statement does not win": a_statement_wins,
}
