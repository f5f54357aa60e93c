"""Mutated files of every format through their readers: equal to an independent reading, or refused in one sentence."""

from __future__ import annotations

import ast
import io
import itertools
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import metaeval as me
from metaeval.datasets import polarity
from metaeval.files import find_named_files
from tests.hostile import made
from tests.hostile.case import Case, Finding, Refused, run_cases
from tests.hostile.mutate import mutate_json, mutate_text
from tests.hostile.truth import judging as judging_truth, runs as runs_truth, scores as truth
from tests.hostile.truth.tables import Unreadable

POLICIES = ("raise", "raise", "drop-topic", "drop-run", "worst")


def compare_scores(found, said, readings, policy, mutation):
    """Refused, or equal to one of the readings; anything else is a finding."""
    expected = [one for one in (truth.apply_missing(reading, policy) for reading in readings) if one is not None]
    if found is None:
        if not mutation and any(not reading.partial for reading in expected):
            raise Finding("a right file is refused", said[0])
        raise Refused
    if not expected:
        raise Finding("what cannot be read is accepted", f"{mutation}, missing={policy}")
    cells = cells_of(found)
    for reading in expected:
        # The name of a known measure is itself with blanks around it too.
        there = {_strip(key) for key in reading.cells}
        known = {key: value for key, value in cells.items() if _strip(key) in there} if reading.partial else cells
        if same_cells(known, reading.cells):
            if reading.reported and not said:
                raise Finding("scores are left out or filled in without a word", f"{mutation}, missing={policy}")
            check_directions(found, reading.directions, mutation)
            return
    raise Finding(
        "other scores than the file holds", f"{mutation}, missing={policy}: {differences(cells, expected[0].cells)}"
    )


def cells_of(scores):
    names = [str(one) for one in scores.measures]
    return {
        (run, topic, measure): scores.values[r, t, m].item()
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
        for m, measure in enumerate(names)
    }


def same_cells(cells, expected):
    if cells == expected:
        return True
    stripped = [{_strip(key): value for key, value in one.items()} for one in (cells, expected)]
    return len(stripped[0]) == len(cells) and len(stripped[1]) == len(expected) and stripped[0] == stripped[1]


def _strip(key):
    return tuple(label.strip() for label in key)


def check_directions(scores, directions, mutation):
    for one in scores.measures:
        word = directions.get(str(one), "")
        if word and one.higher_is_better is not (word == "true"):
            raise Finding("another direction than the file states", f"{one}: {word}, {mutation}")


def differences(cells, expected):
    unlike = [key for key in {**cells, **expected} if cells.get(key) != expected.get(key)]
    key = unlike[0]
    return f"{len(unlike)} cells, {key!r:.80}: {cells.get(key)} for {expected.get(key)}"


def mutate_some(rng, content):
    return (content, "") if rng.random() < 0.1 else mutate_text(rng, content)


def read_tidy(case):
    """Tidy CSV and TSV."""
    rng = case.rng
    suffix = rng.choice([".csv", ".csv", ".tsv", ".txt"])
    content, mutation = mutate_some(rng, made.make_tidy(rng, "\t" if suffix == ".tsv" else ","))
    path = case.folder / f"pilot{suffix}"
    path.write_bytes(content)
    policy = rng.choice(POLICIES)
    measure = rng.choice([None, None, None, "AP", "mine"])
    readings = truth.tidy(content, measure)
    readings = [one for one in readings if measure is None or any(key[2] == measure for key in one.cells)]
    found, said = case.call(me.io.read_scores, path, format="tidy", measure=measure, missing=policy)
    mutation = mutation or ("a measure that is not there" if measure else "")
    return compare_scores(found, said, readings, policy, mutation)


