"""One table of formats: how right files are made, how metaeval reads them, and what they say."""

import io
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

import metaeval as me
from metaeval.datasets import replab
from tests.hostile import truth
from tests.hostile.case import chance
from tests.hostile.mutate import mutate_json, mutate_text
from tests.hostile.truth import FIVE

NAMES = ["a", "b", "BM25", "007", "7", "NA", "null", "run 1", "Δ-run", "x$y", "true", "1e3", "a,b", 'q"q', "all2", "-"]
WORDS = [name for name in NAMES if not set(name) & set(' ,"')]
MEASURES = ["AP", "nDCG@20", "NMD", "mine"]


@dataclass(frozen=True)
class Format:
    """`make` gives files by name and options of `read`; among these, `excused` says that a refusal may be right."""

    make: Callable
    expect: Callable  # (files, options) -> every reading that can be defended
    read: Callable  # (folder, files, options) -> what metaeval makes of the files in a folder
    cells: Callable  # what metaeval read -> cells by labels
    mutate: Callable = mutate_text
    mutated: float = 0.9  # the share of mutated files


def pick(rng, least, most, names=NAMES):
    return rng.sample(names, rng.randint(least, most))


def score(rng):
    return rng.choice([rng.random(), round(rng.random(), 3), 0.0, 1.0, rng.randint(0, 4) / 4])


def quote(cell, separator=","):
    return '"' + cell.replace('"', '""') + '"' if any(letter in cell for letter in (separator, '"', "\n")) else cell


def join(rows, separator=","):
    return "".join(separator.join(quote(cell, separator) for cell in row) + "\n" for row in rows).encode()


def lines(rows, form):
    return "".join(form.format(*row) + "\n" for row in rows).encode()


def make_tidy(rng):
    runs, topics = pick(rng, 2, 4), pick(rng, 1, 4)
    measures = pick(rng, 1, 2, MEASURES)
    rows = [[r, t, m, repr(score(rng))] for r in runs for t in topics for m in measures]
    if chance(rng, 0.15):
        del rows[rng.randrange(len(rows))]
    rows.insert(0, ["run", "topic", "measure", "score"])
    if chance(rng, 0.2):
        word = {"AP": "true", "nDCG@20": "", "NMD": "false", "mine": rng.choice(["true", "false", ""])}
        rows = [[*row, word.get(row[2], "higher_is_better")] for row in rows]
    order = rng.sample(range(len(rows[0])), len(rows[0])) if chance(rng, 0.2) else range(len(rows[0]))
    rows[1:] = rng.sample(rows[1:], len(rows) - 1) if chance(rng, 0.3) else rows[1:]
    suffix = rng.choice([".csv", ".csv", ".tsv", ".txt"])
    content = join([[row[k] for k in order] for row in rows], "\t" if suffix == ".tsv" else ",")
    return {f"pilot{suffix}": content}, {"format": "tidy", "measure": rng.choice([None, None, None, "AP", "mine"])}


def make_wide(rng):
    several = chance(rng, 0.3)
    runs, topics = pick(rng, 2, 4, [*NAMES[:4], "x", "y"]), pick(rng, 2, 4)
    labelled, files = several or chance(rng, 0.7), {}
    for stem in ("ap", "ndcg20") if several else ("ndcg20",):
        cells = [[repr(score(rng)) if chance(rng, 0.97) else rng.choice(["", "NA"]) for _ in runs] for _ in topics]
        rows = [[rng.choice(["topic", "qid", ""])] * labelled + runs]
        rows += [[topic] * labelled + row for topic, row in zip(topics, cells, strict=True)]
        files[f"web2013_{stem}.csv"] = join(rows)
    return files, {"format": rng.choice(["wide", None])}


def expect_wide(files, options):
    stems = {"web2013_ap.csv": "AP", "web2013_ndcg20.csv": "nDCG@20"}
    readings = truth.wide({stems[name]: content for name, content in files.items()})
    if options["format"] is None and len(files) == 1:
        readings += truth.tidy(files) + truth.trec_eval(dict(zip(["web2013_ndcg20"], files.values(), strict=True)))
    return readings


