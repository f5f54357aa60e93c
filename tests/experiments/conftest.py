"""What tests of the experiments share."""

import socket
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from metaeval.datasets import download

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def tables():
    """Tables made by hand in place of committed ones."""
    return lambda **made: SimpleNamespace(read=lambda name: pd.DataFrame(made[name]))


@pytest.fixture(scope="session")
def call():
    """The command line of the experiments."""
    from experiments.__main__ import run

    app = typer.Typer()
    app.command()(run)
    return lambda *words: CliRunner().invoke(app, [*map(str, words), "--n-jobs", "1"], catch_exceptions=False)


@pytest.fixture(scope="session")
def curves():
    """The curves of Cardoso and Sousa's Figure 5, which take some seconds."""
    from experiments.cardoso2011 import steps

    return steps.compute_curves()


@pytest.fixture
def committed():
    """The committed tables of a paper."""
    from experiments.page import Folder

    if not RESULTS.is_dir():
        pytest.skip("the committed results are not here")
    return lambda paper: Folder(paper, RESULTS / paper)


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No data, nothing kept, and every connection fails at once."""

    def refuse(*_, **__):
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(download, "RETRIES", 0)  # before each of which it would wait
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    empty = tmp_path / "data"
    empty.mkdir()
    monkeypatch.setenv("METAEVAL_DATA", str(empty))
    return empty
