"""Score matrices written in hundreds of ways: each is read as it was written, asked about, or refused in one sentence."""

import gzip
import io
import math
import re
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from metaeval.errors import DataError
from metaeval.io import read_scores
from tests.hostile.case import Refused, call, try_inputs
from tests.io.cases import put, read_with_notes, show as show_scores

TOTALS = ("all", "mean", "Average", "amean", "Overall", "AVG", "total", "macro")
TOPIC_NAMES = (
    "topic", "qid", "query_id", "id", "segment", "seg_id", "doc_id", "question", "prompt", "index", "Unnamed: 0", "fold",
    "dialogue", "", "nr", "idx", "tid", "num", "x", "key", "instance", "case", "row",
)  # fmt: skip
RUN_NAMES = ("run", "system", "model", "runid", "run_id", "sys", "name", "submission")
ITEM_NAMES = ("topic", "query", "qid", "item", "segment", "doc_id", "question_id", "prompt_id", "instance")
MEASURE_NAMES, SCORE_NAMES = ("measure", "metric", "evaluator", "scorer"), ("score", "value", "rating", "result")
TRAITS = ("year", "fold", "length", "cluster", "seed", "num_docs", "docs")
INDICES = ("", "index", "Unnamed: 0", "level_0")
KINDS = ("text", "text", "text", "text", "gzip", "parquet", "frame", "json lines", "workbook")
SUFFIXES = {"parquet": "parquet", "json lines": "jsonl", "workbook": "xlsx"}
DECIMAL = re.compile(r"-?\d+\.\d+(e-?\d+)?")


def show(score):
    return "" if math.isnan(score) else repr(float(score))


def as_typed(cell):
    """Return a cell as spreadsheets and databases hold it."""
    if re.fullmatch(r"-?\d+", cell) and (cell == "0" or not cell.startswith("0")):
        return int(cell)
    return float(cell) if DECIMAL.fullmatch(cell) else cell or None


