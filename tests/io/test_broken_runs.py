"""Broken gold and run files: a DataError that names file, line, run, topic and item, whatever is wrong."""

import json

import pytest

from metaeval.errors import DataError, MetaevalError
from metaeval.files import open_once
from metaeval.io import RUN_FORMATS, read_runs
from tests.io.cases import put, read_pair

VOTES = [{"quality": {"A": vote, "E": 0, "S": 0}} for vote in (1, 1, -2, 2)]
EVEN = {"1": 0.5, "-2": 0.25, "-1": 0, "2": 0.125, "0": 0.125}  # read in the order of the classes, not in this


def dialogues(shares):
    return json.dumps([{"id": "d1", "quality": {"A": shares}}])


def voted(vote, aspect="A"):
    return json.dumps([{"id": "d1", "annotations": [{"quality": {aspect: vote}}]}])


# format: gold, a right run, options, what is read: pairs of gold and predicted class by topic, or estimated shares
RIGHT = {
    "semeval-c": ("11\t#x\t-1\n12\ty\t2\n", "12\ty\t2\ttext\n11\t#x\t0\n", {}, [[(1, 2)], [(4, 4)]]),
    "semeval-e": ("#x\t0\t0.5\t0.5\t0\t0\n", "#x\t1\t0\t0\t0\t0\n", {}, [[1, 0, 0, 0, 0]]),
    "judgements": ("q1 0 d1 0\nq2 0 d1 3\n", "q2 0 d1 1\nq1 0 d1 0\n", {"classes": range(4)}, [[(0, 0)], [(3, 1)]]),
    "labels": (
        "topic,item,label\nt,1,no\nt,2,yes\n", "topic,item,label\nt,2,no\nt,1,no\n", {"classes": ["no", "yes"]},
        [[(0, 0), (1, 0)]],
    ),
    "probabilities": ("topic,lo,hi\nt,0.5,0.5\n", "topic,hi,lo\nt,1,0\n", {}, [[0, 1]]),
    "dialogue-quality": (
        json.dumps([{"id": "d1", "annotations": VOTES}]), dialogues(EVEN), {"aspect": "A"}, [[0.25, 0, 0.125, 0.5, 0.125]],
    ),
}  # fmt: skip

