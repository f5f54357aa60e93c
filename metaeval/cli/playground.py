"""The command that starts the playground: app."""

from __future__ import annotations

from typing import Annotated

import typer

from metaeval.cli.options import Command


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("app", cls=Command)(start)


def start(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="By default the first free one from 8501 on")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser")] = True,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="FILE.py:FUNCTION of a measure of yours; may be repeated"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in, as in a container")
    ] = "127.0.0.1",
) -> None:
    """See measures disagree: pages in a browser for classes, runs, distributions and your own scores.

    Needs pip install "metaeval[app]". Nothing leaves this machine. A page never runs code that is sent to it.

    \b
    Examples:
      metaeval app
      metaeval app --port 8600 --no-browser --measure chebyshev.py:chebyshev
    """
    from metaeval.app.launch import launch

    launch(port, browser=browser, host=host, measures=measure or ())