def make_sakai(rng):
    runs, n_topics = pick(rng, 1, 4), rng.randint(1, 4)
    files = {"runs": lines([[run] for run in runs], "{}")}
    if rng.choice([True, False]):
        files["topics"] = lines([[topic] for topic in pick(rng, n_topics, n_topics)], "{}")
    for measure in pick(rng, 1, 2, MEASURES):
        files[measure] = "".join(" ".join(repr(score(rng)) for _ in runs) + "\n" for _ in range(n_topics)).encode()
    return files, {"format": "sakai"}


def make_trec_eval(rng):
    files, topics = {}, pick(rng, 1, 4, ["1", "2", "301", "q7", "Δ"])
    for position in range(rng.randint(1, 3)):
        rows = [["runid", "all", f"team{position}"]] * rng.randint(0, 1)
        for topic in topics:
            rows += [["num_rel", topic, rng.randint(0, 9)]] * rng.randint(0, 1)
            rows += [[measure, topic, f"{score(rng):.4f}"] for measure in ("map", "recip_rank")]
        files[f"file{position}.eval"] = lines([*rows, ["map", "all", "0.5000"]], "{:<22}\t{}\t{}")
    return files, {"format": "trec_eval"}


def make_wmt(rng):
    runs, n_topics, gaps = pick(rng, 1, 4), rng.randint(1, 4), rng.choice([0, 0, 0.1])
    start, files = rng.choice(["", "en-de."]), {}
    for measure in pick(rng, 1, 2, ["AP", "NMD", "mine"]):
        rows = [[run, "None" if chance(rng, gaps) else repr(score(rng))] for run in runs for _ in range(n_topics)]
        files[f"{start}{measure}{rng.choice(['', '-src', '-refA'])}.seg.score"] = lines(rows, "{}\t{}")
    return files, {}


def make_board(rng):
    form, layout = rng.choice([("{0}\t{2} {1}\t{3}", "tot"), ("{0}\t{1}\t{2}\t{3}", "ir_measures")])
    runs, topics, measures = pick(rng, 1, 3, WORDS), pick(rng, 1, 4, WORDS), pick(rng, 1, 2, MEASURES)
    rows = [[run, topic, measure, score(rng)] for run in runs for topic in topics for measure in measures]
    rows += [[run, "all", measure, 0.5] for run in runs for measure in measures if chance(rng, 0.3)]
    rng.shuffle(rows)
    parts = [rows[::2], rows[1::2]] if chance(rng, 0.4) and len(rows) > 1 else [rows]
    only_sums = any(all(row[1] == "all" for row in part) for part in parts)
    files = {f"board{k}": lines(part, form) for k, part in enumerate(parts)}
    return files, {"format": layout, "excused": only_sums}


LABEL_TYPES = [  # usual ones, and unusual ones that may be refused
    *[lambda labels: pa.array(labels, pa.string())] * 5, lambda labels: pa.array(labels, pa.large_string()),
    lambda labels: pa.array(labels).dictionary_encode(),
    lambda labels: pa.array([sorted(set(labels)).index(one) for one in labels], pa.int64()),
    lambda labels: pa.array([one.encode() for one in labels], pa.binary()),
    lambda labels: pa.array([None, *labels[1:]], pa.string()), lambda labels: pa.array(["", *labels[1:]], pa.string()),
    lambda labels: pa.array([[one] for one in labels]),
]  # fmt: skip
SCORE_TYPES = [
    *[lambda values, whole: pa.array(values, pa.float64())] * 12, lambda values, whole: pa.array(values, pa.float32()),
    lambda values, whole: pa.array(whole, pa.int32()), lambda values, whole: pa.array(whole, pa.uint64()),
    lambda values, whole: pa.array([value == 0 for value in values]), lambda values, whole: pa.array(list(map(repr, values))),
    lambda values, whole: pa.array(whole, pa.timestamp("ms")), lambda values, whole: pa.array([float("nan"), *values[1:]]),
    lambda values, whole: pa.array([float("inf"), *values[1:]]), lambda values, whole: pa.array([None, *values[1:]]),
    lambda values, whole: pa.array(whole, pa.int64()).cast(pa.decimal128(30, 3)),
    lambda values, whole: pa.array([[value] for value in values]),
]  # fmt: skip


