"""What differs from the committed results: numbers, pages, pictures, files that nothing makes; and what was not looked at."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.comparison import Cell
from experiments.outcome import COMPARISON, Outcome
from metaeval.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "README.md"
EXACT = 1e-9
"""A tolerance up to this one allows for another processor's last bits only."""

MOST_LINES = 5
"""How many differing lines of one file are shown."""


@dataclass
class Checked:
    """What a check found.

    Parameters
    ----------
    differences : list of str
        One line each.
    unchecked : list of str
        Files that were not looked at, and why: one line a folder.
    """

    differences: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def check_paper(
    paper: str,
    outcomes: Sequence[Outcome],
    sources: Sequence[str],
    write_page: Callable[[Sequence[Outcome]], str],
    pictures: Mapping[str, Sequence[str]],
    out: Path,
    *,
    why_missing: str = "its data could not be had",
) -> Checked:
    """Compare every file of a paper's results with what was computed now.

    Parameters
    ----------
    paper : str
    outcomes : sequence of Outcome
    sources : sequence of str
        All that the paper can have: folders of other names are no results.
    write_page : callable
        From outcomes to the text of the page.
    pictures : mapping of str to sequence of str
        By source, the figures that are kept.
    out : Path
        The results folder.
    why_missing : str, optional
        Why a source can have no outcome.

    Returns
    -------
    Checked
    """
    found = Checked()
    # Verdicts that follow from tables hang on no machine: they are those of the committed numbers.
    judged = [replace(one, verdicts=adopt_committed(one, out).verdicts) if one.judge else one for one in outcomes]
    by_source = {one.source: one for one in judged if not one.is_empty}
    for source in sources:
        _check_source(found, by_source.get(source), out / paper / source, pictures.get(source, ()), why_missing)
    found.differences += [f"{path}: nothing makes this file" for path in _find_strays(out / paper, sources)]
    path = out / paper / PAGE
    if is_covered(outcomes, sources, out / paper):
        adopted = [adopt_committed(one, out) for one in outcomes]
        found.differences += compare_pages(write_page(adopted), path)
        for one in adopted:
            for name in pictures.get(one.source, ()):
                if name in one.figures:
                    _check_picture(found, one.figures[name], out / one.name / f"{name}.svg", one.tolerance)
    elif path.exists():
        shown = [f"{paper}/{source}/{name}.svg".replace("//", "/") for source in pictures for name in pictures[source]]
        found.unchecked.append(
            f"{paper}/{PAGE}, {', '.join(shown)}: needs every source".replace(f"{PAGE}, :", f"{PAGE}:")
        )
    return found


def is_covered(outcomes: Sequence[Outcome], sources: Sequence[str], folder: Path) -> bool:
    """Tell whether outcomes are whole and leave out no source of which there are results.

    Parameters
    ----------
    outcomes : sequence of Outcome
    sources : sequence of str
    folder : Path
        The results of the paper.

    Returns
    -------
    bool
    """
    there = {source for source in sources if any((folder / source).glob("*.csv"))}
    return all(one.is_whole for one in outcomes) and there <= {one.source for one in outcomes if not one.is_empty}


def _check_source(
    found: Checked, fresh: Outcome | None, folder: Path, pictures: Sequence[str], why_missing: str
) -> None:
    there = sorted(path for path in folder.glob("*") if path.is_file() and path.name != PAGE)
    kept = [path for path in there if path.suffix in (".csv", ".svg")]
    found.differences += [f"{path}: nothing makes this file" for path in there if path not in kept]
    if fresh is None or fresh.reduced:
        if kept:
            why = why_missing if fresh is None else f"computed with {fresh.reduced} only; --full checks all"
            found.unchecked.append(_name_files(kept, why))
        return
    files = fresh.format_files()
    unchecked = []
    for name, text in files.items():
        path = folder / f"{name}.csv"
        if not path.exists():
            found.differences.append(f"{path}: there is no such committed file")
        elif fresh.lacks and _count_rows(text) < _count_rows(path.read_text(encoding="utf-8")):
            unchecked.append(path)
        else:
            found.differences += _cut(compare_csv(text, path, fresh.tolerance, partial=bool(fresh.lacks)), path)
            if fresh.lacks and name == COMPARISON:
                unchecked.append(path)
    for path in kept:
        known = path.stem in (files if path.suffix == ".csv" else pictures)
        if not known and fresh.lacks:
            unchecked.append(path)
        elif not known:
            found.differences.append(f"{path}: nothing makes this file")
    if unchecked:
        found.unchecked.append(_name_files(unchecked, f"needs {', '.join(fresh.lacks)}"))


def _name_files(paths: Sequence[Path], why: str) -> str:
    folder = "/".join(paths[0].parent.parts[-2:])
    return f"{folder}: {', '.join(path.name for path in paths)}: {why}"


