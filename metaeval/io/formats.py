"""The formats: what each looks like, which options it takes, and what reads and writes it. All else derives from the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from metaeval.errors import DataError, MetaevalError, format_option

if TYPE_CHECKING:
    from metaeval.data.scores import Scores
    from metaeval.files import PathLike
    from metaeval.io.sample import Sample


@dataclass(frozen=True)
class ScoreFormat:
    """A format of score matrices.

    `layout` says what a file looks like. `source` is the module, or an object in it, that has `read`, `write` and `fits`;
    it is imported when it is used. `sure`: what fits it can be nothing else. `several`: several files are read together.
    `written`: it can be written too. `table`: a table of the layout with its name, which is the `kind` that is read.
    """

    name: str
    layout: str
    source: str
    options: tuple[str, ...] = ()
    sure: bool = False
    several: bool = True
    written: bool = True
    table: bool = False

    @property
    def _functions(self) -> Any:
        return _load(self.source)

    @property
    def _kind(self) -> dict[str, str]:
        return {"kind": self.name} if self.table else {}

    def read_collections(self, sources: Any, **options: Any) -> list[Scores]:
        """Read the scores of every collection; options that are None are those of the format itself."""
        given = self._kind | {name: value for name, value in options.items() if value is not None}
        for name in ("columns", "doubled"):
            if given.get(name) and name not in self.options:
                what = "no columns that {} could name" if name == "columns" else "no use for {}"
                raise MetaevalError(f"the format {self.name} has {what.format(format_option(name))}")
        if not self.several and not isinstance(sources, str | Path):
            many = [format.name for format in SCORE_FORMATS.values() if format.several]
            hint = f"several files can be {', '.join(many[:-1])} or {many[-1]}"
            raise DataError(f"the format {self.name} needs a single path", hint=hint)
        functions = self._functions
        if hasattr(functions, "read_collections"):
            found: list[Scores] = functions.read_collections(sources, **given)
            return found
        return [functions.read(sources, **given)]

    def write(self, scores: Scores, path: PathLike) -> None:
        """Write scores without loss of precision."""
        from metaeval.data.totals import refuse_totals

        if not self.written:
            raise MetaevalError(f"the format {self.name} is read, not written: write {format_option('format', 'tidy')}")
        refuse_totals(scores.topics, path)
        self._functions.write(scores, path, **self._kind)

    def fits(self, sample: Sample) -> bool:
        """Say whether a file may be of this format, by its name and first lines."""
        return sample.layout == self.name if self.table else bool(self._functions.fits(sample))


@dataclass(frozen=True)
class RunFormat:
    """A format of gold and runs; `source` is the function that reads it.

    `options` are those of `metaeval.io.read_runs` that it takes, `needs` those that must be stated. `frames`: it takes
    frames besides files; `alone`: the gold may hold the runs too.
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
    for part in name.split(".") if name else ():
        loaded = getattr(loaded, part)
    return loaded


def choose_format(name: str, formats: Mapping[str, Any]) -> Any:
    """Return the format of this name."""
    if name not in formats:
        raise MetaevalError(f"there is no format {name!r}: use {', '.join(formats)}")
    return formats[name]


def _by_name(formats: Sequence[Any]) -> Mapping[str, Any]:
    return MappingProxyType({format.name: format for format in formats})


_ROWS: Mapping[str, Any] = {"options": ("columns", "doubled"), "sure": True, "several": False, "table": True}
"""What the tables with a row per run and topic have in common."""

SCORE_FORMATS: Mapping[str, ScoreFormat] = _by_name(
    [
        ScoreFormat("tidy", "a table with a row per score: run, topic, measure, score", "tidy", **_ROWS),
        ScoreFormat("measures", "a table with a row per run and topic, and a column per measure", "tidy", **_ROWS),
        ScoreFormat("wide", "topics × runs, a table for each measure", "wide", options=("columns",), table=True),
        ScoreFormat("transposed", "runs × topics, a table for each measure", "wide", options=("columns",), table=True),
        ScoreFormat(
            "sakai", "a folder of text matrices, topics × runs, with a file of run names", "sakai", several=False
        ),
        ScoreFormat("trec_eval", "what `trec_eval -q` or `ir_measures -q` prints, a file for each run", "trec_eval"),
        ScoreFormat("wmt", "`*.seg.score` files of shared tasks on metrics: run and score", "wmt", sure=True),
        ScoreFormat("tot", "lines of run, measure, topic, value", "leaderboard:TOT"),
        ScoreFormat("ir_measures", "lines of run, topic, measure, value", "leaderboard:IR_MEASURES"),
        ScoreFormat("ranking", "lines of topic, Q0, run, rank, value, measure", "leaderboard:RANKING"),
        ScoreFormat(
            "jsonl", "a JSON object on each line: run_id, topic_id, measure, value", "leaderboard:JSONL", sure=True
        ),
    ]
)
"""The formats of score matrices by name."""

