"""What a format is told by: the name of a file, its first lines and its header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from metaeval.files import PathLike, is_standard_input, read_bytes, read_text
from metaeval.io.table import find_delimiter, rename_columns, split_line

PARQUET = (".parquet", ".pq")
PARQUET_MAGIC = b"PAR1"

_FIRST = 21


def is_parquet(path: PathLike) -> bool:
    """Tell whether the name of the file is that of a Parquet file."""
    return str(path).lower().endswith(PARQUET)


@dataclass(frozen=True)
class Sample:
    """A file, and what the user calls its columns; read when it is asked for."""

    path: PathLike
    columns: Mapping[str, str] | None = None

    @cached_property
    def parquet(self) -> bool:
        """Whether it is a Parquet file, by its name or first bytes."""
        return is_parquet(self.path) or read_bytes(self.path).startswith(PARQUET_MAGIC)

    @cached_property
    def text(self) -> str:
        """The whole file, from its first line that is not blank; Parquet has none."""
        return "" if self.parquet else read_text(self.path).lstrip("\n")

    @cached_property
    def all_lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.text.split("\n") if line.strip()]

    @property
    def lines(self) -> list[str]:
        """The first of these lines."""
        return self.all_lines[:_FIRST]

    @cached_property
    def delimiter(self) -> str:
        """What separates the columns of a table."""
        return find_delimiter(self.path, self.text)

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns as the file has them."""
        return [cell.strip() for cell in self.split(self.text.partition("\n")[0])]

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns as the user calls them."""
        return list(rename_columns(self.names, self.columns, self.path))

    def split(self, line: str) -> list[str]:
        """Return the cells of a line of a table."""
        return split_line(line, self.delimiter, self.path)


def holds_parquet(path: PathLike) -> bool:
    """Say whether a file is Parquet; what is piped has no name that could tell."""
    return is_parquet(path) or (is_standard_input(path) and read_bytes(path).startswith(PARQUET_MAGIC))