def read_wide(case):
    """One wide file whose format is stated or seen, or a folder of several."""
    rng, policy = case.rng, case.rng.choice(POLICIES)
    runs, topics = made.pick_labels(rng, 2, 4, [*made.NAMES[:4], "x", "y"]), made.pick_labels(rng, 2, 4)
    several = rng.random() < 0.3
    files = {}
    for stem, measure in {"ap": "AP", "ndcg20": "nDCG@20"}.items() if several else {"ndcg20": "nDCG@20"}.items():
        content = made.make_real_wide(rng, stem) if rng.random() < 0.3 and not several else b""
        files[stem] = (measure, content or made.make_wide(rng, runs, topics, labelled=True if several else None))
    victim = rng.choice(list(files))
    measure, content = files[victim]
    content, mutation = mutate_some(rng, content)
    files[victim] = (measure, content)
    for stem, (_, content) in files.items():
        (case.folder / f"web2013_{stem}.csv").write_bytes(content)
    stated = rng.random() < 0.5
    target = case.folder if several else case.folder / f"web2013_{victim}.csv"
    readings = truth.wide(dict(files.values()))
    if not stated and not several:
        readings += truth.tidy(content) + truth.trec_eval({f"web2013_{victim}": content})
    found, said = case.call(me.io.read_scores, target, format="wide" if stated else None, missing=policy)
    return compare_scores(found, said, readings, policy, mutation)


def read_sakai(case):
    """A folder in Sakai's layout; it has no policy for what is missing."""
    files = made.make_sakai(case.rng)
    victim = case.rng.choice(list(files))
    files[victim], mutation = mutate_some(case.rng, files[victim])
    for name, content in files.items():
        (case.folder / name).write_bytes(content)
    readings = truth.sakai(files)
    found, said = case.call(me.io.read_scores, case.folder, format="sakai")
    return compare_scores(found, said, readings, "raise", mutation)


def read_trec_eval(case):
    """A folder of what trec_eval -q prints."""
    files = made.make_trec_eval(case.rng)
    victim = case.rng.choice(list(files))
    files[victim], mutation = mutate_some(case.rng, files[victim])
    for name, content in files.items():
        (case.folder / f"{name}.eval").write_bytes(content)
    policy = case.rng.choice(POLICIES)
    found, said = case.call(me.io.read_scores, case.folder, format="trec_eval", missing=policy)
    return compare_scores(found, said, truth.trec_eval(files), policy, mutation)


def read_parquet(case):
    """Parquet of unusual types, or damaged; the scores are those that were written, or pandas', or none."""
    rng, policy = case.rng, case.rng.choice(POLICIES)
    readings = truth.tidy(made.make_tidy(rng))
    if not readings:
        raise Refused
    readings = [truth.Reading(readings[0].cells)]
    content, exotic = _write_parquet(rng, readings[0].cells)
    mutation = "exotic" if exotic else ""
    readings += _read_by_pandas(content) if exotic else []
    damaged = rng.random() < 0.4
    if damaged:
        position = rng.randrange(len(content))
        cut = rng.random() < 0.3
        changed = content[:position] if cut else bytearray(content)
        if not cut:
            changed[position] ^= 1 << rng.randrange(8)
        content, mutation = bytes(changed), "damaged"
    path = case.folder / "pilot.parquet"
    path.write_bytes(content)
    readings += _read_by_pandas(content) if damaged else []
    readings = readings[1:] if exotic else readings
    found, said = case.call(me.io.read_scores, path, missing=policy)
    return compare_scores(found, said, readings, policy, mutation)


def _read_by_pandas(content):
    """Every reading, or none where pandas cannot read it or no score is in it."""
    try:
        frame = pd.read_parquet(io.BytesIO(content))
        rows = [[_cell(cell) for cell in row] for row in frame.itertuples(index=False)]
        return truth.rows_of([str(name) for name in frame.columns], rows)
    except Exception:
        return []


def _cell(given):
    if given is None or given != given:
        return ""
    if isinstance(given, float):
        return repr(given)
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)


