"""What differs from the committed results: numbers, pages, pictures, files that nothing makes; and what was not looked at."""

from __future__ import annotations

import io
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.old.comparison import Cell, count_best, format_counts, read_cells
from experiments.old.digests import DIGESTS, compare_digests
from experiments.old.outcome import COMPARISON, Outcome
from metaeval.files import write_atomically
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
    """What a check found, and the files that it did not compute anew, which it never counts as held."""

    differences: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    left: list[Path] = field(default_factory=list)

    def leave(self, paths: Sequence[Path], why: str) -> None:
        """Name files of one folder that were not computed now, or not whole."""
        self.unchecked.append(_name_files(paths, why))
        self.left += paths


def check_paper(
    paper: str,
    outcomes: Sequence[Outcome],
    sources: Sequence[str],
    write_page: Callable[[Sequence[Outcome]], str],
    pictures: Mapping[str, Sequence[str]],
    out: Path,
    *,
    why_missing: str = "its data could not be loaded",
) -> Checked:
    """Compare every file of a paper's results with what was computed now, and what was not with its digest."""
    result = Checked()
    by_source = {outcome.source: outcome for outcome in outcomes if not outcome.is_empty}
    for source in sources:
        _check_source(result, by_source.get(source), out / paper / source, pictures.get(source, ()), why_missing)
    result.differences += [f"{path}: nothing makes this file" for path in _find_strays(out / paper, sources)]
    adopted = [adopt_committed(outcome, out) for outcome in outcomes]
    for outcome in adopted:
        for name in pictures.get(outcome.source, ()):
            path = out / outcome.name / f"{name}.svg"
            if outcome.is_whole and name in outcome.figures:
                _check_picture(result, outcome.figures[name], path, outcome.tolerance)
            elif outcome.lacks and path.exists() and path not in result.left:
                result.leave([path], f"needs {', '.join(outcome.lacks)}")
    path = out / paper / PAGE
    if is_covered(outcomes, sources, out / paper):
        result.differences += compare_pages(write_page(adopted), path)
    elif path.exists():
        result.leave([path], "needs every source")
        result.differences += _compare_counts(count_committed(adopted, sources, out / paper), path)
    result.differences += compare_digests(result.left, paper, out)
    return result


def count_committed(outcomes: Sequence[Outcome], sources: Sequence[str], folder: Path) -> dict[str, Counter[str]]:
    """Count printed numbers by item and verdict as the committed files say; those of which there is no file as computed."""
    fresh = {outcome.source: outcome.cells for outcome in outcomes}
    paths = {source: folder / source / f"{COMPARISON}.csv" for source in sources}
    return count_best(read_cells(path) if path.exists() else fresh.get(source, []) for source, path in paths.items())