def make_parquet(rng):
    keys = list(zip(*itertools.product(pick(rng, 2, 4), pick(rng, 1, 4), pick(rng, 1, 2, MEASURES)), strict=True))
    kinds, of_score = [rng.randrange(len(LABEL_TYPES)) for _ in keys], rng.randrange(len(SCORE_TYPES))
    columns = {name: LABEL_TYPES[kind](list(labels))
               for name, kind, labels in zip(("run", "topic", "measure"), kinds, keys, strict=True)}  # fmt: skip
    values = [score(rng) for _ in keys[0]]
    columns["score"] = SCORE_TYPES[of_score](values, [int(4 * value) for value in values])
    if chance(rng, 0.2):
        columns["extra"] = pa.array(range(len(values)))
    sink = io.BytesIO()
    pq.write_table(
        pa.table(columns), sink, write_page_checksum=True, compression=rng.choice(["snappy", "zstd", "none", "gzip"]),
        row_group_size=rng.choice([1, 3, 1000]), use_dictionary=rng.choice([True, False]),
    )  # fmt: skip
    return {"pilot.parquet": sink.getvalue()}, {"excused": max(kinds) > 6 or of_score > 11}


def expect_parquet(files, options):
    """Every reading of what pandas sees; none where it cannot read the file, or no score is in it."""
    say = lambda cell: cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)  # noqa: E731
    try:
        frame = pq.ParquetFile(io.BytesIO(files["pilot.parquet"])).read().to_pandas()
        rows = [
            ["" if cell is None or cell != cell else say(cell) for cell in row] for row in frame.itertuples(index=False)
        ]
        return truth.read_columns([str(name) for name in frame.columns], rows)
    except Exception:
        return []


def damage(rng, content):
    at = rng.randrange(len(content))
    flipped = bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    return content[:at] + (b"" if chance(rng, 0.3) else flipped)


def score_cells(scores):
    labels = itertools.product(scores.runs, scores.topics, map(str, scores.measures))
    return dict(zip(labels, scores.values.ravel().tolist(), strict=True))


def read_scores(folder, files, options, whole=False):
    return me.io.read_scores(folder if whole or len(files) > 1 else folder / next(iter(files)), **options)


def of_scores(make, expect, whole=False, **more):
    """A format of scores: those of its readings that lack no score."""
    settled = lambda files, options: [each for one in expect(files, options) for each in truth.whole(one)]  # noqa: E731
    return Format(make, settled, partial(read_scores, whole=whole), score_cells, **more)


TWEETS = ["amy", "#x", "t 1", "Δ", "007"]


def of_labels(format, classes, write, read, topics=TWEETS, called=None, none=()):
    """A format of labels, `called` otherwise in runs; `write` takes rows and whether they are gold, `read` is of truth."""

    def make(rng):
        gold = [(topic, f"{i}{j}", rng.choice(classes)) for i, topic in enumerate(pick(rng, 1, len(topics[:3]), topics))
                for j in range(rng.randint(1, 5))]  # fmt: skip
        if none and chance(rng, 0.25):
            gold[0] = (*gold[0][:2], rng.choice(none))
        files = {"gold": write(gold, True)}
        for k in range(rng.randint(1, 3)):
            answers = [(*row[:2], rng.choice(classes)) for row in gold]
            if rng.choice([True, False]):
                rng.shuffle(answers)
            if chance(rng, 0.1):
                answers[0] = (*answers[0][:2], rng.choice(["9", "-9", "x", ""]))
            files[f"run{k}"] = write(answers[1:] if chance(rng, 0.1) else answers, False)
        if format == "semeval-c" and chance(rng, 0.2):  # numbers of lines in place of the gold's ids
            numbered = [(row[0], str(k), rng.choice(classes)) for k, row in enumerate(gold, start=1)]
            files["numbered"] = write(numbered, False)
        excused = all(row[2] in none for row in gold)
        return files, {"excused": excused} | ({} if format == "semeval-c" else {"classes": called or classes})

    expect = lambda files, _: truth.confusion(files, read, called or classes, none)  # noqa: E731
    return Format(make, expect, partial(read_runs, format), run_cells)


