"""How often do tests of all pairs of runs, and intervals, err, and how reliable are rankings of measures?"""

from __future__ import annotations

from pathlib import Path

from experiments.old.outcome import read_toml

STUDY = read_toml(Path(__file__).with_name("study.toml"))
"""The settings of the study, fixed before anything was computed."""

RESULTS = Path(__file__).resolve().parents[3] / "results"
FOLDER = RESULTS / "calibration"
"""The committed results, of which most take too long to be computed again."""
