"""Formulas of the documentation as pictures made by matplotlib: no script and no font has to come from elsewhere."""

from __future__ import annotations

import functools
import html
from typing import Any

_SIZE = 11.0  # points, as the text around
_COMMANDS = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}  # of matplotlib's paths, as SVG calls them


@functools.cache
def draw_formula(latex: str) -> tuple[str, float]:
    """Return a formula as an SVG element, whose text is the LaTeX, and how far it hangs below the line, in em."""
    from matplotlib import rc_context
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath, text_to_path

    with rc_context({"mathtext.fontset": "stix"}):
        font = FontProperties(size=_SIZE)
        path = TextPath((0, 0), f"${latex}$", prop=font)
        width, height, depth = text_to_path.get_text_width_height_descent(f"${latex}$", font, ismath=True)
    lines = []
    for vertices, code in path.iter_segments(curves=True, simplify=False):
        numbers = " ".join(f"{x:.2f} {-y:.2f}" for x, y in vertices.reshape(-1, 2))
        lines.append("Z" if code == 79 else f"{_COMMANDS[int(code)]}{numbers}")
    label, em = html.escape(latex, quote=True), 1 / _SIZE
    box = f"0 {depth - height - 0.5:.2f} {width + 0.5:.2f} {height + 1:.2f}"
    return (
        f'<svg class="formula" role="img" aria-label="{label}" viewBox="{box}" '
        f'style="width:{(width + 0.5) * em:.3f}em;height:{(height + 1) * em:.3f}em">'
        f'<path d="{"".join(lines)}" fill="currentColor"/></svg>',
        (depth + 0.5) * em,
    )


def visit_inline(translator: Any, node: Any) -> None:
    """Write a formula inside a line of text."""
    from docutils.nodes import SkipNode

    svg, depth = draw_formula(node.astext())
    translator.body.append(svg.replace('style="', f'style="vertical-align:{-depth:.3f}em;'))
    raise SkipNode


def visit_block(translator: Any, node: Any) -> None:
    r"""Write a formula that stands by itself; each line, up to a double backslash, is a picture."""
    from docutils.nodes import SkipNode

    text = node.astext().replace(r"\frac", r"\dfrac")  # in a line of its own there is room
    lines = [draw_formula(line.strip())[0] for line in text.split("\\\\") if line.strip()]
    translator.body.append(f'<div class="formulas" tabindex="0">{"<br>".join(lines)}</div>\n')
    raise SkipNode
