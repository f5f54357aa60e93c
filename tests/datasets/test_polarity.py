"""Polarities as RepLab 2013, SemEval-2014 Task 9 and SemEval-2015 Task 10 publish them: small files of that shape."""

import numpy as np
import pytest

import metaeval
from metaeval.datasets import polarity
from metaeval.errors import DataError, PolicyWarning

CLASSES = ("-1", "0", "1")

MESSAGES = {
    "gold": "522712800595300352\tT15113803\tneutral\tsome text\n522712800595300353\tT15113804\tpositive\tmore\n"
    "522712800595300354\tT15113805\tnegative\twords\n",
    "run": "NA\tT15113803\tpositive\nNA\tT15113804\tpositive\nNA\tT15113805\tneutral\n",
}
PHRASES = {
    "gold": "NA\t15115101\t2\t2\tpositive\tamid words\nNA\t15115101\t3\t4\tneutral\tamid words\n",
    "run": "NA\t15115101\t3\t4\tneutral\tamid words\nNA\t15115101\t2\t2\tnegative\tamid words\n",
}
TOPICS = {
    "gold": "522712800595300352\tT1\tneutral\taaron rodgers\ttext\n"
    "522712800595300353\tT2\tnegative\tbox office\ttext\n",
    "run": "NA\tT1\tneutral\taaron rodgers\nNA\tT2\tpositive\tbox office\n",
}
JUDGED = {"gold": "c1 0 t1 -1\nc1 0 t2 1\n", "run": "c1 0 t2 0\nc1 0 t1 -1\n"}
ENTITIES = {
    "gold": '"entity_id"\t"tweet_id"\t"filtering"\t"polarity"\n"RL2013D01E001"\t"1"\t"RELATED"\t"POSITIVE"\n'
    '"RL2013D01E001"\t"2"\t"UNRELATED"\t""\n"RL2013D01E002"\t"1"\t"RELATED"\t"NEGATIVE"\n',
    "run": '"entity_id"\t"tweet_id"\t"polarity"\n"RL2013D01E002"\t"1"\t"NEGATIVE"\n"RL2013D01E001"\t"2"\t"NEUTRAL"\n'
    '"RL2013D01E001"\t"1"\t"NEUTRAL"\n',
}


def read(tmp_path, files, **options):
    (tmp_path / "gold.txt").write_text(files["gold"])
    (tmp_path / "team.txt").write_text(files["run"])
    return polarity.read(tmp_path / "gold.txt", {"team": tmp_path / "team.txt"}, classes=CLASSES, **options)


@pytest.mark.parametrize(
    ("files", "topics", "counts"),
    [
        (MESSAGES, ["all"], [[0, 1, 0], [0, 0, 1], [0, 0, 1]]),
        (PHRASES, ["all"], [[0, 0, 0], [0, 1, 0], [1, 0, 0]]),  # told apart by their place in the message
        (TOPICS, ["aaron rodgers", "box office"], [[0, 0, 1], [0, 0, 0], [0, 0, 0]]),  # which stand behind the label
        (JUDGED, ["c1"], [[1, 0, 0], [0, 0, 0], [0, 1, 0]]),
    ],
)
def test_every_layout_is_told_by_its_first_line(tmp_path, files, topics, counts):
    runs = read(tmp_path, files, topics=files is TOPICS)
    assert list(runs.topics) == topics
    assert runs.counts[0, -1].tolist() == counts