LOG_FORMATS: Mapping[str, ScoreFormat] = _by_name(
    [
        ScoreFormat(name, layout, f"logs.{source}", options=("columns", "doubled"), sure=True, written=False)
        for name, layout, source in (
            (
                "every-eval-ever",
                "`*_samples.jsonl` of Every Eval Ever, its aggregate beside it",
                "every_eval_ever:EVERY_EVAL_EVER",
            ),
            (
                "lm-eval",
                "`samples_TASK_DATE.jsonl` of lm-evaluation-harness, `results_DATE.json` beside it",
                "lm_eval:LM_EVAL",
            ),
            ("inspect", "`.eval` or JSON logs of Inspect", "inspect_ai:INSPECT"),
            ("helm", "folders of HELM with `run_spec.json` and `per_instance_stats.json`", "helm:HELM"),
            ("mteb", "`MODEL/REVISION/TASK.json` of MTEB", "mteb:MTEB"),
        )
    ]
)
"""What evaluation harnesses write, which is read but not written here."""

READ_FORMATS: Mapping[str, ScoreFormat] = MappingProxyType({**SCORE_FORMATS, **LOG_FORMATS})
"""All formats of scores that are read."""

RUN_FORMATS: Mapping[str, RunFormat] = _by_name(
    [
        RunFormat(
            "semeval-c",
            "`id<TAB>topic<TAB>label[<TAB>text]`, labels −2 to 2",
            "runs:semeval_c",
            options=("classes", "invalid"),
        ),
        RunFormat(
            "semeval-e",
            "`topic<TAB>p…`, five shares in order",
            "runs:semeval_e",
            options=("classes", "rescale"),
        ),
        RunFormat(
            "dialogue-quality",
            "JSON of NTCIR STC-3 and DialEval; give `--aspect A`, `E` or `S`",
            "dialogue_quality:read",
            options=("rescale",),
            needs=("aspect",),
        ),
        RunFormat(
            "judgements",
            "`qid 0 docid label`, like TREC qrels; give `--classes 0,1,2,3`",
            "runs:judgements",
            options=("invalid", "parts"),
            needs=("classes",),
        ),
        RunFormat(
            "labels",
            "CSV or TSV: `topic,item,label`; give all classes in order with `--classes low,middle,high`. Without run files, "
            "the gold file has a column per judge: `item,gold,ann,bo`; or predictions: `model,fold,id,y_true,y_pred`",
            "labels:read",
            options=("columns", "invalid", "parts"),
            needs=("classes",),
            frames=True,
            alone=True,
        ),
        RunFormat(
            "probabilities",
            "CSV or TSV: `topic`, and one column per class",
            "probabilities:read",
            options=("classes", "columns", "rescale"),
            frames=True,
        ),
        RunFormat(
            "votes",
            "CSV or TSV: `topic`, and one column per annotator; give `--classes`",
            "votes:read",
            options=("columns", "rescale"),
            needs=("classes",),
            frames=True,
            alone=True,
        ),
    ]
)
"""The formats of gold and runs by name."""


STANDS_FOR = (
    "run", "topic", "measure", "score", "collection", "time", "higher_is_better", "ignore", "item", "gold", "label",
    "annotator", "cluster", "repeat", "task", "judge",
)  # fmt: skip
"""What a column can stand for, in scores, in labels and in votes."""


def parse_columns(text: str | None) -> dict[str, str] | None:
    """Return what a user says of columns: their names by what they stand for.

    >>> parse_columns("run=system, score=value")
    {'run': 'system', 'score': 'value'}
    """
    if text is None:
        return None
    columns: dict[str, str] = {}
    for pair in text.split(","):
        what, theirs = (part.strip() for part in pair.partition("=")[::2])
        if what not in STANDS_FOR or not theirs:
            known = ", ".join(STANDS_FOR)
            raise MetaevalError(
                f"{format_option('columns', text)}: say what is called how, with {known}: run=system,score=value"
            )
        if columns.setdefault(what, theirs) != theirs:
            raise MetaevalError(f"{format_option('columns', text)}: {what} stands twice; leave out one")
    return columns
