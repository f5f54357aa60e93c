r"""Tables as LaTeX: escaped, with real scripts, a label, and variants that fit a column or a page of a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from metaeval.errors import visible
from metaeval.show.cells import Cells
from metaeval.show.colours import text_colour
from metaeval.show.names import GREEK, spell_parameters, to_latex

Width = Literal["column", "page"] | None
"""What a table fits: a column or both columns of a paper (7.7 and 16 cm), or nothing."""

WIDTHS = {"column": 219.0, "page": 455.0}
"""In points."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}", "–": "--", "—": "---", "−": "$-$",
    "×": r"$\times$", "†": r"$\dagger$", "‡": r"$\ddagger$", "◇": r"$\diamondsuit$", "♡": r"$\heartsuit$",
    "♣": r"$\clubsuit$", "♠": r"$\spadesuit$", "♯": r"$\sharp$", "★": r"$\star$", "✓": r"$\surd$", "✗": r"$\times$",
    "∞": r"$\infty$", "√": r"$\surd$", "·": r"$\cdot$", "…": r"\dots{}", "’": "'", "‘": "`", "“": "``", "”": "''",
    "≥": r"$\geq$", "≤": r"$\leq$", "≠": r"$\neq$", "≈": r"$\approx$", "±": r"$\pm$", "→": r"$\to$", "∈": r"$\in$",
    "°": r"$^\circ$", "§": r"\S{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ",
    "\u00a0": "~", **{letter: f"${command}$" for letter, command in GREEK.items()},
}  # fmt: skip
_BREAKS = frozenset("-_/@.,:;=|)")
_LONGEST = 14  # characters of a word after which a line may break anywhere

_UPPER = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (
    750, 708, 722, 764, 681, 653, 785, 750, 361, 514, 778, 625, 917, 750, 778, 681, 778, 736, 556, 722, 750, 750, 1028,
    750, 750, 611), strict=True))  # fmt: skip
_LOWER = dict(zip("abcdefghijklmnopqrstuvwxyz", (
    500, 556, 444, 556, 444, 306, 500, 556, 278, 306, 528, 278, 833, 556, 500, 556, 528, 392, 394, 389, 556, 528, 722,
    528, 528, 444), strict=True))  # fmt: skip
_OTHER = dict.fromkeys("0123456789–*/$", 500) | dict.fromkeys(".,:;|!'", 278) | {"-": 333, " ": 333, "(": 389, ")": 389}
_LETTERS = {**_UPPER, **_LOWER, **_OTHER}
"""Widths of the letters of Computer Modern, in thousandths of its size."""

# Small sizes of Computer Modern are wider than large ones that are made smaller.
_SIZES = {"small": 9 * 1.03, "footnotesize": 8 * 1.07, "scriptsize": 7 * 1.15}


@dataclass(frozen=True)
class _Fit:
    """How a table is made to fit: size of the letters, space between columns, and what is done to its cells."""

    size: str = ""
    space: float = 6
    short: bool = False  # one decimal less, and no 0 before the point
    upright: bool = False  # headings that are wider than their columns stand upright
    wrapped: bool = False  # words in columns of text break
    scaled: bool = False


_FITS = (
    _Fit("small", 4),
    _Fit("footnotesize", 3),
    _Fit("footnotesize", 3, short=True),
    _Fit("footnotesize", 3, short=True, wrapped=True),
    _Fit("scriptsize", 2.5, short=True, wrapped=True),
    _Fit("footnotesize", 2.5, short=True, wrapped=True, upright=True),
    _Fit("scriptsize", 2, short=True, wrapped=True, upright=True),
)


