"""The playground as a process of its own, for tests in a browser and for the pictures of the docs."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip


def wait_for(address, process):
    """Wait until a playground answers."""
    began = time.monotonic()
    while True:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2)  # noqa: S310  (our own address)
            return
        except OSError:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() - began < 600, "the playground does not answer"
            time.sleep(0.1)


def find_free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running_app(*options):
    """Yield the address of a playground."""
    port = find_free_port()
    words = [sys.executable, "-m", "metaeval", "app", "--no-browser", "--port", str(port), *options]
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, process)
        yield address
    finally:
        process.send_signal(signal.SIGHUP)  # the terminal is closed: it ends in order, so that temporary folders go
        process.communicate(timeout=30)
        assert process.returncode == 0
