"""Score matrices, read independently: each reader returns every reading of a file that can be defended."""

import itertools
import re
from dataclasses import dataclass, field

from tests.hostile.truth.tables import DELIMITERS, Unreadable, label, lines_of, number, table_of

TOPIC_COLUMNS = {"topic", "topic_id", "topicid", "query", "query_id", "queryid", "qid", "id", ""}
WORST = {"AP": 0.0, "nDCG@20": 0.0, "P@10": 0.0, "RR": 0.0, "ERR@20": 0.0, "NMD": 1.0, "RNOD": 1.0}
WORST |= {"map": 0.0, "recip_rank": 0.0}


@dataclass
class Reading:
    """`cells[run, topic, measure]` is a score, None where the file says that there is none."""

    cells: dict
    directions: dict = field(default_factory=dict)
    reported: bool = False  # whether something was left out or filled in, and that has to be said
    partial: bool = False  # whether there are more cells, of which nothing is known here

    def add(self, run, topic, measure, score):
        key = (label(run), label(topic), label(measure))
        if key in self.cells:
            raise Unreadable(f"{key} is there twice")
        self.cells[key] = score


def attempt(read, *arguments):
    """A list of one reading, or of none."""
    try:
        reading = read(*arguments)
    except Unreadable:
        return []
    return [reading] if reading.cells else []


NAMES = {
    "run": "run run_id runid runtag system system_id sys sysid model model_id model_name team method submission",
    "topic": "topic topics topic_id topicid query query_id queryid qid segment seg seg_id question question_id item doc_id",
    "measure": "measure metric metric_name evaluator scorer",
    "score": "score value result rating",
}
KNOWN = {"higher_is_better", "collection", "time", "tstamp", "timestamp"}


def tidy(content, measure=None):
    readings = []
    for delimiter in DELIMITERS:
        try:
            header, rows = table_of(content, delimiter)
        except Unreadable:
            continue
        readings += rows_of(header, rows, measure)
    return readings


def rows_of(header, rows, measure=None):
    """Every reading of a table with a row per score, or a column per measure."""
    plain = [re.sub(r"[\s-]+", "_", name.strip().lower()) for name in header]
    found = {}
    for role, names in NAMES.items():
        exact = [j for j, name in enumerate(plain) if name == role]
        found[role] = exact or [j for j, name in enumerate(plain) if name in names.split()]
    readings = []
    for run, topic, named in itertools.product(found["run"], found["topic"], found["measure"] or [None]):
        others = [j for j in range(len(header)) if j not in (run, topic, named) and plain[j] not in KNOWN]
        for score in others:
            name = header[score] if measure is None or named is not None else measure
            readings += attempt(_tidy, header, plain, rows, (run, topic, named, score), name, measure)
        wanted = [j for j in others if _are_numbers(rows, j)]
        if named is None and len(wanted) > 1:
            readings += attempt(_measures, header, rows, run, topic, wanted, measure)
    return readings


def _are_numbers(rows, j):
    try:
        return any(number(row[j]) is not None for row in rows)
    except Unreadable:
        return False


def _measures(header, rows, run, topic, wanted, measure):
    reading = Reading({})
    for row in rows:
        for j in wanted:
            if measure in (None, header[j]):
                reading.add(row[run], row[topic], header[j], number(row[j]))
    return reading


def _tidy(header, plain, rows, at, name, measure):
    run, topic, named, score = at
    reading = Reading({})
    stated = plain.index("higher_is_better") if "higher_is_better" in plain else None
    for row in rows:
        label_of = row[named] if named is not None else name
        if measure is not None and label_of != measure:
            continue
        if stated is not None:
            word = row[stated].strip().lower()
            if word not in ("", "true", "false") or reading.directions.setdefault(label_of, word) != word:
                raise Unreadable("directions")
        reading.add(row[run], row[topic], label_of, number(row[score]))
    return reading


def wide(files):
    """Readings of files by measure, each topics × runs; each may have a delimiter of its own."""
    choices = itertools.product(DELIMITERS, repeat=len(files))
    return [one for delimiters in choices for one in attempt(_wide, files, delimiters)]