class Variant:
    """One way to write a matrix: a table of texts, and in `cells` what they mean."""

    def __init__(self, rng):
        self.rng, self.said = rng, []
        self.untold = False  # whether the file alone cannot tell what it means
        values = np.round(np.random.default_rng(rng.randrange(99)).beta(1, 2, (25, 12)), rng.choice((1, 2, 4)))
        runs, topics = rng.sample(range(12), rng.randint(3, 12)), sorted(rng.sample(range(25), rng.randint(4, 25)))
        spell = rng.choice((str, str, "q{}".format, "topic about {}".format, lambda topic: str(topic - 400)))
        named = rng.choice(("sys{}", "sys{}", "org/model-{}", "{}7"))
        frame = pd.DataFrame(values[np.ix_(topics, runs)] * rng.choice((1, 1, 1, 100)))
        frame.index, frame.columns = [spell(401 + topic) for topic in topics], [named.format(run) for run in runs]
        for _ in range(3 if self.choose(0.15, "gaps") else 0):
            frame.iat[rng.randrange(len(topics)), rng.randrange(len(runs))] = math.nan
        self.frame = frame
        self.cells = {(run, topic): frame.at[topic, run] for run in frame for topic in frame.index}
        # What is read as it was meant, where the file is asked about.
        self.options = rng.choice((self.write_wide, self.write_wide, self.write_turned, self.write_tidy))()
        self.headed = self.choose(0.03, "no header") is None
        self.options = self.options if self.headed else {}
        self.file, self.content = self.spell()

    def choose(self, share, *options):
        """Return one of some options with this probability, and note it."""
        chosen = self.rng.choice(options) if self.rng.random() < share else None
        self.said += [] if chosen is None else [repr(chosen)]
        return chosen

    def insert(self, position, name, cells):
        self.table.insert(position, name, cells, allow_duplicates=True)

    def write_wide(self):
        self.said.append("wide")
        self.table, label = self.frame.map(show), self.choose(0.8, *TOPIC_NAMES)
        options = {} if label is None else {"columns": {"topic": label}}
        if label is None:
            topics = {topic: str(number) for number, topic in enumerate(self.frame.index, 1)}
            self.cells = {(run, topics[topic]): score for (run, topic), score in self.cells.items()}
        else:
            self.insert(0, label, self.frame.index)
        if label is not None and (total := self.choose(0.2, *TOTALS)):
            self.table.loc[total] = [total, *map(show, self.frame.mean())]
        elif total := self.choose(0.15, *TOTALS):
            self.insert(self.table.shape[1], total, [*map(show, self.frame.mean(axis=1))])
        elif trait := self.choose(0.15, *TRAITS):
            options = {"columns": {"ignore": trait, **options.get("columns", {})}}
            self.insert(self.table.shape[1], trait, [str(self.rng.randint(2, 300)) for _ in self.frame.index])
        elif label is not None and (index := self.choose(0.2, *INDICES)) is not None:
            self.insert(0, index, [*map(str, range(len(self.table)))])
        return options

    def write_turned(self):
        """Write runs × topics."""
        self.said.append("turned")
        self.table, label = self.frame.T.map(show), self.choose(0.8, *RUN_NAMES, "", "Unnamed: 0")
        self.untold = label in (None, "", "Unnamed: 0") or (label == "name" and self.frame.columns[0].isdecimal())
        if label is None:
            return {}
        self.insert(0, label, self.frame.columns)
        return {"format": "transposed"}

    def write_tidy(self):
        names = [self.rng.choice(RUN_NAMES), self.rng.choice(ITEM_NAMES), self.rng.choice(SCORE_NAMES)]
        rows = [[run, topic, show(score)] for (run, topic), score in self.cells.items()]
        if total := self.choose(0.25, *TOTALS):
            rows += [[run, total, show(mean)] for run, mean in self.frame.mean().items()]
        self.table = pd.DataFrame(rows, columns=names)
        if measure := self.choose(0.6, *MEASURE_NAMES):
            self.insert(2, measure, ["AP"] * len(rows))
        if trait := self.choose(0.15, *TRAITS, "lang"):
            self.insert(len(names), trait, ["en" if trait == "lang" else "7"] * len(rows))
        if index := self.choose(0.15, *INDICES[1:]):
            self.insert(0, index, [*map(str, range(len(rows)))])
        if self.rng.random() < 0.3:
            self.table = self.table.iloc[:, self.rng.sample(range(self.table.shape[1]), self.table.shape[1])]
        self.said.append("tidy: " + ",".join(self.table))
        return {"columns": dict(zip(("run", "topic", "score"), names, strict=True))}

    def spell(self):
        """Return the name of a file and what is in it, or a frame and nothing."""
        kind, table = self.rng.choice(KINDS), self.table.reset_index(drop=True)
        if (
            not self.headed
            or table.columns.duplicated().any()
            or (kind == "workbook" and find_spec("openpyxl") is None)
        ):
            kind = "text"
        self.said.append(kind)
        if kind in ("text", "gzip"):
            return self.spell_text(table, kind)
        if not self.choose(0.2, "numbers as texts"):
            table = table.map(as_typed)
            if kind == "parquet":  # whose columns have one type
                mixed = [name for name in table if len({*map(type, table[name].dropna())} - {float}) > 1]
                table[mixed] = table[mixed].astype(str)
        if kind == "frame":
            return table, None
        buffer = io.BytesIO()
        if kind == "parquet":
            table.to_parquet(buffer)
        elif kind == "workbook":
            table.to_excel(buffer, index=False)
            self.untold |= "'docs'" in self.said  # 100.0 is kept as 100 in it
        else:
            buffer.write(table.to_json(orient="records", lines=True, double_precision=15).encode())
        return f"c_ap.{SUFFIXES[kind]}", buffer.getvalue()

    def spell_text(self, table, kind):
        separator, end = self.rng.choice(",,,;\t |"), self.rng.choice(("\n", "\r\n"))
        if separator == " " and (
            table.map(lambda cell: " " in cell or not cell).any(axis=None) or " " in "".join(table)
        ):
            separator = ","
        if separator == ";" and self.rng.random() < 0.5:
            table = table.map(lambda cell: cell.replace(".", ",") if DECIMAL.fullmatch(cell) else cell)
        encoding = self.rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"))
        self.said += [repr(separator), encoding]
        text = table.to_csv(sep=separator, index=False, header=self.headed, lineterminator=end)
        content, name = text.encode(encoding), "c_ap.tsv" if separator == "\t" else "c_ap.csv"
        return (f"{name}.gz", gzip.compress(content)) if kind == "gzip" else (name, content)


