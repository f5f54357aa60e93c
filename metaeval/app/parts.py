"""What the pages share: tables that hold text as text, and errors in a sentence."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from metaeval.errors import MetaevalError, shorten, visible
from metaeval.show.charts import Chart
from metaeval.show.looks import write_variables

SIDES = ("first", "second", "tie")
EVEN = "a tie"
"""What pages call it when neither candidate is better."""

STYLE = """<style>
.stMainBlockContainer{padding-top:3.5rem}
.me-wide{overflow-x:auto;margin:0 0 .6rem}
.me-wide table{border-collapse:collapse;font-size:.9rem}
.me-caption{font-size:.9rem;margin:.2rem 0 .3rem;max-width:44rem}
.stHeading h1{font-size:2rem;text-wrap:balance}
.stHeading h2{font-size:1.35rem;padding-top:.4rem}
.me-sides{display:grid;grid-template-columns:repeat(3,1fr);gap:.6rem;font-size:.9rem}
.me-sides div{border-left:4px solid rgba(128,128,128,.6);padding-left:.6rem;overflow-wrap:anywhere}
[data-testid="stCaptionContainer"],[data-testid="stCaptionContainer"] p{color:inherit!important;opacity:1!important}
.me-wide th,.me-wide td{padding:.2rem .6rem;border-bottom:1px solid rgba(128,128,128,.35);text-align:left}
.me-wide th,.me-wide td{white-space:nowrap}
.me-wide td.long{white-space:normal;min-width:13rem}
.me-wide td.n,.me-wide th.n{text-align:right;font-variant-numeric:tabular-nums}
.me-sides span{display:block}
.me-sides .first{border-color:#2b86d9}
.me-sides .second{border-color:#d9661a}
@media (max-width:640px){
.stHeading h1{font-size:1.6rem}
.me-sides span{display:none}
[data-testid="stButtonGroup"] button{padding-left:.4rem;padding-right:.4rem}
[data-testid="stButtonGroup"] button *{font-size:.78rem}
.me-wide table{font-size:.75rem}
.me-wide th,.me-wide td{padding:.2rem .22rem}
.me-wide th,.me-wide td:not(.n){white-space:normal}
.me-wide th:first-child,.me-wide td:first-child{overflow-wrap:anywhere;min-width:4rem}
.me-wide td.long{min-width:9rem}
}
</style>"""

LONG = 30
"""Letters of a cell of words from which on its line may be broken."""


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, *, text: int = 1) -> None:
    """Show a table, whose first columns are words; whatever stands in it is text and never markup."""
    kinds = ["" if column < text else "n" for column in range(len(head))]
    top = "".join(f'<th scope="col" class="{kind}">{escape(cell)}</th>' for kind, cell in zip(kinds, head, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{kind or "long" * (len(cell) > LONG)}">{escape(cell)}</td>'
            for kind, cell in zip(kinds, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    st.html(
        # Outside the table, so that it is neither squeezed by a narrow one nor cut off with a wide one.
        f'<p class="me-caption">{escape(caption)}</p><div class="me-wide" tabindex="0" role="region" '
        f'aria-label="{escape(caption)}"><table aria-label="{escape(caption)}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def escape(text: str) -> str:
    """Return text as HTML that shows it."""
    return html.escape(visible(text))


def plain(text: str) -> str:
    r"""Return text as Markdown that shows it: names from data make no link, picture or heading.

    >>> print(plain("![a](http://b)"))
    \!\[a\]\(http\:\/\/b\)
    """
    return "".join(f"\\{letter}" if letter in _MARKS else letter for letter in visible(text))


_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@contextmanager
def say_errors(name: Callable[[str], str] = str) -> Iterator[None]:
    """Show what is wrong in a sentence, and leave out what depends on it."""
    try:
        yield
    except MetaevalError as error:
        st.error(plain(name(str(error))))
    except MemoryError:
        st.error("There is not enough memory for data of this size.")
    except Exception as error:
        if os.environ.get("METAEVAL_DEBUG"):
            raise
        message = shorten(f"This is a bug of metaeval: {type(error).__name__}: {error}")
        st.error(plain(f"{name(message)} (metaeval app under METAEVAL_DEBUG=1 shows where)"))


def show_part(label: str, key: str, draw: Callable[[], None]) -> None:
    """Offer what is on demand only: it is drawn when somebody has opened it, so that nothing is computed before."""
    with st.expander(label, key=key, on_change="rerun") as part:
        if part.open:
            draw()


_CHART = """
svg[role=img] { width: 100%; height: auto; max-width: 44rem } svg[role=img] text { fill: var(--ink) }
.me-chart { overflow-x: auto } .me-chart caption { text-align: left }
.me-chart table { border-collapse: collapse; font-size: .85rem }
.me-chart :is(td, th) { padding: .2rem .4rem; text-align: center; font-variant-numeric: tabular-nums }
"""

# `st.html` takes out SVG, and a picture says nothing when it is pointed at. Names in the text that is shown are escaped.
_show = st.components.v2.component(
    "metaeval_chart",
    css=_CHART,
    html='<div class="chart"></div>',
    js="export default ({ data, parentElement }) => { parentElement.querySelector('.chart').innerHTML = data.chart; };",
)


def show_chart(chart: Chart, *, width: float = 560) -> None:
    """Show a chart as reports have it, as wide as its container and in the colours of the visitor's theme."""
    from metaeval.show.screen import draw_chart

    theme = "dark" if st.context.theme.type == "dark" else "light"
    style = f'class="me-chart" tabindex="0" role="region" aria-label="chart" style="{write_variables(theme)}"'
    _show(data={"chart": f"<div {style}>{draw_chart(chart, width)}</div>"})
