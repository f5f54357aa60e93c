"""The front page: its picture, and the files of its first command, made from the tutorial; ``docs/renew.py`` renews them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "front"
TUTORIAL = ROOT / "notebooks" / "a_measure_from_idea_to_report.ipynb"


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
    imports = '"""The measure of the tutorial."""\n\nimport numpy as np\n\nimport metaeval as me'
    files = {"mean_gap.py": f"{imports}\n\n\n{measure}\n"}
    shares = {"gold.csv": runs.gold} | {f"runs/{run}.csv": runs.estimated[i] for i, run in enumerate(runs.runs)}
    head = ",".join(["topic", *(str(one) for one in runs.classes)])
    for name, values in shares.items():
        rounded = np.round(values, 4)
        largest = rounded.argmax(axis=1)[:, None]
        rest = 1 - rounded.sum(axis=1, keepdims=True)
        np.put_along_axis(rounded, largest, np.take_along_axis(rounded, largest, 1) + rest, 1)
        lines = [
            ",".join([str(topic), *(f"{x:.4f}" for x in row)]) for topic, row in zip(runs.topics, rounded, strict=True)
        ]
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


def write_front() -> None:
    """Write the files of the first door, and the picture."""
    from metaeval.show.drawing import save_figure

    names = run_tutorial()
    for name, text in make_files(names["runs"]).items():
        (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
        (TARGET / name).write_text(text, "utf-8")
    save_figure(draw_picture(names["runs"], names["mean_gap"]), TARGET, "picture", (".svg",))