def test_replabs_entities_are_topics_and_unrelated_tweets_are_left_out(tmp_path):
    with pytest.warns(PolicyWarning, match="left out 1 item of 3 without a polarity"):
        runs = read(tmp_path, ENTITIES)
    assert runs.topics == ("RL2013D01E001", "RL2013D01E002")
    assert runs.counts.sum() == 2
    assert runs.counts[0, 0].tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_replabs_gold_may_be_a_folder_with_a_file_an_entity(tmp_path):
    folder = tmp_path / "labeled"
    folder.mkdir()
    for entity, rows in {"RL2013D01E001": '"1"\t"POSITIVE"\n"2"\t""\n', "RL2013D01E002": '"1"\t"NEGATIVE"\n'}.items():
        (folder / f"{entity}.dat").write_text(f'"tweet_id"\t"polarity"\n{rows}')
    (tmp_path / "team.txt").write_text(ENTITIES["run"])
    with pytest.warns(PolicyWarning, match="left out 1 item of 3"):
        runs = polarity.read(folder, {"team": tmp_path / "team.txt"}, classes=CLASSES)
    with pytest.warns(PolicyWarning, match="left out 1 item of 3"):
        same = read(tmp_path, ENTITIES)
    assert runs.topics == ("RL2013D01E001", "RL2013D01E002")
    np.testing.assert_array_equal(runs.counts, same.counts)


@pytest.mark.parametrize("label", ["", "NULL", "null"])
def test_a_gold_item_of_semeval_without_a_label_is_refused_and_never_dropped(label, tmp_path):
    with pytest.raises(DataError, match=r"gold.txt:2: topic all, item T2: the label"):
        read(tmp_path, {"gold": f"NA\tT1\tpositive\nNA\tT2\t{label}\n", "run": "NA\tT1\tneutral\nNA\tT2\tneutral\n"})


def test_items_are_dealt_to_parts_when_asked_for(tmp_path):
    gold = "".join(f"{k}\tT{k}\t{('negative', 'neutral', 'positive')[k % 3]}\n" for k in range(40))
    runs = read(tmp_path, {"gold": gold, "run": gold}, parts=10)
    assert len(runs.topics) == 10
    assert (runs.gold.sum(axis=1) == 4).all()
    assert metaeval.score(runs, "Accuracy").values.min() == 1


@pytest.mark.parametrize("name", ["semeval2014-9a", "semeval2014-9b", "semeval2015-10a", "semeval2015-10b"])
def test_the_data_sets_read_the_published_layout_once_it_is_in_place(tmp_path, name):
    files = PHRASES if name.endswith("a") else MESSAGES
    (tmp_path / name / "runs").mkdir(parents=True)
    (tmp_path / name / "gold.txt").write_text(files["gold"])
    (tmp_path / name / "runs" / "team.txt").write_text(files["run"])
    runs = metaeval.load_dataset(name, folder=tmp_path)
    assert runs.runs == ("team",)
    assert runs.counts.sum() == files["gold"].count("\n")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"gold": "just words\n", "run": ""}, r"gold\.txt:1: its layout is none of"),
        ({**MESSAGES, "run": "NA\tT1\n"}, r"team\.txt:1: its layout is none of"),
        (
            {**MESSAGES, "run": "NA\tT15113803\tpositive\nNA\tT9\tpositive\n"},
            r"team\.txt:2.*T9: the gold has no such item",
        ),
        ({**MESSAGES, "run": "NA\tT15113803\tpositive\n"}, "there is no label for this item"),
        ({**MESSAGES, "run": MESSAGES["run"].replace("neutral", "mixed")}, "label 'mixed' is not one of the classes"),
        ({**ENTITIES, "gold": '"entity_id"\t"tweet_id"\n"RL1"\t"1"\n'}, "polarity"),
        ({**ENTITIES, "gold": '"tweet_id"\t"polarity"\n"1"\t"POSITIVE"\n'}, "there is no column 'entity_id'"),
        (
            {**ENTITIES, "gold": '"entity_id"\t"tweet_id"\t"polarity"\n"RL1"\t"1"\t""\n'},
            "none of its items has a polarity",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, files, said):
    with pytest.raises(metaeval.DataError, match=said):
        read(tmp_path, files)


def test_a_missing_topic_is_said_when_topics_are_expected(tmp_path):
    with pytest.raises(metaeval.DataError, match="there is no topic after the label"):
        read(tmp_path, {"gold": "1\tT1\tneutral\n", "run": "NA\tT1\tneutral\n"}, topics=True)
