"""Broken gold and run files: a DataError that names file, line, run, topic and item, whatever is wrong."""

import json

import pytest

from metaeval.errors import DataError, MetaevalError
from metaeval.files import open_once
from metaeval.io import RUN_FORMATS, read_runs

VOTES = [{"quality": {"A": vote, "E": 0, "S": 0}} for vote in (1, 1, -2, 2)]
EVEN = {"-2": 0.25, "-1": 0, "0": 0, "1": 0.5, "2": 0.25}


def dialogues(*rows):
    return json.dumps([{"id": name, "quality": {"A": shares}} for name, shares in rows])


def changed(**more):
    return dialogues(("d1", {**EVEN, **more}))


# format: (gold, a right run, options)
RIGHT = {
    "semeval-c": ("11\t#x\t-1\n12\ty\t2\n", "12\ty\t2\ttext\n11\t#x\t0\n", {}),
    "semeval-e": ("#x\t0\t0.5\t0.5\t0\t0\n", "#x\t1\t0\t0\t0\t0\n", {}),
    "judgements": ("q1 0 d1 0\nq2 0 d1 3\n", "q2 0 d1 1\nq1 0 d1 0\n", {"classes": range(4)}),
    "labels": ("topic,item,label\nt,1,no\nt,2,yes\n", "topic,item,label\nt,2,no\nt,1,no\n", {"classes": ["no", "yes"]}),
    "probabilities": ("topic,lo,hi\nt,0.5,0.5\n", "topic,hi,lo\nt,1,0\n", {}),
    "votes": ("topic,ann,bo\nt,lo,hi\n", "topic,hi,lo\nt,1,0\n", {"classes": ["lo", "hi"]}),
    "dialogue-quality": (json.dumps([{"id": "d1", "annotations": VOTES}]), dialogues(("d1", EVEN)), {"aspect": "A"}),
}

