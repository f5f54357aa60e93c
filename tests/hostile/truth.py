"""What files say, read independently of metaeval: every reading of a file that can be defended."""

import contextlib
import csv
import io
import itertools
import json
import math
import re
from dataclasses import dataclass, field

DELIMITERS = (",", "\t", ";", "|", " ")
FIVE = ("-2", "-1", "0", "1", "2")
TOPICS = {"topic", "topics", "topic_id", "topicid", "query", "query_id", "queryid", "qid"}


class Unreadable(Exception):
    """The file says nothing that can be relied on."""


def need(condition, what):
    if not condition:
        raise Unreadable(what)


# Text, tables, numbers and labels.


def text_of(content):
    """The text of a file in UTF-8, or in UTF-16 with its mark, with line feeds only."""
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            content = content.decode("utf-16").encode()
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeError:
        raise Unreadable("another encoding") from None
    need(text.strip() and "\0" not in text, "binary, or empty")
    return text


def lines_of(content):
    return [line for line in text_of(content).split("\n") if line.strip()]


def table_of(content, delimiter):
    """Header and rows of a table; every row as long as the header, no column name twice."""
    try:
        text = text_of(content)
        first = text.lstrip("\r\n").splitlines()[:1]
        spaced = all(line.count(delimiter) == line.count(f"{delimiter} ") for line in first)
        rows = list(
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=spaced)
        )
    except csv.Error as error:
        raise Unreadable(str(error)) from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    need(len(rows) > 1, "no rows")
    header = [cell.strip() for cell in rows[0]]
    need(len(set(header)) == len(header) and all(header[1:]), "column names")
    need(all(len(row) == len(header) for row in rows), "a row of another length")
    return header, rows[1:]


def tables_of(content):
    """Every table that a file may be, by its delimiter; a first line that cannot name columns is a title or groups them."""
    for delimiter in DELIMITERS:
        with contextlib.suppress(Unreadable):
            try:
                yield table_of(content, delimiter)
            except Unreadable as problem:
                need(str(problem) == "column names", "no table")
                above, _, below = text_of(content).lstrip("\n").partition("\n")
                header, rows = table_of(below.encode(), delimiter)
                yield header, rows
                groups = above.split(delimiter)
                need(len(groups) == len(header), "another first line")
                yield [f"{group} {name}".strip() for group, name in zip(["", *groups[1:]], header, strict=True)], rows


def is_missing(text):
    return text.lower().lstrip("+-") in ("", "na", "nan", "none", "null")


def number(text):
    """A finite number, None where it is missing."""
    text = text.strip()
    if is_missing(text):
        return None
    if re.fullmatch(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))", text):  # a comma of decimals
        text = text.replace(",", ".")
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    need(math.isfinite(value), "no finite number")
    return value


def label(text):
    need(text.strip(), "a label is empty")
    return text


def json_of(text):
    def refuse(_):
        raise Unreadable("a constant that JSON does not have")

    def once(pairs):
        need(len(dict(pairs)) == len(pairs), "a key twice")
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Unreadable("no JSON") from None


# Score matrices: rows (run, topic, measure, score), perhaps with a direction.


@dataclass
class Reading:
    """What a file says, by labels: scores (None where it says that there is none), counts, shares or labels."""

    cells: dict
    directions: dict = field(default_factory=dict)


def attempt(read, *arguments):
    """A list of one reading of rows, or of none."""
    reading = Reading({})
    with contextlib.suppress(Unreadable):
        for run, topic, measure, score, *direction in read(*arguments):
            key = label(run), label(topic), label(measure)
            need(key not in reading.cells, "a cell twice")
            reading.cells[key] = score
            for word in direction:
                known = word in ("", "true", "false")
                need(known and reading.directions.setdefault(measure, word) == word, "directions")
        return [reading] if reading.cells else []
    return []


def readings(read):
    """A list of the one reading that rows make, or of none."""
    return lambda *given: attempt(read, *given)