def is_as_written(variant, scores):
    found = scores.to_frame().set_index(["run", "topic"])["score"].to_dict()
    gaps = {topic for (_, topic), score in variant.cells.items() if math.isnan(score)}
    written = {(run, topic): score for (run, topic), score in variant.cells.items() if topic not in gaps}
    if isinstance(variant.file, pd.DataFrame) and written.keys() != found.keys():  # rows of a frame count from 0
        written = {(run, str(int(topic) - 1)): score for (run, topic), score in written.items() if topic.isdecimal()}
    return len(scores.measures) == 1 and found == pytest.approx(written, rel=1e-9)


def check_variant(rng, folder):
    """A wrong number is never read, and a hint that was followed leads to the scores, or to another message."""
    variant = Variant(rng)
    shown, path, options = ", ".join(variant.said), variant.file, {"missing": "drop-topic"}
    if variant.content is not None:
        path = folder / variant.file
        path.write_bytes(variant.content)
    else:
        options["measure"] = "AP"
    scores, said = call(read_scores, path, **options)
    if scores is not None:
        assert is_as_written(variant, scores) or variant.untold, shown
        return
    refusal = said[0]
    named = re.search(r"columns=\{'run': '([^']*)'\} says that these are runs", refusal)
    answer = variant.options
    if named and all(name in variant.frame for name in named[1].split("+")):
        answer = {"columns": {"run": named[1]}}
    if "state its format" in refusal and variant.options:
        kinds = {"wide": "wide", "turned": "transposed"}
        answer = {**answer, "format": next((kinds[said] for said in variant.said if said in kinds), "tidy")}
    scores, said = call(read_scores, path, **options, **answer)
    assert scores is None or is_as_written(variant, scores), shown
    if scores is None:
        again = said[0]
        dead = re.search("would leave no|occurs twice|has no name|first line holds numbers", refusal)
        assert again != refusal or not variant.options or dead, f"{shown}: {refusal}"
        raise Refused(again)


@pytest.mark.slow
def test_a_variant_of_a_matrix_is_read_as_it_was_written_or_asked_about_or_refused(tmp_path):
    try_inputs(check_variant, (0, 150), tmp_path, least_equal=0.85)


