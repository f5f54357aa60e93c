"""The command line's door: ``metaeval`` and ``python -m metaeval``."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C ends it with a word and status 130, even while it is still starting."""
    try:
        from metaeval.cli import main as run

        run()
    except KeyboardInterrupt:
        print("metaeval: stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
