"""The picture at the top of README.md: the answer of the command that README.md shows, on real data.

``python docs/render_answer.py`` runs that command's comparison, and writes docs/answer/: the picture, and what is said of it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metaeval.comparison.new_measure import Comparison

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "answer"

COLLECTIONS = ("stc3-dq-a", "stc3-dq-e", "stc3-dq-s")
FILE = "chebyshev.py"
COMMAND = f"metaeval compare --measure {FILE}:chebyshev {' '.join(f'--data {one}' for one in COLLECTIONS)} -o report/"
"""Stands in README.md, as a test says."""


def compare_example() -> Comparison:
    """Compare the measure that README.md defines, as its command does."""
    from metaeval import compare, measure

    (text,) = re.findall(rf"^```python\n# {FILE}\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / FILE).write_text(text, "utf-8")
        return compare(measure(f"{folder}/{FILE}:chebyshev"), COLLECTIONS, n_jobs=-1)


def describe_answer(comparison: Comparison) -> dict[str, str]:
    """Return what is said of the picture: the command, the verdict, and the signature."""
    return {"command": COMMAND, "verdict": comparison.verdict(), "signature": str(comparison.signature)}


def main() -> None:
    """Write the picture, and what is said of it."""
    from metaeval.show.drawing import save_figure

    comparison = compare_example()
    save_figure(comparison.plot(), TARGET, "answer", (".svg",))
    text = json.dumps(describe_answer(comparison), ensure_ascii=False, indent=1)
    (TARGET / "answer.json").write_text(text + "\n", "utf-8")
    print(f"wrote {TARGET}", file=sys.stderr)


if __name__ == "__main__":
    main()
