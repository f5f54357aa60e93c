"""Figures of the documentation: each is what its command draws, from simulated data, whenever the documentation is built."""

from __future__ import annotations

import contextlib
import html
import io
import os
import shlex
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Example(NamedTuple):
    """A figure: the command that draws it, the file that it writes, the page about it, and how to read it in one line."""

    command: str
    file: str
    page: str
    line: str


FIGURES = {
    "compare": Example(
        "metaeval compare scores.csv -m length -r human -o report/",
        "report/figures/answer",
        "concepts/summary",
        "One panel per finding, one row per other measure; the vertical line is the new measure, or no difference.",
    ),
    "agreement": Example(
        "metaeval agreement scores.csv --reference human -B 200 --bootstrap 100 --out figures/",
        "figures/agreement",
        "concepts/agreement",
        "Further right agrees more with people; in brackets, how many measures are better.",
    ),
    "judges": Example(
        "metaeval judges people.csv judges.csv --classes 1,2,3,4,5 --bootstrap 200 --out figures/",
        "figures/judges",
        "concepts/judges",
        "Left: how often a judge agrees as well as a person. Right: against what share of people it wins.",
    ),
    "qrels": Example(
        "metaeval qrels qrels/people.txt qrels/near.txt qrels/lenient.txt qrels/noise.txt --runs runs -B 200 --out figures/",
        "figures/qrels",
        "concepts/qrels",
        "Left: how alike runs are ranked. Middle: what judges lose of people's findings. Right: what only they find.",
    ),
    "ranks": Example(
        "metaeval ranks scores.csv -m AP -m P@10 --out figures/",
        "figures/ranks",
        "concepts/ranks",
        "A bar spans the ranks that a run may have; runs that share a letter do not differ significantly.",
    ),
    "similarity": Example(
        "metaeval similarity scores.csv --bootstrap 200 --out figures/",
        "figures/similarity",
        "concepts/ranking-similarity",
        "Darker squares: two measures rank the runs more alike. The tree joins the most similar ones.",
    ),
    "consistency": Example(
        "metaeval consistency scores.csv --trials 200 --out figures/",
        "figures/consistency",
        "concepts/split-half-consistency",
        "Further right: two random halves of the topics give more similar rankings.",
    ),
    "power": Example(
        "metaeval power scores.csv --bootstrap 200 --out figures/",
        "figures/power",
        "concepts/discriminative-power",
        "The curve nearest to the corner at the lower left finds most significant differences.",
    ),
    "pooled-power": Example(
        "metaeval power scores.csv other.csv --bootstrap 200 --out figures/",
        "figures/pooled-power",
        "concepts/pooled-power",
        "Further right: a larger share of run pairs is significant, over two collections.",
    ),
    "overlap": Example(
        "metaeval overlap scores.csv --out figures/",
        "figures/overlap",
        "concepts/overlap-and-contradictions",
        "Darker squares: two measures find more of the same run pairs significant.",
    ),
    "contradictions": Example(
        "metaeval contradictions scores.csv --out figures/",
        "figures/contradictions",
        "concepts/overlap-and-contradictions",
        "A number counts the run pairs on which two measures reach opposite significant conclusions.",
    ),
    "calibrate": Example(
        "metaeval calibrate scores.csv --studies 100 -B 500 -m AP -m P@10 -m RR --out figures/",
        "figures/calibrate",
        "concepts/which-test",
        "Right of the line, a test finds false differences too often on scores simulated from these.",
    ),
    "baselines": Example(
        "metaeval baselines scores.csv run02 run06 -m AP -m RR -m length --out figures/",
        "figures/baselines",
        "concepts/baseline-preference",
        "One point per topic; on those drawn as crosses, two measures prefer opposite runs.",
    ),
    "robustness": Example(
        "metaeval robustness scores.csv --out figures/",
        "figures/robustness",
        "concepts/robustness",
        "Further right: two topics rank the runs more alike.",
    ),
    "sample-size": Example(
        "metaeval sample-size scores.csv --trials 50 --out figures/",
        "figures/sample-size",
        "concepts/sample-size",
        "How stable a ranking is with more topics.",
    ),
    "topic-set-size": Example(
        "metaeval topic-set-size scores.csv --difference 0.1 --bootstrap 200 --out figures/",
        "figures/topic-set-size",
        "concepts/topic-set-size",
        "Further left: fewer topics are enough to find a difference of the stated size.",
    ),
    "variance": Example(
        "metaeval variance scores.csv -m AP --out figures/",
        "figures/variance",
        "concepts/what-to-buy-next",
        "Where the variance of a single score comes from: runs, topics, and both together.",
    ),
    "coverage": Example(
        "metaeval coverage scores.csv -r AP -r RR --bootstrap 200 --out figures/",
        "figures/coverage",
        "concepts/coverage",
        "Further right: a measure captures more of what the reference measures (hollow) capture together.",
    ),
    "correct": Example(
        "metaeval correct scores.csv -m length --people few.csv --target topics --trials 500 --out figures/",
        "figures/correct",
        "concepts/correction",
        "Where both together leave a run out of the judge's bar, people reverse the judge.",
    ),
    "properties": Example(
        'metaeval properties CEM_ORD "OCI(beta=0.75)" kappa --out figures/',
        "figures/properties",
        "concepts/properties",
        "A cross: a counterexample was found, so the measure lacks the property; the paler, the more often it fails.",
    ),
}
"""By the name of the figure; a test parses all commands."""


