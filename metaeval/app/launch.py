"""Start the playground: a server on this machine's own address that sends nothing anywhere."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import threading
import time
import webbrowser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from metaeval.errors import MetaevalError
from metaeval.files import LARGEST_FILE_OPTION

LOOPBACK = "127.0.0.1"
FIRST_PORT = 8501
MOST_MEGABYTES = 200
"""Size of a file that is sent to the page."""

MOST_UNPACKED = 1 << 30
"""Bytes that a file may have when it is unpacked, unless the environment says otherwise: all visitors share one process."""

EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (only what somebody asks for)
"""What listens on all addresses of the machine, and where the machine itself finds it."""


def launch(port: int | None = None, *, browser: bool = True, host: str = LOOPBACK) -> None:
    """Start the server and stay until it is stopped."""
    if find_spec("streamlit") is None:
        raise MetaevalError('the playground needs Streamlit: pip install "metaeval[app]"')
    numeric = find_address(host)
    port = find_port(numeric, port)
    os.environ.setdefault(LARGEST_FILE_OPTION, str(MOST_UNPACKED))
    visited = EVERY_ADDRESS.get(numeric, host)
    address = f"http://{f'[{visited}]' if ':' in visited else visited}:{port}"
    print(f"metaeval: the playground is at {address} (Ctrl-C stops it)", flush=True)
    ready = threading.Thread(target=_prepare, args=(visited, port, address if browser else None), daemon=True)
    ready.start()
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        _serve(numeric, host, port)  # Streamlit announces itself, which would be said twice


def find_address(host: str) -> str:
    """Return the number of an address to listen on."""
    # No name at all would stand for every address of the machine, which nobody means by it.
    if not host.strip():
        raise MetaevalError("an address to listen on has letters or digits: name one with --host, such as 127.0.0.1")
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise MetaevalError(f"there is no address {host!r} to listen on: name another with --host") from None
    # Most names that have several, such as localhost, mean the one of version 4.
    return str(min(addresses, key=lambda address: address[0] != socket.AF_INET)[4][0])


def find_port(host: str, port: int | None) -> int:
    """Return the port if it is free, or the first free one from 8501 on."""
    ports = range(FIRST_PORT, FIRST_PORT + 100) if port is None else range(port, port + 1)
    problem = ""
    for candidate in ports:
        try:
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, candidate))
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise MetaevalError(f"{host} is no address of this machine: name another with --host") from None
            problem = str(error.strerror)
            continue
        return candidate
    taken = f"port {port}" if port is not None else f"every port from {FIRST_PORT} to {ports[-1]}"
    raise MetaevalError(f"{taken} of {host} cannot be used ({problem}): name another with --port")


def _prepare(host: str, port: int, address: str | None) -> None:
    """Open the page, if it is wanted, when the server answers; and import what pages need before one is asked for."""
    for _ in range(300):
        time.sleep(0.1)
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
            break
    else:
        return
    if address is not None:
        webbrowser.open(address)
    with contextlib.suppress(Exception):  # a page that imports it again says what is wrong
        for name in ("candidates", "your_scores"):
            import_module(f"metaeval.app.{name}")


def _serve(numeric: str, host: str, port: int) -> None:
    from streamlit import net_util
    from streamlit.web.cli import main as streamlit

    # Where a page of somebody else knocks, Streamlit would ask a server on the internet for this machine's address.
    net_util.get_external_ip = lambda: None
    settings: dict[str, Any] = {
        "server.address": numeric,
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