NAMES = {
    "run": "run run_id runid runtag system system_id sys sysid model model_id model_name team method submission",
    "topic": "topic topics topic_id topicid query query_id queryid qid segment seg seg_id question question_id item doc_id",
    "measure": "measure metric metric_name evaluator scorer",
}
KNOWN = {"higher_is_better", "collection", "time", "tstamp", "timestamp"}


def tidy(files, measure=None):
    (content,) = files.values()
    return [each for header, rows in tables_of(content) for each in read_columns(header, rows, measure)]


def read_columns(header, rows, measure=None):
    """Every reading of a table with a row per score, or a column per measure."""
    plain = [re.sub(r"[\s-]+", "_", name.strip().lower()) for name in header]
    places = [
        [j for j, name in enumerate(plain) if name == role]
        or [j for j, name in enumerate(plain) if name in names.split()]
        for role, names in NAMES.items()
    ]
    readings = []
    for run, topic, named in itertools.product(*places[:2], places[2] or [None]):
        others = [j for j in range(len(header)) if j not in (run, topic, named) and plain[j] not in KNOWN]
        of_measures = [j for j in others if named is None and _has_numbers(rows, j)]
        for columns in ([[j] for j in others], [of_measures] if len(of_measures) > 1 else []):
            for chosen in columns:
                readings += attempt(_rows, header, plain, rows, (run, topic, named), chosen, measure)
    return readings


def number_of(rows, j):
    """What reads a cell of a column of scores; 1 and 0 where all cells are true or false."""
    truths = {row[j].strip().lower() for row in rows} <= {"true", "false"}
    return (lambda cell: float(cell.strip().lower() == "true")) if truths else number


def _holds_words(cells):
    """Whether no cell is a number, and some are words: such a column is left out with a note."""
    words = {cell for cell in cells if not is_missing(cell)} - {"true", "false", "inf", "+inf", "-inf"}
    return bool(words) and not any(re.fullmatch(r"[+-]?[\d.,]+(e[+-]?\d+)?", cell) for cell in cells)


def _has_numbers(rows, j):
    with contextlib.suppress(Unreadable):
        return any(number_of(rows, j)(row[j]) is not None for row in rows)
    return False


def _rows(header, plain, rows, at, columns, measure):
    run, topic, named = at
    stated = [j for j, name in enumerate(plain) if name == "higher_is_better" and len(columns) == 1][:1]
    readers = {j: number_of(rows, j) for j in columns}
    for row, j in itertools.product(rows, columns):
        alone = measure if len(columns) == 1 and measure is not None else header[j]
        name = row[named] if named is not None else alone
        if measure in (None, name):
            yield row[run], row[topic], name, readers[j](row[j]), *(row[k].strip().lower() for k in stated)


def wide(files):
    """Files by measure, each topics × runs; each may have a delimiter of its own."""
    choices = itertools.product(DELIMITERS, repeat=len(files))
    return [each for delimiters in choices for each in attempt(_wide, files, delimiters)]


def _wide(files, delimiters):
    for (measure, content), delimiter in zip(files.items(), delimiters, strict=True):
        header, rows = table_of(content, delimiter)
        named = header[0].lower() in TOPICS | {"id", ""} or re.search(r"[ _-]id$", header[0], re.IGNORECASE) is not None
        called = [
            j for j, name in enumerate(header) if name.lower() in TOPICS and len({row[j] for row in rows}) == len(rows)
        ]
        at = called[0] if called and (not named or header[0] == "") else 0 if named else None  # that of the topics
        runs = [j for j in range(len(header)) if j != at and not _holds_words([row[j].strip().lower() for row in rows])]
        runs = [j for j in runs if header[j] or at is None]
        need(runs, "no runs")
        for j in runs:
            for place, row in enumerate(rows, start=1):
                yield header[j], str(place) if at is None else row[at], measure, number_of(rows, j)(row[j])


