"""JSON from files of other people: what the json module settles in silence is an error here."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, NoReturn

from metaeval.errors import DataError
from metaeval.files import BYTES_A_CELL, PathLike, check_cells

_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
"""A text in JSON, which may hold commas; one without an end goes on to the end, so that nothing is looked at twice."""


def count_values(text: str) -> int:
    """Return how many values a text of JSON holds, at most about; where there may be many, what is quoted is not counted."""
    count = sum(map(text.count, ",[{"))
    return sum(map(_QUOTED.sub("", text).count, ",[{")) if count > 1_000_000 else count


def parse_json(text: str, path: PathLike, line: int | None = None, *, with_nan: bool = False) -> Any:
    """Parse JSON strictly: NaN, Infinity, repeated keys and texts that no file can hold are errors."""

    def refuse(literal: str) -> NoReturn:
        raise DataError(f"{literal} is not a number that JSON has", file=path, line=line)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)  # the json module would silently keep the last value of a repeated key
        if len(content) < len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise DataError(f"the key {twice!r} occurs twice in one object", file=path, line=line)
        return content

    check_cells(count_values(text), path, line, "values", 2 * BYTES_A_CELL)
    try:
        content = json.loads(text, parse_constant=None if with_nan else refuse, object_pairs_hook=unique)
        if "\\u" in text:  # half of a pair of escapes is no letter
            json.dumps(content, ensure_ascii=False).encode()
    except DataError:
        raise
    except json.JSONDecodeError as error:
        raise DataError(f"it is not JSON: {error.msg}", file=path, line=line or error.lineno) from None
    except (RecursionError, ValueError) as error:
        known = {RecursionError: "it is nested too deeply", UnicodeEncodeError: "half a letter is escaped"}
        problem = f"it is not JSON that can be read: {known.get(type(error), error)}"
        raise DataError(problem, file=path, line=line) from None
    return content
