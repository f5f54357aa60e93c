"""Mutated files of tasks on metrics, of tracks with judges, and of annotators, against an independent reading."""

from __future__ import annotations

import json

from tests.hostile import made
from tests.hostile.campaign import Finding, Outcome
from tests.hostile.files import POLICIES, compare_scores, mutate_some
from tests.hostile.mutate import mutate_json
from tests.hostile.truth import judging as truth

CLASSES = ("1", "2", "3")
RUNS, TOPICS = ["a", "b", "BM25", "007", "7", "Δ-run", "NA", "1e3"], ["1", "2", "q7", "Δ", "301", "007"]


def read_wmt(case):
    """A folder of ``*.seg.score`` files."""
    import metaeval as me

    rng, policy = case.rng, case.rng.choice(POLICIES)
    runs, n_topics = made.pick_labels(rng, 1, 4, made.NAMES), rng.randint(1, 4)
    gaps = 0.1 if rng.random() < 0.3 else 0
    files = {}
    for measure in rng.sample(["AP", "NMD", "mine"], rng.randint(1, 2)):
        rows = [f"{run}\t{_score(rng, gaps)}\n" for run in runs for _ in range(n_topics)]
        files[measure] = "".join(rows).encode()
    victim = rng.choice(list(files))
    files[victim], mutation = mutate_some(rng, files[victim])
    ends = {measure: rng.choice(["", "-src", "-refA"]) for measure in files}
    start = rng.choice(["", "en-de."])
    for measure, content in files.items():
        (case.folder / f"{start}{measure}{ends[measure]}.seg.score").write_bytes(content)
    found, said = case.call(me.io.read_scores, case.folder, missing=policy)
    return compare_scores(found, said, truth.wmt(files, policy), policy, mutation or ("gaps" if gaps else ""))


def _score(rng, gaps):
    return "None" if rng.random() < gaps else repr(made.score(rng))


def read_leaderboard(case):
    """A leaderboard in one of the formats of TREC's tracks, in one file or several."""
    import metaeval as me

    rng, policy = case.rng, case.rng.choice(POLICIES)
    layout = rng.choice(["tot", "ir_measures", "ranking", "jsonl"])
    runs, topics = made.pick_labels(rng, 1, 3, RUNS), made.pick_labels(rng, 1, 4, TOPICS)
    measures = rng.sample(["AP", "NMD", "mine"], rng.randint(1, 2))
    rows = [(run, topic, measure, repr(made.score(rng))) for run in runs for topic in topics for measure in measures]
    rows += [(run, "all", measure, "0.5") for run in runs for measure in measures if rng.random() < 0.3]
    rng.shuffle(rows)
    parts = [rows] if rng.random() < 0.6 or len(rows) < 2 else [rows[::2], rows[1::2]]
    files = {f"board{number}": _lay_out(rng, part, layout).encode() for number, part in enumerate(parts)}
    victim = rng.choice(list(files))
    files[victim], mutation = mutate_some(rng, files[victim])
    for name, content in files.items():
        (case.folder / name).write_bytes(content)
    source = case.folder if len(files) > 1 else case.folder / victim
    found, said = case.call(me.io.read_scores, source, format=layout, missing=policy)
    only_sums = any(all(row[1] == "all" for row in part) for part in parts)
    return compare_scores(found, said, truth.leaderboard(files, layout), policy, mutation or "sums" * only_sums)


def _lay_out(rng, rows, layout):
    if layout == "jsonl":
        keys = ("run_id", "topic_id", "measure", "value")
        values = [
            dict(zip(keys, (*row[:3], float(row[3]) if rng.random() < 0.9 else row[3]), strict=True)) for row in rows
        ]
        return "".join(json.dumps(one, ensure_ascii=rng.random() < 0.5) + "\n" for one in values)
    order = {"tot": (0, 2, 1, 3), "ir_measures": (0, 1, 2, 3)}.get(layout)
    lines = [[row[place] for place in order] if order else [row[1], "Q0", row[0], "1", row[3], row[2]] for row in rows]
    return "".join(rng.choice(["\t", " "]).join(line) + "\n" for line in lines)


def read_annotations(case):
    """Labels of people and of judges in tables, wide or long, or in JSON."""
    import metaeval as me

    rng, policy = case.rng, case.rng.choice(("raise", "raise", "drop-topic", "drop-run"))
    items = made.pick_labels(rng, 1, 4, made.NAMES)
    files = {
        "people": [(who, item) for who in rng.sample(["ann", "bo", "cy"], rng.randint(1, 3)) for item in items],
        "judges": [(who, item) for who in rng.sample(["gpt", "lama"], rng.randint(1, 2)) for item in items],
    }
    kinds = {name: rng.choice(["wide", "long", "json"]) for name in files}
    contents = {name: _write_labels(rng, pairs, items, kinds[name]) for name, pairs in files.items()}
    victim, mutation = rng.choice(list(files)), ""
    if rng.random() < 0.9:
        change = mutate_json if kinds[victim] == "json" else mutate_some
        contents[victim], mutation = change(rng, contents[victim])
    paths = {name: case.folder / f"{name}.{'json' if kinds[name] == 'json' else 'csv'}" for name in files}
    for name, path in paths.items():
        path.write_bytes(contents[name])
    read = me.io.read_annotations
    found, said = case.call(read, paths["people"], paths["judges"], classes=CLASSES, missing=policy)
    expected = truth.annotations(contents["people"], contents["judges"], CLASSES, policy)
    if found is None:
        if expected and not mutation:
            raise Finding("right files are refused", said[0])
        return Outcome("refused")
    if not expected:
        raise Finding("what cannot be read is accepted", f"{mutation}, missing={policy}")
    if _cells(found) not in [(_strip(labels), _strip(answers)) for labels, answers in expected]:
        raise Finding("other labels than the files hold", f"{mutation}, missing={policy}")
    return Outcome("equal")


def _write_labels(rng, pairs, items, kind):
    labels = {pair: rng.choice(CLASSES) for pair in pairs}
    people = list(dict.fromkeys(who for who, _ in pairs))
    if kind == "json":
        whole = {who: {item: labels[who, item] for item in items} for who in people}
        return json.dumps(whole, ensure_ascii=rng.random() < 0.5).encode()
    if kind == "long":
        rows = [["item", "annotator", "label"], *([item, who, label] for (who, item), label in labels.items())]
    else:
        rows = [["item", *people], *([item, *(labels[who, item] for who in people)] for item in items)]
    return "".join(",".join(made.quote(cell, ",") for cell in row) + "\n" for row in rows).encode()


def _cells(found):
    labels = {
        (who, item): CLASSES[found.labels[a, i]]
        for a, who in enumerate(found.annotators)
        for i, item in enumerate(found.items)
        if found.labels[a, i] >= 0
    }
    answers = {
        (judge, item): [CLASSES[k] for k, count in enumerate(found.answers[j, i].tolist()) for _ in range(count)]
        for j, judge in enumerate(found.judges)
        for i, item in enumerate(found.items)
    }
    return _strip(labels), _strip(answers)


def _strip(cells):
    return {tuple(one.strip() for one in key): value for key, value in cells.items()}
