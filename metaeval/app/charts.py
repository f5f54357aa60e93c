"""Charts of the pages: drawn as in reports, in the colours of the visitor's theme."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from metaeval.show.charts import Chart, HeatMap
from metaeval.show.screen import STYLE, draw_chart, write_variables

_STYLE = f"""{STYLE}
.me-chart svg[role=img] {{ width: 100%; height: auto; max-width: 44rem }}
.me-chart .legend {{ list-style: none; display: flex; flex-wrap: wrap; gap: .2rem .8rem; padding: 0; margin: .2rem 0 }}
.me-chart .legend li {{ margin: 0; font-size: .88rem; overflow-wrap: anywhere }}
.me-chart .scroll {{ overflow-x: auto }}
.me-chart .heat {{ border-collapse: collapse; font-size: .85rem }} .me-chart .heat caption {{ text-align: left }}
.me-chart .heat :is(td, th) {{ padding: .2rem .4rem; text-align: center; font-variant-numeric: tabular-nums }}
@media (max-width: 640px) {{ .me-chart :is(.tick, .name) {{ font-size: 18px }} .me-chart .heat {{ font-size: .75rem }} }}
"""


# `st.html` takes out SVG, and a picture says nothing when it is pointed at. Names in the text that is shown are escaped.
_show = st.components.v2.component(
    "metaeval_chart",
    css=_STYLE,
    html='<div class="chart"></div>',
    js="export default ({ data, parentElement }) => { parentElement.querySelector('.chart').innerHTML = data.chart; };",
)


def show_chart(chart: Chart, description: str, *, width: float = 560) -> None:
    """Show a chart as wide as its container, with its legend; `description` is for those who cannot see it."""
    shown = chart if isinstance(chart, HeatMap) else replace(chart, description=description)
    drawn = draw_chart(shown, width)
    if not drawn:
        return
    if isinstance(chart, HeatMap):
        drawn = f'<div class="scroll" tabindex="0" role="region" aria-label="heat map">{drawn}</div>'
    theme = "dark" if st.context.theme.type == "dark" else "light"
    _show(data={"chart": f'<div class="me-chart" style="{write_variables(theme)}">{drawn}</div>'})
