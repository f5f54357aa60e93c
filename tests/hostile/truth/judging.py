"""Files of tasks on metrics, of tracks with judges, and of annotators, read independently."""

import json

from tests.hostile.truth.runs import json_of
from tests.hostile.truth.scores import Reading, attempt
from tests.hostile.truth.tables import DELIMITERS, Unreadable, is_missing, lines_of, number, table_of

PLACES = {"tot": (0, 2, 1, 3), "ir_measures": (0, 1, 2, 3), "ranking": (2, 0, 5, 4)}
"""Where run, topic, measure and score stand on a line."""


def wmt(files):
    """Readings of files by measure, of which a line is ``run<TAB>score``; a run that a file lacks has no scores there."""
    return attempt(_wmt, files)


def _wmt(files):
    tables = {}
    for measure, content in files.items():
        table = tables.setdefault(measure, {})
        for line in lines_of(content):
            run, tab, text = line.partition("\t")
            if not tab or "\t" in text or not run.strip():
                raise Unreadable("a line")
            table.setdefault(run, []).append(None if text.strip().lower() == "none" else number(text))
    numbers = {len(scores) for table in tables.values() for scores in table.values()}
    if len(numbers) > 1:
        raise Unreadable("not the same numbers of topics")
    reading = Reading({})
    for measure, table in tables.items():
        for run in dict.fromkeys(run for table in tables.values() for run in table):
            for place, score in enumerate(table.get(run, [None] * max(numbers)), start=1):
                reading.add(run, str(place), measure, score)
    return reading


def leaderboard(files, layout):
    """Readings of files of one leaderboard; rows of the topic all are left out."""
    return attempt(_leaderboard, files, layout)


def _leaderboard(files, layout):
    reading = Reading({})
    for content in files.values():
        rows = [_object(line) if layout == "jsonl" else _fields(line, layout) for line in lines_of(content)]
        if layout != "jsonl" and rows[0][3].lower() in ("value", "score"):
            del rows[0]
        if not rows:
            raise Unreadable("no scores")
        for run, topic, measure, text in rows:
            if topic != "all":
                reading.add(run, topic, measure, number(text))
    return reading


def _fields(line, layout):
    cells = line.split()
    if len(cells) != (6 if layout == "ranking" else 4):
        raise Unreadable("columns")
    return [cells[place] for place in PLACES[layout]]


def _object(line):
    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise Unreadable("a key is there twice")
        return dict(pairs)

    try:
        found = json.loads(line, object_pairs_hook=once)
        *labels, value = (found[key] for key in ("run_id", "topic_id", "measure", "value"))
        "".join(labels).encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Unreadable("no such object") from None
    if isinstance(value, (bool, list, dict)):
        raise Unreadable("no number")
    return *labels, "" if value is None else value if isinstance(value, str) else repr(value)


def annotations(people, judges, classes, policy):
    """Every pair of readings: labels by person and item, and sorted answers by judge and item; None if it is an error."""
    found = []
    for said in _tables(people, once=True):
        for answered in _tables(judges, once=False):
            try:
                found.append(_judge(said, answered, classes, policy))
            except Unreadable:
                continue
    return found


def _judge(said, answered, classes, policy):
    items = list(dict.fromkeys(item for _, item, _ in said))
    labels = {(who, item): label for who, item, label in said if not is_missing(label)}
    answers = {}
    for who, item, label in answered:
        if not is_missing(label):
            answers.setdefault((who, item), []).append(label)
    if {*labels.values(), *(one for each in answers.values() for one in each)} - set(classes):
        raise Unreadable("no class")
    if {item for _, item in answers} - set(items):
        raise Unreadable("an item that nobody labelled")
    judges = list(dict.fromkeys(who for who, _, _ in answered))
    gaps = {(judge, item) for judge in judges for item in items if (judge, item) not in answers}
    if gaps and policy == "raise":
        raise Unreadable("no answer")
    if policy == "drop-run":
        judges = [judge for judge in judges if judge not in {one for one, _ in gaps}]
    elif policy == "drop-topic":
        items = [item for item in items if item not in {one for _, one in gaps}]
    labels = {key: label for key, label in labels.items() if key[1] in items}
    if not judges or not items or {item for _, item in labels} != set(items):
        raise Unreadable("nothing is left, or nobody labelled it")
    return labels, {key: sorted(each) for key, each in answers.items() if key[0] in judges and key[1] in items}


def _tables(content, once):
    """Rows (annotator, item, label) by every reading of a table or of JSON."""
    if content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return _attempt_rows(_json_rows, content, once)
    return [rows for delimiter in DELIMITERS for rows in _attempt_rows(_table_rows, content, delimiter, once)]


def _attempt_rows(read, *arguments):
    try:
        return [read(*arguments)]
    except Unreadable:
        return []


def _json_rows(content, once):
    found = json_of(content)
    if not isinstance(found, dict) or not found or not all(isinstance(one, dict) for one in found.values()):
        raise Unreadable("not by annotator and item")
    rows = [(who, item, label) for who, given in found.items() for item, label in given.items()]
    if any(isinstance(label, (bool, list, dict)) for _, _, label in rows):
        raise Unreadable("no label")
    return [(who, item, "" if label is None else str(label).strip()) for who, item, label in rows]


def _table_rows(content, delimiter, once):
    header, rows = table_of(content, delimiter)
    if "item" not in header or "topic" in header or not all(row[header.index("item")].strip() for row in rows):
        raise Unreadable("no items")
    at = {name: place for place, name in enumerate(header)}
    if "annotator" in at:
        if "label" not in at or not all(row[at["annotator"]].strip() for row in rows):
            raise Unreadable("no annotators")
        found = [(row[at["annotator"]], row[at["item"]], row[at["label"]].strip()) for row in rows]
    else:
        names = [name for name in header if name != "item"]
        found = [(name, row[at["item"]], row[at[name]].strip()) for name in names for row in rows]
    if once and len({(who, item) for who, item, _ in found}) < len(found):
        raise Unreadable("a person labelled an item twice")
    return found