def read_runs(format, folder, files, options):
    paths = {name: folder / name for name in files if name != "gold"}
    if format == "replab":
        return replab.read(folder / "gold", paths, **options)
    return me.io.read_runs(folder / "gold", paths, format=format, **options)


def run_cells(runs):
    counts = getattr(runs, "counts", None)
    values = runs.estimated if counts is None else counts
    pairs = itertools.product(range(len(runs.runs)), range(len(runs.topics)))
    cells = {(runs.runs[r], runs.topics[t]): values[r, t].tolist() for r, t in pairs}
    gold = {(None, topic): runs.gold[t].tolist() for t, topic in enumerate(runs.topics)}
    return cells if counts is not None else cells | gold


def shares(rng, K):
    counts = [rng.randint(0, 5) for _ in range(K)]
    counts[rng.randrange(K)] += 1
    return [count / sum(counts) for count in counts]


def write_semeval_e(rng, rows, is_gold):
    if is_gold and chance(rng, 0.4):  # labels as gold
        labels = [(n, topic, rng.choice(FIVE)) for topic, _ in rows for n in range(rng.randint(1, 4))]
        return lines(labels, "{}\t{}\t{}")
    show = rng.choice([repr, repr, "{:.3f}".format])
    return lines([(topic, *map(show, row)) for topic, row in rows], "{}\t{}\t{}\t{}\t{}\t{}")


def write_probabilities(rng, rows, is_gold):
    names, order = ["low", "mid", "high"], range(3) if is_gold else rng.sample(range(3), 3)
    return join([["topic", *(names[k] for k in order)], *([t, *(repr(row[k]) for k in order)] for t, row in rows)])


def write_dialogues(rng, rows, is_gold):
    votes = lambda: [{"quality": {each: rng.randint(-2, 2) for each in "AES"}} for _ in range(rng.randint(1, 4))]  # noqa: E731
    said = lambda row: {"quality": {"A": dict(rng.sample([*zip(FIVE, row, strict=True)], 5))}}  # noqa: E731
    each = [{"id": topic, **({"annotations": votes()} if is_gold else said(row))} for topic, row in rows]
    return json.dumps(each).encode()


def of_shares(format, K, write, read, **more):
    def make(rng):
        topics = pick(rng, 1, 4, TWEETS)
        files = {"gold": write(rng, [(topic, shares(rng, K)) for topic in topics], True)}
        for k in range(rng.randint(1, 3)):
            rows = [(topic, shares(rng, K)) for topic in rng.sample(topics, len(topics))]
            files[f"run{k}"] = write(rng, rows[: -1 if chance(rng, 0.15) and len(rows) > 1 else None], False)
        return files, {"rescale": chance(rng, 0.4)} | ({"aspect": "A"} if format == "dialogue-quality" else {})

    expect = lambda files, options: truth.distributions(files, read, options["rescale"])  # noqa: E731
    return Format(make, expect, partial(read_runs, format), run_cells, **more)