def write_data(folder: Path) -> None:
    """Write the files that the commands read: two simulated collections, labels of people and judges, and judged documents.

    The measure `length` knows nothing of the quality of runs, but differs steadily between them.
    """
    from metaeval import Scores
    from metaeval.io import write_scores

    noise = {"AP": 0.08, "nDCG@10": 0.1, "P@10": 0.14, "RR": 0.25, "human": 0.05}
    runs = [f"run{number:02d}" for number in range(1, 13)]
    wordy = np.linspace(0.3, 0.7, len(runs))[[6, 3, 9, 5, 1, 10, 4, 8, 11, 2, 7, 0], None]
    for seed, name in enumerate(("scores", "other")):
        rng = np.random.default_rng(seed)
        truth = np.linspace(0.62, 0.38, len(runs))[:, None] + rng.normal(0, 0.12, 40)
        values = [
            truth + rng.normal(0, 0.03, len(runs))[:, None] + rng.normal(0, s, truth.shape) for s in noise.values()
        ]
        values.append(wordy + rng.normal(0, 0.1, 40) + rng.normal(0, 0.05, truth.shape))
        scores = Scores(
            np.clip(np.stack(values, axis=-1), 0, 1), runs=runs, topics=range(1, 41), measures=[*noise, "length"],
            collection=name, higher_is_better=["human", "length"],
        )  # fmt: skip
        write_scores(scores, folder / f"{name}.csv")
        if name == "scores":  # what people labelled of it
            write_scores(scores.sel(measures=["human"], topics=rng.permutation(scores.topics)[:25]), folder / "few.csv")
    rng = np.random.default_rng(2)
    gold = rng.integers(1, 6, 60)
    for name, spread in (("people", (0.6, 0.7, 0.8, 0.9)), ("judges", (0.5, 0.8, 1.4))):
        labels = [np.clip(np.rint(gold + rng.normal(0, s, len(gold))), 1, 5).astype(int) for s in spread]
        head = ",".join(["item", *(f"{name[:-1]}{number + 1}" for number in range(len(spread)))])
        rows = [",".join([f"item{i + 1}", *(str(label[i]) for label in labels)]) for i in range(len(gold))]
        (folder / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n", "utf-8")
    _write_judged(folder)


def _write_judged(folder: Path) -> None:
    """Write twelve runs of 20 documents on 30 topics, and four sets of judgements of them."""
    rng = np.random.default_rng(3)
    people = rng.choice(4, (30, 20), p=[0.5, 0.2, 0.2, 0.1])
    sets = {
        "people": people,
        "near": np.clip(people + rng.choice([-1, 0, 0, 0, 1], people.shape), 0, 3),
        "lenient": np.clip(people + rng.integers(0, 3, people.shape), 0, 3),
        "noise": rng.permuted(people, axis=1),
    }
    (folder / "qrels").mkdir()
    (folder / "runs").mkdir()
    for name, grades in sets.items():
        lines = [f"q{t} 0 d{d} {grade}\n" for t, row in enumerate(grades) for d, grade in enumerate(row)]
        (folder / "qrels" / f"{name}.txt").write_text("".join(lines), "utf-8")
    for r in range(12):
        scores = people + rng.normal(0, 1 + r / 6, people.shape)
        lines = [f"q{t} Q0 d{d} 0 {score} run\n" for t, row in enumerate(scores) for d, score in enumerate(row)]
        (folder / "runs" / f"run{r:02d}.txt").write_text("".join(lines), "utf-8")


@cache
def draw_figure(name: str, target: Path) -> str:
    """Run the command of a figure, once a build, and return the name of the picture in the target folder."""
    example = FIGURES[name]
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        run_command(example.command, Path(folder))
        picture = target / f"gallery-{name}.svg"  # beside pictures of the results, which have such names too
        picture.write_bytes((Path(folder) / f"{example.file}.svg").read_bytes())
    return picture.name


def run_command(command: str, folder: Path) -> None:
    """Run a command in a folder, as the program does, and keep its words to itself."""
    import typer

    from metaeval import cli

    here = Path.cwd()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            typer.main.get_command(cli.app).main(shlex.split(command)[1:], prog_name="metaeval", standalone_mode=False)
        finally:
            os.chdir(here)


def show_gallery(target: Path) -> Iterator[str]:
    """Yield the gallery: a thumbnail for every figure, with the line that reads it, linked to the page about it."""
    yield '<div class="gallery">'
    for name, example in FIGURES.items():
        title = name.replace("-", " ").capitalize()
        yield (
            f'<a href="{example.page}.html"><img loading="lazy" alt="" src="_images/{draw_figure(name, target)}">'
            f"<b>{title}</b><span>{html.escape(example.line)}</span></a>"
        )
    yield "</div>\n"


def show_figure(name: str, target: Path) -> Iterator[str]:
    """Yield a figure of a page in a folder: the picture, the command that draws it, and what it reads."""
    file, example = f"../_images/{draw_figure(name, target)}", FIGURES[name]
    alt = html.escape(f"Figure of {example.command.split()[1]}: {example.line}", quote=True)
    yield f'<p><a href="{file}"><img class="figure" alt="{alt}" src="{file}"></a></p>\n'
    data = " from [simulated data](../gallery.md#the-data)" if ".csv" in example.command else ""
    is_shown = "scores.csv" in example.command and (" -m " not in example.command or "length" in example.command)
    control = ", in which `length` knows nothing of the quality of runs" if is_shown else ""
    yield f"Drawn by `{example.command}`{data}{control}.\n"