RUNS = [
    # an unknown or missing class, a label out of range
    ("semeval-c", "11\t#x\t3\n12\ty\t2\n", ":1: run run7, topic #x, item 11: the label '3' is not one of the clas"),
    ("semeval-c", "11\t#x\t\n12\ty\t2\n", ":1: run run7, topic #x, item 11: the label is missing"),
    ("semeval-c", "11\t#x\tnan\n12\ty\t2\n", ":1: run run7, topic #x, item 11: the label is missing (choose"),
    ("judgements", "q1 0 d1 0\nq2 0 d1 5\n", ":2: run run7, topic q2, item d1: the label '5' is not one of the"),
    ("labels", "topic,item,label\nt,1,no\nt,2,No\n", ":3: run run7, topic t, item 2: the label 'No' is not one of"),
    ("probabilities", "topic,lo\nt,1\n", ":1: run run7: there is no column of class 'hi'"),
    ("probabilities", "topic,lo,hi,mid\nt,1,0,0\n", ":1: run run7: the column 'mid' is none of the classes lo, hi"),
    ("dialogue-quality", changed(**{"3": 0}), ": run run7, topic d1: '3' is not one of the classes -2 to 2"),
    ("dialogue-quality", dialogues(("d1", {"0": 1})), ": run run7, topic d1: there is no probability of class -2"),
    # a duplicate
    ("semeval-c", "11\t#x\t0\n11\t#x\t0\n12\ty\t2\n", ":2: run run7, topic #x, item 11: the item occurs twice, f"),
    ("semeval-e", "#x\t1\t0\t0\t0\t0\n" * 2, ":2: run run7, topic #x: there is a second distribution"),
    ("judgements", "q1 0 d1 0\nq2 0 d1 1\nq1 0 d1 0\n", ":3: run run7, topic q1, item d1: the item occurs twice"),
    ("labels", "topic,item,label\nt,1,no\nt,2,no\nt,1,no\n", ":4: run run7, topic t, item 1: the item occurs twi"),
    ("probabilities", "topic,lo,hi\nt,1,0\nt,1,0\n", ":3: run run7, topic t: there is a second distribution"),
    ("dialogue-quality", dialogues(("d1", EVEN), ("d1", EVEN)), ": run run7, topic d1: there is a second distrib"),
    ("dialogue-quality", '[{"id": "d1", "id": "d2"}]', ": the key 'id' occurs twice in one object"),
    # something missing
    ("semeval-c", "11\t#x\t0\n", ": run run7, topic y: there are no labels for this topic (choose what to do"),
    ("judgements", "q1 0 d1 0\n", ": run run7, topic q2: there are no labels for this topic"),
    ("labels", "topic,item,label\nt,1,no\n", ": run run7, topic t, item 2: there is no label for this item"),
    # something the gold does not have
    ("semeval-c", "11\t#x\t0\n12\ty\t2\n13\ty\t2\n", ":3: run run7, topic y, item 13: the gold has no such item"),
    ("semeval-c", "11\tx\t0\n12\ty\t2\n", ":1: run run7, topic x, item 11: the gold has no such topic"),
    ("semeval-c", "1\t#x\t0\n", ": run run7: its ids are line numbers, but it has 1 lines and the gold 2"),
    ("semeval-c", "1\ty\t0\n2\t#x\t0\n", ":1: run run7, topic y, item 1: its ids are line numbers, but the topic"),
    ("semeval-c", "2\t#x\t0\n1\ty\t0\n", ":1: run run7, topic #x, item 2: the gold has no such item"),
    ("semeval-e", "#z\t1\t0\t0\t0\t0\n", ":1: run run7, topic #z: the gold has no such topic"),
    ("judgements", "q1 0 d9 0\n", ":1: run run7, topic q1, item d9: the gold has no such item"),
    ("probabilities", "topic,lo,hi\nu,1,0\n", ":2: run run7, topic u: the gold has no such topic"),
    ("dialogue-quality", dialogues(("d9", EVEN)), ": run run7, topic d9: the gold has no such topic"),
    # probabilities that are none
    ("semeval-e", "#x\t0.5\t0.33\t0\t0\t0\n", ":1: run run7, topic #x: probabilities sum to 0.83, not 1 (rescale with"),
    ("semeval-e", "#x\t1.5\t-0.5\t0\t0\t0\n", ":1: run run7, topic #x: the probability of class -1 is -0.5, not a num"),
    ("semeval-e", "#x\tNaN\t0\t0\t0\t0\n", ":1: run run7, topic #x: the probability of class -2 is 'NaN', not a num"),
    ("probabilities", "topic,lo,hi\nt,0.5,0.6\n", ":2: run run7, topic t: probabilities sum to 1.1, not 1"),
    ("probabilities", "topic,lo,hi\nt,0.5,x\n", ":2: run run7, topic t: the probability of class hi is 'x', not a"),
    ("probabilities", "topic,lo,hi\nt,0.5,inf\n", ":2: run run7, topic t: the probability of class hi is 'inf', not"),
    ("dialogue-quality", changed(**{"2": 0.08}), ": run run7, topic d1: probabilities sum to 0.83, not 1 (rescale"),
    ("dialogue-quality", changed(**{"2": -0.25}), ": run run7, topic d1: the probability of class 2 is -0.25, not a"),
    ("dialogue-quality", changed(**{"2": "0.25"}), ": run run7, topic d1: the probability of class 2 is '0.25', not"),
    ("dialogue-quality", changed(**{"2": True}), ": run run7, topic d1: the probability of class 2 is True, not a"),
    ("dialogue-quality", changed(**{"2": float("nan")}), ": NaN is not a number that JSON has"),
    ("dialogue-quality", changed(**{"2": 10**400}), ": run run7: a probability is too large"),
    # lines of another shape
    ("semeval-c", "11\t#x\n", ":1: the line has 2 columns, not id<TAB>topic<TAB>label[<TAB>text]"),
    ("semeval-c", "11 #x 0\n", ":1: the line has 1 column, not id<TAB>topic"),
    ("semeval-c", "11\t#x\t0\n\t#x\t0\n", ":2: run run7: the id is missing"),
    ("semeval-e", "#x\t1\t0\t0\n", ":1: the line has 4 columns, not topic<TAB>p1…p5"),
    ("semeval-e", "\t1\t0\t0\t0\t0\n", ":1: run run7: the topic is missing"),
    ("judgements", "q1 0 d1\n", ":1: the line has 3 columns, not qid 0 docid label"),
    ("judgements", "q1 0 d1 0 run\n", ":1: the line has 5 columns, not qid 0 docid label"),
    ("labels", "topic,item,label\nt,1,no\nt,2\n", ":3: the line has 2 columns, but the header has 3"),
    ("labels", "topic,item,label\n,1,no\n", ":2: run run7: the topic is missing"),
    ("labels", "topic,item\nt,1\n", ":1: there is no column 'label' or 'predicted' (columns: topic, item)"),
    ("labels", "topic,item,label,predicted\nt,1,no,no\n", ":1: it has a column 'label' and a column 'predicted'"),
    ("labels", "topic,item,label\n", ": there are no rows in it"),
    ("probabilities", "topic,lo,hi\nt,1\n", ":2: the line has 2 columns, but the header has 3"),
    ("probabilities", "lo,hi\n1,0\n", ":1: there is no column 'topic' (columns: lo, hi)"),
    # JSON that is broken or of another shape
    ("dialogue-quality", '[{"id": "d1",\n "quality": ', ":2: it is not JSON: Expecting value"),
    ("dialogue-quality", "{}", ": run run7: it is not a list of dialogues but an object"),
    ("dialogue-quality", "[]", ": run run7: the list of dialogues is empty"),
    ("dialogue-quality", "[3]", ": run run7: dialogue number 1 is not an object but a number"),
    ("dialogue-quality", "[{}]", ": run run7: dialogue number 1 has no id"),
    ("dialogue-quality", '[{"id": 1.5}]', ": run run7: dialogue number 1 has the id 1.5, not a text"),
    ("dialogue-quality", '[{"id": "d1"}]', ": run run7, topic d1: there is no 'quality'"),
    ("dialogue-quality", '[{"id": "d1", "quality": []}]', ": run run7, topic d1: 'quality' is not an object but a lis"),
    ("dialogue-quality", '[{"id": "d1", "quality": {"E": {}}}]', ": run run7, topic d1: there is no 'A'"),
    ("dialogue-quality", "[" * 100_000, ": it is not JSON"),
]

