"""The command line's door: ``metaeval`` and ``python -m metaeval``."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C ends it with a word and status 130, SIGTERM with 143, even while it is still starting."""
    terminated = []

    def stop(*_: object) -> NoReturn:
        terminated.append(True)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        from metaeval.cli import main as run

        run()
    except KeyboardInterrupt:
        print("metaeval: stopped", file=sys.stderr)
        sys.exit(130)
    finally:
        gc.freeze()  # or the interpreter, while it ends, looks for garbage in all that was read, for up to a second
        if terminated:  # Python itself would end otherwise where it was interrupted while it ran code given as text
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    main()