TOPICS = ("q1", "q2", "q3", "q4", "q5")
GRID = "topic,a,b,c,d\n" + "".join(f"{topic},0.5,0.25,0.1{n},0.7\n" for n, topic in enumerate(TOPICS))
UNEVEN = ((0.11, 0.52, 0.93), (0.44, 0.25, 0.36), (0.77, 0.18, 0.69), (0.22, 0.83, 0.34))
WIDE = "topic,a,b,c{}\n" + "".join(f"q{n},{x},{y},{z}{{}}\n" for n, (x, y, z) in enumerate(UNEVEN))
MARKED = "topic,a,b\n" + "".join(f"q{n},{507 + n},{n}.501\ns{n},{n}.702,{300 + n}\n" for n in range(1, 7))
LONG = "run,topic,AP{}\n" + "".join(f"{run},q{n},0.{n}{{}}\n" for run in "ab" for n in (1, 2))
STATED = "run,topic,measure,score\n" + "".join(
    f"{run},q,AP,{n}\n{run},q,AP_std,0.1\n" for run, n in (("a", 0.5), ("b", 0.25))
)
BITS = "run,topic,AP,Precision\n" + "".join(f"{run},{n},0.{n},{ord(run) - 90}\n" for run in "bf" for n in (1, 2, 3))
AS_READ = "AP: a 0.1 0.2, b 0.1 0.2 .q1 q2."
PUBLISHED = {
    # a file, its content, what is read or refused, what is said of it
    "std": ("x_ap.csv", GRID.replace("d\n", "Std\n"), "AP: a .* b .* c ", "1 column not used: Std"),
    "std of a run": ("x_ap.csv", GRID.replace("b,", "a_std,", 1), "AP: a .* c .* d ", "1 column not used: a_std"),
    "rank": ("x.csv", LONG.format(",Rank", *[",1"] * 4), AS_READ, "1 column not used: Rank"),
    "rank first": ("x_ap.csv", "rank,system,t1,t2\n1,a,0.5,0.25\n2,b,0.25,0.5\n", "one number a run", ""),
    "sum": ("x_ap.csv", f"{GRID}Sum,2.5,1.25,0.6,3.5\n", "topic Sum, measure AP: it has the name of a total", ""),
    "macro": ("x_ap.csv", f"{GRID}Macro Avg.,0.5,0.25,0.12,0.7\n", "AP: a ", "the means over topics, .* Macro Avg."),
    "mean in French": ("x_ap.csv", f"{WIDE.format('', *[''] * 4)}q9,0.385,0.445,0.58\n", "AP: a ", "q9 is the mean of"),
    "largest": ("x_ap.csv", WIDE.format(",Top", ",0.93", ",0.44", ",0.77", ",0.83"), "AP: a ", "run Top is the largest"),
    "counted": ("x_ap.csv", WIDE.format("", *[""] * 4) + "N,4,4,4\n", "AP: a ", "topic N is the number of"),
    "of topics": ("x.csv", LONG.format(",level", *[",1", ",3"] * 2), AS_READ, "1 column not used: level"),
    "of runs": ("x.csv", LONG.format(",size", *[",7.5"] * 2, *[",1.5"] * 2), AS_READ, "1 column not used: size"),
    "delta": ("x_ap.csv", WIDE.format(",delta,p", *[",-0.2,0.04"] * 4), "AP: a [^d]*, c [^,]*$", "2 columns not used"),
    "topics last": ("x_ap.csv", "a,b,topic\n0.5,1,q1\n0.25,0.5,q2\n", "AP: a 0.5 0.25, b 1 0.5 .q1 q2", ""),
    "a filtered frame": ("x_ap.csv", ",topic,a\n3,q1,0.5\n7,q2,0.25\n", "AP: a 0.5 0.25 .q1 q2", "1 column not used"),
    "two kinds of runs": ("x.csv", "team,system,item,AP\n1,x,i,0\n1,y,j,1\n2,y,i,0\n2,x,j,1\n", "are called as runs are", ""),
    "names twice": ("x_ap.csv", "topic,a,b,a.1,b.1\nq1,0.5,0.25,0.1,0.75\n", "every name stands there several times", ""),
    "a measure among runs": ("x.csv", "topic,mine,BLEU\nq1,0.5,20.5\nq2,0.75,30.5\n", "or measures of a single run", ""),
    "a mean among others": ("x_ap.csv", GRID.replace("q3", "mean_easy"), "AP: a ", "totals or measures are: mean_easy"),
    "means and deviations": ("x_ap.csv", "topic,a,b\nmean,0.5,0.25\nstd,0.1,0.2\n", "AP: a ", "all topics are called as"),
    "deviations": ("x.csv", LONG.format(",AP(std)", *[",0.1"] * 4), AS_READ, "1 column not used: AP.std."),
    "a deviation a row": ("x.csv", STATED, "AP: a 0.5, b 0.25; AP_std", "what describes scores or runs is: AP_std;"),
    "points for thousands": ("x.csv", "run;topic;AP\na;q;1.501\nb;q;12.702\n", "AP: a 1.501", "if they separate thousands"),
    "commas in names": ("x.csv", "run;topic;AP;a, b\na;q1;0,5;1\nb;q1;0,25;1\n", "AP: a 0.5, b 0.25", "measures: AP, a, b"),
    "no names of columns": ("x.csv", "a,q1,5\na,q2,3\nb,q1,2\n", "its first line holds scores, not names of columns", ""),
    "one measure of one run": ("bm25.csv", "qid,nDCG@10\nq1,0.5\nq2,1\n", "or measures of a single run .nDCG@10", ""),
    "wins": ("w.csv", "id,a,b\nb,0.5,0.25\na,0.5,0.75\n", "its rows and columns have the same names", ""),
    "Latin square": ("x.csv", "participant,system,item,AP\np,a,i,1\np,b,j,0\nr,b,i,1\nr,a,j,0\n", "AP: a 1 0, b 1 0", "used"),
    "language pairs": ("x.csv", LONG.format(",lp", *[",x"] * 2, *[",y"] * 2), AS_READ, "if 'lp' names collections"),
    "segments and questions": ("x.csv", LONG.format(",question", ",x", ",y", ",x", ",x"), AS_READ, "not 'question'"),
    "yes or no": ("x_ap.csv", WIDE.format(",hard", ",TRUE", ",FALSE", ",TRUE", ",FALSE"), "does 'hard' .1, 0, 1", ""),
    "far above": ("x_ap.csv", WIDE.format(",width", *[",640.5", ",480.5"] * 2), "does 'width' .640.5, 480.5", ""),
    "numbered items": ("x.csv", "ID,Q1,Q2\nS01,1,0\nS02,0,1\n", "does the first column, 'ID', name topics or runs", ""),
    "numbered measures": ("x.csv", "model,Hits@1,Hits@3\na,0.5,0.75\nb,0.25,0.5\n", "one number a run", ""),
    "thousands": ("x_ap.csv", MARKED, "AP: a ", "AP is read with points for decimals; if they separate thousands"),
    "scale": ("x_ap.csv", GRID.replace("0.7", "70.5").replace("0.25", "25.5"), "AP: a ", "AP is at most 1 for run a, and"),
    "bits": ("x.csv", BITS, "AP: b ", "Precision is the same on all topics of each run"),
    "samples": ("x.csv", LONG.replace("topic", "sample").format(*[""] * 5), AS_READ, "from the column 'sample'"),
    "lines": ("x.txt", "a q1 AP 0.5\nb q1 AP 0.25\n", "AP: a 0.5, b 0.25 .q1", "columns are read as run, topic, "),
    "a measure a topic": ("x.csv", "run,topic,measure,score\na,1,AP,0.5\na,2,RR,1\n", "one alone has its topics: .*AP", ""),
    "fusions": ("x_ap.csv", "topic,min,max\nq1,0.5,0.25\nq2,1,0\n", "AP: min 0.5 1, max 0.25 0", ""),
    "lengths": ("x_ap.csv", GRID.replace("0.7", "2.5"), "does 'd' .2.5, 2.5, 2.5, …., unlike the other columns", ""),
    "bold": ("x_ap.csv", GRID.replace("0.7", "**0.7**"), "run d, topic q1, measure AP: the score '..0.7..' is not", ""),
    "LaTeX": ("x_ap.csv", GRID.replace("0.7", r"\textbf{0.7}"), "run d, topic q1, measure AP: the score", ""),
    "a blank behind": ("x.csv", LONG.format(*[""] * 5).replace("b,q2", "b ,q2"),
                       "the runs 'b' and 'b ' differ in blanks or case only: .*; otherwise choose what", ""),
    "other case": ("x_ap.csv", GRID.replace("b,", "A,", 1), "AP: a .*, A ", "the runs 'a' and 'A' differ in blanks"),
    "quotes in .tsv": ("x.tsv", "run\ttopic\tAP\n" + 'a\t"q1\t0.1\nb\t"q1\t0.1\n', 'AP: a 0.1, b 0.1 ."q1', ""),
    "folds": ("x.csv", "run,topic,fold1,fold2\na,t,0.5,0.25\nb,t,1,0.5\n", "fold1, fold2 are called as repeats are", ""),
    "totals": ("x.json", '{"exact": 80.1, "f1": 83.2}', "one number a run and no topics", ""),
    "nested": ("x.json", '{"a": {"t1": {"AP": 0.5}}}', "only objects, lists or nothing .write a list of rows", ""),
    "a table of runs": ("x.csv", "name,AP,nDCG\na,0.5,0.75\nb,0.25,0.5\n", "one number a run and no topics", ""),
    "Markdown": ("x.md", "| topic | a |\n|---|---|\n| q1 | 0.5 |\n", "are for people: save it as CSV", ""),
    "R": ("x.txt", '"run" "topic" "AP"\n"1" "a" "q1" 0.5\n', "use write.csv", ""),
    "sums of groups": ("x_ap.csv", "topic,a,b\nlogic,0.5,1\nart,0,0.75\nSTEM (avg),0.3,0.1\n", "AP: a ", "measures are: STEM"),
    "shares": ("gold.csv", "topic,0,1\nq1,0.5,0.5\nq2,0.125,0.875\nq3,1,0\n", "gold: 0 0.5", "sums to 1 over the runs"),
    "hashes": ("x.csv", "dataset,version,mode,a,b\nq1,4f7e2,gen,0.5,1\n", "called: columns={'topic': 'dataset", ""),
    "no names": ("x.csv", "a,q1,AP,0.5\nb,q1,AP,0.25\n", "its first line holds scores, not names of columns", ""),
    "only scores": ("x.txt", "0.5 0.25 0.75 1\n0.25 0.5 1 0\n", "its format cannot be detected", ""),
    "battles": ("x.csv", "id,model_a,model_b,winner\n1,x,y,x\n2,y,z,z\n", "columns={'run': 'NAME', 'topic': 'NAME'", ""),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "found", "said"), PUBLISHED.values(), ids=PUBLISHED)
