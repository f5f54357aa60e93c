"""Run every benchmark: ``python -m benchmarks [NAME …] [--quick] [--save]``; what is saved is what docs/scaling.md says.

``python -m benchmarks --against COMMIT`` measures the code of that commit and this one in turn.
"""

from __future__ import annotations

import importlib
import platform
import sys
import warnings
from pathlib import Path

import pandas as pd

from benchmarks.against import run as run_against

BENCHMARKS = (
    "scores", "split_half", "tukey", "max_t", "memory", "workers", "first_call", "peers",
)  # fmt: skip

MEASURED = Path(__file__).parent / "measured"


def main() -> None:
    """Print the rows of every benchmark; ratios are of times measured in this process, one after the other."""
    words = sys.argv[1:]
    if words[:1] == ["--against"] and len(words) == 2:
        print(pd.DataFrame(run_against(words[1])).set_index("name").to_string(float_format="{:.4g}".format))
        return
    names = [word for word in words if not word.startswith("-")] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]!r}: choose among {', '.join(BENCHMARKS)}")
    warnings.simplefilter("ignore")  # the peers' own
    print(f"Python {platform.python_version()}, {platform.machine()}; ratio = peer's seconds / ours\n")
    for name in names:
        rows = importlib.import_module(f"benchmarks.{name}").run(quick="--quick" in words)
        frame = pd.DataFrame(rows).set_index("name")
        print(f"## {name}\n")
        print(frame.to_string(float_format=lambda number: f"{number:.4g}", na_rep="–"))
        print(flush=True)
        if "--save" in words:
            MEASURED.mkdir(exist_ok=True)
            frame.to_csv(MEASURED / f"{name}.csv", float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
