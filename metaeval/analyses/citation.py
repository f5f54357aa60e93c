"""What to cite: the papers behind measures, analyses, tests and data sets, as BibTeX."""

from __future__ import annotations

from metaeval.datasets.registry import datasets
from metaeval.errors import MetaevalError, one_line, suggest_names
from metaeval.measures.base import Measure, find_registered
from metaeval.measures.registry import measures
from metaeval.show.bibliography import find_labels, format_bibtex, list_labels

SOURCES: dict[str, str] = {
    "metaeval": "metaeval",
    "agreement": "Kocmi et al. 2021; Deutsch et al. 2023; Deutsch et al. 2021; Thompson et al. 2024; Freitag et al. 2023",
    "alternative_annotator_test": "Calderon et al. 2025; Benjamini and Yekutieli 2001",
    "baseline_preference": "LQ 2021, §5.3",
    "board_ranks": "Mogstad et al. 2024; Romano and Wolf 2005; Schäfer and Strimmer 2005; Hsu 1984; Piepho 2004",
    "compare": "Sakai 2021, Tables 4 and 7; LQ 2021",
    "corrected_scores": "Angelopoulos et al. 2023; Angelopoulos Duchi and Zrnic 2023",
    "coverage": "Amigó et al. 2020, §5.1; Amigó et al. 2011",
    "discriminative_power": "Sakai 2006; Sakai 2021, §5.3",
    "pooled_discriminative_power": "LQ 2021, Eq. 9",
    "properties": "Amigó et al. 2020, §4.1; Sakai 2021, Tables 4 and 7",
    "compare_qrels": "Voorhees 2000",
    "ranking_similarity": "Kendall 1938; Sakai 2021, §5.1",
    "reference_pairs": "Clopper and Pearson 1934",
    "robustness": "Amigó et al. 2020, §5.4",
    "run_ranks": "Hsu 1984; Piepho 2004; Clopper and Pearson 1934",
    "sample_size": "Sakai 2021, §5.2",
    "calibrate_tests": "Urbano and Nagler 2018",
    "significance_contradictions": "LQ 2021, §5.2",
    "significance_overlap": "LQ 2021, §5.2",
    "split_half_consistency": "Sakai 2021, §5.2",
    "topic_set_size": "Sakai 2016; Sakai 2018, Part 6; Bodoff and Li 2007; Urbano et al. 2013",
    "variance_components": "Brennan 2001; Bodoff and Li 2007; Urbano et al. 2013",
    "randomised-tukey-hsd": "Carterette 2012; Sakai 2012; Sakai 2018",
    "max-t": "Westfall and Young 1993; Romano and Wolf 2005",
    "bootstrap-t": "Romano and Wolf 2005; Tusher et al. 2001",
    "paired-bootstrap": "Sakai 2006",
    "tau_a": "Kendall 1938",
    "tau_b": "Kendall 1945",
    "tau_ap": "Yilmaz et al. 2008; Urbano and Marrero 2017",
    "tau_ap_b": "Urbano and Marrero 2017",
    "tau_gap": "Gao and Oard 2015",
}
"""Where analyses are from, by the names of their functions, and tests and rank correlations, by the values that choose them."""


def cite(*names: str | Measure) -> str:
    """What is to be cited for measures, analyses, tests and data sets?

    Parameters
    ----------
    *names : str or Measure
        Names such as ``"NMD"``, ``"discriminative_power"``, ``"max-t"`` or ``"stc3-dq-a"``. Without any: metaeval itself.
        What comes is BibTeX in UTF-8, below comments that say what each name refers to.

    Examples
    --------
    >>> print(cite("JSD"))
    % JSD: Lin 1991; Sakai 2021, Eqs. 18–19
    <BLANKLINE>
    @article{lin-1991-divergence,
    ...
    """
    sources: dict[str, str] = {}
    for name in names or ("metaeval",):
        text = str(name)
        keys = (text.partition("@")[0], text.replace("-", "_"))
        found = {} if isinstance(name, Measure) else {key: SOURCES[key] for key in keys if key in SOURCES}
        found |= {entry.name: "; ".join(list_labels(entry.credits)) for entry in datasets() if entry.name == text}
        if measure := name if isinstance(name, Measure) else find_registered(text):
            # It may have the name of a rank correlation: who asks for tau_b may mean either.
            found[str(measure)] = "; ".join(filter(None, [found.get(str(measure)), measure.source]))
        if not found:
            near = suggest_names(text, [*SOURCES, *map(str, measures()), *(entry.name for entry in datasets())], 0.6)
            problem = f"there is no measure, analysis or data set {one_line(text)!r}{f' ({near})' * bool(near)}"
            raise MetaevalError(f"{problem}; `metaeval measures`, `metaeval --help` and `metaeval data list` list them")
        sources |= found
    comments = [
        f"% {one_line(thing)}: {one_line(source) or 'no reference is known'}" for thing, source in sources.items()
    ]
    labels = [label for source in sources.values() for label in find_labels(source)]
    return "\n".join(["\n".join(comments), "", format_bibtex(labels)]).rstrip("\n") + "\n"
