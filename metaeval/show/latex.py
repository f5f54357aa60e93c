r"""Tables as LaTeX: escaped, with real scripts, a caption above, notes below, a label, and the packages that they need."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from metaeval.errors import one_line, visible
from metaeval.show.cells import Cells, has_words
from metaeval.show.colours import text_colour
from metaeval.show.fitting import LONGEST, SIZES, Fit, Layout, Part, Width, find_width, lay_out, list_groups
from metaeval.show.names import GREEK, to_latex

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}", "–": "--", "—": "---", "−": "$-$",
    "×": r"$\times$", "†": r"$\dagger$", "‡": r"$\ddagger$", "◇": r"$\diamondsuit$", "♡": r"$\heartsuit$",
    "♣": r"$\clubsuit$", "♠": r"$\spadesuit$", "♯": r"$\sharp$", "★": r"$\star$", "✓": r"$\surd$", "✗": r"$\times$",
    "∞": r"$\infty$", "√": r"$\surd$", "·": r"$\cdot$", "…": r"\dots{}", "’": "'", "‘": "`", "“": "``", "”": "''",
    "≥": r"$\geq$", "≤": r"$\leq$", "≠": r"$\neq$", "≈": r"$\approx$", "±": r"$\pm$", "→": r"$\to$", "∈": r"$\in$",
    "°": r"$^\circ$", "²": "$^2$", "§": r"\S{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "\n": " ", "\u00a0": "~", **{letter: f"${command}$" for letter, command in GREEK.items()},
}  # fmt: skip
_BREAKS = frozenset("-_/@.,:;=|)")
_SENTENCE = re.compile(r"(?<=\.) (?=[^a-z0-9])")
_LONG = 100  # characters of a sentence whose second half, after a colon, goes below the table


def write_table(
    tables: tuple[Cells, Cells], caption: str, signature: str, label: str, bands: Mapping[str, str], width: Width
) -> str:
    """Return a table, or where it is too wide the one with fewer decimals, as LaTeX that fits a column or a page.

    The first sentence of the caption stands above, what follows it and the signature below. A comment names the packages.
    """
    caption, legend = split_caption(caption)
    notes = [note for note in (legend, signature) if note]
    layout = lay_out(*tables, width, caption, notes)
    count = len(layout.parts)
    texts = []
    for number, part in enumerate(layout.parts, start=1):
        own = f"{caption.rstrip('.')} ({number} of {count})." if count > 1 else caption
        below = notes if number == count else notes[:-1]
        texts.append(_write_float(part, layout, own, below, label if number == 1 else f"{label}-part-{number}", bands))
    text = "\n".join(texts)
    return f"% Preamble: {' '.join(_find_packages(text))}\n{text}"


def split_caption(text: str) -> tuple[str, str]:
    """Return what stands above a table, one short sentence, and the rest, which stands below it.

    >>> split_caption("Agreement with MQM. Bold: no other measure is better.")
    ('Agreement with MQM.', 'Bold: no other measure is better.')
    """
    first, *others = _SENTENCE.split(one_line(text), maxsplit=1)
    head, colon, rest = first.partition(": ")
    if len(first) <= _LONG or not colon:
        return first, " ".join(others)
    return f"{head}.", " ".join([rest[:1].upper() + rest[1:], *others])


def _write_float(
    part: Part, layout: Layout, caption: str, notes: Sequence[str], label: str, bands: Mapping[str, str]
) -> str:
    environment = "table*" if layout.width == "page" else "table"
    size = f"\\{layout.fit.size}\\setlength{{\\tabcolsep}}{{{layout.fit.space:g}pt}}"
    paragraphs = "".join(f"{escape(note, breaks=True)}\\par\n" for note in notes)
    lines = [
        f"\\begin{{{environment}}}",
        "\\centering",
        f"\\caption{{{escape(caption, breaks=True)}}}\\label{{{label}}}",
        f"{{{size}%\n{_write_body(part, layout.fit, bands)}}}",
        f"\\par\\smallskip{{\\raggedright\\scriptsize {paragraphs}}}",
        f"\\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"


def _find_packages(text: str) -> list[str]:
    needed = {
        r"\toprule": r"\usepackage{booktabs}",
        r"\cellcolor": r"\usepackage[table]{xcolor}",
        r"\arraybackslash": r"\usepackage{array}",
        r"\rotatebox": r"\usepackage{graphicx}",
    }
    packages = [package for command, package in needed.items() if command in text]
    return packages + [r"\usepackage[T1]{fontenc}"] * (not text.isascii())


def escape(text: str, *, breaks: bool = False) -> str:
    r"""Return a text as LaTeX that shows it, with the scripts of names as scripts.

    >>> print(escape("50 % of CEM^ORD & α_1"))
    50 \% of CEM\textsuperscript{ORD} \& $\alpha$\_1
    """
    return to_latex(visible(text), lambda plain: _escape_plain(plain, breaks))


def _escape_plain(text: str, breaks: bool) -> str:
    text = re.sub(r"(?<=-)-", "\u200b-", text)  # two hyphens are two hyphens, and no dash
    parts, length = [], 0
    for position, character in enumerate(text):
        if character == "\u200b":
            parts.append("{}")
            continue
        parts.append(_SPECIAL.get(character) or _spell(character))
        length = 0 if character == " " else length + 1
        inside = position + 1 < len(text) and text[position + 1] != " "
        if breaks and inside and (length >= LONGEST or (character in _BREAKS and length > 3)):
            parts.append(r"\allowbreak{}")
            length = 0
    return "".join(parts)


def _spell(character: str) -> str:
    """Return a letter that pdfLaTeX has, and of others what it shows in their place; LuaLaTeX and XeLaTeX have them."""
    if character.isascii() or "\u00c0" <= character <= "\u017f":
        return character
    return f"\\ifdefined\\Umathchar {character}\\else[U+{ord(character):04X}]\\fi{{}}"


def _write_body(part: Part, fit: Fit, bands: Mapping[str, str]) -> str:
    cells, wide = part.cells, part.wrapped
    columns = "".join(
        f">{{\\raggedright\\arraybackslash}}p{{{wide[column]:.1f}pt}}" if column in wide else "l" if left else "r"
        for column, left in enumerate(cells.left)
    )
    lines = [f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}", "\\toprule", *_write_groups(cells)]
    heads = [_write_heading(part, column, fit) for column in range(len(cells.head))]
    lines += [" & ".join(heads) + r" \\", "\\midrule"]
    for r, row in enumerate(cells.rows):
        shown = [_write_cell(text, cells.list_marks(r, c), bands, c in wide) for c, text in enumerate(row)]
        lines.append(_guard(" & ".join(shown)) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def _guard(line: str) -> str:
    """Return a line that may follow the end of another, or a rule, which would read a bracket or a star as an option."""
    return f"{{}}{line}" if line[:1] in ("[", "*") else line


def _write_groups(cells: Cells) -> list[str]:
    """Write the upper labels of columns that have several, each above all columns that share it."""
    lines = []
    for level, groups in itertools.groupby(list_groups(cells), key=lambda group: group[0]):
        parts, rules = [], []
        for _, start, end in groups:
            text = escape(cells.head[start][level])
            parts.append(f"\\multicolumn{{{end - start + 1}}}{{c}}{{{text}}}" if end > start else text)
            rules += [f"\\cmidrule(lr){{{start + 1}-{end + 1}}}"] * (end > start)
        lines.append(" & ".join(parts) + r" \\" + (f" {' '.join(rules)}" if rules else ""))
    return lines


def _write_heading(part: Part, column: int, fit: Fit) -> str:
    """Write a heading that is wider than its column upright, or in several lines."""
    text, width = part.cells.head[column][-1], part.widths[column] / SIZES[fit.size]
    words = text.split()
    if column in part.wrapped or find_width(text) <= width:
        return escape(text, breaks=column in part.wrapped)
    if fit.upright and column and max(map(find_width, words), default=0) > width:
        return f"\\rotatebox{{90}}{{{escape(text)}}}"
    stacked = r"\\".join(_guard(escape(line)) for line in _fill(words, width))
    return f"\\shortstack[{'l' if part.cells.left[column] else 'r'}]{{{stacked}}}" if len(words) > 1 else escape(text)


def _fill(words: Sequence[str], width: float) -> list[str]:
    """Return words in lines as long as a width permits, or as the longest word is."""
    width = max(width, *(find_width(word) for word in words))
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        lines[-1:] = [longer] if find_width(longer) <= width else [lines[-1], word]
    return lines


def _write_cell(text: str, marks: Sequence[str], bands: Mapping[str, str], breaks: bool) -> str:
    if not has_words(text):  # what stands before a number is a minus, no hyphen
        text = re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)
    if "underline" in marks:  # no line may break within what is underlined
        shown = " ".join(f"\\underline{{{escape(word)}}}" for word in text.split())
    else:
        shown = escape(text, breaks=breaks)
    shown = f"\\textbf{{{shown}}}" if "bold" in marks else shown
    for mark in marks:
        kind, _, value = mark.partition(" ")
        if kind == "band":
            shown = f"\\cellcolor[HTML]{{{bands[value]}}}{shown}"
        if kind == "shade":
            ink = text_colour(value)
            shown = shown if ink == "#000000" else f"\\textcolor[HTML]{{{ink[1:]}}}{{{shown}}}"
            shown = f"\\cellcolor[HTML]{{{value[1:]}}}{shown}"
    return shown
