"""The gallery: every figure as the command below it draws it, when the documentation is built."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

FIGURES = {
    "ranks": "metaeval ranks scores.csv -m AP -m P@10 --out figures/",
    "power": "metaeval power scores.csv --bootstrap 200 --out figures/",
    "pooled-power": "metaeval power scores.csv other.csv --bootstrap 200 --out figures/",
    "similarity": "metaeval similarity scores.csv --bootstrap 200 --out figures/",
    "consistency": "metaeval consistency scores.csv --trials 200 --out figures/",
    "overlap": "metaeval overlap scores.csv --out figures/",
    "contradictions": "metaeval contradictions scores.csv --out figures/",
    "calibrate": "metaeval calibrate scores.csv --studies 100 -B 500 --out figures/",
    "baselines": "metaeval baselines scores.csv run01 run05 --out figures/",
    "robustness": "metaeval robustness scores.csv --out figures/",
    "sample-size": "metaeval sample-size scores.csv --trials 50 --samples 5 -B 500 --out figures/",
    "topic-set-size": "metaeval topic-set-size scores.csv --difference 0.1 --bootstrap 200 --out figures/",
    "agreement": "metaeval agreement scores.csv --reference MQM -B 200 --bootstrap 100 --out figures/",
    "coverage": "metaeval coverage scores.csv -r AP -r RR --bootstrap 200 --out figures/",
    "coverage-sweep": "metaeval coverage scores.csv -r AP -r RR -r P@10 --sweep --out figures/",
    "judges": "metaeval judges people.csv judges.csv --classes 1,2,3,4,5 --bootstrap 200 --out figures/",
    "properties": 'metaeval properties CEM_ORD "OCI(beta=0.75)" kappa --out figures/',
}
"""The file that a command writes, without its ending, and the command; a test parses all of them."""


def write_data(folder: Path) -> None:
    """Write the files that the commands read: two simulated collections, and labels of people and judges."""
    from metaeval import Scores
    from metaeval.io import write_scores

    noise = {"AP": 0.08, "nDCG@10": 0.1, "P@10": 0.14, "RR": 0.25, "MQM": 0.05}
    runs = [f"run{number:02d}" for number in range(1, 13)]
    for seed, name in enumerate(("scores", "other")):
        rng = np.random.default_rng(seed)
        truth = np.linspace(0.62, 0.38, len(runs))[:, None] + rng.normal(0, 0.12, 40)
        values = [
            truth + rng.normal(0, 0.03, len(runs))[:, None] + rng.normal(0, s, truth.shape) for s in noise.values()
        ]
        stacked = np.clip(np.stack(values, axis=-1), 0, 1)
        scores = Scores(
            stacked, runs=runs, topics=range(1, 41), measures=list(noise), collection=name, higher_is_better="MQM"
        )
        write_scores(scores, folder / f"{name}.csv")
    rng = np.random.default_rng(2)
    gold = rng.integers(1, 6, 60)
    for name, spread in (("people", (0.6, 0.7, 0.8, 0.9)), ("judges", (0.5, 0.8, 1.4))):
        labels = [np.clip(np.rint(gold + rng.normal(0, s, len(gold))), 1, 5).astype(int) for s in spread]
        head = ",".join(["item", *(f"{name[:-1]}{number + 1}" for number in range(len(spread)))])
        rows = [",".join([f"item{i + 1}", *(str(label[i]) for label in labels)]) for i in range(len(gold))]
        (folder / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n", "utf-8")


def draw_gallery(target: Path) -> Iterator[str]:
    """Run every command, keep its figure as a file, and yield a section of Markdown for each.

    Parameters
    ----------
    target : Path
        The folder for pictures; pages name it ``_images``.
    """
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_data(folder)
        for name, command in FIGURES.items():
            title = _run(command, folder, name)
            (target / f"gallery-{name}.svg").write_bytes((folder / "figures" / f"{name}.svg").read_bytes())
            yield f"## {title}\n\n```console\n$ {command}\n```\n"
            file = f"_images/gallery-{name}.svg"
            yield f'<p><a href="{file}"><img class="figure" loading="lazy" alt="{title}" src="{file}"></a></p>\n'


def _run(command: str, folder: Path, name: str) -> str:
    """Run a command in a folder, as the program does; return what kind of result it wrote, in words."""
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
    kind = json.loads((folder / "figures" / f"{name}.json").read_text("utf-8"))["result"]
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind).strip().capitalize()