def _write_parquet(rng, cells):
    import pyarrow as pa
    import pyarrow.parquet as pq

    keys = list(cells)
    columns, exotic = {}, False
    for axis, name in enumerate(("run", "topic", "measure")):
        labels, kind = [key[axis] for key in keys], rng.random()
        if kind < 0.7:
            columns[name] = pa.array(labels, rng.choice([pa.string(), pa.large_string()]))
        elif kind < 0.85:
            columns[name] = pa.array(labels).dictionary_encode()
        else:
            exotic = True
            codes = [sorted(set(labels)).index(one) for one in labels]
            columns[name] = rng.choice(
                [
                    lambda codes=codes: pa.array(codes, pa.int64()),
                    lambda labels=labels: pa.array([one.encode() for one in labels], pa.binary()),
                    lambda labels=labels: pa.array([None, *labels[1:]], pa.string()),
                    lambda labels=labels: pa.array(["", *labels[1:]], pa.string()),
                    lambda labels=labels: pa.array([[one] for one in labels]),
                ]
            )()
    values = list(cells.values())
    kind = rng.random()
    if kind < 0.6:
        columns["score"] = pa.array(values, pa.float64())
    else:
        exotic = True
        whole = [0 if value is None else int(4 * value) for value in values]
        columns["score"] = rng.choice(
            [
                lambda: pa.array(values, pa.float32()),
                lambda: pa.array(whole, pa.int32()),
                lambda: pa.array(whole, pa.uint64()),
                lambda: pa.array([value == 0 for value in values]),
                lambda: pa.array(list(map(repr, values))),
                lambda: pa.array(whole, pa.timestamp("ms")),
                lambda: pa.array([float("nan"), *values[1:]]),
                lambda: pa.array([float("inf"), *values[1:]]),
                lambda: pa.array([None, *values[1:]], pa.float64()),
                lambda: pa.array(whole, pa.int64()).cast(pa.decimal128(30, 3)),
                lambda: pa.array([[value] for value in values]),
            ]
        )()
    if rng.random() < 0.2:
        columns["extra"] = pa.array(range(len(keys)))
    sink = io.BytesIO()
    pq.write_table(
        pa.table(columns),
        sink,
        write_page_checksum=True,
        compression=rng.choice(["snappy", "zstd", "none", "gzip"]),
        row_group_size=rng.choice([1, 3, 1000]),
        use_dictionary=rng.random() < 0.5,
    )
    return sink.getvalue(), exotic


MISSING_RUNS = ("raise", "raise", "drop-topic", "drop-run", "worst")
INVALID = ("raise", "raise", "drop-topic", "drop-run", "clip", "worst")


def _prepare(case, gold, runs, mutate=mutate_text):
    """Write the files, one of them mutated; return paths, contents and the mutation's name."""
    rng, mutation = case.rng, ""
    files = {"gold": gold, **runs}
    if rng.random() < 0.9:
        victim = rng.choice(list(files))
        files[victim], mutation = mutate(rng, files[victim])
        mutation = f"{mutation} of the {'gold' if victim == 'gold' else 'run'}"
    for name, content in files.items():
        (case.folder / f"{name}.txt").write_bytes(content)
    paths = {name: case.folder / f"{name}.txt" for name in runs}
    gold = files.pop("gold")
    return case.folder / "gold.txt", paths if rng.random() < 0.5 else case.folder, gold, files, mutation


def _judge_runs(case, expected, mutation, **options):
    """Read with metaeval, and compare with what was computed independently."""
    found, said = case.call(_read_polarity if options["format"] == "polarity" else me.io.read_runs, **options)
    policies = ", ".join(f"{name}={options[name]}" for name in ("missing", "invalid", "rescale") if name in options)
    if found is None:
        if expected is not None and not mutation:
            raise Finding("right files are refused", said[0])
        raise Refused
    if expected is None:
        raise Finding("what cannot be read is accepted", f"{mutation}, {policies}")
    right, reported = expected
    if not _same(found, right):
        raise Finding("other numbers than the files hold", f"{mutation}, {policies}")
    if reported and not said:
        raise Finding("items are left out or filled in without a word", f"{mutation}, {policies}")
    return


def _read_polarity(gold, runs, format, **options):
    return polarity.read(gold, find_named_files(runs, gold=gold), **options)


def _same(found, right):
    if hasattr(found, "counts"):
        cells = {
            (run, topic): found.counts[r, t].tolist()
            for (r, run), (t, topic) in itertools.product(enumerate(found.runs), enumerate(found.topics))
        }
        return _stripped(cells) == _stripped(right)
    cells = {
        (run, topic): found.estimated[r, t].tolist()
        for (r, run), (t, topic) in itertools.product(enumerate(found.runs), enumerate(found.topics))
    }
    cells.update({(None, topic): found.gold[t].tolist() for t, topic in enumerate(found.topics)})
    cells, right = _stripped(cells), _stripped(right)
    return set(cells) == set(right) and all(
        len(cells[key]) == len(right[key])
        and all(abs(a - b) < 1e-12 for a, b in zip(cells[key], right[key], strict=True))
        for key in cells
    )