def _count_rows(text: str) -> int:
    return len(pd.read_csv(io.StringIO(text)))


def _find_strays(folder: Path, sources: Sequence[str]) -> list[Path]:
    """Return files in folders that are none of the sources."""
    places = {folder / source for source in sources} | {folder}
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.parent not in places]
    if "" not in sources:  # nothing but the page lies in the paper's own folder
        found += [path for path in sorted(folder.glob("*")) if path.is_file() and path.name != PAGE]
    return found


def find_other_files(out: Path, papers: Iterable[str]) -> list[str]:
    """List what lies in the results folder and belongs to no paper.

    Parameters
    ----------
    out : Path
        The results folder.
    papers : iterable of str

    Returns
    -------
    list of str
        One line a file or folder.
    """
    known = {PAGE, *papers}
    return [f"{path}: nothing makes this" for path in sorted(out.glob("*")) if path.name not in known]


def compare_csv(text: str, path: Path, tolerance: float, *, partial: bool = False) -> list[str]:
    """Compare a CSV with the committed one cell by cell: words exactly, floats within the tolerance.

    Parameters
    ----------
    text : str
        As it came out.
    path : Path
    tolerance : float
        With one that is more than `EXACT`, rows may stand in another order, and verdicts of comparison.csv follow
        their numbers.
    partial : bool, optional
        Whether cells without a number are left out, because their data could not be had.

    Returns
    -------
    list of str
        One line a difference.
    """
    if path.read_text(encoding="utf-8") == text:
        return []
    fresh, kept = (_read_csv(source) for source in (io.StringIO(text), path))
    if list(fresh.columns) != list(kept.columns) or len(fresh) != len(kept):
        return [f"{path}: rows or columns are not those committed"]
    if tolerance > EXACT and (order := _align_rows(fresh, kept)) is not None:
        fresh = fresh.iloc[order].reset_index(drop=True)
    found = []
    left_out = fresh["reproduced"] == "" if partial and path.stem == COMPARISON else None
    for column in fresh.columns:
        if tolerance > EXACT and path.stem == COMPARISON and column == "verdict":
            continue
        for row, (a, b) in enumerate(zip(kept[column], fresh[column], strict=True)):
            if left_out is not None and left_out[row]:
                continue
            if not _is_same(a, b, tolerance):
                found.append(f"{path}: row {row + 1}, {column}: {a} was committed, {b} came out")
    return found


def _read_csv(source: Any) -> pd.DataFrame:
    """Read every cell as text, so that nothing is read as something else."""
    return pd.read_csv(source, dtype=str, keep_default_na=False)


def _is_same(a: str, b: str, tolerance: float) -> bool:
    if a == b or _mask(a) == _mask(b):
        return True
    try:
        return abs(float(a) - float(b)) <= tolerance and ("." in a + b or "e" in a + b)
    except ValueError:
        return False


def _mask(text: str) -> str:
    """Leave out checksums of data: they change with the last bit of any score."""
    return re.sub(r"@[0-9a-f]{12}\b", "@", text)


def _align_rows(fresh: pd.DataFrame, kept: pd.DataFrame) -> list[int] | None:
    """Return the order in which the rows of `fresh` are those of `kept`, by the words in them; None if there is none."""

    def name_rows(frame: pd.DataFrame) -> list[tuple[str, ...]]:
        words = [column for column in frame.columns if not _holds_numbers(kept[column])]
        return [tuple(row) for row in frame[words].itertuples(index=False)]

    names = name_rows(fresh)
    place = {name: row for row, name in enumerate(names)}
    wanted = name_rows(kept)
    if len(place) < len(names) or set(wanted) != set(place):
        return None
    return [place[name] for name in wanted]


def _holds_numbers(column: pd.Series[str]) -> bool:
    return bool(pd.to_numeric(column.replace("", "nan"), errors="coerce").notna().any()) or column.name == "verdict"


def adopt_committed(fresh: Outcome, out: Path) -> Outcome:
    """Return an outcome with the committed numbers in place of those that are within its tolerance of them.

    What is shown of a number then does not depend on the machine: pages say what the committed CSVs say, and results
    that came out within their tolerance are not written again.

    Parameters
    ----------
    fresh : Outcome
    out : Path
        The results folder.

    Returns
    -------
    Outcome
    """
    folder = out / fresh.paper / fresh.source
    tables = {}
    for name, table in fresh.tables.items():
        path = folder / f"{name}.csv"
        close = path.exists() and not compare_csv(table.to_csv(), path, fresh.tolerance)
        tables[name] = _adopt_table(table, path) if close else table
    cells = fresh.cells
    path = folder / f"{COMPARISON}.csv"
    if cells and path.exists() and not compare_csv(fresh.format_files()[COMPARISON], path, fresh.tolerance):
        kept = _read_csv(path)
        rows = {(one["item"], one["row"], one["column"]): one for one in kept.to_dict("records")}
        cells = [_adopt_cell(one, rows[one.item, one.row, one.column]) for one in cells]
    verdicts = fresh.judge(tables) if fresh.judge else fresh.verdicts
    return replace(fresh, tables=tables, cells=cells, verdicts=verdicts)


