"""Options that are gone: for one release, the command line says what to do instead."""

from __future__ import annotations

GONE = {
    "--resume": "run the command again from its beginning",
    "--cluster": "call the function in Python inside joblib.parallel_config, as docs/scaling.md shows",
    "--sweep": "run coverage once for each set of reference measures, which -r names",
}
"""By option, what to do instead."""
