"""Gold and runs, read independently into confusion counts, or into distributions by run and topic."""

import json
import math

from tests.hostile.truth.tables import DELIMITERS, Unreadable, is_missing, label, lines_of, number, table_of, text_of

FIVE = ("-2", "-1", "0", "1", "2")
TOPICS = {"topic", "topics", "topic_id", "topicid", "query", "query_id", "queryid", "qid"}
POLARITY = {"negative": "-1", "neutral": "0", "objective": "0", "positive": "1"}


def fields_of(content, least, most, separator="\t", rest=False):
    rows = [line.split(separator, most - 1 if rest else -1) for line in lines_of(content)]
    if any(not least <= len(row) <= most for row in rows):
        raise Unreadable("columns")
    return [[cell.strip() for cell in row] for row in rows]


# Labels: lists of (topic, item, label).


def semeval_labels(content):
    return [(label(row[1]), label(row[0]), row[2]) for row in fields_of(content, 3, 4, rest=True)]


def judgement_labels(content):
    return [(row[0], row[2], row[3]) for row in fields_of(content, 4, 4, None)]


def table_labels(content, also):
    for delimiter in DELIMITERS:
        try:
            header, rows = table_of(content, delimiter)
        except Unreadable:
            continue
        last = [name for name in ("label", also) if name in header]
        if "item" in header and len(last) == 1:
            item, said = header.index("item"), header.index(last[0])
            if "topic" in header:
                topics = [label(row[header.index("topic")]) for row in rows]
            elif TOPICS & {name.lower() for name in header}:
                continue
            else:
                topics = ["all"] * len(rows)
            return [(topic, label(row[item]), row[said].strip()) for topic, row in zip(topics, rows, strict=True)]
    raise Unreadable("columns")


def polarity_labels(content):
    first = [cell.strip().strip('"') for cell in lines_of(content)[0].split("\t")]
    if "tweet_id" in first:
        header, rows = table_of(content, "\t")
        at = [header.index(name) if name in header else None for name in ("entity_id", "tweet_id", "polarity")]
        if None in at:
            raise Unreadable("columns")
        return [(row[at[0]], row[at[1]], _polarity(row[at[2]])) for row in rows]
    if len(first) >= 3:
        found = []
        for row in fields_of(content, 3, 1 << 20):
            phrase = len(row) >= 5 and row[2].isdigit() and row[3].isdigit()
            item = "/".join(row[1:4]) if phrase else row[1]
            found.append(("all", item, _polarity(row[4] if phrase else row[2])))
        return found
    return judgement_labels(content)


def _polarity(text):
    return POLARITY.get(text.strip().lower(), text.strip())


def number_lines(run, gold):
    """Ids of a run that are line numbers become those of the gold."""
    known = {(topic, item) for topic, item, _ in gold}
    if all((topic, item) in known for topic, item, _ in run):
        return run
    numbered = [item for _, item, _ in run] == [str(line) for line in range(1, len(run) + 1)]
    if numbered and [topic for topic, _, _ in run] == [topic for topic, _, _ in gold]:
        return [(topic, item, said) for (topic, item, _), (_, _, said) in zip(gold, run, strict=True)]
    raise Unreadable("items that the gold does not have")


def unrelated(gold):
    """Items of the gold without a polarity, which may be left out if that is said."""
    return {(topic, item) for topic, item, said in gold if said in ("", "NULL", "null")}


def unique(rows):
    found = {(topic, item): said for topic, item, said in rows}
    if len(found) < len(rows):
        raise Unreadable("an item twice")
    return found


def confusion(gold, runs, classes, missing="raise", invalid="raise"):
    """Counts by (run, topic) as K × K tuples, and whether a policy did something that has to be said."""
    K, code = len(classes), {name: k for k, name in enumerate(classes)}
    truth = unique(gold)
    if any(said not in code for said in truth.values()):
        raise Unreadable("a gold label that is no class")
    topics = list(dict.fromkeys(topic for topic, _ in truth))
    answers, reported, gone_runs, bad = {}, False, set(), []
    for run, rows in runs.items():
        given = unique(rows)
        if not set(given) <= set(truth):
            raise Unreadable("an item that the gold does not have")
        for key, gold_label in truth.items():
            g, said = code[gold_label], given.get(key)
            if said in code:
                answers[run, key] = code[said]
                continue
            policy = missing if said is None or is_missing(said) else invalid
            reported = True
            if policy == "raise":
                raise Unreadable("missing or invalid")
            if policy == "worst":
                answers[run, key] = K - 1 if 2 * g <= K - 1 else 0
            elif policy == "clip":
                answers[run, key] = _clip(said, classes)
            elif policy == "drop-run":
                gone_runs.add(run)
            else:
                bad.append((run, key[0]))
    gone_topics = {topic for run, topic in bad if run not in gone_runs}
    kept_runs = [run for run in runs if run not in gone_runs]
    kept_topics = [topic for topic in topics if topic not in gone_topics]
    if not kept_runs or not kept_topics:
        raise Unreadable("nothing is left")
    counted = {key: (code[truth[key[1]]], p) for key, p in answers.items()}
    return _count(counted, kept_runs, kept_topics, K), reported