# format: what is in the run r, or the gold g, and what is said of it; shares of dialogue d1, and what is said of it
BROKEN = {
    "semeval-c": {
        "11\t#x\t3\n12\ty\t2\n": "r:1: run r, topic #x, item 11: the label '3' is not one of",
        "11\t#x\tnan\n12\ty\t2\n": "r:1: run r, topic #x, item 11: the label is missing (choose",
        "11\t#x\t0\n11\t#x\t0\n12\ty\t2\n": "r:2: run r, topic #x, item 11: the item occurs twice",
        "11\t#x\t0\n": "r: run r, topic y, item 12: there is no label for this item (choose",
        "11\t#x\t0\n12\ty\t2\n13\ty\t2\n": "r:3: run r, topic y, item 13: the gold has no such item",
        "11\tx\t0\n12\ty\t2\n": "r:1: run r, topic x, item 11: the gold has no such topic",
        "1\t#x\t0\n": "r: run r: its ids are line numbers, but it has 1 lines and the gold 2",
        "1\ty\t0\n2\t#x\t0\n": "r:1: run r, topic y, item 1: its ids are line numbers, but the topic",
        "11\t#x\t0\n\t#x\t0\n": "r:2: run r: the id is missing",
        "11\t#x\t7\n12\ty\t2\n": "g:1: topic #x, item 11: the label '7' is not one of",
    },
    "semeval-e": {
        "#x\t0.5\t0.33\t0\t0\t0\n": "r:1: run r, topic #x: probabilities sum to 0.83, not 1 (rescale with",
        "#x\t1.5\t-0.5\t0\t0\t0\n": "r:1: run r, topic #x: the probability of class -1 is -0.5",
        "#x\tNaN\t0\t0\t0\t0\n": "r:1: run r, topic #x: the probability of class -2 is 'NaN'",
        "#x\t1\t0\t0\n": "r:1: the line has 4 columns, not topic<TAB>p1…p5",
        "\t1\t0\t0\t0\t0\n": "r:1: run r: the topic is missing",
        "11\t#x\t7\n12\ty\t2\n": "g:1: topic #x, item 11: the label '7' is not one of",
        "#x\t0\t0.5\t0.25\t0\t0\n": "g:1: topic #x: probabilities sum to 0.75, not 1",
    },
    "judgements": {"q1 0 d1 0 run\n": "r:1: the line has 5 columns, not qid 0 docid label"},
    "labels": {
        "topic,item,label\nt,1,no\nt,2\n": "r:3: the line has 2 columns, but the header has 3",
        "topic,item,label\n,1,no\n": "r:2: run r: the topic is missing",
        "topic,item\nt,1\n": "r:1: there is no column 'label' or 'predicted'",
        "topic,item,label,predicted\nt,1,no,no\n": "r:1: it has a column 'label' and a column 'predicted'",
        "topic,item,label\n": "r: there are no rows in it",
    },
    "probabilities": {
        "topic,lo,hi,mid\nt,1,0,0\n": "r:1: run r: its columns are lo, hi, mid, the classes lo, hi",
        "topic,lo,hi\nt,1,0\nt,1,0\n": "r:3: run r, topic t: there is a second distribution",
        "topic,lo,hi\nu,1,0\n": "r:2: run r, topic u: the gold has no such topic",
        "lo,hi\n1,0\n": "r:1: there is no column 'topic' (columns: lo, hi)",
        "topic,lo\nt,1\n": "g:1: classes that have a column: 1; at least two",
    },
    "dialogue-quality": {
        dialogues(EVEN | {"3": 0}): "r: run r: dialogue d1 is broken: the probability of class 3 is 0;",
        dialogues({"0": 1}): "r: run r: dialogue d1 is broken: there is no '-2'",
        dialogues(EVEN | {"2": "0.25"}): "r: run r: dialogue d1 is broken: the probability of class 2 is '0.25';",
        dialogues(EVEN | {"2": True}): "r: run r: dialogue d1 is broken: the probability of class 2 is True;",
        dialogues(EVEN | {"2": float("nan")}): "r: NaN is not a number that JSON has",
        dialogues(EVEN | {"2": 10**400}): "r: run r: dialogue d1 is broken: int too large",
        '[{"id": "d1", "id": "d2"}]': "r: the key 'id' occurs twice in one object",
        '[{"id": "d1",\n "quality": ': "r:2: it is not JSON: Expecting value",
        "[" * 100_000: "r: it is not JSON",
        "{}": "r: run r: it is no list of dialogues",
        "[]": "r: run r: it is no list of dialogues",
        "[3]": "r: run r: dialogue number 1 is broken",
        "[{}]": "r: run r: dialogue number 1 is broken: there is no 'id'",
        '[{"id": 1.5}]': "r: run r: dialogue number 1 is broken: the id 1.5 is not a text",
        '[{"id": "d1"}]': "r: run r: dialogue d1 is broken: there is no 'quality'",
        '[{"id": "d1", "quality": []}]': "r: run r: dialogue d1 is broken",
        '[{"id": "d1", "quality": {"E": {}}}]': "r: run r: dialogue d1 is broken: there is no 'A'",
        '[{"id": "d1", "votes": 1}]': "g: dialogue d1 is broken: there is no 'annotations'",
        '[{"id": "d1", "annotations": []}]': "g: dialogue d1 is broken: there are no annotations",
        voted(1, "E"): "g: dialogue d1 is broken: there is no 'A'",
        voted("1"): "g: dialogue d1 is broken: the vote '1'",
        voted(True): "g: dialogue d1 is broken: the vote True",
    },
}


def read(format, folder, *, gold=None, run=None, **more):
    right_gold, right_run, options, _ = RIGHT[format]
    gold, run = right_gold if gold is None else gold, right_run if run is None else run
    return read_pair(folder, gold, run, format=format, **{**options, **more})


@pytest.mark.parametrize("format", RUN_FORMATS)
@pytest.mark.parametrize("lead", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_right_pair_of_files_is_read_with_any_byte_order_mark_line_ends_and_blank_lines(format, lead, end, tmp_path):
    gold, run = (lead + text.replace("\n", end) + end * 2 for text in RIGHT[format][:2])
    runs, expected = read(format, tmp_path, gold=gold, run=run), RIGHT[format][3]
    if hasattr(runs, "estimated"):
        assert runs.estimated[0].tolist() == expected
    else:
        assert [[tuple(pair) for pair in zip(*topic.nonzero(), strict=True)] for topic in runs.counts[0]] == expected
        assert runs.counts.max() == 1
    assert (runs.runs, runs.provenance) == (("r",), "g, r")
    assert runs.collection in ("g", "g-A")


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [(format, *case) for format, cases in BROKEN.items() for case in cases.items()],
)
def test_a_broken_file_is_refused_with_its_place(format, content, message, tmp_path):
    with pytest.raises(DataError) as caught:
        read(format, tmp_path, **{"run" if message[0] == "r" else "gold": content})
    assert f"{tmp_path}/{message}" in str(caught.value)


