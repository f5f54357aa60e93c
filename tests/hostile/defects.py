"""For every defect that was once seen, the smallest check that finds it, without chance.

Each check returns None, or a sentence that says what is wrong. Its name begins with the item of the list that the
defect stood on; `DEFECTS` holds them by name.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from tests.hostile.campaign import Case, Finding, TimeUp, _time_limit
from tests.hostile.checks import bounds, directions, environment, inputs, numbers, plugged, stored

DEFECTS = {
    name: check
    for module in (directions, plugged, inputs, numbers, stored, bounds, environment)
    for name, check in module.CHECKS.items()
}

_LIMIT = 150


def check_defect(name):
    """None where the defect is gone, else what was seen."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-defect-"))
    before = os.getcwd()
    try:
        with _time_limit(f"defect {name}", 0, 0, _LIMIT):
            return DEFECTS[name](Case("defects", 0, 0, folder))
    except Finding as finding:
        return f"{finding.what}: {finding.detail}"
    except TimeUp:
        return f"it takes more than {_LIMIT} s"
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)
