"""Gold and runs read from files of every format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.errors import MetaevalError, format_option
from metaeval.files import PathLike, Sources
from metaeval.io.formats import RUN_FORMATS, choose_format
from metaeval.io.frames import is_table


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
        The formats labels, probabilities and votes take frames, as `from_frame` does.
    runs : path, list of paths, mapping of run name to path or frame, or folder
        A run is named after its file, without suffix, unless a mapping gives its name. The format labels needs no
        runs if the gold has a column for every judge: item, gold, judge1, judge2, …; nor does votes.
    format : {"semeval-c", "semeval-e", "dialogue-quality", "judgements", "labels", "probabilities", "votes", "polarity"}
    classes : iterable of str, optional
        All classes in order; judgements, labels and votes need them.
    columns : mapping of str to str, optional
        What tables of labels, probabilities or votes call some of the columns: ``{"item": "sentence"}``.
    aspect : {"A", "E", "S"}, optional
        Which aspect of dialogue quality; that format needs it.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no answer.
    invalid : {"raise", "drop-topic", "drop-run", "clip", "worst"}, optional
        What to do with a label outside the classes.
    rescale : bool, optional
        Divide every distribution by its sum. Without it, a sum further than 1e-6 from 1 is an error.
    collection : str, optional
        By default, the name of the gold file without suffix (and the aspect).
    parts : int, optional
        Divide the items at random into this many parts, which replace the topics: for a task without topics, in
        judgements, labels and polarity.
    seed : int, optional
        Seed of that split.

    Raises
    ------
    DataError
        If the data are wrong; the message says where.
    MetaevalError
        If there is no such format, an option that it needs is missing, or it does not use an option that was given.

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
    stated = {
        "classes": classes, "aspect": aspect, "columns": columns, "parts": parts,
        "invalid": None if invalid == "raise" else invalid, "rescale": rescale or None,
        "seed": None if parts is None else seed,
    }  # fmt: skip
    options = {name: value for name, value in stated.items() if value is not None}
    return chosen.read(gold, runs, missing=missing, collection=collection, **options)
