"""The formats: what each looks like, which options it takes, and what reads and writes it. All else derives from the list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from metaeval.errors import MetaevalError, format_option

if TYPE_CHECKING:
    from metaeval.data.scores import Scores


@dataclass(frozen=True)
class ScoreFormat:
    """A format of score matrices, whose files look as `layout` says; a table, if it has no `source`.

    `source` is a module, and an object in it, that has `rows` and `fits`. `sure`: what fits it can be nothing else.
    """

    name: str
    layout: str
    source: str = ""
    sure: bool = False
    columns: bool = False

    def read_collections(
        self, sources: Any, *, measure: Any = None, collection: str | None = None, columns: Mapping[str, str] | None = None,
        missing: Any = "raise", doubled: Any = "raise", choose: Any = None, **own: Any,
    ) -> list[Scores]:  # fmt: skip
        """Read the scores of every collection; what is missing, doubled or a total is dealt with in the rows of any format."""
        from metaeval.data.scores import read_collections

        if columns and not self.columns:
            raise MetaevalError(f"the format {self.name} has no columns that {format_option('columns')} could name")
        own |= {"kind": self.name, "named": choose is not None} if not self.source else {}
        rows = self.load().rows(sources, measure=measure, columns=columns, collection=collection, **own)
        return read_collections(
            rows, measure=measure, collection=collection, missing=missing, doubled=doubled, choose=choose,
            provenance=rows.file or "",
        )  # fmt: skip

    def load(self) -> Any:
        """Return what has `rows`, which reads the format, and `fits`, whether a file may be of it by its name and lines."""
        return _load(self.source or "tables")


@dataclass(frozen=True)
class RunFormat:
    """A format of gold and runs; `source` is the function that reads it, with these options of `metaeval.io.read_runs`.

    It takes `frames` besides files; `alone`: the gold may hold the runs too.
    """

    name: str
    layout: str
    source: str
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    frames: bool = False
    alone: bool = False

    def check(self, options: Iterable[str], runs: Any) -> None:
        """Refuse what the format has no use for, which would mislead the user, and that something is missing."""
        for name in options:
            if name not in (*self.options, *self.needs):
                raise MetaevalError(f"the format {self.name} has no use for {format_option(name)}")
        for name in self.needs:
            if name not in options:
                raise MetaevalError(f"the format {self.name} needs {format_option(name)}: {_EXAMPLES[name]}")
        if runs is None and not self.alone:
            raise MetaevalError(f"the format {self.name} needs runs besides the gold")

    def load(self) -> Any:
        """Return the function that reads the format; see `metaeval.io.runs`."""
        return _load(self.source)


_EXAMPLES = {"classes": "all of them, in their order", "aspect": "A, E or S"}


def _load(source: str) -> Any:
    module, _, name = source.partition(":")
    loaded: Any = import_module(f"metaeval.io.{module}")
    return getattr(loaded, name) if name else loaded


def choose_format(name: str, formats: Mapping[str, Any]) -> Any:
    """Return the format of this name."""
    if name not in formats:
        raise MetaevalError(f"there is no format {name!r}: use {', '.join(formats)}")
    return formats[name]


def _by_name(formats: Sequence[Any]) -> Mapping[str, Any]:
    return MappingProxyType({format.name: format for format in formats})


SCORE_FORMATS: Mapping[str, ScoreFormat] = _by_name([
    ScoreFormat("tidy", "a table with a row per score: run, topic, measure, score", columns=True),
    ScoreFormat("measures", "a table with a row per run and topic, and a column per measure", columns=True),
    ScoreFormat("wide", "topics × runs, a table for each measure", columns=True),
    ScoreFormat("transposed", "runs × topics, a table for each measure", columns=True),
    ScoreFormat("sakai", "a folder of text matrices, topics × runs, with a file of run names", "line_formats:SAKAI"),
    ScoreFormat("trec_eval", "what `trec_eval -q` or `ir_measures -q` prints, a file for each run", "line_formats:TREC_EVAL"),
    ScoreFormat("wmt", "`*.seg.score` files of shared tasks on metrics: run and score", "line_formats:WMT", sure=True),
    ScoreFormat("tot", "lines of run, measure, topic, value", "line_formats:TOT"),
    ScoreFormat("ir_measures", "lines of run, topic, measure, value", "line_formats:IR_MEASURES"),
])  # fmt: skip
"""The formats of score matrices by name."""

tidy, wide, sakai, wmt = (SCORE_FORMATS[name] for name in ("tidy", "wide", "sakai", "wmt"))

LOG_FORMATS: Mapping[str, ScoreFormat] = _by_name([
    ScoreFormat(name, layout, f"logs.{source}", sure=True, columns=True)
    for name, layout, source in (
        ("lm-eval", "`samples_TASK_DATE.jsonl` of lm-evaluation-harness, `results_DATE.json` beside it", "lm_eval:LM_EVAL"),
        ("inspect", "`.eval` or JSON logs of Inspect", "inspect_ai:INSPECT"),
        ("helm", "folders of HELM with `run_spec.json` and `per_instance_stats.json`", "helm:HELM"),
        ("mteb", "`MODEL/REVISION/TASK.json` of MTEB", "mteb:MTEB"),
    )
])  # fmt: skip
"""What evaluation harnesses write, which is read but not written here."""

READ_FORMATS: Mapping[str, ScoreFormat] = MappingProxyType({**SCORE_FORMATS, **LOG_FORMATS})
"""All formats of scores that are read."""

RUN_FORMATS: Mapping[str, RunFormat] = _by_name([
    RunFormat(
        "semeval-c", "`id<TAB>topic<TAB>label[<TAB>text]`, labels −2 to 2", "runs:semeval_c", ("classes", "invalid"),
    ),
    RunFormat("semeval-e", "`topic<TAB>p…`, five shares in order", "runs:semeval_e", ("classes", "rescale")),
    RunFormat(
        "dialogue-quality", "JSON of NTCIR STC-3 and DialEval; give `--aspect A`, `E` or `S`", "runs:dialogue_quality",
        ("rescale",), needs=("aspect",),
    ),
    RunFormat(
        "judgements", "`qid 0 docid label`, like TREC qrels; give `--classes 0,1,2,3`", "runs:judgements",
        ("invalid", "parts"), needs=("classes",),
    ),
    RunFormat(
        "labels",
        "CSV or TSV: `topic,item,label`; give all classes in order with `--classes low,middle,high`. Without run files, "
        "the gold file has a column per judge: `item,gold,ann,bo`",
        "runs:labels", ("columns", "invalid", "parts"), needs=("classes",), frames=True, alone=True,
    ),
    RunFormat(
        "probabilities", "CSV or TSV: `topic`, and one column per class", "runs:probabilities",
        ("classes", "columns", "rescale"), frames=True,
    ),
])  # fmt: skip
"""The formats of gold and runs by name."""


STANDS_FOR = (
    "run", "topic", "measure", "score", "collection", "time", "higher_is_better", "ignore", "item", "gold", "label",
    "annotator", "cluster", "repeat", "task", "judge",
)  # fmt: skip
"""What a column can stand for, in scores and in labels."""


def parse_columns(text: str | None) -> dict[str, str] | None:
    """Return what a user says of columns, run=system,score=value: their names by what they stand for."""
    if text is None:
        return None
    columns: dict[str, str] = {}
    for pair in re.split(f",(?=[ ]*(?:{'|'.join(STANDS_FOR)})=)", text):  # a name may hold commas
        what, theirs = (part.strip() for part in pair.partition("=")[::2])
        if what not in STANDS_FOR or not theirs:
            say = f"say what is called how, with {', '.join(STANDS_FOR)}: run=system,score=value"
            raise MetaevalError(f"{format_option('columns', text)}: {say}")
        if columns.setdefault(what, theirs) != theirs:
            raise MetaevalError(f"{format_option('columns', text)}: {what} stands twice; leave out one")
    return columns
