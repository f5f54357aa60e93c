"""Text tables and numbers, read with the csv module only."""

import csv
import io
import math
import re

DELIMITERS = (",", "\t", ";", "|", " ")


class Unreadable(Exception):
    """The file says nothing that can be relied on."""


def text_of(content):
    """The text of a file in UTF-8, or UTF-16 with its mark, with line feeds only."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeError:
            raise Unreadable("not UTF-16") from None
    if not content or b"\0" in content:
        raise Unreadable("not a text file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise Unreadable("empty")
    return text


def lines_of(content):
    """The lines that are not blank."""
    return [line for line in text_of(content).split("\n") if line.strip()]


def table_of(content, delimiter):
    """Header and rows of a table; every row as long as the header, no column name twice."""
    try:
        rows = list(csv.reader(io.StringIO(text_of(content), newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise Unreadable(str(error)) from None
    rows = [row for row in rows if row and (len(row) > 1 or row[0].strip())]
    if len(rows) < 2:
        raise Unreadable("no rows")
    header = [cell.strip() for cell in rows[0]]
    if len(set(header)) < len(header) or not all(header[1:]):
        raise Unreadable("column names")
    if any(len(row) != len(header) for row in rows[1:]):
        raise Unreadable("a row of another length")
    return header, rows[1:]


def is_missing(text):
    return text.lower().lstrip("+-") in ("", "na", "nan", "none", "null")


def number(text):
    """A finite number, None where it is missing."""
    text = text.strip()
    if is_missing(text):
        return None
    if re.fullmatch(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))", text):  # a comma of decimals
        text = text.replace(",", ".")
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Unreadable(f"{text[:40]!r} is no finite number")
    return value


def label(text):
    """A label that is there."""
    if not text.strip():
        raise Unreadable("a label is empty")
    return text