def _stripped(cells):
    short = {(run, topic.strip()): value for (run, topic), value in cells.items()}
    return short if len(short) == len(cells) else cells


def _classify(gold, runs, classes, missing, invalid, without=frozenset()):
    """The confusion counts, or None; items of `without` are left out of gold and runs, which has to be said."""
    keep = lambda rows: [row for row in rows if row[:2] not in without]  # noqa: E731
    counts, reported = runs_truth.confusion(
        keep(gold), {run: keep(rows) for run, rows in runs.items()}, classes, missing, invalid
    )
    return counts, reported or bool(without)


def _read_labels(case, format, make, read_gold, read_run, classes, state_classes=True):
    gold_path, paths, gold, runs, mutation = _prepare(case, *make(case.rng))
    missing, invalid = case.rng.choice(MISSING_RUNS), case.rng.choice(INVALID)
    try:
        true = read_gold(gold)
        answers = {run: read_run(content, true) for run, content in runs.items()}
        without = runs_truth.unrelated(true) if format == "polarity" else frozenset()
        runs_truth.unique(true)
        expected = _classify(true, answers, classes, missing, invalid, without)
    except Unreadable:
        expected = None
    if invalid == "clip" and classes == ("no", "maybe", "yes"):
        mutation = mutation or "clip without numbers"
    if mutation == "" and expected is not None and format == "polarity" and expected[1]:
        mutation = "items without a polarity"
    options = {"classes": list(classes)} if state_classes else {}
    return _judge_runs(
        case, expected, mutation, gold=gold_path, runs=paths, format=format, missing=missing, invalid=invalid, **options
    )


def read_semeval_c(case):
    """Labels of tweets: id, topic, label."""
    return _read_labels(
        case,
        "semeval-c",
        made.make_semeval_c,
        runs_truth.semeval_labels,
        lambda content, gold: runs_truth.number_lines(runs_truth.semeval_labels(content), gold),
        runs_truth.FIVE,
        False,
    )


def read_judgements(case):
    """Judgements: topic 0 item label."""
    return _read_labels(
        case,
        "judgements",
        made.make_judgements,
        runs_truth.judgement_labels,
        lambda content, _: runs_truth.judgement_labels(content),
        ("0", "1", "2", "3"),
    )


def read_labels(case):
    """Tables of topic, item, label."""
    return _read_labels(
        case,
        "labels",
        made.make_label_tables,
        lambda content: runs_truth.table_labels(content, "gold"),
        lambda content, _: runs_truth.table_labels(content, "predicted"),
        ("no", "maybe", "yes"),
    )


def read_polarity(case):
    """Polarities in any of their layouts."""
    return _read_labels(
        case,
        "polarity",
        made.make_polarity,
        runs_truth.polarity_labels,
        lambda content, _: runs_truth.polarity_labels(content),
        ("-1", "0", "1"),
    )


def _read_shares(case, format, made_files, read_gold, read_run, K, mutate=mutate_text, **options):
    gold_path, paths, gold, runs, mutation = _prepare(case, *made_files, mutate=mutate)
    missing, rescale = case.rng.choice(MISSING_RUNS), case.rng.random() < 0.4
    try:
        true, classes = read_gold(gold)
        answers = {run: read_run(content, classes) for run, content in runs.items()}
        expected = runs_truth.distributions(true, answers, K or len(classes), missing, rescale)
    except Unreadable:
        expected = None
    more = {"rescale": True} if rescale else {}
    return _judge_runs(
        case, expected, mutation, gold=gold_path, runs=paths, format=format, missing=missing, **more, **options
    )


def read_semeval_e(case):
    """Distributions over topics; the gold may be labels."""
    return _read_shares(
        case,
        "semeval-e",
        made.make_semeval_e(case.rng),
        lambda content: (runs_truth.semeval_gold(content, runs_truth.FIVE), None),
        lambda content, _: runs_truth.semeval_shares(content, runs_truth.FIVE),
        5,
    )