def _compare_counts(counts: Mapping[str, Counter[str]], path: Path) -> list[str]:
    """Compare the table of printed numbers of a page that is not written anew with the committed comparisons."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        f"{path}: has no line “{row}”, which its comparison.csv files say"
        for row in format_counts(counts)
        if row not in lines
    ]


def is_covered(outcomes: Sequence[Outcome], sources: Sequence[str], folder: Path) -> bool:
    """Tell whether outcomes are whole and leave out no source of which there are results, or there is no page yet."""
    if not (folder / PAGE).exists():  # there is nothing that says more
        return not any(outcome.reduced for outcome in outcomes) and not all(outcome.is_empty for outcome in outcomes)
    committed = {source for source in sources if any((folder / source).glob("*.csv"))}
    return all(outcome.is_whole for outcome in outcomes) and committed <= {
        outcome.source for outcome in outcomes if not outcome.is_empty
    }


def _check_source(
    result: Checked, fresh: Outcome | None, folder: Path, pictures: Sequence[str], why_missing: str
) -> None:
    paths = sorted(path for path in folder.glob("*") if path.is_file() and path.name != PAGE)
    committed = [path for path in paths if path.suffix in (".csv", ".svg")]
    result.differences += [f"{path}: nothing makes this file" for path in paths if path not in committed]
    if fresh is None or fresh.reduced:
        if committed:
            why = why_missing if fresh is None else f"computed with {fresh.reduced} only; --full checks all"
            result.leave(committed, why)
        return
    files = fresh.format_files()
    by_path = {folder / f"{name}.csv": text for name, text in files.items()}
    unchecked = [path for path, text in by_path.items() if not _check_file(result, fresh, path, text)]
    for path in committed:
        if path.stem in (files if path.suffix == ".csv" else pictures):
            continue
        if fresh.lacks:
            unchecked.append(path)
        else:
            result.differences.append(f"{path}: nothing makes this file")
    if unchecked:
        result.leave(unchecked, f"needs {', '.join(fresh.lacks)}")
    _leave_kept(result, fresh, folder)


def _leave_kept(result: Checked, fresh: Outcome, folder: Path) -> None:
    """Name the files whose rows were read from the results: that they are the same says nothing."""
    for name, why in fresh.kept.items():
        path = folder / f"{name}.csv"
        if path.exists() and path not in result.left:
            result.leave([path], why)


def _check_file(result: Checked, fresh: Outcome, path: Path, text: str) -> bool:
    """Add what differs in one file; return whether all of it was looked at."""
    if not path.exists():
        result.differences.append(f"{path}: there is no such committed file")
        return True
    if fresh.lacks and _count_rows(text) < _count_rows(path.read_text(encoding="utf-8")):
        return False
    result.differences += _cut(compare_csv(text, path, fresh.tolerance, partial=bool(fresh.lacks)), path)
    return not fresh.lacks or path.stem != COMPARISON


def _name_files(paths: Sequence[Path], why: str) -> str:
    folder = "/".join(paths[0].parent.parts[-2:])
    return f"{folder}: {', '.join(path.name for path in paths)}: {why}"


def _count_rows(text: str) -> int:
    return len(pd.read_csv(io.StringIO(text)))


def _find_strays(folder: Path, sources: Sequence[str]) -> list[Path]:
    """Return files in folders that are none of the sources."""
    folders = {folder / source for source in sources} | {folder}
    strays = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.parent not in folders]
    if "" not in sources:  # nothing but the page lies in the paper's own folder
        strays += [path for path in sorted(folder.glob("*")) if path.is_file() and path.name != PAGE]
    return strays


def find_other_files(out: Path, papers: Iterable[str]) -> list[str]:
    """List what lies in the results folder and belongs to no paper."""
    known = {PAGE, DIGESTS, *papers}
    return [f"{path}: nothing makes this" for path in sorted(out.glob("*")) if path.name not in known]


def compare_csv(text: str, path: Path, tolerance: float, *, partial: bool = False, part: str = "") -> list[str]:
    """Compare a CSV, or one part of a file of parts, with the committed one: words exactly, floats within the tolerance.

    With a tolerance of more than `EXACT`, rows may stand in another order, and verdicts of comparison.csv follow their
    numbers; `partial` leaves out cells without a number, because their data could not be loaded.
    """
    if path.read_text(encoding="utf-8") == text:
        return []
    fresh, committed = _read_csv(io.StringIO(text)), _read_part(path, part)
    if list(fresh.columns) != list(committed.columns) or len(fresh) != len(committed):
        return [f"{path}: rows or columns are not those committed"]
    if tolerance > EXACT and (order := _align_rows(fresh, committed)) is not None:
        fresh = fresh.iloc[order].reset_index(drop=True)
    differences = []
    left_out = fresh["reproduced"] == "" if partial and path.stem == COMPARISON else None
    for column in fresh.columns:
        if tolerance > EXACT and path.stem == COMPARISON and column == "verdict":
            continue
        for row, (a, b) in enumerate(zip(committed[column], fresh[column], strict=True)):
            if left_out is not None and left_out[row]:
                continue
            if not _is_same(a, b, tolerance):
                differences.append(f"{path}: row {row + 1}, {column}: {a} was committed, {b} came out")
    return differences


def _read_csv(source: Any) -> pd.DataFrame:
    """Read every cell as text, so that nothing is read as something else."""
    return pd.read_csv(source, dtype=str, keep_default_na=False)


def _read_part(path: Path, part: str) -> pd.DataFrame:
    """Read one part of a file of parts, or all of a file."""
    frame = _read_csv(path)
    if not part:
        return frame
    return frame[frame["part"] == part].drop(columns="part").reset_index(drop=True)


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


def _align_rows(fresh: pd.DataFrame, committed: pd.DataFrame) -> list[int] | None:
    """Return the order in which the rows of `fresh` are those of `committed`, by the words in them; None if there is none."""

    def name_rows(frame: pd.DataFrame) -> list[tuple[str, ...]]:
        labels = [column for column in frame.columns if not _holds_numbers(committed[column])]
        return [tuple(row) for row in frame[labels].itertuples(index=False)]

    names = name_rows(fresh)
    row_of = {name: row for row, name in enumerate(names)}
    order = name_rows(committed)
    if len(row_of) < len(names) or set(order) != set(row_of):
        return None
    return [row_of[name] for name in order]


def _holds_numbers(column: pd.Series[str]) -> bool:
    return bool(pd.to_numeric(column.replace("", "nan"), errors="coerce").notna().any()) or column.name == "verdict"


def adopt_committed(fresh: Outcome, out: Path) -> Outcome:
    """Return an outcome with the committed numbers in place of those that are within its tolerance of them.

    What is shown of a number then does not depend on the machine: pages say what the committed CSVs say, and results
    that came out within their tolerance are not written again.
    """
    folder = out / fresh.paper / fresh.source
    tables = {}
    for name, table in fresh.tables.items():
        file, _, part = name.partition("/")
        path = folder / f"{file}.csv"
        close = path.exists() and not compare_csv(table.to_csv(), path, fresh.tolerance, part=part)
        tables[name] = _adopt_table(table, path, part) if close else table
    cells = fresh.cells
    path = folder / f"{COMPARISON}.csv"
    if cells and path.exists() and not compare_csv(fresh.format_files()[COMPARISON], path, fresh.tolerance):
        committed = _read_csv(path)
        rows = {(entry["item"], entry["row"], entry["column"]): entry for entry in committed.to_dict("records")}
        cells = [_adopt_cell(entry, rows[entry.item, entry.row, entry.column]) for entry in cells]
    return replace(fresh, tables=tables, cells=cells)


def _adopt_cell(cell: Cell, committed: dict[Any, Any]) -> Cell:
    if cell.reproduced is None:
        return cell
    value = type(cell.reproduced)(float(committed["reproduced"]))
    return replace(
        cell,
        reproduced=value,
        tolerance=float(committed["tolerance"]),
        verdict=committed["verdict"],
        data=committed["data"],
    )


def _adopt_table(table: Table, path: Path, part: str = "") -> Table:
    committed, written = _read_part(path, part), _read_csv(io.StringIO(table.to_csv()))
    frame = table.frame
    if (order := _align_rows(written, committed)) is not None:
        frame = frame.iloc[order]
    frame = frame.copy()
    labels = committed.shape[1] - frame.shape[1]
    for c in range(frame.shape[1]):
        values = frame.iloc[:, c].tolist()
        texts = committed.iloc[:, labels + c]
        adopted = [float(text) if isinstance(a, float) and text else a for a, text in zip(values, texts, strict=True)]
        if any(isinstance(value, float) for value in values):
            frame.isetitem(c, pd.Series(adopted, index=frame.index, dtype=frame.dtypes.iloc[c]))
    return replace(table, frame=frame)


def compare_pages(text: str, path: Path) -> list[str]:
    """Compare a page with the committed one letter by letter, but for checksums and the version in its signatures."""
    if not path.exists():
        return [f"{path}: there is no such committed page"]
    committed = path.read_text(encoding="utf-8")
    old, new = ([_mask_signature(line) for line in page.splitlines()] for page in (committed, text))
    if len(old) != len(new):
        return [f"{path}: {len(old)} lines were committed, {len(new)} came out"]
    differences = [
        f"{path}: line {number}: {_shorten(*pair)} was committed, {_shorten(*pair[::-1])} came out"
        for number, pair in enumerate(zip(old, new, strict=True), start=1)
        if pair[0] != pair[1]
    ]
    return _cut(differences, path)


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


def _check_picture(result: Checked, draw: Callable[[], Figure], path: Path, tolerance: float) -> None:
    if not path.exists():
        result.differences.append(f"{path}: there is no such committed picture")
        return
    committed, fresh = path.read_text(encoding="utf-8"), _draw(draw, path)
    made_with = [re.search(r"Matplotlib v[\d.]+", text) for text in (committed, fresh)]
    if str(made_with[0] and made_with[0][0]) != str(made_with[1] and made_with[1][0]):
        result.leave([path], "drawn with another version of Matplotlib")
    elif tolerance > EXACT:
        if committed != fresh:
            result.leave([path], "its numbers depend on trained classifiers")
    elif not _is_same_drawing(committed, fresh):
        result.differences.append(f"{path}: the committed picture is not what the numbers say now")


def _draw(draw: Callable[[], Figure], path: Path) -> str:
    """Return the text of a picture as it would be saved."""
    from metaeval.show.drawing import save_figure

    with tempfile.TemporaryDirectory() as folder:
        save_figure(draw(), Path(folder), path.stem, suffixes=(".svg",))
        return (Path(folder) / path.name).read_text(encoding="utf-8")


def renew_picture(draw: Callable[[], Figure], path: Path) -> None:
    """Write a picture unless the one that is there looks the same: it stays as it is where only fingerprints differ."""
    text = _draw(draw, path)
    if not path.exists() or not _is_same_drawing(path.read_text(encoding="utf-8"), text):
        write_atomically(path, text)


def _is_same_drawing(committed: str, fresh: str) -> bool:
    """Tell whether two drawings differ by less than can be seen: identifiers hang on the last bits of coordinates."""
    number = re.compile(r"-?\d+\.\d+")
    texts = [re.sub(r"(?:id=\"|#)[\w-]+|@[0-9a-f]{12}", "", text) for text in (committed, fresh)]
    if number.sub("", texts[0]) != number.sub("", texts[1]):
        return False
    old, new = (number.findall(text) for text in texts)
    return all(abs(float(a) - float(b)) <= 0.01 for a, b in zip(old, new, strict=True))