GOLDS = [
    ("semeval-c", "11\t#x\t7\n12\ty\t2\n", "gold.txt:1: topic #x, item 11: the label '7' is not one of the classes"),
    ("semeval-c", "11\t#x\t1\n11\t#x\t2\n", "gold.txt:2: topic #x, item 11: the item occurs twice, first on line 1"),
    ("semeval-e", "11\t#x\t7\n12\ty\t2\n", "gold.txt:1: topic #x, item 11: the label '7' is not one of the classes"),
    ("semeval-e", "#x\t0\t0.5\t0.25\t0\t0\n", "gold.txt:1: topic #x: probabilities sum to 0.75, not 1"),
    ("semeval-e", "#x\t0\n", "gold.txt:1: the line has 2 columns, not topic<TAB>p1…p5"),
    ("judgements", "q1 0 d1 -1\n", "gold.txt:1: topic q1, item d1: the label '-1' is not one of the classes 0, 1, 2,"),
    ("labels", "topic,item,label\nt,1,maybe\n", "gold.txt:2: topic t, item 1: the label 'maybe' is not one of"),
    ("probabilities", "topic,lo,hi\nt,0.5,0.6\n", "gold.txt:2: topic t: probabilities sum to 1.1, not 1"),
    ("probabilities", "topic,lo\nt,1\n", "gold.txt:1: there are columns of 1 classes, at least two"),
    ("dialogue-quality", '[{"id": "d1"}]', "gold.txt: topic d1: there is no 'annotations'"),
    ("dialogue-quality", '[{"id": "d1", "annotations": []}]', "gold.txt: topic d1: there are no annotations"),
    ("dialogue-quality", '[{"id": "d1", "annotations": [{"quality": {"E": 1}}]}]', "topic d1: there is no vote on asp"),
    ("dialogue-quality", '[{"id": "d1", "annotations": [{"quality": {"A": 3}}]}]', "the vote 3 on aspect A is not a w"),
    ("dialogue-quality", '[{"id": "d1", "annotations": [{"quality": {"A": "1"}}]}]', "the vote '1' on aspect A is not"),
    ("dialogue-quality", '[{"id": "d1", "annotations": [{"quality": {"A": true}}]}]', "the vote True on aspect A is n"),
]