def write_table(
    cells: Cells, caption: str, signature: str, label: str, bands: Mapping[str, str], width: Width = None
) -> str:
    """Return a table as LaTeX, below a comment with the packages that it needs."""
    fit = _Fit() if width is None else _find_fit(cells, WIDTHS[width])
    shown = _shorten(cells) if fit.short else cells
    widths = _measure(shown, fit)
    body = _write_body(shown, fit, widths, bands, 0 if width is None else WIDTHS[width])
    if fit.scaled:
        target = r"\columnwidth" if width == "column" else r"\textwidth"
        body = f"\\begin{{adjustbox}}{{max width={target}}}\n{body}\\end{{adjustbox}}\n"
    environment = "table*" if width == "page" else "table"
    if fit.size:
        body = f"{{\\{fit.size}\\setlength{{\\tabcolsep}}{{{fit.space:g}pt}}%\n{body}}}"
    note = f"\\par\\smallskip{{\\raggedright\\scriptsize {escape(signature, breaks=True)}\\par}}"
    parts = [
        f"\\begin{{{environment}}}", "\\centering", f"\\caption{{{escape(caption, breaks=True)}}}\\label{{{label}}}",
        body.rstrip("\n"), note, f"\\end{{{environment}}}",
    ]  # fmt: skip
    text = "\n".join(parts) + "\n"
    return f"% Preamble: {' '.join(_find_packages(text))}\n{text}"


def _find_packages(text: str) -> list[str]:
    needed = {
        r"\toprule": r"\usepackage{booktabs}",
        r"\cellcolor": r"\usepackage[table]{xcolor}",
        r"\arraybackslash": r"\usepackage{array}",
        r"\begin{adjustbox}": r"\usepackage{adjustbox}",
        r"\rotatebox": r"\usepackage{graphicx}",
    }
    packages = [package for command, package in needed.items() if command in text]
    return packages + [r"\usepackage[T1]{fontenc}"] * (not text.isascii())