@pytest.mark.parametrize("format", RUN_FORMATS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n  \n\n", "the file is empty"),
        (b"\x00\x01\x02", "the file is binary"),
        (b"\xff\xfea\0\n", "begins as UTF-16 does, but is not"),
        (b"ok\ncaf\xe9\n", "[gr]:2: byte 0xe9 is not UTF-8"),
        (b"\x80\x04N.", "[gr]:1: byte 0x80 is not UTF-8"),
        (b"just some words\n", "/[gr]"),
    ],
)
def test_files_that_no_format_takes_are_refused_by_all(format, content, message, tmp_path):
    for side in ("gold", "run"):
        with pytest.raises(DataError, match=message):
            read(format, tmp_path, **{side: content})


def test_runs_are_named_after_their_files_and_hidden_files_are_none(tmp_path):
    read("judgements", tmp_path)
    options = {"format": "judgements", "classes": range(4)}
    content, gold, folder = RIGHT["judgements"][1], tmp_path / "g", tmp_path / "runs"
    folder.mkdir()
    with pytest.raises(DataError, match="there are no files in this folder"):
        read_runs(gold, folder, **options)
    put(folder, {"b.official.txt": content, "a": content, ".hidden": content, "folder/x": content})
    assert read_runs(gold, folder, **options).runs == ("a", "b.official")
    assert read_runs(gold, [folder / "b.official.txt", folder / "a"], **options).runs == ("b.official", "a")
    assert read_runs(gold, {"x": folder / "a", "y": folder / "a"}, **options).runs == ("x", "y")
    assert read_runs(gold, tmp_path, **options).runs == ("r",), "the gold beside the runs is not a run"
    put(folder, {"a.txt": content})
    with pytest.raises(DataError, match=r"a.txt: run a: it gives the same run name as a .a run is named"):
        read_runs(gold, folder, **options)
    for nothing in ([], {}):
        with pytest.raises(DataError, match=r"no (run )?files were named"):
            read_runs(gold, nothing, **options)
    with pytest.raises(DataError, match="there is no such file"):
        read_runs(gold, tmp_path / "absent", **options)


OPTIONS = [
    ("judgements", {"classes": None}, "the format judgements needs classes"),
    ("dialogue-quality", {"aspect": None}, "the format dialogue-quality needs aspect: A, E or S"),
    ("dialogue-quality", {"aspect": "X"}, "there is no aspect 'X': use A, E, S"),
    ("dialogue-quality", {"classes": [1, 2]}, "the format dialogue-quality has no use for classes"),
    ("semeval-e", {"invalid": "clip"}, "the format semeval-e has no use for invalid"),
    ("semeval-e", {"missing": "zero"}, "there is no policy 'zero': use raise, drop-topic, drop-run, worst"),
    ("semeval-c", {"invalid": "zero"}, "there is no policy 'zero': use raise, drop-topic, drop-run, clip"),
    ("labels", {"missing": "keep"}, "missing=keep is for scores"),
    ("judgements", {"classes": "0123"}, "classes are a list of labels"),
    ("judgements", {"classes": [0, 0, 1]}, "the class '0' occurs twice"),
    ("semeval-c", {"format": "csv"}, "there is no format 'csv': use semeval-c, semeval-e"),
]


@pytest.mark.parametrize(("format", "options", "message"), OPTIONS)
def test_an_option_that_does_not_fit_is_refused(format, options, message, tmp_path):
    gold, run, right, _ = RIGHT[format]
    with pytest.raises(MetaevalError, match=message):
        read_pair(tmp_path, gold, run, **{"format": format, **right, **options})


def test_files_that_several_collections_share_are_parsed_once_and_say_the_same(tmp_path, monkeypatch):
    shares = {"A": [0, 0, 0.5, 0.5, 0], "E": [1, 0, 0, 0, 0]}
    quality = {aspect: dict(zip(("-2", "-1", "0", "1", "2"), row, strict=True)) for aspect, row in shares.items()}
    run, parsed, loads = json.dumps([{"id": "d1", "quality": quality}]), [], json.loads
    monkeypatch.setattr(json, "loads", lambda *args, **options: parsed.append(1) or loads(*args, **options))
    with open_once():
        for aspect, row in shares.items():
            assert read("dialogue-quality", tmp_path, run=run, aspect=aspect).estimated.tolist() == [[row]]
    assert len(parsed) == 2