def read_probabilities(case):
    """Tables of topic and one column a class."""

    def read_gold(content):
        classes, rows = runs_truth.table_shares(content)
        return rows, classes

    return _read_shares(
        case,
        "probabilities",
        made.make_probabilities(case.rng),
        read_gold,
        lambda content, classes: runs_truth.table_shares(content, classes)[1],
        None,
    )


def read_dialogues(case):
    """JSON of NTCIR Dialogue Quality."""
    return _read_shares(
        case,
        "dialogue-quality",
        made.make_dialogues(case.rng),
        lambda content: (runs_truth.dialogue_gold(content, "A"), None),
        lambda content, _: runs_truth.dialogue_run(content, "A"),
        5,
        mutate=mutate_json,
        aspect="A",
    )


CLASSES = ("1", "2", "3")
RUNS, TOPICS = ["a", "b", "BM25", "007", "7", "Δ-run", "NA", "1e3"], ["1", "2", "q7", "Δ", "301", "007"]


def read_wmt(case):
    """A folder of ``*.seg.score`` files."""
    rng, policy = case.rng, case.rng.choice(POLICIES)
    runs, n_topics = made.pick_labels(rng, 1, 4, made.NAMES), rng.randint(1, 4)
    gaps = 0.1 if rng.random() < 0.3 else 0
    files = {}
    for measure in rng.sample(["AP", "NMD", "mine"], rng.randint(1, 2)):
        rows = [f"{run}\t{_score_or_gap(rng, gaps)}\n" for run in runs for _ in range(n_topics)]
        files[measure] = "".join(rows).encode()
    victim = rng.choice(list(files))
    files[victim], mutation = mutate_some(rng, files[victim])
    ends = {measure: rng.choice(["", "-src", "-refA"]) for measure in files}
    start = rng.choice(["", "en-de."])
    for measure, content in files.items():
        (case.folder / f"{start}{measure}{ends[measure]}.seg.score").write_bytes(content)
    found, said = case.call(me.io.read_scores, case.folder, missing=policy)
    return compare_scores(found, said, judging_truth.wmt(files), policy, mutation or ("gaps" if gaps else ""))


def _score_or_gap(rng, gaps):
    return "None" if rng.random() < gaps else repr(made.score(rng))


def read_leaderboard(case):
    """A leaderboard in one of the formats of TREC's tracks, in one file or several."""
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
    return compare_scores(found, said, judging_truth.leaderboard(files, layout), policy, mutation or "sums" * only_sums)


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
    expected = judging_truth.annotations(contents["people"], contents["judges"], CLASSES, policy)
    if found is None:
        if expected and not mutation:
            raise Finding("right files are refused", said[0])
        raise Refused
    if not expected:
        raise Finding("what cannot be read is accepted", f"{mutation}, missing={policy}")
    if _annotation_cells(found) not in [(_strip_all(labels), _strip_all(answers)) for labels, answers in expected]:
        raise Finding("other labels than the files hold", f"{mutation}, missing={policy}")
    return


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


def _annotation_cells(found):
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
    return _strip_all(labels), _strip_all(answers)


def _strip_all(cells):
    return {tuple(one.strip() for one in key): value for key, value in cells.items()}


READERS = (
    read_tidy, read_wide, read_sakai, read_trec_eval, read_parquet, read_wmt, read_leaderboard, read_annotations,
    read_semeval_c, read_semeval_e, read_dialogues, read_judgements, read_labels, read_probabilities, read_polarity,
)  # fmt: skip


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_a_mutated_file_is_read_right_or_refused_in_a_sentence(reader, tmp_path):
    run_cases(reader, 200, tmp_path)


@pytest.mark.parametrize("label", ["", "NULL", "null"])
@pytest.mark.parametrize("layout", ["semeval", "replab"])
def test_gold_items_without_a_polarity_are_refused_or_said_to_be_left_out(tmp_path, label, layout):
    gold, run = f"NA\tT1\tpositive\nNA\tT2\t{label}\n", "NA\tT1\tpositive\nNA\tT2\tneutral\n"
    if layout == "replab":
        head = "entity_id\ttweet_id\tpolarity\n"
        gold, run = f"{head}E\tT1\tPOSITIVE\nE\tT2\t{label}\n", f"{head}E\tT1\tPOSITIVE\nE\tT2\tNEUTRAL\n"
    paths = tmp_path / "gold.txt", tmp_path / "run.txt"
    for path, content in zip(paths, (gold, run), strict=True):
        path.write_text(content)
    runs, notes = Case("polarity", 0, tmp_path).call(_read_polarity, *paths, "polarity", classes=("-1", "0", "1"))
    assert runs is None or runs.counts.sum() == 2 or notes


