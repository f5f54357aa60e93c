"""The settings of the study, and the numbers that the paper prints."""

from __future__ import annotations

from pathlib import Path

from experiments.old.outcome import read_toml

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")
LQ2021 = read_toml(HERE.parent / "lq2021" / "printed.toml")
LQ2021_MEASURES = ("NMD", "RSNOD", "RNOD", "NVD", "RNSS", "JSD")


def label_table(table: str) -> str:
    """Return "Table 2" for "table2"."""
    return f"Table {table.removeprefix('table')}"


def read_triangle(rows: dict[str, list[float]], order: list[str]) -> dict[tuple[str, str], float]:
    """Return printed rows of an upper triangle by pair of measures.

    Examples
    --------
    >>> read_triangle({"a": [0.5, 0.2], "b": [0.1]}, ["a", "b", "c"])
    {('a', 'b'): 0.5, ('a', 'c'): 0.2, ('b', 'c'): 0.1}
    """
    return {
        (first, second): value
        for i, first in enumerate(order[:-1])
        for second, value in zip(order[i + 1 :], rows[first], strict=True)
    }
