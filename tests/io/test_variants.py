"""Score matrices written in hundreds of ways: each is read as it was written, asked about, or refused in one sentence.

HOSTILE_INPUTS=20 tries twenty times as many: 3,000.
"""

import csv
import gzip
import io
import math
import os
import random
import re
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from metaeval.errors import MetaevalError
from metaeval.io import read_scores

VARIANTS = int(150 * float(os.environ.get("HOSTILE_INPUTS", "1")))

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


def make_matrix(rng, topics=25, runs=12):
    """Return topics × runs."""
    values = np.round(np.random.default_rng(rng.randrange(99)).beta(1, 2, (topics, runs)), rng.choice((1, 2, 4)))
    return pd.DataFrame(values, index=range(401, 401 + topics), columns=[f"sys{run}" for run in range(runs)])


def _show(score):
    return "" if math.isnan(score) else repr(float(score))


class Variant:
    """One way to write a matrix: the rows of the file, and in `cells` what they mean."""

    def __init__(self, rng):
        self.rng, self.said = rng, []
        whole = make_matrix(rng)
        runs, topics = rng.sample(range(12), rng.randint(3, 12)), sorted(rng.sample(range(25), rng.randint(4, 25)))
        self.frame = whole.iloc[topics, runs] * rng.choice((1, 1, 1, 100))
        spell = rng.choice((str, str, "q{}".format, "topic about {}".format, lambda topic: str(topic - 400)))
        self.frame.index = [spell(topic) for topic in self.frame.index]
        if rng.random() < 0.3:
            self.frame.columns = [rng.choice(("org/model-{}", "{}")).format(run) + f"{run}" for run in range(len(runs))]
        self.cells = {(run, topic): self.frame.at[topic, run] for run in self.frame for topic in self.frame.index}
        self.untold = False  # whether the file alone cannot tell what it means
        self.options = {}  # with which it is read as it was meant, where the file is asked about
        if self.choose(0.15, "gaps"):
            for _ in range(3):
                self.frame.iat[rng.randrange(len(topics)), rng.randrange(len(runs))] = math.nan
            self.cells = {(run, topic): self.frame.at[topic, run] for run in self.frame for topic in self.frame.index}
        wide, turned, tidy = self._write_wide, self._write_turned, self._write_tidy
        rng.choice((wide, wide, wide, turned, tidy, tidy))()
        self._spell()

    def choose(self, share, *options):
        """Return one of some options with this probability, and note it."""
        chosen = self.rng.choice(options) if self.rng.random() < share else None
        self.said += [] if chosen is None else [repr(chosen)]
        return chosen

    def _write_matrix(self, frame, label):
        self.rows = [[*([] if label is None else [label]), *frame.columns]]
        for topic, scores in zip(frame.index, frame.to_numpy().tolist(), strict=True):
            self.rows.append([*([] if label is None else [topic]), *map(_show, scores)])

    def _write_wide(self):
        self.said.append("wide")
        label = self.choose(0.8, *TOPIC_NAMES)
        self._write_matrix(self.frame, label)
        self.options = {"columns": {"topic": label}} if label else {}
        if label is None:
            topics = {topic: str(number) for number, topic in enumerate(self.frame.index, 1)}
            self.cells = {(run, topics[topic]): score for (run, topic), score in self.cells.items()}
        if label is not None and (total := self.choose(0.2, *TOTALS)):
            self.rows.append([total, *map(_show, self.frame.mean(skipna=True).tolist())])
        elif total := self.choose(0.15, *TOTALS):
            self._add_column(len(self.rows[0]), total, [_show(mean) for mean in self.frame.mean(axis=1)])
        elif trait := self.choose(0.15, *TRAITS):
            self.options = {"columns": {"ignore": trait, **self.options.get("columns", {})}}
            self._add_column(len(self.rows[0]), trait, [str(self.rng.randint(2, 300)) for _ in self.rows[1:]])
        elif label is not None and (index := self.choose(0.2, *INDICES)) is not None:
            self._add_column(0, index, [str(row) for row in range(len(self.rows) - 1)])
        if self.choose(0.03, "no header"):
            del self.rows[0]
            self.options = {}

    def _write_turned(self):
        """Runs × topics."""
        self.said.append("turned")
        label = self.choose(0.8, *RUN_NAMES, "", "Unnamed: 0")
        self.untold = label in (None, "", "Unnamed: 0")
        self._write_matrix(self.frame.T, label)
        self.options = {"format": "transposed"} if label is not None else {}

    def _write_tidy(self):
        names = [self.rng.choice(RUN_NAMES), self.rng.choice(ITEM_NAMES), self.rng.choice(SCORE_NAMES)]
        rows = [[run, topic, _show(score)] for (run, topic), score in self.cells.items()]
        self.options = {"columns": dict(zip(("run", "topic", "score"), names, strict=True))}
        if total := self.choose(0.25, *TOTALS):
            rows += [[run, total, _show(mean)] for run, mean in self.frame.mean().items()]
        self.rows = [names, *rows]
        if measure := self.choose(0.6, *MEASURE_NAMES):
            self._add_column(2, measure, ["AP"] * len(rows))
        if trait := self.choose(0.15, *TRAITS, "lang"):
            self._add_column(len(names), trait, ["en" if trait == "lang" else "7" for _ in rows])
        if index := self.choose(0.15, *INDICES[1:]):
            self._add_column(0, index, [str(row) for row in range(len(rows))])
        if self.rng.random() < 0.3:
            order = self.rng.sample(range(len(self.rows[0])), len(self.rows[0]))
            self.rows = [[row[column] for column in order] for row in self.rows]
        self.said.append("tidy: " + ",".join(self.rows[0]))
        if self.choose(0.03, "no header"):
            del self.rows[0]
            self.options = {}

    def _add_column(self, position, name, cells):
        for row, cell in zip(self.rows, [name, *cells], strict=True):
            row.insert(position, cell)

    def _spell(self):
        kind = self.rng.choice(("text", "text", "text", "text", "gzip", "parquet", "frame", "json lines", "workbook"))
        if kind == "workbook" and find_spec("openpyxl") is None:
            kind = "text"
        headed = len(set(self.rows[0])) == len(self.rows[0]) and not any("no header" in word for word in self.said)
        self.said.append(kind)
        if kind in ("text", "gzip") or not headed:
            self._spell_text(kind if headed else "text")
            return
        frame = pd.DataFrame([[_type(cell) for cell in row] for row in self.rows[1:]], columns=self.rows[0])
        mixed = [name for name in frame if len({type(cell) for cell in frame[name] if cell is not None} - {float}) > 1]
        if kind == "parquet":  # whose columns have one type
            frame[mixed] = frame[mixed].astype(str)
        if self.choose(0.2, "numbers as texts"):
            frame = pd.DataFrame(self.rows[1:], columns=self.rows[0])
        buffer = io.BytesIO()
        if kind == "parquet":
            frame.to_parquet(buffer)
        elif kind == "workbook":
            frame.to_excel(buffer, index=False)
            self.untold |= "'docs'" in self.said  # 100.0 is kept as 100 in it
        else:
            buffer.write(frame.to_json(orient="records", lines=True, double_precision=15).encode())
        self.file = {"parquet": "c_ap.parquet", "json lines": "c_ap.jsonl", "workbook": "c_ap.xlsx", "frame": frame}[
            kind
        ]
        self.content = buffer.getvalue()

    def _spell_text(self, kind):
        separator = self.rng.choice(",,,;\t |")
        if separator == " " and any(" " in cell or not cell for row in self.rows for cell in row):
            separator = ","
        if separator == ";" and self.rng.random() < 0.5:
            comma = lambda cell: cell.replace(".", ",") if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", cell) else cell  # noqa: E731
            self.rows = [[*map(comma, row)] for row in self.rows]
        encoding = self.rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"))
        self.said += [repr(separator), encoding]
        text = io.StringIO()
        csv.writer(text, delimiter=separator, lineterminator=self.rng.choice(("\n", "\r\n"))).writerows(self.rows)
        self.file = "c_ap" + (".tsv" if separator == "\t" else ".csv") + (".gz" if kind == "gzip" else "")
        self.content = text.getvalue().encode(encoding)
        self.content = gzip.compress(self.content) if kind == "gzip" else self.content