@readings
def sakai(files):
    need("runs" in files and set(files) - {"runs", "topics"}, "no runs or no measure")
    runs, *topics = ([line.strip() for line in lines_of(files[name])] for name in ("runs", "topics") if name in files)
    lengths = set()
    for measure in set(files) - {"runs", "topics"}:
        rows = [line.split() for line in lines_of(files[measure])]
        lengths.add(len(rows))
        names = topics[0] if topics else [str(place) for place in range(1, len(rows) + 1)]
        need(len(names) == len(rows) and len(lengths) == 1 and all(len(row) == len(runs) for row in rows), "shape")
        for topic, row in zip(names, rows, strict=True):
            yield from ((run, topic, measure, number(cell)) for run, cell in zip(runs, row, strict=True))


@readings
def trec_eval(files):
    names = set()
    for name, content in files.items():
        run, cells = name.removesuffix(".eval"), []
        lines = [line.split("\t") if line.count("\t") >= 2 else line.split() for line in lines_of(content)]
        need(all(len(cells) == 3 for cells in lines), "columns")
        rows = [[cell.strip() for cell in cells] for cells in lines]
        if any(row[0] == "all" for row in rows) and not any(row[1] == "all" for row in rows):  # as ir_measures prints
            rows = [[row[1], row[0], row[2]] for row in rows]
        for measure, topic, value in rows:
            counts = measure in ("num_q", "num_ret", "num_rel", "num_rel_ret")
            if topic == "all":
                run = value if measure == "runid" else run
            elif topic.lower() != "all" and not counts and not measure.startswith(("runid", "relstring")):
                cells.append((topic, measure, number(value)))
        need(run not in names and cells, "the same run twice, or no score of a topic")
        names.add(run)
        yield from ((run, *cell) for cell in cells)


@readings
def wmt(files):
    """Lines ``run<TAB>score``, a file for each measure; the topics of a run are its lines, in their order."""
    tables = {}
    for name, content in files.items():
        table = tables.setdefault(re.sub(r"^en-de\.|(-src|-refA)?\.seg\.score$", "", name), {})
        for run, cell in fields_of(content, 2, 2):
            table.setdefault(run, []).append(number(cell))
    need(len({len(scores) for table in tables.values() for scores in table.values()}) == 1, "topics that differ")
    for measure, table in tables.items():
        for run, scores in table.items():
            yield from ((run, str(place), measure, score) for place, score in enumerate(scores, start=1))


def leaderboard(files, layout):
    """Lines of run, topic, measure and score; without runs a file is one, and known names tell topics from measures."""
    return [each for turned in (False, True) for each in attempt(_board, files, layout == "tot", turned)]


def _board(files, measures_first, turned):
    for name, content in files.items():
        lines = [
            (line.split(), line.split("\t") if line.count("\t") > 1 else line.split()) for line in lines_of(content)
        ]
        alone = len(lines[0][1]) == 3 and not measures_first
        rows = [[name, *map(str.strip, of_tabs)] if alone else words for words, of_tabs in lines]
        need(all(len(row) == 4 for row in rows) and alone >= turned, "columns")
        for row in rows[rows[0][3].lower() in ("value", "score") :]:
            run, topic, measure, score = (
                row[place] for place in ((0, 2, 1, 3) if measures_first or turned else range(4))
            )
            if topic.lower() != "all" and not (alone and measure.startswith(("num_", "runid", "relstring"))):
                yield run, topic, measure, number(score)


def whole(reading):
    """A list of the reading if it has a score of every run on every topic by every measure."""
    numbers = [len({key[axis] for key in reading.cells}) for axis in range(3)]
    full = None not in reading.cells.values() and len(reading.cells) == math.prod(numbers)
    return [reading] if full else []


# Labels: rows (topic, item, label), counted by gold and answer.


def fields_of(content, least, most, separator="\t", rest=False):
    rows = [line.split(separator, most - 1 if rest else -1) for line in lines_of(content)]
    need(all(least <= len(row) <= most for row in rows), "columns")
    return [[cell.strip() for cell in row] for row in rows]


