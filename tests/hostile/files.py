"""Mutated files of score matrices through their readers, against an independent reading."""

from __future__ import annotations

import io

import pandas as pd

from tests.hostile import made
from tests.hostile.campaign import Finding, Outcome
from tests.hostile.mutate import mutate_text
from tests.hostile.truth import scores as truth

POLICIES = ("raise", "raise", "drop-topic", "drop-run", "worst")


def compare_scores(found, said, readings, policy, mutation):
    """Refused, or equal to one of the readings; anything else is a finding."""
    expected = [one for one in (truth.apply_missing(reading, policy) for reading in readings) if one is not None]
    if found is None:
        if not mutation and any(not reading.partial for reading in expected):
            raise Finding("a right file is refused", said[0])
        return Outcome("refused")
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
            return Outcome("equal")
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
    import metaeval as me

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
    import metaeval as me

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
    import metaeval as me

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
    import metaeval as me

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
    import metaeval as me

    rng, policy = case.rng, case.rng.choice(POLICIES)
    readings = truth.tidy(made.make_tidy(rng))
    if not readings:
        return Outcome("refused")
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
    """One reading, or none where pandas cannot read it or no score is in it."""
    try:
        reading = _reading_of(pd.read_parquet(io.BytesIO(content)))
    except Exception:
        return []
    return [] if reading is None else [reading]


def _reading_of(frame):
    cells = {}
    for run, topic, measure, score in frame[["run", "topic", "measure", "score"]].itertuples(index=False):
        key = tuple(_label(one) for one in (run, topic, measure))
        if None in key or key in cells or isinstance(score, (str, bytes, bool)):
            return None
        cells[key] = None if score is None or score != score else float(score)
    return truth.Reading(cells)


def _label(given):
    if given is None or given != given:
        return None
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
