"""The front page: its picture and its four doors, in README.md and docs/index.md.

``python docs/render_front.py`` renews docs/front/ (the files of the first door, the picture, what the commands answer) and then
every page that quotes a command or a result.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "front"
TUTORIAL = ROOT / "notebooks" / "a_measure_from_idea_to_report.ipynb"


class Door(NamedTuple):
    """What somebody has, the command for it, how many paragraphs of its answer are shown, and the folder of its data."""

    who: str
    command: str
    paragraphs: int
    data: str
    page: str
    more: str


DOORS = (
    Door(
        "I propose a measure",
        "metaeval compare -m mean_gap.py:mean_gap --gold gold.csv --runs runs/ -l probabilities -o report/",
        2,
        "",
        "how-to/compare-a-measure",
        "One report says how it differs from the established ones (these files are in `docs/front/`)",
    ),
    Door(
        "I have human scores",
        "metaeval agreement wmt23-en-de --reference mqm",
        1,
        "wmt23",
        "how-to/human-scores",
        "See which measure agrees with them",
    ),
    Door(
        "I have a leaderboard",
        "metaeval ranks trec-web-2013 -m AP",
        1,
        "trec",
        "concepts/ranks",
        "See which ranks are real",
    ),
    Door(
        "I have judges",
        "metaeval judges alttest-summeval",
        1,
        "alttest",
        "concepts/judges",
        "See whether they may replace people",
    ),
)


def run_tutorial() -> dict[str, Any]:
    """Run the tutorial up to its measure, and return its names: `runs`, `mean_gap`, `gold` and others."""
    names: dict[str, Any] = {"__name__": "tutorial"}
    for source in _list_cells():
        exec("\n".join(line for line in source.splitlines() if not line.startswith("%")), names)  # noqa: S102
    return names


def _list_cells() -> list[str]:
    """Return the code of the tutorial, up to the cell that defines its measure."""
    cells = json.loads(TUTORIAL.read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return code[: 1 + next(i for i, source in enumerate(code) if "def mean_gap" in source)]


def make_files(runs: Any) -> dict[str, str]:
    """Return the files of the first door, by their names: the measure, the gold, and the runs."""
    measure = _list_cells()[-1].rpartition("\n\n\n")[0]
    files = {"mean_gap.py": f'"""The measure of the tutorial."""\n\nimport numpy as np\n\nimport metaeval as me\n\n\n{measure}\n'}
    shares = {"gold.csv": runs.gold} | {f"runs/{run}.csv": runs.estimated[i] for i, run in enumerate(runs.runs)}
    head = ",".join(["topic", *(str(one) for one in runs.classes)])
    for name, values in shares.items():
        rounded = np.round(values, 4)
        largest = rounded.argmax(axis=1)[:, None]
        rest = 1 - rounded.sum(axis=1, keepdims=True)
        np.put_along_axis(rounded, largest, np.take_along_axis(rounded, largest, 1) + rest, 1)
        lines = [",".join([str(topic), *(f"{x:.4f}" for x in row)]) for topic, row in zip(runs.topics, rounded, strict=True)]
        files[name] = "\n".join([head, *lines]) + "\n"
    return files


def draw_picture(runs: Any, mean_gap: Any) -> Figure:
    """Draw the run that always answers both ends: what it says on a topic, and its rank by four measures."""
    import matplotlib.pyplot as plt

    import metaeval
    from metaeval.show.style import GREY, house_style

    names = ["NMD", "RNOD", "JSD"]
    scores = metaeval.score(runs, [*names, mean_gap])
    ranks = scores.means().rank(method="first").astype(int)
    ends, loud = list(runs.runs).index("both-ends"), "#c44e00"
    topic = int(np.argmax(runs.gold[:, len(runs.classes) // 2]))  # gold lies most clearly in the middle
    with house_style(), plt.rc_context({"axes.grid": False, "font.size": 10}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(5.5, 3.4), width_ratios=[1, 1.2], layout="constrained")
        classes = np.arange(1, len(runs.classes) + 1)
        left.bar(classes - 0.2, runs.gold[topic], 0.4, color="#b8b8b8", label="gold")
        left.bar(classes + 0.2, runs.estimated[ends, topic], 0.4, color=loud, label="both-ends")
        mean = float(runs.gold[topic] @ classes)
        top = max(runs.gold[topic].max(), runs.estimated[ends, topic].max())
        left.plot([mean, mean], [0, 1.06 * top], color="black", linestyle=":", linewidth=1.4)
        left.text(mean, 1.08 * top, "same mean", ha="center", va="bottom")
        left.set(ylim=(0, 1.45 * top), xticks=classes, yticks=[0, 0.25, 0.5, 0.75], xlabel="class", ylabel="share")
        left.set_title("One run uses only\nthe two extreme classes", loc="left", fontweight="bold")
        left.legend(loc="upper center", ncols=2, handlelength=1, columnspacing=1, fontsize=9)
        for run, places in ranks.iterrows():
            is_ends = run == "both-ends"
            style = {"color": loud, "linewidth": 3, "zorder": 3} if is_ends else {"color": "#b8b8b8", "linewidth": 1.2}
            right.plot(range(4), [places[str(one)] for one in (*names, "mean_gap")], marker="o", markersize=4, **style)
        best, last = (ranks.index[ranks["NMD"] == place][0] for place in (1, len(ranks)))
        for run in (best, last):
            right.text(-0.2, ranks["NMD"][run], run, ha="right", va="center", color=loud if run == last else GREY)
        right.set_xticks(range(4), [*names, "mean_gap"])
        right.get_xticklabels()[-1].set(color=loud, fontweight="bold")
        right.set(ylim=(len(ranks) + 0.6, 0.4), yticks=[], ylabel="")
        right.set_title("mean_gap ranks it first,\nthe other measures last", loc="left", fontweight="bold")
        right.spines["left"].set_visible(False)
    return figure


def ask(door: Door, files: dict[str, str]) -> str:
    """Return the first paragraphs that the command of a door prints, in a folder with the files of the first one."""
    with tempfile.TemporaryDirectory() as made:
        write_files(Path(made), files)
        words = [sys.executable, "-m", "metaeval", *shlex.split(door.command)[1:]]
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"COLUMNS": "80", "PYTHONPATH": path}
        done = subprocess.run(words, cwd=made, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise RuntimeError(f"{door.command}\n{done.stderr}")
    return "\n\n".join(done.stdout.strip().split("\n\n")[: door.paragraphs])


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write files by their names."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def main() -> None:
    """Write the folder of the front page, and renew the pages."""
    sys.path.insert(0, str(ROOT))
    from experiments.prose import fill_pages
    from metaeval.show.drawing import save_figure

    names = run_tutorial()
    files = make_files(names["runs"])
    doors = [door._asdict() | {"answer": ask(door, files)} for door in DOORS]
    shutil.rmtree(TARGET, ignore_errors=True)
    write_files(TARGET, files | {"doors.json": json.dumps(doors, ensure_ascii=False, indent=1) + "\n"})
    save_figure(draw_picture(names["runs"], names["mean_gap"]), TARGET, "picture", (".svg",))
    for page in [TARGET, *fill_pages()]:
        print(f"renewed {page}", file=sys.stderr)


if __name__ == "__main__":
    main()
