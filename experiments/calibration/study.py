"""The settings of the study, fixed before anything is computed."""

from __future__ import annotations

from pathlib import Path

from experiments.outcome import read_toml

STUDY = read_toml(Path(__file__).parent / "study.toml")