def escape(text: str, *, breaks: bool = False) -> str:
    r"""Return a text as LaTeX that shows it, with the scripts of names as scripts.

    Examples
    --------
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
        if breaks and inside and (length >= _LONGEST or (character in _BREAKS and length > 3)):
            parts.append(r"\allowbreak{}")
            length = 0
    return "".join(parts)


def _spell(character: str) -> str:
    """Return a letter that pdfLaTeX has, and of others what it shows in their place; LuaLaTeX and XeLaTeX have them."""
    if character.isascii() or "\u00c0" <= character <= "\u017f":
        return character
    return f"\\ifdefined\\Umathchar {character}\\else[U+{ord(character):04X}]\\fi{{}}"


def _find_width(text: str) -> float:
    """Return about how wide a text is, in sizes of its letters."""
    wide = 445 if re.match(r"-[\d.]", text) else 0  # a minus, not a hyphen
    return (wide + sum(_LETTERS.get(letter, 780) for letter in spell_parameters(visible(text)))) / 1000


def _find_fit(cells: Cells, width: float) -> _Fit:
    for fit in _FITS:
        shown = _shorten(cells) if fit.short else cells
        if _sum(_measure(shown, fit), shown, fit) <= 0.97 * width:
            return fit
    return replace(_FITS[-1], scaled=True)


def _sum(widths: Sequence[float], cells: Cells, fit: _Fit) -> float:
    """Return the least width of a table in points: columns of text that may break need room for a word only."""
    least = [
        min(width, _find_least(cells, column, fit)) if fit.wrapped and left and column else width
        for column, (width, left) in enumerate(zip(widths, cells.left, strict=True))
    ]
    return sum(least) + 2 * fit.space * (len(widths) - 1)


def _find_least(cells: Cells, column: int, fit: _Fit) -> float:
    """Return the width of the longest word of a column of text, as far as no line may break in it."""
    texts = [cells.head[column][-1], *(row[column] for row in cells.rows)]
    return (
        1.04
        * _SIZES[fit.size]
        * max((_find_width(word[:_LONGEST]) for text in texts for word in text.split()), default=1)
    )


def _measure(cells: Cells, fit: _Fit) -> list[float]:
    """Return the width of every column in points, with headings broken at their spaces."""
    size = _SIZES.get(fit.size, 10.0)
    widths = []
    for column, labels in enumerate(cells.head):
        inside = max((_find_width(row[column]) for row in cells.rows), default=0)
        bold = any("bold" in row[column] for row in cells.marks)
        heading = max(_find_width(word) for word in (labels[-1].split() or [""]))
        widths.append(
            size * max(inside * (1.15 if bold else 1), min(heading, 1.0) if fit.upright and column else heading)
        )
    return widths


def _shorten(cells: Cells) -> Cells:
    """Return numbers with one decimal less if they have three or more, and without the 0 before the point."""

    def short(text: str) -> str:
        if not re.fullmatch(r"[-−]?\d+\.\d+", text):
            return text
        decimals = len(text.partition(".")[2])
        number = f"{float(text.replace('−', '-')):.{decimals - 1 if decimals > 2 else decimals}f}"
        return re.sub(r"^(-?)0\.", r"\1.", number)

    return replace(cells, rows=[[short(text) for text in row] for row in cells.rows])


def _write_body(cells: Cells, fit: _Fit, widths: Sequence[float], bands: Mapping[str, str], width: float) -> str:
    wide = _share(cells, fit, widths, width) if fit.wrapped else {}
    columns = "".join(
        f">{{\\raggedright\\arraybackslash}}p{{{wide[column]:.1f}pt}}" if column in wide else "l" if left else "r"
        for column, left in enumerate(cells.left)
    )
    edge = "@{}" if fit.size else ""
    lines = [f"\\begin{{tabular}}{{{edge}{columns}{edge}}}", "\\toprule"]
    lines += _write_groups(cells)
    heads = [_write_heading(cells, column, fit, widths, column in wide) for column in range(len(cells.head))]
    lines += [" & ".join(heads) + r" \\", "\\midrule"]
    for r, row in enumerate(cells.rows):
        shown = [_write_cell(text, cells.list_marks(r, c), bands, c in wide) for c, text in enumerate(row)]
        # A bracket or a star after the end of a row, or after a rule, would be read as an option of it.
        guard = "{}" if shown[0][:1] in ("[", "*") else ""
        lines.append(guard + " & ".join(shown) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def _share(cells: Cells, fit: _Fit, widths: Sequence[float], width: float) -> dict[int, float]:
    """Return how wide each column of text becomes that is too long for one line."""
    least = {column: _find_least(cells, column, fit) for column in range(1, len(widths)) if cells.left[column]}
    broken = {column: widths[column] for column, limit in least.items() if widths[column] > limit}
    rest = 0.97 * width - 2 * fit.space * (len(widths) - 1)
    rest -= sum(width_needed for column, width_needed in enumerate(widths) if column not in broken)
    if sum(broken.values()) <= rest:
        return {}
    return {
        column: max(least[column], rest * width_needed / sum(broken.values()))
        for column, width_needed in broken.items()
    }


def _write_groups(cells: Cells) -> list[str]:
    """Write the upper labels of columns that have several, each above all columns that share it."""
    depth = len(cells.head[0])
    lines = []
    for level in range(depth - 1):
        parts, rules, start = [], [], 0
        labels = [column[: level + 1] for column in cells.head]
        while start < len(labels):
            end = start
            while end + 1 < len(labels) and labels[end + 1] == labels[start] and labels[start][-1]:
                end += 1
            text = escape(labels[start][-1])
            if end > start:
                parts.append(f"\\multicolumn{{{end - start + 1}}}{{c}}{{{text}}}")
                rules.append(f"\\cmidrule(lr){{{start + 1}-{end + 1}}}")
            else:
                parts.append(text)
            start = end + 1
        lines.append(" & ".join(parts) + r" \\" + (f" {' '.join(rules)}" if rules else ""))
    return lines


def _write_heading(cells: Cells, column: int, fit: _Fit, widths: Sequence[float], breaks: bool) -> str:
    text = cells.head[column][-1]
    words = text.split()
    if fit.size and fit.upright and column and _find_width(text) * _SIZES[fit.size] > widths[column]:
        return f"\\rotatebox{{90}}{{{escape(text)}}}"
    if fit.size and len(words) > 1 and _find_width(text) * _SIZES[fit.size] > widths[column] and not breaks:
        stacked = r"\\".join(escape(line) for line in _fill(words, widths[column] / _SIZES[fit.size]))
        return f"\\shortstack[{'l' if cells.left[column] else 'r'}]{{{stacked}}}"
    return escape(text, breaks=breaks)


def _fill(words: Sequence[str], width: float) -> list[str]:
    """Return words in lines as long as a width permits, or as the longest word is."""
    width = max(width, *(_find_width(word) for word in words))
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        lines[-1:] = [longer] if _find_width(longer) <= width else [lines[-1], word]
    return lines


def _write_cell(text: str, marks: Sequence[str], bands: Mapping[str, str], breaks: bool) -> str:
    if re.match(r"-[\d.]", text):
        shown = f"$-${escape(text[1:])}"
    elif "underline" in marks:  # no line may break within what is underlined
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