def _adopt_cell(cell: Cell, kept: dict[Any, Any]) -> Cell:
    if cell.reproduced is None:
        return cell
    value = type(cell.reproduced)(float(kept["reproduced"]))
    return replace(cell, reproduced=value, tolerance=float(kept["tolerance"]), verdict=kept["verdict"])


def _adopt_table(table: Table, path: Path) -> Table:
    kept, written = _read_csv(path), _read_csv(io.StringIO(table.to_csv()))
    frame = table.frame
    if (order := _align_rows(written, kept)) is not None:
        frame = frame.iloc[order]
    frame = frame.copy()
    labels = kept.shape[1] - frame.shape[1]
    for c in range(frame.shape[1]):
        values = frame.iloc[:, c].tolist()
        texts = kept.iloc[:, labels + c]
        adopted = [float(text) if isinstance(a, float) and text else a for a, text in zip(values, texts, strict=True)]
        if any(isinstance(one, float) for one in values):
            frame.isetitem(c, pd.Series(adopted, index=frame.index, dtype=frame.dtypes.iloc[c]))
    return replace(table, frame=frame)


def compare_pages(text: str, path: Path) -> list[str]:
    """Compare a page with the committed one letter by letter, but for checksums and the version in its signatures.

    Parameters
    ----------
    text : str
        As it came out.
    path : Path

    Returns
    -------
    list of str
        One line for each line that differs, the first few of them.
    """
    if not path.exists():
        return [f"{path}: there is no such committed page"]
    kept = path.read_text(encoding="utf-8")
    old, new = ([_mask_signature(line) for line in one.splitlines()] for one in (kept, text))
    if len(old) != len(new):
        return [f"{path}: {len(old)} lines were committed, {len(new)} came out"]
    found = [
        f"{path}: line {number}: {_shorten(*pair)} was committed, {_shorten(*pair[::-1])} came out"
        for number, pair in enumerate(zip(old, new, strict=True), start=1)
        if pair[0] != pair[1]
    ]
    return _cut(found, path)


def _cut(lines: list[str], path: Path) -> list[str]:
    """Return the first few differences of one file, and how many more there are."""
    return lines[:MOST_LINES] + [f"{path}: {len(lines) - MOST_LINES} more lines"] * (len(lines) > MOST_LINES)


def _mask_signature(line: str) -> str:
    return re.sub(r"metaeval \d\S*?(?=<|$)", "metaeval", _mask(line)) if line.startswith("<sub>") else line


def _shorten(line: str, other: str, width: int = 60) -> str:
    """Return the part of a line where it begins to differ from another."""
    start = next((i for i, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), min(len(line), len(other)))
    begin = max(0, start - width // 3)
    return f"“{'…' * (begin > 0)}{line[begin : begin + width]}{'…' * (begin + width < len(line))}”"


def _check_picture(found: Checked, draw: Callable[[], Figure], path: Path, tolerance: float) -> None:
    if not path.exists():
        found.differences.append(f"{path}: there is no such committed picture")
        return
    from metaeval.show.drawing import save_figure

    with tempfile.TemporaryDirectory() as folder:
        save_figure(draw(), Path(folder), path.stem, suffixes=(".svg",))
        fresh = (Path(folder) / path.name).read_text(encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    made_with = [re.search(r"Matplotlib v[\d.]+", text) for text in (kept, fresh)]
    if str(made_with[0] and made_with[0][0]) != str(made_with[1] and made_with[1][0]):
        found.unchecked.append(_name_files([path], "drawn with another version of Matplotlib"))
    elif tolerance > EXACT:
        found.unchecked += [] if kept == fresh else [_name_files([path], "its numbers depend on trained classifiers")]
    elif not _is_same_drawing(kept, fresh):
        found.differences.append(f"{path}: the committed picture is not what the numbers say now")


def _is_same_drawing(kept: str, fresh: str) -> bool:
    """Tell whether two drawings differ by less than can be seen: identifiers hang on the last bits of coordinates."""
    number = re.compile(r"-?\d+\.\d+")
    texts = [re.sub(r"(?:id=\"|#)[\w-]+|@[0-9a-f]{12}", "", text) for text in (kept, fresh)]
    if number.sub("", texts[0]) != number.sub("", texts[1]):
        return False
    old, new = (number.findall(text) for text in texts)
    return all(abs(float(a) - float(b)) <= 0.01 for a, b in zip(old, new, strict=True))
