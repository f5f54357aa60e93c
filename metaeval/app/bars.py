"""Bars that can be changed directly, by dragging or with the arrow keys: the picture with which a page opens."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st

from metaeval.show.looks import write_variables

Values = list[list[list[float]]]
"""What the bars show: by panel, row and class."""

GOLD, FIRST, SECOND = 9, 0, 1
"""Colours of charts: grey for gold, the same two for the two candidates everywhere."""

HOW_TO = "Drag the top of a bar, or use the arrow keys: what it gains, the largest other bar loses."

_STYLE = """
.bars { color: var(--ink); font-size: .85rem; user-select: none }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; margin: 0 0 .4rem }
.legend li::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .35em;
  background: var(--bar) }
.panels { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, var(--width)), 1fr)) }
.title, .name { margin: 0; overflow-wrap: anywhere } .title { font-weight: 600 }
.plot { display: flex } .class { flex: 1 1 0; min-width: 0; padding: 0 2px; text-align: center }
.right { background: color-mix(in srgb, var(--ink) 9%, transparent); border-radius: 4px }
.slots { display: flex; gap: 2px; height: 7.5rem; padding-top: 1.4rem; border-bottom: 1px solid var(--faint) }
.slot { flex: 1 1 0; min-width: 0; position: relative; cursor: ns-resize; border-radius: 3px }
.slot:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px }
.fill { position: absolute; inset: auto 0 0; height: var(--height); min-height: 2px; background: var(--bar) }
.number { position: absolute; left: 50%; bottom: var(--height); transform: translateX(-50%); padding: .1rem .25rem;
  touch-action: none; font-variant-numeric: tabular-nums; font-size: .8rem; z-index: 1 }
.name { display: block; line-height: 1.2; padding: .15rem 0; font-size: .8rem }
.s0 { --bar: var(--c0) } .s1 { --bar: var(--c1) } .s9 { --bar: var(--c9) }
@media (pointer: coarse) { .number { padding: .6rem .5rem .1rem; min-width: 1.5rem; box-sizing: border-box } }
"""

_show = st.components.v2.component(
    "metaeval_bars",
    css=_STYLE,
    html='<div class="bars"></div>',
    js=Path(__file__).with_name("bars.js").read_text(encoding="utf-8"),
)


def show_bars(
    key: str,
    values: Values,
    panels: Sequence[str],
    series: Sequence[str],
    classes: Sequence[str],
    write: Callable[[Values], dict[str, str]],
    *,
    colours: Sequence[int] = (FIRST, SECOND),
    fixed: bool = True,
    step: float = 1,
    right: bool = False,
) -> None:
    """Show bars; `write` says what goes into the fields of the page when one is changed.

    `fixed`: the bars of a row keep their sum. `right`: panel k is of gold class k, whose right prediction is marked.
    """
    theme = "dark" if st.context.theme.type == "dark" else "light"
    data: dict[str, Any] = {
        "values": values,
        "panels": list(panels),
        "series": list(series),
        "classes": list(classes),
        "colours": list(colours),
        "fixed": fixed,
        "step": step,
        "digits": 0 if step == 1 else 4,
        "right": right,
        "style": write_variables(theme),
    }
    # As text: among lists Streamlit would look for tables, with all of pandas.
    _show(key=key, data={"bars": json.dumps(data)}, on_edit_change=lambda: take_edit(key, write))


def take_edit(key: str, write: Callable[[Values], dict[str, str]]) -> None:
    """Write what has been sent into the fields, which say what is wrong with it."""
    with suppress(TypeError, ValueError, IndexError):  # what a browser sends is any text
        sent = [[[float(value) for value in row] for row in panel] for panel in st.session_state[key]["edit"]]
        st.session_state.update(write(sent))