def semeval_labels(content, gold=None):
    """Ids of a run may be numbers of lines, which become ids of the gold."""
    rows = [(label(row[1]), label(row[0]), row[2]) for row in fields_of(content, 3, 4, rest=True)]
    if gold is None or {row[:2] for row in rows} <= {row[:2] for row in gold}:
        return rows
    need([row[1] for row in rows] == [str(line) for line in range(1, len(rows) + 1)], "other items than the gold's")
    need([row[0] for row in rows] == [row[0] for row in gold], "other topics than the gold's")
    return [(*true[:2], row[2]) for row, true in zip(rows, gold, strict=True)]


def judgement_labels(content, gold=None):
    return [(row[0], row[2], row[3]) for row in fields_of(content, 4, 4, None)]


def table_labels(content, gold=None):
    for header, rows in tables_of(content):
        last = [name for name in ("label", "gold" if gold is None else "predicted") if name in header]
        without_topics = "topic" not in header
        if "item" in header and len(last) == 1 and not (without_topics and TOPICS & {name.lower() for name in header}):
            cells = [dict(zip(header, row, strict=True)) for row in rows]
            return [(label(row.get("topic", "all")), label(row["item"]), row[last[0]].strip()) for row in cells]
    raise Unreadable("columns")


def polarity_labels(content, gold=None):
    """Rows of entity, tweet and polarity, or judgements; the gold has no polarity of what is not about the entity."""
    if len(lines_of(content)[0].split("\t")) < 3:
        return judgement_labels(content)
    header, rows = table_of(content, "\t")
    need({"entity_id", "tweet_id", "polarity"} <= set(header), "columns")
    at = [header.index(name) for name in ("entity_id", "tweet_id", "polarity")]
    words = {"negative": "-1", "neutral": "0", "objective": "0", "positive": "1"}
    known = lambda text: words.get(text.strip().lower(), text.strip())  # noqa: E731
    return [(label(row[at[0]]), label(row[at[1]]), known(row[at[2]])) for row in rows]


def confusion(files, read, classes, none=()):
    """Counts by run and topic of all items but those whose gold is one of `none`."""
    gold, counts = read(files["gold"]), {}
    known = {row[:2] for row in gold if row[2] not in none}
    truth, left_out = _once(row for row in gold if row[:2] in known), {row[:2] for row in gold} - known
    need(truth and set(truth.values()) <= set(classes), "a gold label that is no class")
    for run in set(files) - {"gold"}:
        given = _once(row for row in read(files[run], gold) if row[:2] not in left_out)
        need(set(given) == set(truth) and set(given.values()) <= set(classes), "other items, or no class")
        for topic in {key[0] for key in truth}:
            pairs = [(truth[key], given[key]) for key in truth if key[0] == topic]
            counts[run, topic] = [[pairs.count((g, p)) for p in classes] for g in classes]
    return [Reading(counts)]


def _once(rows):
    rows = list(rows)
    found = {row[:2]: row[2] for row in rows}
    need(len(found) == len(rows), "an item twice")
    return found


# Distributions: rows (topic, shares).


def semeval_shares(content, gold=None, classes=FIVE):
    """Distributions; the gold may be labels that are counted, and there an item may be there twice."""
    first = fields_of(content, 1, 1 << 20)[0]
    if gold is None and len(first) in (3, 4) and len(first) != len(classes) + 1:
        labels = [(topic, said) for topic, _, said in semeval_labels(content)]
        need({said for _, said in labels} <= set(classes), "a gold label that is no class")
        given = {topic: [said for name, said in labels if name == topic] for topic, _ in labels}
        return [(topic, [said.count(name) / len(said) for name in classes]) for topic, said in given.items()]
    rows = fields_of(content, len(classes) + 1, len(classes) + 1)
    return [(row[0], [number(cell) for cell in row[1:]]) for row in rows]


def table_shares(content, gold=None):
    """Tables with a column per class, in the order of the gold's; shares by class."""
    for header, rows in tables_of(content):
        names = [name for name in header if name != "topic"]
        known = [set(shares) for _, shares in gold or []]
        if "topic" in header and len(names) > 1 and (gold is None or set(names) == known[0]):
            at = header.index("topic")
            return [(row[at], {name: number(row[header.index(name)]) for name in names}) for row in rows]
    raise Unreadable("columns")


