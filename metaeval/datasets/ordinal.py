"""Real classification runs without a download: classifiers on the ordinal data sets of the package skordinal.

Twenty-two classifiers predict every item of a set once, in ten-fold cross-validation; the items are assigned to
topics at random. This takes a few seconds per set, once: the counts are kept as Parquet in the cache folder.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.data.runs import ClassificationRuns
from metaeval.datasets.ordinal_classifiers import PACKAGES, RECIPE, make
from metaeval.datasets.registry import Dataset, built_folder
from metaeval.errors import MetaevalError, MetaevalWarning, PolicyWarning
from metaeval.files import PathLike, write_atomically

READER = "skordinal"
"""The `reader` of these data sets in `registry.toml`."""
_METADATA = b"metaeval.ordinal"


def load(data_set: Dataset, *, folder: PathLike | None = None, progress: bool = True) -> ClassificationRuns:
    """Return the runs of a set; they are read from the cache folder, or computed and stored there."""
    path = kept_file(data_set, folder)
    cached = _read_cached(path, data_set)
    if cached is not None:
        return cached
    with _lock(path):
        cached = _read_cached(path, data_set)  # another process may have computed them in the meantime
        if cached is not None:
            return cached
        damaged = path.exists() and _read(path) is None
        made = make(data_set, progress=progress)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, _to_parquet(made, _describe_recipe(data_set)))
        except OSError as error:
            why = f"{path} cannot be written ({error.strerror or error}): {data_set.name} will be computed again next time"
            warnings.warn(why, MetaevalWarning, stacklevel=2)
        else:
            if damaged:
                warnings.warn(f"{path} was damaged and was computed again", PolicyWarning, stacklevel=2)
    return made


def kept_file(data_set: Dataset, folder: PathLike | None = None) -> Path:
    """Return the path of the file with the counts of a set."""
    root = built_folder() if folder is None else Path(folder).expanduser()
    return root / data_set.runs


def _describe_recipe(data_set: Dataset) -> dict[str, Any]:
    return {
        "recipe": RECIPE,
        "options": dict(data_set.options),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _read_cached(path: Path, data_set: Dataset) -> ClassificationRuns | None:
    """Return the stored runs if they were computed with the present recipe and package versions, otherwise None.

    Package versions are compared only if the packages are installed.
    """
    content = _read(path)
    if content is None:
        return None
    runs, made_by = content
    now = _describe_recipe(data_set)
    if None in now["packages"].values():
        made_by = {**made_by, "packages": now["packages"]}
    return runs if made_by == now else None


def _to_parquet(runs: ClassificationRuns, recipe: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    r, t, g, p = np.nonzero(runs.counts)
    table = pa.table(
        {"run": r, "topic": t, "gold": g, "predicted": p, "items": runs.counts[r, t, g, p]},
    ).cast(pa.schema([(name, pa.int32()) for name in ("run", "topic", "gold", "predicted", "items")]))
    labels = {name: list(getattr(runs, name)) for name in ("runs", "topics", "classes")}
    about = {**recipe, "labels": labels, "collection": runs.collection, "provenance": runs.provenance}
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({_METADATA: json.dumps(about)}), buffer)
    return buffer.getvalue()


def _read(path: Path) -> tuple[ClassificationRuns, dict[str, Any]] | None:
    """Read stored runs and how they were computed; None if the file does not exist or is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(path.read_bytes()))
        about = json.loads(table.schema.metadata[_METADATA])
        labels, collection, provenance = (about.pop(key) for key in ("labels", "collection", "provenance"))
        sizes = [len(labels[key]) for key in ("runs", "topics", "classes", "classes")]
        counts = np.zeros(sizes, dtype=np.int64)
        where = tuple(table[name].to_numpy() for name in ("run", "topic", "gold", "predicted"))
        counts[where] = table["items"].to_numpy()
        return ClassificationRuns(counts, **labels, collection=collection, provenance=provenance), about
    except (OSError, pa.ArrowException, KeyError, IndexError, TypeError, ValueError, AttributeError, MetaevalError):
        return None


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Let only one process at a time compute a set; without a lock if the folder cannot be written."""
    import filelock

    lock = filelock.FileLock(path.with_name(f".{path.stem}.lock"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError:
        yield
        return
    try:
        yield
    finally:
        lock.release()
