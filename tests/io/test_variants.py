"""Score matrices written in hundreds of ways: each is read as it was written, or refused in one sentence.

Real matrices where METAEVAL_DATA has them, made ones elsewhere. HOSTILE_INPUTS=10 tries ten times as many.
"""

import csv
import io
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaeval.errors import MetaevalError
from metaeval.io import read_scores

VARIANTS = 600 * int(os.environ.get("HOSTILE_INPUTS", "1"))

TOTALS = ("all", "mean", "Average", "amean", "Overall", "AVG", "total", "macro")
TOPIC_NAMES = (
    "topic", "qid", "query_id", "id", "segment", "seg_id", "doc_id", "question", "prompt", "index", "Unnamed: 0", "fold",
    "dialogue", "", "nr", "idx", "tid", "num", "x", "key", "instance", "case", "row",
)  # fmt: skip
RUN_NAMES = ("run", "system", "model", "runid", "run_id", "sys", "name", "submission")
ITEM_NAMES = ("topic", "query", "qid", "item", "segment", "doc_id", "question_id", "prompt_id", "instance")
MEASURE_NAMES, SCORE_NAMES = ("measure", "metric", "evaluator", "scorer"), ("score", "value", "rating", "result")
TRAITS = ("year", "fold", "length", "cluster", "seed", "num_docs")
INDICES = ("", "index", "Unnamed: 0", "level_0")


def real_matrices():
    """Yield topics × runs of public collections."""
    folder = Path(os.environ.get("METAEVAL_DATA", "")) / "trec"
    for path in sorted(folder.glob("*.csv"))[::5] if folder.is_dir() else []:
        frame = pd.read_csv(path)
        frame = frame.set_index("topic") if "topic" in frame else frame.set_axis(range(401, 401 + len(frame)))
        yield frame.iloc[:25, :12].astype(float)


def made_matrices():
    rng = np.random.default_rng(0)
    for digits in (1, 2, 4):
        values = np.round(rng.beta(1, 2, (25, 12)), digits)
        yield pd.DataFrame(values, index=range(401, 426), columns=[f"sys{run}" for run in range(12)])


MATRICES = [*real_matrices()] or [*made_matrices()]


class Variant:
    """One way to write a matrix: the rows of the file, and in `cells` what they mean."""

    def __init__(self, rng):
        self.rng, self.said = rng, []
        whole = rng.choice(MATRICES)
        runs, topics = rng.sample(range(12), rng.randint(3, 12)), sorted(rng.sample(range(25), rng.randint(4, 25)))
        self.frame = whole.iloc[topics, runs] * rng.choice((1, 1, 1, 100))
        spell = rng.choice((str, str, "q{}".format, "topic about {}".format, lambda topic: str(topic - 400)))
        self.frame.index = [spell(topic) for topic in self.frame.index]
        if rng.random() < 0.3:
            self.frame.columns = [rng.choice(("org/model-{}", "{}")).format(run) + f"{run}" for run in range(len(runs))]
        self.cells = {(run, topic): self.frame.at[topic, run] for run in self.frame for topic in self.frame.index}
        self.untold = False  # whether the file alone cannot tell what it means
        self.name = "c_ap"
        getattr(
            self,
            rng.choice(("_write_wide", "_write_wide", "_write_wide", "_write_turned", "_write_tidy", "_write_tidy")),
        )()
        self._spell()

    def choose(self, share, *options):
        """Return one of some options with this probability, and note it."""
        chosen = self.rng.choice(options) if self.rng.random() < share else None
        self.said += [] if chosen is None else [repr(chosen)]
        return chosen

    def _write_matrix(self, frame, label):
        self.rows = [[*([] if label is None else [label]), *frame.columns]]
        for topic, scores in zip(frame.index, frame.to_numpy().tolist(), strict=True):
            self.rows.append([*([] if label is None else [topic]), *map(repr, scores)])

    def _write_wide(self):
        self.said.append("wide")
        label = self.choose(0.8, *TOPIC_NAMES)
        self._write_matrix(self.frame, label)
        if label is None:
            topics = {topic: str(number) for number, topic in enumerate(self.frame.index, 1)}
            self.cells = {(run, topics[topic]): score for (run, topic), score in self.cells.items()}
        if label is not None and (total := self.choose(0.2, *TOTALS)):
            self.rows.append([total, *map(repr, self.frame.mean().tolist())])
        elif total := self.choose(0.15, *TOTALS):
            self._add_column(len(self.rows[0]), total, [repr(mean) for mean in self.frame.mean(axis=1)])
        elif trait := self.choose(0.15, *TRAITS):
            self._add_column(len(self.rows[0]), trait, [str(self.rng.randint(2, 300)) for _ in self.rows[1:]])
        elif label is not None and (index := self.choose(0.2, *INDICES)) is not None:
            self._add_column(0, index, [str(row) for row in range(len(self.rows) - 1)])
        if self.choose(0.07, "no header"):
            del self.rows[0]

    def _write_turned(self):
        """Runs × topics."""
        self.said.append("turned")
        label = self.choose(0.8, *RUN_NAMES, "", "Unnamed: 0")
        self.untold = label in (None, "", "Unnamed: 0")
        self._write_matrix(self.frame.T, label)

    def _write_tidy(self):
        names = [self.rng.choice(RUN_NAMES), self.rng.choice(ITEM_NAMES), self.rng.choice(SCORE_NAMES)]
        rows = [[run, topic, repr(score)] for (run, topic), score in self.cells.items()]
        if total := self.choose(0.25, *TOTALS):
            rows += [[run, total, repr(float(mean))] for run, mean in self.frame.mean().items()]
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
        if self.choose(0.08, "no header"):
            del self.rows[0]

    def _add_column(self, position, name, cells):
        for row, cell in zip(self.rows, [name, *cells], strict=True):
            row.insert(position, cell)

    def _spell(self):
        separator = self.rng.choice(",,,;\t |")
        if separator == " " and any(" " in cell for row in self.rows for cell in row):
            separator = ","
        if separator == ";" and self.rng.random() < 0.5:
            self.rows = [[cell.replace(".", ",") if cell[:1].isdigit() else cell for cell in row] for row in self.rows]
        encoding = self.rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"))
        self.said += [repr(separator), encoding]
        text = io.StringIO()
        csv.writer(text, delimiter=separator, lineterminator=self.rng.choice(("\n", "\r\n"))).writerows(self.rows)
        self.file = self.name + (".tsv" if separator == "\t" else ".csv")
        self.content = text.getvalue().encode(encoding)


def test_a_variant_of_a_matrix_is_read_as_it_was_written_or_refused(tmp_path):
    read, refusals = 0, []
    for number in range(VARIANTS):
        variant = Variant(random.Random(f"variant {number}"))
        path = tmp_path / variant.file
        path.write_bytes(variant.content)
        with warnings.catch_warnings(action="ignore"):
            try:
                scores = read_scores(path)
            except MetaevalError as error:
                refusals.append(str(error))
                continue
        found = {
            (run, topic): scores.values[r, t, 0]
            for r, run in enumerate(scores.runs)
            for t, topic in enumerate(scores.topics)
        }
        as_written = len(scores.measures) == 1 and found.keys() == variant.cells.keys()
        as_written = as_written and all(found[cell] == pytest.approx(score) for cell, score in variant.cells.items())
        assert as_written or variant.untold, f"variant {number}: {', '.join(variant.said)}"
        read += as_written
    assert read > VARIANTS / 10
    assert not any("\n" in refusal for refusal in refusals)