def dialogue_shares(content, gold=None, aspect="A"):
    found = json_of(text_of(content))
    need(isinstance(found, list) and found, "no list of dialogues")
    rows = []
    for each in found:
        try:
            need(type(each["id"]) in (str, int) and str(each["id"]).strip(), "id")
            if gold is None:
                votes = [given["quality"][aspect] for given in each["annotations"]]
                need(votes and all(type(vote) is int and str(vote) in FIVE for vote in votes), "votes")
                shares = [votes.count(int(name)) / len(votes) for name in FIVE]
            else:
                given = each["quality"][aspect]
                need(set(given) == set(FIVE) and all(type(given[name]) in (int, float) for name in FIVE), "shape")
                shares = [number(repr(float(given[name]))) for name in FIVE]
        except (KeyError, TypeError, IndexError, OverflowError):
            raise Unreadable("shape") from None
        rows.append((str(each["id"]), shares))
    return rows


def distributions(files, read, rescale=False):
    """Shares by run and topic, with those of the gold under the run None."""
    gold = read(files["gold"])
    truth = _shares(gold, gold, rescale)
    given = {None: truth} | {run: _shares(read(files[run], gold), gold, rescale) for run in files if run != "gold"}
    need(all(set(rows) == set(truth) for rows in given.values()), "other topics than the gold's")
    return [Reading({(run, topic): shares for run, rows in given.items() for topic, shares in rows.items()})]


def _shares(rows, gold, rescale):
    found = {}
    for topic, values in rows:
        values = [values[name] for name in gold[0][1]] if isinstance(values, dict) else values
        need(label(topic) not in found and not any(value is None or value < 0 for value in values), "no probability")
        total = sum(values)
        need(0 < total < math.inf if rescale else abs(total - 1) <= 1.000001e-6, "sum")
        found[topic] = [value / total for value in values] if rescale else values
    return found


# Labels of people and answers of judges: rows (who, item, label).


def annotations(files, classes):
    """The label of each person and item, and sorted answers of each judge and item, of every pair of readings."""
    readings = []
    for said, answered in itertools.product(_answers(files["people"], True), _answers(files["judges"], False)):
        with contextlib.suppress(Unreadable):
            readings.append(Reading(_judge(said, answered, classes)))
    return readings


def _answers(content, once):
    if content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        with contextlib.suppress(Unreadable, AttributeError):
            found = json_of(text_of(content))
            rows = [(who, item, said) for who, given in found.items() for item, said in given.items()]
            need(rows and not any(isinstance(row[2], bool | list | dict) for row in rows), "no label")
            yield [(who, item, "" if said is None else str(said).strip()) for who, item, said in rows]
        return
    for header, rows in tables_of(content):
        cells = [dict(zip(header, row, strict=True)) for row in rows]
        if "item" not in header or "topic" in header or not all(row["item"].strip() for row in cells):
            continue
        if "annotator" not in header:
            cells = [{"item": row["item"], "annotator": who, "label": row[who]}
                     for who in header if who != "item" for row in cells]  # fmt: skip
        elif "label" not in header or not all(row["annotator"].strip() for row in cells):
            continue
        found = [(row["annotator"], row["item"], row["label"].strip()) for row in cells]
        if not once or len({row[:2] for row in found}) == len(found):
            yield found


def _judge(said, answered, classes):
    items, answers = {item for _, item, _ in said}, {}
    labels = {("people", who, item): label for who, item, label in said if not is_missing(label)}
    for judge, item, answer in answered:
        answers.setdefault(("judges", judge, item), []).extend([] if is_missing(answer) else [answer])
    need({*labels.values(), *itertools.chain(*answers.values())} <= set(classes), "no class")
    need({key[2] for key in labels} == items, "an item that nobody labelled")
    judged = {key[1:] for key, each in answers.items() if each}
    need(
        judged and judged == set(itertools.product({judge for _, judge, _ in answers}, items)), "no answer, or to what"
    )
    return labels | {key: sorted(each) for key, each in answers.items()}