@pytest.mark.parametrize("label", ["x" * 100_000, "a\nb"], ids=["long", "of two lines"])
def test_a_label_in_a_message_leaves_it_one_short_line(tmp_path, label):
    (tmp_path / "pilot.csv").write_text(f'run,topic,measure,score\n"{label}",t,AP,high\n')
    refused, _ = Case("labels", 0, tmp_path).call(me.io.read_scores, tmp_path / "pilot.csv")
    assert refused is None


def _write_odd_files(folder):
    (folder / "long.csv").write_text("x" * 200_000 + ",b\n0.1,0.2\n")
    (folder / "long2.csv").write_text(f"run,topic,measure,score\n{'x' * 200_000},t,AP,0.5\n")
    with zipfile.ZipFile(folder / "whole.zip", "w") as archive:
        archive.writestr("a.csv", "run,topic,measure,score\na,t,AP,0.5\n")
    (folder / "cut.zip").write_bytes((folder / "whole.zip").read_bytes()[:40])
    (folder / "book.xlsx").write_bytes(b"PK\3\4" + bytes(60))
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "manifest.json").write_text("[" * 100_000)


def _surrogate():
    return me.Scores([[[0.5]]], runs=["\ud800"], topics=["t"], measures=["AP"], collection="c")


ODD = {
    **{
        name: lambda folder, name=name: me.io.read_scores(folder / name)
        for name in ("long.csv", "long2.csv", "cut.zip", "book.xlsx", "deep.json", "n" * 300 + ".csv")
    },
    "a NUL in a name": lambda folder: me.io.read_scores("a\0b.csv"),
    "deep manifest": lambda folder: me.ScoreStore(folder).collections(),
    "deep dialogues": lambda folder: me.io.read_runs(
        folder / "deep.json", folder / "deep.json", format="dialogue-quality", aspect="A"
    ),
    "a lone surrogate in CSV": lambda folder: me.io.write_scores(_surrogate(), folder / "s.csv"),
    "a lone surrogate in Parquet": lambda folder: me.io.write_scores(_surrogate(), folder / "s.parquet"),
    "a lone surrogate in a store": lambda folder: me.ScoreStore(folder / "store").add(_surrogate()),
    "a lone surrogate's checksum": lambda folder: _surrogate().sha256,
}


@pytest.mark.parametrize("what", ODD)
def test_long_fields_archives_and_deep_json_never_end_in_a_raw_exception(tmp_path, what):
    _write_odd_files(tmp_path)
    Case("odd", 0, tmp_path).call(ODD[what], tmp_path)


@pytest.mark.parametrize(
    "function", ["pathlib.Path.read_bytes", "builtins.open", "pathlib.Path.iterdir", "pathlib.Path.stat"]
)
@pytest.mark.parametrize("call", ["read a file", "read a folder", "load", "list", "add"])
def test_permission_denied_is_one_sentence(tmp_path, monkeypatch, function, call):
    (tmp_path / "scores.csv").write_text("run,topic,score\na,t,0.5\nb,t,0.25\n")
    scores = me.io.read_scores(tmp_path / "scores.csv", collection="c")
    store = me.ScoreStore(tmp_path / "store")
    store.add(scores)
    calls = {
        "read a file": lambda: me.io.read_scores(tmp_path / "scores.csv"),
        "read a folder": lambda: me.io.read_scores(tmp_path),
        "load": lambda: store.load("c"),
        "list": store.collections,
        "add": lambda: store.add(scores, replace=True),
    }

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(function, refuse)
        Case("permissions", 0, tmp_path).call(calls[call])


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("truth/*.py")), ids=lambda path: path.stem)
def test_expected_values_come_from_code_that_imports_nothing_of_metaeval(path):
    known = {"csv", "io", "re", "json", "math", "itertools", "fractions", "dataclasses", "pandas"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert name.split(".")[0] in known or name.startswith("tests.hostile.truth"), name
