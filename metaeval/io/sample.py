"""What a format is told by: the name of a file, its first lines and its layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from metaeval.errors import DataError
from metaeval.files import PathLike, check_cells, plain_path, read_text, stream_lines
from metaeval.io.layout import find_layout
from metaeval.io.strict_json import parse_json
from metaeval.io.tables import LINES, TABLES, find_kind, open_cells

_FIRST, _MOST = 21, 1 << 16


@dataclass(frozen=True)
class Sample:
    """A file, and what the user calls its columns; read when it is asked for."""

    path: PathLike
    columns: Mapping[str, str] | None = None

    @cached_property
    def kind(self) -> str:
        """What the file is, if it is a table: text, JSON, Parquet or a workbook."""
        return find_kind(self.path)

    @property
    def is_table(self) -> bool:
        """Whether the name of the file is that of a table."""
        return self.kind != "text" or plain_path(self.path).lower().endswith(TABLES)

    @cached_property
    def text(self) -> str:
        """The whole file, from its first line that is not blank; Parquet and workbooks have none."""
        return read_text(self.path).lstrip("\n") if self.kind in ("text", "json") else ""

    @cached_property
    def all_lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.text.split("\n") if line.strip()]

    @cached_property
    def lines(self) -> list[str]:
        """The first of these lines."""
        begin = self.text[:_MOST].split("\n")
        lines = [line for line in begin[: -1 if len(self.text) > _MOST else None] if line.strip()]
        lines = lines if len(lines) >= _FIRST or len(self.text) <= _MOST else self.all_lines
        for line in lines[:_FIRST] if self.kind == "text" else ():
            check_cells(sum(map(line.count, " \t,")), self.path)
        return lines[:_FIRST]

    @cached_property
    def first_record(self) -> Any:
        """The first value of JSON lines, or all that a JSON file holds; None for what is neither."""
        name = plain_path(self.path).lower()
        try:
            if name.endswith(LINES):
                line, text = next(stream_lines(self.path), (1, "null"))
                return parse_json(text, self.path, line, with_nan=True)
            return parse_json(read_text(self.path), self.path, with_nan=True) if name.endswith(".json") else None
        except DataError:
            return None

    @cached_property
    def _found(self) -> tuple[str | None, DataError | None]:
        try:
            return find_layout(open_cells(self.path), self.columns).kind, None
        except DataError as error:
            return None, error

    @property
    def layout(self) -> str | None:
        """The layout of the table that the file holds, None if it does not tell."""
        return self._found[0]

    @property
    def refusal(self) -> DataError | None:
        """What is wrong with the file as a table."""
        return self._found[1]