def test_tables_as_communities_publish_them_are_read_or_refused_with_a_reason(name, content, found, said, tmp_path):
    path = put(tmp_path, {name: content})
    if found.startswith(("AP: ", "gold: ")):
        scores, notes = read_with_notes(read_scores, path)
        assert re.match(found, show_scores(scores))
        assert re.search(said, notes) if said else not notes
        return
    with pytest.raises(DataError, match=found):
        read_scores(path)


def test_an_index_without_a_name_names_the_topics_of_parquet_as_it_does_those_of_text(tmp_path):
    for index in (["q3", "q1", "q2"], [4, 0, 7]):
        frame = pd.DataFrame({"a": [0.5, 0.25, 1], "b": [True, False, True]}, index)
        frame.to_parquet(tmp_path / "x_ap.parquet")
        frame.astype(float).to_csv(tmp_path / "x_ap.csv")
        found = [show_scores(read_with_notes(read_scores, tmp_path / f"x_ap.{end}")[0]) for end in ("parquet", "csv")]
        assert found == ["AP: a 0.5 0.25 1, b 1 0 1 ({} {} {})".format(*index)] * 2
        table = pq.read_table(tmp_path / "x_ap.parquet", columns=["a", "b"])
        for record in (b"[]", b"{", b'{"index_columns": 5}', b'{"index_columns": [["a"]]}', b"[" * 100_000, b"\xff"):
            pq.write_table(table.replace_schema_metadata({b"pandas": record}), tmp_path / "y_ap.parquet")
            assert show_scores(read_with_notes(read_scores, tmp_path / "y_ap.parquet")[0]).endswith("(1 2 3)")


def test_a_folder_with_a_table_of_measures_for_each_run_is_not_taken_for_one_of_measures(tmp_path):
    folder = put(tmp_path, {f"f/{run}.csv": "qid,faithfulness,relevancy\nq1,0.5,0.25\n" for run in ("x", "y")}) / "f"
    with pytest.raises(DataError, match="is each file a measure, or a run .*format=wide"):
        read_scores(folder)
    assert read_scores(folder, format="wide").runs == ("faithfulness", "relevancy")
