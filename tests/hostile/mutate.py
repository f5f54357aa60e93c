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


def mutate_text(rng, content):
    """Return the content after one to three mutations, and their names."""
    names = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        mutation = rng.choice(TEXT)
        content = mutation(rng, content)
        names.append(mutation.__name__)
    return content, "+".join(names)


def flip_bit(rng, content):
    changed = bytearray(content)
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def drop_bytes(rng, content):
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[at + rng.choice((1, 1, 2, 20)) :]


def insert_bytes(rng, content):
    at = rng.randrange(len(content) + 1)
    new = rng.choice([b"\0", b"\xff", b"\xe9", b'"', b"\r", b"\n", b",", b"\t", b";", b"\x1a", b"\xef\xbb\xbf", b" "])
    return content[:at] + new + content[at:]


def truncate(rng, content):
    return content[: rng.randrange(len(content) + 1)]


def encode_otherwise(rng, content):
    text = content.decode("utf-8", "replace")
    return rng.choice(
        [
            lambda: text.encode("utf-16"),
            lambda: text.encode("latin-1", "replace"),
            lambda: b"\xef\xbb\xbf" + content,
            lambda: text.replace("\n", "\r\n").encode(),
            lambda: text.replace("\n", "\r").encode(),
            lambda: (text + "\n\n \n").encode(),
            lambda: ("\n\n" + text).encode(),
        ]
    )()


def _lines(content):
    return content.decode("utf-8", "surrogateescape").split("\n")


def _joined(lines):
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def change_lines(rng, content):
    lines = _lines(content)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(6)
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
    return _joined(lines)


def _separator(line):
    return max((",", "\t", " "), key=line.count)


def change_cell(rng, content):
    lines = _lines(content)
    i = rng.randrange(len(lines))
    separator = _separator(lines[i])
    cells = lines[i].split(separator)
    at = rng.randrange(len(cells))
    what = rng.randrange(5)
    if what < 3:
        cells[at] = rng.choice(NASTY)
    elif what == 3:  # the cell of another line
        other = rng.choice(lines).split(separator)
        cells[at] = other[min(at, len(other) - 1)]
    else:
        cells[at] = rng.choice([f" {cells[at]}", f"{cells[at]} ", f'"{cells[at]}"', cells[at].upper(), cells[at] * 2])
    lines[i] = separator.join(cells)
    return _joined(lines)


def change_columns(rng, content):
    lines = [line for line in _lines(content) if line]
    if not lines:
        return content
    separator = _separator(lines[0])
    rows = [line.split(separator) for line in lines]
    width = min(map(len, rows))
    i, j = rng.randrange(width), rng.randrange(width)
    what = rng.randrange(5)
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
            row[i] = rng.choice([*NASTY[:-20], "measure", "score", "Run", "system", "higher_is_better", "label"])
    return _joined([separator.join(row) for row in rows])


def change_separator(rng, content):
    text = content.decode("utf-8", "surrogateescape")
    old = _separator(text)
    return text.replace(old, rng.choice([",", "\t", ";", "|", " ", ", ", "  "])).encode("utf-8", "surrogateescape")


TEXT = [
    flip_bit, drop_bytes, insert_bytes, truncate, encode_otherwise, change_lines, change_lines, change_cell,
    change_cell, change_cell, change_cell, change_columns, change_columns, change_separator,

]  # fmt: skip


def mutate_json(rng, content):
    """Return JSON after one change of its structure, or of its text."""
    if rng.random() < 0.3:
        return mutate_text(rng, content)
    found = json.loads(content)
    for _ in range(rng.choice((1, 1, 2))):
        places = list(_places(found))
        where, key = rng.choice(places)
        what = rng.randrange(6)
        if what == 0:
            del where[key]
        elif what == 1:
            where[key] = rng.choice(
                [None, True, [], {}, "", "0.5", 0, 1, -1, 2, 3, 1e308, 10**400, 0.5, -0.5, "x", "7", 7]
            )
        elif what == 2 and isinstance(where, list):
            where.append(copy.deepcopy(where[key]))
        elif what == 3 and isinstance(where, dict):
            where[rng.choice(["id", "quality", "3", "-2", "A", "$"])] = where.pop(key)
        elif what == 4 and isinstance(where, list):
            rng.shuffle(where)
        else:
            value = where[key]
            where[key] = [value] if rng.random() < 0.5 else {"A": value}
        if not list(_places(found)):
            break
    text = json.dumps(found, ensure_ascii=rng.random() < 0.5)
    extra = rng.random()
    if extra < 0.05:
        text = text.replace("0.5", rng.choice(["NaN", "Infinity", "1e400", "0.5e", "00.5"]), 1)
    elif extra < 0.08:
        depth = rng.choice((50, 900, 3000, 100_000))
        text = f'[{{"id": "deep", "quality": {"[" * depth + "]" * depth}}}]'
    return text.encode(), "structure"


def _places(found):
    keys = list(found) if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ()
    for key in keys:
        yield found, key
        if isinstance(found[key], (dict, list)):
            yield from _places(found[key])
