"""Start the playground: a server on this machine's own address that sends nothing anywhere."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from metaeval.app.measures import VARIABLE
from metaeval.errors import MetaevalError

LOOPBACK = "127.0.0.1"
FIRST_PORT = 8501
MOST_MEGABYTES = 200
"""Size of a file that is sent to the page."""


def launch(
    port: int | None = None, *, browser: bool = True, host: str = LOOPBACK, measures: Sequence[str] = ()
) -> None:
    """Start the server and stay until it is stopped.

    Parameters
    ----------
    port : int, optional
        By default the first free one from 8501 on.
    browser : bool, optional
        Open the page in a browser.
    host : str, optional
        Address to listen on; the loopback address keeps it on this machine.
    measures : sequence of str, optional
        ``FILE.py:FUNCTION`` of measures to offer beside the registered ones.

    Raises
    ------
    MetaevalError
        If Streamlit is not installed, the port is taken, or a measure cannot be had.
    """
    if find_spec("streamlit") is None:
        raise MetaevalError('the playground needs Streamlit: pip install "metaeval[app]"')
    port = find_port(host, port)
    if measures:
        from metaeval.measures import measure

        for one in measures:
            measure(one)  # says now what is wrong with it
        os.environ[VARIABLE] = "\n".join(_make_absolute(one) for one in measures)
    address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"  # noqa: S104  (what the user asked for)
    print(f"metaeval: the playground is at {address} (Ctrl-C stops it)", file=sys.stderr)
    if browser:
        threading.Thread(target=_open_when_ready, args=(host, port, address), daemon=True).start()
    _serve(host, port)


def find_port(host: str, port: int | None) -> int:
    """Return the port if it is free, or the first free one from 8501 on.

    Parameters
    ----------
    host : str
    port : int or None

    Returns
    -------
    int

    Raises
    ------
    MetaevalError
        If it is taken, or none is free.
    """
    wanted = range(FIRST_PORT, FIRST_PORT + 100) if port is None else range(port, port + 1)
    for one in wanted:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, one))
            except OSError as error:
                problem = error
                continue
            return one
    taken = f"port {port}" if port is not None else f"every port from {FIRST_PORT} to {wanted[-1]}"
    raise MetaevalError(f"{taken} of {host} cannot be used ({problem.strerror}): name another with --port")


def _make_absolute(reference: str) -> str:
    file, _, function = reference.rpartition(":")
    return f"{Path(file).expanduser().resolve()}:{function}"


def _open_when_ready(host: str, port: int, address: str) -> None:
    for _ in range(100):
        time.sleep(0.1)
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                webbrowser.open(address)
                return


def _serve(host: str, port: int) -> None:
    from streamlit.web.cli import main as streamlit

    settings: dict[str, Any] = {
        "server.address": host,
        "server.port": port,
        "server.headless": "true",  # the browser is opened here, and no address for letters is asked for
        "server.fileWatcherType": "none",
        "server.maxUploadSize": MOST_MEGABYTES,
        "browser.gatherUsageStats": "false",
        "browser.serverAddress": host,
        "theme.light.primaryColor": "#0b5cad",  # Streamlit's own red is too pale to be read on its tint
        "theme.dark.primaryColor": "#4a9ee8",
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "logger.level": "error",
    }
    words = [
        "run",
        str(Path(__file__).with_name("main.py")),
        *(f"--{name}={value}" for name, value in settings.items()),
    ]
    if hasattr(signal, "SIGHUP"):  # a terminal that is closed: end as by Ctrl-C, so that the visitors' folders go
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    streamlit(words, standalone_mode=False)
