"""What the study asked beforehand, answered by its tables."""

from __future__ import annotations

from experiments.claims import Answer, claim, every, is_above, is_at_most
from experiments.page import Folder
from experiments.studies.calibration.designs import STUDY
from experiments.studies.calibration.rates import PAPERS_TEST, RECOMMENDED, TestRates, compute_rates, conclude


def find_rates(tables: Folder, test: str) -> TestRates:
    """Return what a test does in the domain of the checking half."""
    return next(one for one in conclude(compute_rates(tables.read("counts"))).checked if one.name == test)


def keeps_rate(rates: TestRates) -> Answer:
    """Tell whether a test holds in all cells."""
    return Answer(not rates.failed, (f"fails in {rates.failed} of {rates.cells} cells",))


@claim("asked here", "The randomised Tukey HSD test errs in at most 6.5 % of the studies of every kind in the domain.")
def tukey_holds(tables: Folder) -> Answer:
    """It holds in all checking cells of the domain, by the rule below."""
    return keeps_rate(find_rates(tables, PAPERS_TEST))


@claim(
    "asked here",
    "Bootstrap-t errs in at most 6.5 % of the studies of every kind in its domain, narrowed after failures.",
)
def bootstrap_t_holds(tables: Folder) -> Answer:
    """The same."""
    return keeps_rate(find_rates(tables, RECOMMENDED))


@claim("asked here", "Bootstrap-t finds more true differences than the randomised Tukey HSD test.")
def bootstrap_t_finds_more(tables: Folder) -> Answer:
    """The mean share of true differences found, over the checking cells with some, is larger."""
    ours, papers = (find_rates(tables, test).power for test in (RECOMMENDED, PAPERS_TEST))
    return Answer(ours > papers, (f"{100 * ours:.1f} %, the other {100 * papers:.1f} %",))


@claim(
    "asked here",
    "The ranking of measures by discriminative power changes more with the test than with halves of the topics, by the "
    "HSD test.",
)
def ranking_depends_on_the_test(tables: Folder) -> Answer:
    """Mean τ_b with the ranking by another test is below that of two halves of the topics (± two standard errors)."""
    means = tables.read("means").drop_duplicates("changed").set_index("changed")
    another, half = (means.loc[name] for name in (f"another test than {PAPERS_TEST}", STUDY["half"]))
    gap, reach = half["τ_b"] - another["τ_b"], 2 * (half["its error"] + another["its error"])
    return is_above("τ_b of halves less that of tests", gap, 0, gap - reach, gap + reach)


@claim("asked here", "The intervals of τ, coverage and power hold what they claim.")
def intervals_hold(tables: Folder) -> Answer:
    """In every cell the share that holds the true value is within the limits set beforehand."""
    (low, high), shares = STUDY["coverage"]["limits"], tables.read("coverage")["coverage"]
    smallest = is_above("smallest share", shares.min(), low - 1e-9)
    return every([smallest, is_at_most("largest share", shares.max(), high)])
