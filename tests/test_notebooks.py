"""The notebooks run from top to bottom, without any network, and print what stands in them.

All but those that name a folder of data in their metadata need no data either.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

nbformat, nbclient, _ = (
    pytest.importorskip(name, reason="notebooks are executed with nbclient and ipykernel: pip install metaeval[test]")
    for name in ("nbformat", "nbclient", "ipykernel")
)

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
if not NOTEBOOKS:  # the tests run beside an installed copy
    pytest.skip("the notebooks are not here", allow_module_level=True)

SECONDS = 120  # a notebook takes about ten; a machine may be busy
CHANGING = "marks-may-change"
"""Tag of a cell whose output is shown, and not compared: the marks of a summary follow rules that may be improved."""


def printed(cell):
    """What a cell prints as text, without what every version says differently."""
    texts = [one.get("text", "") or one.get("data", {}).get("text/plain", "") for one in cell.get("outputs", [])]
    return [re.sub(r"metaeval \d\S*|<Figure size .*>", "…", text).split() for text in texts]


@pytest.mark.nightly
@pytest.mark.filterwarnings("default")  # those of the kernel's own machinery are not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_stands_in_it(path, tmp_path, tmp_path_factory, monkeypatch):
    stored = nbformat.read(path, as_version=4)
    needed = stored.metadata.get("metaeval", {}).get("data")
    if needed and not (Path(os.environ.get("METAEVAL_DATA", "")) / needed).is_dir():
        pytest.skip(f"it needs the data of {needed}: METAEVAL_DATA does not hold them")
    if not needed:
        monkeypatch.delenv("METAEVAL_DATA", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent))
    # A list of all fonts of its own: what other processes write into the shared one may be cut short.
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("fonts")))
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, capture_output=True)
    for proxy in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")  # nothing answers there: no network is needed
    fresh = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(fresh, timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        if before.cell_type == "code" and CHANGING not in before.metadata.get("tags", []):
            assert printed(after) == printed(before), before.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_saved_after_running_from_top_to_bottom(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [one for cell in cells for one in cell.outputs if one.output_type in ("error", "stream")]
    assert path.stat().st_size < 250_000
