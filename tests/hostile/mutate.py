"""Mutations of files: bytes, lines, cells and columns."""

import copy
import json
import re

NASTY = [
    "nan", "NaN", "NA", "", " ", "inf", "-inf", "1e400", "-1e400", "1e-400", "5e-324", "-0.0", "0", "1", "-1",
    "0x1p-3", "1_000", "1,5", "٣", "½", "0.1.2", "--", "null", "NULL", "None", "True", "false", "=1+1", "=cmd()", "+1",
    "1e5", "9" * 400, "0." + "1" * 400, '"', '""', '"x"', "'", "$x$", "$", "\\", "\u202eabc", "\x1b[31m", "\u200b",
    "e\u0301", "\ufeff", "\u2028", "\x0b", "\x85", "\u00a0", "a\tb", "a,b", "a;b", '"a\nb"', "é", "日本", "🎉", "#N/A",
    "1 2", "2", "3", "-2", "-3", "all", "runid", "num_q", "topic", "run", "x" * 5000, "y" * 140_000,
    "0.1000000000000000055511151231", "1e308", "123456789012345678901", "0.30000000000000004", "positive", "neutral",
    "Negative", "-",
]  # fmt: skip
HEADERS = [*NASTY[:-20], "measure", "score", "Run", "system", "higher_is_better", "label"]
BYTES = [b"\0", b"\xff", b"\xe9", b'"', b"\r", b"\n", b",", b"\t", b";", b"\x1a", b"\xef\xbb\xbf", b" "]
CODECS = ("utf-16", "latin-1", "utf-8-sig", "utf-8")
ENDS = [("\n", "\n"), ("\n", "\r\n"), ("\n", "\r"), (r"\Z", "\n\n \n"), (r"\A", "\n\n")]


def mutate_text(rng, content):
    """Return the content after one to three mutations."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        mutation = rng.choice(MUTATIONS)
        if mutation in (change_bytes, encode_otherwise):
            content = mutation(rng, content)
        else:
            lines = mutation(rng, content.decode("utf-8", "surrogateescape").split("\n"))
            content = "\n".join(lines).encode("utf-8", "surrogateescape")
    return content


def change_bytes(rng, content):
    """Flip a bit, leave bytes out, insert some, or cut the file."""
    at = rng.randrange(len(content) + 1)
    middle, rest = content[at : at + 1], content[at + 1 :]
    return content[:at] + rng.choice([
        bytes(byte ^ (1 << rng.randrange(8)) for byte in middle) + rest,
        rest[rng.choice((0, 0, 1, 19)) :],
        rng.choice(BYTES) + middle + rest,
        b"",
    ])  # fmt: skip


def encode_otherwise(rng, content):
    """Write in another encoding, or with other ends of lines, or with empty lines around."""
    text, codec = content.decode("utf-8", "replace"), rng.choice(CODECS)
    end, other = rng.choice(ENDS[1:] if codec == "utf-8" else ENDS[:1])
    return re.sub(end, other, text).encode(codec, "replace")


def change_lines(rng, lines):
    """Leave a line out, write it again elsewhere or after an empty one, exchange two, cut one, or shuffle all."""
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    line, rest = lines[i], lines[:i] + lines[i + 1 :]
    return rng.choice([
        rest,
        [*lines[:j], line, *lines[j:]],
        [lines[{i: j, j: i}.get(k, k)] for k in range(len(lines))],
        [*lines[:i], rng.choice(["", " ", "#", ",,,", "\t\t"]), *lines[i:]],
        lines[:1] + rng.sample(lines[1:], len(lines) - 1),
        [*lines[:i], line[: rng.randrange(len(line) + 1)], *lines[i + 1 :]],
    ])  # fmt: skip


def _separator(line):
    return max((",", "\t", " "), key=line.count)


def change_cell(rng, lines):
    i = rng.randrange(len(lines))
    separator = _separator(lines[i])
    cells = lines[i].split(separator)
    at, other = rng.randrange(len(cells)), rng.choice(lines).split(separator)
    cell = cells[at]
    alike = [f" {cell}", f"{cell} ", f'"{cell}"', cell.upper(), cell * 2]
    cells[at] = rng.choice([*[rng.choice(NASTY)] * 3, other[min(at, len(other) - 1)], rng.choice(alike)])
    return [*lines[:i], separator.join(cells), *lines[i + 1 :]]


def change_columns(rng, lines):
    """Leave a column out, write it twice, exchange two, add one, or call one otherwise."""
    separator = _separator(lines[0])
    rows = [line.split(separator) for line in lines if line]
    width, what = min(map(len, rows), default=0), rng.randrange(5)
    if not width:
        return lines
    i, j, name = rng.randrange(width), rng.randrange(width), rng.choice(HEADERS)
    order = [[*range(i), *range(i + 1, width)], [*range(j), i, *range(j, width)], list(range(width))]
    order[2][i], order[2][j] = j, i
    for number, row in enumerate(rows):
        if what < 3:
            row[:width] = [row[k] for k in order[what]]
        elif what == 3:
            row.append("0.5" if number else "extra")
        elif not number:
            row[i] = name
    return [separator.join(row) for row in rows]


def change_separator(rng, lines):
    old, new = _separator("\n".join(lines)), rng.choice([",", "\t", ";", "|", " ", ", ", "  "])
    return [line.replace(old, new) for line in lines]


MUTATIONS = [
    *[change_bytes] * 4, encode_otherwise, *[change_lines] * 2, *[change_cell] * 4, *[change_columns] * 2, change_separator,
]  # fmt: skip
VALUES = [None, True, [], {}, "", "0.5", 0, 1, -1, 2, 3, 1e308, 10**400, 0.5, -0.5, "x", "7", 7]


def mutate_json(rng, content):
    """Return JSON after a change of its structure, or of its text."""
    if rng.randrange(10) < 3:
        return mutate_text(rng, content)
    found = json.loads(content)
    for _ in range(rng.choice((1, 1, 2))):
        places = list(_places(found))
        if places:
            _change(rng, *rng.choice(places))
    text = json.dumps(found, ensure_ascii=rng.choice([True, False]))
    extra = rng.randrange(100)
    if extra < 5:
        text = text.replace("0.5", rng.choice(["NaN", "Infinity", "1e400", "0.5e", "00.5"]), 1)
    elif extra < 8:
        depth = rng.choice((50, 900, 3000, 100_000))
        text = f'[{{"id": "deep", "quality": {"[" * depth + "]" * depth}}}]'
    return text.encode()


def _change(rng, where, key):
    what, value = rng.randrange(6), where[key]
    if what == 0:
        del where[key]
    elif what == 1:
        where[key] = rng.choice(VALUES)
    elif what == 2 and isinstance(where, list):
        where.append(copy.deepcopy(value))
    elif what == 3 and isinstance(where, dict):
        where[rng.choice(["id", "quality", "3", "-2", "A", "$"])] = where.pop(key)
    elif what == 4 and isinstance(where, list):
        rng.shuffle(where)
    else:
        where[key] = rng.choice([[value], {"A": value}])


def _places(found):
    keys = list(found) if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ()
    for key in keys:
        yield found, key
        yield from _places(found[key])
