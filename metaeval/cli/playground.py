"""The command that starts the playground: app."""

from __future__ import annotations

from metaeval.cli.command import Values
from metaeval.cli.options import option

APP = {
    "port": option(int, "By default the first free one from 8501 on"),
    "browser": option(bool, "Open the page in a browser", "--browser/--no-browser", default=True),
    "measure": option(list, "FILE.py:FUNCTION of a measure of yours; may be repeated", "--measure", "-m"),
    "host": option(str, "Address to listen on; 0.0.0.0 lets other machines in, as in a container", default="127.0.0.1"),
}


def start(values: Values) -> None:
    """See measures disagree: pages in a browser for classes, runs, distributions and your own scores.

    Needs pip install "metaeval[app]". Nothing leaves this machine. A page never runs code that is sent to it.

    \b
    Examples:
      metaeval app
      metaeval app --port 8600 --no-browser --measure chebyshev.py:chebyshev
    """
    from metaeval.app.launch import launch

    launch(values.port, browser=values.browser, host=values.host, measures=values.measure or ())