def make_annotations(rng):
    """Of people and of judges a table each, wide or long, or JSON."""
    items, in_json, files = pick(rng, 1, 4), chance(rng, 0.3), {}
    for name, whose in (("people", ["ann", "bo", "cy"]), ("judges", ["gpt", "lama"])):
        labels = {who: {item: rng.choice(CLASSES) for item in items} for who in pick(rng, 1, len(whose), whose)}
        long = [["item", "annotator", "label"], *([item, who, labels[who][item]] for who in labels for item in items)]
        wide = [["item", *labels], *([item, *(labels[who][item] for who in labels)] for item in items)]
        more = long[1:] if name == "judges" and chance(rng, 0.5) else []  # a judge may be asked several times
        files[name] = json.dumps(labels).encode() if in_json else join(rng.choice([long + more, wide]))
    return files, {"classes": CLASSES}


def read_annotations(folder, files, options):
    paths = []
    for name, content in files.items():
        paths.append(folder / f"{name}.{'json' if content.lstrip().startswith(b'{') else 'csv'}")
        paths[-1].write_bytes(content)
    return me.io.read_annotations(*paths, **options)


def annotation_cells(found):
    cells = {}
    for i, item in enumerate(found.items):
        said = {("people", who, item): found.labels[a, i] for a, who in enumerate(found.annotators)}
        cells |= {key: CLASSES[k] for key, k in said.items() if k >= 0}
        for j, judge in enumerate(found.judges):
            counted = zip(CLASSES, found.answers[j, i].tolist(), strict=True)
            cells["judges", judge, item] = [name for name, count in counted for _ in range(count)]
    return cells


CLASSES = ("1", "2", "3")
NO_BLANKS = ["amy", "#x", "t_1", "Δ"]
TABLE = {True: "label", False: "predicted"}
FORMATS = {
    "tidy": of_scores(make_tidy, lambda files, options: truth.tidy(files, options["measure"])),
    "wide": of_scores(make_wide, expect_wide),
    "sakai": of_scores(make_sakai, lambda files, _: truth.sakai(files)),
    "trec_eval": of_scores(make_trec_eval, lambda files, _: truth.trec_eval(files), whole=True),
    "wmt": of_scores(make_wmt, lambda files, _: truth.wmt(files), whole=True),
    "leaderboard": of_scores(make_board, lambda files, options: truth.leaderboard(files, options["format"])),
    "parquet": of_scores(make_parquet, expect_parquet, mutate=damage, mutated=0.4),
    "semeval-c": of_labels("semeval-c", FIVE, lambda rows, _: lines(rows, "{1}\t{0}\t{2}"), truth.semeval_labels),
    "judgements": of_labels(
        "judgements", ("0", "1", "2", "3"), lambda rows, _: lines(rows, "{0} 0 {1} {2:x<1}"), truth.judgement_labels, NO_BLANKS,
    ),
    "labels": of_labels(
        "labels", ("no", "maybe", "yes"),
        lambda rows, is_gold: join([("topic", "item", TABLE[is_gold]), *rows]), truth.table_labels,
    ),
    "replab": of_labels(
        "replab", ("POSITIVE", "NEUTRAL", "NEGATIVE"),
        lambda rows, _: lines([("entity_id", "tweet_id", "polarity"), *rows], '"{}"\t"{}"\t"{}"'), truth.polarity_labels,
        called=("-1", "0", "1"), none=("NULL", "null", ""),
    ),
    "replab, judgements": of_labels(
        "replab", ("-1", "0", "1"), lambda rows, _: lines(rows, "{0} 0 {1} {2:x<1}"), truth.polarity_labels, NO_BLANKS,
        none=("NULL", "null"),
    ),
    "annotations": Format(
        make_annotations, lambda files, _: truth.annotations(files, CLASSES), read_annotations, annotation_cells,
        lambda rng, content: (mutate_json if content.startswith(b"{") else mutate_text)(rng, content),
    ),
    "semeval-e": of_shares("semeval-e", 5, write_semeval_e, truth.semeval_shares),
    "probabilities": of_shares("probabilities", 3, write_probabilities, truth.table_shares),
    "dialogues": of_shares("dialogue-quality", 5, write_dialogues, truth.dialogue_shares, mutate=mutate_json),
}  # fmt: skip