def read(format, folder, gold=None, run=None, **more):
    right_gold, right_run, options = RIGHT[format]
    folder.joinpath("gold.txt").write_text(right_gold if gold is None else gold, encoding="utf-8")
    folder.joinpath("run7.txt").write_text(right_run if run is None else run, encoding="utf-8")
    return read_runs(folder / "gold.txt", folder / "run7.txt", format=format, **{**options, **more})


@pytest.mark.parametrize("format", RUN_FORMATS)
def test_a_right_pair_of_files_is_read(format, tmp_path):
    runs = read(format, tmp_path)
    assert runs.runs == ("run7",)
    assert runs.collection in ("gold", "gold-A")
    assert runs.provenance == "gold.txt, run7.txt"


@pytest.mark.parametrize(("format", "content", "message"), RUNS)
def test_a_broken_run_is_refused_with_its_place(format, content, message, tmp_path):
    with pytest.raises(DataError) as caught:
        read(format, tmp_path, run=content)
    assert f"{tmp_path}/run7.txt{message}" in str(caught.value)


@pytest.mark.parametrize(("format", "content", "message"), GOLDS)
def test_a_broken_gold_file_is_refused_with_its_place(format, content, message, tmp_path):
    with pytest.raises(DataError) as caught:
        read(format, tmp_path, gold=content)
    assert message in str(caught.value)


@pytest.mark.parametrize("format", RUN_FORMATS)
def test_files_that_no_format_takes_are_refused_by_all(format, tmp_path):
    for content, message in (
        (b"", "the file is empty"),
        (b"\n  \n\n", "the file is empty"),
        (b"\x00\x01\x02", "the file is binary"),
        (b"\xff\xfea\0\n", "begins as UTF-16 does, but is not"),
        (b"ok\ncaf\xe9\n", "bad.txt:2: byte 0xe9 is not UTF-8"),
        (b"\x80\x04N.", "bad.txt:1: byte 0x80 is not UTF-8"),
        (b"just some words\n", "bad.txt"),
    ):
        read(format, tmp_path)
        tmp_path.joinpath("bad.txt").write_bytes(content)
        for gold, run in (("gold.txt", "bad.txt"), ("bad.txt", "run7.txt")):
            with pytest.raises(DataError, match=message):
                read_runs(tmp_path / gold, tmp_path / run, format=format, **RIGHT[format][2])