def _wide(files, delimiters):
    reading, shapes = Reading({}), set()
    for (measure, content), delimiter in zip(files.items(), delimiters, strict=True):
        header, rows = table_of(content, delimiter)
        named = header[0].lower() in TOPIC_COLUMNS
        if not header[named:]:
            raise Unreadable("no runs")
        topics = [row[0] if named else str(position) for position, row in enumerate(rows, start=1)]
        shapes.add((frozenset(header[named:]), frozenset(topics)))
        for topic, row in zip(topics, rows, strict=True):
            for run, cell in zip(header[named:], row[named:], strict=True):
                reading.add(run, topic, measure, number(cell))
    return reading


def sakai(files):
    """Readings of a folder: its files ``runs``, perhaps ``topics``, and one a measure."""
    return attempt(_sakai, files)


def _sakai(files):
    if "runs" not in files or len(set(files) - {"runs", "topics"}) == 0:
        raise Unreadable("no runs or no measure")
    runs = [line.strip() for line in lines_of(files["runs"])]
    topics = [line.strip() for line in lines_of(files["topics"])] if "topics" in files else None
    reading, lengths = Reading({}), set()
    for measure in sorted(set(files) - {"runs", "topics"}):
        rows = [line.split() for line in lines_of(files[measure])]
        lengths.add(len(rows))
        names = topics if topics is not None else [str(position) for position in range(1, len(rows) + 1)]
        if len(names) != len(rows) or any(len(row) != len(runs) for row in rows):
            raise Unreadable("shape")
        for topic, row in zip(names, rows, strict=True):
            for run, cell in zip(runs, row, strict=True):
                reading.add(run, topic, measure, number(cell))
    if len(lengths) > 1:
        raise Unreadable("topics")
    return reading


def trec_eval(files):
    """Readings of files by name without suffix."""
    return attempt(_trec_eval, files)


def _trec_eval(files):
    reading, names = Reading({}), set()
    for name, content in files.items():
        run, cells = name, []
        lines = [line.split("\t") if line.count("\t") >= 2 else line.split() for line in lines_of(content)]
        if any(len(fields) != 3 for fields in lines):
            raise Unreadable("columns")
        rows = [[one.strip() for one in fields] for fields in lines]
        if any(row[0] == "all" for row in rows) and not any(row[1] == "all" for row in rows):  # as ir_measures prints
            rows = [[row[1], row[0], row[2]] for row in rows]
        for measure, topic, value in rows:
            if topic == "all":
                run = value if measure == "runid" else run
            elif measure not in ("num_q", "num_ret", "num_rel", "num_rel_ret") and not measure.startswith(
                ("runid", "relstring")
            ):
                cells.append((topic, measure, number(value)))
        if run in names or not cells:
            raise Unreadable("the same run twice, or no score of a topic")
        names.add(run)
        for topic, measure, value in cells:
            reading.add(run, topic, measure, value)
    return reading


def apply_missing(reading, policy):
    """The scores that a policy leaves, as a reading without gaps; None where it has to be an error."""
    cells = reading.cells
    axes = [list(dict.fromkeys(key[axis] for key in cells)) for axis in range(3)]
    there = {key: value for key, value in cells.items() if value is not None}
    total = len(axes[0]) * len(axes[1]) * len(axes[2])
    if len(there) == total:
        return Reading(there, reading.directions)
    if policy in ("drop-topic", "drop-run"):
        axis = 1 if policy == "drop-topic" else 0
        counts = dict.fromkeys(axes[axis], 0)
        for key in there:
            counts[key[axis]] += 1
        whole = total // len(axes[axis])
        kept = {key: value for key, value in there.items() if counts[key[axis]] == whole}
        return Reading(kept, reading.directions, reported=True) if kept else None
    lacking = {measure for measure in axes[2] if sum(key[2] == measure for key in there) < total // len(axes[2])}
    if policy != "worst" or total > 100_000:
        return None
    if not lacking <= set(WORST):  # of which the worst value is not known here
        return Reading(there, reading.directions, reported=True, partial=True)
    keys = [(r, t, m) for r in axes[0] for t in axes[1] for m in axes[2]]
    filled = {key: there[key] if key in there else WORST[key[2]] for key in keys}
    return Reading(filled, reading.directions, reported=True)
