"""What Streamlit runs: the pages, one at a time; which one stands in the address, so that a link leads to it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from metaeval.app import candidates, your_scores
from metaeval.app.parts import STYLE, say_errors

PAGES = {name: partial(candidates.show, page) for name, page in candidates.PAGES.items()} | {
    "Your scores": your_scores.show
}

st.set_page_config(page_title="metaeval", layout="wide")
st.html(STYLE)
# Paths of their own for the pages would make the browser ask for what is not there before each.
page = st.segmented_control(
    "Page",
    list(PAGES),
    default="Two runs",
    required=True,
    key="page",
    bind="query-params",
    label_visibility="collapsed",
)
with say_errors():
    PAGES[str(page)]()
