"""One paper at a time: compute it, then write, render or check its results, and report in a line."""

from __future__ import annotations

import importlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from experiments.check import PAGE, adopt_committed, check_paper, is_covered
from experiments.comparison import count_best
from experiments.index import write_index
from experiments.outcome import Outcome, Settings
from metaeval.files import write_atomically

PAPERS = {
    "acl2021": "Sakai, ACL 2021: measures for ordinal classification and ordinal quantification",
    "lq2021": "Sakai, LQ 2021: a closer look at measures for ordinal quantification",
    "worked_examples": "examples that the papers work out by hand: they need no data",
    "amigo2020": "Amigó et al., ACL 2020: coverage, the synthetic study, formal properties of measures",
    "cardoso2011": "Cardoso and Sousa, 2011: measuring the performance of ordinal classification",
    "new_measure": "RNADW and RNOD with gold distances, left to future work by LQ 2021, beside the six measures",
    "alttest": "judges against people: the alternative annotator test and measures on five sets of labels",
    "wmt2023": "Freitag et al., WMT 2023: which metrics are right, and what can be seen without people",
    "trec": "AP, nDCG, ERR, P@k and RR on seven TREC collections",
    "ordinal_sets": "classifiers on the five ordinal sets that the package skordinal brings; needs no download",
    "coverage_references": "coverage of weighted κ, OCI and CEM under all reference sets",
    "constant_runs": "κ's consistency with runs that always answer one class, and without them",
    "flat_gold": "Popularity against Uniform as a function of the flatness of the gold",
    "test_and_ranking": "whether discriminative power's ranking of measures depends on the test",
    "calibration": "how often tests of all pairs of runs err, what they find, and how reliable rankings of measures are",
}


@dataclass
class Report:
    """What became of one paper.

    Parameters
    ----------
    paper : str
    counts : Counter
        Printed numbers by verdict, each number once.
    seconds : float
    page : str
        Which page to open, if there is one.
    remarks : list of str
        What is reduced or was left out.
    differences, unchecked : list of str
        With ``--check``.
    """

    paper: str
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    page: str = ""
    remarks: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def run_paper(
    paper: str, settings: Settings, out: Path, *, check: bool = False, render: Path | None = None
) -> tuple[Report, list[Outcome]]:
    """Compute one paper, and write, render or check its results.

    Parameters
    ----------
    paper : str
        One of `PAPERS`.
    settings : Settings
    out : Path
        The results folder.
    check : bool, optional
        Compare with the results, and write nothing.
    render : Path, optional
        Where every table and figure goes in all formats; results are then left alone.

    Returns
    -------
    report : Report
    outcomes : list of Outcome
    """
    began = time.perf_counter()
    steps, page = (importlib.import_module(f"experiments.{paper}.{part}") for part in ("steps", "page"))
    outcomes: list[Outcome] = steps.run(settings)
    # Where numbers may differ a little, the committed ones are counted, as on the page.
    cells = [adopt_committed(one, out).cells for one in outcomes]
    report = Report(paper, sum(count_best(cells).values(), Counter()))
    report.remarks = describe_gaps(outcomes, steps.SOURCES)
    if render is not None:
        for one in outcomes:
            one.render(render)
        report.page = str(render / paper)
    elif check:
        why = "--quick leaves it out" if settings.quick else "its data could not be had"
        found = check_paper(paper, outcomes, steps.SOURCES, page.write_page, page.PICTURES, out, why_missing=why)
        report.differences, report.unchecked = found.differences, found.unchecked
    else:
        write_results(paper, outcomes, steps.SOURCES, page, out)
    path = out / paper / PAGE
    if not report.page and path.exists():
        report.page = str(path)
    report.seconds = time.perf_counter() - began
    return report, outcomes


def write_results(paper: str, outcomes: Sequence[Outcome], sources: Sequence[str], page: object, out: Path) -> None:
    """Write the results of a paper: its CSV files, its page, and the pictures that the page shows.

    What was computed from less than what is there replaces nothing. Numbers within the stated tolerance of those
    that are there leave them as they are.

    Parameters
    ----------
    paper : str
    outcomes : sequence of Outcome
    sources : sequence of str
    page : module
        The paper's page, with ``write_page`` and ``PICTURES``.
    out : Path
    """
    from metaeval.show.drawing import save_figure

    adopted = [adopt_committed(one, out) for one in outcomes]
    written = [one for one in adopted if one.write(out)]
    if is_covered(outcomes, sources, out / paper):
        for one in written:
            for name in page.PICTURES.get(one.source, ()):  # type: ignore[attr-defined]
                if name in one.figures:
                    save_figure(one.figures[name](), out / one.name, name, suffixes=(".svg",))
        write_atomically(out / paper / PAGE, page.write_page(adopted))  # type: ignore[attr-defined]


def write_results_index(out: Path) -> str:
    """Return the text of the index of the results folder."""
    return write_index(out, PAPERS)


def describe_gaps(outcomes: Sequence[Outcome], sources: Sequence[str]) -> list[str]:
    """Say what is reduced, what was left out and what could not be had, one line each.

    Parameters
    ----------
    outcomes : sequence of Outcome
    sources : sequence of str

    Returns
    -------
    list of str
    """
    said = []
    there = {one.source for one in outcomes if not one.is_empty}
    missing = [source for source in sources if source and source not in there]
    if missing:
        said.append(f"nothing of {', '.join(missing)}")
    for one in outcomes:
        if one.reduced and not one.is_empty:
            said.append(f"{one.source}: {one.reduced}, not written; --full does all")
        elif one.lacks and not missing:
            first = one.lacks[0].partition(" (")[0]
            said.append(f"{one.source or 'all together'}: without {first}{' and others' * (len(one.lacks) > 1)}")
    return said
