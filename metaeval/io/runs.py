"""Gold and runs read from files of every format; and the formats: judgements, SemEval Task 4, dialogues, and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from metaeval.data.columns import RUN_NAMES, TOPIC_NAMES, format_columns, names_topics, names_trait, plain_name
from metaeval.data.labels import unique_labels
from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.data.rows import number
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.errors import DataError, MetaevalError, format_list, format_option
from metaeval.files import PathLike, Sources, describe_files, find_named_files, read_text, remember, stem
from metaeval.io.answers import (
    LabelRuns,
    Labels,
    ShareRuns,
    Shares,
    classification_runs,
    quantification_runs,
    shares_from_text,
)
from metaeval.io.formats import RUN_FORMATS, choose_format
from metaeval.io.strict_json import parse_json
from metaeval.io.table import FRAME, Table, is_column, is_frame, open_table, read_fields
from metaeval.stats.oddities import is_total


def read_runs(
    gold: PathLike | Any,
    runs: Sources | Mapping[str, Any] | None = None,
    *,
    format: str,
    classes: Iterable[object] | None = None,
    columns: Mapping[str, str] | None = None,
    aspect: str | None = None,
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    rescale: bool = False,
    collection: str | None = None,
    parts: int | None = None,
    seed: int = 0,
) -> ClassificationRuns | QuantificationRuns:
    r"""Read gold and runs in one of the `RUN_FORMATS`.

    Parameters
    ----------
    gold : path or frame
        The formats labels and probabilities take frames.
    runs : path, list of paths, mapping of run name to path or frame, or folder
        A run is named after its file unless a mapping names it. Labels need none if the gold has a column for every judge.
    format : {"semeval-c", "semeval-e", "dialogue-quality", "judgements", "labels", "probabilities"}
    classes : iterable of str, optional
        All classes in order; judgements and labels need them.
    columns : mapping of str to str, optional
        What tables of labels or probabilities call some of the columns: ``{"item": "sentence"}``.
    aspect : {"A", "E", "S"}, optional
        Which aspect of dialogue quality; that format needs it.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no answer.
    invalid : {"raise", "drop-topic", "drop-run", "clip", "worst"}, optional
        What to do with a label outside the classes.
    rescale : bool, optional
        Divide every distribution by its sum, which otherwise must be 1.
    collection : str, optional
        By default, the name of the gold file (and the aspect).
    parts, seed : int, optional
        Divide the items of judgements or labels at random, by this seed, into so many parts, which replace the topics.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "gold.csv").write_text("topic,item,label\nt1,1,no\nt1,2,yes\n")
    >>> _ = (folder / "team.csv").write_text("topic,item,label\nt1,2,yes\nt1,1,yes\n")
    >>> read_runs(folder / "gold.csv", folder, format="labels", classes=["no", "yes"])
    ClassificationRuns: 1 run × 1 topic, 2 classes, gold
    """
    chosen = choose_format(format, RUN_FORMATS)
    if is_table(gold) and not chosen.frames:
        frames = [format.name for format in RUN_FORMATS.values() if format.frames]
        raise MetaevalError(f"a frame is not in the format {format}: use {', '.join(frames)}")
    if missing == "keep":
        raise MetaevalError(f"{format_option('missing', 'keep')} is for scores; runs without an answer have none")
    if seed != 0 and parts is None:
        raise MetaevalError(f"{format_option('seed')} is for {format_option('parts')}: nothing else is random here")
    reading = {"classes": classes, "columns": columns, "aspect": aspect}
    reading = {name: value for name, value in reading.items() if value is not None}
    building = {"invalid": invalid != "raise", "rescale": rescale, "parts": parts is not None}
    chosen.check([*reading, *(name for name, stated in building.items() if stated)], runs)
    files = {} if runs is None else name_sources(runs, gold)
    truth, answers, names = chosen.load()(gold, files, **reading)
    if collection is None:
        collection = name_collection(gold, None) + (f"-{aspect}" if aspect else "")
    shared: dict[str, Any] = {"collection": collection, "provenance": describe_sources(gold, files), "missing": missing}
    if isinstance(truth, Labels):
        return classification_runs(truth, answers, names, invalid=invalid, parts=parts, seed=seed, **shared)
    return quantification_runs(truth, answers, names, rescale=rescale, **shared)


def is_table(given: object) -> bool:
    """Tell whether an object is a frame, or a mapping of columns of whatever names."""
    return isinstance(given, Mapping) or is_frame(given)


def name_sources(runs: Any, gold: Any) -> dict[str, Any]:
    """Return run files, or frames, by run name, as `metaeval.files.find_named_files` does for files."""
    if any(map(is_column, runs.values())) if isinstance(runs, Mapping) else is_frame(runs):
        raise DataError("the frame of a run has no name", hint='give it one: {"name": frame}')
    if isinstance(runs, Mapping) and any(is_table(source) for source in runs.values()):
        return {str(name): source for name, source in runs.items()}
    return dict(find_named_files(runs, gold=None if is_table(gold) else gold))


def describe_sources(gold: Any, runs: Mapping[str, Any]) -> str:
    """Return the names of files and frames as one short line, for provenance."""
    return describe_files([FRAME if is_table(source) else source for source in (gold, *runs.values())])


def name_collection(gold: Any, collection: str | None) -> str:
    """Return the name of a collection: what the user says, or the name of the gold file; a frame has none."""
    return collection if collection is not None else "" if is_table(gold) else stem(gold)


def judgements(gold: PathLike, runs: Mapping[str, PathLike], *, classes: Iterable[object]) -> LabelRuns:
    """Read TREC-style judgements, lines ``qid 0 docid label``: graded relevance as ordinal classification."""
    answers = {run: read_judgements(path) for run, path in runs.items()}
    return read_judgements(gold), answers, classes


def read_judgements(path: PathLike) -> Labels:
    """Return the labels in a file of judgements."""
    rows, lines = read_fields(path, separator=None, least=4, most=4, layout="qid 0 docid label")
    topics, _, items, labels = zip(*rows, strict=True)
    return Labels(str(path), topics, items, labels, lines)


FIVE_CLASSES = ("-2", "-1", "0", "1", "2")


def semeval_c(gold: PathLike, runs: Mapping[str, PathLike], *, classes: Iterable[object] = FIVE_CLASSES) -> LabelRuns:
    """Read subtask C of SemEval Task 4, a label for each tweet of a topic: ``id<TAB>topic<TAB>label[<TAB>text]``."""
    true = read_semeval_labels(gold)
    given = {run: read_semeval_labels(path, run) for run, path in runs.items()}
    return true, {run: _match_line_numbers(labels, true, run) for run, labels in given.items()}, classes


def read_semeval_labels(path: PathLike, run: str | None = None) -> Labels:
    """Return the labels in a file of subtask C."""
    layout = "id<TAB>topic<TAB>label[<TAB>text]"
    rows, lines = read_fields(path, separator="\t", least=3, most=4, layout=layout, rest=True)
    items, topics, labels = ([row[column] for row in rows] for column in range(3))
    for row, line in zip(rows, lines, strict=True):
        if not row[0] or not row[1]:
            raise DataError(f"the {'topic' if row[0] else 'id'} is missing", file=path, line=line, run=run)
    return Labels(str(path), topics, items, labels, lines)


def _match_line_numbers(given: Labels, gold: Labels, run: str) -> Labels:
    """Replace line numbers, which some submissions have instead of ids, by the ids of the gold."""
    n_lines = len(given.items)
    if {*gold.keys} >= {*given.keys} or list(given.items) != [str(line) for line in range(1, n_lines + 1)]:
        return given  # of unknown ids the first one is reported with its line, when they are counted
    if n_lines != len(gold.items):
        problem = f"its ids are line numbers, but it has {n_lines:,} lines and the gold {len(gold.items):,}"
        raise DataError(problem, file=given.file, run=run)
    for row, (mine, theirs) in enumerate(zip(given.topics, gold.topics, strict=True)):
        if mine != theirs:
            problem = f"its ids are line numbers, but the topic of this line in the gold is {theirs!r}"
            raise DataError(problem, **given.locate(row, run))
    return replace(given, items=gold.items)


def semeval_e(gold: PathLike, runs: Mapping[str, PathLike], *, classes: Iterable[object] = FIVE_CLASSES) -> ShareRuns:
    """Read subtask E, a distribution for each topic: ``topic<TAB>p1…pK``; the gold may be the labels of subtask C."""
    names = unique_labels(classes, "class")
    first = read_fields(gold, separator="\t", least=1, most=1 << 20, layout="")[0][0]
    has_shares = len(first) == len(names) + 1 and not any(np.isnan([number(text) for text in first[1:]]))
    read_gold = _count_labels if len(first) in (3, 4) and not has_shares else _read_shares
    estimates = {run: _read_shares(path, names, run) for run, path in runs.items()}
    return read_gold(gold, names), estimates, names


def _read_shares(path: PathLike, classes: Sequence[str], run: str | None = None) -> Shares:
    width, layout = len(classes) + 1, f"topic<TAB>p1…p{len(classes)}"
    rows, lines = read_fields(path, separator="\t", least=width, most=width, layout=layout)
    topics, *columns = zip(*rows, strict=True)
    return shares_from_text(columns, classes, file=str(path), topics=topics, lines=lines, run=run)


def _count_labels(path: PathLike, classes: Sequence[str]) -> Shares:
    gold = read_semeval_labels(path)
    position = {topic: t for t, topic in enumerate(dict.fromkeys(gold.topics))}
    counts = np.zeros((len(position), len(classes)))
    for row, (topic, label) in enumerate(zip(gold.topics, gold.labels, strict=True)):
        if label not in classes:
            problem = f"the label {label!r} is not one of the classes {format_list(classes, most=12)}"
            raise DataError(problem, **gold.locate(row))
        counts[position[topic], classes.index(label)] += 1
    return Shares(str(path), list(position), counts / counts.sum(axis=1, keepdims=True))


Aspect = Literal["A", "E", "S"]  # task accomplishment, dialogue effectiveness, customer satisfaction


def dialogue_quality(gold: PathLike, runs: Mapping[str, PathLike], *, aspect: Aspect) -> ShareRuns:
    """Read one aspect of the dialogue quality of NTCIR's STC-3 and DialEval: the votes of annotators, and distributions.

    Both are JSON lists of dialogues. Gold: ``{"id": …, "annotations": [{"quality": {"A": 1, "E": 0, "S": -2}}, …]}``, where
    all votes weigh the same; runs: ``{"id": …, "quality": {"A": {"-2": p, …, "2": p}, "E": {…}, "S": {…}}}``. Ids are topics.
    """
    if aspect not in get_args(Aspect):
        raise DataError(f"there is no aspect {aspect!r}: use {', '.join(get_args(Aspect))}")
    votes = _read_dialogues(gold, None, aspect, _count_votes)
    shares = Shares(votes.file, votes.topics, votes.values / votes.values.sum(axis=1, keepdims=True))
    estimates = {run: _read_dialogues(path, run, aspect, _take_shares) for run, path in runs.items()}
    return shares, estimates, FIVE_CLASSES


def _read_dialogues(path: PathLike, run: str | None, aspect: str, take: Callable[..., list[float]]) -> Shares:
    """Return what `take` makes of every dialogue of a file: five numbers."""
    text = read_text(path)
    content = remember(text, lambda: parse_json(text, path))  # the aspects are views of the same files
    if not isinstance(content, list) or not content:
        raise DataError("it is no list of dialogues, or an empty one", file=path, run=run)
    topics, values = [], []
    for position, dialogue in enumerate(content, start=1):
        place = f"dialogue number {position}"
        try:
            name = dialogue["id"]
            if type(name) not in (int, str) or not str(name).strip():
                raise ValueError(f"the id {name!r} is not a text")
            place = f"dialogue {name}"
            values.append(np.array(take(dialogue, aspect), dtype=np.float64))
        except (TypeError, AttributeError):
            raise DataError(f"{place} is broken: a part of it is no object or list", file=path, run=run) from None
        except (ValueError, LookupError, OverflowError) as error:
            problem = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{place} is broken: {problem}", file=path, run=run) from None
        topics.append(str(name))
    return Shares(str(path), topics, np.array(values))


def _count_votes(dialogue: dict[str, Any], aspect: str) -> list[float]:
    votes = [annotation["quality"][aspect] for annotation in dialogue["annotations"]]
    for vote in votes:
        if type(vote) is not int or str(vote) not in FIVE_CLASSES:
            raise ValueError(f"the vote {vote!r} on aspect {aspect} is not a whole number from -2 to 2")
    if not votes:
        raise ValueError("there are no annotations")
    return [votes.count(int(name)) for name in FIVE_CLASSES]


def _take_shares(dialogue: dict[str, Any], aspect: str) -> list[float]:
    given = dialogue["quality"][aspect]
    for name, value in given.items():
        if name not in FIVE_CLASSES or type(value) not in (int, float):
            raise ValueError(f"the probability of class {name} is {value!r}; numbers of -2, -1, 0, 1 and 2 are needed")
    return [given[name] for name in FIVE_CLASSES]


ONE_TOPIC = "all"  # the topic of all items if a table has no topics

Columns = Mapping[str, str] | None


def labels(gold: Any, runs: Mapping[str, Any], *, classes: Iterable[object], columns: Columns = None) -> LabelRuns:
    """Read labels from files or frames with columns topic, item and label."""
    names = unique_labels(classes, "class")
    table = open_table(gold, columns, names)
    if runs:
        tables = {run: open_table(source, columns, names) for run, source in runs.items()}
        answers = {run: _read_labels(source, "predicted", run) for run, source in tables.items()}
        return _read_labels(table, "gold"), answers, names
    judges = [name for name in table.header if name not in ("topic", "item", "gold", "label")]
    for name in judges:
        if plain_name(name) in RUN_NAMES or names_trait(name):
            problem = f"the column {name!r} is not called as a judge, whose labels it would hold"
            hint = "give every run a column of its own, as pivot of pandas does, and leave out what is no label"
            raise DataError(problem, file=table.file, line=1, hint=hint)
    if not judges:
        hint = "name run files, or a table with columns item, gold and one for every judge"
        raise DataError("there is no column of a judge beside the gold", file=table.file, line=1, hint=hint)
    keys = _read_keys(table)
    refuse_index_columns(judges, table.file)
    return _take(table, keys, "gold", "label"), {name: _take(table, keys, name) for name in judges}, names


Keys = tuple[Sequence[str], Sequence[str]]  # topic and item of every row


def _read_keys(table: Table, run: str | None = None) -> Keys:
    """Return topic and item of every row; without a column of topics all items belong to one."""
    items = table.column("item")
    for name in table.header:
        # Without a column of topics items of several would become one.
        if "topic" not in table.header and plain_name(name) in TOPIC_NAMES and plain_name(name) != "item":
            problem = f"there is no column 'topic', but {name!r}: is it that of the topics?"
            hint = f"say so: {format_option('columns')} topic={name}"
            raise DataError(problem, file=table.file, line=1, run=run, hint=hint)
    topics = table.column("topic") if "topic" in table.header else (ONE_TOPIC,) * len(items)
    refuse_blank(table, {"topic": topics, "item": items}, run)
    return topics, items


def refuse_blank(table: Table, columns: Mapping[str, Sequence[str]], run: str | None = None) -> None:
    """Refuse a row without the name of a topic, an item or an annotator."""
    for what, names in columns.items():
        for row in [row for row, name in enumerate(names) if not name.strip()][:1]:
            raise DataError(f"the {what} is missing", file=table.file, line=table.lines[row], run=run)


def _read_labels(table: Table, also: str, run: str | None = None) -> Labels:
    if "label" in table.header and also in table.header:
        raise DataError(f"it has a column 'label' and a column {also!r}: leave one out", file=table.file, line=1)
    return _take(table, _read_keys(table, run), "label", also)


def _take(table: Table, keys: Keys, *usual: str) -> Labels:
    return Labels(table.file, *keys, [label.strip() for label in table.column(*usual)], table.lines)


def probabilities(
    gold: Any, runs: Mapping[str, Any], *, classes: Iterable[object] | None = None, columns: Columns = None
) -> ShareRuns:
    """Read distributions from files or frames with a column ``topic`` and one column per class."""
    true = open_table(gold, columns)
    names = unique_labels([name for name in true.header if name != "topic"] if classes is None else classes, "class")
    if len(names) < 2:
        raise DataError(f"classes that have a column: {len(names)}; at least two are needed", file=true.file, line=1)
    estimates = {run: _shares_of_table(open_table(source, columns), names, run) for run, source in runs.items()}
    return _shares_of_table(true, names), estimates, names


def _shares_of_table(table: Table, classes: tuple[str, ...], run: str | None = None) -> Shares:
    """Return the distributions in a table of topic and one column per class."""
    topics = table.column("topic")
    given = [name for name in table.header if name != "topic"]
    if {*given} != {*classes}:
        problem = f"its columns are {format_list(given, most=12)}, the classes {format_list(classes, most=12)}"
        raise DataError(problem, file=table.file, line=1, run=run)
    columns = [table.column(name) for name in classes]
    return shares_from_text(columns, classes, file=table.file, topics=topics, lines=table.lines, run=run)


def refuse_index_columns(people: Sequence[str], file: object) -> None:
    """Refuse columns of annotators or judges whose name is that of an index, of topics or of what describes them."""
    for name in [name for name in people if names_topics(name) or names_trait(name) or is_total(name)]:
        hint = f"leave it out, or say what it is: {format_columns({'topic': name})} or {format_columns({'item': name})}"
        problem = f"the column {name!r} is called as an index, topics or what describes them, not as a person or judge"
        raise DataError(problem, file=file, hint=hint)
