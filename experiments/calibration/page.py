"""The page of the study: which test when, the rates behind it, and how reliable rankings of measures are."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.calibration.steps import SOURCES
from experiments.calibration.study import STUDY
from experiments.outcome import Outcome
from experiments.page import format_list, join_parts, show_command, show_notes, show_picture, show_table, show_tables

PICTURES = {"tests": ("error", "power")}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/calibration/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    by_source = {name: Outcome("calibration", name) for name in SOURCES} | {one.source: one for one in outcomes}
    tests, rankings, intervals, predictions, agreements, exchanges = (by_source[name] for name in SOURCES)
    return join_parts(
        "calibration",
        "# Which test of all pairs of runs, and how reliable is what it says?",
        "How often does each test call runs different that are not, and how many true differences does it find? Scores are "
        "simulated, so that the truth is known: 22 runs (elsewhere 3 or 130) of equal means, or with some that differ, whose "
        "scores are of unlike spread, skewed, discrete or nearly identical; and scores like those of real collections (a "
        "Gaussian copula between the runs, each with its own distribution of scores, after Urbano and Nagler, SIGIR 2018). "
        "B = 1,000 where a test resamples; designs, numbers of studies and seeds were fixed beforehand "
        "(experiments/calibration/study.toml).",
        show_command(
            "calibration",
            "that repeats a few batches of studies. All of them, in about an hour: `python -m experiments.calibration`",
        ),
        show_notes(outcomes),
        tests.texts.get("progress", ""),
        "## Which test?",
        tests.texts.get("rule", ""),
        tests.texts.get("conclusion", ""),
        show_table(tests, "which"),
        show_picture(tests, "error", "Family-wise error of each test against the number of topics, one panel a design"),
        show_picture(tests, "power", "Power of each test over that of the randomised Tukey HSD test"),
        "## Test by test",
        tests.texts.get("tests", ""),
        format_list(f"{name}: `{_format_options(name)}`" for name in STUDY["tests"]) if tests.tables else "",
        show_table(tests, "summary"),
        "## How reliable is the ranking of measures by discriminative power?",
        rankings.texts.get("reliability", ""),
        *(show_table(rankings, name) for name in ("means", "changes", "powers")),
        "## Do intervals hold what they claim?" if intervals.tables else "",
        intervals.texts.get("intervals", ""),
        *(show_table(intervals, name) for name in ("summary", "coverage")),
        "## Do predictions come true?" if predictions.tables else "",
        predictions.texts.get("expected-tau", ""),
        show_table(predictions, "expected-tau"),
        "## Do intervals of other rank correlations and of designs hold?" if predictions.tables else "",
        *(
            part
            for name in ("correlations", "designs")
            for part in (predictions.texts.get(name, ""), show_table(predictions, name))
        ),
        "## Do intervals of agreement with a reference, and of judges against people, hold?"
        if agreements.tables
        else "",
        *(
            part
            for name in ("agreement", "judges")
            for part in (agreements.texts.get(name, ""), show_table(agreements, name))
        ),
        "## How often is a measure called better than an equally good one?" if exchanges.tables else "",
        exchanges.texts.get("rates", ""),
        show_table(exchanges, "rates"),
        "## All rates" if tests.tables else "",
        *(part for column in ("error", "power", "fdr") for part in show_tables(tests, f"{column}-")),
        *(show_table(tests, name) for name in ("rates", "counts")),
    )


def _format_options(test: str) -> str:
    """Return a test as it is called."""
    return ", ".join(f"{name}={value!r}" for name, value in STUDY["tests"][test]["options"].items())
