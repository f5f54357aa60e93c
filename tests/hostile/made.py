"""Right files of every format, made by chance or cut from real ones where METAEVAL_DATA names a folder with data."""

import json
import os
from functools import cache
from pathlib import Path

from tests.hostile.truth.runs import FIVE

DATA = Path(os.environ.get("METAEVAL_DATA", "data"))

NAMES = ["a", "b", "BM25", "007", "7", "NA", "null", "run 1", "Δ-run", "x$y", "true", "1e3", "a,b", 'q"q', "all2", "-"]


@cache
def real(name):
    """The content of a real file; empty where there is none."""
    path = DATA / name
    return path.read_bytes() if path.is_file() else b""


def cut(rng, rows, most):
    """Some neighbouring rows, at least one."""
    start = rng.randrange(len(rows))
    return rows[start : start + rng.randint(1, most)]


def pick_labels(rng, least, most, names=NAMES):
    return rng.sample(names, rng.randint(least, most))


def score(rng):
    return rng.choice([rng.random(), round(rng.random(), 3), 0.0, 1.0, rng.randint(0, 4) / 4])


def quote(cell, separator):
    if any(letter in cell for letter in (separator, '"', "\n")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def make_tidy(rng, separator=","):
    runs, topics = pick_labels(rng, 2, 4), pick_labels(rng, 1, 4)
    measures = rng.sample(["AP", "nDCG@20", "NMD", "mine"], rng.randint(1, 2))
    rows = [[r, t, m, repr(score(rng))] for r in runs for t in topics for m in measures]
    if rng.random() < 0.3:
        rng.shuffle(rows)
    if rng.random() < 0.15:
        del rows[rng.randrange(len(rows))]
    header = ["run", "topic", "measure", "score"]
    if rng.random() < 0.2:
        header.append("higher_is_better")
        word = {"AP": "true", "nDCG@20": "", "NMD": "false", "mine": rng.choice(["true", "false", ""])}
        rows = [[*row, word[row[2]]] for row in rows]
    order = list(range(len(header)))
    if rng.random() < 0.2:
        rng.shuffle(order)
    lines = [separator.join(quote(row[k], separator) for k in order) for row in [header, *rows]]
    return ("\n".join(lines) + "\n").encode()


def make_wide(rng, runs=None, topics=None, labelled=None):
    runs = runs or pick_labels(rng, 2, 4, [name for name in NAMES if name != "true"])
    topics = topics or pick_labels(rng, 2, 4)
    labelled = rng.random() < 0.7 if labelled is None else labelled
    head = [rng.choice(["topic", "qid", ""])] if labelled else []
    rows = [head + runs]
    for topic in topics:
        cells = [repr(score(rng)) if rng.random() < 0.97 else rng.choice(["", "NA"]) for _ in runs]
        rows.append([topic] * labelled + cells)
    return ("\n".join(",".join(quote(cell, ",") for cell in row) for row in rows) + "\n").encode()


def make_real_wide(rng, measure):
    """A cut from a real TREC matrix: a few runs and topics."""
    content = real(f"trec/web2013_{measure}.csv")
    if not content:
        return b""
    rows = [line.split(",") for line in content.decode().splitlines()[: rng.randint(5, 12)]]
    width = rng.randint(3, 8)
    return "\n".join(",".join(row[:width]) for row in rows).encode()


def make_sakai(rng):
    runs, n_topics = pick_labels(rng, 1, 4), rng.randint(1, 4)
    files = {"runs": "".join(f"{run}\n" for run in runs)}
    if rng.random() < 0.5:
        files["topics"] = "".join(f"{topic}\n" for topic in pick_labels(rng, n_topics, n_topics))
    for measure in rng.sample(["AP", "NMD", "mine"], rng.randint(1, 2)):
        files[measure] = "".join(" ".join(repr(score(rng)) for _ in runs) + "\n" for _ in range(n_topics))
    return {name: text.encode() for name, text in files.items()}


def make_trec_eval(rng):
    files, topics, n_runs = {}, pick_labels(rng, 1, 4, ["1", "2", "301", "q7", "Δ"]), rng.randint(1, 3)
    for position in range(n_runs):
        lines = [f"runid\tall\tteam{position}\n"] if rng.random() < 0.5 else []
        for topic in topics:
            lines += [f"num_rel               \t{topic}\t{rng.randint(0, 9)}\n"] if rng.random() < 0.5 else []
            lines += [f"{measure:<22}\t{topic}\t{score(rng):.4f}\n" for measure in ("map", "recip_rank")]
        lines += [f"map                   \tall\t{score(rng):.4f}\n"]
        files[f"file{position}"] = "".join(lines).encode()
    return files


def _answers(rng, gold, classes, order=True):
    rows = [(topic, item, rng.choice(classes)) for topic, item, _ in gold]
    if order and rng.random() < 0.5:
        rng.shuffle(rows)
    if rng.random() < 0.1:
        del rows[rng.randrange(len(rows))]
    if rows and rng.random() < 0.1:
        at = rng.randrange(len(rows))
        rows[at] = (*rows[at][:2], rng.choice(["9", "-9", "x", ""]))
    return rows


def make_labels(rng, classes, one_topic=False):
    """Gold and runs as lists of (topic, item, label)."""
    topics = ["all"] if one_topic else pick_labels(rng, 1, 3, ["amy", "#x", "t 1", "Δ", "007"])
    gold = [(topic, f"{i}{j}", rng.choice(classes)) for i, topic in enumerate(topics) for j in range(rng.randint(1, 5))]
    return gold, {f"run{k}": _answers(rng, gold, classes) for k in range(rng.randint(1, 3))}


def make_semeval_c(rng):
    whole = real("semeval2016/twitter-2016test-CE.txt")
    if whole and rng.random() < 0.4:
        rows = [line.split("\t") for line in cut(rng, whole.decode().splitlines(), 20)]
        gold = [(row[1], row[0], row[2]) for row in rows]
        runs = {"real": [(topic, item, rng.choice(FIVE)) for topic, item, _ in gold]}
    else:
        gold, runs = make_labels(rng, FIVE)
    write = lambda rows: "".join(f"{item}\t{topic}\t{said}\n" for topic, item, said in rows).encode()  # noqa: E731
    files = {run: write(rows) for run, rows in runs.items()}
    if rng.random() < 0.2:
        numbered = [(topic, str(line), rng.choice(FIVE)) for line, (topic, _, _) in enumerate(gold, start=1)]
        files["numbered"] = write(numbered)
    return write(gold), files


def make_judgements(rng):
    classes = ("0", "1", "2", "3")
    whole = real("llmjudge/qrels.txt")
    if whole and rng.random() < 0.4:
        rows = [line.split() for line in cut(rng, whole.decode().splitlines(), 20)]
        gold = [(row[0], row[2], row[3]) for row in rows]
        runs = {"real": _answers(rng, gold, classes)}
    else:
        gold, runs = make_labels(rng, classes)
        gold = [(topic.replace(" ", "_"), item, said) for topic, item, said in gold]
        runs = {run: [(topic.replace(" ", "_"), *rest) for topic, *rest in rows] for run, rows in runs.items()}
    write = lambda rows: "".join(f"{topic} 0 {item} {said or 'x'}\n" for topic, item, said in rows).encode()  # noqa: E731
    return write(gold), {run: write(rows) for run, rows in runs.items()}


def make_label_tables(rng, classes=("no", "maybe", "yes")):
    gold, runs = make_labels(rng, classes)

    def write(rows, name):
        lines = [f"topic,item,{name}", *(",".join(quote(cell, ",") for cell in row) for row in rows)]
        return ("\n".join(lines) + "\n").encode()

    return write(gold, rng.choice(["label", "gold"])), {run: write(rows, "predicted") for run, rows in runs.items()}


def _shares(rng, K=5):
    counts = [rng.randint(0, 5) for _ in range(K)]
    counts[rng.randrange(K)] += 1
    return [count / sum(counts) for count in counts]


def make_shares(rng, K=5):
    topics = pick_labels(rng, 1, 4, ["amy", "#x", "t 1", "Δ", "007"])
    runs = {}
    for k in range(rng.randint(1, 3)):
        rows = [(topic, _shares(rng, K)) for topic in rng.sample(topics, len(topics))]
        if rng.random() < 0.15 and len(rows) > 1:
            rows.pop()
        runs[f"run{k}"] = rows
    return [(topic, _shares(rng, K)) for topic in topics], runs


def make_semeval_e(rng):
    gold, runs = make_shares(rng)
    digits = rng.choice([None, None, 3])
    show = (lambda value: f"{value:.3f}") if digits else repr
    write = lambda rows: "".join("\t".join([topic, *map(show, row)]) + "\n" for topic, row in rows).encode()  # noqa: E731
    if rng.random() < 0.4:  # labels as gold
        lines = [f"{n}\t{topic}\t{rng.choice(FIVE)}\n" for topic, _ in gold for n in range(rng.randint(1, 4))]
        return "".join(lines).encode(), {run: write(rows) for run, rows in runs.items()}
    return write(gold), {run: write(rows) for run, rows in runs.items()}


def make_probabilities(rng):
    names = ["low", "mid", "high"]
    gold, runs = make_shares(rng, 3)

    def write(rows, order):
        head = ",".join(["topic", *(names[k] for k in order)])
        return "\n".join(
            [head, *(",".join([topic, *(repr(row[k]) for k in order)]) for topic, row in rows), ""]
        ).encode()

    return write(gold, [0, 1, 2]), {run: write(rows, rng.sample(range(3), 3)) for run, rows in runs.items()}


def make_dialogues(rng):
    whole = real("stc3/gold.json")
    if whole and rng.random() < 0.3:
        return _real_dialogues(rng)
    gold, runs = make_shares(rng)
    votes = lambda: [{"quality": {one: rng.randint(-2, 2) for one in "AES"}} for _ in range(rng.randint(1, 4))]  # noqa: E731
    truth = [{"id": topic, "annotations": votes()} for topic, _ in gold]
    files = {}
    for run, rows in runs.items():
        said = [{"id": topic, "quality": {"A": dict(zip(FIVE, row, strict=True))}} for topic, row in rows]
        files[run] = json.dumps(said).encode()
    return json.dumps(truth).encode(), files


@cache
def _real_json(name):
    return json.loads(real(name))


def _real_dialogues(rng):
    gold = cut(rng, _real_json("stc3/gold.json"), 4)
    wanted = {one["id"] for one in gold}
    run = [one for one in _real_json("stc3/runs/181108-0.json") if one["id"] in wanted]
    return json.dumps(gold).encode(), {"181108-0": json.dumps(run).encode()}


def make_polarity(rng):
    layout = rng.choice(["message", "phrase", "replab", "judgements"])
    words = ["positive", "neutral", "negative", "objective"]
    if layout == "judgements":
        gold, runs = make_labels(rng, ("-1", "0", "1"))
        write = lambda rows: "".join(f"{t.replace(' ', '_')} 0 {i} {s or 'x'}\n" for t, i, s in rows).encode()  # noqa: E731
    elif layout == "replab":
        gold, runs = make_labels(rng, ("POSITIVE", "NEUTRAL", "NEGATIVE"))
        if rng.random() < 0.3:
            gold = [*gold[1:], (*gold[0][:2], rng.choice(["", "NULL", "null"]))]
        line = lambda *cells: "\t".join(f'"{cell}"' for cell in cells) + "\n"  # noqa: E731
        write = lambda rows: (line("entity_id", "tweet_id", "polarity") + "".join(line(*row) for row in rows)).encode()  # noqa: E731
    else:
        gold, runs = make_labels(rng, words, one_topic=True)
        if rng.random() < 0.2:
            gold = [*gold[1:], (*gold[0][:2], rng.choice(["", "NULL", "null"]))]
        middle = "\t3\t7" if layout == "phrase" else ""
        text = "\tsome text" if layout == "phrase" or rng.random() < 0.5 else ""
        write = lambda rows: "".join(f"NA\t{item}{middle}\t{said}{text}\n" for _, item, said in rows).encode()  # noqa: E731
    return write(gold), {run: write(rows) for run, rows in runs.items()}
