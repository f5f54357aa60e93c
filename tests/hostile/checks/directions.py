"""Item 1: which way is better, wherever it is stated."""

from __future__ import annotations

import csv
import json

from tests.hostile.forks import run_command

HIGHER = ["BLEU", "chrF", "COMET", "BLEURT", "AP", "nDCG@10"]
LOWER = ["TER", "WER", "CER", "RMSE", "MAE", "perplexity"]

COMPARE = ("compare", "-m", "edits", "-s", "mt.csv", "--trials", "10", "-B", "20")
SIMILARITY = ("similarity", "mt.csv", "--bootstrap", "0")


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


def _run(case, *words):
    """Return what a command did, or None and why it did not work."""
    done = run_command(case.folder, *words, limit=120)
    if done.status != 0:
        return None, f"status {done.status}: {done.err.decode('utf-8', 'replace').strip()[-200:]}"
    return done, ""


def compare_states_directions(case):
    """``compare -s --lower-is-better NAME`` turns the measure round."""
    write_two(case.folder)
    done, why = _run(case, *COMPARE, "--lower-is-better", "edits", "-o", "rep")
    if done is None:
        return f"compare does not take --lower-is-better NAME: {why}"
    found = json.loads((case.folder / "rep" / "report.json").read_text(encoding="utf-8"))["results"]
    rows = next(one["rows"] for name, one in found.items() if name.endswith("similarity"))
    tau = next(row["tau"] for row in rows if {row["measure_1"], row["measure_2"]} == {"edits", "AP"})
    return None if tau == 1 else f"τ of a measure turned round is {tau}, not 1"


def flags_without_effect_are_refused(case):
    """A direction of a measure that is not there, or that has it already, is refused; and so is one without a name."""
    write_two(case.folder)
    for command in ((*COMPARE, "-o", "rep"), SIMILARITY, ("convert", "mt.csv", "out.csv")):
        for words in (
            ["--lower-is-better", "nothing"],
            ["--higher-is-better", "AP"],
            ["--lower-is-better", "edits", "--higher-is-better", "AP"],
            ["--lower-is-better", "edits", "--higher-is-better", "edits"],
            ["--lower-is-better"],
        ):
            if _run(case, *command, *words)[0] is not None:
                return f"{command[0]} takes {' '.join(words)}"
    return None


def every_command_takes_directions(case):
    """Analyses, score and convert take ``--lower-is-better NAME``."""
    write_two(case.folder)
    for command in (SIMILARITY, ("convert", "mt.csv", "out.csv")):
        done, why = _run(case, *command, "--lower-is-better", "edits")
        if done is None:
            return f"{command[0]} does not take --lower-is-better: {why}"
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
    plain, why = _run(case, *SIMILARITY, "-f", "json")
    turned, _ = _run(case, *SIMILARITY, "-f", "json", "--lower-is-better", "edits")
    every, _ = _run(case, *SIMILARITY, "-f", "json", "--all-higher-is-better")
    if plain is None or turned is None or every is None:
        return why or "a statement is refused"
    if [("assumed" in one.out.decode()) for one in (plain, turned, every)] != [True, False, False]:
        return "JSON does not say which direction is assumed"
    signatures = [json.loads(one.out)["signature"].split("@")[1].partition(" ")[2] for one in (plain, turned, every)]
    return None if len({*signatures}) == 3 else "the signature is the same whatever the direction"


def directions_are_known_by_name(case):
    """The usual measures of translation and regression have their direction; MQM has one where its scores tell it."""
    import metaeval as me

    known = dict.fromkeys(HIGHER, (0.5, True)) | dict.fromkeys(LOWER, (0.5, False))
    # Error points, which may be published as they are, are ambiguous; negated ones are not.
    for name, (score, expected) in {**known, "MQM": (-0.5, True), "mqm": (0.5, None), "err": (0.5, None)}.items():
        scores = me.Scores([[[score]]], runs=["a"], topics=["t"], measures=[name])
        if scores.measures[0].higher_is_better is not expected:
            return f"higher {name} is better: {scores.measures[0].higher_is_better}"
    return None


def a_statement_wins(case):
    """What a user states of a name that is known stands."""
    for name in ("BLEU", "NMD"):
        write_two(case.folder, name)
        stated = "--lower-is-better" if name == "BLEU" else "--higher-is-better"
        done, why = _run(case, *SIMILARITY, "-f", "json", stated, name)
        if done is None:
            return why
        row = next(row for row in json.loads(done.out)["rows"] if row["measure"] == "AP")
        if row[name] != (1 if name == "BLEU" else -1):
            return f"τ is {row[name]}, whatever is stated of {name}"
    return None


CHECKS = {
    "1 compare ignores --lower-is-better with -s": compare_states_directions,
    "1 compare takes a flag that does nothing": flags_without_effect_are_refused,
    "1 commands without --lower-is-better": every_command_takes_directions,
    "1 assumed directions are not said": assumed_directions_are_said,
    "1 directions not known by name": directions_are_known_by_name,
    "1 a statement does not win": a_statement_wins,
}
