"""Digests of committed results, as a run left them: a file that was edited since is noticed without its data.

A digest cannot tell whether a file is right, nor notice somebody who edits it and its digest; only computing it anew can.
What was computed anew is compared itself, whatever its digest.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable
from pathlib import Path

from metaeval.files import write_atomically

DIGESTS = "digests"
"""The folder of the digests among the results, one file a paper."""

COLUMNS = ("file", "sha256", "made_from")


def record_files(made: Iterable[Path], paper: str, out: Path) -> None:
    """Record files of a paper's results that a run wrote, or computed and found the same, beside those recorded before."""
    folder, path = out / paper, out / DIGESTS / f"{paper}.csv"
    recorded = _read_digests(path)
    made_now = {file.relative_to(folder).as_posix(): (digest(file), find_origin(file, folder)) for file in made}
    kept = {name: entry for name, entry in {**recorded, **made_now}.items() if (folder / name).exists()}
    if kept == recorded:
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([COLUMNS, *((name, *kept[name]) for name in sorted(kept))])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.getvalue())


def compare_digests(paths: Iterable[Path], paper: str, out: Path) -> list[str]:
    """Say which files are not as a run left them, or were made from other tables than those that are there."""
    folder, differences = out / paper, []
    recorded = _read_digests(out / DIGESTS / f"{paper}.csv")
    for path in dict.fromkeys(paths):
        sha256, made_from = recorded.get(path.relative_to(folder).as_posix(), ("", ""))
        if not sha256:
            differences.append(f"{path}: no run has recorded this file in {out / DIGESTS / f'{paper}.csv'}")
        elif sha256 != digest(path):
            differences.append(f"{path}: was edited after a run wrote it: python -m experiments {paper} makes it again")
        elif made_from != find_origin(path, folder):
            differences.append(
                f"{path}: was made from other tables than those beside it: python -m experiments {paper}"
            )
    return differences


def find_origin(path: Path, folder: Path) -> str:
    """Return the digest of the tables that a page or a picture was made from; empty for a table."""
    if path.suffix == ".csv":
        return ""
    tables = sorted(path.parent.glob("*.csv") if path.suffix == ".svg" else folder.rglob("*.csv"))
    return hashlib.sha256("".join(map(digest, tables)).encode()).hexdigest()


def digest(path: Path) -> str:
    """Return the digest of a text file, whatever ends its lines."""
    return hashlib.sha256(path.read_text(encoding="utf-8").encode()).hexdigest()


def _read_digests(path: Path) -> dict[str, tuple[str, str]]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["file"]: (row["sha256"], row["made_from"]) for row in csv.DictReader(file)}