def _count(counted, runs, topics, K):
    counts = {(run, topic): [[0] * K for _ in range(K)] for run in runs for topic in topics}
    for (run, (topic, _)), (g, p) in counted.items():
        if (run, topic) in counts:
            counts[run, topic][g][p] += 1
    return counts


def _clip(said, classes):
    scale = [number(name) for name in classes]
    value = number(said)
    if value is None or None in scale or min(scale) <= value <= max(scale):
        raise Unreadable("clip")
    return scale.index(max(scale) if value > max(scale) else min(scale))


# Distributions: dictionaries of topic to list of shares.


def shares(rows, rescale):
    found = {}
    for topic, values in rows:
        if label(topic) in found or any(value is None or value < 0 for value in values):
            raise Unreadable("a topic twice, or no probability")
        total = math.fsum(values)
        if not (total > 0 if rescale else abs(total - 1) <= 1.000001e-6):
            raise Unreadable("sum")
        found[topic] = [value / total for value in values] if rescale else values
    return found


def semeval_shares(content, classes):
    return [(row[0], [number(cell) for cell in row[1:]]) for row in _width(content, len(classes) + 1)]


def _width(content, width):
    return fields_of(content, width, width)


def semeval_gold(content, classes):
    """Distributions, or labels that are counted."""
    first = fields_of(content, 1, 1 << 20)[0]
    try:
        is_shares = len(first) == len(classes) + 1 and None not in [number(cell) for cell in first[1:]]
    except Unreadable:
        is_shares = False
    if is_shares or len(first) not in (3, 4):
        return semeval_shares(content, classes)
    # As in metaeval, an item may be there twice here: it is counted, not matched.
    counts = {}
    for topic, _, said in semeval_labels(content):
        if said not in classes:
            raise Unreadable("a gold label that is no class")
        counts.setdefault(topic, [0] * len(classes))[classes.index(said)] += 1
    return [(topic, [count / sum(row) for count in row]) for topic, row in counts.items()]


def table_shares(content, classes=None):
    for delimiter in DELIMITERS:
        try:
            header, rows = table_of(content, delimiter)
        except Unreadable:
            continue
        names = [name for name in header if name != "topic"]
        if "topic" in header and len(names) > 1 and (classes is None or set(names) == set(classes)):
            order = [header.index(name) for name in (classes or names)]
            at = header.index("topic")
            return (classes or names), [(row[at], [number(row[k]) for k in order]) for row in rows]
    raise Unreadable("columns")


def json_of(content):
    def refuse(_):
        raise Unreadable("a constant that JSON does not have")

    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise Unreadable("a key twice")
        return dict(pairs)

    try:
        return json.loads(text_of(content), parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Unreadable("no JSON") from None


def _dialogues(content):
    found = json_of(content)
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise Unreadable("no list of dialogues")
    for one in found:
        name = one.get("id")
        if type(name) not in (str, int) or not str(name).strip():
            raise Unreadable("id")
        yield str(name), one


def dialogue_gold(content, aspect):
    rows = []
    for topic, one in _dialogues(content):
        try:
            votes = [annotation["quality"][aspect] for annotation in one["annotations"]]
        except (KeyError, TypeError, IndexError):
            raise Unreadable("shape") from None
        if not votes or any(type(vote) is not int or str(vote) not in FIVE for vote in votes):
            raise Unreadable("votes")
        rows.append((topic, [votes.count(int(name)) / len(votes) for name in FIVE]))
    return rows


def dialogue_run(content, aspect):
    rows = []
    for topic, one in _dialogues(content):
        try:
            given = one["quality"][aspect]
            values = [given[name] for name in FIVE]
        except (KeyError, TypeError, IndexError):
            raise Unreadable("shape") from None
        if set(given) != set(FIVE) or any(type(value) not in (int, float) for value in values):
            raise Unreadable("shape")
        try:
            rows.append((topic, [number(repr(float(value))) for value in values]))
        except OverflowError:
            raise Unreadable("too large") from None
    return rows


def distributions(gold, runs, K, missing="raise", rescale=False):
    """Shares by (run, topic), with those of the gold under the run None, and whether something has to be said."""
    truth = shares(gold, rescale)
    given = {run: shares([row for row in rows if set(row[1]) != {None}], rescale) for run, rows in runs.items()}
    if any(not set(one) <= set(truth) for one in given.values()):
        raise Unreadable("a topic that the gold does not have")
    gaps = [(run, topic) for run, one in given.items() for topic in truth if topic not in one]
    if gaps and missing == "raise":
        raise Unreadable("missing")
    gone = {gap[missing == "drop-topic"] for gap in gaps} if missing != "worst" else set()
    kept_runs = [run for run in given if missing != "drop-run" or run not in gone]
    kept_topics = [topic for topic in truth if missing != "drop-topic" or topic not in gone]
    if not kept_runs or not kept_topics:
        raise Unreadable("nothing is left")
    for run, topic in gaps if missing == "worst" else ():
        centre = sum(k * share for k, share in enumerate(truth[topic]))
        given[run][topic] = [float(k == (K - 1 if centre <= (K - 1) / 2 + 1e-9 else 0)) for k in range(K)]
    found = {(run, topic): given[run][topic] for run in kept_runs for topic in kept_topics}
    found.update({(None, topic): truth[topic] for topic in kept_topics})
    return found, bool(gaps)
