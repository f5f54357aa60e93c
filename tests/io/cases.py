"""Files that tests write, and scores as a table can say them."""

import re
import warnings

from metaeval.errors import PolicyWarning
from metaeval.io import read_runs


def put(folder, files):
    """Write texts or bytes under their names, a text alone as s.csv; return the only file, or the folder."""
    files = files if isinstance(files, dict) else {"s.csv": files}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder if len(files) > 1 else path


def read_pair(folder, gold, runs, **options):
    """Read runs by name, or the run r, beside a gold g."""
    runs = runs if isinstance(runs, dict) else {"r": runs}
    put(folder, {"g": gold, **runs})
    return read_runs(folder / "g", [folder / name for name in runs], **options)


def show(scores):
    """Say a score matrix in one line: measure, runs with a score a topic, and the topics."""
    measures = (
        f"{measure}: "
        + ", ".join(" ".join([run, *(f"{x:g}" for x in row)]) for run, row in zip(scores.runs, rows, strict=True))
        for measure, rows in zip(scores.measures, scores.values.transpose(2, 0, 1), strict=True)
    )
    return f"{'; '.join(measures)} ({' '.join(scores.topics)})"


def read_with_notes(read, *args, **options):
    """Return what is read, and all that is said of it in one text, but not which columns are runs or topics."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", PolicyWarning)
        found = read(*args, **options)
    said = [str(note.message) for note in notes]
    return found, "\n".join(one for one in said if not re.search("columns are read as (runs|topics)", one))
