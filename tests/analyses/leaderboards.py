"""Made-up leaderboards of 12 runs and 8 topics, without a random generator, so that they are the same everywhere."""

from statistics import mean

RUNS = [f"team{letter}" for letter in "ABCDEFGHIJKL"]
TOPICS = [f"t{number}" for number in range(1, 9)]
JUDGES = {"sharp": (0.4, 61), "blunt": (1.5, 37), "graded": (0.8, 29)}
"""How far a judge is off, and a number that makes it be off elsewhere than others."""


def make_cells(spread, step, steps=None):
    """Return scores by run and topic: better the later the run, with a regular pattern in place of noise."""
    cells = {}
    for r, run in enumerate(RUNS):
        for t, topic in enumerate(TOPICS):
            noise = (step * (8 * r + t + 1) ** 3 % 101) / 101 - 0.5
            score = min(1.0, max(0.0, 0.3 + 0.03 * r + spread * noise))
            cells[run, topic] = round(score, 4) if steps is None else round(score * steps) / steps
    return cells


def write_tot(path, cells, measure, runs=RUNS, topics=TOPICS):
    """Write a leaderboard with rows of the means."""
    lines = []
    for run in runs:
        scores = [cells[run, topic] for topic in topics]
        lines += [f"{run} {measure} {topic} {score!r}" for topic, score in zip(topics, scores, strict=True)]
        lines.append(f"{run} {measure} all {mean(scores)!r}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_all(folder):
    """Write truth and judges, and return the files."""
    truth = write_tot(folder / "truth.tot", make_cells(0.3, 13), "nugget_coverage")
    (folder / "judges").mkdir(exist_ok=True)
    for name, (spread, step) in JUDGES.items():
        cells = make_cells(spread, step, steps=4 if name == "graded" else None)
        write_tot(folder / "judges" / f"{name}.txt", cells, "quality")
    return truth, sorted((folder / "judges").iterdir())
