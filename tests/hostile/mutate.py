"""Mutations of files: bytes, lines, cells, columns, and the structure of JSON."""

import copy
import json

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
ENCODINGS = [
    lambda text: text.encode("utf-16"),
    lambda text: text.encode("latin-1", "replace"),
    lambda text: b"\xef\xbb\xbf" + text.encode(),
    lambda text: text.replace("\n", "\r\n").encode(),
    lambda text: text.replace("\n", "\r").encode(),
    lambda text: (text + "\n\n \n").encode(),
    lambda text: ("\n\n" + text).encode(),
]


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
    return rng.choice(ENCODINGS)(content.decode("utf-8", "replace"))


def change_lines(rng, lines):
    i, j, what = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(6)
    if what == 0:
        del lines[i]
    elif what == 1:
        lines.insert(j, lines[i])
    elif what == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif what == 3:
        lines.insert(i, rng.choice(["", " ", "#", ",,,", "\t\t"]))
    elif what == 4:
        lines[1:] = rng.sample(lines[1:], len(lines) - 1)
    else:
        lines[i] = lines[i][: rng.randrange(len(lines[i]) + 1)]
    return lines


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
    lines[i] = separator.join(cells)
    return lines


def change_columns(rng, lines):
    separator = _separator(lines[0])
    rows = [line.split(separator) for line in lines if line]
    width, what = min(map(len, rows), default=0), rng.randrange(5)
    if not width:
        return lines
    i, j, name = rng.randrange(width), rng.randrange(width), rng.choice(HEADERS)
    for row in rows:
        if what == 0:
            del row[i]
        elif what == 1:
            row.insert(j, row[i])
        elif what == 2:
            row[i], row[j] = row[j], row[i]
        elif what == 3:
            row.append("extra" if row is rows[0] else "0.5")
        elif row is rows[0]:
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
