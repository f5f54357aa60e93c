"""A lesson: an example of a paper, a guess before the answer, why, and two changes to try. Every page has the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from metaeval.app.parts import EVEN, SIDES, plain
from metaeval.app.presets import Page, find_presets

OWN = "Your own numbers"

Fill = Callable[[dict[str, Any]], dict[str, str]]
"""Says what an example writes into the fields of a page."""


def open_lesson(page: Page, question: str, fill: Fill) -> tuple[dict[str, Any], DeltaGenerator, DeltaGenerator]:
    """Head the page and offer its lessons below the places of picture and steps, which are returned with the chosen one.

    There is none for numbers that an address brings along.
    """
    presets, key = find_presets(page), f"{page}_lesson"
    heading = st.container()
    picture, right = st.columns([3, 2], gap="large")
    steps = right.container()
    first = fill(next(iter(presets.values())))
    linked = any(name in st.query_params for name in first)
    _keep({key: OWN if linked else next(iter(presets))})

    def take() -> None:
        if st.session_state[key] in presets:
            _begin(page, fill, st.session_state[key])

    chosen = str(right.selectbox("Lesson", [*presets, OWN], key=key, on_change=take, bind="query-params"))
    lesson = presets.get(chosen, {})
    _keep(fill(lesson) if lesson else first)
    heading.title(f"{question} {chosen}" if lesson else question)
    if lesson:
        right.caption(plain(lesson["source"]))
    return lesson, picture, steps


def _keep(texts: dict[str, str]) -> None:
    """Fill fields that are empty as yet."""
    for name, text in texts.items():
        if name not in st.query_params:  # what stands in the address goes into its field by itself
            st.session_state.setdefault(name, text)
        # Sent anew each time: a browser that was asked twice before it drew once would take the field for empty.
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]


def _begin(page: Page, fill: Fill, name: str) -> None:
    lesson = find_presets(page)[name]
    st.session_state.update({**fill(lesson), f"{page}_lesson": name, f"{page}_guess": None, f"{page}_step": 0})


def find_preset(page: Page, fill: Fill) -> dict[str, Any]:
    """Return the example that the inputs show; nothing if they show none."""
    for preset in find_presets(page).values():
        if all(_squeeze(st.session_state.get(name)) == _squeeze(text) for name, text in fill(preset).items()):
            return preset
    return {}


def _squeeze(text: Any) -> str:
    return " ".join(str(text or "").split())


def show_steps(page: Page, lesson: dict[str, Any], names: tuple[str, str], sides: dict[str, str], fill: Fill) -> bool:
    """Show the steps of a lesson; return if the answer may be shown, not before a guess. `sides`: whom each judge prefers."""
    if not lesson:
        return True
    st.header("Three steps")
    options = (*names, EVEN)
    guess = st.segmented_control(
        "**1.** Look at the bars and guess.",
        range(3),
        format_func=lambda k: options[k],
        key=f"{page}_guess",
    )
    if guess is None:
        st.markdown("**2.** and **3.** follow when you have guessed.")
        return False
    agree = sum(side == SIDES[guess] for side in sides.values())
    st.markdown(f"✓ You said {plain(options[guess])}; {agree} of {len(sides)} agree. {plain(lesson['why'])}")
    done = st.session_state.get(f"{page}_step", 0)
    if done < 2 and all(sides.get(name) == side for name, side in lesson["steps"][done]["until"].items()):
        done += 1
        st.session_state[f"{page}_step"] = done
    for number, step in enumerate(lesson["steps"][: done + 1]):
        st.markdown(f"{'✓ ' * (number < done)}**{number + 2}.** {plain(step['say'])}")
    if done == 2:
        st.success("Lesson complete.")
        lessons = list(find_presets(page))
        following = lessons[(lessons.index(lesson["name"]) + 1) % len(lessons)]
        st.button(f"Next lesson: {plain(following)}", on_click=_begin, args=(page, fill, following), type="primary")
    st.button("Start again", on_click=_begin, args=(page, fill, lesson["name"]), type="tertiary")
    return True