@pytest.mark.parametrize("format", RUN_FORMATS)
@pytest.mark.parametrize("lead", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_byte_order_mark_line_ends_and_blank_lines_change_nothing(format, lead, end, tmp_path):
    plain = read(format, tmp_path)
    for name in ("gold.txt", "run7.txt"):
        content = tmp_path.joinpath(name).read_text(encoding="utf-8")
        tmp_path.joinpath(name).write_bytes((lead + content.replace("\n", end) + end * 2).encode())
    runs = read_runs(tmp_path / "gold.txt", tmp_path / "run7.txt", format=format, **RIGHT[format][2])
    assert (runs.topics, runs.classes) == (plain.topics, plain.classes)
    array = "counts" if hasattr(runs, "counts") else "estimated"
    assert (getattr(runs, array) == getattr(plain, array)).all()


def test_runs_are_named_after_their_files_and_hidden_files_are_none(tmp_path):
    read("judgements", tmp_path)
    options = {"format": "judgements", "classes": range(4)}
    content = tmp_path.joinpath("run7.txt").read_text()
    folder = tmp_path / "runs"
    folder.mkdir()
    gold = tmp_path / "gold.txt"
    with pytest.raises(DataError, match="there are no files in this folder"):
        read_runs(gold, folder, **options)
    for name in ("b.official.txt", "a", ".hidden"):
        folder.joinpath(name).write_text(content)
    (folder / "folder").mkdir()
    assert read_runs(gold, folder, **options).runs == ("a", "b.official")
    assert read_runs(gold, [folder / "b.official.txt", folder / "a"], **options).runs == ("b.official", "a")
    assert read_runs(gold, {"x": folder / "a", "y": folder / "a"}, **options).runs == ("x", "y")
    assert read_runs(gold, tmp_path, **options).runs == ("run7",), "the gold beside the runs is not a run"
    folder.joinpath("a.txt").write_text(content)
    with pytest.raises(
        DataError, match=r"a.txt: run a: it gives the same run name as a .a run is named after its file"
    ):
        read_runs(gold, folder, **options)
    for nothing in ([], {}):
        with pytest.raises(DataError, match=r"no (run )?files were named"):
            read_runs(gold, nothing, **options)
    with pytest.raises(DataError, match="there is no such file"):
        read_runs(gold, tmp_path / "absent", **options)


OPTIONS = [
    ("judgements", {"classes": None}, "the format judgements needs classes: all of them, in their order"),
    ("dialogue-quality", {"aspect": None}, "the format dialogue-quality needs aspect: A, E or S"),
    ("dialogue-quality", {"aspect": "X"}, "there is no aspect 'X': use A, E, S"),
    ("dialogue-quality", {"classes": [1, 2]}, "the format dialogue-quality has no use for classes"),
    ("semeval-c", {"rescale": True}, "the format semeval-c has no use for rescale"),
    ("semeval-e", {"invalid": "clip"}, "the format semeval-e has no use for invalid"),
    ("semeval-e", {"missing": "zero"}, "there is no policy 'zero': use raise, drop-topic, drop-run, worst"),
    ("semeval-c", {"invalid": "zero"}, "there is no policy 'zero': use raise, drop-topic, drop-run, clip, worst"),
    ("judgements", {"classes": "0123"}, "classes are a list of labels"),
    ("judgements", {"classes": [0, 0, 1]}, "the class '0' occurs twice"),
]


@pytest.mark.parametrize(("format", "options", "message"), OPTIONS)
def test_an_option_that_does_not_fit_is_refused(format, options, message, tmp_path):
    with pytest.raises(MetaevalError, match=message):
        read(format, tmp_path, **options)


def test_an_unknown_format_of_runs_is_refused_with_the_known_ones():
    with pytest.raises(MetaevalError, match="there is no format 'csv': use semeval-c, semeval-e"):
        read_runs("gold", "run", format="csv")


def test_files_that_three_collections_share_are_parsed_once_and_say_the_same(tmp_path, monkeypatch):
    votes = [{"quality": dict.fromkeys("AES", vote)} for vote in (1, 1, -2)]
    shares = {"A": [0, 0, 0.5, 0.5, 0], "E": [1, 0, 0, 0, 0], "S": [0, 0.25, 0, 0, 0.75]}
    quality = {aspect: dict(zip(("-2", "-1", "0", "1", "2"), row, strict=True)) for aspect, row in shares.items()}
    (tmp_path / "gold.json").write_text(json.dumps([{"id": "7", "annotations": votes}]))
    (tmp_path / "run.json").write_text(json.dumps([{"id": "7", "quality": quality}]))
    (tmp_path / "bad.json").write_text('[{"id": "7", "id": "8"}]')
    parsed, loads = [], json.loads
    monkeypatch.setattr(json, "loads", lambda *args, **options: parsed.append(1) or loads(*args, **options))
    with open_once():
        for aspect, row in shares.items():
            runs = read_dialogues(tmp_path, "run.json", aspect)
            assert runs.estimated.tolist() == [[row]]
        for _ in range(2):
            with pytest.raises(DataError, match=r"bad\.json.*'id' occurs twice"):
                read_dialogues(tmp_path, "bad.json", "A")
    assert len(parsed) == 4
    read_dialogues(tmp_path, "run.json", "A")
    assert len(parsed) == 6


def read_dialogues(folder, run, aspect):
    return read_runs(folder / "gold.json", folder / run, format="dialogue-quality", aspect=aspect)