def _type(cell):
    """A cell as spreadsheets and databases hold it."""
    if re.fullmatch(r"-?\d+", cell) and (cell == "0" or not cell.startswith("0")):
        return int(cell)
    if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", cell):
        return float(cell)
    return cell or None


def is_as_written(variant, scores):
    found = scores.to_frame().set_index(["run", "topic"])["score"].to_dict()
    gaps = {topic for (_, topic), score in variant.cells.items() if math.isnan(score)}
    written = {(run, topic): score for (run, topic), score in variant.cells.items() if topic not in gaps}
    if isinstance(variant.file, pd.DataFrame) and written.keys() != found.keys():  # rows of a frame count from 0
        written = {(run, str(int(topic) - 1)): score for (run, topic), score in written.items() if topic.isdecimal()}
    return len(scores.measures) == 1 and found == pytest.approx(written, rel=1e-9)


def read(variant, path, **options):
    """Return whether a variant is read as it was written, and what is said against it; a wrong number is never read."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return is_as_written(variant, read_scores(path, **options)), ""
    except MetaevalError as error:
        return False, str(error)


@pytest.mark.slow
def test_a_variant_of_a_matrix_is_read_as_it_was_written_or_asked_about_or_refused(tmp_path):
    counts = dict.fromkeys(("read", "read as the answer to a question says", "refused"), 0)
    for number in range(VARIANTS):
        variant = Variant(random.Random(f"variant {number}"))
        shown = f"variant {number}: {', '.join(variant.said)}"
        path, options = variant.file, {"missing": "drop-topic"}
        if isinstance(path, str):
            path = tmp_path / variant.file
            path.write_bytes(variant.content)
        else:
            options["measure"] = "AP"
        same, refusal = read(variant, path, **options)
        if not refusal:
            assert same or variant.untold, shown
            counts["read"] += 1
            continue
        assert "\n" not in refusal
        named = re.search(r"columns=\{'run': '([^']*)'\} says that these are runs", refusal)
        answer = variant.options
        if named and all(name in variant.frame for name in named[1].split("+")):
            answer = {"columns": {"run": named[1]}}
        if "state its format" in refusal and variant.options:
            kinds = {"wide": "wide", "turned": "transposed"}
            answer = {**answer, "format": next((kinds[said] for said in variant.said if said in kinds), "tidy")}
        same, again = read(variant, path, **options, **answer)
        assert same or again, shown
        counts["refused" if again else "read as the answer to a question says"] += 1
        # A hint that was followed leads to the scores, or to another message.
        dead = re.search("would leave nothing|occurs twice|has no name", refusal)
        assert again != refusal or not variant.options or dead, f"{shown}: {refusal}"
    assert counts["read"] > 0.6 * VARIANTS, counts
    assert counts["refused"] < 0.15 * VARIANTS, counts
