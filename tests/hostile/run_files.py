"""Mutated files of gold and runs through the seven run readers, against an independent reading."""

from __future__ import annotations

import itertools

from tests.hostile import made
from tests.hostile.campaign import Finding, Outcome
from tests.hostile.mutate import mutate_json, mutate_text
from tests.hostile.truth import runs as truth
from tests.hostile.truth.tables import Unreadable

MISSING = ("raise", "raise", "drop-topic", "drop-run", "worst")
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


def _judge(case, expected, mutation, **options):
    """Read with metaeval, and compare with what was computed independently."""
    import metaeval as me

    found, said = case.call(me.io.read_runs, **options)
    policies = ", ".join(f"{name}={options[name]}" for name in ("missing", "invalid", "rescale") if name in options)
    if found is None:
        if expected is not None and not mutation:
            raise Finding("right files are refused", said[0])
        return Outcome("refused")
    if expected is None:
        raise Finding("what cannot be read is accepted", f"{mutation}, {policies}")
    right, reported = expected
    if not _same(found, right):
        raise Finding("other numbers than the files hold", f"{mutation}, {policies}")
    if reported and not said:
        raise Finding("items are left out or filled in without a word", f"{mutation}, {policies}")
    return Outcome("equal")


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
    counts, reported = truth.confusion(
        keep(gold), {run: keep(rows) for run, rows in runs.items()}, classes, missing, invalid
    )
    return counts, reported or bool(without)


def _read_labels(case, format, make, read_gold, read_run, classes, state_classes=True):
    gold_path, paths, gold, runs, mutation = _prepare(case, *make(case.rng))
    missing, invalid = case.rng.choice(MISSING), case.rng.choice(INVALID)
    try:
        true = read_gold(gold)
        answers = {run: read_run(content, true) for run, content in runs.items()}
        without = truth.unrelated(true) if format == "polarity" else frozenset()
        truth.unique(true)
        expected = _classify(true, answers, classes, missing, invalid, without)
    except Unreadable:
        expected = None
    if invalid == "clip" and classes == ("no", "maybe", "yes"):
        mutation = mutation or "clip without numbers"
    if mutation == "" and expected is not None and format == "polarity" and expected[1]:
        mutation = "items without a polarity"
    options = {"classes": list(classes)} if state_classes else {}
    return _judge(
        case, expected, mutation, gold=gold_path, runs=paths, format=format, missing=missing, invalid=invalid, **options
    )


def read_semeval_c(case):
    """Labels of tweets: id, topic, label."""
    return _read_labels(
        case,
        "semeval-c",
        made.make_semeval_c,
        truth.semeval_labels,
        lambda content, gold: truth.number_lines(truth.semeval_labels(content), gold),
        truth.FIVE,
        False,
    )


def read_judgements(case):
    """Judgements: topic 0 item label."""
    return _read_labels(
        case,
        "judgements",
        made.make_judgements,
        truth.judgement_labels,
        lambda content, _: truth.judgement_labels(content),
        ("0", "1", "2", "3"),
    )


def read_labels(case):
    """Tables of topic, item, label."""
    return _read_labels(
        case,
        "labels",
        made.make_label_tables,
        lambda content: truth.table_labels(content, "gold"),
        lambda content, _: truth.table_labels(content, "predicted"),
        ("no", "maybe", "yes"),
    )


def read_polarity(case):
    """Polarities in any of their layouts."""
    return _read_labels(
        case,
        "polarity",
        made.make_polarity,
        truth.polarity_labels,
        lambda content, _: truth.polarity_labels(content),
        ("-1", "0", "1"),
        False,
    )


def _read_shares(case, format, made_files, read_gold, read_run, K, mutate=mutate_text, **options):
    gold_path, paths, gold, runs, mutation = _prepare(case, *made_files, mutate=mutate)
    missing, rescale = case.rng.choice(MISSING), case.rng.random() < 0.4
    try:
        true, classes = read_gold(gold)
        answers = {run: read_run(content, classes) for run, content in runs.items()}
        expected = truth.distributions(true, answers, K or len(classes), missing, rescale)
    except Unreadable:
        expected = None
    more = {"rescale": True} if rescale else {}
    return _judge(
        case, expected, mutation, gold=gold_path, runs=paths, format=format, missing=missing, **more, **options
    )


def read_semeval_e(case):
    """Distributions over topics; the gold may be labels."""
    return _read_shares(
        case,
        "semeval-e",
        made.make_semeval_e(case.rng),
        lambda content: (truth.semeval_gold(content, truth.FIVE), None),
        lambda content, _: truth.semeval_shares(content, truth.FIVE),
        5,
    )


def read_probabilities(case):
    """Tables of topic and one column a class."""

    def read_gold(content):
        classes, rows = truth.table_shares(content)
        return rows, classes

    return _read_shares(
        case,
        "probabilities",
        made.make_probabilities(case.rng),
        read_gold,
        lambda content, classes: truth.table_shares(content, classes)[1],
        None,
    )


def read_dialogues(case):
    """JSON of NTCIR Dialogue Quality."""
    return _read_shares(
        case,
        "dialogue-quality",
        made.make_dialogues(case.rng),
        lambda content: (truth.dialogue_gold(content, "A"), None),
        lambda content, _: truth.dialogue_run(content, "A"),
        5,
        mutate=mutate_json,
        aspect="A",
    )
